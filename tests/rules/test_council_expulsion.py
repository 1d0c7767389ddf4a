"""RULES.md section 4: Council and Expulsion.

Clockwise from book the test ring goes bribery, shrine, tide, novice, sailboat, herbs, book.
"""

from __future__ import annotations

import pytest

from .builder import position, seat
from .table import Game

# Council


def test_council_any_number_of_one_isle(game: Game) -> None:
    """§4 Council: "uses n active novices of *one* isle ... n ≥ 1"; inactive ones and other isles do not add up."""
    table = game(position(seats=[seat({"book": 3, "tide": 1}, {"tide": 4})]))
    assert table.legal("council") == {"council book 1", "council book 2", "council book 3", "council tide 1"}


def test_council_moves_up_as_many_seats_as_novices(game: Game) -> None:
    """§4 Council: "The piece moves up as many seats as novices"; the used ones become inactive; pieces that lay on
    the mover's stay in their order."""
    table = game(position(3, seats=[seat({"book": 3})], council={1: [2, 0, 1]}))
    table.action("council book 2", {"0.active.book": 1, "0.inactive.book": 2, "council.1": [2, 1], "council.3": [0]})


def test_council_placed_on_top(game: Game) -> None:
    """§4 Council: "It is placed on top of the pieces on its new seat"."""
    table = game(position(3, seats=[seat({"book": 1})], council={0: [0], 1: [2, 1]}))
    table.action("council book 1", {"0.active.book": 0, "0.inactive.book": 1, "council.0": [], "council.1": [2, 1, 0]})


@pytest.mark.parametrize(("sheet", "last"), [("reconstructed", 12), ("rosette", 9)])
def test_council_on_the_last_seat_under_all(game: Game, sheet: str, last: int) -> None:
    """§4 Council: "on the last seat under all that are there"."""
    before = position(3, sheet=sheet, seats=[seat({"book": 2})], council={last - 2: [0], last: [2, 1]})
    game(before, sheet=sheet).action(
        "council book 2",
        {"0.active.book": 0, "0.inactive.book": 2, f"council.{last - 2}": [], f"council.{last}": [0, 2, 1]},
    )


def test_council_next_to_last_seat_still_on_top(game: Game) -> None:
    """§4 Council: only "on the *last* seat under"."""
    table = game(position(seats=[seat({"book": 1})], council={10: [0], 11: [1]}))
    table.action("council book 1", {"0.active.book": 0, "0.inactive.book": 1, "council.10": [], "council.11": [1, 0]})


def test_council_not_beyond_the_last_seat(game: Game) -> None:
    """§4 Council: "The total may not exceed the seats that remain", the virtual novice counted."""
    table = game(position(seats=[seat({"book": 5}, favors=["novice"])], council={10: [0], 0: [1]}))
    assert table.legal("council") == {"council book 1", "council book 2", "council book 1 +v", "council +v"}


def test_council_on_the_last_seat_no_more(game: Game) -> None:
    """§4 Council: no seats remain."""
    table = game(position(seats=[seat({"book": 5}, favors=["novice"])], council={12: [0], 0: [1]}))
    assert table.legal("council") == set()


def test_council_virtual_is_one_step_more(game: Game) -> None:
    """§4 Council: "with the virtual novice one step more": two real novices and the token move it three seats."""
    table = game(position(seats=[seat({"book": 2}, favors=["novice"])], council={0: [0, 1]}))
    table.action(
        "council book 2 +v",
        {
            "0.active.book": 0,
            "0.inactive.book": 2,
            "0.favors.novice": False,
            "council.0": [1],
            "council.3": [0],
        },
    )


def test_council_virtual_alone(game: Game) -> None:
    """§4 Council: "or n = 0 with the virtual novice", without a novice on any isle; ``council +v`` (§7)."""
    table = game(position(seats=[seat(favors=["novice"])]))
    assert table.legal("council") == {"council +v"}
    table.action("council +v", {"0.favors.novice": False, "council.0": [1], "council.1": [0]})


def test_council_virtual_alone_forbidden_by_the_option(game: Game) -> None:
    """§4 [choice ``virtual_alone``=false]: "the only 'novice' of the action (... Council 1 step ...)"."""
    table = game(position(seats=[seat({"book": 1}, favors=["novice"])]), virtual_alone=False)
    assert table.legal("council") == {"council book 1", "council book 1 +v"}


def test_council_virtual_needs_the_token(game: Game) -> None:
    """§4 Virtual novice: "By returning the ``novice`` favor token"."""
    assert game(position(seats=[seat({"book": 1})])).legal("council") == {"council book 1"}


def test_council_overshoot_loses_surplus_steps(game: Game) -> None:
    """§4 [choice ``council_overshoot``=true]: "surplus steps are lost": all n are used, the piece lands under."""
    before = position(seats=[seat({"book": 3}, favors=["novice"])], council={11: [0], 12: [1]})
    table = game(before, council_overshoot=True)
    real = {f"council book {n}" for n in (1, 2, 3)}
    assert table.legal("council") == real | {f"{notation} +v" for notation in real} | {"council +v"}
    table.action("council book 3", {"0.active.book": 0, "0.inactive.book": 3, "council.11": [], "council.12": [0, 1]})


