"""A slow twin of the lock-step search: one game, dictionaries and words, every formula written out once more.

It knows nothing of forests, opened edges or proofs, so it is compared on positions where no game ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from engine_fast import Position
from luna_ai.search.evaluators import new_batch
from luna_ai.search.lockstep.gumbel import halving_schedule


def ask(evaluator: Any, position: Position) -> tuple[dict[int, float], list[float]]:
    """Priors by id and win probabilities by seat."""
    batch = new_batch(position.state.reshape(1, -1).copy(), position.game.rules)
    evaluator.evaluate(batch)
    weights = {action: math.exp(float(batch.logits[0, action])) for action in position.legal_ids()}
    total = sum(weights.values())
    return {action: weight / total for action, weight in weights.items()}, [float(value) for value in batch.values[0]]


@dataclass
class Node:
    """A position with its statistics; visits and sums by decision."""

    position: Position
    priors: dict[int, float]
    raw: list[float]
    children: dict[int, Node] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    sums: dict[int, float] = field(default_factory=dict)
    own_sum: float = 0.0

    @property
    def mean(self) -> dict[int, float]:
        """Mean value of each visited decision."""
        return {action: self.sums[action] / count for action, count in self.visits.items() if count}


def reach(evaluator: Any, position: Position) -> Node:
    """The node of a position, after its forced decisions."""
    while len(legal := position.legal_ids()) == 1:
        position = position.play(legal[0])
    assert not position.over
    return Node(position, *ask(evaluator, position))


def completed(node: Node) -> tuple[dict[int, float], float]:
    """Values of all decisions, the mixed value where there was no visit; and what they are scaled by."""
    mover, mean, count = node.position.to_move, node.mean, sum(node.visits.values())
    mixed = node.raw[mover]
    if count:
        visited = sum(node.priors[action] for action in mean)
        weighted = sum(node.priors[action] * value for action, value in mean.items())
        mixed = (mixed + count * weighted / visited) / (1 + count)
    most = max(node.visits.values(), default=0)
    return {a: mean.get(a, mixed) for a in node.priors}, (50 + most) * node.position.players / 2


def improved_policy(node: Node) -> dict[int, float]:
    """Softmax of logits and scaled completed values."""
    values, scale = completed(node)
    scores = {action: math.log(prior) + scale * values[action] for action, prior in node.priors.items()}
    top = max(scores.values())
    weights = {action: math.exp(score - top) for action, score in scores.items()}
    return {action: weight / sum(weights.values()) for action, weight in weights.items()}


def gumbel_inside(node: Node) -> int:
    """The decision furthest behind its share in the improved policy."""
    policy, count = improved_policy(node), sum(node.visits.values())
    return max(policy, key=lambda action: policy[action] - node.visits.get(action, 0) / (1 + count))


def puct_inside(node: Node, c: float = 1.25, reduction: float = 0.2) -> int:
    """The decision with the best PUCT score."""
    count, mean = sum(node.visits.values()), node.mean
    total = 1 + count
    own = node.own_sum / total
    unvisited = max(0.0, own - reduction * math.sqrt(sum(node.priors[action] for action in mean)))

    def score(action: int) -> float:
        visits = node.visits.get(action, 0)
        exploration = c * 2 / node.position.players * node.priors[action] * math.sqrt(total) / (1 + visits)
        return float(mean.get(action, unvisited) + exploration)

    return max(node.priors, key=score)


def search(evaluator: Any, position: Position, rule: str, sims: int, considered: int = 16) -> Node:
    """The root after `sims` simulations, without any noise."""
    root = reach(evaluator, position)
    root.own_sum = root.raw[root.position.to_move]
    likely = sorted(root.priors, key=lambda action: -root.priors[action])[:considered]
    schedule = halving_schedule(len(likely), sims)

    def at_root(simulation: int) -> int:
        values, scale = completed(root)
        wanted = [action for action in likely if root.visits.get(action, 0) == schedule[simulation]]
        return max(wanted, key=lambda action: math.log(root.priors[action]) + scale * values[action])

    for simulation in range(sims):
        node, path = root, []
        while True:
            inside = gumbel_inside if rule == "gumbel" else puct_inside
            action = at_root(simulation) if node is root and rule == "gumbel" else inside(node)
            path.append((node, action))
            if action not in node.children:
                node.children[action] = leaf = reach(evaluator, node.position.play(action))
                break
            node = node.children[action]
        leaf.own_sum = leaf.raw[leaf.position.to_move]
        for above, action in path:
            mover = above.position.to_move
            above.visits[action] = above.visits.get(action, 0) + 1
            above.sums[action] = above.sums.get(action, 0.0) + leaf.raw[mover]
            above.own_sum += leaf.raw[mover]
    return root
