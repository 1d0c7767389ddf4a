"""RULES.md section 5: preparing the next round.

The test ring is tide, novice, sailboat, herbs, book, bribery, shrine, clockwise.
"""

from __future__ import annotations

from typing import Any

import pytest

from .builder import KINDS, position, seat
from .table import Game


def test_everything_that_changes_between_rounds(game: Game) -> None:
    """§5 "prepare the next round": novices active, landing stage stays, figures move, the Guard's round, tokens
    restacked, start player; claimed tiles, favors, shrines, Council and Temple stay."""
    seats = [
        seat({"book": 1}, {"book": 2, "bribery": 1}, shrines=["herbs"], favors=["tide"]),
        seat({}, {"novice": 1}, landing=2, favors=["herbs", "book"]),
    ]
    before = position(
        3,
        round=2,
        start_player=1,
        to_move=2,
        time_tokens=1,
        priestess="sailboat",
        builder="bribery",
        apostate="tide",
        claimed={5: 0},
        council={4: [1, 0], 0: [2]},
        seats=seats,
    )
    game(before).step(
        "meditate",
        {
            "0.active.book": 3,
            "0.inactive.book": 0,
            "0.active.bribery": 1,
            "0.inactive.bribery": 0,
            "1.active.novice": 1,
            "1.inactive.novice": 0,
            "0.influence": "+1",
            "1.influence": "+1",
            "2.influence": "+2",
            "priestess": "tide",
            "builder": "sailboat",
            "apostate": "novice",
            "round": 3,
            "start_player": 0,
            "to_move": 0,
            "time_tokens": 4,
            "actions": 0,
        },
    )


@pytest.mark.parametrize(("players", "isle"), [(2, "herbs"), (3, "herbs"), (4, "book")])
def test_priestess_moves_by_her_number(game: Game, players: int, isle: str) -> None:
    """§5 next round 2: "clockwise by the number on their figure": from bribery 5 isles, with four players 6."""
    assert game(position(players, time_tokens=1, priestess="bribery")).play("meditate").json["priestess"] == isle


@pytest.mark.parametrize("players", [2, 3, 4])
def test_builder_moves_by_four(game: Game, players: int) -> None:
    """§5 next round 2: from book 4 isles over bribery, shrine, tide to novice."""
    assert game(position(players, time_tokens=1, builder="book")).play("meditate").json["builder"] == "novice"


def test_figures_move_along_the_ring_of_the_game(game: Game) -> None:
    """§5 next round 2, §1 "The *ring* is the order of the seven isles": in another ring other isles are reached."""
    before = position(3, time_tokens=1, ring=KINDS, priestess="book", builder="book", apostate="tide")
    after = game(before).play("meditate").json
    assert (after["priestess"], after["builder"]) == ("shrine", "herbs")


def test_priestess_and_builder_move_over_empty_isles_and_may_meet(game: Game) -> None:
    """§5 next round 2: only the Apostate looks for novices; §2.8 "several may share an isle"."""
    before = position(3, time_tokens=1, priestess="tide", builder="novice", seats=[seat({"book": 3})])
    after = game(before).play("meditate").json
    assert (after["priestess"], after["builder"]) == ("bribery", "bribery")


APOSTATE = [
    pytest.param("book", [seat(), seat({"bribery": 1}), seat({"tide": 5})], "bribery", id="the next isle"),
    pytest.param("book", [seat({"novice": 1}), seat({"sailboat": 1})], "novice", id="over empty isles, round the ring"),
    pytest.param("book", [seat(shrines=["bribery"]), seat({"tide": 1})], "tide", id="a shrine is no novice"),
    pytest.param("book", [seat({"book": 2, "herbs": 1})], "herbs", id="away from his own isle, the last of the others"),
    pytest.param("book", [seat({"book": 2})], "book", id="ends with his own"),
    pytest.param(
        "book", [seat(), seat(), seat({}, {"book": 1, "shrine": 1})], "shrine", id="a novice that was inactive"
    ),
    pytest.param("book", [seat(landing=2), seat(shrines=["tide"])], "book", id="no isle has a novice"),
]


