"""Which edge a simulation takes: the Gumbel rules at the root and below it, and PUCT."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from luna_ai.search.compiling import called, inline
from luna_ai.search.lockstep.expansion import GUMBEL
from luna_ai.search.lockstep.forest import NO_NODE, bring_likeliest, edges_of, open_edge
from luna_ai.search.lockstep.gumbel import mixed_value, sigma_scale
from luna_ai.search.lockstep.proofs import is_lost
from luna_ai.search.scores import first_play, puct


@inline
def completed_value(forest: Any, node: Any) -> Any:
    """What an edge without visits is held to be worth, and the most visits of an edge."""
    first, mover = np.int64(forest.first_edge[node]), forest.mover[node]
    visits, most, prior, weighted = np.int64(0), np.int64(0), 0.0, 0.0
    for edge in range(first, first + forest.num_open[node]):
        own = np.int64(forest.edge_visits[edge])
        if own > 0:
            visits += own
            most = np.int64(max(most, own))
            prior += forest.prior[edge]
            weighted += forest.prior[edge] * forest.edge_value[edge] / own
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
        edge = first + index
        if forest.edge_visits[edge] == visits:
            score = considered_score(forest, tree, edge, index, mixed, scale)
            score -= 1e9 if is_lost(forest, edge, forest.mover[root]) else 0.0
            if score > best_score:
                best, best_score = edge, score
    return best


@called
def choose_by_policy(forest: Any, node: Any, numbers: Any, weights: Any) -> Any:
    """The edge furthest behind its share in the improved policy (section 5 of the Gumbel paper); may be opened now."""
    first, opened, count = edges_of(forest, node)
    mixed, most = completed_value(forest, node)
    scale = scale_of(forest, node, most, numbers)
    highest, unopened, visits = mixed, 1.0, 1.0
    for index in range(opened):
        weights[index] = forest.edge_value[first + index] / forest.edge_visits[first + index]
        highest = max(highest, weights[index])
        unopened -= forest.prior[first + index]
        visits += forest.edge_visits[first + index]
    weight = np.exp(scale * (mixed - highest))
    total = max(unopened, 0.0) * weight
    for index in range(opened):
        weights[index] = forest.prior[first + index] * np.exp(scale * (weights[index] - highest))
        total += weights[index]
    best, best_score = np.int64(-1), -1e300
    for index in range(opened):
        score = weights[index] / total - forest.edge_visits[first + index] / visits
        if score > best_score and not is_lost(forest, first + index, forest.mover[node]):
            best, best_score = first + index, score
    if opened < count and forest.prior[first + opened] * weight / total >= best_score:
        return first + opened
    return best


@called
def choose_by_bound(forest: Any, node: Any, numbers: Any) -> Any:
    """The edge with the best PUCT score; may be opened now."""
    first, opened, count = edges_of(forest, node)
    visits = np.float64(forest.visits[node] - 1)  # of its edges, and one; the simulation on its way is counted already
    exploration = 2.0 * numbers.exploration / np.float64(layout.players(forest.state[node]))
    best: Any = np.int64(-1)
    best_score, visited = -1e300, 0.0
    for edge in range(first, first + opened):
        prior, own = np.float64(forest.prior[edge]), np.float64(forest.edge_visits[edge])
        visited += prior
        score = puct(forest.edge_value[edge] / own, prior, own, visits, exploration)
        if score > best_score and not is_lost(forest, edge, forest.mover[node]):
            best, best_score = edge, score
    if opened < count:
        mean = forest.value[node, forest.mover[node]] / visits
        hoped = first_play(mean, visited, numbers.reduction)
        if puct(hoped, np.float64(forest.prior[first + opened]), 0.0, visits, exploration) > best_score:
            return first + opened
    return best


@called
def choose_edge(forest: Any, tree: Any, node: Any, numbers: Any, schedule: Any, scratch: Any) -> Any:
    """The edge that a simulation takes from a node (int64), opened."""
    if numbers.rule == GUMBEL and forest.parent[node] == NO_NODE:
        wanted = schedule[forest.plan[tree], forest.num_open[node], forest.played[tree]]
        return choose_considered(forest, tree, node, wanted, numbers)
    if numbers.rule == GUMBEL:
        edge = choose_by_policy(forest, node, numbers, scratch.weights)
    else:
        edge = choose_by_bound(forest, node, numbers)
    if edge == forest.first_edge[node] + forest.num_open[node]:
        open_edge(forest, node)
        if forest.num_open[node] < forest.num_edges[node]:
            bring_likeliest(forest, node)
    return edge
