"""Counting rows of decisions: perft(d) is the number of legal rows of d decisions from a position.

Rows that end earlier, because the game is over, are not counted. Two engines that agree on perft agree on the rules;
the numbers of named positions are kept in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import MASK_WORDS
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, lowest_bit, popcount
from engine_fast.jit import inline, kernel
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, STATE_WORDS, copy_position
from engine_fast.legal import legal_mask


@inline
def write_mask(row: Any, mask: Any) -> None:
    """Stores the ten words of a mask in a row."""
    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9] = mask


@inline
def count_mask(row: Any) -> Any:
    """Number of 1 bits of a mask, int64."""
    total = np.int64(0)
    for word in range(MASK_WORDS):
        total += np.int64(popcount(row[word]))
    return total


@inline
def pop_decision(row: Any) -> Any:
    """Removes the lowest id from a mask and returns it (int64); -1 if there is none."""
    for word in range(MASK_WORDS):
        if row[word] != U0:
            bit = lowest_bit(row[word])
            row[word] &= row[word] - U1
            return np.int64(word * 64) + np.int64(bit)
    return -1


@kernel
def perft_kernel(states: Any, masks: Any, rules: Any, ledger: Any) -> Any:
    """Counts rows of `masks.shape[0]` decisions from `states[0]`, depth first without recursion.

    Args:
        states: `uint64[depth, STATE_WORDS]`, row 0 the position, the others scratch.
        masks: `uint64[depth, MASK_WORDS]`, scratch.
        rules: the rules table.
        ledger: scratch, `int16[4, SOURCES]`.
    """
    last = masks.shape[0] - 1
    level, total = 0, 0
    write_mask(masks[0], legal_mask(states[0], rules))
    while level >= 0:
        if level == last:
            total += count_mask(masks[level])
            level -= 1
            continue
        action = pop_decision(masks[level])
        if action < 0:
            level -= 1
            continue
        copy_position(states[level + 1], states[level])
        apply(states[level + 1], np.uint64(action), rules, ledger)
        write_mask(masks[level + 1], legal_mask(states[level + 1], rules))
        level += 1
    return total


def perft(state: NDArray[np.uint64], rules: NDArray[np.uint64], depth: int) -> int:
    """Number of legal rows of `depth` decisions from a position; 1 for depth 0."""
    if depth == 0:
        return 1
    states = np.zeros((depth, STATE_WORDS), dtype=np.uint64)
    states[0] = state
    masks = np.zeros((depth, MASK_WORDS), dtype=np.uint64)
    return int(perft_kernel(states, masks, rules, np.zeros((MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)))
