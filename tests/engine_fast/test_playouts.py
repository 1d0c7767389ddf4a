"""Random playouts play the rules: each is replayed decision by decision from the lists of the reference.

A playout kernel does not ask for the whole legal mask, and it tells nothing but the end of the game. So the same random
numbers are drawn in plain Python, the decision that they name is looked up in the reference's list of legal decisions,
and the final words, the ledger and the number of decisions must be those of the kernel.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from engine_fast import LEDGER_SOURCES, Position, RuleSet, load_game
from engine_fast.actions import ACTIONS, BLOCKS, ID_OF_NOTATION
from engine_fast.batch import set_up_batch
from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from engine_fast.playout import POLICIES, playout_batch, random_games
from engine_fast.reference import Reference
from engine_fast.setup import SETUPS
from tests.engine_fast.schedule import sheet_of
from tests.engine_fast.splitmix import SplitMix

UNUSUAL = RuleSet("online", False, False, True, True, True, None, 7)
GAMES = 6


class Playouts:
    """A batch of games: the set-ups, and what the kernel made of them."""

    def __init__(self, players: int, setup: str, policy: str, sheet: str, ruleset: RuleSet, seed: int) -> None:
        self.game, self.policy = load_game(sheet, ruleset), policy
        self.reference = Reference(sheet_of(sheet), ruleset.to_json())
        self.generators = np.arange(seed, seed + GAMES, dtype=np.uint64).reshape(-1, 1) * np.uint64(7919)
        self.states = np.zeros((GAMES, STATE_WORDS), dtype=np.uint64)
        starters = np.full(GAMES, -1, dtype=np.int64)
        set_up_batch(self.states, players, SETUPS.index(setup), starters, self.generators, self.game.rules)

    def play(self) -> tuple[Any, Any, Any]:
        """Final states, ledgers and numbers of decisions; the batch itself is left as it is."""
        states, generators = self.states.copy(), self.generators.copy()
        ledgers = np.zeros((GAMES, MAX_PLAYERS, len(LEDGER_SOURCES)), dtype=np.int16)
        decisions = np.zeros(GAMES, dtype=np.int32)
        playout_batch(states, POLICIES.index(self.policy), self.game.rules, generators, ledgers, decisions)
        return states, ledgers, decisions

    def choose(self, legal: list[int], generator: SplitMix) -> int:
        """The decision that the random numbers name, ids ascending; mixed: the block first."""
        if self.policy == "mixed":
            blocks = sorted({BLOCKS.index(ACTIONS[action].block) for action in legal})
            block = BLOCKS[blocks[generator.below(len(blocks))]]
            legal = [action for action in legal if ACTIONS[action].block == block]
        return legal[generator.below(len(legal))]

    def replay(self, row: int) -> tuple[Position, int]:
        """The end of a game that the reference's lists lead to, and its number of decisions."""
        position = Position(self.states[row].copy(), self.game)
        words = self.reference.load(position.to_json())
        generator, decisions = SplitMix(int(self.generators[row, 0])), 0
        while legal := sorted(ID_OF_NOTATION[text] for text in self.reference.legal(words)):
            action = self.choose(legal, generator)
            words = self.reference.play(words, ACTIONS_TEXT[action])
            decisions += 1
        end = Position.from_json(self.reference.dump(words), self.game.sheet, self.game.ruleset)
        return end, decisions


ACTIONS_TEXT = {action: text for text, action in ID_OF_NOTATION.items()}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("sheet", "ruleset"), [("reconstructed", RuleSet()), ("rosette", UNUSUAL)])
def test_a_playout_draws_from_all_legal_decisions(players: int, setup: str, policy: str, sheet: str, ruleset: RuleSet):
    batch = Playouts(players, setup, policy, sheet, ruleset, seed=players)
    states, ledgers, decisions = batch.play()
    for row in range(GAMES):
        end, number = batch.replay(row)
        assert end.over
        assert states[row].tobytes() == end.state.tobytes()
        assert decisions[row] == number
        begun = Position(batch.states[row].copy(), batch.game).influence
        gained = ledgers[row].sum(axis=1).tolist()
        assert [a + b for a, b in zip(begun, gained, strict=False)] == end.influence


@pytest.mark.parametrize("policy", POLICIES)
def test_games_of_a_batch_do_not_influence_each_other(policy: str):
    batch = Playouts(3, "standard", policy, "reconstructed", RuleSet(), seed=50)
    states, ledgers, decisions = batch.play()
    assert len({state.tobytes() for state in states}) == GAMES
    order = [3, 1, 5, 0, 2, 4]
    batch.states, batch.generators = batch.states[order].copy(), batch.generators[order].copy()
    shuffled = batch.play()
    assert (shuffled[0] == states[order]).all()
    assert (shuffled[1] == ledgers[order]).all()
    assert (shuffled[2] == decisions[order]).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_are_set_ups_and_playouts(players: int):
    """The kernel that is measured plays whole games: the same as a set-up and a playout one after another."""
    rules, generator = load_game().rules, np.array([players], dtype=np.uint64)
    state, ledger = np.zeros(STATE_WORDS, np.uint64), np.zeros((MAX_PLAYERS, len(LEDGER_SOURCES)), np.int16)
    played = random_games(players, 5, rules, generator, state, ledger)
    again, states = np.array([[players]], dtype=np.uint64), np.zeros((1, STATE_WORDS), np.uint64)
    ledgers, total = np.zeros((1, *ledger.shape), np.int16), 0
    decisions = np.zeros(1, dtype=np.int32)
    for _ in range(5):
        set_up_batch(states, players, 0, np.array([-1]), again, rules)
        playout_batch(states, POLICIES.index("uniform"), rules, again, ledgers, decisions)
        total += int(decisions[0])
    assert played == total
    assert state.tobytes() == states[0].tobytes()
    assert generator[0] == again[0, 0]


def test_the_mixed_policy_is_a_richer_diet():
    """Shares of Journey steps among the decisions of uniform and mixed games, counted in replays."""
    shares = {}
    for policy in POLICIES:
        batch, kinds = Playouts(3, "standard", policy, "reconstructed", RuleSet(), seed=9), Counter[str]()
        choose = batch.choose

        def counting(legal, generator, choose=choose, kinds=kinds):
            action = choose(legal, generator)
            kinds[ACTIONS[action].block.name] += 1
            return action

        batch.choose = counting  # type: ignore[method-assign]
        for row in range(GAMES):
            batch.replay(row)
        shares[policy] = (kinds["journey"] + kinds["land"]) / kinds.total()
    assert shares["uniform"] > 0.4 > shares["mixed"] + 0.1
