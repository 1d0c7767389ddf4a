"""The engine over many positions at once: verbs on `uint64[B, STATE_WORDS]`. All arrays must be C-contiguous."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.apply import apply
from engine_fast.bits import U7, mix
from engine_fast.jit import inline, kernel
from engine_fast.layout import OVER
from engine_fast.legal import legal_mask
from engine_fast.setup import set_up


@inline
def position_hash(state: Any) -> Any:
    """A 64-bit hash of a position, equal for equal positions. Works on all words, about 10 ns."""
    hashed = np.uint64(0x243F6A8885A308D3)
    for word in range(layout.STATE_WORDS):
        hashed = mix(hashed, state[word])
    return mix(hashed, hashed >> U7)


@kernel
def hash_batch(states: Any, out: Any) -> None:
    """Writes the hash of each position of `uint64[B, STATE_WORDS]` into `uint64[B]`."""
    for i in range(states.shape[0]):
        out[i] = position_hash(states[i])


@kernel
def set_up_batch(states: Any, seats: Any, setup: Any, start_player: Any, generators: Any, rules: Any) -> None:
    """Writes a random set-up position for `seats` (int64) players into each row.

    Args:
        states: `uint64[B, STATE_WORDS]`, overwritten.
        seats: number of players, 2 to 4.
        setup: index in `setup.SETUPS`.
        start_player: `int64[B]`, a seat, or -1 to draw it.
        generators: `uint64[B, 1]`, moved on.
        rules: the rules table.
    """
    for i in range(states.shape[0]):
        starter = np.uint64(start_player[i]) if start_player[i] >= 0 else U7
        set_up(states[i], np.uint64(seats), setup, starter, generators[i], rules)


@kernel
def legal_batch(states: Any, rules: Any, out: Any) -> None:
    """Writes the legal masks of `uint64[B, STATE_WORDS]` into `uint64[B, MASK_WORDS]` (all 0 where a game is over)."""
    for i in range(states.shape[0]):
        row = out[i]
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9] = legal_mask(states[i], rules)


@kernel
def apply_batch(states: Any, chosen: Any, rules: Any, ledgers: Any) -> None:
    """Plays `chosen[i]`, `int64[B]`, in position i; rows with a negative id are left alone.

    The decisions must be legal (not checked here). `ledgers` is `int16[B, 4, SOURCES]`.
    """
    for i in range(states.shape[0]):
        if chosen[i] >= 0:
            apply(states[i], np.uint64(chosen[i]), rules, ledgers[i])


@kernel
def over_batch(states: Any, out: Any) -> None:
    """Writes whether each game is over into `bool[B]`."""
    for i in range(states.shape[0]):
        out[i] = layout.phase(states[i]) == OVER
