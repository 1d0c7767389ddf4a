"""A forest: the trees of many games side by side, in one set of arrays, for searches with an evaluator.

Tree g owns the nodes `g * nodes` ... and the edges `g * edges` ...; its root is its first node. As in `tree`, a node is
a position and an edge a decision there. The edges of a node that have been opened (visited, or considered at a root)
stand before the others: an edge that has never been visited has nothing but its prior, all of them share one value, and
the one to open next is the one with the highest prior, which therefore stands first among them. So a node costs what
its opened edges cost.

    edges of a node     opened          not opened yet
    prior               .40  .25  |     .15  .05  .10  .05     next: the .15
    visits                9    4  |     (not written)

Values are vectors over seats, win probabilities by absolute seat. `value[n]` sums what the simulations through node n
brought back, `edge_value` the part of the seat that decides. A visit counts from the moment it is on its way: until its
value is known it stands for a loss of the seat that decides (virtual loss, Chaslot et al., "Parallel Monte-Carlo tree
search", 2008), so that several leaves of one game can be asked for at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from luna_ai.search.compiling import inline
from luna_ai.search.evaluators import Batch

NOT_EXPANDED, ASKED, FINISHED = -1, -2, -3
"""In place of a node's first edge: nobody asked yet, the evaluator has been asked, the game is over."""
NO_NODE = -1
UNPROVEN, LOST, EXACT = 0, 1, 2


class Forest(NamedTuple):
    """Arrays of the trees; G trees, N nodes and E edges in all, P = 4 seats (absent seats have the value 0)."""

    state: NDArray[np.uint64]  # [N, STATE_WORDS] position
    mover: NDArray[np.int8]  # [N] seat that decides
    parent: NDArray[np.int32]  # [N] node, NO_NODE at roots
    parent_edge: NDArray[np.int32]  # [N] edge from the parent
    first_edge: NDArray[np.int32]  # [N] index of the first edge, or one of the three numbers above
    num_edges: NDArray[np.int32]  # [N] number of legal decisions
    num_open: NDArray[np.int32]  # [N] number of edges opened, which come first
    visits: NDArray[np.int32]  # [N] simulations through the node, its own evaluation included
    value: NDArray[np.float64]  # [N, P] sum of their values
    raw: NDArray[np.float32]  # [N, P] what the evaluator said, or what is proven
    proven: NDArray[np.int8]  # [N] UNPROVEN, LOST: the seat that decides loses, or EXACT: `raw` is the result
    action: NDArray[np.int16]  # [E] id of the decision
    prior: NDArray[np.float32]  # [E] sums to 1 over a node
    child: NDArray[np.int32]  # [E] node or NO_NODE; written when an edge is opened, as are the next two
    edge_visits: NDArray[np.int32]  # [E]
    edge_value: NDArray[np.float64]  # [E] sum of the deciding seat's values
    nodes_used: NDArray[np.int64]  # [G]
    edges_used: NDArray[np.int64]  # [G]
    budget: NDArray[np.int64]  # [G] simulations wanted
    plan: NDArray[np.int64]  # [G] Gumbel: which of the schedules belongs to that number
    played: NDArray[np.int64]  # [G] simulations begun
    depth_sum: NDArray[np.int64]  # [G] sum of the depths at which simulations ended
    generator: NDArray[np.uint64]  # [G, 1] randomness of each game
    gumbel: NDArray[np.float32]  # [G, most considered] Gumbel number and logit of the edges considered at the root
    noise: NDArray[np.float32]  # [G, NUM_ACTIONS] PUCT: mixed into the priors of the root; Gumbel: scratch


class Leaves(NamedTuple):
    """Positions put before the evaluator together, and its answers; S places."""

    node: NDArray[np.int32]  # [S] node in the forest
    state: NDArray[np.uint64]  # [S, STATE_WORDS]
    mask: NDArray[np.uint64]  # [S, MASK_WORDS] legal decisions
    logits: NDArray[np.float32]  # [S, NUM_ACTIONS] priors as log-probabilities up to a constant
    value: NDArray[np.float32]  # [S, P] win probabilities by absolute seat

    def batch(self, filled: int, rules: NDArray[np.uint64]) -> Batch:
        """The first `filled` positions as an evaluator wants them."""
        return Batch(self.state[:filled], self.mask[:filled], rules, self.logits[:filled], self.value[:filled])


