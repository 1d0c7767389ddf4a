"""Random playouts: a game played to its end by uniform or mixed random decisions, inside one kernel.

The *uniform* policy draws from all legal decisions. Nearly half of these belong to Journeys, so the *mixed* policy
first draws the kind of decision (a block of the action table), then one of that kind: a diet with more of the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, U7, popcount, random_below, select_bit
from engine_fast.jit import called, inline, kernel
from engine_fast.layout import ACTION, NONE, OVER
from engine_fast.legal import legal_mask, new_action_mask, preliminary_words, step_words
from engine_fast.setup import STANDARD, set_up

POLICIES = ("uniform", "mixed")
UNIFORM, MIXED = 0, 1
BLOCK_MASKS = actions.BLOCK_MASKS
U64 = np.uint64(64)


@inline
def prefix_counts(m: Any) -> Any:
    """Legal decisions in the first 1, 2, ... 10 words of a mask."""
    s0 = popcount(m[0])
    s1 = s0 + popcount(m[1])
    s2 = s1 + popcount(m[2])
    s3 = s2 + popcount(m[3])
    s4 = s3 + popcount(m[4])
    s5 = s4 + popcount(m[5])
    s6 = s5 + popcount(m[6])
    s7 = s6 + popcount(m[7])
    s8 = s7 + popcount(m[8])
    s9 = s8 + popcount(m[9])
    return s0, s1, s2, s3, s4, s5, s6, s7, s8, s9


@inline
def select_decision(m: Any, s: Any, k: Any) -> Any:
    """Id (uint64) of the legal decision that has `k` others before it; `s` are the prefix counts of the mask `m`."""
    index, word, before = U0, m[0], U0
    if k >= s[0]:
        index, word, before = U1, m[1], s[0]
    if k >= s[1]:
        index, word, before = np.uint64(2), m[2], s[1]
    if k >= s[2]:
        index, word, before = np.uint64(3), m[3], s[2]
    if k >= s[3]:
        index, word, before = np.uint64(4), m[4], s[3]
    if k >= s[4]:
        index, word, before = np.uint64(5), m[5], s[4]
    if k >= s[5]:
        index, word, before = np.uint64(6), m[6], s[5]
    if k >= s[6]:
        index, word, before = np.uint64(7), m[7], s[6]
    if k >= s[7]:
        index, word, before = np.uint64(8), m[8], s[7]
    if k >= s[8]:
        index, word, before = np.uint64(9), m[9], s[8]
    return index * U64 + select_bit(word, k - before)


@inline
def choose_of_ten(m: Any, generator: Any) -> Any:
    """A decision drawn uniformly from a mask that is not empty."""
    s = prefix_counts(m)
    return select_decision(m, s, random_below(generator, s[9]))


@inline
def choose_of_three(w0: Any, w2: Any, w6: Any, generator: Any) -> Any:
    """A decision drawn uniformly from words 0, 2 and 6 of a mask that is empty otherwise."""
    s0 = popcount(w0)
    s2 = s0 + popcount(w2)
    k = random_below(generator, s2 + popcount(w6))
    offset, word, before = U0, w0, U0
    if k >= s0:
        offset, word, before = np.uint64(128), w2, s0
    if k >= s2:
        offset, word, before = np.uint64(384), w6, s2
    return offset + select_bit(word, k - before)


@inline
def choose_uniform(state: Any, rules: Any, generator: Any) -> Any:
    """A decision drawn uniformly from all that are legal; the game must not be over (not checked here)."""
    if layout.pending(state) != NONE:
        w0, w2, w6 = step_words(state, rules)
        return choose_of_three(w0, w2, w6, generator)
    if layout.phase(state) == ACTION:
        return choose_of_ten(new_action_mask(state, rules), generator)
    w2, w9 = preliminary_words(state)
    return choose_of_ten((U0, U0, w2, U0, U0, U0, U0, U0, U0, w9), generator)


@inline
def block_words(m: Any, block: Any) -> Any:
    """The ids of one block (uint64) in a mask."""
    b = BLOCK_MASKS[block]
    return (
        m[0] & b[0],
        m[1] & b[1],
        m[2] & b[2],
        m[3] & b[3],
        m[4] & b[4],
        m[5] & b[5],
        m[6] & b[6],
        m[7] & b[7],
        m[8] & b[8],
        m[9] & b[9],
    )


@inline
def any_bit(m: Any) -> Any:
    """Whether a mask is not empty."""
    return (m[0] | m[1] | m[2] | m[3] | m[4] | m[5] | m[6] | m[7] | m[8] | m[9]) != U0


@inline
def choose_mixed(state: Any, rules: Any, generator: Any) -> Any:
    """A decision drawn uniformly from a block of the action table that is drawn uniformly from those on offer."""
    m = legal_mask(state, rules)
    offered = U0
    for index in range(actions.NUM_BLOCKS):
        if any_bit(block_words(m, np.uint64(index))):
            offered |= U1 << np.uint64(index)
    block = select_bit(offered, random_below(generator, popcount(offered)))
    return choose_of_ten(block_words(m, block), generator)


@inline
def play_out_uniform(state: Any, rules: Any, generator: Any, ledger: Any) -> Any:
    """Plays `state` (in place) to the end with uniform random decisions; returns their number."""
    decisions = 0
    while layout.phase(state) != OVER:
        apply(state, choose_uniform(state, rules, generator), rules, ledger)
        decisions += 1
    return decisions


@called
def play_out_mixed(state: Any, rules: Any, generator: Any, ledger: Any) -> Any:
    """Plays `state` (in place) to the end with the mixed policy; returns the number of decisions."""
    decisions = 0
    while layout.phase(state) != OVER:
        apply(state, choose_mixed(state, rules, generator), rules, ledger)
        decisions += 1
    return decisions


@kernel
def playout_batch(states: Any, policy: Any, rules: Any, generators: Any, ledgers: Any, decisions: Any) -> None:
    """Plays every position to its end, in place.

    Args:
        states: `uint64[B, STATE_WORDS]`, changed.
        policy: index in `POLICIES` (int64).
        rules: the rules table.
        generators: `uint64[B, 1]`, moved on.
        ledgers: `int16[B, 4, SOURCES]`, added to.
        decisions: `int32[B]`, overwritten with the number of decisions played.
    """
    for i in range(states.shape[0]):
        if policy == MIXED:
            decisions[i] = play_out_mixed(states[i], rules, generators[i], ledgers[i])
        else:
            decisions[i] = play_out_uniform(states[i], rules, generators[i], ledgers[i])


@kernel
def random_games(players: Any, games: Any, rules: Any, generator: Any, state: Any, ledger: Any) -> Any:
    """Uniform random games from the standard set-up on, one after another, for measuring speed.

    Args:
        players: 2 to 4 (int64).
        games: how many (int64).
        rules: the rules table.
        generator: `uint64[1]`, moved on.
        state: scratch, `uint64[STATE_WORDS]`.
        ledger: scratch, `int16[4, SOURCES]`.

    Returns:
        Decisions played, int64.
    """
    decisions = 0
    for _ in range(games):
        set_up(state, np.uint64(players), STANDARD, U7, generator, rules)
        decisions += play_out_uniform(state, rules, generator, ledger)
    return decisions
