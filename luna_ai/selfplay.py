"""Self-play: games of a plan played side by side, and the samples they leave.

A *plan* says of each game its deal, who sits where and where its chance comes from; it follows from (seed of the run,
actor, index of the game) alone. `SelfPlay` plays plans to their end: all games decide in step, the leaves of their
searches form one batch. A game depends on its plan and on the networks, not on its neighbours, the number of slots or
the order of games; so a process that dies loses only games that can be played again.

Playout caps (Wu, "Accelerating Self-Play Learning in Go", 2019, section 3.1): a random part of decisions is searched
in full and gives a policy target (the improved policy of Danihelka et al. 2022), the others get a short search and
only tell how the game went. Forced decisions, and those of bots and past networks, are no samples. One action can be
many decisions (a Journey lifts and lands step by step): each of k samples of one action weighs k^-action_power, so
that with 1, the usual, every action counts the same; then surprising policies get more (`game_results`).

One thread; neither torch nor Ray is imported here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from engine_fast.actions import ACTIONS, BLOCK_INDEX, MASK_WORDS, NUM_BLOCKS
from engine_fast.batch import apply_batch, legal_batch
from engine_fast.layout import MAX_PLAYERS, NONE, NUM_SOURCES, OVER, columns
from engine_fast.position import Game
from luna_ai.bots.choosing import choose_into
from luna_ai.bots.games import HASH_SEED
from luna_ai.bots.workspace import new_workspace
from luna_ai.game_plans import ABSENT, PAST, SELF, Plan, SelfPlayError
from luna_ai.game_results import Log, Table, game_rows, samples_of
from luna_ai.samples import Samples, ragged_rows
from luna_ai.search.evaluators import Batch, Evaluator
from luna_ai.search.network_search import NetworkOptions, NetworkResult, NetworkSearch
from luna_ai.training_config import SelfPlayOptions

BLOCK_OF_ACTION = np.array([BLOCK_INDEX[action.block.name] for action in ACTIONS])


@dataclass(frozen=True)
class Collected:
    """What the games of a plan left.

    Attributes:
        samples: of all games, in the order of the plan.
        games: one row a game and seat.
        kinds: `int64[NUM_BLOCKS]`, decisions by block of the action table.
        decisions: all decisions.
        forced: those that were the only legal ones.
        searched: those that were searched, in full or capped.
        asked: positions put before the evaluators.
        seconds: wall time: `evaluator`, `tree` (with the engine's steps inside), `all`.
    """

    samples: Samples
    games: pl.DataFrame
    kinds: NDArray[np.int64]
    decisions: int
    forced: int
    searched: int
    asked: int
    seconds: dict[str, float]

    @property
    def num_games(self) -> int:
        """Games that were played."""
        return int((self.games["seat"] == 0).sum())


class _Round(NamedTuple):
    """The decisions that are due; R of them."""

    game: NDArray[np.int64]  # [R]
    state: NDArray[np.uint64]  # [R, STATE_WORDS]
    chosen: NDArray[np.int64]  # [R], written


class SelfPlay:
    """Plays plans. Its memory is reserved when it is made.

    Attributes:
        options: budgets and weights.
        game: sheet and rule set.
        slots: games side by side.
        search, past_search: of the network and of a past one; their trees are those of the last decision.
    """

    def __init__(self, options: SelfPlayOptions, game: Game, slots: int | None = None) -> None:
        """Prepares the searches.

        Args:
            options: budgets of the searches and weights of samples.
            game: sheet and rule set of all games.
            slots: games side by side; None for `options.slots`.
        """
        self.options, self.game = options, game
        self.slots = slots or options.slots
        self._workspace = new_workspace()
        self.search = self._new_search(max(options.sims, options.fast_sims))
        self.past_search = self._new_search(options.fast_sims)
        self._kinds, self._forced, self._searched, self._asked = np.zeros(NUM_BLOCKS, dtype=np.int64), 0, 0, 0
        self._seconds: dict[str, float] = {}

    def _new_search(self, sims: int) -> NetworkSearch:
        options = NetworkOptions(
            rule="gumbel",
            sims=sims,
            considered=self.options.considered,
            gumbel_scale=self.options.gumbel_scale,
            c_scale=self.options.c_scale,
        )
        return NetworkSearch(options, _Nobody(), games=self.slots, seed=0)

    def play(
        self,
        plan: Plan,
        evaluator: Evaluator,
        past: Evaluator | None = None,
        version: int = 0,
        stop: Callable[[], bool] = lambda: False,
    ) -> Collected | None:
        """Plays all games of a plan to their end.

        Args:
            plan: the games.
            evaluator: of the network.
            past: of the past network, where the plan has one.
            version: written beside every sample.
            stop: asked between two rounds of decisions; once it says yes, nothing is returned.

        Returns:
            What the games left; None if it was stopped.
        """
        if past is None and (plan.codes == PAST).any():
            raise SelfPlayError("a past network plays in this plan, but none is given")
        began = time.perf_counter()
        self.search.evaluator, self.past_search.evaluator = evaluator, past or evaluator
        self._kinds[:], self._forced, self._searched, self._asked = 0, 0, 0, 0
        self._seconds = {"evaluator": 0.0, "tree": 0.0}
        table, logs = self._begin(plan), list[Log]()
        while len(table.playing):
            if stop():
                return None
            if (log := self._decide(table)) is not None:
                logs.append(log)
            self._refill(table)
        self._seconds["all"] = time.perf_counter() - began
        return self._collected(table, logs, version)

    def _begin(self, plan: Plan) -> Table:
        count = len(plan.number)
        ledger = np.zeros((count, MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)
        table = Table(
            plan=plan._replace(chance=plan.chance.copy(), search=plan.search.copy()),
            state=plan.state.copy(),
            ledger=ledger,
            decisions=np.zeros(count, dtype=np.int64),
            actions=np.zeros(count, dtype=np.int64),
            hashes=np.full(count, HASH_SEED, dtype=np.uint64),
            playing=np.zeros(0, dtype=np.int64),
            waiting=0,
        )
        self._refill(table)
        return table

    def _refill(self, table: Table) -> None:
        """Games that are over make room for the next ones."""
        under_way = table.playing[columns(table.state[table.playing], "phase") != int(OVER)]
        first, end = table.waiting, min(len(table.state), table.waiting + self.slots - len(under_way))
        table.playing, table.waiting = np.concatenate([under_way, np.arange(first, end)]), end

    def _decide(self, table: Table) -> Log | None:
        """One decision of every game; returns the samples among them."""
        games = table.playing
        due = _Round(games, table.state[games], np.full(len(games), -1))
        table.actions[games] += columns(due.state, "pending") == int(NONE)
        masks = np.zeros((len(games), MASK_WORDS), dtype=np.uint64)
        legal_batch(due.state, self.game.rules, masks)
        forced = np.bitwise_count(masks).sum(axis=1) == 1
        due.chosen[forced] = only_decisions(masks[forced])
        code = np.where(forced, ABSENT, table.plan.codes[games, columns(due.state, "to_move")])
        self._ask_bots(table, due, code)
        full = coins(table.plan.coin[games], table.decisions[games]) < self.options.full_share
        log = self._ask_network(table, due, np.flatnonzero(code == SELF), full)
        self._ask_past(table, due, np.flatnonzero(code == PAST))
        self._apply(table, due)
        self._forced += int(forced.sum())
        return log

    def _ask_bots(self, table: Table, due: _Round, code: NDArray[np.int64]) -> None:
        for place in np.flatnonzero(code >= 0):
            chance = table.plan.chance[due.game[place]]
            due.chosen[place] = choose_into(
                int(code[place]), due.state[place], self.game.rules, chance, self._workspace
            )

    def _ask_network(self, table: Table, due: _Round, places: NDArray[np.int64], full: NDArray[np.bool_]) -> Log | None:
        """Searches the network's decisions, all in step: those that are `full` in full, the others capped."""
        if not len(places):
            return None
        full = full[places]
        sims = np.where(full, self.options.sims, self.options.fast_sims)
        found = self._searched_by(self.search, np.where(full, 0, 1), table, due, places, sims)
        trees, games = np.flatnonzero(full), due.game[places]
        policy = found.policy[trees]
        rows, ids = np.nonzero(policy)
        size, surprise = np.zeros(len(places), dtype=np.int32), np.zeros(len(places), dtype=np.float32)
        size[trees] = np.bincount(rows, minlength=len(trees))
        if self.options.surprise_share > 0.0:
            surprise[trees] = surprises(self.search, trees, policy)
        return Log(
            games,
            table.actions[games],
            due.state[places],
            table.ledger[games],
            found.root_values,
            surprise,
            size,
            ids.astype(np.uint16),
            policy[rows, ids],
        )

    def _ask_past(self, table: Table, due: _Round, places: NDArray[np.int64]) -> None:
        """Searches the decisions of the past network; they leave no samples."""
        if len(places):
            self._searched_by(self.past_search, np.full(len(places), 2), table, due, places, None)

    def _searched_by(
        self,
        search: NetworkSearch,
        column: NDArray[np.int64],
        table: Table,
        due: _Round,
        places: NDArray[np.int64],
        sims: NDArray[np.int64] | None,
    ) -> NetworkResult:
        """Searches decisions; `column` says which generator of its plan each game takes."""
        games = due.game[places]
        chance = table.plan.search[games, column]
        found = search(due.state[places], self.game.rules, chance=chance, sims=sims)
        table.plan.search[games, column] = chance
        due.chosen[places] = found.chosen
        self._searched, self._asked = self._searched + len(places), self._asked + found.asked
        for part, seconds in found.seconds.items():
            self._seconds[part] += seconds
        return found

    def _apply(self, table: Table, due: _Round) -> None:
        ledgers = table.ledger[due.game]
        apply_batch(due.state, due.chosen, self.game.rules, ledgers)
        table.state[due.game], table.ledger[due.game] = due.state, ledgers
        table.decisions[due.game] += 1
        table.hashes[due.game] = mixed(table.hashes[due.game], due.chosen.astype(np.uint64))
        self._kinds += np.bincount(BLOCK_OF_ACTION[due.chosen], minlength=NUM_BLOCKS)

    def _collected(self, table: Table, logs: list[Log], version: int) -> Collected:
        return Collected(
            samples=samples_of(table.state, table.ledger, logs, self.options, version),
            games=game_rows(table, version),
            kinds=self._kinds.copy(),
            decisions=int(table.decisions.sum()),
            forced=self._forced,
            searched=self._searched,
            asked=self._asked,
            seconds=dict(self._seconds),
        )


class _Nobody:
    """Stands where an evaluator will be."""

    name = "nobody"

    def evaluate(self, batch: Batch) -> None:
        raise SelfPlayError("no evaluator is given")


def surprises(search: NetworkSearch, trees: NDArray[np.int64], policy: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far the improved policies are from the priors of the last search, `float32[B]`, nats (Kullback-Leibler).

    Args:
        search: as it stands after the search.
        trees: `int64[B]`, some of its trees.
        policy: `float32[B, NUM_ACTIONS]`, their improved policies.
    """
    forest = search.forest
    roots = trees * (len(forest.visits) // search.games)
    sizes = forest.num_edges[roots]
    edges = ragged_rows(forest.first_edge[roots].astype(np.int64), sizes)
    rows = np.repeat(np.arange(len(policy)), sizes)
    improved, prior = policy[rows, forest.action[edges]], forest.prior[edges]
    ratio = np.where(improved > 0, improved, 1.0) / np.where(improved > 0, np.maximum(prior, 1e-12), 1.0)
    found = np.bincount(rows, weights=improved * np.log(ratio), minlength=len(policy))
    return np.maximum(found, 0.0).astype(np.float32)


def only_decisions(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The ids in masks of one decision, `uint64[B, MASK_WORDS] -> int64[B]`."""
    word = np.argmax(masks != 0, axis=1)
    bits = masks[np.arange(len(masks)), word]
    found: NDArray[np.int64] = 64 * word + np.bitwise_count(bits - np.uint64(1)).astype(np.int64)
    return found


def mixed(hashed: NDArray[np.uint64], word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`engine_fast.bits.mix` of arrays."""
    z = (hashed ^ word) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(29))


def coins(seeds: NDArray[np.uint64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Random numbers in [0, 1), one for each seed and number (SplitMix64, Steele et al. 2014)."""
    z = seeds + numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: NDArray[np.float64] = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53
    return drawn
