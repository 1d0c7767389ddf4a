"""One simulation: select down the tree, expand, play a leaf on, back the value up. All in one kernel.

A Journey, a Tide or a Book is several decisions of one seat: they are edges like any other, the seat that decides is
read from the position, and nothing alternates.

The layers around a simulation are spliced into the kernel `run_simulations`: whatever is compiled on its own is
optimised once more in each of its callers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply_into
from engine_fast.bits import U0, U1, lowest_bit, random_below
from engine_fast.layout import MAX_PLAYERS, NONE, copy_position
from luna_ai.bots.compiling import spliced
from luna_ai.bots.greedy import choose_greedy
from luna_ai.bots.offers import NOTHING, write_mask
from luna_ai.search.compiling import inline, kernel
from luna_ai.search.proofs import prove_from_child
from luna_ai.search.rollout import GREEDY_WEIGHTS, random_share, roll_out
from luna_ai.search.scores import PUCT, first_play, progressive_bias, puct, uct
from luna_ai.search.transpositions import add_position, find_shared
from luna_ai.search.tree import (
    DEEPEST,
    EDGES_USED,
    LOST,
    MAX_DEPTH,
    NO_NODE,
    OPEN,
    ROOT,
    TRUNCATED,
    UNEXPANDED,
    UNVISITED,
    mover_of,
)

NEVER = -1e30
"""Score of an edge that loses for certain."""


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
def list_decisions(tree: Any, first: Any, mask: Any) -> Any:
    """Writes the decisions of a legal mask as edges from `first` on; returns their number, -1 if there is no room."""
    count, room = np.int64(0), tree.action.shape[0] - first
    for word in range(actions.MASK_WORDS):
        bits = mask[word]
        while bits != U0:
            if count == room:
                return np.int64(-1)
            edge = first + count
            tree.action[edge] = np.int16(64 * word) + np.int16(lowest_bit(bits))
            tree.child[edge] = UNVISITED
            tree.edge_visits[edge] = 0
            tree.edge_value[edge] = 0.0
            tree.edge_proof[edge] = OPEN
            bits &= bits - U1
            count += 1
    return count


@spliced
def expand(tree: Any, node: Any, settings: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """Gives a node its edges, with priors; returns whether there was room."""
    write_mask(tree.state[node], rules, workspace)
    first = tree.counters[EDGES_USED]
    count = list_decisions(tree, first, workspace.mask)
    if count < 0:
        tree.counters[TRUNCATED] += 1
    else:
        tree.counters[EDGES_USED] = first + count
        tree.first_edge[node] = first
        tree.num_edges[node] = count
        if settings.sharpness > 0.0:
            write_priors(tree, first, count, tree.state[node], settings, rules, generator, workspace)
        else:
            for edge in range(first, first + count):
                tree.prior[edge] = 1.0 / count
        bring_forward(tree, node, settings, generator)
    return count >= 0


@spliced
def write_priors(
    tree: Any, first: Any, count: Any, state: Any, settings: Any, rules: Any, generator: Any, workspace: Any
) -> None:
    """Priors of the edges `first` ... `first + count - 1`: a softmax of greedy scores, partly spread evenly.

    Decisions that the greedy bot does not score (all but the best Journey) share what is spread evenly; a little chance
    breaks ties.
    """
    total = 0.0
    if count > 1:
        score_decisions(state, rules, workspace)
        best = NOTHING
        for edge in range(first, first + count):
            best = max(best, workspace.scores[tree.action[edge]])
        for edge in range(first, first + count):
            weight = np.exp((workspace.scores[tree.action[edge]] - best) / settings.sharpness)
            tree.prior[edge] = weight
            total += weight
    share = 1.0 - settings.spread if total > 0.0 else 0.0
    for edge in range(first, first + count):
        evenly = (1.0 - share) / count * (1.0 + 0.01 * random_share(generator))
        tree.prior[edge] = evenly + (tree.prior[edge] * share / total if total > 0.0 else 0.0)


@spliced
def score_decisions(state: Any, rules: Any, workspace: Any) -> None:
    """Writes the greedy bot's score of each decision that it considers into `workspace.scores`, NOTHING elsewhere."""
    for action in range(actions.NUM_ACTIONS):
        workspace.scores[action] = NOTHING
    best = choose_greedy(workspace.weights[GREEDY_WEIGHTS], state, rules, workspace)
    if layout.pending(state) != NONE and workspace.scores[best] == NOTHING:
        workspace.scores[best] = 0.0


@inline
def bring_forward(tree: Any, node: Any, settings: Any, generator: Any) -> None:
    """Brings the edge that is to be visited next to the front of the unvisited ones: the likeliest, or any of equals.

    It is due before all others of them: they share one value, so the prior alone tells them apart.
    """
    front, end = tree.first_edge[node] + tree.num_tried[node], tree.first_edge[node] + tree.num_edges[node]
    if end - front < 2:
        return
    chosen = np.int64(front)
    if settings.sharpness > 0.0:
        for edge in range(front + 1, end):
            if tree.prior[edge] > tree.prior[chosen]:
                chosen = np.int64(edge)
    else:
        chosen += np.int64(random_below(generator, np.uint64(end - front)))
    action, prior = tree.action[chosen], tree.prior[chosen]
    tree.action[chosen], tree.prior[chosen] = tree.action[front], tree.prior[front]
    tree.action[front], tree.prior[front] = action, prior


