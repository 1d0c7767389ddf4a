"""Many searches in step: each step takes the evaluator's answers in, and selects the next leaves of all trees.

    plant(states) -> leaves: the roots
    while leaves: the evaluator answers; advance() backs the answers up and selects the next leaves
    read_roots() -> what each search found

A node holds a position with a choice: forced decisions are played at once when it is made. A game that is over needs no
evaluator, its result is backed up within the step. Simulations of one tree never touch another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, lowest_bit, popcount
from engine_fast.layout import MAX_PLAYERS, OVER, copy_position
from engine_fast.legal import legal_mask
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.forest import (
    ASKED,
    FINISHED,
    NO_NODE,
    NOT_EXPANDED,
    add_node,
    bring_likeliest,
    open_edge,
    root_of,
    swap_edges,
)
from luna_ai.search.gumbel import gumbel_number, mixed_value, sigma_scale
from luna_ai.search.rollout import final_values
from luna_ai.search.scores import first_play, puct

GUMBEL, PUCT = 0, 1
SMALLEST_PRIOR = np.float32(1e-30)


class Numbers(NamedTuple):
    """Numbers of a lock-step search, the same for all trees."""

    rule: int  # GUMBEL or PUCT
    sims: int  # simulations of each tree
    leaves: int  # leaves of one tree in a step
    considered: int  # Gumbel: most decisions considered at the root
    gumbel_scale: float  # Gumbel: factor of the noise, 0 for none
    visit_offset: float  # Gumbel: c_visit
    value_scale: float  # Gumbel: c_scale for two players, times N / 2 otherwise
    exploration: float  # PUCT: weight of exploration for two players, times 2 / N otherwise
    reduction: float  # PUCT: first-play reduction
    noise: float  # PUCT: share of noise in the priors of the root


class Scratch(NamedTuple):
    """Arrays that kernels work in."""

    ledger: Any  # int16[4, SOURCES]
    result: Any  # float64[4]


@called
def write_legal(state: Any, rules: Any, row: Any) -> Any:
    """Writes the legal decisions into `uint64[MASK_WORDS]`; returns their number (uint64)."""
    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9] = legal_mask(state, rules)
    count = U0
    for word in range(actions.MASK_WORDS):
        count += popcount(row[word])
    return count


@called
def play_forced(state: Any, rules: Any, row: Any, ledger: Any) -> Any:
    """Plays decisions on while there is only one, in place; returns the number of legal ones (0: the game is over)."""
    count = write_legal(state, rules, row)
    while count == U1:
        word = 0
        while row[word] == U0:
            word += 1
        apply(state, np.uint64(64 * word) + lowest_bit(row[word]), rules, ledger)
        count = write_legal(state, rules, row)
    return count


@called
def finish(forest: Any, node: Any, scratch: Any) -> None:
    """Marks a node at which the game is over, with its result."""
    final_values(forest.state[node], scratch.result)
    forest.first_edge[node] = FINISHED
    for seat in range(MAX_PLAYERS):
        forest.raw[node, seat] = np.float32(scratch.result[seat])


@called
def ask(forest: Any, node: Any, leaves: Any, place: Any, rules: Any, scratch: Any) -> Any:
    """Puts a node before the evaluator; returns False if its game is over, which needs none."""
    state = forest.state[node]
    if play_forced(state, rules, leaves.mask[place], scratch.ledger) == U0:
        finish(forest, node, scratch)
        return False
    forest.mover[node] = np.int8(layout.to_move(state))
    forest.first_edge[node] = ASKED
    leaves.node[place] = node
    copy_position(leaves.state[place], state)
    return True


@called
def write_edges(forest: Any, tree: Any, node: Any, leaves: Any, place: Any) -> Any:
    """Writes a node's edges, with logits in place of priors; returns their number, 0 if there is no room for them."""
    per_tree = forest.action.shape[0] // forest.played.shape[0]
    first, room = tree * per_tree + forest.edges_used[tree], per_tree - forest.edges_used[tree]
    count = np.int64(0)
    for word in range(actions.MASK_WORDS):
        bits = leaves.mask[place, word]
        while bits != U0:
            if count == room:
                forest.first_edge[node] = NOT_EXPANDED
                return np.int64(0)
            action = np.int64(64 * word) + np.int64(lowest_bit(bits))
            forest.action[first + count] = action
            forest.prior[first + count] = leaves.logits[place, action]
            bits &= bits - U1
            count += 1
    forest.edges_used[tree] += count
    forest.first_edge[node] = first
    forest.num_edges[node] = count
    forest.num_open[node] = 0
    return count


