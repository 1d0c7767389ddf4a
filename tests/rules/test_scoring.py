"""RULES.md section 5: the scoring phase, after the last Time token.

The last token is turned by seat 0 unless said otherwise. He gains 1 for it, and each player 1 for his start novice in
the Temple: that alone makes [2, 1, 1] of three players.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from .builder import Json, position, seat
from .table import Game


def last_token(players: int, seats: Sequence[Json] = (), **more: Any) -> Json:
    """One Time token is left; the Priestess and the Apostate stand where no test puts novices."""
    return position(players, time_tokens=1, seats=seats, **({"priestess": "tide", "apostate": "shrine"} | more))


# Moon Priestess


def test_priestess_ranks_by_count(game: Game) -> None:
    """§5.1 "Players ... are ranked by count ... Places 1, 2, 3 gain the three values": 5, 2, 1."""
    seats = [seat({"herbs": 1}), seat({"herbs": 2}), seat({"herbs": 3})]
    assert game(last_token(3, seats, priestess="herbs")).gains("meditate") == [2 + 1, 1 + 2, 1 + 5]


def test_priestess_counts_active_only(game: Game) -> None:
    """§5.1 "each player's *active* novices": three inactive ones count nothing."""
    seats = [seat({"herbs": 1}, {"herbs": 3}), seat({"herbs": 2}), seat({}, {"herbs": 4})]
    assert game(last_token(3, seats, priestess="herbs")).gains("meditate") == [2 + 2, 1 + 5, 1]


def test_priestess_counts_the_shrine_as_one(game: Game) -> None:
    """§5.1 "plus his shrine": 2 + 1 beats 2, and a shrine alone is a count above 0."""
    seats = [seat({"herbs": 2}), seat({"herbs": 2}, shrines=["herbs"]), seat(shrines=["herbs"])]
    before = last_token(3, seats, priestess="herbs", council={0: [1, 0], 3: [2]})
    assert game(before).gains("meditate") == [2 + 2, 1 + 5, 1 + 1]


def test_priestess_shrine_and_novice_weigh_the_same(game: Game) -> None:
    """§5.1: 1 + shrine = 2 novices: a tie, which the Council decides (seat 0 stands higher)."""
    seats = [seat({"herbs": 1}, shrines=["herbs"]), seat({"herbs": 2})]
    before = last_token(3, seats, priestess="herbs", council={1: [0], 0: [1, 2]})
    assert game(before).gains("meditate") == [2 + 5, 1 + 2, 1]


def test_priestess_gives_nothing_for_zero(game: Game) -> None:
    """§5.1 "Players with a count above 0 are ranked": free places are not given away."""
    seats = [seat({"book": 3}), seat({"herbs": 1}), seat({"tide": 3})]
    assert game(last_token(3, seats, priestess="herbs", apostate="shrine")).gains("meditate") == [2, 1 + 5, 1]


@pytest.mark.parametrize(
    ("sheet", "gains"), [("reconstructed", [2 + 6, 1 + 3, 1 + 1, 1]), ("rosette", [2 + 6, 1 + 4, 1 + 2, 1])]
)
def test_priestess_four_players(game: Game, sheet: str, gains: list[int]) -> None:
    """§5.1 "the three values of the Moon Priestess figure for N": 6, 3, 1 (rosette 6, 4, 2), the fourth nothing."""
    seats = [seat({"herbs": n}) for n in (4, 3, 2, 1)]
    assert game(last_token(4, seats, priestess="herbs", sheet=sheet), sheet=sheet).gains("meditate") == gains


@pytest.mark.parametrize(("sheet", "gains"), [("reconstructed", [2 + 2, 1 + 5]), ("rosette", [2 + 3, 1 + 5])])
def test_priestess_two_players(game: Game, sheet: str, gains: list[int]) -> None:
    """§5.1 "the three values ... for N": 5, 2 (rosette 5, 3)."""
    seats = [seat({"herbs": 1}), seat({"herbs": 2})]
    assert game(last_token(2, seats, priestess="herbs", sheet=sheet), sheet=sheet).gains("meditate") == gains


@pytest.mark.parametrize(
    ("council", "gains"),
    [
        ({0: [2], 2: [1], 5: [0]}, [2 + 5, 1 + 2, 1 + 1]),
        ({5: [2], 2: [1], 0: [0]}, [2 + 1, 1 + 2, 1 + 5]),
        ({3: [1, 0, 2]}, [2 + 2, 1 + 1, 1 + 5]),
        ({3: [0], 4: [2, 1]}, [2 + 1, 1 + 5, 1 + 2]),
        ({12: [2, 0], 11: [1]}, [2 + 5, 1 + 1, 1 + 2]),
    ],
)
def test_priestess_ties_by_council_precedence(game: Game, council: dict[int, list[int]], gains: list[int]) -> None:
    """§5 "*Council precedence*: the higher seat first; on one seat, the upper piece first" (bottom to top)."""
    seats = [seat({"herbs": 2}) for _ in range(3)]
    assert game(last_token(3, seats, priestess="herbs", council=council)).gains("meditate") == gains


def test_priestess_tie_for_the_last_place(game: Game) -> None:
    """§5.1 "ties by Council precedence": of four players two tie for the third place, one gains."""
    seats = [seat({"herbs": 3}), seat({"herbs": 1}), seat({"herbs": 1}), seat({"herbs": 2})]
    before = last_token(4, seats, priestess="herbs", council={0: [2, 1, 0, 3]})
    assert game(before).gains("meditate") == [2 + 6, 1 + 1, 1, 1 + 3]


# Apostate


def test_apostate_counts_active_and_inactive(game: Game) -> None:
    """§5.2 "count each player's active and inactive novices ... loses count + 1": 1 + 2 + 1 = 4."""
    seats = [seat(), seat({"herbs": 1}, {"herbs": 2}), seat({"book": 4})]
    assert game(last_token(3, seats, apostate="herbs")).gains("meditate") == [2, 1 - 4, 1]


def test_apostate_does_not_count_the_shrine(game: Game) -> None:
    """§5.2 "A player with a count above 0 loses": a shrine is no novice, so no loss."""
    seats = [seat(), seat(shrines=["herbs"]), seat({"herbs": 1}, shrines=["herbs"])]
    assert game(last_token(3, seats, apostate="herbs")).gains("meditate") == [2, 1, 1 - 2]


def test_apostate_loss_stops_at_zero(game: Game) -> None:
    """§4 "Influence never falls below 0"; "the floor applies ... at each loss, not to a running total that is shown":
    2 − 4 is 0 though three shrines stand, then 1 for the Temple."""
    seats = [seat(), seat({"herbs": 3}, shrines=["book", "tide", "novice"], influence=2)]
    table = game(last_token(3, seats, apostate="herbs", priestess="sailboat"))
    assert table.play("meditate").json["seats"][1]["influence"] == 0 + 1


def test_apostate_without_a_floor(game: Game) -> None:
    """§4 [choice ``influence_floor``]: "``null`` for none": 2 − 4 + 1 = −1, and on from there."""
    seats = [seat(), seat({"herbs": 3}, influence=2)]
    table = game(last_token(3, seats, apostate="herbs"), influence_floor=None).play("meditate")
    assert table.json["seats"][1]["influence"] == -1


def test_apostate_with_another_floor(game: Game) -> None:
    """§4 [choice ``influence_floor``]=3: 4 − 4 is 3, then 1 for the Temple; a loss above the floor is whole."""
    seats = [seat(), seat({"herbs": 3}, influence=4), seat({"herbs": 3}, influence=9)]
    table = game(last_token(3, seats, apostate="herbs"), influence_floor=3).play("meditate")
    assert [one["influence"] for one in table.json["seats"][1:]] == [3 + 1, 9 - 4 + 1]


# Order of the parts


def test_priestess_before_apostate(game: Game) -> None:
    """§5 "in this order": 0 + 5 − 3 + 1 = 3; the other way the loss would vanish at the floor."""
    seats = [seat(), seat({"herbs": 2}, influence=0)]
    before = last_token(3, seats, priestess="herbs", apostate="herbs")
    assert game(before).gains("meditate") == [2, 3, 1]


def test_apostate_before_temple(game: Game) -> None:
    """§5 "in this order": 0 − 2 is 0, + 1 for the Temple."""
    seats = [seat(), seat({}, {"herbs": 1}, influence=0)]
    assert game(last_token(3, seats, apostate="herbs")).gains("meditate") == [2, 1, 1]


def test_meditation_bonus_before_scoring(game: Game) -> None:
    """§5 "after the last Time token": 0 + 1 − 2 is 0, + 1 for the Temple."""
    seats = [seat({}, {"herbs": 1}, influence=0)]
    assert game(last_token(3, seats, apostate="herbs")).gains("meditate") == [1, 1, 1]


# Temple


def test_temple_gives_one_for_each_novice(game: Game) -> None:
    """§5.3 "1 for each of his novices in the Temple (not on the path, not on the landing stage)": seat 1 has three
    there, with and without a Book; seat 2 has a claimed tile and two on the landing stage; nobody stands on 9."""
    seats = [seat(), seat(), seat({}, landing=2)]
    before = last_token(3, seats, round=2, temple={5: 1, 6: 1, 9: None}, claimed={8: 2, 11: 0}, books=[1, 5, 3])
    assert game(before).gains("meditate") == [2, 3, 1]


def test_temple_gives_nothing_to_who_was_displaced(game: Game) -> None:
    """§5.3: a space whose novice was displaced has no owner."""
    before = last_token(3, [seat(landing=1)], temple={1: None, 5: 1}, books=[5, 2, 3])
    assert game(before).gains("meditate") == [1, 2, 1]
