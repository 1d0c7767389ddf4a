"""The tree is data: nodes and edges as preallocated arrays, indexed by number.

A node is a position, an edge a decision there; the edges of a node are contiguous. Values are vectors over seats, win
probabilities that sum to 1, stored from nobody's view: `value[n, p]` is the sum of what seat p got in all simulations
through node n. An edge also keeps the part of the seat that decides, since that is what chooses it.

    node 0: seat 0 decides            value[0] = sums over all 3 simulations: (1.7, 1.0, 0.3)
      edge 0 -> node 1                edge_value = 1.2: seat 0's part of the two simulations below
        node 1: seat 2 decides        value[1] = (1.2, 0.6, 0.2); its edges keep seat 2's parts
      edge 1 -> node 2                edge_value = 0.5

When nodes or edges are used up the tree stops growing: simulations go on from its leaves and sharpen what is there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from luna_ai.search.compiling import inline

ROOT = 0
UNVISITED = -1
UNEXPANDED = -1
NODES_USED, EDGES_USED, DEEPEST, TRUNCATED = range(4)
NUM_COUNTERS = 4
MAX_DEPTH = 1024


class Tree(NamedTuple):
    """Arrays of a search tree; N nodes, E edges, P = 4 seats (absent seats have the value 0)."""

    state: NDArray[np.uint64]  # [N, STATE_WORDS] position
    first_edge: NDArray[np.int32]  # [N] index of the first edge, UNEXPANDED before it is expanded
    num_edges: NDArray[np.int32]  # [N] number of legal decisions
    visits: NDArray[np.int32]  # [N] simulations through the node
    value: NDArray[np.float64]  # [N, P] sum of their values
    proven: NDArray[np.uint8]  # [N] seats whose value is proven, bit seat
    proven_value: NDArray[np.float32]  # [N, P] proven values, where the bit is set
    action: NDArray[np.int16]  # [E] id of the decision
    child: NDArray[np.int32]  # [E] node, UNVISITED before the first visit
    prior: NDArray[np.float32]  # [E] how likely a decision is held to be, sums to 1 over a node
    edge_visits: NDArray[np.int32]  # [E]
    edge_value: NDArray[np.float32]  # [E] sum of the deciding seat's values
    path_node: NDArray[np.int32]  # [MAX_DEPTH] nodes of the simulation under way
    path_edge: NDArray[np.int32]  # [MAX_DEPTH] edges between them
    counters: NDArray[np.int64]  # [NUM_COUNTERS] named by the indices above


def new_tree(nodes: int, edges: int) -> Tree:
    """An empty tree for at most `nodes` positions and `edges` decisions."""
    return Tree(
        state=np.zeros((nodes, STATE_WORDS), dtype=np.uint64),
        first_edge=np.full(nodes, UNEXPANDED, dtype=np.int32),
        num_edges=np.zeros(nodes, dtype=np.int32),
        visits=np.zeros(nodes, dtype=np.int32),
        value=np.zeros((nodes, MAX_PLAYERS), dtype=np.float64),
        proven=np.zeros(nodes, dtype=np.uint8),
        proven_value=np.zeros((nodes, MAX_PLAYERS), dtype=np.float32),
        action=np.zeros(edges, dtype=np.int16),
        child=np.full(edges, UNVISITED, dtype=np.int32),
        prior=np.zeros(edges, dtype=np.float32),
        edge_visits=np.zeros(edges, dtype=np.int32),
        edge_value=np.zeros(edges, dtype=np.float32),
        path_node=np.zeros(MAX_DEPTH, dtype=np.int32),
        path_edge=np.zeros(MAX_DEPTH, dtype=np.int32),
        counters=np.zeros(NUM_COUNTERS, dtype=np.int64),
    )


def bytes_per_node(edges_per_node: float) -> float:
    """Memory of a node with its edges."""
    tree = new_tree(1, 1)
    edge = sum(getattr(tree, name).nbytes for name in ("action", "child", "prior", "edge_visits", "edge_value"))
    names = ("state", "first_edge", "num_edges", "visits", "value", "proven", "proven_value")
    return float(sum(getattr(tree, name).nbytes for name in names) + edges_per_node * edge)


@inline
def add_node(tree: Any) -> Any:
    """A fresh node (int64), or -1 if all are used."""
    node = tree.counters[NODES_USED]
    if node == tree.visits.shape[0]:
        return -1
    tree.counters[NODES_USED] = node + 1
    tree.first_edge[node] = UNEXPANDED
    tree.num_edges[node] = 0
    tree.visits[node] = 0
    tree.value[node, :] = 0.0
    tree.proven[node] = 0
    return node


@inline
def clear(tree: Any) -> None:
    """Forgets everything."""
    tree.counters[:] = 0