@called
def normalise(forest: Any, first: Any, count: Any) -> None:
    """Makes priors out of the logits of `count` edges: a softmax."""
    highest, total = forest.prior[first], np.float32(0.0)
    for edge in range(first, first + count):
        highest = max(highest, forest.prior[edge])
    for edge in range(first, first + count):
        forest.prior[edge] = max(np.exp(forest.prior[edge] - highest), SMALLEST_PRIOR)
        total += forest.prior[edge]
    scale = np.float32(1.0) / total
    for edge in range(first, first + count):
        forest.prior[edge] *= scale


@called
def consider(forest: Any, tree: Any, root: Any, numbers: Any) -> None:
    """Opens the decisions that a Gumbel root considers: those with the highest sum of Gumbel number and logit."""
    first, count = np.int64(forest.first_edge[root]), np.int64(forest.num_edges[root])
    scores = forest.noise[tree]
    for index in range(count):
        drawn = gumbel_number(forest.generator[tree]) if numbers.gumbel_scale > 0.0 else 0.0
        scores[index] = numbers.gumbel_scale * drawn + np.log(forest.prior[first + index])
    for place in range(min(numbers.considered, count)):
        best = place
        for index in range(place + 1, count):
            if scores[index] > scores[best]:
                best = index
        scores[place], scores[best] = scores[best], scores[place]
        swap_edges(forest, first + place, first + best)
        forest.gumbel[tree, place] = scores[place]
        open_edge(forest, root)


@called
def add_noise(forest: Any, tree: Any, root: Any, numbers: Any) -> None:
    """Mixes the noise of a tree (`forest.noise`, by id) into the priors of its root."""
    first, count, total = np.int64(forest.first_edge[root]), np.int64(forest.num_edges[root]), 0.0
    for edge in range(first, first + count):
        total += forest.noise[tree, forest.action[edge]]
    if total > 0.0:
        for edge in range(first, first + count):
            drawn = forest.noise[tree, forest.action[edge]] / total
            forest.prior[edge] = (1.0 - numbers.noise) * forest.prior[edge] + numbers.noise * drawn


@called
def expand(forest: Any, node: Any, leaves: Any, place: Any, numbers: Any) -> None:
    """Gives a node its edges, with the evaluator's priors."""
    tree = np.int64(node) // (forest.visits.shape[0] // forest.played.shape[0])
    count = write_edges(forest, tree, node, leaves, place)
    if count == 0:
        return
    normalise(forest, np.int64(forest.first_edge[node]), count)
    if forest.parent[node] == NO_NODE:
        if numbers.rule == GUMBEL:
            consider(forest, tree, node, numbers)
            return
        if numbers.noise > 0.0:
            add_noise(forest, tree, node, numbers)
    bring_likeliest(forest, node)


@called
def back_up(forest: Any, leaf: Any) -> None:
    """Adds what is known of a leaf to all nodes above it, and to the edges the part of the seat that decided."""
    node = np.int64(leaf)
    while True:
        for seat in range(MAX_PLAYERS):
            forest.value[node, seat] += forest.raw[leaf, seat]
        parent = np.int64(forest.parent[node])
        if parent == NO_NODE:
            return
        forest.edge_value[forest.parent_edge[node]] += forest.raw[leaf, forest.mover[parent]]
        node = parent


