"""Ratings over time: every network that a training evaluates is a player, rated with the anchors from all its games.

A version meets the anchors and the version before it, so all are connected. Ratings are Plackett-Luce's in points of
Elo's scale (`luna_ai.ratings`, prior included); 0 is the last anchor of the config. What is told of a version is the
rating at the time of its evaluation; later games move the ratings of earlier versions a little, not their curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from luna_ai.arena.resampling import degrees_of, resampled_sums, strata_of
from luna_ai.evaluation import PREVIOUS, AgainstAnchor
from luna_ai.ratings import POINTS, IntArray, most_likely, read_choices, resampled_strengths
from luna_ai.stats import percentile_ends

DRAWS = 200
CURVE_KEY = 7


class Rating(NamedTuple):
    """A version's points above the last anchor, with a 95 % interval by deals (NaN for a single deal)."""

    points: float
    low: float
    high: float


class Met(NamedTuple):
    """The games of one version against one opponent with N players."""

    step: int
    opponent: str
    players: int
    places: tuple[tuple[int, ...], ...]  # [deals][N] place of the version


class RatingCurve:
    """All evaluations of a run so far."""

    def __init__(self, anchors: Sequence[str], seed: int, met: Sequence[Sequence[Any]] = ()) -> None:
        """An empty curve, or the one whose `to_plain` is given.

        Args:
            anchors: names of the bots; the last one is the zero of the scale.
            seed: of the run, for the intervals.
            met: what `to_plain` gave.
        """
        self._anchors, self._seed = tuple(anchors), seed
        self._met = [Met(step, who, n, tuple(tuple(row) for row in places)) for step, who, n, places in met]

    def to_plain(self) -> list[list[Any]]:
        """Plain data, for a checkpoint."""
        return [[m.step, m.opponent, m.players, [list(row) for row in m.places]] for m in self._met]

    def add(self, step: int, evaluated: Sequence[AgainstAnchor], previous: int | None) -> dict[str, Rating]:
        """Takes the games of one version and rates it.

        Args:
            step: of the version.
            evaluated: its games.
            previous: step of the version that `PREVIOUS` stands for.

        Returns:
            By number of players ("2p", ...) and over all ("all"); empty without games.
        """
        for found in evaluated:
            opponent = version_name(previous) if found.anchor == PREVIOUS else found.anchor
            self._met.append(Met(step, str(opponent), found.players, found.places))
        counts = sorted({found.players for found in evaluated})
        rated = {f"{n}p": self._rate(step, [met for met in self._met if met.players == n]) for n in counts}
        return rated | ({"all": self._rate(step, self._met)} if counts else {})

    def _rate(self, step: int, met: Sequence[Met]) -> Rating:
        names = sorted({name for m in met for name in (m.opponent, version_name(m.step))} | {self._anchors[-1]})
        number = {name: index for index, name in enumerate(names)}
        rankings = [ranking_rows(m, number) for m in met]
        sizes = [len(m.places) for m in met]
        first = np.cumsum([0, *sizes])
        blocks = [at + np.repeat(np.arange(size), m.players) for at, size, m in zip(first, sizes, met, strict=False)]
        choices = read_choices(rankings, blocks, len(names), int(first[-1]))
        theta = most_likely(choices)
        mine, zero = number[version_name(step)], number[self._anchors[-1]]
        strata = strata_of(np.repeat(np.arange(len(met)), sizes))
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(CURVE_KEY, step)))
        counts = resampled_sums(choices.counts, strata, rng, DRAWS)
        points = POINTS * float(theta[mine] - theta[zero])
        if not len(counts):
            return Rating(points, float("nan"), float("nan"))
        drawn = resampled_strengths(choices, counts, theta)
        low, high = percentile_ends(POINTS * (drawn[:, [mine]] - drawn[:, [zero]]), degrees_of(strata) + 1)
        return Rating(points, float(low[0]), float(high[0]))


def version_name(step: int | None) -> str:
    """Name of a version among the players that are rated."""
    return f"step {step}"


def ranking_rows(met: Met, number: dict[str, int]) -> IntArray:
    """The games as rankings `int64[G, N]` from the winner on: the version at its place, its opponents elsewhere."""
    places = np.array(met.places, dtype=np.int64).reshape(-1)
    rows = np.full((len(places), met.players), number[met.opponent])
    rows[np.arange(len(places)), places - 1] = number[version_name(met.step)]
    return rows
