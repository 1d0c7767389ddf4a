"""What is certain: games that are over, wins that can be forced, losses that cannot be avoided.

A node is *proven* once its value is exact, whatever the rest of the tree says:

- the game is over;
- one decision wins for certain: the seat that decides takes it;
- every decision loses for certain. Then all are as good as each other to the seat that decides, and the value is the
  mean of theirs.

`proven` has a bit for each seat whose part is certain. After a loss those are the loser's and the parts on which all
decisions agree (with two players that is the winner's); the others depend on which of the losing decisions is taken:
their mean is used, but it proves nothing further up.

    node: seat 0 decides, three seats    proven = seat 0 only, proven_value = (0, 1/2, 1/2)
      edge 0 -> seat 1 has won           proven = all seats,    proven_value = (0, 1, 0)
      edge 1 -> seat 2 has won           proven = all seats,    proven_value = (0, 0, 1)

Winands, Björnsson and Saito, "Monte-Carlo tree search solver" (2008), with vectors as in Nijssen and Winands,
"Enhancements for multi-player Monte-Carlo tree search" (2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast.layout import MAX_PLAYERS
from luna_ai.search.compiling import called, inline
from luna_ai.search.rollout import final_values
from luna_ai.search.tree import LOST, OPEN, WON, mover_of

ALL_SEATS = np.uint8(15)


@inline
def prove_terminal(tree: Any, node: Any, value: Any) -> None:
    """The values of a game that is over are proven; `value`, `float64[4]`, is overwritten."""
    final_values(tree.state[node], value)
    tree.proven[node] = ALL_SEATS
    for seat in range(MAX_PLAYERS):
        tree.proven_value[node, seat] = value[seat]


@called
def prove_from_child(tree: Any, node: Any, edge: Any, child: Any) -> None:
    """Notes what a proven child says about its edge, and proves the node if that decides it."""
    seat = mover_of(tree, node)
    if tree.edge_proof[edge] != OPEN or not (tree.proven[child] >> np.uint8(seat)) & np.uint8(1):
        return
    if tree.proven_value[child, seat] > 0.5:
        tree.edge_proof[edge] = WON
        tree.proven[node] = ALL_SEATS
        for other in range(MAX_PLAYERS):
            tree.proven_value[node, other] = 1.0 if other == seat else 0.0
        return
    tree.edge_proof[edge] = LOST
    if all_lost(tree, node):
        prove_loss(tree, node)


@inline
def all_lost(tree: Any, node: Any) -> Any:
    """Whether every decision has been tried and loses."""
    first, count = tree.first_edge[node], tree.num_edges[node]
    if tree.num_tried[node] < count:
        return False
    lost = 0
    for edge in range(first, first + count):
        lost += tree.edge_proof[edge] == LOST
    return lost == count


@inline
def prove_loss(tree: Any, node: Any) -> None:
    """The value of a node whose decisions all lose: their mean, proven where all agree."""
    first, count = tree.first_edge[node], tree.num_edges[node]
    tree.proven[node] = 0
    for seat in range(MAX_PLAYERS):
        agreed, total = True, 0.0
        before = tree.proven_value[tree.child[first], seat]
        for edge in range(first, first + count):
            child = tree.child[edge]
            total += tree.proven_value[child, seat]
            certain = (tree.proven[child] >> np.uint8(seat)) & np.uint8(1)
            agreed = agreed and certain != 0 and tree.proven_value[child, seat] == before
        tree.proven_value[node, seat] = total / count
        if agreed:
            tree.proven[node] |= np.uint8(1 << seat)
