"""RULES.md section 6, and section 8 for what stays as it was when over.

Seat 0 turns the last Time token of round 6: he gains 1 for it, and each player 1 for his start novice in the Temple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from .builder import Json, position, seat
from .table import Game


def last_token(players: int, seats: Sequence[Json] = (), **more: Any) -> Json:
    """Round 6 with one Time token left; the figures stand where no test puts novices."""
    return position(players, round=6, time_tokens=1, seats=seats, **({"priestess": "sailboat"} | more))


def test_the_end_and_what_stays_as_it_was(game: Game) -> None:
    """§6 "4 per shrine on the isles, 1 per unused favor token, and the value of his Council seat": seat 0 gets
    1 + 1 + 8 + 2 + 3. §8 "When over, all is as the last action left it (round 6, figures not moved, inactive novices
    inactive ...)", ``to_move`` null."""
    seats = [
        seat({"herbs": 1}, {"herbs": 2}, shrines=["book", "tide"], favors=["herbs", "novice"], influence=10),
        seat({}, {"novice": 3}, landing=2, influence=7),
    ]
    before = last_token(2, seats, start_player=1, to_move=0, council={3: [0], 0: [1]})
    table = game(before).step(
        "meditate",
        {
            "0.influence": 10 + 15,
            "1.influence": 7 + 1,
            "phase": "over",
            "to_move": None,
            "time_tokens": 0,
            "actions": "+1",
        },
    )
    assert table.json["book_bonus"] is True
    assert table.result == {"influence": [25, 8], "rank": [1, 2]}


def test_nothing_is_legal_when_over(game: Game) -> None:
    """§8 ``phase`` ``over``: no decision is left."""
    table = game(last_token(2)).play("meditate")
    assert table.legal() == set()
    table.refuses("meditate")


@pytest.mark.parametrize(
    ("sheet", "council", "gains"),
    [
        ("reconstructed", {12: [0], 1: [1]}, [2 + 12, 1 + 1]),
        ("reconstructed", {7: [1, 0]}, [2 + 7, 1 + 7]),
        ("rosette", {9: [0], 1: [1]}, [2 + 12, 1 + 0]),
        ("rosette", {6: [1], 3: [0]}, [2 + 2, 1 + 6]),
    ],
)
def test_council_values_of_the_sheet(game: Game, sheet: str, council: dict[int, list[int]], gains: list[int]) -> None:
    """§6 "and the value of his Council seat", by the sheet, for each piece on the seat."""
    assert game(last_token(2, council=council, sheet=sheet), sheet=sheet).gains("meditate") == gains


def test_nothing_for_claimed_tiles(game: Game) -> None:
    """§6 "Nothing is gained for novices on claimed tiles", nor on isles, on the landing stage or in supply."""
    seats = [seat(), seat({"book": 3}, {"tide": 2}, landing=3)]
    assert game(last_token(2, seats, claimed={5: 1, 8: 1, 28: 0})).gains("meditate") == [2, 1]


def test_round_6_is_scored_before_the_end(game: Game) -> None:
    """§5 "If this was round 6, go to 6", after the three parts of the scoring: Priestess 5 and Apostate −3 count."""
    seats = [seat({"herbs": 1}), seat({}, {"novice": 2})]
    before = last_token(2, seats, priestess="herbs", apostate="novice")
    assert game(before).gains("meditate") == [2 + 5, 1 - 3]


def test_apostate_floor_comes_before_the_gains_of_the_end(game: Game) -> None:
    """§4 floor "at each loss", then §6: 0 − 3 is 0, + 1 Temple + 4 shrine + 1 favor."""
    seats = [seat(), seat({}, {"novice": 2}, shrines=["tide"], favors=["tide"], influence=0)]
    after = game(last_token(2, seats, apostate="novice")).play("meditate").json
    assert after["seats"][1]["influence"] == 6


def test_used_favor_does_not_count_and_gained_one_does(game: Game) -> None:
    """§6 "1 per *unused* favor token": the last action, by the cap, returns one and gains another; Time tokens and
    ``book_bonus`` stay as they stand (§8), no bonus for a last token (§4)."""
    seats = [seat(), seat(), seat({"book": 1}, favors=["novice"])]
    before = position(3, round=6, actions=5, time_tokens=3, priestess="sailboat", seats=seats)
    game(before, max_actions_per_player=2).step(
        "favor book +v",
        {
            "2.active.book": 0,
            "2.inactive.book": 1,
            "2.favors.novice": False,
            "2.favors.book": True,
            "0.influence": "+1",
            "1.influence": "+1",
            "2.influence": "+2",
            "phase": "over",
            "to_move": None,
            "actions": 6,
        },
    )


def test_shrines_in_supply_do_not_count(game: Game) -> None:
    """§6 "4 per shrine *on the isles*"."""
    assert game(last_token(2, [seat(), seat(shrines=["tide", "book", "herbs"])])).gains("meditate") == [2, 1 + 12]


def test_winner_has_the_most_influence(game: Game) -> None:
    """§6 "The winner has the most influence": the Council decides nothing else."""
    seats = [seat(influence=5), seat(influence=20), seat(influence=9)]
    table = game(last_token(3, seats, council={5: [0], 0: [1, 2]})).play("meditate")
    assert table.result == {"influence": [5 + 2 + 5, 21, 10], "rank": [2, 1, 3]}


@pytest.mark.parametrize(
    ("influence", "council", "rank"),
    [
        ([8, 6], {3: [1], 0: [0]}, [2, 1]),
        ([5, 9], {3: [0], 0: [1]}, [1, 2]),
        ([5, 6], {0: [0, 1]}, [2, 1]),
        ([5, 6], {0: [1, 0]}, [1, 2]),
        ([5, 6], {12: [1, 0]}, [1, 2]),
        ([5, 8, 6, 10], {5: [2, 0], 3: [1], 1: [3]}, [1, 3, 2, 4]),
    ],
)
def test_ties_by_council_precedence(
    game: Game, influence: list[int], council: dict[int, list[int]], rank: list[int]
) -> None:
    """§6 "the final ranking breaks ties by Council precedence, so ranks are always strict" (§5: the higher seat first,
    on one seat the upper piece first)."""
    players = len(influence)
    table = game(last_token(players, [seat(influence=i) for i in influence], council=council)).play("meditate")
    assert len(set(table.result["influence"])) == 1
    assert table.result["rank"] == rank


def test_six_rounds(game: Game) -> None:
    """§2.4 "Rounds are numbered 1 … 6": six times three Meditations with two players; each round 1 to who turns the
    last token and 1 each for the Temple; the start player alternates."""
    table = game(position(2))
    starters = []
    while table.json["phase"] != "over":
        starters.append(table.json["start_player"])
        table = table.play("meditate", "meditate", "meditate")
    assert starters == [0, 1, 0, 1, 0, 1]
    assert [one["influence"] for one in table.json["seats"]] == [5 + 6 + 3, 5 + 6 + 3]
    assert table.result["rank"] == [2, 1], "seat 1 lies on top of seat 0"
