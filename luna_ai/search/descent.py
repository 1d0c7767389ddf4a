"""One simulation: select down the tree, expand a leaf, play it on, back the value up. All in one kernel.

A Journey, a Tide or a Book is several decisions of one seat: they are edges like any other, the seat that decides is
read from the position, and nothing alternates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, lowest_bit
from engine_fast.layout import MAX_PLAYERS, NONE, OVER, copy_position
from luna_ai.bots.greedy import choose_greedy
from luna_ai.bots.offers import NOTHING, write_mask
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.rollout import GREEDY_CODE, final_values, random_share, roll_out
from luna_ai.search.scores import PUCT, first_play, progressive_bias, puct, uct
from luna_ai.search.tree import (
    DEEPEST,
    EDGES_USED,
    MAX_DEPTH,
    ROOT,
    TRUNCATED,
    UNEXPANDED,
    UNVISITED,
    add_node,
)

ALL_SEATS = np.uint8(15)


class Settings(NamedTuple):
    """Numbers of a search, the same for all its simulations."""

    rule: int  # index in options.RULES
    exploration: float  # weight of the exploration term
    bias: float  # UCT: weight of the progressive bias
    reduction: float  # PUCT: first-play reduction
    sharpness: float  # influence: temperature of the softmax over greedy scores that makes priors; 0: equal priors
    spread: float  # share of the prior that is spread evenly
    rollout: int  # index in options.ROLLOUTS
    rounds: int  # rounds to play a leaf on; 0: to the end
    noise: float  # chance of a random decision in greedy rollouts


class Scratch(NamedTuple):
    """Arrays that a simulation works in."""

    state: Any  # uint64[STATE_WORDS]
    ledger: Any  # int16[4, SOURCES]
    value: Any  # float64[4]


@inline
def mover_of(tree: Any, node: Any) -> Any:
    """Seat that decides in a node, int64."""
    return np.int64(layout.to_move(tree.state[node]))


@called
def expand(tree: Any, node: Any, settings: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """Gives a node its edges, with priors; returns whether there was room."""
    state = tree.state[node]
    write_mask(state, rules, workspace)
    first, count = tree.counters[EDGES_USED], 0
    room = tree.action.shape[0] - first
    for word in range(actions.MASK_WORDS):
        bits = workspace.mask[word]
        while bits != U0:
            if count == room:
                return False
            edge = first + count
            tree.action[edge] = np.int16(64 * word) + np.int16(lowest_bit(bits))
            tree.child[edge] = UNVISITED
            tree.edge_visits[edge] = 0
            tree.edge_value[edge] = 0.0
            bits &= bits - U1
            count += 1
    tree.counters[EDGES_USED] = first + count
    tree.first_edge[node] = first
    tree.num_edges[node] = count
    write_priors(tree, first, count, state, settings, rules, generator, workspace)
    return True


@called
def write_priors(
    tree: Any, first: Any, count: Any, state: Any, settings: Any, rules: Any, generator: Any, workspace: Any
) -> None:
    """Priors of the edges `first` ... `first + count - 1`: a softmax of greedy scores, partly spread evenly.

    Decisions that the greedy bot does not score (all but the best Journey) share what is spread evenly; a little chance
    breaks ties.
    """
    even = 1.0 / count
    total = 0.0
    if settings.sharpness > 0.0 and count > 1:
        score_decisions(state, rules, workspace)
        best = NOTHING
        for edge in range(first, first + count):
            best = max(best, workspace.scores[tree.action[edge]])
        for edge in range(first, first + count):
            weight = np.exp((workspace.scores[tree.action[edge]] - best) / settings.sharpness)
            tree.prior[edge] = weight
            total += weight
    share = 1.0 - settings.spread if total > 0.0 else 0.0
    scale = share / total if total > 0.0 else 0.0
    for edge in range(first, first + count):
        chance = 1.0 + 0.01 * random_share(generator)
        tree.prior[edge] = (tree.prior[edge] * scale if total > 0.0 else 0.0) + (1.0 - share) * even * chance


@called
def score_decisions(state: Any, rules: Any, workspace: Any) -> None:
    """Writes the greedy bot's score of each decision that it considers into `workspace.scores`, NOTHING elsewhere."""
    workspace.scores[:] = NOTHING
    best = choose_greedy(workspace.weights[GREEDY_CODE - 1], state, rules, workspace)
    if layout.pending(state) != NONE and workspace.scores[best] == NOTHING:
        workspace.scores[best] = 0.0


