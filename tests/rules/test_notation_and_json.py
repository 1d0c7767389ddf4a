"""RULES.md section 7 (forms of the notation) and section 8 (conventions of a position, and what contradicts them)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from .builder import KINDS, Json, position, seat
from .table import Game

# Notation

FOREIGN = [
    "",
    "meditate ",
    "Meditate",
    "meditation",
    "favor",
    "favor moon",
    "favor book 1",
    "favor book+v",
    "favor book +V",
    "recruit 0",
    "build book",
    "herbs tide",
    "herbs tide 0",
    "herbs tide 3",
    "sail book book 1",
    "sail book~ tide 1",
    "sail landing landing 1",
    "sail book tide 3",
    "journey book 0",
    "journey book 5",
    "journey landing 1",
    "journey tide~ 1",
    "tide landing~ 1",
    "land book 1",
    "promote 0",
    "promote 29",
    "sanctify book",
    "give-book 5",
    "council book 0",
    "council 1",
    "council 1 +v",
    "council book 14",
    "council book +v",
    "expel 0",
    "expel book 1",
    "expel 14",
    "place-shrine book",
    "place-novices book",
]


@pytest.mark.parametrize("notation", FOREIGN)
def test_foreign_forms_are_refused(game: Game, notation: str) -> None:
    """§7: neither other spellings nor decisions of another moment, from a position where much is legal."""
    rich = seat({"book": 4, "shrine": 2}, {"tide": 2}, landing=2, shrines=["novice"], favors=KINDS)
    game(position(apostate="book", builder="book", temple={5: 0}, claimed={8: 0}, seats=[rich])).refuses(notation)


def test_playing_an_illegal_decision_is_refused(game: Game) -> None:
    """§7 forms that are legal elsewhere, not here."""
    table = game(position(seats=[seat({"book": 1})]))
    for notation in ("favor book", "recruit book", "build", "sanctify 5", "promote 5", "take-book 1", "expel 1"):
        table.refuses(notation)


def test_legal_lists_are_sorted_by_code_point(game: Game) -> None:
    """§9 ``legal``: "sorted by code point": space before ``+`` before digits before letters before ``~``."""
    one = seat({"book": 2}, {"book": 1}, landing=1, favors=["tide", "novice"])
    table = game(position(apostate="shrine", seats=[one]))
    assert table.backend.legal(table.native) == [
        "council +v",
        "council book 1",
        "council book 1 +v",
        "council book 2",
        "council book 2 +v",
        "expel +v",
        "favor book",
        "favor book +v",
        "journey book 1",
        "journey book 2",
        "meditate",
        "recruit book",
        "recruit book +v",
        "tide book 1",
        "tide book 2",
        "tide book~ 1",
        "tide landing 1",
    ]


# Positions that are consistent


def test_favors_and_shrines_stand_in_kind_order(game: Game) -> None:
    """§8 ``seats``: "``shrines`` and ``favors`` (lists in kind order)", not in the order they were gained."""
    one = seat({"book": 4}, shrines=["tide", "bribery"], favors=["tide", "shrine"])
    table = game(position(builder="book", seats=[one])).play("build")
    assert table.json["seats"][0]["shrines"] == ["book", "bribery", "tide"]
    table = table.play("meditate", "favor book")
    assert table.json["seats"][0]["favors"] == ["book", "tide"]


def test_tiles_tell_path_claimed_and_temple(game: Game) -> None:
    """§8 ``tiles``: the exact maps; "``book``: true where a Book lies", no key elsewhere; "owner null where the novice
    was displaced"."""
    before = position(round=2, temple={1: None, 8: 1}, claimed={11: 0}, books=[2, 8])
    tiles = game(before).json["tiles"]
    assert tiles["1"] == {"at": "temple", "owner": None}
    assert tiles["2"] == {"at": "temple", "owner": 1, "book": True}
    assert tiles["11"] == {"at": "claimed", "owner": 0}
    assert tiles["12"] == {"at": "path"}


def test_a_book_half_done_can_be_read(game: Game) -> None:
    """§8 ``pending``: ``{"action": "book", "from": T}``; the Book lies nowhere (§4)."""
    before = position(
        temple={5: 0, 8: 0}, books=[1], pending={"action": "book", "from": 2}, seats=[seat(favors=["book"])]
    )
    assert game(before).legal() == {"give-book 5", "give-book 8"}


