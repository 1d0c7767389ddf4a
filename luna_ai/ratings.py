"""Ratings: how strong players are, from who was placed ahead of whom at tables of two to four.

The model is Plackett and Luce's: player i has the strength ``exp(theta_i)``; the winner of a table is drawn with
probabilities proportional to strengths, then the second among the rest, and so on (Luce 1959; Plackett, "The analysis
of permutations", Appl. Stat. 24 (1975); likelihood as in Maystre & Grossglauser, "Fast and accurate inference of
Plackett-Luce models", NeurIPS 2015, section 2). Likelihood and derivatives come from the library `choix`.

- *Points* are Elo's scale: 400 points are odds of 10 to 1 of being placed ahead. The mean of all players is 0.
- *Prior*: each theta is normal with mean 0 and a standard deviation of `PRIOR_SPREAD` points. It weighs as much as
  about one game and keeps players who always win, or never, at finite ratings. (In the terms of `choix`: the penalty
  ``alpha |theta|^2`` with ``alpha = 1 / (2 spread^2)``, spread in natural units.)
- *Copies* of a player at one table are merged: the ranking is read once for each way to keep one copy of each player,
  with equal weights that sum to one game. Under the model the order among any part of a table follows the same
  strengths, so nothing is distorted, whereas the best of several copies would be a better player.
- *Connection*: players who never met, directly or through others, cannot be compared. They get ratings within groups
  of their own, numbered from the largest.
- *Intervals* come from resampled blocks (`luna_ai.arena.resampling`). Where a player was placed ahead of all others (or
  behind them) in every game, only the prior says how far; it has no interval and `reasons` says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from choix.opt import Top1Fcts
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from luna_ai.stats import CELLS_AT_ONCE, FloatArray, percentile_ends

POINTS = 400 / math.log(10)
"""Points of a natural unit of log strength."""

PRIOR_SPREAD = 400.0
MOST_STEPS, LONGEST_STEP, SMALL_STEP = 50, 2.0, 1e-6
TOO_FEW = "fewer than two blocks"

IntArray = NDArray[np.int64]


class InvalidRankings(ValueError):
    """Rankings from which no ratings can be computed."""


@dataclass(frozen=True)
class Choices:
    """Rankings taken apart into choices "this one, among these", which is all the model needs of them.

    Attributes:
        num_players: number of players K.
        winner: ``int64[S]`` who was chosen.
        members: ``bool[S, K]`` among whom, the winner included.
        counts: sparse ``float64[B, S]``, how often each block has each choice.
    """

    num_players: int
    winner: IntArray
    members: NDArray[np.bool_]
    counts: sparse.csr_array

    @property
    def total(self) -> FloatArray:
        """How often each choice occurs in all blocks, ``float64[S]``."""
        return np.asarray(self.counts.sum(axis=0)).ravel()


@dataclass(frozen=True)
class Ratings:
    """Ratings in points, one entry a player.

    Attributes:
        points: ``float64[K]``, mean 0 in each group.
        low: ``float64[K]`` lower end of the 95 % interval, NaN where there is none.
        high: ``float64[K]`` upper end.
        group: ``int64[K]``, 0 for the largest group of connected players; only ratings of one group compare.
        reasons: None, or why a player has no interval.
    """

    points: FloatArray
    low: FloatArray
    high: FloatArray
    group: IntArray
    reasons: tuple[str | None, ...]


def read_choices(
    rankings: Sequence[IntArray], blocks: Sequence[IntArray], num_players: int, num_blocks: int
) -> Choices:
    """Takes the rankings of games apart.

    Args:
        rankings: for each size of table ``int64[G, N]``, players from the winner to the last; copies are allowed.
        blocks: for each of them ``int64[G]``, the block of each game.
        num_players: number of players K.
        num_blocks: number of blocks B.

    Raises:
        InvalidRankings: an array has another shape, or a player or block is out of range.
    """
    places: list[tuple[IntArray, IntArray, FloatArray]] = []
    known: dict[tuple[int, frozenset[int]], int] = {}
    for ranking, block in zip(rankings, blocks, strict=True):
        check_rankings(ranking, block, num_players, num_blocks)
        different, which = np.unique(ranking, axis=0, return_inverse=True)
        parts = [choices_of(tuple(int(player) for player in row)) for row in different]
        for row, part in enumerate(parts):
            games = block[which.ravel() == row]
            for choice, weight in part.items():
                column = known.setdefault(choice, len(known))
                places.append((games, np.full(len(games), column), np.full(len(games), weight)))
    return gathered(places, known, num_players, num_blocks)


def check_rankings(ranking: IntArray, block: IntArray, num_players: int, num_blocks: int) -> None:
    """Raises InvalidRankings unless the arrays are as `read_choices` says."""
    if ranking.ndim != 2 or ranking.shape[1] < 2 or block.shape != ranking.shape[:1]:
        raise InvalidRankings(f"rankings {ranking.shape} and blocks {block.shape} must be [games, seats] and [games]")
    for what, values, number in (("player", ranking, num_players), ("block", block, num_blocks)):
        if values.size and not 0 <= values.min() <= values.max() < number:
            raise InvalidRankings(f"{what}s must be from 0 to {number - 1}, got {values.min()} to {values.max()}")


def choices_of(ranking: tuple[int, ...]) -> dict[tuple[int, frozenset[int]], float]:
    """Weights of the choices in one ranking, copies merged; empty where only copies of one player sat."""
    seats = [[seat for seat, who in enumerate(ranking) if who == player] for player in sorted(set(ranking))]
    ways = list(itertools.product(*seats))
    found: dict[tuple[int, frozenset[int]], float] = {}
    for kept in ways:
        order = [ranking[seat] for seat in sorted(kept)]
        for place, player in enumerate(order[:-1]):
            choice = player, frozenset(order[place:])
            found[choice] = found.get(choice, 0.0) + 1 / len(ways)
    return found


def gathered(
    places: list[tuple[IntArray, IntArray, FloatArray]],
    known: dict[tuple[int, frozenset[int]], int],
    num_players: int,
    num_blocks: int,
) -> Choices:
    """Choices from their places in the table of counts."""
    if not places:
        raise InvalidRankings("no game between different players")
    rows, columns, weights = (np.concatenate(part) for part in zip(*places, strict=True))
    counts = sparse.coo_array((weights, (rows, columns)), shape=(num_blocks, len(known))).tocsr()
    members = np.zeros((len(known), num_players), dtype=np.bool_)
    for (_, among), column in known.items():
        members[column, list(among)] = True
    winner = np.array([player for player, _ in known], dtype=np.int64)
    return Choices(num_players, winner, members, counts)


# --- who can be compared -------------------------------------------------------------------------------------------


def groups_of(choices: Choices) -> IntArray:
    """The group of each player, ``int64[K]``: players who met, directly or through others; 0 is the largest."""
    seen = choices.members[choices.total > 0].astype(np.int64)
    return by_size(sparse.csgraph.connected_components(seen.T @ seen, directed=False)[1])


def tiers_of(choices: Choices) -> IntArray:
    """The tier of each player, ``int64[K]``: within one, each was placed ahead of each, directly or through others.

    Only the prior says how far tiers are apart (Ford, "Solution of a ranking problem from binary comparisons", 1957:
    the maximum of the likelihood exists where there is one tier).
    """
    ahead = np.zeros((choices.num_players, choices.num_players), dtype=np.int64)
    for index in np.flatnonzero(choices.total > 0):
        ahead[choices.winner[index]] |= choices.members[index]
    return by_size(sparse.csgraph.connected_components(ahead, connection="strong")[1])


def by_size(labels: NDArray[np.integer]) -> IntArray:
    """Labels numbered anew: 0 for the most frequent, ties in the order of their first members."""
    sizes = np.bincount(labels)
    first = {int(label): index for index, label in reversed(list(enumerate(labels)))}
    order = sorted(first, key=lambda label: (-sizes[label], first[label]))
    return np.array([order.index(int(label)) for label in labels], dtype=np.int64)


# --- estimates -----------------------------------------------------------------------------------------------------


def penalty_of(spread: float) -> float:
    """`choix`'s alpha for a normal prior with a standard deviation of `spread` points."""
    return 1 / (2 * (spread / POINTS) ** 2)