@inline
def edge_score(tree: Any, edge: Any, total: Any, unvisited: Any, settings: Any) -> Any:
    """How much an edge is worth another visit."""
    visits = np.float64(tree.edge_visits[edge])
    mean = tree.edge_value[edge] / visits if visits > 0.0 else unvisited
    if settings.rule == PUCT:
        return puct(mean, tree.prior[edge], visits, total, settings.exploration)
    if visits == 0.0:
        return 1e6 + tree.prior[edge]
    return uct(mean, visits, total, settings.exploration) + progressive_bias(tree.prior[edge], visits, settings.bias)


@called
def select_edge(tree: Any, node: Any, settings: Any) -> Any:
    """The edge with the best score; one that is proven to lose is taken only if all are."""
    first, count, seat = tree.first_edge[node], tree.num_edges[node], mover_of(tree, node)
    if count == 1:
        return first
    total = np.float64(max(tree.visits[node], 1))
    visited = 0.0
    for edge in range(first, first + count):
        if tree.edge_visits[edge] > 0:
            visited += tree.prior[edge]
    unvisited = first_play(tree.value[node, seat] / total, visited, settings.reduction)
    best, best_score = first, -1e30
    for edge in range(first, first + count):
        score = edge_score(tree, edge, total, unvisited, settings)
        child = tree.child[edge]
        if child != UNVISITED and (tree.proven[child] >> np.uint8(seat)) & np.uint8(1):
            score = 1e9 if tree.proven_value[child, seat] > 0.5 else score - 1e7
        if score > best_score:
            best, best_score = edge, score
    return best


@called
def prove_terminal(tree: Any, node: Any, scratch: Any) -> None:
    """The values of a game that is over are proven."""
    final_values(tree.state[node], scratch.value)
    tree.proven[node] = ALL_SEATS
    for seat in range(MAX_PLAYERS):
        tree.proven_value[node, seat] = scratch.value[seat]


@called
def prove_from_children(tree: Any, node: Any) -> None:
    """Backs up proofs: one winning child proves a win of the seat that decides, all losing children its loss.

    A win of one seat proves the loss of all others. After a proven loss the other components are not proven: they
    depend on which of the losing decisions is taken.
    """
    first, count, seat = tree.first_edge[node], tree.num_edges[node], mover_of(tree, node)
    lost = 0
    for edge in range(first, first + count):
        child = tree.child[edge]
        if child == UNVISITED or not (tree.proven[child] >> np.uint8(seat)) & np.uint8(1):
            continue
        if tree.proven_value[child, seat] > 0.5:
            tree.proven[node] = ALL_SEATS
            for other in range(MAX_PLAYERS):
                tree.proven_value[node, other] = 1.0 if other == seat else 0.0
            return
        lost += 1
    if lost == count:
        tree.proven[node] |= np.uint8(1 << seat)
        tree.proven_value[node, seat] = 0.0


@called
def child_of(tree: Any, node: Any, edge: Any, rules: Any, scratch: Any) -> Any:
    """The node behind an edge, made if need be; -1 when all are used (the position is then in `scratch.state`)."""
    child = np.int64(tree.child[edge])
    if child != UNVISITED:
        return child
    child = add_node(tree)
    if child < 0:
        copy_position(scratch.state, tree.state[node])
        apply(scratch.state, np.uint64(tree.action[edge]), rules, scratch.ledger)
        return child
    copy_position(tree.state[child], tree.state[node])
    apply(tree.state[child], np.uint64(tree.action[edge]), rules, scratch.ledger)
    tree.child[edge] = child
    if layout.phase(tree.state[child]) == OVER:
        prove_terminal(tree, child, scratch)
    return child


@called
def simulate(tree: Any, settings: Any, rules: Any, generator: Any, workspace: Any, scratch: Any, model: Any) -> None:
    """One simulation from the root."""
    node, depth = np.int64(ROOT), 0
    while True:
        tree.path_node[depth] = node
        if tree.proven[node] == ALL_SEATS:
            for seat in range(MAX_PLAYERS):
                scratch.value[seat] = tree.proven_value[node, seat]
            break
        if tree.first_edge[node] == UNEXPANDED:
            if not expand(tree, node, settings, rules, generator, workspace):
                tree.counters[TRUNCATED] += 1
            copy_position(scratch.state, tree.state[node])
            play_leaf(settings, rules, generator, workspace, scratch, model)
            break
        edge = select_edge(tree, node, settings)
        tree.path_edge[depth] = edge
        depth += 1
        node = child_of(tree, node, edge, rules, scratch)
        tree.path_node[depth] = node
        if node < 0 or depth == MAX_DEPTH - 1:
            tree.counters[TRUNCATED] += 1
            if node >= 0:
                copy_position(scratch.state, tree.state[node])
            play_leaf(settings, rules, generator, workspace, scratch, model)
            break
    back_up(tree, depth, scratch)


