"""Scratch memory of the bots: made once, handed to every kernel, so that no decision allocates anything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from luna_ai.bots.columns import COLUMNS
from luna_ai.strategies import STRATEGIES


class Workspace(NamedTuple):
    """Arrays that kernels write into; one for each thread. Nothing in it outlives a decision except the weights."""

    weights: NDArray[np.float64]  # [bots, W], row code - 1: what a bot weighs, see `columns`


def weight_table() -> NDArray[np.float64]:
    """The weights of all bots, `float64[bots, W]`: the greedy bot, then the strategies."""
    greedy = {column.name: column.greedy for column in COLUMNS}
    rows = [greedy, *(greedy | dict(strategy.weights) for strategy in STRATEGIES)]
    return np.array([[row[column.name] for column in COLUMNS] for row in rows], dtype=np.float64)


def new_workspace(weights: NDArray[np.float64] | None = None) -> Workspace:
    """A workspace with the bots' weights, or with others (`float64[bots, W]`, row code - 1)."""
    return Workspace(weight_table() if weights is None else weights)
