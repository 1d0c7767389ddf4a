"""Fair handicap on simulated finals with a known answer."""

import itertools

import numpy as np
import pytest

from luna_ai.seats.handicap import InvalidFinals, fair_handicap, solve, win_shares

pytestmark = pytest.mark.filterwarnings("error")


def simulated_finals(rng, blocks, true_handicap, spread=18.0):
    """Finals `[blocks, N, N]` that `true_handicap` makes fair: what the deal gives a seat travels over positions."""
    players = len(true_handicap)
    deal, table = rng.normal(0, 6, (blocks, players)), rng.normal(60, 10, (blocks, 1))
    games = [np.roll(deal, -start, axis=1) + table + rng.gumbel(0, spread, deal.shape) for start in range(players)]
    return np.rint(np.stack(games, axis=1) - np.array(true_handicap))


@pytest.mark.parametrize("true_handicap", [(0, 5), (0, -7), (0, 3, 8), (0, 4, -6, 11)])
def test_known_handicap_is_found(true_handicap):
    rng = np.random.default_rng(len(true_handicap))
    found = fair_handicap(simulated_finals(rng, 3000, true_handicap), rng, draws=200)
    assert found.identified
    assert found.handicap == pytest.approx(np.array(true_handicap), abs=1.5)
    assert ((found.low <= true_handicap) & (true_handicap <= found.high)).all()
    assert found.shares == pytest.approx(1 / len(true_handicap), abs=0.02)
    assert found.rounded[0] == found.handicap[0] == 0


def test_interval_covers_and_narrows():
    rng = np.random.default_rng(7)
    truth = np.array([0, 3, -5])
    small = [fair_handicap(simulated_finals(rng, 40, truth), rng, draws=200) for _ in range(400)]
    covered = np.mean([(found.low <= truth) & (truth <= found.high) for found in small], axis=0)[1:]
    assert (covered >= 0.92).all()
    assert (covered <= 0.98).all()
    large = fair_handicap(simulated_finals(rng, 1000, truth), rng, draws=200)
    narrowing = (large.high - large.low)[1:] / np.mean([found.high - found.low for found in small], axis=0)[1:]
    assert narrowing == pytest.approx(np.sqrt(40 / 1000), rel=0.3)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_root_is_the_best_handicap_in_a_grid(players):
    """Exact shares, ties split, are nowhere in a grid clearly closer to equal than at the rounded root."""
    rng = np.random.default_rng(20 + players)
    finals = simulated_finals(rng, 400, [0, 2, -3, 4][:players])
    found = fair_handicap(finals, rng, draws=20)
    games = finals.reshape(-1, players)

    def deviation(handicap):
        return np.abs(win_shares(games, np.array(handicap)) - 1 / players).max()

    steps = itertools.product(*[range(whole - 4, whole + 5) for whole in found.rounded[1:]])
    assert deviation(found.rounded) <= min(deviation((0, *step)) for step in steps) + 0.02


def test_win_shares_split_ties():
    games = np.array([[3.0, 3.0, 1.0], [0.0, 5.0, 2.0], [4.0, 4.0, 4.0]])
    assert win_shares(games, np.zeros(3)) == pytest.approx([(1 / 2 + 1 / 3) / 3, (1 / 2 + 1 + 1 / 3) / 3, 1 / 9])


def test_two_players_get_the_median_difference():
    rng = np.random.default_rng(30)
    games = np.rint(rng.normal([50, 44], 15, (5001, 2)))
    root = solve(games, np.ones((1, 5001)), np.zeros((1, 1)))
    assert root[0, 0] == pytest.approx(np.median(games[:, 0] - games[:, 1]), abs=0.6)


def test_solver_reaches_far_roots_from_any_start():
    rng = np.random.default_rng(31)
    games = rng.normal([0, 300, -200, 40], 12, (300, 4))
    starts = np.array([[0.0, 0, 0], [-900, 900, 0], [50, -50, 2000]])
    roots = solve(games, np.ones((3, 300)), starts)
    assert roots[1:] == pytest.approx(np.tile(roots[0], (2, 1)), abs=1e-3)
    assert roots[0] == pytest.approx([-300, 200, -40], abs=5)


def test_same_generator_same_handicap():
    finals = simulated_finals(np.random.default_rng(32), 50, (0, 3))
    first, second = (fair_handicap(finals, np.random.default_rng(1)) for _ in range(2))
    assert (first.low[1], first.high[1]) == (second.low[1], second.high[1])


def one_sided(rng, blocks, differences):
    """Finals of two players whose difference takes one of a few values."""
    return np.stack([rng.choice(differences, (blocks, 2)), np.zeros((blocks, 2))], axis=2)


@pytest.mark.parametrize(
    ("finals", "reason"),
    [
        (simulated_finals(np.random.default_rng(1), 9, (0, 3)), "fewer than 10 blocks"),
        (np.tile([10.0, 3.0], (30, 2, 1)), "no variation"),
        (one_sided(np.random.default_rng(2), 200, [-40, 40]), "wider than the spread"),
        (one_sided(np.random.default_rng(3), 200, [-40, 40, 40]), "jump"),
        (np.tile([[90.0, 20.0], [20.0, 90.0]], (30, 1, 1)), "flat"),
    ],
)
def test_not_identified(finals, reason):
    found = fair_handicap(finals, np.random.default_rng(1))
    assert not found.identified
    assert reason in (found.reason or "")


@pytest.mark.parametrize("bad", [np.ones((3, 2)), np.ones((3, 2, 1)), np.full((3, 2, 2), np.inf)])
def test_bad_finals_are_refused(bad):
    with pytest.raises(InvalidFinals, match="finals must"):
        fair_handicap(bad, np.random.default_rng(1))
