"""One node for a position that is reached in several ways, if the tree shares nodes (option `transpositions`).

The table is open addressing with steps of one (Knuth, "The art of computer programming", volume 3, 6.4, algorithm L):
at most half of it is filled, and what stands in a slot is compared word by word, so positions with one hash stay two.

An edge keeps its own visits and values whoever else leads to its node; visits, values and proofs of the node are those
of all simulations through it. No line comes back to a position: completed actions are counted within a round, rounds
are counted, and within an action each step lifts, lands or takes something for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.batch import position_hash
from engine_fast.bits import U0, U1
from engine_fast.layout import OVER, copy_position
from luna_ai.search.compiling import inline
from luna_ai.search.proofs import prove_terminal
from luna_ai.search.tree import NO_NODE, add_node


@inline
def shares_nodes(tree: Any) -> Any:
    """Whether positions that are reached in several ways have one node."""
    return tree.table.shape[0] > 1


@inline
def same_position(one: Any, other: Any) -> Any:
    """Whether two rows of words are equal."""
    differing = U0
    for word in range(layout.STATE_WORDS):
        differing |= one[word] ^ other[word]
    return differing == U0


@inline
def slot_of(tree: Any, state: Any) -> Any:
    """Where a position stands in the table, or the empty slot where it belongs, uint64."""
    last = np.uint64(tree.table.shape[0] - 1)
    slot = position_hash(state) & last
    while tree.table[slot] != NO_NODE and not same_position(tree.state[tree.table[slot]], state):
        slot = (slot + U1) & last
    return slot


@inline
def find_shared(tree: Any, state: Any) -> Any:
    """The node (int64) of a position if the tree shares nodes and has it, else -1."""
    return np.int64(tree.table[slot_of(tree, state)]) if shares_nodes(tree) else np.int64(NO_NODE)


@inline
def add_position(tree: Any, state: Any, value: Any) -> Any:
    """A fresh node (int64) for a position that has none yet, -1 when all are used; `value`: scratch, `float64[4]`."""
    node = np.int64(add_node(tree))
    if node != NO_NODE:
        if shares_nodes(tree):
            tree.table[slot_of(tree, state)] = node
        copy_position(tree.state[node], state)
        if layout.phase(state) == OVER:
            prove_terminal(tree, node, value)
    return node
