"""Ratings: the library's likelihood, planted strengths, copies, who always wins, who never met, intervals."""

import math

import choix
import numpy as np
import pytest

from luna_ai.arena.resampling import degrees_of, resampled_sums
from luna_ai.ratings import (
    POINTS,
    InvalidRankings,
    choices_of,
    groups_of,
    most_likely,
    penalty_of,
    rate,
    read_choices,
    resampled_strengths,
    tiers_of,
)

STRENGTHS = np.array([0.9, 0.3, 0.0, -0.4, -0.8])


def rankings(rng, tables, theta):
    """Players from first to last, drawn by the model: order of log strength plus Gumbel noise."""
    drawn = theta[tables] + rng.gumbel(size=tables.shape)
    return np.take_along_axis(tables, np.argsort(-drawn, axis=1), axis=1)


def random_tables(rng, games, seats, players=5):
    return np.array([rng.choice(players, seats, replace=False) for _ in range(games)])


def one_block(ranking, players=5):
    return read_choices([ranking], [np.zeros(len(ranking), dtype=np.int64)], players, 1)


def test_estimate_is_that_of_the_library():
    rng = np.random.default_rng(1)
    ranking = rankings(rng, random_tables(rng, 150, 4), STRENGTHS)
    theirs = choix.opt_rankings(5, [tuple(map(int, row)) for row in ranking], alpha=penalty_of(400), tol=1e-9)
    assert most_likely(one_block(ranking)) == pytest.approx(theirs, abs=1e-6)


def test_newton_for_many_draws_finds_the_same_maximum():
    rng = np.random.default_rng(2)
    choices = one_block(rankings(rng, random_tables(rng, 200, 3), STRENGTHS))
    counts = np.stack([choices.total, rng.poisson(choices.total), 50 * choices.total])
    found = resampled_strengths(choices, counts, np.zeros(5))
    assert found[0] == pytest.approx(most_likely(choices), abs=1e-6)
    for row, strengths in zip(counts, found, strict=True):
        changed = one_block_of(choices, row)
        assert strengths == pytest.approx(most_likely(changed), abs=1e-6)


def one_block_of(choices, counts):
    from dataclasses import replace

    from scipy import sparse

    return replace(choices, counts=sparse.csr_array(counts[None, :]))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_planted_strengths_are_found(seats):
    rng = np.random.default_rng(seats)
    found = most_likely(one_block(rankings(rng, random_tables(rng, 20_000, seats), STRENGTHS)))
    assert found == pytest.approx(STRENGTHS - STRENGTHS.mean(), abs=0.06)


@pytest.mark.parametrize("table", [(0, 1, 1), (0, 1, 1, 1), (0, 0, 1, 1), (1, 0, 0, 0)])
def test_copies_at_a_table_do_not_distort(table):
    rng = np.random.default_rng(5)
    theta = np.array([0.5, -0.5])
    found = most_likely(one_block(rankings(rng, np.tile(table, (20_000, 1)), theta), 2))
    assert found == pytest.approx(theta, abs=0.04)


def test_choices_of_a_ranking_by_hand():
    assert choices_of((2, 0, 1)) == {(2, frozenset({0, 1, 2})): 1, (0, frozenset({0, 1})): 1}
    merged = choices_of((1, 0, 1))  # the first copy is ahead of 0, the second behind
    assert merged == {(1, frozenset({0, 1})): 0.5, (0, frozenset({0, 1})): 0.5}
    assert choices_of((3, 3)) == {}


@pytest.mark.parametrize("games", [1, 20, 5000])
def test_who_always_wins_is_held_by_the_prior_and_has_no_interval(games):
    """The maximum of n log(1 / (1 + exp(-d))) - alpha d^2 / 2 in the difference d."""
    choices = read_choices([np.tile([0, 1], (games, 1))], [np.arange(games)], 2, games)
    found = rate(choices, np.tile(choices.total, (10, 1)), games - 1)
    difference = (found.points[0] - found.points[1]) / POINTS
    assert games / (1 + math.exp(difference)) == pytest.approx(penalty_of(400) * difference, rel=1e-3)
    assert np.isnan(found.low).all()
    assert all("only the prior" in str(reason) for reason in found.reasons)


