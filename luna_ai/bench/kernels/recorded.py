"""Random games recorded once and worked through again with more or less of a playout's work.

The four kernels `replay*` and `play_again` are a ladder: each does what the one before does and one thing more, on the
same games, so the difference of two is the cost of one part where it is used, in a running game.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.apply import apply
from engine_fast.bits import U0
from engine_fast.jit import compiler
from engine_fast.layout import ACTION, NONE, OVER, copy_position
from engine_fast.legal import new_action_mask, preliminary_words, step_words
from engine_fast.playout import choose_uniform, play_out_uniform

kernel, inline, _ = compiler(Path(__file__).resolve().parent)


@inline
def folded_mask(state: Any, rules: Any) -> Any:
    """The legal mask as a playout makes it (three words inside an action, ten elsewhere), its words xor-ed."""
    if layout.pending(state) != NONE:
        w0, w2, w6 = step_words(state, rules)
        return w0 ^ w2 ^ w6
    if layout.phase(state) == ACTION:
        m = new_action_mask(state, rules)
        return m[0] ^ m[1] ^ m[2] ^ m[3] ^ m[4] ^ m[5] ^ m[6] ^ m[7] ^ m[8] ^ m[9]
    w2, w9 = preliminary_words(state)
    return w2 ^ w9


@kernel
def record_games(
    starts: Any, rules: Any, generator: Any, chosen: Any, lengths: Any, positions: Any, state: Any, ledger: Any
) -> Any:
    """Plays uniform random games and writes down what was decided where.

    Args:
        starts: `uint64[G, STATE_WORDS]`, positions to start from, not changed.
        rules: the rules table.
        generator: `uint64[1]`, moved on.
        chosen: `uint16[D]`, written: ids of all decisions, game after game; D must hold them all (not checked).
        lengths: `int32[G]`, written: decisions of each game.
        positions: `uint64[M, STATE_WORDS]`, written: the positions before the first M decisions.
        state: scratch, `uint64[STATE_WORDS]`.
        ledger: scratch, `int16[4, SOURCES]`.

    Returns:
        Decisions of all games, int64.
    """
    at = 0
    for game in range(starts.shape[0]):
        copy_position(state, starts[game])
        first = at
        while layout.phase(state) != OVER:
            if at < positions.shape[0]:
                copy_position(positions[at], state)
            action = choose_uniform(state, rules, generator)
            chosen[at] = action
            apply(state, action, rules, ledger)
            at += 1
        lengths[game] = at - first
    return at


@kernel
def replay(starts: Any, lengths: Any, chosen: Any, rules: Any, state: Any, ledger: Any) -> Any:
    """Plays recorded decisions: `apply` alone. Arguments as in `record_games`."""
    at, folded = 0, U0
    for game in range(starts.shape[0]):
        copy_position(state, starts[game])
        for _ in range(lengths[game]):
            apply(state, np.uint64(chosen[at]), rules, ledger)
            at += 1
        folded ^= state[9]
    return folded


@kernel
def replay_with_masks(starts: Any, lengths: Any, chosen: Any, rules: Any, state: Any, ledger: Any) -> Any:
    """Plays recorded decisions and makes the legal mask before each."""
    at, folded = 0, U0
    for game in range(starts.shape[0]):
        copy_position(state, starts[game])
        for _ in range(lengths[game]):
            folded ^= folded_mask(state, rules)
            apply(state, np.uint64(chosen[at]), rules, ledger)
            at += 1
        folded ^= state[9]
    return folded


@kernel
def replay_with_choices(
    starts: Any, lengths: Any, chosen: Any, rules: Any, generator: Any, state: Any, ledger: Any
) -> Any:
    """Plays recorded decisions and draws one before each, which is not played.

    With the generator that recorded the games it draws what was recorded.

    Returns:
        Sum of the ids drawn, uint64.
    """
    at, drawn = 0, U0
    for game in range(starts.shape[0]):
        copy_position(state, starts[game])
        for _ in range(lengths[game]):
            drawn += choose_uniform(state, rules, generator)
            apply(state, np.uint64(chosen[at]), rules, ledger)
            at += 1
    return drawn


@kernel
def play_again(starts: Any, times: Any, rules: Any, seed: Any, generator: Any, state: Any, ledger: Any) -> Any:
    """The playout itself, without set-up: plays what it draws, all games `times` over with the same chance.

    Args:
        starts: `uint64[G, STATE_WORDS]`.
        times: int64.
        rules: the rules table.
        seed: `uint64[1]`, the generator that recorded the games, not changed.
        generator: scratch, `uint64[1]`.
        state: scratch, `uint64[STATE_WORDS]`.
        ledger: scratch, `int16[4, SOURCES]`.

    Returns:
        Decisions of one time, int64.
    """
    decisions = 0
    for _ in range(times):
        generator[0], decisions = seed[0], 0
        for game in range(starts.shape[0]):
            copy_position(state, starts[game])
            decisions += play_out_uniform(state, rules, generator, ledger)
    return decisions


@kernel
def copy_rows(positions: Any, state: Any) -> Any:
    """Copies each of `uint64[M, STATE_WORDS]` into the scratch row."""
    folded = U0
    for i in range(positions.shape[0]):
        copy_position(state, positions[i])
        folded ^= state[11]
    return folded


@kernel
def copy_and_apply(positions: Any, chosen: Any, rules: Any, state: Any, ledger: Any) -> Any:
    """Copies each position into the scratch row and plays its decision there."""
    folded = U0
    for i in range(positions.shape[0]):
        copy_position(state, positions[i])
        apply(state, np.uint64(chosen[i]), rules, ledger)
        folded ^= state[11]
    return folded


@kernel
def make_masks(positions: Any, rules: Any) -> Any:
    """Makes the legal mask of each position, in registers."""
    folded = U0
    for i in range(positions.shape[0]):
        folded ^= folded_mask(positions[i], rules)
    return folded
