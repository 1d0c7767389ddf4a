"""Ratings over time: versions, anchors and the version before, on one scale."""

from __future__ import annotations

import numpy as np
import pytest

from luna_ai.evaluation import PREVIOUS, AgainstAnchor
from luna_ai.rating_curve import RatingCurve
from luna_ai.ratings import POINTS


def games(anchor: str, players: int, advantage: float, deals: int = 60, seed: int = 1) -> AgainstAnchor:
    """Games of a version whose strength is exp(advantage) of its opponents', drawn from Plackett and Luce's model."""
    rng = np.random.default_rng([seed, players, round(1000 * advantage) + 10_000])
    strength = np.ones(players)
    strength[0] = np.exp(advantage)
    places = np.empty((deals, players), dtype=np.int64)
    for game in np.ndindex(deals, players):
        order = rng.choice(players, size=players, replace=False, p=strength / strength.sum())
        places[game] = 1 + int(np.flatnonzero(order == 0)[0])
    share = float((places == 1).mean())
    rows = tuple(tuple(row) for row in places.tolist())
    return AgainstAnchor(anchor, players, places.size, share, 0.0, 1.0, (share,) * players, rows)


def test_a_planted_strength_is_found_at_every_table_size():
    curve = RatingCurve(("random", "greedy"), seed=1)
    met = [games(anchor, n, value) for anchor, value in (("random", 1.5), ("greedy", -1.0)) for n in (2, 3, 4)]
    rated = curve.add(10, met, None)
    assert list(rated) == ["2p", "3p", "4p", "all"]
    for rating in rated.values():
        assert rating.low < rating.points < rating.high
        assert rating.low < -1.0 * POINTS < rating.high
    assert rated["all"].high - rated["all"].low < rated["2p"].high - rated["2p"].low


def test_versions_that_beat_every_anchor_are_told_apart_by_the_games_between_them():
    curve = RatingCurve(("greedy",), seed=1)
    first = curve.add(10, [games("greedy", 2, 9.0, deals=20)], None)["all"]
    second = curve.add(20, [games("greedy", 2, 9.0, deals=20), games(PREVIOUS, 2, 1.5)], 10)["all"]
    assert second.points > first.points + 100


def test_a_curve_goes_on_from_plain_data():
    whole, before = (RatingCurve(("greedy",), seed=3) for _ in range(2))
    for curve in (whole, before):
        curve.add(10, [games("greedy", 3, 0.5, deals=8)], None)
    after = RatingCurve(("greedy",), 3, before.to_plain())
    later = [games("greedy", 3, 0.8, deals=8), games(PREVIOUS, 3, 0.2, deals=8)]
    assert whole.add(20, later, 10) == after.add(20, later, 10)
    assert RatingCurve(("greedy",), 3).add(10, [], None) == {}


def test_a_single_deal_has_no_interval():
    rated = RatingCurve(("greedy",), 1).add(1, [games("greedy", 2, 0.1, deals=1)], None)
    assert rated["2p"].points == pytest.approx(rated["all"].points)
    assert np.isfinite(rated["all"].points)
    assert np.isnan([rated["all"].low, rated["all"].high]).all()
