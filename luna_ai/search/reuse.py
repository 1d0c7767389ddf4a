"""Planting a tree, and carrying the part below a position over to another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast.layout import MAX_PLAYERS
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.transpositions import add_position, find_shared, same_position
from luna_ai.search.tree import EDGES_USED, NO_NODE, NODES_USED, ROOT, UNEXPANDED, UNVISITED, clear


@kernel
def plant(tree: Any, state: Any, value: Any) -> None:
    """Empties a tree and makes `state` its root; `value`, `float64[4]`, is scratch."""
    clear(tree)
    add_position(tree, state, value)


@kernel
def find_node(tree: Any, state: Any) -> Any:
    """The node of a position (int64), or -1 if it is not in the tree."""
    for node in range(tree.counters[NODES_USED]):
        if same_position(tree.state[node], state):
            return node
    return NO_NODE


@kernel
def transplant(tree: Any, node: Any, other: Any, value: Any) -> None:
    """Copies what is below `node` into `other`, whose root it becomes; what was in `other` is forgotten.

    Breadth first. A node that several edges lead to is copied with the first of them; the others find it by its
    position. `value`, `float64[4]`, is scratch.
    """
    clear(other)
    copy_node(tree, node, other, value)
    level = np.int64(ROOT)
    while level < other.counters[NODES_USED]:
        first = other.first_edge[level]
        for edge in range(first, first + other.num_tried[level]):
            source = np.int64(other.child[edge])
            if source != UNVISITED:
                known = find_shared(other, tree.state[source])
                other.child[edge] = known if known != NO_NODE else copy_node(tree, source, other, value)
        level += 1


@called
def copy_node(tree: Any, source: Any, other: Any, value: Any) -> Any:
    """Copies a node with its edges, whose children are still numbers of the old tree; returns its number, int64."""
    target = add_position(other, tree.state[source], value)
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
    return target


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
