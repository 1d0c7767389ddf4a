"""Resampled arenas: the same schedule with other blocks of each table, for intervals of shares and ratings.

A table (group of players) plays as many blocks as the schedule says; chance is only in which blocks it got. So blocks
are drawn within tables (strata). Of a table's n blocks n - 1 are drawn with replacement and weigh n / (n - 1) each; for
means that gives the variance without the usual bias, down to n = 2 (Rao & Wu, "Resampling inference with complex survey
data", J. Am. Stat. Assoc. 83 (1988), section 2). Where some table has one block only, all blocks are one stratum, which
makes intervals too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from luna_ai.stats import CELLS_AT_ONCE, FloatArray, constant_interval, percentile_ends

IntArray = NDArray[np.int64]

DRAWS = 1000


@dataclass(frozen=True)
class Shares:
    """Quotients of sums over blocks with 95 % intervals, one entry a quantity.

    Attributes:
        mean: ``float64[Q]``; NaN where the denominator is 0.
        low: ``float64[Q]`` lower end; NaN where there is no interval.
        high: ``float64[Q]`` upper end.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def strata_of(tables: IntArray) -> IntArray:
    """The stratum of each block, ``int64[B]``: its table, or 0 for all if a table has one block only."""
    _, strata, sizes = np.unique(tables, return_inverse=True, return_counts=True)
    return strata.astype(np.int64) if len(sizes) and sizes.min() >= 2 else np.zeros(len(tables), dtype=np.int64)


def degrees_of(strata: IntArray) -> int:
    """Degrees of freedom: blocks less strata."""
    return len(strata) - len(np.unique(strata))


def block_weights(strata: IntArray, rng: np.random.Generator, draws: int = DRAWS) -> Iterator[FloatArray]:
    """Weight of each block in each resampled arena, ``float64[some draws, B]`` at a time, `draws` rows in all.

    Args:
        strata: ``int64[B]``, each with at least two blocks.
        rng: source of the draws.
        draws: number of arenas.
    """
    at_once = max(1, CELLS_AT_ONCE // max(1, len(strata)))
    members = [np.flatnonzero(strata == label) for label in np.unique(strata)]
    for first in range(0, draws, at_once):
        weights = np.zeros((min(at_once, draws - first), len(strata)))
        for mine in members:
            weights[:, mine] = stratum_weights(len(mine), rng, len(weights))
        yield weights


def stratum_weights(blocks: int, rng: np.random.Generator, draws: int) -> FloatArray:
    """Weights of the blocks of one stratum, ``float64[draws, blocks]``; each row sums to `blocks`."""
    chosen = rng.integers(0, blocks, size=(draws, blocks - 1)) + blocks * np.arange(draws)[:, None]
    counts = np.bincount(chosen.ravel(), minlength=draws * blocks).reshape(draws, blocks)
    return counts.astype(np.float64) * (blocks / (blocks - 1))


def resampled_sums(
    sums: sparse.csr_array, strata: IntArray, rng: np.random.Generator, draws: int = DRAWS
) -> FloatArray:
    """Sums of block values ``float64[B, Q]`` in resampled arenas, ``float64[draws, Q]``; no rows for one block."""
    if degrees_of(strata) < 1:
        return np.empty((0, sums.shape[1]))
    return np.concatenate([weights @ sums for weights in block_weights(strata, rng, draws)])


def shares_of(
    sums: tuple[FloatArray, FloatArray], drawn: tuple[FloatArray, FloatArray], degrees: int, blocks: IntArray
) -> Shares:
    """Shares between 0 and 1 with intervals.

    Args:
        sums: numerators and denominators, ``float64[Q]`` each.
        drawn: the same in resampled arenas, ``float64[R, Q]`` each.
        degrees: see `degrees_of`.
        blocks: ``int64[Q]``, blocks that say something about each quantity; where all say the same, the interval is
            `luna_ai.stats.constant_interval`.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, values = sums[0] / sums[1], drawn[0] / drawn[1]
    if not len(values) or degrees < 1:
        return Shares(mean, np.full(len(mean), np.nan), np.full(len(mean), np.nan))
    values = np.where(np.isnan(values), mean, values)
    low, high = percentile_ends(values, degrees + 1)
    for index in np.flatnonzero((np.ptp(values, axis=0) < 1e-12) & (blocks > 0)):
        low[index], high[index] = constant_interval(mean[index], int(blocks[index]), np.array([0.0, 1.0]))
    return Shares(mean, low, high)
