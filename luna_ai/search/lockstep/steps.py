"""Many searches in step: each step takes the evaluator's answers in, and selects the next leaves of all trees.

    plant(states) -> leaves: the roots
    while leaves: the evaluator answers; advance() backs the answers up and selects the next leaves
    read_roots() -> what each search found

A node holds a position with a choice: forced decisions are played at once when it is made. A game that is over needs no
evaluator, its result is backed up within the step, and what it proves: one winning decision proves a win of the seat
that decides, all losing ones its loss. Simulations of one tree never touch another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.apply import apply
from engine_fast.bits import U1
from engine_fast.layout import MAX_PLAYERS, copy_position
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.lockstep.expansion import ask, expand, write_edges, write_legal
from luna_ai.search.lockstep.forest import ASKED, NO_NODE, UNPROVEN, add_node, root_of
from luna_ai.search.lockstep.proofs import knows, prove
from luna_ai.search.lockstep.selection import choose_edge


@called
def take_back(forest: Any, leaf: Any) -> None:
    """Takes a simulation back that came to a leaf which is before the evaluator already."""
    node = np.int64(leaf)
    while True:
        forest.visits[node] -= 1
        parent = np.int64(forest.parent[node])
        if parent == NO_NODE:
            return
        forest.edge_visits[forest.parent_edge[node]] -= 1
        node = parent


@called
def descend(forest: Any, tree: Any, numbers: Any, schedule: Any, rules: Any, scratch: Any) -> Any:
    """Begins a simulation: goes down to a leaf, counting visits on the way. Returns the leaf (int64).

    Returns NO_NODE, and leaves nothing changed but opened edges, if the leaf is before the evaluator already.
    """
    node, depth = root_of(forest, tree), 0
    while True:
        forest.visits[node] += 1
        if forest.first_edge[node] == ASKED:
            take_back(forest, node)
            return np.int64(NO_NODE)
        if forest.first_edge[node] < 0 or forest.proven[node] != UNPROVEN:
            break
        edge = choose_edge(forest, tree, node, numbers, schedule, scratch)
        forest.edge_visits[edge] += 1
        depth += 1
        child = np.int64(forest.child[edge])
        if child == NO_NODE:
            child = add_node(forest, tree, node, edge)
            forest.child[edge] = child
            copy_position(forest.state[child], forest.state[node])
            apply(forest.state[child], np.uint64(forest.action[edge]), rules, scratch.ledger)
        node = child
    forest.played[tree] += 1
    forest.depth_sum[tree] += depth
    return node


@called
def back_up(forest: Any, leaf: Any) -> None:
    """Adds what is known of a leaf to all nodes above it, and to the edges the part of the seat that decided.

    What is proven by it is proven on the way; above a proven node its exact values take the place of the leaf's, and
    an edge to it has its exact value.
    """
    node, source = np.int64(leaf), np.int64(leaf)
    while True:
        for seat in range(MAX_PLAYERS):
            forest.value[node, seat] += forest.raw[source, seat]
        parent = np.int64(forest.parent[node])
        if parent == NO_NODE:
            return
        edge, seat = forest.parent_edge[node], forest.mover[parent]
        if knows(forest, node, seat):
            forest.edge_value[edge] = np.float64(forest.raw[node, seat]) * forest.edge_visits[edge]
            if forest.proven[parent] == UNPROVEN:
                prove(forest, parent)
        else:
            forest.edge_value[edge] += forest.raw[source, seat]
        if forest.proven[parent] != UNPROVEN:
            source = parent
        node = parent


@inline
def are_numbers(values: Any) -> Any:
    """Whether the chances of all seats are finite; if not, no decision would be the best and descents would not end."""
    total = np.float32(0.0)
    for seat in range(MAX_PLAYERS):
        total += values[seat] - values[seat]
    return total == np.float32(0.0)


@called
def absorb(forest: Any, leaves: Any, place: Any, numbers: Any, scratch: Any) -> None:
    """Takes in the evaluator's answer for one leaf."""
    node = np.int64(leaves.node[place])
    for seat in range(MAX_PLAYERS):
        forest.raw[node, seat] = leaves.value[place, seat]
    expand(forest, node, leaves, place, numbers, scratch)
    back_up(forest, node)


@called
def gather(
    forest: Any, tree: Any, leaves: Any, filled: Any, numbers: Any, schedule: Any, rules: Any, scratch: Any
) -> Any:
    """Selects the next leaves of one tree into the places from `filled` on; returns the number of places filled."""
    wanted, root = filled + numbers.leaves, root_of(forest, tree)
    while filled < wanted and forest.played[tree] < forest.budget[tree] and forest.proven[root] == UNPROVEN:
        node = descend(forest, tree, numbers, schedule, rules, scratch)
        if node == NO_NODE:
            break
        if forest.proven[node] != UNPROVEN or not ask(forest, node, leaves, filled, rules, scratch):
            back_up(forest, node)
        else:
            filled += 1
    return filled


@kernel
def advance(
    forest: Any, trees: Any, leaves: Any, filled: Any, numbers: Any, schedule: Any, rules: Any, scratch: Any
) -> Any:
    """One step of the first `trees` trees: takes the answers for the first `filled` leaves in, and selects the next.

    Returns:
        The number of leaves that wait for the evaluator now, 0 when all searches are done; -1 - p if the values at
        place p are no finite numbers.
    """
    for place in range(filled):
        if not are_numbers(leaves.value[place]):
            return np.int64(-1 - place)
        absorb(forest, leaves, place, numbers, scratch)
    filled = 0
    for tree in range(trees):
        filled = gather(forest, tree, leaves, filled, numbers, schedule, rules, scratch)
    return filled


@kernel
def plant(forest: Any, leaves: Any, states: Any, numbers: Any, rules: Any, scratch: Any) -> Any:
    """Begins searches in the first T trees, from `states`, `uint64[T, STATE_WORDS]`; none may be over (not checked).

    Returns:
        The number of roots that wait for the evaluator. A root with one legal decision is not searched.
    """
    filled = 0
    for tree in range(states.shape[0]):
        forest.nodes_used[tree] = 0
        forest.edges_used[tree] = 0
        forest.played[tree] = 0
        forest.depth_sum[tree] = 0
        root = add_node(forest, tree, NO_NODE, 0)
        copy_position(forest.state[root], states[tree])
        forest.mover[root] = np.int8(layout.to_move(states[tree]))
        if write_legal(states[tree], rules, leaves.mask[filled]) == U1:
            forest.played[tree] = forest.budget[tree]
            write_edges(forest, tree, root, leaves, filled)
            forest.prior[forest.first_edge[root]] = np.float32(1.0)
            continue
        forest.visits[root] = 1
        forest.first_edge[root] = ASKED
        leaves.node[filled] = root
        copy_position(leaves.state[filled], states[tree])
        filled += 1
    return filled
