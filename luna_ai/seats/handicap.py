"""Fair handicap: the influence that each turn position should be given so that all positions win equally often.

With finals ``x`` by turn position and a handicap ``h`` (first position 0), position p wins the share of games in which
``x_p + h_p`` is largest, ties split. These shares are steps in ``h``. They are also the gradient of the convex function

    W(h) = mean over games of max_p (x_p + h_p)

(Williams-Daly-Zachary theorem; McFadden, "Econometric models of probabilistic choice", 1981, section 5.8), so a
handicap with equal shares is a minimum of ``W(h) - sum(h) / N``: there is always one, and local search finds it. The
steps are smoothed by replacing max with ``T log sum exp(. / T)`` (shares become softmax averages; in optimal
transport this is entropic smoothing, Peyré & Cuturi, "Computational Optimal Transport", 2019, chapter 4) with
T = 1 influence, the unit in which handicaps are handed out. It treats all positions alike and splits ties equally;
against finals that spread over tens of influence its bias is far below one point. Newton steps within a trust region
then need a handful of iterations; the bootstrap over blocks (deals) starts from the root of all games.

The handicap assumes that players play on as before. Whether they do is found by playing with it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from luna_ai.stats import CELLS_AT_ONCE, NO_VARIATION, FloatArray, block_counts, percentile_ends

TEMPERATURE = 1.0
HANDICAP_DRAWS = 400
FEWEST_BLOCKS = 10
TOLERANCE = 0.075
"""Where shares jump over 1/N by more than this between whole points of influence, no handicap makes them equal."""

FLAT_STEP = 0.25
FLAT_RESPONSE = 0.02
"""Where a quarter of the standard deviation of the differences moves some share by less than this (0.1 with two
normal positions), the root is one of many."""

SHARE_ERROR = 1e-7
MAX_ITERATIONS = 100


class InvalidFinals(ValueError):
    """Finals of a wrong shape, or that are not finite numbers."""


@dataclass(frozen=True)
class FairHandicap:
    """Influence by turn position that makes win shares equal, the first position's being 0.

    Attributes:
        handicap: ``float64[N]`` the root; the first entry is 0.
        low: ``float64[N]`` lower end of the 95 % interval; NaN where there is none.
        high: ``float64[N]`` upper end of the 95 % interval.
        rounded: the root in whole points, the first entry 0; empty when not identified.
        shares: ``float64[N]`` win shares of the same finals under the rounded root, ties split.
        blocks: number of blocks (deals).
        reason: None, or why the handicap is not identified.
    """

    handicap: FloatArray
    low: FloatArray
    high: FloatArray
    rounded: tuple[int, ...]
    shares: FloatArray
    blocks: int
    reason: str | None

    @property
    def identified(self) -> bool:
        """Whether the finals say what the handicap is."""
        return self.reason is None


def fair_handicap(finals: FloatArray, rng: np.random.Generator, draws: int = HANDICAP_DRAWS) -> FairHandicap:
    """Handicap that equalises win shares, with its interval from the bootstrap over blocks.

    Not identified (with a reason) with fewer than FEWEST_BLOCKS blocks, when all games end alike, when win shares are
    flat around the root (FLAT_RESPONSE) or jump over 1/N (by more than TOLERANCE), or when an interval is wider than
    a standard deviation of the differences between positions.

    Args:
        finals: ``float64[B, G, N]`` final influence of the G games of B blocks by turn position, without handicap.
        rng: source of the bootstrap draws.
        draws: number of bootstrap draws.

    Raises:
        InvalidFinals: for another shape or values that are not finite.
    """
    values = as_finals(finals)
    blocks, games_per_block, positions = values.shape
    games = values.reshape(-1, positions)
    if blocks < FEWEST_BLOCKS:
        return unidentified(positions, blocks, f"fewer than {FEWEST_BLOCKS} blocks")
    spread = float((games[:, 1:] - games[:, :1]).std(axis=0).max())
    if spread == 0:
        return unidentified(positions, blocks, f"{NO_VARIATION}: every game ends with the same differences")
    root = solve(games, np.ones((1, len(games))), np.zeros((1, positions - 1)))[0]
    roots = np.concatenate(list(bootstrap_roots(games, games_per_block, root, rng, draws)))
    low, high = percentile_ends(roots, blocks)
    handicap = np.concatenate([[0.0], root])
    whole = np.rint(handicap)
    return FairHandicap(
        handicap=handicap,
        low=np.concatenate([[0.0], low]),
        high=np.concatenate([[0.0], high]),
        rounded=tuple(int(points) for points in whole),
        shares=win_shares(games, whole),
        blocks=blocks,
        reason=doubt(games, handicap, float((high - low).max()), spread),
    )


def as_finals(finals: FloatArray) -> FloatArray:
    """The argument as ``float64[B, G, N]``; raises InvalidFinals if it is no such array of finite numbers."""
    values = np.asarray(finals, dtype=np.float64)
    if values.ndim != 3 or values.shape[1] == 0 or values.shape[2] < 2:
        raise InvalidFinals(f"finals must have shape [blocks, games, positions >= 2], got {values.shape}")
    if not np.isfinite(values).all():
        raise InvalidFinals("finals must be finite numbers")
    return values


def unidentified(positions: int, blocks: int, reason: str) -> FairHandicap:
    """The answer when nothing can be computed."""
    nothing = np.full(positions, math.nan)
    return FairHandicap(nothing, nothing, nothing, (), nothing, blocks, reason)


def doubt(games: FloatArray, handicap: FloatArray, width: float, spread: float) -> str | None:
    """Why a computed root must not be believed, or None."""
    response = smallest_response(games, handicap, FLAT_STEP * spread)
    if response < FLAT_RESPONSE:
        return f"win shares are flat: {FLAT_STEP * spread:.1f} influence moves one by only {response:.3f}"
    jump = smallest_deviation(games, handicap)
    if jump > TOLERANCE:
        return f"win shares jump over equality: every whole handicap near the root leaves one {jump:.2f} away from it"
    if width > spread:
        return f"interval of {width:.1f} influence is wider than the spread of the finals ({spread:.1f})"
    return None


def smallest_response(games: FloatArray, handicap: FloatArray, points: float) -> float:
    """Over the positions: the least by which a position's win share grows from `points` below the root to as much
    above it, halved."""
    moves = points * np.eye(len(handicap))
    grown = [
        win_shares(games, handicap + move)[position] - win_shares(games, handicap - move)[position]
        for position, move in enumerate(moves)
    ]
    return float(min(grown)) / 2


def smallest_deviation(games: FloatArray, handicap: FloatArray) -> float:
    """Over the whole handicaps around a root: the least possible largest distance of a win share from 1/N."""
    corners = np.stack(np.meshgrid(*([0, 1] for _ in handicap[1:]), indexing="ij"), axis=-1).reshape(
        -1, len(handicap) - 1
    )
    deviations = []
    for corner in corners:
        whole = np.floor(handicap) + np.concatenate([[0], corner])
        deviations.append(np.abs(win_shares(games, whole) - 1 / len(handicap)).max())
    return float(min(deviations))


def win_shares(games: FloatArray, handicap: FloatArray) -> FloatArray:
    """Exact win shares of finals under a handicap, ties split.

    Args:
        games: ``float64[G, N]`` finals by turn position.
        handicap: ``float64[N]`` added influence by turn position.
    """
    totals = games + handicap
    best = totals == totals.max(axis=1, keepdims=True)
    shares: FloatArray = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def bootstrap_roots(
    games: FloatArray, games_per_block: int, root: FloatArray, rng: np.random.Generator, draws: int
) -> Iterator[FloatArray]:
    """Roots of resampled blocks, ``float64[some draws, N-1]`` at a time, `draws` rows in all."""
    at_once = max(1, CELLS_AT_ONCE // (8 * games.size))
    for counts in block_counts(len(games) // games_per_block, rng, draws):
        for first in range(0, len(counts), at_once):
            weights = np.repeat(counts[first : first + at_once], games_per_block, axis=1)
            yield solve(games, weights, np.tile(root, (len(weights), 1)))


def solve(games: FloatArray, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Handicaps of equal smoothed win shares for R weightings of the same games at once.

    Minimises the convex function of the module docstring by Newton steps in a trust region (a step that does not
    descend is taken back and the region shrinks), until shares are within SHARE_ERROR of 1/N.

    Args:
        games: ``float64[G, N]`` finals by turn position.
        weights: ``float64[R, G]`` weight of each game; need not sum to 1.
        start: ``float64[R, N-1]`` where to start, positions 1 ... N-1.

    Returns:
        ``float64[R, N-1]``.
    """
    weights = weights / weights.sum(axis=1, keepdims=True)
    root, radius = start.copy(), np.full(len(start), 16 * TEMPERATURE)
    value, slope, curvature = derivatives(games, weights, root)
    active = np.abs(slope).max(axis=1) > SHARE_ERROR
    for _ in range(MAX_ITERATIONS):
        if not active.any():
            break
        tried = root[active] + step(slope[active], curvature[active], radius[active])
        new = derivatives(games, weights[active], tried)
        better = new[0] <= value[active] + 1e-12 * np.abs(value[active])
        moved = np.flatnonzero(active)[better]
        root[moved], value[moved], slope[moved], curvature[moved] = tried[better], *(part[better] for part in new)
        radius[active] *= np.where(better, 2.0, 0.25)
        active &= (np.abs(slope).max(axis=1) > SHARE_ERROR) & (radius > 1e-9)
    return root