def test_only_those_outside_the_largest_tier_lose_their_interval():
    rng = np.random.default_rng(6)
    beaten = np.column_stack([rng.integers(0, 3, 60), np.full(60, 3)])
    ranking = np.concatenate([beaten, rankings(rng, random_tables(rng, 300, 2, 3), STRENGTHS[:3])])
    choices = read_choices([ranking], [np.arange(len(ranking)) // 4], 4, 90)
    assert tiers_of(choices).tolist() == [0, 0, 0, 1]
    drawn = resampled_sums(choices.counts, np.zeros(90, dtype=np.int64), rng, 100)
    found = rate(choices, drawn, 89)
    assert [reason is None for reason in found.reasons] == [True, True, True, False]
    assert np.isfinite(found.low[:3]).all()


def test_players_who_never_met_are_rated_in_groups():
    choices = one_block(np.array([[0, 1], [1, 0], [2, 4], [4, 3], [3, 2], [4, 2]]))
    assert groups_of(choices).tolist() == [1, 1, 0, 0, 0]
    found = rate(choices, np.empty((0, 5)), 0)
    assert found.points[:2].sum() == pytest.approx(0)
    assert found.points[2:].sum() == pytest.approx(0)
    assert np.isnan(found.low).all()


def test_a_player_without_games_stands_alone():
    found = rate(one_block(np.array([[0, 1], [1, 0]]), 3), np.empty((0, 3)), 0)
    assert found.group.tolist() == [0, 0, 1]
    assert found.reasons[2] == "met nobody"


def simulated_arena(seed, blocks=40, games=9):
    """Ratings of one simulated arena of four players; games of a block share the form of the day."""
    rng = np.random.default_rng(seed)
    tables = np.array([(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)])[np.arange(blocks) % 4]
    form = STRENGTHS[:4] + rng.normal(0, 0.5, (blocks, 4))
    drawn = np.take_along_axis(form, tables, axis=1)[:, None] + rng.gumbel(size=(blocks, games, 3))
    order = np.argsort(-drawn, axis=2)
    ranking = np.take_along_axis(np.broadcast_to(tables[:, None], order.shape), order, axis=2).reshape(-1, 3)
    choices = read_choices([ranking], [np.repeat(np.arange(blocks), games)], 4, blocks)
    strata = np.arange(blocks) % 4
    return rate(choices, resampled_sums(choices.counts, strata, rng, 200), degrees_of(strata))


@pytest.mark.parametrize("arenas", [80, pytest.param(1500, marks=pytest.mark.slow)])
def test_intervals_cover(arenas):
    """The target is the mean estimate: with form that varies the model's own parameters are a little smaller."""
    found = [simulated_arena(seed) for seed in range(arenas)]
    truth = np.mean([each.points for each in found], axis=0)
    inside = np.mean([(each.low <= truth) & (truth <= each.high) for each in found])
    assert 0.92 <= inside <= 0.98


@pytest.mark.parametrize(
    ("ranking", "block", "message"),
    [
        (np.array([[0, 5]]), np.array([0]), "players must be from 0 to 4, got 0 to 5"),
        (np.array([[0, 1]]), np.array([1]), "blocks must be from 0 to 0, got 1 to 1"),
        (np.array([[0], [1]]), np.array([0, 0]), "must be \\[games, seats\\]"),
        (np.array([[2, 2]]), np.array([0]), "no game between different players"),
    ],
)
def test_impossible_rankings_are_refused(ranking, block, message):
    with pytest.raises(InvalidRankings, match=message):
        read_choices([ranking], [block], 5, 1)