@inline
def play_leaf(settings: Any, rules: Any, generator: Any, workspace: Any, scratch: Any, model: Any) -> None:
    """Plays `scratch.state` on and leaves the chances to win in `scratch.value`."""
    roll_out(
        scratch.state,
        settings.rollout,
        settings.rounds,
        settings.noise,
        rules,
        generator,
        workspace,
        scratch.ledger,
        model,
        scratch.value,
    )


@called
def back_up(tree: Any, depth: Any, scratch: Any) -> None:
    """Adds the value to every node and edge of the path, deepest first, and what is proven by it."""
    tree.counters[DEEPEST] = max(tree.counters[DEEPEST], depth)
    for level in range(depth, -1, -1):
        node = tree.path_node[level]
        if node >= 0:
            tree.visits[node] += 1
            for seat in range(MAX_PLAYERS):
                tree.value[node, seat] += scratch.value[seat]
        if level < depth:
            edge = tree.path_edge[level]
            tree.edge_visits[edge] += 1
            tree.edge_value[edge] += scratch.value[mover_of(tree, node)]
            child = tree.path_node[level + 1]
            if child >= 0 and tree.proven[child] != 0 and tree.proven[node] != ALL_SEATS:
                prove_from_children(tree, node)


@kernel
def run_simulations(
    tree: Any,
    simulations: Any,
    settings: Any,
    rules: Any,
    generator: Any,
    workspace: Any,
    scratch: Any,
    model: Any,
) -> Any:
    """Runs simulations from the root of a tree; returns their number (fewer if the root is proven).

    The caller keeps slices below 0.1 s, so that Ctrl-C and time budgets work.
    """
    for done in range(simulations):
        if tree.proven[ROOT] == ALL_SEATS or (tree.proven[ROOT] >> np.uint8(mover_of(tree, ROOT))) & np.uint8(1):
            return done
        simulate(tree, settings, rules, generator, workspace, scratch, model)
    return simulations


@kernel
def plant(tree: Any, state: Any, scratch: Any) -> None:
    """Empties a tree and makes `state` its root."""
    tree.counters[:] = 0
    root = add_node(tree)
    copy_position(tree.state[root], state)
    if layout.phase(state) == OVER:
        prove_terminal(tree, root, scratch)


@kernel
def find_node(tree: Any, state: Any) -> Any:
    """The node of a position (int64), or -1 if it is not in the tree."""
    for node in range(tree.counters[0]):
        same = True
        for word in range(layout.STATE_WORDS):
            if tree.state[node, word] != state[word]:
                same = False
                break
        if same:
            return node
    return -1


@kernel
def transplant(tree: Any, node: Any, other: Any) -> None:
    """Copies the subtree below `node` into the empty tree `other`, whose root it becomes.

    Breadth first: `other.path_node` is not needed, children are copied after their parents, so a node's number in
    `other` is always above its parent's.
    """
    other.counters[:] = 0
    add_node(other)
    copy_node(tree, node, other, 0)
    level = 0
    while level < other.counters[0]:
        first = other.first_edge[level]
        for edge in range(first, first + other.num_edges[level]):
            source = other.child[edge]
            if source != UNVISITED:
                made = add_node(other)
                copy_node(tree, np.int64(source), other, made)
                other.child[edge] = np.int32(made)
        level += 1


@called
def copy_node(tree: Any, source: Any, other: Any, target: Any) -> None:
    """Copies a node with its edges; the edges' children are still numbers of the old tree."""
    copy_position(other.state[target], tree.state[source])
    other.visits[target] = tree.visits[source]
    for seat in range(MAX_PLAYERS):
        other.value[target, seat] = tree.value[source, seat]
        other.proven_value[target, seat] = tree.proven_value[source, seat]
    other.proven[target] = tree.proven[source]
    count, first = tree.num_edges[source], tree.first_edge[source]
    other.num_edges[target] = count
    other.first_edge[target] = UNEXPANDED
    if first != UNEXPANDED:
        start = other.counters[EDGES_USED]
        other.first_edge[target] = np.int32(start)
        other.counters[EDGES_USED] = start + count
        for index in range(count):
            old, new = first + index, start + index
            other.action[new] = tree.action[old]
            other.child[new] = tree.child[old]
            other.prior[new] = tree.prior[old]
            other.edge_visits[new] = tree.edge_visits[old]
            other.edge_value[new] = tree.edge_value[old]