def test_a_journey_half_done_can_be_read(game: Game) -> None:
    """§8 ``pending``, §3 "Their sum is always 13, with those lifted and not yet landed": three lifted from book, one
    landed on novice."""
    pending = {
        "action": "journey",
        "stage": "land",
        "lifted": [3, 0, 0, 0, 0, 0, 0],
        "landing_lifted": 0,
        "hand": 2,
        "landed": [0, 0, 1, 0, 0, 0, 0],
        "last": 2,
        "last_n": 1,
    }
    before = position(pending=pending, seats=[seat({"book": 2}, {"novice": 1}, supply=7)])
    kinds = ("sailboat", "herbs", "shrine")
    assert game(before).legal() == {f"land {kind} {n}" for kind in kinds for n in (1, 2)} | {"land tide 2"}


def test_a_tide_half_done_can_be_read(game: Game) -> None:
    """§8 ``pending`` of a lift: the order goes on from ``last`` and ``last_n``; the token is already returned."""
    pending = {
        "action": "tide",
        "stage": "lift",
        "lifted": [4, 0, 0, 0, 0, 0, 0],
        "landing_lifted": 0,
        "hand": 4,
        "landed": [0, 0, 0, 0, 0, 0, 0],
        "last": 7,
        "last_n": 4,
    }
    before = position(pending=pending, seats=[seat({"tide": 1}, {"book": 1}, landing=1, supply=5)])
    assert game(before).legal("tide") == {"tide book~ 1", "tide landing 1"}


def test_any_starting_influence_is_a_handicap(game: Game) -> None:
    """§9 "a handicap is nothing but another starting influence"."""
    before = position(3, phase="shrines", seats=[seat(influence=0), seat(influence=7), seat(influence=12)])
    assert [one["influence"] for one in game(before).json["seats"]] == [0, 7, 12]
    assert game.problems(before) == []


# Positions that contradict sections 2, 3 and 8

Spoil = Callable[[Json], Any]
CONTRADICTIONS: list[tuple[str, Spoil]] = [
    ("§3 novices: 'Their sum is always 13'", lambda p: p["seats"][0].update(supply=p["seats"][0]["supply"] + 1)),
    ("§3 novices: a negative count", lambda p: p["seats"][0].update(active=[-1, 1, 0, 0, 0, 0, 0])),
    ("§3 shrines: 'always 6', at most one on an isle", lambda p: p["seats"][0].update(shrines=list(KINDS))),
    ("§2.7 'A player owns at most one of a kind'", lambda p: p["seats"][0].update(favors=["tide", "tide"])),
    ("§8 an unknown favor", lambda p: p["seats"][0].update(favors=["moon"])),
    ("§2.2 'N Books are in the game': one is missing", lambda p: p["tiles"]["1"].pop("book")),
    ("§2.2 'N Books are in the game': one too many", lambda p: p["tiles"]["5"].update(book=True)),
    ("§2.2 a start tile is placed in the Temple", lambda p: p["tiles"].update({"2": {"at": "path"}})),
    ("§2.2 a tile of the boards in play is missing", lambda p: p["tiles"].pop("28")),
    ("§2.2 'Only tiles of the chosen boards'", lambda p: p["tiles"].update({"26": {"at": "path"}})),
    ("§8 a claimed tile has an owner", lambda p: p["tiles"].update({"11": {"at": "claimed", "owner": None}})),
    ("§8 an owner is a player", lambda p: p["tiles"].update({"8": {"at": "temple", "owner": 2}})),
    ("§8 a tile is on the path, claimed or in the Temple", lambda p: p["tiles"].update({"12": {"at": "sea"}})),
    ("§2.6 a Council piece is missing", lambda p: p["council"][0].pop()),
    ("§2.6 a Council piece twice", lambda p: p["council"][3].append(0)),
    ("§8 ``council``: 'for each seat of the sheet'", lambda p: p["council"].pop()),
    ("§1 the ring is 'a permutation of the kinds'", lambda p: p["ring"].__setitem__(0, "book")),
    ("§2 'N of the four Temple boards': one twice", lambda p: p.update(boards=[0, 0])),
    ("§2 'N of the four Temple boards': too many", lambda p: p.update(boards=[0, 1, 2])),
    ("§2 'N of the four Temple boards': unknown", lambda p: p.update(boards=[0, 4])),
    ("§2.5 Time tokens: more than there are", lambda p: p.update(time_tokens=4)),
    ("§4 the phase ended with the last Time token", lambda p: p.update(time_tokens=0)),
    ("§2.4 'Rounds are numbered 1 … 6': 7", lambda p: p.update(round=7)),
    ("§2.4 'Rounds are numbered 1 … 6': 0", lambda p: p.update(round=0)),
    ("§1 N ∈ {2, 3, 4}", lambda p: p.update(players=5)),
    ("§1 seats are 0 … N−1: to_move", lambda p: p.update(to_move=2)),
    ("§1 seats are 0 … N−1: start_player", lambda p: p.update(start_player=-1)),
    ("§8 'to_move is null when over', not before", lambda p: p.update(to_move=None)),
    ("§8 an unknown phase", lambda p: p.update(phase="night")),
    ("§8 'over' with a player to move", lambda p: p.update(phase="over")),
    ("§8 figures stand on isles", lambda p: p.update(apostate="temple")),
    ("§8 'Keys, all always present': builder", lambda p: p.pop("builder")),
    ("§8 'Keys, all always present': pending", lambda p: p.pop("pending")),
    ("§8 'Keys, all always present': landing", lambda p: p["seats"][1].pop("landing")),
    ("§8 as many seats as players", lambda p: p["seats"].pop()),
    ("§8 '7 counts by kind'", lambda p: p["seats"][0].update(active=[0, 0, 0, 0, 0, 0])),
]


