"""Block statistics on simulated seat studies: false alarms, power, coverage, degenerate input."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from luna_ai.stats import (
    NO_VARIATION,
    TOO_FEW,
    InvalidBlocks,
    equality_test,
    holm,
    hotelling_test,
    mean_intervals,
    permutation_test,
    wilson_interval,
)

pytestmark = pytest.mark.filterwarnings("error")


def simulated_wins(rng, studies, blocks, players, effect=0.0, position_spread=10.0):
    """Wins `[studies, blocks, games, positions]` of studies in which games of a deal depend on each other.

    Each deal favours seats (it travels over the positions as the starter moves on) and positions (it stays).
    """
    shape = (studies, blocks, players)
    by_seat, by_position = rng.normal(0, 8, shape), rng.normal(0, position_spread, shape)
    planted = effect * np.arange(players)
    games = [
        np.roll(by_seat, -start, axis=2) + by_position + planted + rng.normal(0, 10, shape) for start in range(players)
    ]
    influence = np.stack(games, axis=2)
    return influence == influence.max(axis=-1, keepdims=True)


def share_of_alarms(test, wins):
    return float(np.mean([test(study.mean(axis=1)).p_value <= 0.05 for study in wins]))


@pytest.mark.parametrize(("players", "blocks"), [(2, 30), (3, 120), (4, 200)])
def test_equality_test_has_five_percent_false_alarms(players, blocks):
    rng = np.random.default_rng(players)
    wins = simulated_wins(rng, 5000, blocks, players)
    assert 0.04 <= share_of_alarms(lambda means: equality_test(means, rng), wins) <= 0.06


@pytest.mark.parametrize(("players", "blocks"), [(3, 10), (4, 40)])
def test_equality_test_has_five_percent_false_alarms_with_few_blocks(players, blocks):
    rng = np.random.default_rng(players + 3)
    wins = simulated_wins(rng, 3000, blocks, players)
    assert 0.04 <= share_of_alarms(lambda means: equality_test(means, rng, permutations=99), wins) <= 0.06


def test_games_taken_as_independent_give_twice_as_many_false_alarms():
    wins = simulated_wins(np.random.default_rng(6), 1000, 40, 4).sum(axis=(1, 2))
    alarms = np.mean(scipy_stats.chisquare(wins, axis=1).pvalue <= 0.05)
    assert alarms > 0.1


def test_equality_test_finds_a_planted_effect():
    rng = np.random.default_rng(7)
    small, large = (simulated_wins(rng, 300, 100, 4, effect) for effect in (1.0, 3.0))
    power = [share_of_alarms(lambda means: equality_test(means, rng), wins) for wins in (small, large)]
    assert power[0] > 0.2
    assert power[1] > 0.95


def test_hotelling_agrees_with_the_paired_t_test_for_two_positions():
    shares = np.random.default_rng(8).integers(0, 3, 25) / 2
    found = hotelling_test(np.stack([shares, 1 - shares], axis=1))
    expected = scipy_stats.ttest_1samp(shares, 0.5)
    assert found.statistic == pytest.approx(expected.statistic**2)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_hotelling_is_one_sample_t_squared_for_influence_too():
    rng = np.random.default_rng(9)
    influence = rng.normal([50, 52, 47], 5, (30, 3))
    assert hotelling_test(influence).p_value < 0.01
    assert hotelling_test(influence - influence.mean(axis=0)).p_value == pytest.approx(1)


@pytest.mark.parametrize("players", [2, 4])
def test_intervals_cover(players):
    rng = np.random.default_rng(10 + players)
    wins = simulated_wins(rng, 1500, 60, players, effect=-2.0)
    truth = simulated_wins(rng, 50, 20000 // players, players, effect=-2.0).mean(axis=(0, 1, 2))
    found = [mean_intervals(study.mean(axis=1), rng, draws=400) for study in wins]
    covered = np.mean([(interval.low <= truth) & (truth <= interval.high) for interval in found], axis=0)
    assert (covered >= 0.925).all()
    assert (covered <= 0.97).all()


def test_intervals_are_the_expanded_percentiles_of_scipys_bootstrap():
    shares = np.random.default_rng(13).random((20, 1))
    ours = mean_intervals(shares, np.random.default_rng(1), draws=20000)
    tail = scipy_stats.norm.cdf(math.sqrt(20 / 19) * scipy_stats.t.ppf(0.025, 19))
    theirs = scipy_stats.bootstrap(
        (shares[:, 0],), np.mean, method="percentile", confidence_level=1 - 2 * tail, n_resamples=20000, rng=2
    )
    assert ours.low[0] == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high[0] == pytest.approx(theirs.confidence_interval.high, abs=0.01)


def test_same_generator_same_intervals():
    means = np.random.default_rng(14).random((50, 3))
    first, second = (mean_intervals(means, np.random.default_rng(1)) for _ in range(2))
    assert first.low.tolist() == second.low.tolist()


def test_memory_slices_do_not_change_the_draws(monkeypatch):
    means = np.random.default_rng(15).random((50, 3))
    whole = mean_intervals(means, np.random.default_rng(1))
    monkeypatch.setattr("luna_ai.stats.CELLS_AT_ONCE", 1000)
    assert mean_intervals(means, np.random.default_rng(1)).low == pytest.approx(whole.low)


@pytest.mark.parametrize("blocks", [0, 1])
def test_too_few_blocks_give_no_interval_and_no_p_value(blocks):
    means = np.full((blocks, 3), 1 / 3)
    found = mean_intervals(means, np.random.default_rng(1))
    assert np.isnan(found.low).all()
    assert found.reasons == (TOO_FEW,) * 3
    assert hotelling_test(means).reason == "needs more than 3 blocks"


def test_no_variation_without_bounds_gives_no_interval():
    found = mean_intervals(np.full((20, 2), 0.5), np.random.default_rng(1))
    assert found.mean.tolist() == [0.5, 0.5]
    assert np.isnan(found.low).all()
    assert found.reasons == (NO_VARIATION,) * 2


def test_no_variation_with_bounds_gives_the_rule_of_three():
    bounds = np.array([[0.0, 1.0], [0.0, 1.0]])
    means = np.tile([1.0, 0.0], (100, 1))
    found = mean_intervals(means, np.random.default_rng(1), bounds=bounds)
    assert found.low[0] == pytest.approx(0.05 ** (1 / 100))
    assert found.high.tolist() == pytest.approx([1, 1 - 0.05 ** (1 / 100)])


def test_all_ties_are_equal_for_sure():
    found = equality_test(np.full((20, 4), 0.25), np.random.default_rng(1))
    assert (found.method, found.p_value) == ("permutation", 1.0)
    assert found.reason == "all quantities are equal in every block"


def test_singular_covariance_falls_back_to_permutations():
    shares = np.random.default_rng(16).random(40)
    found = equality_test(np.stack([shares, 1 - shares, np.zeros(40)], axis=1), np.random.default_rng(1))
    assert found.method == "permutation"
    assert found.reason == "singular covariance of block means"
    assert found.p_value < 0.001


def test_always_the_same_winner_is_unequal_and_never_zero():
    found = equality_test(np.tile([1.0, 0.0], (30, 1)), np.random.default_rng(1), permutations=999)
    assert found.p_value == pytest.approx(1 / 1000)


def test_one_quantity_and_no_blocks_have_no_test():
    rng = np.random.default_rng(1)
    assert math.isnan(equality_test(np.ones((5, 1)), rng).p_value)
    assert math.isnan(permutation_test(np.ones((0, 3)), rng).p_value)


@pytest.mark.parametrize("bad", [np.ones(3), np.ones((2, 0)), np.array([[1.0, np.nan]])])
def test_bad_block_means_are_refused(bad):
    with pytest.raises(InvalidBlocks, match="block means"):
        mean_intervals(bad, np.random.default_rng(1))


def test_holm_worked_example():
    """Holm 1979 on 0.01, 0.04, 0.03, 0.005 of four comparisons, worked by hand."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    with_gap = holm([0.03, math.nan, 0.9])
    assert with_gap[0] == pytest.approx(0.06)
    assert math.isnan(with_gap[1])


def test_wilson_worked_example():
    """Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662."""
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert all(math.isnan(end) for end in wilson_interval(0, 0))
    with pytest.raises(InvalidBlocks, match="got 4"):
        wilson_interval(4, 3)
