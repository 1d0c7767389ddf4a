"""The tree is data: nodes and edges as preallocated arrays, indexed by number.

A node is a position, an edge a decision there; the edges of a node are contiguous. Values are vectors over seats, win
probabilities that sum to 1, stored from nobody's view: `value[n, p]` is the sum of what seat p got in all simulations
through node n. An edge also keeps the part of the seat that decides, since that is what chooses it.

    node 0: seat 0 decides            value[0] = sums over all 3 simulations: (1.7, 1.0, 0.3)
      edge 0 -> node 1                edge_value = 1.2: seat 0's part of the two simulations below
        node 1: seat 2 decides        value[1] = (1.2, 0.6, 0.2); its edges keep seat 2's parts
      edge 1 -> node 2                edge_value = 0.5

A node gets its edges with its second simulation: most nodes are leaves that never see one. The edges that have been
visited come first, in the order of their first visits, and the one that is due next comes right after them: so a
simulation looks at visited edges only.

When nodes or edges are used up the tree stops growing: simulations go on from its leaves and sharpen what is there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.actions import NUM_ACTIONS
from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from luna_ai.search.compiling import called, inline

ROOT = 0
UNVISITED = -1
UNEXPANDED = -1
NO_NODE = -1
OPEN, WON, LOST = 0, 1, -1
"""What is known of an edge: nothing, or that the seat that decides wins or loses by it for certain."""
NODES_USED, EDGES_USED, DEEPEST, TRUNCATED = range(4)
NUM_COUNTERS = 4
MAX_DEPTH = 1024


class Tree(NamedTuple):
    """Arrays of a search tree; N nodes, E edges, P = 4 seats (absent seats have the value 0)."""

    state: NDArray[np.uint64]  # [N, STATE_WORDS] position
    first_edge: NDArray[np.int32]  # [N] index of the first edge, UNEXPANDED before it is expanded
    num_edges: NDArray[np.int16]  # [N] number of legal decisions
    num_tried: NDArray[np.int16]  # [N] number of edges that have been visited; they come first
    tried_prior: NDArray[np.float32]  # [N] sum of their priors
    visits: NDArray[np.int32]  # [N] simulations through the node
    value: NDArray[np.float64]  # [N, P] sum of their values
    proven: NDArray[np.uint8]  # [N] seats whose value is proven, bit seat; 0 while the node is open, see `proofs`
    proven_value: NDArray[np.float32]  # [N, P] value of a node that is not open
    action: NDArray[np.int16]  # [E] id of the decision
    child: NDArray[np.int32]  # [E] node, UNVISITED before the first visit
    prior: NDArray[np.float32]  # [E] how likely a decision is held to be, sums to 1 over a node
    edge_visits: NDArray[np.int32]  # [E]
    edge_value: NDArray[np.float64]  # [E] sum of the deciding seat's values
    edge_proof: NDArray[np.int8]  # [E] OPEN, WON or LOST
    table: NDArray[
        np.int32
    ]  # [T] node of each position by its hash, NO_NODE in empty slots; T = 1: nodes are not shared
    path_node: NDArray[np.int32]  # [MAX_DEPTH] nodes of the simulation under way
    path_edge: NDArray[np.int32]  # [MAX_DEPTH] edges between them
    scores: NDArray[np.float64]  # [NUM_ACTIONS] what edges of a node are worth another visit
    counters: NDArray[np.int64]  # [NUM_COUNTERS] named by the indices above


def new_tree(nodes: int, edges: int, shared: bool = False) -> Tree:
    """An empty tree for at most `nodes` positions and `edges` decisions (the root has room in any case).

    With `shared`, a position that is reached in several ways has one node, see `transpositions`.
    """
    edges = max(edges, NUM_ACTIONS)
    slots = 1 << (2 * nodes - 1).bit_length() if shared else 1
    return Tree(
        state=np.zeros((nodes, STATE_WORDS), dtype=np.uint64),
        first_edge=np.zeros(nodes, dtype=np.int32),
        num_edges=np.zeros(nodes, dtype=np.int16),
        num_tried=np.zeros(nodes, dtype=np.int16),
        tried_prior=np.zeros(nodes, dtype=np.float32),
        visits=np.zeros(nodes, dtype=np.int32),
        value=np.zeros((nodes, MAX_PLAYERS), dtype=np.float64),
        proven=np.zeros(nodes, dtype=np.uint8),
        proven_value=np.zeros((nodes, MAX_PLAYERS), dtype=np.float32),
        action=np.zeros(edges, dtype=np.int16),
        child=np.zeros(edges, dtype=np.int32),
        prior=np.zeros(edges, dtype=np.float32),
        edge_visits=np.zeros(edges, dtype=np.int32),
        edge_value=np.zeros(edges, dtype=np.float64),
        edge_proof=np.zeros(edges, dtype=np.int8),
        table=np.full(slots, NO_NODE, dtype=np.int32),
        path_node=np.zeros(MAX_DEPTH, dtype=np.int32),
        path_edge=np.zeros(MAX_DEPTH, dtype=np.int32),
        scores=np.zeros(NUM_ACTIONS, dtype=np.float64),
        counters=np.zeros(NUM_COUNTERS, dtype=np.int64),
    )


def bytes_per_node(edges_per_node: float) -> float:
    """Memory of a node with its edges; shared nodes take 8 to 16 bytes more, for the table."""
    tree = new_tree(1, 1)
    per_edge = ("action", "child", "prior", "edge_visits", "edge_value", "edge_proof")
    apart = (*per_edge, "table", "path_node", "path_edge", "scores", "counters")
    node = sum(array.nbytes for name, array in tree._asdict().items() if name not in apart)
    return float(node + edges_per_node * sum(getattr(tree, name).itemsize for name in per_edge))


@inline
def mover_of(tree: Any, node: Any) -> Any:
    """Seat that decides in a node, int64."""
    return np.int64(layout.to_move(tree.state[node]))


@called
def clear(tree: Any) -> None:
    """Forgets all nodes and edges."""
    for index in range(NUM_COUNTERS):
        tree.counters[index] = 0
    for slot in range(tree.table.shape[0]):
        tree.table[slot] = NO_NODE


@inline
def add_node(tree: Any) -> Any:
    """A fresh node (int64) without position, or -1 if all are used."""
    node = tree.counters[NODES_USED]
    if node == tree.visits.shape[0]:
        return NO_NODE
    tree.counters[NODES_USED] = node + 1
    tree.first_edge[node] = UNEXPANDED
    tree.num_edges[node] = 0
    tree.num_tried[node] = 0
    tree.tried_prior[node] = 0.0
    tree.visits[node] = 0
    for seat in range(MAX_PLAYERS):
        tree.value[node, seat] = 0.0
    tree.proven[node] = 0
    return node
