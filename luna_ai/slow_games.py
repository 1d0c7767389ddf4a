"""Games with a search at the table: played decision by decision from Python, with the time that each seat thinks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES
from engine_fast.position import Position
from luna_ai.bots.games import HASH_SEED, hash_decision
from luna_ai.players import Player, PlayerSpec, make_player


@dataclass(frozen=True)
class SlowGame:
    """A finished game.

    Attributes:
        position: the last position.
        ledger: `int16[4, SOURCES]`.
        decisions: number of decisions.
        moves_hash: equal for equal games, the same as kernels give.
        seconds: time for decisions that had a choice, by seat, `float64[4]`.
        seat_decisions: decisions by seat that had a choice, `int64[4]`.
    """

    position: Position
    ledger: NDArray[np.int16]
    decisions: int
    moves_hash: int
    seconds: NDArray[np.float64]
    seat_decisions: NDArray[np.int64]


def seat_players(specs: Sequence[PlayerSpec], seed: int, stop: Callable[[], bool] = lambda: False) -> list[Player]:
    """The players of a table, each with chance of its own, drawn from the game's seed; `stop` as in `make_player`."""
    seeds = np.random.SeedSequence(seed).generate_state(len(specs), np.uint64)
    return [make_player(spec, int(own), stop) for spec, own in zip(specs, seeds, strict=True)]


def play_slowly(
    position: Position, specs: Sequence[PlayerSpec], seed: int, stop: Callable[[], bool] = lambda: False
) -> SlowGame | None:
    """Plays a game to its end; None if `stop` says so before, within a tree search too."""
    players, ledger = seat_players(specs, seed, stop), np.zeros((MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)
    seconds, counts = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS, dtype=np.int64)
    decisions, hashed = 0, np.uint64(HASH_SEED)
    while (seat := position.to_move) is not None:
        began, legal = time.perf_counter(), position.legal_ids()
        action = players[seat].choose(position)
        if stop():  # the decision may be cut short
            return None
        if len(legal) > 1:
            seconds[seat] += time.perf_counter() - began
            counts[seat] += 1
        position = position.play(action, ledger)
        hashed = np.uint64(hash_decision(hashed, action))
        decisions += 1
    return SlowGame(position, ledger, decisions, int(hashed), seconds, counts)
