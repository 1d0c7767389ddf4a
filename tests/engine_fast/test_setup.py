"""Set-ups that the engine draws: everything random is uniform and independent (rules, section 2)."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare

from engine_fast import Position, load_game
from engine_fast.batch import set_up_batch
from engine_fast.check import problems
from engine_fast.layout import BOARD_ORDERS, FIELD, FIRST_BOARD_ORDER, NUM_BOARD_ORDERS, STATE_WORDS
from engine_fast.position import generator_of
from engine_fast.setup import PRESELECTED, SETUPS, STANDARD, set_up_into
from tests.engine_fast.schedule import sheet_of

DEALS = 20 * factorial(7)
LIKELY = 1e-4
"""The seeds are fixed: a fair engine passes for ever, one that is skewed by a per cent or two does not."""


def deals(players: int, setup: int = STANDARD, starter: int = -1, number: int = DEALS) -> NDArray[np.uint64]:
    """Set-up positions `uint64[number, STATE_WORDS]`."""
    generators = np.random.SeedSequence(players).generate_state(number, np.uint64).reshape(-1, 1)
    states = np.zeros((number, STATE_WORDS), dtype=np.uint64)
    set_up_batch(states, players, setup, np.full(number, starter, np.int64), generators, load_game().rules)
    return states


def column(states: NDArray[np.uint64], name: str, index: int = 0) -> NDArray[np.int64]:
    """A field of all positions."""
    word, shift = FIELD[name].place(index)
    values = states[:, word] >> np.uint64(shift) & np.uint64((1 << FIELD[name].bits) - 1)
    return values.astype(np.int64)


def uniform(values: NDArray[np.int64], size: int) -> float:
    """p value of "all numbers below `size` are equally likely"."""
    assert values.max() < size
    return float(chisquare(np.bincount(values, minlength=size)).pvalue)


def as_number(columns: list[NDArray[np.int64]], base: int) -> NDArray[np.int64]:
    """Several columns of digits as one number."""
    number = np.zeros_like(columns[0])
    for digits in columns:
        number = number * base + digits
    return number


def ranks_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values, numbered."""
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_order_of_the_ring_is_equally_likely(players: int):
    states = deals(players)
    orders = ranks_of(as_number([column(states, "ring", place) for place in range(7)], 7))
    assert orders.max() == factorial(7) - 1
    assert uniform(orders, factorial(7)) > LIKELY
    for place in range(7):
        assert uniform(column(states, "ring", place), 7) > LIKELY


@pytest.mark.parametrize("setup", [STANDARD, PRESELECTED])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_ordered_choice_of_boards_is_equally_likely(players: int, setup: int):
    orders = column(deals(players, setup), "board_order") - FIRST_BOARD_ORDER[players]
    assert uniform(orders, NUM_BOARD_ORDERS[players]) > LIKELY
    assert orders.min() == 0


@pytest.mark.parametrize("setup", [STANDARD, PRESELECTED])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_deal_of_the_start_tiles_is_equally_likely(players: int, setup: int):
    """By boards too: which player has which of the tiles in play."""
    states = deals(players, setup)
    dealt = as_number([column(states, "temple", seat) for seat in range(players)], 16)
    ways = factorial(players) * (6 if players == 2 else 4 if players == 3 else 1)
    assert uniform(ranks_of(dealt), ways) > LIKELY


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_figures_are_drawn_uniformly_and_independently(players: int):
    """343 places of three figures, among the kinds and among the places of the ring."""
    states = deals(players)
    places = [column(states, name) for name in ("priestess", "builder", "apostate")]
    assert uniform(as_number(places, 7), 343) > LIKELY
    ring = np.stack([column(states, "ring", place) for place in range(7)], axis=1)
    kinds = [ring[np.arange(len(ring)), place] for place in places]
    assert uniform(as_number(kinds, 7), 343) > LIKELY


