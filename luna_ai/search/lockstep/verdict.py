"""What a search found, read from the roots of a forest: decision, policy for training, visits and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from luna_ai.search.compiling import called, kernel
from luna_ai.search.lockstep.expansion import GUMBEL
from luna_ai.search.lockstep.forest import EXACT, NO_NODE, bring_likeliest, edges_of, root_of
from luna_ai.search.lockstep.proofs import is_lost, knows
from luna_ai.search.lockstep.selection import choose_considered, completed_value, scale_of


@called
def write_improved_policy(forest: Any, root: Any, numbers: Any, policy: Any) -> None:
    """Writes the improved policy of a root by id: logits plus scaled, completed values (equation 11)."""
    first, opened, count = edges_of(forest, root)
    mixed, most = completed_value(forest, root)
    scale = scale_of(forest, root, most, numbers)
    highest, total = mixed, 0.0
    for edge in range(first, first + opened):
        if forest.edge_visits[edge] > 0:
            highest = max(highest, forest.edge_value[edge] / forest.edge_visits[edge])
    for edge in range(first, first + count):
        visited = edge < first + opened and forest.edge_visits[edge] > 0
        value = forest.edge_value[edge] / forest.edge_visits[edge] if visited else mixed
        weight = forest.prior[edge] * np.exp(scale * (value - highest))
        policy[forest.action[edge]] = weight
        total += weight
    for edge in range(first, first + count):
        policy[forest.action[edge]] /= total


@called
def write_visit_shares(forest: Any, root: Any, policy: Any) -> None:
    """Writes the shares of visits of a root's decisions by id; the priors if there was no visit."""
    first, opened, count = edges_of(forest, root)
    total = 0.0
    for edge in range(first, first + opened):
        total += forest.edge_visits[edge]
    for edge in range(first, first + count):
        if total == 0.0:
            policy[forest.action[edge]] = forest.prior[edge]
        elif edge < first + opened:
            policy[forest.action[edge]] = forest.edge_visits[edge] / total


@called
def halving_winner(forest: Any, tree: Any, root: Any, numbers: Any) -> Any:
    """The edge that sequential halving leaves: most visits, then the highest score; none that is proven to lose.

    If all that were considered lose, the likeliest of the others.
    """
    first, opened, count = edges_of(forest, root)
    most: Any = -1
    for edge in range(first, first + opened):
        if not is_lost(forest, edge, forest.mover[root]):
            most = max(most, np.int64(forest.edge_visits[edge]))
    if most >= 0:
        return choose_considered(forest, tree, root, most, numbers)
    if opened == count:
        return first
    bring_likeliest(forest, root)
    return first + opened


@called
def most_visited(forest: Any, root: Any) -> Any:
    """The edge with the most visits, then the higher value; none that is proven to lose while there are others."""
    first, opened, count = edges_of(forest, root)
    best: Any = np.int64(-1)
    for edge in range(first, first + opened):
        if is_lost(forest, edge, forest.mover[root]):
            continue
        more = forest.edge_visits[edge] - forest.edge_visits[best] if best >= 0 else 1
        if more > 0 or (more == 0 and forest.edge_value[edge] > forest.edge_value[best]):
            best = edge
    if best >= 0:
        return best
    return first + opened if opened < count else first


@called
def winning_edge(forest: Any, root: Any) -> Any:
    """The edge by which the seat that decides is proven to win; there must be one (not checked)."""
    edge, seat = np.int64(forest.first_edge[root]), forest.mover[root]
    while True:
        child = forest.child[edge]
        if child != NO_NODE and knows(forest, child, seat) and forest.raw[child, seat] > 0.5:
            return edge
        edge += 1


@kernel
def read_roots(forest: Any, numbers: Any, chosen: Any, policy: Any, visits: Any, value: Any) -> None:
    """Writes what the searches in the first T trees found.

    Args:
        forest: the trees.
        numbers: settings.
        chosen: `int64[T]`, the decision.
        policy: `float32[T, NUM_ACTIONS]`, all 0 before: improved policy (Gumbel) or shares of visits (PUCT).
        visits: `int32[T, NUM_ACTIONS]`, all 0 before.
        value: `float32[T, NUM_ACTIONS]`, all NaN before: mean value of each visited decision for the seat that decides.
    """
    for tree in range(chosen.shape[0]):
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
        if forest.proven[root] == EXACT and forest.raw[root, forest.mover[root]] > 0.5:
            chosen[tree] = forest.action[winning_edge(forest, root)]
