"""What the engine's parts cost, in nanoseconds, measured inside kernels on recorded random games.

Two views. *Verbs*: a part called for one stored position after another, as a search or a batch uses it. *Profile*:
where the time of a playout goes, by the ladder of `kernels.recorded`: recorded games played again with `apply` alone,
then with the mask before each decision, then with the drawing, then as a real playout, whose next step has to wait
for what was drawn. The same few games over and over, until the processor knows them by heart, show how much of that
are mispredicted branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.batch import hash_batch, set_up_batch
from engine_fast.bounds import max_decisions
from engine_fast.layout import STATE_WORDS
from engine_fast.position import generator_of, load_game, new_ledger
from engine_fast.setup import STANDARD
from luna_ai.bench.kernels import recorded
from luna_ai.bench.measuring import Sample, run_for, series

GAMES, POSITIONS = 1024, 16384
"""Far more than a branch predictor can learn by heart; the positions (1.8 MB) are read in order."""
FEW, TIMES = 4, 256
"""Few enough games to be learned, played many times in one call."""


@dataclass(frozen=True)
class Recorded:
    """Uniform random games of one player count: `starts`, decisions `chosen`, `lengths`, first `positions`."""

    players: int
    seed: int
    games: int = GAMES
    num_positions: int = POSITIONS

    @cached_property
    def rules(self) -> NDArray[np.uint64]:
        """The rules table of the reconstructed sheet and the official rules."""
        return load_game().rules

    @cached_property
    def starts(self) -> NDArray[np.uint64]:
        """Set-up positions, `uint64[G, STATE_WORDS]`."""
        states = np.zeros((self.games, STATE_WORDS), dtype=np.uint64)
        generators = np.random.SeedSequence(self.seed).generate_state(self.games, np.uint64).reshape(-1, 1)
        set_up_batch(states, self.players, STANDARD, np.full(self.games, -1, dtype=np.int64), generators, self.rules)
        return states

    @cached_property
    def _played(self) -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint64]]:
        chosen = np.empty(self.games * max_decisions(self.players), dtype=np.uint16)
        lengths = np.zeros(self.games, dtype=np.int32)
        positions = np.zeros((self.num_positions, STATE_WORDS), dtype=np.uint64)
        scratch = (np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger())
        made = recorded.record_games(self.starts, self.rules, self.generator(), chosen, lengths, positions, *scratch)
        return chosen[:made].copy(), lengths, positions[:made]

    @property
    def chosen(self) -> NDArray[np.uint16]:
        """Ids of all decisions, `uint16[D]`."""
        return self._played[0]

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Decisions of each game, `int32[G]`."""
        return self._played[1]

    @property
    def positions(self) -> NDArray[np.uint64]:
        """The positions before the first decisions, `uint64[M, STATE_WORDS]`."""
        return self._played[2]

    def generator(self) -> NDArray[np.uint64]:
        """The generator that the games were drawn with, at its start."""
        return generator_of(self.seed)


Works = dict[str, tuple[int, Callable[[], Any]]]
"""By name: the units of one call, and the call."""


def verb_works(games: Recorded) -> Works:
    """A part for each stored position; `set_up` for each game."""
    state, ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
    positions, chosen, rules = games.positions, games.chosen[: len(games.positions)], games.rules
    hashes = np.zeros(len(positions), dtype=np.uint64)
    dealt, generators = games.starts.copy(), np.arange(1, games.games + 1, dtype=np.uint64).reshape(-1, 1)
    starters = np.full(games.games, -1, dtype=np.int64)
    return {
        "copy_row": (len(positions), lambda: recorded.copy_rows(positions, state)),
        "legal_mask": (len(positions), lambda: recorded.make_masks(positions, rules)),
        "copy_and_apply": (
            len(positions),
            lambda: recorded.copy_and_apply(positions, chosen, rules, state, ledger),
        ),
        "position_hash": (len(positions), lambda: hash_batch(positions, hashes)),
        "set_up": (
            games.games,
            lambda: set_up_batch(dealt, games.players, STANDARD, starters, generators, rules),
        ),
    }


def ladder_works(games: Recorded) -> Works:
    """The rungs of the ladder, a unit is a decision."""
    state, ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
    starts, lengths, chosen, rules = games.starts, games.lengths, games.chosen, games.rules
    recording, few = (starts, lengths, chosen, rules), starts[:FEW]
    scratch = (games.generator(), state, ledger)
    return {
        "apply": (len(chosen), lambda: recorded.replay(*recording, state, ledger)),
        "mask": (len(chosen), lambda: recorded.replay_with_masks(*recording, state, ledger)),
        "choice": (
            len(chosen),
            lambda: recorded.replay_with_choices(*recording, games.generator(), state, ledger),
        ),
        "playout": (len(chosen), lambda: recorded.play_again(starts, 1, rules, games.generator(), *scratch)),
        "learned": (
            TIMES * int(lengths[:FEW].sum()),
            lambda: recorded.play_again(few, TIMES, rules, games.generator(), *scratch),
        ),
    }


def time_work(seconds: float, units: int, call: Callable[[], Any]) -> Sample:
    """Repeats a call for about so many processor seconds."""

    def work(size: int) -> int:
        for _ in range(size):
            call()
        return size * units

    return run_for(seconds, work)


def measure_costs(games: Recorded, seconds: float, runs: int, tick: Callable[[], None]) -> dict[str, Any]:
    """Nanoseconds of each verb and the profile of a playout; the parts take turns, `tick` after each of them."""
    works = verb_works(games) | ladder_works(games)
    for _, call in works.values():
        call()  # compiled and warm
    samples: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, (units, call) in works.items():
            samples[name].append(time_work(seconds, units, call).nanoseconds)
            tick()
    decisions_per_game = len(games.chosen) / games.games
    return {"costs_ns": verb_costs(samples), "profile_ns": profile(samples, decisions_per_game)}


def verb_costs(samples: dict[str, list[float]]) -> dict[str, Any]:
    """The verbs, with `apply` as what it adds to a copied row."""
    names = ("copy_row", "legal_mask", "copy_and_apply", "position_hash", "set_up")
    apply = [both - copy for both, copy in zip(samples["copy_and_apply"], samples["copy_row"], strict=True)]
    return {name: series(samples[name]) for name in names} | {"apply": series(apply)}


def profile(samples: dict[str, list[float]], decisions_per_game: float) -> dict[str, Any]:
    """Nanoseconds of a playout's decision by part; their sum is the whole decision, set-up included."""
    rungs = ("apply", "mask", "choice", "playout", "learned")
    apply, mask, choice, playout, learned = (np.array(samples[name]) for name in rungs)
    set_up = np.array(samples["set_up"]) / decisions_per_game
    parts = {
        "apply_and_scoring": apply,
        "legal_mask": mask - apply,
        "choice": choice - mask,
        "waiting_for_the_choice": playout - choice,
        "set_up": set_up,
        "whole": playout + set_up,
        "of_it_mispredicted_branches": playout - learned,
    }
    return {name: series(values.tolist()) for name, values in parts.items()}