@pytest.mark.parametrize("setup", [STANDARD, PRESELECTED])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_start_player_is_equally_likely(players: int, setup: int):
    states = deals(players, setup)
    starters = column(states, "start_player")
    assert uniform(starters, players) > LIKELY
    assert (column(states, "to_move") == starters).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_draws_do_not_depend_on_each_other(players: int):
    states = deals(players)
    drawn = {
        "starter": column(states, "start_player"),
        "boards": column(states, "board_order") - FIRST_BOARD_ORDER[players],
        "first isle": column(states, "ring", 0),
        "last isle": column(states, "ring", 6),
        "priestess": column(states, "priestess"),
        "apostate": column(states, "apostate"),
        "tile of seat 0": ranks_of(column(states, "temple", 0)),
    }
    dependent = {("first isle", "last isle")} | ({("boards", "tile of seat 0")} if players < 4 else set())
    names = list(drawn)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            table = np.zeros((drawn[one].max() + 1, drawn[other].max() + 1), dtype=np.int64)
            np.add.at(table, (drawn[one], drawn[other]), 1)
            assert (chi2_contingency(table).pvalue > LIKELY) == ((one, other) not in dependent), (one, other)


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_one_seed_gives_one_deal_for_every_start_player(players: int, setup: str):
    for seed in range(20):
        dealt = [Position.new(players, setup, seed, start_player=starter).to_json() for starter in range(players)]
        for starter, position in enumerate(dealt):
            assert (position["start_player"], position["to_move"]) == (starter, starter)
            assert position["council"][0] == [(starter + turn) % players for turn in range(players)]
        depends = ("start_player", "to_move", "council")
        deals_alone = [{key: value for key, value in p.items() if key not in depends} for p in dealt]
        assert all(deal == deals_alone[0] for deal in deals_alone)
        drawn = Position.new(players, setup, seed).to_json()
        assert drawn == dealt[drawn["start_player"]]


def test_a_batch_draws_what_single_set_ups_draw():
    rules, generators = load_game().rules, np.arange(1, 9, dtype=np.uint64).reshape(-1, 1)
    states, alone = np.zeros((8, STATE_WORDS), np.uint64), np.zeros(STATE_WORDS, np.uint64)
    starters = np.array([-1, 0, 1, 2, -1, 0, 1, 2])
    set_up_batch(states, 3, STANDARD, starters, generators.copy(), rules)
    for row in range(8):
        generator = generators[row].copy()
        set_up_into(alone, 3, STANDARD, int(starters[row]), generator, rules)
        assert (alone == states[row]).all()
        assert generator[0] != generators[row, 0]
        assert problems(alone, rules) == []


def test_seeds():
    """A seed gives the same deal again, other seeds other deals, no seed another one every time."""
    new = Position.new
    assert new(3, seed=5) == new(3, seed=5)
    assert len({new(3, seed=seed) for seed in range(50)}) == 50
    assert new(3) != new(3)
    assert (generator_of(5) == generator_of(5)).all()
    assert generator_of(None)[0] != generator_of(None)[0]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("sheet", ["reconstructed", "rosette"])
def test_the_preselected_set_up_is_that_of_the_sheet(players: int, sheet: str):
    plan, position = sheet_of(sheet)["preselected"], Position.new(players, "preselected", 1, sheet).to_json()
    assert position["ring"] == plan["ring"]
    assert {name: position[name] for name in plan["figures"]} == plan["figures"]
    kinds = sorted(plan["ring"], key=["book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide"].index)
    for line, seat in zip(plan["seats"], position["seats"], strict=False):
        assert seat["shrines"] == [line["shrine"]]
        assert seat["active"] == [2 * (kind in line["novices"]) for kind in kinds]
        assert seat["favors"] == [kind for kind in kinds if kind not in [line["shrine"], *line["novices"]]]
    assert tuple(position["boards"]) in BOARD_ORDERS