@pytest.mark.parametrize(("isle", "seats", "goal"), APOSTATE)
def test_apostate_goes_to_the_next_isle_with_a_novice(game: Game, isle: str, seats: list[Any], goal: str) -> None:
    """§5 next round 3: "to the next isle with at least one novice of *any* player; the search starts at the next isle
    and ends with his own; if no isle has a novice he stays"."""
    assert game(position(3, time_tokens=1, apostate=isle, seats=seats)).play("meditate").json["apostate"] == goal


START_PLAYERS = [
    # rule set, players, start player, who turns the last token, next start player
    ("official", 3, 0, 1, 2),
    ("official", 3, 0, 2, 0),
    ("official", 3, 2, 2, 0),
    ("official", 4, 1, 0, 1),
    ("official", 4, 1, 3, 0),
    ("official", 2, 0, 0, 1),
    ("official", 2, 0, 1, 1),
    ("official", 2, 1, 0, 0),
    ("official", 2, 1, 1, 0),
    ("online", 2, 0, 0, 1),
    ("online", 2, 0, 1, 0),
    ("online", 2, 1, 0, 1),
    ("online", 2, 1, 1, 0),
    ("online", 3, 0, 1, 2),
    ("online", 4, 1, 3, 0),
]


@pytest.mark.parametrize(("ruleset", "players", "start", "last", "following"), START_PLAYERS)
def test_start_player(game: Game, ruleset: str, players: int, start: int, last: int, following: int) -> None:
    """§5 next round 5: 3 and 4 players "the left neighbour (seat + 1) of the player who turned the last Time token"; 2
    players "the other player than the start player of the round that ended", online "the opponent of the player who
    turned the last Time token"."""
    before = position(players, start_player=start, to_move=last, time_tokens=1, book_bonus=False)
    after = game(before, name=ruleset).play("meditate").json
    assert (after["start_player"], after["to_move"]) == (following, following)


def test_two_players_one_may_act_twice_in_a_row(game: Game) -> None:
    """§5 next round 5: "(so one player may act twice in a row)"."""
    table = game(position(start_player=0, to_move=1, time_tokens=1))
    assert table.play("meditate").json["to_move"] == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_time_tokens_are_restacked(game: Game, players: int) -> None:
    """§5 next round 4: "All Time tokens are restacked"; ``actions`` counts the new round (§8)."""
    after = game(position(players, time_tokens=1)).play("meditate").json
    assert (after["time_tokens"], after["actions"]) == ({2: 3, 3: 4, 4: 4}[players], 0)


@pytest.mark.parametrize("players", [2, 3])
def test_book_bonus_comes_back_with_two_players(game: Game, players: int) -> None:
    """§5 next round 4: "With two players the first use of a Book counts double again"; never with more."""
    after = game(position(players, time_tokens=1, book_bonus=False)).play("meditate")
    assert after.json["book_bonus"] is (players == 2)


def test_guard_moves_to_the_next_tile(game: Game) -> None:
    """§5 next round 4, §4: with the Guard in round 2 batch 1 is approved and a Sanctification gains 5."""
    seats = [seat(), seat({"tide": 2, "bribery": 2})]
    table = game(position(time_tokens=1, claimed={5: 1}, seats=seats)).play("meditate")
    assert table.json["to_move"] == 1
    assert table.legal("promote") == {"promote 11", "promote 12"}
    table.action("sanctify 5", {"1.influence": "+5", "tile.5": "temple 1"})


def test_novices_become_active_before_the_next_priestess_scoring(game: Game) -> None:
    """§5: scoring counts what is active in the round that ends; "All inactive novices become active" comes after."""
    before = position(3, time_tokens=1, priestess="herbs", seats=[seat({}, {"herbs": 3})])
    assert game(before).gains("meditate") == [2, 1, 1]


@pytest.mark.parametrize("round", [1, 2, 3, 4, 5])
def test_rounds_1_to_5_go_on(game: Game, round: int) -> None:
    """§5 "If this was round 6, go to 6. Otherwise prepare the next round"."""
    after = game(position(3, round=round, time_tokens=1)).play("meditate").json
    assert (after["round"], after["phase"]) == (round + 1, "action")