def new_forest(trees: int, nodes: int, edges: int, considered: int) -> Forest:
    """An empty forest of `trees` trees, each of at most `nodes` nodes and `edges` edges."""
    all_nodes, all_edges = trees * nodes, trees * edges
    return Forest(
        state=np.zeros((all_nodes, STATE_WORDS), dtype=np.uint64),
        mover=np.zeros(all_nodes, dtype=np.int8),
        parent=np.full(all_nodes, NO_NODE, dtype=np.int32),
        parent_edge=np.zeros(all_nodes, dtype=np.int32),
        first_edge=np.full(all_nodes, NOT_EXPANDED, dtype=np.int32),
        num_edges=np.zeros(all_nodes, dtype=np.int32),
        num_open=np.zeros(all_nodes, dtype=np.int32),
        visits=np.zeros(all_nodes, dtype=np.int32),
        value=np.zeros((all_nodes, MAX_PLAYERS), dtype=np.float64),
        raw=np.zeros((all_nodes, MAX_PLAYERS), dtype=np.float32),
        proven=np.zeros(all_nodes, dtype=np.int8),
        action=np.zeros(all_edges, dtype=np.int16),
        prior=np.zeros(all_edges, dtype=np.float32),
        child=np.full(all_edges, NO_NODE, dtype=np.int32),
        edge_visits=np.zeros(all_edges, dtype=np.int32),
        edge_value=np.zeros(all_edges, dtype=np.float64),
        nodes_used=np.zeros(trees, dtype=np.int64),
        edges_used=np.zeros(trees, dtype=np.int64),
        budget=np.zeros(trees, dtype=np.int64),
        plan=np.zeros(trees, dtype=np.int64),
        played=np.zeros(trees, dtype=np.int64),
        depth_sum=np.zeros(trees, dtype=np.int64),
        generator=np.zeros((trees, 1), dtype=np.uint64),
        gumbel=np.zeros((trees, considered), dtype=np.float32),
        noise=np.zeros((trees, NUM_ACTIONS), dtype=np.float32),
    )


def new_leaves(places: int) -> Leaves:
    """Room for `places` positions before the evaluator."""
    return Leaves(
        node=np.zeros(places, dtype=np.int32),
        state=np.zeros((places, STATE_WORDS), dtype=np.uint64),
        mask=np.zeros((places, MASK_WORDS), dtype=np.uint64),
        logits=np.zeros((places, NUM_ACTIONS), dtype=np.float32),
        value=np.zeros((places, MAX_PLAYERS), dtype=np.float32),
    )


def forest_bytes(forest: Forest) -> int:
    """Memory of the forest's arrays."""
    return int(sum(array.nbytes for array in forest))


@inline
def nodes_per_tree(forest: Any) -> Any:
    """Nodes that each tree owns."""
    return forest.visits.shape[0] // forest.played.shape[0]


@inline
def root_of(forest: Any, tree: Any) -> Any:
    """The root of a tree, int64."""
    return np.int64(tree) * nodes_per_tree(forest)


@inline
def add_node(forest: Any, tree: Any, parent: Any, edge: Any) -> Any:
    """A fresh node (int64) of a tree behind an edge.

    There must be one left; not checked: a simulation makes at most one.
    """
    node = root_of(forest, tree) + forest.nodes_used[tree]
    forest.nodes_used[tree] += 1
    forest.parent[node] = parent
    forest.parent_edge[node] = edge
    forest.first_edge[node] = NOT_EXPANDED
    forest.num_edges[node] = 0
    forest.num_open[node] = 0
    forest.visits[node] = 0
    forest.proven[node] = UNPROVEN
    for seat in range(MAX_PLAYERS):
        forest.value[node, seat] = 0.0
    return node


@inline
def edges_of(forest: Any, node: Any) -> Any:
    """First edge of a node that is expanded, number of opened ones, number of all: int64."""
    return np.int64(forest.first_edge[node]), np.int64(forest.num_open[node]), np.int64(forest.num_edges[node])


@inline
def bring_likeliest(forest: Any, node: Any) -> None:
    """Swaps the edge with the highest prior among those not opened (the first of equals) to the front of them."""
    first, opened, count = edges_of(forest, node)
    best = first + opened
    for edge in range(first + opened + 1, first + count):
        if forest.prior[edge] > forest.prior[best]:
            best = edge
    swap_edges(forest, first + opened, best)


@inline
def swap_edges(forest: Any, one: Any, other: Any) -> None:
    """Swaps two edges that have not been opened."""
    if one != other:
        action, prior = forest.action[one], forest.prior[one]
        forest.action[one], forest.prior[one] = forest.action[other], forest.prior[other]
        forest.action[other], forest.prior[other] = action, prior


@inline
def open_edge(forest: Any, node: Any) -> Any:
    """Opens the first edge of a node that is not open yet; returns it (int64)."""
    edge = np.int64(forest.first_edge[node] + forest.num_open[node])
    forest.child[edge] = NO_NODE
    forest.edge_visits[edge] = 0
    forest.edge_value[edge] = 0.0
    forest.num_open[node] += 1
    return edge
