"""RULES.md section 2, preliminary round."""

from __future__ import annotations

import pytest

from .builder import ALL_KINDS_BUT, KINDS, position, seat
from .table import Game


def shrine_on(*kinds: str) -> set[str]:
    return {f"place-shrine {kind}" for kind in kinds}


def novices_on(*kinds: str) -> set[str]:
    return {f"place-novices {kind}" for kind in kinds}


@pytest.mark.parametrize("players", [3, 4])
def test_shrine_on_any_isle(game: Game, players: int) -> None:
    """§2 Preliminary: "each player places one shrine on an isle that holds no shrine"."""
    assert game(position(players, phase="shrines")).legal() == shrine_on(*KINDS)


def test_shrine_not_where_anybodys_shrine_stands(game: Game) -> None:
    """§2 Preliminary: "an isle that holds no shrine", whosever."""
    seats = [seat(shrines=["herbs"]), seat(shrines=["book"])]
    table = game(position(3, phase="shrines", to_move=2, seats=seats))
    assert table.legal() == shrine_on("bribery", "novice", "sailboat", "shrine", "tide")


@pytest.mark.parametrize("to_move", [0, 1])
def test_two_players_put_no_shrine_on_herbs(game: Game, to_move: int) -> None:
    """§2 Preliminary: "With two players it may not be ``herbs``"."""
    seats = [seat(shrines=["tide"])] if to_move == 1 else []
    table = game(position(2, phase="shrines", to_move=to_move, seats=seats))
    assert table.legal() == shrine_on(*ALL_KINDS_BUT["herbs"]) - (shrine_on("tide") if to_move else set())


def test_place_shrine_changes_the_shrine_only(game: Game) -> None:
    """§2 Preliminary: one shrine, then the next player clockwise; ``actions`` stays 0 (§8)."""
    table = game(position(3, phase="shrines", start_player=1, to_move=1))
    table.step("place-shrine sailboat", {"1.shrines.sailboat": True, "to_move": 2})


def test_shrines_go_round_clockwise_from_the_start_player(game: Game) -> None:
    """§2 Preliminary: "Beginning with the start player, clockwise", over the last seat to seat 0."""
    table = game(position(4, phase="shrines", start_player=2))
    order = [table.json["to_move"]]
    for kind in ("book", "tide", "herbs"):
        table = table.play(f"place-shrine {kind}")
        order.append(table.json["to_move"])
    assert order == [2, 3, 0, 1]


def test_after_the_last_shrine_the_start_player_begins_with_novices(game: Game) -> None:
    """§2 Preliminary: "Then, beginning with the start player, ..."."""
    seats = [seat(shrines=["tide"]), seat(), seat(shrines=["book"])]
    table = game(position(3, phase="shrines", start_player=2, to_move=1, seats=seats))
    table.step("place-shrine herbs", {"1.shrines.herbs": True, "phase": "novices", "to_move": 2})


def test_novices_not_where_own_pieces_are_shrine_included(game: Game) -> None:
    """§2 Preliminary: "an isle that holds none of his own pieces (shrine included). Others' pieces do not matter"."""
    seats = [
        seat({"tide": 2, "herbs": 2}, shrines=["book"]),
        seat({"novice": 2, "sailboat": 2}, shrines=["bribery"]),
    ]
    table = game(position(2, phase="novices", seats=seats))
    assert table.legal() == novices_on("bribery", "novice", "sailboat", "shrine")


def test_two_players_may_put_novices_on_herbs(game: Game) -> None:
    """§2 Preliminary: the ban of ``herbs`` is said of the shrine only."""
    table = game(position(2, phase="novices", seats=[seat(shrines=["book"]), seat(shrines=["tide"])]))
    assert table.legal() == novices_on(*ALL_KINDS_BUT["book"])


def test_place_novices_places_two_active_from_supply(game: Game) -> None:
    """§2 Preliminary: "each player places two novices (active)"."""
    table = game(position(2, phase="novices", seats=[seat(shrines=["book"]), seat(shrines=["tide"])]))
    table.step("place-novices tide", {"0.active.tide": 2, "0.supply": "-2", "to_move": 1})


def test_last_placement_grants_favors_to_all_and_starts_round_1(game: Game) -> None:
    """§2 Preliminary: "each player receives one favor token from each of the two isles where he has no piece. The
    action phase of round 1 begins with the start player." Time tokens, actions and the Book bonus stay."""
    seats = [
        seat({"book": 2, "bribery": 2, "novice": 2}, shrines=["tide"]),
        seat({"book": 2, "bribery": 2, "tide": 2, "herbs": 2}, shrines=["novice"]),
    ]
    table = game(position(2, phase="novices", start_player=1, to_move=0, seats=seats))
    table.step(
        "place-novices herbs",
        {
            "0.active.herbs": 2,
            "0.supply": "-2",
            "0.favors.sailboat": True,
            "0.favors.shrine": True,
            "1.favors.sailboat": True,
            "1.favors.shrine": True,
            "phase": "action",
            "to_move": 1,
        },
    )


def test_no_favor_before_everybody_has_placed(game: Game) -> None:
    """§2 Preliminary: "Then each player receives": not as soon as his own novices stand."""
    seats = [
        seat({"book": 2, "bribery": 2, "novice": 2}, shrines=["tide"]),
        seat({"book": 2, "bribery": 2, "tide": 2}, shrines=["novice"]),
    ]
    table = game(position(2, phase="novices", seats=seats))
    table.step("place-novices herbs", {"0.active.herbs": 2, "0.supply": "-2", "to_move": 1})


@pytest.mark.parametrize("players", [2, 3, 4])
def test_four_times_around(game: Game, players: int) -> None:
    """§2 Preliminary: "four times around"; after it "8 active novices, 1 shrine, 2 favors, ... 4 novices in supply"."""
    table = game(position(players, phase="shrines", start_player=1))
    for _ in range(players):
        table = table.play(max(table.legal()))
    movers = []
    while table.json["phase"] == "novices":
        movers.append(table.json["to_move"])
        table = table.play(min(table.legal()))
    assert movers == [(1 + i) % players for i in range(players)] * 4
    assert (table.json["phase"], table.json["to_move"], table.json["actions"]) == ("action", 1, 0)
    for one in table.json["seats"]:
        assert (sum(one["active"]), one["supply"], len(one["shrines"]), len(one["favors"])) == (8, 4, 1, 2)
