"""Simulations per second of `mcts:...`, one search after another on one core, and bare playouts beside them.

The roots are positions of uniform random games, drawn evenly from all decisions of the first five rounds: in the sixth
a search soon proves the result, and its simulations cost next to nothing. Searches and bare playouts begin in the same
roots, equally often in each, in turns, so the ratio is that of the same work with and without a tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.layout import NUM_ROUNDS
from engine_fast.playout import UNIFORM, playout_batch
from engine_fast.position import Position, load_game, new_ledger
from luna_ai.bench.costs import Recorded
from luna_ai.bench.measuring import run_for, series
from luna_ai.players import parse_player
from luna_ai.search.mcts import Search
from luna_ai.search.options import SearchOptions

_UCT = "mcts:rule=uct,sharpness=0,bias=0"
KINDS = {
    "uct": f"{_UCT},rollout=uniform,rounds=0",
    "uct_mixed": f"{_UCT},rollout=mixed,rounds=0",
    "uct_mixed_cut": f"{_UCT},rollout=mixed,rounds=1",
    "uct_greedy": f"{_UCT},rollout=greedy,rounds=0",
    "uct_greedy_cut": f"{_UCT},rollout=greedy,rounds=1",
    "default": "mcts:",
}
"""The searches, by the names of their players (without the budget); `cut` means to the end of the round."""
GAMES = 64


@dataclass(frozen=True)
class Roots:
    """Positions to search in, of uniform random games with one number of players."""

    players: int
    number: int
    seed: int = 1

    @cached_property
    def states(self) -> NDArray[np.uint64]:
        """`uint64[R, STATE_WORDS]`, in random order."""
        found = Recorded(self.players, self.seed, games=GAMES).positions
        early = np.flatnonzero(layout.columns(found, "round") < NUM_ROUNDS)
        chosen = np.random.default_rng(self.seed).choice(early, self.number, replace=False)
        states: NDArray[np.uint64] = found[chosen]
        return states

    @cached_property
    def positions(self) -> list[Position]:
        """The same as positions of the official rules."""
        game = load_game()
        return [Position(state.copy(), game) for state in self.states]


def options_of(kind: str, simulations: int) -> SearchOptions:
    """The options of one of `KINDS`, with so many simulations a search."""
    options = parse_player(KINDS[kind].removesuffix(":")).search
    assert options is not None
    return replace(options, sims=simulations)


def bare_player(roots: Roots, seed: int) -> Callable[[int], int]:
    """Uniform playouts to the end, as a work for `run_for`: size is playouts from each root, a unit a playout."""
    rules, rows = load_game().rules, len(roots.states)
    states, decisions = roots.states.copy(), np.zeros(rows, dtype=np.int32)
    generators = np.random.SeedSequence(seed).generate_state(rows, np.uint64).reshape(-1, 1)
    ledgers = np.zeros((rows, *new_ledger().shape), dtype=np.int16)

    def work(size: int) -> int:
        for _ in range(size):
            states[:] = roots.states
            playout_batch(states, UNIFORM, rules, generators, ledgers, decisions)
        return size * rows

    work(1)  # compiled and warm
    return work


def searcher(options: SearchOptions, roots: Roots, seed: int) -> Callable[[int], int]:
    """Searches, as a work for `run_for`: size counts searches in every root, a unit is a simulation."""
    search = Search(options, seed)

    def work(size: int) -> int:
        return sum(search(position).played for _ in range(size) for position in roots.positions)

    for position in roots.positions[:2]:
        search(position)  # compiled and warm
    return work


def measure_trees(
    players: tuple[int, ...], roots: int, simulations: int, seconds: float, runs: int, tick: Callable[[], None]
) -> dict[str, Any]:
    """Simulations and bare playouts a second, by kind and number of players, and the ratio of UCT to bare playouts.

    Args:
        players: numbers of players.
        roots: positions to search in.
        simulations: of each search.
        seconds: processor seconds of a run, at least.
        runs: of each figure.
        tick: called after every run.
    """
    starts = {seats: Roots(seats, roots) for seats in players}
    names = ("bare", *KINDS)
    rates: dict[str, dict[str, list[float]]] = {name: {str(seats): [] for seats in players} for name in names}
    for seats, found in starts.items():
        works = {"bare": bare_player(found, seats)}
        works |= {kind: searcher(options_of(kind, simulations), found, seats) for kind in KINDS}
        for _ in range(runs):
            for name, work in works.items():
                rates[name][str(seats)].append(run_for(seconds, work).rate)
                tick()
    bare, uct = rates.pop("bare"), rates["uct"]
    return {
        "players_measured": KINDS,
        "bare_playouts_per_second": {seats: series(found) for seats, found in bare.items()},
        "simulations_per_second": {
            kind: {seats: series(found) for seats, found in by_seats.items()} for kind, by_seats in rates.items()
        },
        "uct_ratio": {
            seats: series([one / other for one, other in zip(uct[seats], bare[seats], strict=True)]) for seats in bare
        },
    }