@pytest.mark.parametrize("spoil", [pytest.param(spoil, id=what) for what, spoil in CONTRADICTIONS])
def test_contradictions_are_found(game: Game, spoil: Spoil) -> None:
    """§9 "The set-up may be any position consistent with sections 2, 3 and 8": this one is not."""
    seats = [
        seat({"book": 2, "tide": 4}, {"herbs": 1}, shrines=["novice"], favors=["tide"]),
        seat({"herbs": 6}, landing=1, shrines=["tide"]),
    ]
    good = position(2, round=2, temple={8: 1}, claimed={11: 0}, seats=seats)
    assert game.problems(good) == []
    bad = copy.deepcopy(good)
    spoil(bad)
    assert game.problems(bad) != []


PRELIMINARY_CONTRADICTIONS: list[tuple[str, Json]] = [
    ("§8 ``round``: '1 in the preliminary round'", {"round": 2}),
    ("§8 ``actions``: '0 in the preliminary round'", {"actions": 1}),
    ("§8 ``time_tokens``: 'all of them in the preliminary round'", {"time_tokens": 3}),
    ("§8 ``book_bonus``: 'otherwise false' with three players", {"book_bonus": True}),
]


@pytest.mark.parametrize("wrong", [pytest.param(wrong, id=what) for what, wrong in PRELIMINARY_CONTRADICTIONS])
def test_contradictions_in_the_preliminary_round_are_found(game: Game, wrong: Json) -> None:
    """§8 with the values that it fixes for the preliminary round."""
    good = position(3, phase="shrines")
    assert game.problems(good) == []
    assert game.problems(good | wrong) != []


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"hand": 3}, id="hand is lifted less landed"),
        pytest.param({"lifted": [4, 0, 0, 0, 0, 0, 0]}, id="more lifted than the hand tells"),
        pytest.param({"stage": "fly"}, id="an unknown stage"),
        pytest.param({"last": 15}, id="an unknown source"),
        pytest.param({"action": "council"}, id="an action without a second step"),
    ],
)
def test_contradictions_in_pending_are_found(game: Game, wrong: Json) -> None:
    """§8 ``pending``."""
    pending = {
        "action": "journey",
        "stage": "lift",
        "lifted": [2, 0, 0, 0, 0, 0, 0],
        "landing_lifted": 0,
        "hand": 2,
        "landed": [0, 0, 0, 0, 0, 0, 0],
        "last": 0,
        "last_n": 2,
    }
    seats = [seat({"book": 2, "herbs": 4}, supply=4, shrines=["tide"]), seat({"herbs": 8}, shrines=["book"])]
    good = position(pending=pending, seats=seats)
    assert game.problems(good) == []
    bad = copy.deepcopy(good)
    bad["pending"] |= wrong
    assert game.problems(bad) != []