def step(slope: FloatArray, curvature: FloatArray, radius: FloatArray) -> FloatArray:
    """Newton steps ``float64[R, N-1]``, shortened to a largest entry of `radius`; along the slope where it is flat."""
    ridge = 1e-10 * np.eye(slope.shape[1])
    newton = -np.linalg.solve(curvature + ridge, slope[..., None])[..., 0]
    length = np.abs(newton).max(axis=1)
    shortened: FloatArray = newton * np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
    return shortened


def derivatives(
    games: FloatArray, weights: FloatArray, handicap: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Value ``[R]``, slope ``[R, N-1]`` and curvature ``[R, N-1, N-1]`` of the smoothed function at R handicaps.

    The slope is the smoothed win share minus 1/N.
    """
    positions = games.shape[1]
    scaled = [np.broadcast_to(games[:, 0] / TEMPERATURE, weights.shape)]
    scaled += [(games[:, p] + handicap[:, p - 1, None]) / TEMPERATURE for p in range(1, positions)]
    highest = np.maximum.reduce(scaled)
    powers = [np.exp(column - highest) for column in scaled]
    total = np.add.reduce(powers)
    value = TEMPERATURE * np.einsum("rg,rg->r", weights, np.log(total) + highest) - handicap.sum(axis=1) / positions
    weighted = weights / total
    shares = np.stack([np.einsum("rg,rg->r", weighted, power) for power in powers[1:]], axis=1)
    weighted /= total
    products = [[np.einsum("rg,rg,rg->r", weighted, a, b) for b in powers[1:]] for a in powers[1:]]
    curvature = np.einsum("rp,pq->rpq", shares, np.eye(positions - 1)) - np.moveaxis(np.array(products), -1, 0)
    return value, shares - 1 / positions, curvature / TEMPERATURE