@inline
def score_by_uct(tree: Any, first: Any, end: Any, total: Any, settings: Any) -> None:
    """Writes how much the visited edges `first` ... `end - 1` of a node are worth another visit into `tree.scores`.

    A loop that only computes, since the compiler then does several edges at once.
    """
    log_total = np.log(total)
    for edge in range(first, end):
        visits = np.float64(tree.edge_visits[edge])
        mean = tree.edge_value[edge] * np.reciprocal(visits)
        score = uct(mean, visits, log_total, settings.exploration)
        if settings.bias > 0.0:
            score += progressive_bias(tree.prior[edge], visits, settings.bias)
        tree.scores[edge - first] = NEVER if tree.edge_proof[edge] == LOST else score


@inline
def score_by_puct(tree: Any, first: Any, end: Any, total: Any, settings: Any) -> None:
    """The same by the other rule."""
    for edge in range(first, end):
        visits = np.float64(tree.edge_visits[edge])
        score = puct(tree.edge_value[edge] / visits, tree.prior[edge], visits, total, settings.exploration)
        tree.scores[edge - first] = NEVER if tree.edge_proof[edge] == LOST else score


@inline
def select_edge(tree: Any, node: Any, settings: Any) -> Any:
    """The edge (int64) with the best score; with UCT one that has not been visited comes first.

    Edges that are proven to lose come last; not all are, or the node would be proven.
    """
    first = np.int64(tree.first_edge[node])
    due = first + tree.num_tried[node]
    any_left = due < first + tree.num_edges[node]
    total = np.float64(tree.visits[node])
    best, best_score = first, NEVER
    if settings.rule == PUCT:
        score_by_puct(tree, first, due, total, settings)
        if any_left:
            mean = tree.value[node, mover_of(tree, node)] / total
            unvisited = first_play(mean, tree.tried_prior[node], settings.reduction)
            best, best_score = due, puct(unvisited, tree.prior[due], 0.0, total, settings.exploration)
    elif any_left:
        return due
    else:
        score_by_uct(tree, first, due, total, settings)
    for edge in range(first, due):
        if tree.scores[edge - first] > best_score:
            best, best_score = np.int64(edge), tree.scores[edge - first]
    return best


@spliced
def follow(tree: Any, node: Any, edge: Any, settings: Any, rules: Any, generator: Any, scratch: Any) -> Any:
    """The node (int64) behind an edge, made if need be; -1 when all are used, with the position in `scratch.state`."""
    child = np.int64(tree.child[edge])
    if edge == tree.first_edge[node] + tree.num_tried[node]:
        tree.num_tried[node] += 1
        tree.tried_prior[node] += tree.prior[edge]
        bring_forward(tree, node, settings, generator)
    if child == UNVISITED:
        copy_position(scratch.state, tree.state[node])
        apply_into(scratch.state, np.int64(tree.action[edge]), rules, scratch.ledger)
        child = find_shared(tree, scratch.state)
        if child == NO_NODE:
            child = add_position(tree, scratch.state, scratch.value)
        tree.child[edge] = child
    return child


@spliced
def may_descend(tree: Any, node: Any, depth: Any, settings: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """Whether a simulation goes on below a node: one that is not proven, not new, and has edges (or gets them now)."""
    goes_on = node >= 0 and depth < MAX_DEPTH - 1
    if goes_on:
        goes_on = tree.proven[node] == 0 and tree.visits[node] > 0
    if goes_on and tree.first_edge[node] == UNEXPANDED:
        goes_on = expand(tree, node, settings, rules, generator, workspace)
    return goes_on


@spliced
def simulate(tree: Any, settings: Any, rules: Any, generator: Any, workspace: Any, scratch: Any, model: Any) -> None:
    """One simulation from the root."""
    node, depth = np.int64(ROOT), 0
    tree.path_node[0] = ROOT
    while may_descend(tree, node, depth, settings, rules, generator, workspace):
        edge = select_edge(tree, node, settings)
        node = follow(tree, node, edge, settings, rules, generator, scratch)
        tree.path_edge[depth] = edge
        depth += 1
        tree.path_node[depth] = node
    evaluate(tree, node, settings, rules, generator, workspace, scratch, model)
    back_up(tree, depth, scratch.value)


@spliced
def evaluate(
    tree: Any, node: Any, settings: Any, rules: Any, generator: Any, workspace: Any, scratch: Any, model: Any
) -> None:
    """Leaves the value of a leaf in `scratch.value`: what is proven, else the outcome of playing it on."""
    is_proven = False
    if node >= 0:
        is_proven = tree.proven[node] != 0
        copy_position(scratch.state, tree.state[node])
    else:
        tree.counters[TRUNCATED] += 1
    if is_proven:
        for seat in range(MAX_PLAYERS):
            scratch.value[seat] = tree.proven_value[node, seat]
    else:
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


@inline
def back_up(tree: Any, depth: Any, value: Any) -> None:
    """Adds the value to every node and edge of the path, deepest first, and what is proven by it."""
    tree.counters[DEEPEST] = max(tree.counters[DEEPEST], depth)
    child = np.int64(-1)
    for level in range(depth, -1, -1):
        node = np.int64(tree.path_node[level])
        if node >= 0:
            tree.visits[node] += 1
            for seat in range(MAX_PLAYERS):
                tree.value[node, seat] += value[seat]
        if level < depth:
            edge = tree.path_edge[level]
            tree.edge_visits[edge] += 1
            tree.edge_value[edge] += value[mover_of(tree, node)]
            if child >= 0 and tree.proven[child] != 0:
                prove_from_child(tree, node, edge, child)
        child = node


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

    The root has its edges afterwards, whatever the number. The caller keeps slices below 0.1 s, so that Ctrl-C and time
    budgets work.
    """
    if tree.first_edge[ROOT] == UNEXPANDED:
        expand(tree, np.int64(ROOT), settings, rules, generator, workspace)
    done = np.int64(0)
    while done < simulations and tree.proven[ROOT] == 0:
        simulate(tree, settings, rules, generator, workspace, scratch, model)
        done += 1
    return done
