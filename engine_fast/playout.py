"""Random playouts: a game played to its end by uniform or mixed random decisions, inside one kernel.

The *uniform* policy draws from all legal decisions. Nearly half of these belong to Journeys, so the *mixed* policy
first draws the kind of decision (a block of the action table), then one of that kind: a diet with more of the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, popcount, random_below, select_bit
from engine_fast.jit import inline, kernel
from engine_fast.layout import OVER
from engine_fast.legal import legal_mask

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
def choose_uniform(m: Any, generator: Any) -> Any:
    """A decision drawn uniformly from a mask that is not empty."""
    s = prefix_counts(m)
    return select_decision(m, s, random_below(generator, s[9]))


@kernel
def playout(state: Any, rules: Any, generator: Any, ledger: Any) -> Any:
    """Plays `state` (in place) to the end with uniform random decisions; returns their number."""
    decisions = 0
    while layout.phase(state) != OVER:
        action = choose_uniform(legal_mask(state, rules), generator)
        apply(state, action, rules, ledger)
        decisions += 1
    return decisions