@called
def absorb(forest: Any, leaves: Any, place: Any, numbers: Any) -> None:
    """Takes in the evaluator's answer for one leaf."""
    node = np.int64(leaves.node[place])
    for seat in range(MAX_PLAYERS):
        forest.raw[node, seat] = leaves.value[place, seat]
    expand(forest, node, leaves, place, numbers)
    back_up(forest, node)


@inline
def completed_value(forest: Any, node: Any) -> Any:
    """What an edge without visits is held to be worth, and the most visits of an edge."""
    first, mover = np.int64(forest.first_edge[node]), forest.mover[node]
    visits, most, prior, weighted = 0, 0, 0.0, 0.0
    for edge in range(first, first + forest.num_open[node]):
        count = np.int64(forest.edge_visits[edge])
        if count > 0:
            visits += count
            most = max(most, count)
            prior += forest.prior[edge]
            weighted += forest.prior[edge] * forest.edge_value[edge] / count
    return mixed_value(forest.raw[node, mover], visits, prior, weighted), most


@inline
def scale_of(forest: Any, node: Any, most: Any, numbers: Any) -> Any:
    """What values are multiplied by in a node, for its number of players."""
    players = np.float64(layout.players(forest.state[node]))
    return sigma_scale(np.float64(most), numbers.visit_offset, numbers.value_scale * players / 2.0)


@inline
def considered_score(forest: Any, tree: Any, edge: Any, index: Any, mixed: Any, scale: Any) -> Any:
    """Gumbel number and logit of a considered decision, and its value."""
    visits = np.float64(forest.edge_visits[edge])
    value = forest.edge_value[edge] / visits if visits > 0.0 else mixed
    return forest.gumbel[tree, index] + scale * value


@called
def choose_considered(forest: Any, tree: Any, root: Any, visits: Any, numbers: Any) -> Any:
    """The best of the considered edges that have so many visits; -1 if none has."""
    first = np.int64(forest.first_edge[root])
    mixed, most = completed_value(forest, root)
    scale = scale_of(forest, root, most, numbers)
    best, best_score = np.int64(-1), -1e300
    for index in range(np.int64(forest.num_open[root])):
        if forest.edge_visits[first + index] == visits:
            score = considered_score(forest, tree, first + index, index, mixed, scale)
            if score > best_score:
                best, best_score = first + index, score
    return best


@called
def choose_by_policy(forest: Any, node: Any, numbers: Any) -> Any:
    """The edge furthest behind its share in the improved policy (section 5 of the Gumbel paper); may be opened now."""
    first, opened = np.int64(forest.first_edge[node]), np.int64(forest.num_open[node])
    mixed, most = completed_value(forest, node)
    scale = scale_of(forest, node, most, numbers)
    highest = mixed
    for edge in range(first, first + opened):
        highest = max(highest, forest.edge_value[edge] / forest.edge_visits[edge])
    unopened, total, visits = 1.0, 0.0, 1.0
    for edge in range(first, first + opened):
        unopened -= forest.prior[edge]
        visits += forest.edge_visits[edge]
        value = forest.edge_value[edge] / forest.edge_visits[edge]
        total += forest.prior[edge] * np.exp(scale * (value - highest))
    weight = np.exp(scale * (mixed - highest))
    total += max(unopened, 0.0) * weight
    best, best_score = np.int64(-1), -1e300
    for edge in range(first, first + opened):
        value = forest.edge_value[edge] / forest.edge_visits[edge]
        share = forest.prior[edge] * np.exp(scale * (value - highest)) / total
        score = share - forest.edge_visits[edge] / visits
        if score > best_score:
            best, best_score = edge, score
    if opened < forest.num_edges[node] and forest.prior[first + opened] * weight / total >= best_score:
        return first + opened
    return best


