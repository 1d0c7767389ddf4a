"""The sequential test on simulated matches: how often it errs, when it stops, degenerate scores."""

import math

import numpy as np
import pytest

from luna_ai.arena.sequential import SequentialTest
from luna_ai.stats import mean_intervals

pytestmark = pytest.mark.filterwarnings("error")

MATCHES = 2000


def block_scores(rng, matches, blocks, games, share, correlation):
    """Win shares of blocks `[matches, blocks]` whose games have a deal in common that favours or hinders."""
    weight = 1 / correlation - 1
    chance = rng.beta(share * weight, (1 - share) * weight, (matches, blocks))
    return rng.binomial(games, chance) / games


def ends(test, scores):
    """Verdicts of many matches: shares of better and not better, and the mean number of blocks."""
    blocks = test.stops(scores)
    last = np.take_along_axis(test.running(scores), blocks[:, None] - 1, axis=1)[:, 0]
    return np.mean(last >= test.upper), np.mean(last <= test.lower), blocks.mean()


@pytest.mark.parametrize("correlation", [0.02, 0.1])
@pytest.mark.parametrize(("players", "games"), [(2, 4), (3, 9), (4, 16)])
def test_error_rates_are_nominal_with_games_that_depend_on_their_deal(players, games, correlation):
    test = SequentialTest(1 / players, 0.05, games, max_blocks=700)
    rng = np.random.default_rng(players)
    equal = block_scores(rng, MATCHES, 700, games, test.equal, correlation)
    better = block_scores(rng, MATCHES, 700, games, test.equal + 0.05, correlation)
    false_better, right_not, _ = ends(test, equal)
    right_better, false_not, _ = ends(test, better)
    assert 0.015 <= false_better <= 0.065
    assert 0.03 <= false_not <= 0.085
    assert right_not >= 0.92
    assert right_better >= 0.91


def test_a_worse_player_is_found_out_sooner_and_hardly_ever_called_better():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=700)
    rng = np.random.default_rng(5)
    worse = ends(test, block_scores(rng, MATCHES, 700, 16, 0.2, 0.1))
    equal = ends(test, block_scores(rng, MATCHES, 700, 16, 0.25, 0.1))
    assert worse[0] < 0.005
    assert worse[2] < equal[2]


def first(hits):
    """Index of the first hit of each row, a large one where there is none."""
    return np.where(hits.any(axis=1), hits.argmax(axis=1), 10**6)


def test_games_taken_as_independent_would_err_far_more_often():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=700)
    scores = block_scores(np.random.default_rng(6), MATCHES, 700, 16, 0.25, 0.3)
    blocks = np.arange(1, 701)
    mean = np.cumsum(scores - 0.25, axis=1) / blocks
    naive = blocks * 16 * 0.05 * (mean - 0.025) / (0.25 * 0.75)
    crossed, lower = first(naive[:, 29:] >= test.upper), first(naive[:, 29:] <= test.lower)
    assert np.mean(crossed < lower) > 0.15
    assert ends(test, scores)[0] < 0.06


def test_ratio_by_hand():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=100)
    scores = np.array([0.25, 0.375, 0.3125])
    mean, squares = 0.0625, 0.125**2 / 2  # of the distances 0, 1/8, 1/16 from 1/4
    variance = (squares + 0.25 * 0.75 / 16) / 3
    assert test.running(scores)[-1] == pytest.approx(3 * 0.05 * (mean - 0.025) / variance)
    assert (test.upper, test.lower) == pytest.approx((math.log(20), -math.log(20)))


def test_nothing_is_decided_before_the_first_look_nor_without_a_block():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=100)
    early = test.decide(np.ones(29))
    assert (early.verdict, early.blocks, early.ended, early.p_value) == ("undecided", 29, False, 1.0)
    assert test.decide(np.ones(30)).verdict == "better"
    none = test.decide(np.empty(0))
    assert (none.verdict, none.blocks, none.ended) == ("undecided", 0, False)
    assert math.isnan(none.p_value)


@pytest.mark.parametrize(("score", "verdict"), [(1.0, "better"), (0.0, "not better"), (0.25, "not better")])
def test_scores_without_variation_are_decided(score, verdict):
    test = SequentialTest(0.25, 0.05, 16, max_blocks=100)
    assert test.decide(np.full(100, score)).verdict == verdict


def test_blocks_behind_the_decision_do_not_count():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=400)
    scores = block_scores(np.random.default_rng(1), 1, 400, 16, 0.3, 0.05)[0]
    found = test.decide(scores)
    assert found.ended
    assert found.blocks < 400
    assert test.decide(scores[: found.blocks]) == found
    assert not test.decide(scores[: found.blocks - 1]).ended


def test_the_maximum_ends_a_match_undecided():
    test = SequentialTest(0.25, 0.001, 16, max_blocks=40)
    found = test.decide(block_scores(np.random.default_rng(1), 1, 100, 16, 0.25, 0.05)[0])
    assert (found.verdict, found.blocks, found.ended) == ("undecided", 40, True)


def test_p_values_hold_however_often_one_looks():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=10**9, alpha=1e-300, beta=1e-300)
    scores = block_scores(np.random.default_rng(8), 1000, 300, 16, 0.25, 0.1)
    p_values = np.array([test.decide(row).p_value for row in scores])
    assert np.mean(p_values <= 0.05) <= 0.065
    assert np.mean(p_values <= 0.01) <= 0.02


def test_the_interval_of_a_stopped_match_covers_nearly_as_often_as_it_says():
    test = SequentialTest(0.25, 0.05, 16, max_blocks=700)
    rng = np.random.default_rng(9)
    scores = block_scores(rng, 400, 700, 16, 0.28, 0.1)
    stops = test.stops(scores)
    found = [mean_intervals(row[:end, None], rng, draws=400) for row, end in zip(scores, stops, strict=True)]
    assert 0.89 <= np.mean([each.low[0] <= 0.28 <= each.high[0] for each in found]) <= 0.98
