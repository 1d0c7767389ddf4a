"""Gumbel search: how the root shares out its simulations and how decisions are chosen below it.

Source of all formulas: Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", ICLR
2022. There `q` lies in [0, 1] for two players; here it is the part of the seat that decides, whose equal share is 1/N,
so the scale of `sigma` grows with the number of players N: q = 1/N counts for as much at every table.

The root draws one Gumbel number for each legal decision, considers the `m` decisions with the highest sum of it and the
logit, and halves them by turns until the simulations are spent (sequential halving); with all numbers 0 it considers
the likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.bits import next_random
from luna_ai.search.compiling import inline

TWO_TO_MINUS_53 = 1.0 / 9007199254740992.0


def halving_schedule(considered: int, simulations: int) -> NDArray[np.int32]:
    """How many visits the decision has that each simulation goes to (section 2, "sequential halving").

    Each phase visits all decisions that are left equally often, `simulations / (phases * left)` times but at least
    once, and then keeps the better half, at least two. What remains at the end goes to the last two by turns.

    Returns:
        `int32[simulations]`: number of visits, before it, of the decision to visit.
    """
    if considered <= 1:
        return np.arange(simulations, dtype=np.int32)
    phases = math.ceil(math.log2(considered))
    schedule: list[int] = []
    visited, left = 0, considered
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            schedule += [visited] * left
            visited += 1
        left = max(2, left // 2)
    return np.array(schedule[:simulations], dtype=np.int32)


def halving_tables(most: int, simulations: Sequence[int]) -> NDArray[np.int32]:
    """The schedules for each number of simulations and 0 ... `most` considered decisions.

    Returns:
        `int32[numbers, most + 1, largest number]`; what is beyond a number of simulations is 0.
    """
    tables = np.zeros((len(simulations), most + 1, max(simulations)), dtype=np.int32)
    for table, number in zip(tables, simulations, strict=True):
        for considered, row in enumerate(table):
            row[:number] = halving_schedule(considered, number)
    return tables


@inline
def gumbel_number(generator: Any) -> Any:
    """A draw from the standard Gumbel distribution, float64."""
    share = (np.float64(next_random(generator) >> np.uint64(11)) + 0.5) * TWO_TO_MINUS_53
    return -np.log(-np.log(share))


@inline
def sigma_scale(most_visits: Any, visit_offset: Any, scale: Any) -> Any:
    """What a value is multiplied by before it is added to a logit (equation 8)."""
    return (visit_offset + most_visits) * scale


@inline
def mixed_value(raw: Any, visits: Any, visited_prior: Any, visited_sum: Any) -> Any:
    """The value of a decision that has not been visited (appendix D, equation 33).

    Args:
        raw: what the evaluator said of the position, for the seat that decides.
        visits: simulations below the position.
        visited_prior: sum of the priors of the visited decisions.
        visited_sum: sum over them of prior times mean value.
    """
    if visits == 0 or visited_prior <= 0.0:
        return np.float64(raw)
    return (raw + visits * (visited_sum / visited_prior)) / (1.0 + visits)