def most_likely(choices: Choices, spread: float = PRIOR_SPREAD) -> FloatArray:
    """Log strengths ``float64[K]`` of the largest penalised likelihood, by `choix` and its optimiser (Newton-CG).

    `choix` takes one game at a time; equal choices are one term here, times their number.
    """
    alpha, counts = penalty_of(spread), choices.total
    terms = [
        (Top1Fcts([(int(winner), tuple(int(who) for who in np.flatnonzero(members) if who != winner))], 0.0), count)
        for winner, members, count in zip(choices.winner, choices.members, counts, strict=True)
        if count > 0
    ]
    found = minimize(
        lambda theta: alpha * theta @ theta + sum(count * term.objective(theta) for term, count in terms),
        np.zeros(choices.num_players),
        method="Newton-CG",
        jac=lambda theta: 2 * alpha * theta + sum(count * term.gradient(theta) for term, count in terms),
        hess=lambda theta: 2 * alpha * np.eye(len(theta)) + sum(count * term.hessian(theta) for term, count in terms),
        options={"xtol": 1e-9},
    )
    return np.asarray(found.x, dtype=np.float64)


def resampled_strengths(
    choices: Choices, counts: FloatArray, start: FloatArray, spread: float = PRIOR_SPREAD
) -> FloatArray:
    """Log strengths for other numbers of the same choices, by Newton's method for many of them at once.

    Args:
        choices: winners and members.
        counts: ``float64[R, S]``, the number of each choice in each of R resampled arenas.
        start: ``float64[K]``, where Newton's method begins.
        spread: of the prior, in points.

    Returns:
        ``float64[R, K]``.
    """
    at_once = max(1, CELLS_AT_ONCE // choices.members.size)
    slices = [counts[first : first + at_once] for first in range(0, len(counts), at_once)]
    parts = [newton(choices, some, start, spread) for some in slices]
    return np.concatenate(parts) if parts else np.empty((0, choices.num_players))


def newton(choices: Choices, counts: FloatArray, start: FloatArray, spread: float) -> FloatArray:
    """`resampled_strengths` of as many draws as memory holds."""
    theta = np.tile(start, (len(counts), 1))
    won = np.eye(choices.num_players)[choices.winner]
    wins, alpha = counts @ won, penalty_of(spread)
    for _ in range(MOST_STEPS):
        shares = chances(theta, choices.members)  # [R, S, K]
        weighted = counts[:, :, None] * shares
        expected = weighted.sum(axis=1)
        gradient = expected - wins + 2 * alpha * theta
        hessian = -np.swapaxes(weighted, 1, 2) @ shares
        diagonal = np.arange(choices.num_players)
        hessian[:, diagonal, diagonal] += expected + 2 * alpha
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        theta -= np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max(initial=0) < SMALL_STEP:
            break
    return theta


def chances(theta: FloatArray, members: NDArray[np.bool_]) -> FloatArray:
    """Probability of each member of each choice, ``float64[R, S, K]``; 0 outside."""
    strength = np.where(members, np.exp(theta - theta.max(axis=1, keepdims=True))[:, None, :], 0.0)
    shares: FloatArray = strength / strength.sum(axis=2, keepdims=True)
    return shares


def rate(choices: Choices, counts: FloatArray, degrees: int, spread: float = PRIOR_SPREAD) -> Ratings:
    """Ratings with 95 % intervals.

    Args:
        choices: what happened.
        counts: ``float64[R, S]``, the number of each choice in resampled arenas; without rows there are no intervals.
        degrees: degrees of freedom of the resampling (blocks less strata).
        spread: of the prior, in points.
    """
    group, tier, theta = groups_of(choices), tiers_of(choices), most_likely(choices, spread)
    points = POINTS * centred(theta, group)
    low = high = np.full(choices.num_players, np.nan)
    if len(counts) and degrees > 0:
        drawn = POINTS * centred(resampled_strengths(choices, counts, theta, spread), group)
        low, high = percentile_ends(drawn, degrees + 1)
    reasons = tuple(
        why_no_interval(who, group, tier) or (TOO_FEW if np.isnan(low[who]) else None)
        for who in range(choices.num_players)
    )
    hidden = np.array([reason is not None for reason in reasons])
    return Ratings(points, np.where(hidden, np.nan, low), np.where(hidden, np.nan, high), group, reasons)


def centred(theta: FloatArray, group: IntArray) -> FloatArray:
    """Log strengths ``[..., K]`` with mean 0 in each group."""
    moved = theta.copy()
    for label in range(group.max() + 1):
        mine = group == label
        moved[..., mine] -= theta[..., mine].mean(axis=-1, keepdims=True)
    return moved


def why_no_interval(player: int, group: IntArray, tier: IntArray) -> str | None:
    """Why only the prior says how far a player is from the others of its group; None if games do."""
    mine = group == group[player]
    if mine.sum() == 1:
        return "met nobody"
    sizes = np.bincount(tier[mine])
    if tier[player] == sizes.argmax() and sizes.max() > 1:
        return None
    return "always ahead of the others or behind them: only the prior says how far"
