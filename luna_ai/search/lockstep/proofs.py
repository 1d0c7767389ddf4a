"""Proven results in a forest: one winning decision proves a win of the seat that decides, all losing ones its loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast.layout import MAX_PLAYERS
from luna_ai.search.compiling import called, inline
from luna_ai.search.lockstep.forest import EXACT, LOST, NO_NODE, edges_of


@inline
def knows(forest: Any, node: Any, seat: Any) -> Any:
    """Whether it is proven in a node if a seat wins."""
    return forest.proven[node] == EXACT or (forest.proven[node] == LOST and forest.mover[node] == seat)


@inline
def is_lost(forest: Any, edge: Any, seat: Any) -> Any:
    """Whether the seat that decides is proven to lose by an opened edge."""
    if forest.edge_value[edge] != 0.0 or forest.child[edge] == NO_NODE:
        return False
    return knows(forest, forest.child[edge], seat) and forest.raw[forest.child[edge], seat] == 0.0


@called
def prove(forest: Any, node: Any) -> None:
    """Looks whether a node is proven by its children: by one that wins, or by all of them if they lose.

    A node proven lost gets the mean of its children's vectors, since the seat that decides does not mind which it
    takes; the parts of the other seats are then no proof, unless all children have one and the same result.
    """
    first, opened, count = edges_of(forest, node)
    seat, lost, same = forest.mover[node], 0, True
    for edge in range(first, first + opened):
        child = forest.child[edge]
        if child == NO_NODE or not knows(forest, child, seat):
            continue
        if forest.raw[child, seat] > 0.5:
            forest.proven[node] = EXACT
            for other in range(MAX_PLAYERS):
                forest.raw[node, other] = np.float32(1.0) if other == seat else np.float32(0.0)
            return
        lost += 1
        same = same and forest.proven[child] == EXACT
        for other in range(MAX_PLAYERS):
            same = same and forest.raw[child, other] == forest.raw[forest.child[first], other]
    if lost == count:
        forest.proven[node] = EXACT if same else LOST
        for other in range(MAX_PLAYERS):
            total = np.float32(0.0)
            for edge in range(first, first + opened):
                total += forest.raw[forest.child[edge], other]
            forest.raw[node, other] = total / np.float32(lost)