@called
def choose_by_bound(forest: Any, node: Any, numbers: Any) -> Any:
    """The edge with the best PUCT score; may be opened now."""
    first, opened = np.int64(forest.first_edge[node]), np.int64(forest.num_open[node])
    visits = np.float64(forest.visits[node] - 1)  # of its edges, and one; the simulation on its way is counted already
    exploration = 2.0 * numbers.exploration / np.float64(layout.players(forest.state[node]))
    best, best_score, visited = np.int64(-1), -1e300, 0.0
    for edge in range(first, first + opened):
        prior, count = np.float64(forest.prior[edge]), np.float64(forest.edge_visits[edge])
        visited += prior
        score = puct(forest.edge_value[edge] / count, prior, count, visits, exploration)
        if score > best_score:
            best, best_score = edge, score
    if opened < forest.num_edges[node]:
        mean = forest.value[node, forest.mover[node]] / visits
        hoped = first_play(mean, visited, numbers.reduction)
        if puct(hoped, np.float64(forest.prior[first + opened]), 0.0, visits, exploration) > best_score:
            return first + opened
    return best


@called
def choose_edge(forest: Any, tree: Any, node: Any, numbers: Any, schedule: Any) -> Any:
    """The edge that a simulation takes from a node (int64), opened."""
    if numbers.rule == GUMBEL and forest.parent[node] == NO_NODE:
        wanted = schedule[forest.num_open[node], forest.played[tree]]
        return choose_considered(forest, tree, node, wanted, numbers)
    if numbers.rule == GUMBEL:
        edge = choose_by_policy(forest, node, numbers)
    else:
        edge = choose_by_bound(forest, node, numbers)
    if edge == forest.first_edge[node] + forest.num_open[node]:
        open_edge(forest, node)
        if forest.num_open[node] < forest.num_edges[node]:
            bring_likeliest(forest, node)
    return edge


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
        if forest.first_edge[node] < 0:
            break
        edge = choose_edge(forest, tree, node, numbers, schedule)
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
def gather(
    forest: Any, tree: Any, leaves: Any, filled: Any, numbers: Any, schedule: Any, rules: Any, scratch: Any
) -> Any:
    """Selects the next leaves of one tree into the places from `filled` on; returns the number of places filled."""
    wanted = filled + numbers.leaves
    while filled < wanted and forest.played[tree] < numbers.sims:
        node = descend(forest, tree, numbers, schedule, rules, scratch)
        if node == NO_NODE:
            break
        if forest.first_edge[node] == FINISHED or not ask(forest, node, leaves, filled, rules, scratch):
            back_up(forest, node)
        else:
            filled += 1
    return filled


@kernel
def advance(forest: Any, leaves: Any, filled: Any, numbers: Any, schedule: Any, rules: Any, scratch: Any) -> Any:
    """One step of all trees: takes the answers for the first `filled` leaves in, and selects the next ones.

    Returns:
        The number of leaves that wait for the evaluator now, 0 when all searches are done.
    """
    for place in range(filled):
        absorb(forest, leaves, place, numbers)
    filled = 0
    for tree in range(forest.played.shape[0]):
        filled = gather(forest, tree, leaves, filled, numbers, schedule, rules, scratch)
    return filled


@kernel
def plant(forest: Any, leaves: Any, states: Any, numbers: Any, rules: Any, scratch: Any) -> Any:
    """Begins a search in each tree, from `states`, `uint64[G, STATE_WORDS]`; none may be over (not checked here).

    Returns:
        The number of roots that wait for the evaluator. A root with one legal decision is not searched.
    """
    filled = 0
    for tree in range(forest.played.shape[0]):
        forest.nodes_used[tree] = 0
        forest.edges_used[tree] = 0
        forest.played[tree] = 0
        forest.depth_sum[tree] = 0
        root = add_node(forest, tree, NO_NODE, 0)
        copy_position(forest.state[root], states[tree])
        forest.mover[root] = np.int8(layout.to_move(states[tree]))
        if write_legal(states[tree], rules, leaves.mask[filled]) == U1:
            forest.played[tree] = numbers.sims
            write_edges(forest, tree, root, leaves, filled)
            forest.prior[forest.first_edge[root]] = np.float32(1.0)
            continue
        forest.visits[root] = 1
        forest.first_edge[root] = ASKED
        leaves.node[filled] = root
        copy_position(leaves.state[filled], states[tree])
        filled += 1
    return filled


