"""The formulas that choose an edge: small pure functions, each with its source.

`mean` is the mean value of an edge for the seat that decides, in [0, 1]; `visits` are the edge's, `total` the node's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from luna_ai.search.compiling import inline

UCT, PUCT = 0, 1


@inline
def uct(mean: Any, visits: Any, log_total: Any, exploration: Any) -> Any:
    """Upper confidence bound of a visited edge (Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006).

    `log_total` is the logarithm of `total`: the same for all edges of a node. `visits` is a float64, not 0 (not checked
    here).
    """
    return mean + exploration * np.sqrt(log_total * np.reciprocal(visits))


@inline
def progressive_bias(prior: Any, visits: Any, weight: Any) -> Any:
    """A term for domain knowledge that fades with visits (Chaslot et al., "Progressive strategies", 2008)."""
    return weight * prior * np.reciprocal(visits + 1.0)


@inline
def puct(mean: Any, prior: Any, visits: Any, total: Any, exploration: Any) -> Any:
    """The rule of AlphaGo Zero (Silver et al., "Mastering the game of Go without human knowledge", 2017, Methods)."""
    return mean + exploration * prior * np.sqrt(total) / (1.0 + visits)


@inline
def first_play(node_mean: Any, visited_prior: Any, reduction: Any) -> Any:
    """Value of an edge not yet visited: the node's, less the more prior has been visited (KataGo, "cpuct and FPU")."""
    return max(0.0, node_mean - reduction * np.sqrt(visited_prior))
