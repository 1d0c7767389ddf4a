"""RULES.md section 2, and section 8 for what a fresh position says."""

from __future__ import annotations

import pytest

from .builder import BOARDS, KINDS, time_tokens_of
from .table import Game

SEEDS = range(6)
each_count = pytest.mark.parametrize("players", [2, 3, 4])
each_setup = pytest.mark.parametrize("setup", ["standard", "preselected"])


@each_count
def test_standard_players_start_with_five_influence_and_empty_isles(game: Game, players: int) -> None:
    """§2.1 "5 influence, 13 novices, 6 shrines, no favor"; one of the 13 lies in the Temple (§2.2)."""
    for seat in game.new(players).json["seats"]:
        assert (seat["influence"], seat["supply"], seat["landing"]) == (5, 12, 0)
        assert sum(seat["active"]) + sum(seat["inactive"]) == 0
        assert seat["shrines"] == seat["favors"] == []


@each_count
@each_setup
def test_only_tiles_of_the_chosen_boards_are_in_play(game: Game, players: int, setup: str) -> None:
    """§2.2 "Only tiles of the chosen boards are in play: 7N tiles"."""
    for seed in SEEDS:
        position = game.new(players, setup, seed).json
        assert len(set(position["boards"])) == len(position["boards"]) == players
        in_play = {str(tile) for board in position["boards"] for tile in BOARDS[board]}
        assert set(position["tiles"]) == in_play
        assert len(in_play) == 7 * players


@each_count
@each_setup
def test_each_player_starts_in_the_temple_on_a_tile_1_to_4_with_a_book(game: Game, players: int, setup: str) -> None:
    """§2.2 "placed on its Temple space with a novice of that player (from the 13) and a Book under it"."""
    for seed in SEEDS:
        tiles = game.new(players, setup, seed).json["tiles"]
        low = {number: tile for number, tile in tiles.items() if int(number) <= 4}
        assert sorted(tile["owner"] for tile in low.values()) == list(range(players))
        assert all(tile["at"] == "temple" and tile["book"] is True for tile in low.values())
        assert all(tile == {"at": "path"} for number, tile in tiles.items() if int(number) > 4)


@each_count
def test_start_tiles_are_dealt_at_random(game: Game, players: int) -> None:
    """§2.2 "Each player gets one of these at random": not always in seat order."""
    deals = {str(game.new(players, "preselected", seed).json["tiles"]) for seed in range(20)}
    assert len(deals) > 1


@each_count
@each_setup
def test_time_tokens_and_round_and_actions_at_the_start(game: Game, players: int, setup: str) -> None:
    """§2.4, §2.5 "4, or 3 with two players"; §8 "all of them in the preliminary round", ``actions`` 0."""
    position = game.new(players, setup).json
    assert (position["round"], position["actions"], position["pending"]) == (1, 0, None)
    assert position["time_tokens"] == time_tokens_of(players) == {2: 3, 3: 4, 4: 4}[players]


@each_count
@each_setup
def test_council_is_stacked_in_turn_order_on_seat_0(game: Game, players: int, setup: str) -> None:
    """§2.6 "beginning with the start player and clockwise ... the last player of the order lies on top"."""
    starters = set()
    for seed in SEEDS:
        position = game.new(players, setup, seed).json
        start = position["start_player"]
        starters.add(start)
        assert position["council"][0] == [(start + i) % players for i in range(players)]
        assert not any(position["council"][1:])
    assert len(starters) > 1, "§2.8: the start player is drawn"


@pytest.mark.parametrize(("sheet", "seats"), [("reconstructed", 13), ("rosette", 10)])
def test_council_has_the_seats_of_the_sheet(game: Game, sheet: str, seats: int) -> None:
    """§8 ``council``: "for each seat of the sheet"."""
    assert len(game.new(3, sheet=sheet).json["council"]) == seats


@each_count
@each_setup
def test_book_bonus_is_true_only_with_two_players(game: Game, players: int, setup: str) -> None:
    """§8 ``book_bonus``: "true in the preliminary round" with two players; "otherwise false"."""
    assert game.new(players, setup).json["book_bonus"] is (players == 2)


@each_count
def test_standard_begins_with_shrines_by_the_start_player(game: Game, players: int) -> None:
    """§2.8 "then the preliminary round is played" "Beginning with the start player"."""
    for seed in SEEDS:
        position = game.new(players, seed=seed).json
        assert position["phase"] == "shrines"
        assert position["to_move"] == position["start_player"]


def test_standard_draws_ring_figures_and_boards(game: Game) -> None:
    """§2.8 "ring, boards and their slots, ... figures' isles, start player are drawn at random"."""
    positions = [game.new(3, seed=seed).json for seed in range(30)]
    assert all(sorted(position["ring"]) == sorted(KINDS) for position in positions)
    for key in ("ring", "boards", "priestess", "builder", "apostate", "start_player"):
        assert len({str(position[key]) for position in positions}) > 1, key


def test_several_figures_may_share_an_isle(game: Game) -> None:
    """§2.8 "figures uniformly and independently; several may share an isle"."""
    positions = [game.new(2, seed=seed).json for seed in range(80)]
    isles = [[position[figure] for figure in ("priestess", "builder", "apostate")] for position in positions]
    assert any(len(set(three)) < 3 for three in isles)


PRESELECTED = [
    ("novice", {"tide", "sailboat", "book", "bribery"}, ["herbs", "shrine"]),
    ("sailboat", {"tide", "herbs", "bribery", "shrine"}, ["book", "novice"]),
    ("book", {"tide", "novice", "herbs", "shrine"}, ["bribery", "sailboat"]),
    ("shrine", {"tide", "novice", "sailboat", "book"}, ["bribery", "herbs"]),
]


@each_count
def test_preselected_seat_i_takes_line_i(game: Game, players: int) -> None:
    """§2.8 "seat i takes line i, and each player receives the favors of the two isles where he has no piece"."""
    for seed in SEEDS:
        seats = game.new(players, "preselected", seed).json["seats"]
        for seat, (shrine, isles, favors) in zip(seats, PRESELECTED[:players], strict=True):
            assert seat["shrines"] == [shrine]
            assert seat["active"] == [2 if kind in isles else 0 for kind in KINDS]
            assert seat["favors"] == favors
            assert (seat["influence"], seat["supply"], sum(seat["inactive"])) == (5, 4, 0)


@pytest.mark.parametrize("sheet", ["reconstructed", "rosette"])
def test_preselected_ring_and_figures_come_from_the_sheet(game: Game, sheet: str) -> None:
    """§2.8 "ring, figures, shrines and novices ... from the component sheet"."""
    position = game.new(4, "preselected", sheet=sheet).json
    assert position["ring"] == ["tide", "novice", "sailboat", "herbs", "book", "bribery", "shrine"]
    assert (position["priestess"], position["builder"], position["apostate"]) == ("tide", "herbs", "bribery")


@each_count
def test_preselected_begins_with_the_action_phase(game: Game, players: int) -> None:
    """§2.8 "no preliminary round, the first phase is ``action``. Boards, start tiles and start player are drawn"."""
    positions = [game.new(players, "preselected", seed).json for seed in range(20)]
    assert all(p["phase"] == "action" and p["to_move"] == p["start_player"] for p in positions)
    for key in ("boards", "start_player"):
        assert len({str(position[key]) for position in positions}) > 1, key
