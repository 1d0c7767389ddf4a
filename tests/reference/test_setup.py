"""Random set-ups are uniform, reproducible and as the sheet says."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from scipy.stats import chisquare

from tests.reference.games import load_sheet, reference

DRAWS = 5000


@pytest.fixture(scope="module")
def drawn():
    twin, rng = reference(), random.Random(20)
    return [twin.new(rng, 3, "standard") for _ in range(DRAWS)]


def start_owners(position):
    return tuple(tile.owner for tile in position.tiles.values() if tile.at == "temple")


FEATURES = {
    "ring, first three": (lambda position: position.ring[:3], 7 * 6 * 5),
    "ring, last two": (lambda position: position.ring[5:], 7 * 6),
    "priestess": (lambda position: position.priestess, 7),
    "builder and apostate": (lambda position: (position.builder, position.apostate), 49),
    "ordered boards": (lambda position: position.boards, 4 * 3 * 2),
    "start tiles": (start_owners, 6),
    "start player": (lambda position: position.start_player, 3),
    "start player and start tiles": (lambda position: (position.start_player, start_owners(position)), 18),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_standard_set_ups_are_uniform(drawn, feature):
    value, number = FEATURES[feature]
    counts = Counter(map(value, drawn))
    assert len(counts) == number
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_the_same_generator_gives_the_same_set_up():
    twin = reference()
    assert twin.new(random.Random(7), 4, "standard") == twin.new(random.Random(7), 4, "standard")


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("setup", ["standard", "preselected"])
def test_set_ups_are_valid(players, setup):
    twin = reference()
    for seed in range(50):
        position = twin.new(random.Random(seed), players, setup)
        assert twin.valid_setup(twin.dump(position)) == []
        assert position.book_bonus == (players == 2)
        assert position.time_tokens == (3 if players == 2 else 4)
        order = [(position.start_player + turn) % players for turn in range(players)]
        assert position.council[0] == order


def test_preselected_set_up_follows_the_sheet():
    position = reference().new(random.Random(3), 4, "preselected")
    assert position.ring == ("tide", "novice", "sailboat", "herbs", "book", "bribery", "shrine")
    assert (position.priestess, position.builder, position.apostate) == ("tide", "herbs", "bribery")
    assert [seat.shrines for seat in position.seats] == [{"novice"}, {"sailboat"}, {"book"}, {"shrine"}]
    assert position.seats[0].favors == {"herbs", "shrine"}
    assert position.phase == "action"


def test_sheets_with_string_keys_are_the_same_sheets():
    sheet = dict(load_sheet("reconstructed"))
    for key in ("time_tokens", "moon_priestess"):
        sheet[key] = {str(players): value for players, value in sheet[key].items()}
    twin = type(reference())(sheet, reference().rules.options.__dict__)
    assert twin.new(random.Random(7), 2, "standard") == reference().new(random.Random(7), 2, "standard")


def test_the_generator_needs_a_known_number_of_players_and_set_up():
    with pytest.raises(ValueError, match="5 players"):
        reference().new(random.Random(1), 5, "standard")
    with pytest.raises(ValueError, match="'random'"):
        reference().new(random.Random(1), 2, "random")


def test_rule_sets_have_exactly_their_options():
    with pytest.raises(ValueError, match="virtual_moon"):
        reference(virtual_moon=True)
    with pytest.raises(ValueError, match="'offline'"):
        reference(name="offline")
