"""Planting a tree, and carrying the part below a position over to another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.bits import U0
from engine_fast.layout import MAX_PLAYERS, OVER, copy_position
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.proofs import prove_terminal
from luna_ai.search.tree import EDGES_USED, NODES_USED, ROOT, UNEXPANDED, UNVISITED, add_node


@kernel
def plant(tree: Any, state: Any, value: Any) -> None:
    """Empties a tree and makes `state` its root; `value`, `float64[4]`, is scratch."""
    for index in range(tree.counters.shape[0]):
        tree.counters[index] = 0
    root = add_node(tree)
    copy_position(tree.state[root], state)
    if layout.phase(state) == OVER:
        prove_terminal(tree, root, value)


@inline
def same_position(one: Any, other: Any) -> Any:
    """Whether two rows of words are equal."""
    differing = U0
    for word in range(layout.STATE_WORDS):
        differing |= one[word] ^ other[word]
    return differing == U0


@kernel
def find_node(tree: Any, state: Any) -> Any:
    """The node of a position (int64), or -1 if it is not in the tree."""
    for node in range(tree.counters[NODES_USED]):
        if same_position(tree.state[node], state):
            return node
    return -1


@kernel
def transplant(tree: Any, node: Any, other: Any) -> None:
    """Copies the subtree below `node` into `other`, whose root it becomes; what was in `other` is forgotten.

    Breadth first: children are copied after their parents, so a node's number in `other` is above its parent's.
    """
    for index in range(other.counters.shape[0]):
        other.counters[index] = 0
    add_node(other)
    copy_node(tree, node, other, np.int64(ROOT))
    level = np.int64(ROOT)
    while level < other.counters[NODES_USED]:
        first = other.first_edge[level]
        for edge in range(first, first + other.num_tried[level]):
            source = np.int64(other.child[edge])
            if source != UNVISITED:
                made = add_node(other)
                copy_node(tree, source, other, made)
                other.child[edge] = made
        level += 1


@called
def copy_node(tree: Any, source: Any, other: Any, target: Any) -> None:
    """Copies a node with its edges; the edges' children are still numbers of the old tree."""
    copy_position(other.state[target], tree.state[source])
    other.visits[target] = tree.visits[source]
    other.proven[target] = tree.proven[source]
    for seat in range(MAX_PLAYERS):
        other.value[target, seat] = tree.value[source, seat]
        other.proven_value[target, seat] = tree.proven_value[source, seat]
    if tree.first_edge[source] != UNEXPANDED:
        other.num_edges[target] = tree.num_edges[source]
        other.num_tried[target] = tree.num_tried[source]
        other.tried_prior[target] = tree.tried_prior[source]
        copy_edges(tree, source, other, target)


@inline
def copy_edges(tree: Any, source: Any, other: Any, target: Any) -> None:
    """Copies the edges of a node to the end of the other tree's."""
    first, count = tree.first_edge[source], tree.num_edges[source]
    start = other.counters[EDGES_USED]
    other.first_edge[target] = start
    other.counters[EDGES_USED] = start + count
    for index in range(count):
        old, new = first + index, start + index
        other.action[new] = tree.action[old]
        other.child[new] = tree.child[old]
        other.prior[new] = tree.prior[old]
        other.edge_visits[new] = tree.edge_visits[old]
        other.edge_value[new] = tree.edge_value[old]
        other.edge_proof[new] = tree.edge_proof[old]