@called
def write_improved_policy(forest: Any, root: Any, numbers: Any, policy: Any) -> None:
    """Writes the improved policy of a root by id: logits plus scaled, completed values (equation 11)."""
    first, opened = np.int64(forest.first_edge[root]), np.int64(forest.num_open[root])
    mixed, most = completed_value(forest, root)
    scale = scale_of(forest, root, most, numbers)
    highest, total = mixed, 0.0
    for edge in range(first, first + opened):
        if forest.edge_visits[edge] > 0:
            highest = max(highest, forest.edge_value[edge] / forest.edge_visits[edge])
    for edge in range(first, first + np.int64(forest.num_edges[root])):
        visited = edge < first + opened and forest.edge_visits[edge] > 0
        value = forest.edge_value[edge] / forest.edge_visits[edge] if visited else mixed
        weight = forest.prior[edge] * np.exp(scale * (value - highest))
        policy[forest.action[edge]] = weight
        total += weight
    for edge in range(first, first + np.int64(forest.num_edges[root])):
        policy[forest.action[edge]] /= total


@called
def write_visit_shares(forest: Any, root: Any, policy: Any) -> None:
    """Writes the shares of visits of a root's decisions by id; the priors if there was no visit."""
    first, opened = np.int64(forest.first_edge[root]), np.int64(forest.num_open[root])
    total = 0.0
    for edge in range(first, first + opened):
        total += forest.edge_visits[edge]
    for edge in range(first, first + np.int64(forest.num_edges[root])):
        if total == 0.0:
            policy[forest.action[edge]] = forest.prior[edge]
        elif edge < first + opened:
            policy[forest.action[edge]] = forest.edge_visits[edge] / total


@called
def halving_winner(forest: Any, tree: Any, root: Any, numbers: Any) -> Any:
    """The edge that sequential halving leaves: most visits, then the highest score."""
    first, most = np.int64(forest.first_edge[root]), 0
    for edge in range(first, first + np.int64(forest.num_open[root])):
        most = max(most, np.int64(forest.edge_visits[edge]))
    return choose_considered(forest, tree, root, most, numbers)


@called
def most_visited(forest: Any, root: Any) -> Any:
    """The edge with the most visits, then the higher value; the likeliest if none has any."""
    best = np.int64(forest.first_edge[root])
    for edge in range(best + 1, best + np.int64(forest.num_open[root])):
        more = forest.edge_visits[edge] - forest.edge_visits[best]
        if more > 0 or (more == 0 and forest.edge_value[edge] > forest.edge_value[best]):
            best = edge
    return best


@kernel
def read_roots(forest: Any, numbers: Any, chosen: Any, policy: Any, visits: Any, value: Any) -> None:
    """Writes what each search found.

    Args:
        forest: the trees.
        numbers: settings.
        chosen: `int64[G]`, the decision.
        policy: `float32[G, NUM_ACTIONS]`, all 0 before: improved policy (Gumbel) or shares of visits (PUCT).
        visits: `int32[G, NUM_ACTIONS]`, all 0 before.
        value: `float32[G, NUM_ACTIONS]`, all NaN before: mean value of each visited decision for the seat that decides.
    """
    for tree in range(forest.played.shape[0]):
        root = root_of(forest, tree)
        first = np.int64(forest.first_edge[root])
        if forest.num_edges[root] == 1:
            chosen[tree] = forest.action[first]
            policy[tree, forest.action[first]] = np.float32(1.0)
            continue
        for edge in range(first, first + np.int64(forest.num_open[root])):
            if forest.edge_visits[edge] > 0:
                visits[tree, forest.action[edge]] = forest.edge_visits[edge]
                value[tree, forest.action[edge]] = forest.edge_value[edge] / forest.edge_visits[edge]
        if numbers.rule == GUMBEL:
            write_improved_policy(forest, root, numbers, policy[tree])
            chosen[tree] = forest.action[halving_winner(forest, tree, root, numbers)]
        else:
            write_visit_shares(forest, root, policy[tree])
            chosen[tree] = forest.action[most_visited(forest, root)]