def test_council_overshoot_is_illegal_on_the_last_seat(game: Game) -> None:
    """§4 [choice ``council_overshoot``=true]: "and Council is still illegal on the last seat"."""
    before = position(seats=[seat({"book": 3}, favors=["novice"])], council={12: [0, 1]})
    assert game(before, council_overshoot=True).legal("council") == set()


def test_council_with_twelve_novices_from_seat_0(game: Game) -> None:
    """§4 Council: up to all seats that remain (12), though 13 novices stand there (§7 "N in 1 … 13")."""
    before = position(temple={1: None, 5: 1}, books=[2, 5], seats=[seat({"book": 13})])
    table = game(before)
    assert table.legal("council") == {f"council book {n}" for n in range(1, 13)}
    table.action("council book 12", {"0.active.book": 1, "0.inactive.book": 12, "council.0": [1], "council.12": [0]})


def test_council_with_thirteen_novices_by_overshoot(game: Game) -> None:
    """§7 ``council KIND N``: "N in 1 … 13", 13 where surplus steps are lost."""
    before = position(temple={1: None, 5: 1}, books=[2, 5], seats=[seat({"book": 13})])
    assert "council book 13" in game(before, council_overshoot=True).legal()


# Expulsion


def test_expulsion_any_number_on_the_apostates_isle(game: Game) -> None:
    """§4 Expulsion: "uses n active novices on the Apostate's isle": not inactive, not elsewhere, not others'."""
    seats = [seat({"book": 2, "tide": 3}, {"book": 3}), seat({"book": 5})]
    assert game(position(apostate="book", seats=seats)).legal("expel") == {"expel 1", "expel 2"}


@pytest.mark.parametrize(("n", "isle"), [(1, "bribery"), (2, "shrine"), (3, "tide"), (6, "herbs"), (8, "bribery")])
def test_expulsion_moves_the_apostate_clockwise(game: Game, n: int, isle: str) -> None:
    """§4 Expulsion: "The Apostate moves clockwise by as many isles", in the order of the ring, empty isles counted."""
    table = game(position(apostate="book", seats=[seat({"book": 8})]))
    table.action(f"expel {n}", {"0.active.book": f"-{n}", "0.inactive.book": f"+{n}", "apostate": isle})


def test_expulsion_by_a_full_circle(game: Game) -> None:
    """§4 Expulsion: "a full circle or more included": 7 isles, back to his own."""
    table = game(position(apostate="book", seats=[seat({"book": 8})]))
    table.action("expel 7", {"0.active.book": 1, "0.inactive.book": 7})


def test_expulsion_by_thirteen(game: Game) -> None:
    """§7 ``expel N``: "N in 1 … 13"; 13 isles are a circle and six."""
    before = position(apostate="book", temple={1: None, 5: 1}, books=[2, 5], seats=[seat({"book": 13})])
    table = game(before)
    assert table.legal("expel") == {f"expel {n}" for n in range(1, 14)}
    table.action("expel 13", {"0.active.book": 0, "0.inactive.book": 13, "apostate": "herbs"})


def test_expulsion_virtual_is_one_more(game: Game) -> None:
    """§4 Expulsion: "with the virtual novice one more": two real ones and the token make three isles."""
    table = game(position(apostate="book", seats=[seat({"book": 2}, favors=["novice"])]))
    assert table.legal("expel") == {"expel 1", "expel 2", "expel 1 +v", "expel 2 +v", "expel +v"}
    table.action(
        "expel 2 +v",
        {"0.active.book": 0, "0.inactive.book": 2, "0.favors.novice": False, "apostate": "tide"},
    )


def test_expulsion_virtual_alone(game: Game) -> None:
    """§4 Expulsion: "or n = 0 with the virtual novice", without a novice on his isle."""
    table = game(position(apostate="book", seats=[seat({"tide": 2}, favors=["novice"])]))
    assert table.legal("expel") == {"expel +v"}
    table.action("expel +v", {"0.favors.novice": False, "apostate": "bribery"})


def test_expulsion_virtual_alone_forbidden_by_the_option(game: Game) -> None:
    """§4 [choice ``virtual_alone``=false]: "the only 'novice' of the action (... Expulsion by 1 isle)"."""
    table = game(position(apostate="book", seats=[seat({"book": 1}, favors=["novice"])]), virtual_alone=False)
    assert table.legal("expel") == {"expel 1", "expel 1 +v"}


def test_expulsion_has_no_shrine_bonus(game: Game) -> None:
    """§4 Expulsion, Council: a shrine is not mentioned: it neither adds a step nor replaces a novice."""
    table = game(position(apostate="book", seats=[seat(shrines=["book"])]))
    assert table.legal("expel", "council") == set()
