"""RULES.md section 4: Herbs, Sailboat, and Journey and Tide with their lifts and landings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from .builder import ALL_KINDS_BUT, KINDS, position, seat
from .table import Game


def lands(kinds: Iterable[str], *numbers: int) -> set[str]:
    return {f"land {kind} {n}" for kind in kinds for n in numbers}


def pending(action: str, stage: str, lifted: dict[str, int], last: int, last_n: int, **more: Any) -> dict[str, Any]:
    """Section 8 ``pending``; ``hand`` by sum."""
    landed = more.get("landed", {})
    landing_lifted = more.get("landing_lifted", 0)
    return {
        "action": action,
        "stage": stage,
        "lifted": [lifted.get(kind, 0) for kind in KINDS],
        "landing_lifted": landing_lifted,
        "hand": sum(lifted.values()) + landing_lifted - sum(landed.values()),
        "landed": [landed.get(kind, 0) for kind in KINDS],
        "last": last,
        "last_n": last_n,
    }


# Herbs


def test_herbs_one_or_two_inactive_novices_of_one_isle(game: Game) -> None:
    """§4 Herbs: "n ∈ {1, 2} inactive novices on i become active"."""
    table = game(position(seats=[seat({"shrine": 2}, {"book": 1, "tide": 3}, favors=["herbs"])]))
    assert table.legal("herbs") == {"herbs book 1", "herbs tide 1", "herbs tide 2"}
    table.action("herbs tide 2", {"0.inactive.tide": 1, "0.active.tide": 2, "0.favors.herbs": False})


def test_herbs_one(game: Game) -> None:
    """§4 Herbs: n = 1 leaves the rest inactive."""
    table = game(position(seats=[seat({}, {"tide": 2}, favors=["herbs"])]))
    table.action("herbs tide 1", {"0.inactive.tide": 1, "0.active.tide": 1, "0.favors.herbs": False})


def test_herbs_not_on_herbs(game: Game) -> None:
    """§4 Herbs: "i is not ``herbs``"."""
    assert game(position(seats=[seat({}, {"herbs": 3}, favors=["herbs"])])).legal("herbs") == set()


def test_herbs_needs_the_favor(game: Game) -> None:
    """§4 Herbs: "returns the ``herbs`` favor"."""
    assert game(position(seats=[seat({}, {"tide": 3})])).legal("herbs") == set()


def test_herbs_not_for_the_landing_stage(game: Game) -> None:
    """§4 Herbs: inactive novices "on i", an isle."""
    assert game(position(seats=[seat({"tide": 2}, landing=2, favors=["herbs"])])).legal("herbs") == set()


# Sailboat


def test_sailboat_takes_one_or_two_active_novices_to_another_isle(game: Game) -> None:
    """§4 Sailboat: "n ∈ {1, 2} active novices of one isle ... move to another isle"; inactive ones do not."""
    table = game(position(seats=[seat({"book": 1, "herbs": 3}, {"tide": 2}, favors=["sailboat"])]))
    from_book = {f"sail book {kind} 1" for kind in ALL_KINDS_BUT["book"]}
    from_herbs = {f"sail herbs {kind} {n}" for kind in ALL_KINDS_BUT["herbs"] for n in (1, 2)}
    assert table.legal("sail") == from_book | from_herbs


def test_sailboat_arrives_active(game: Game) -> None:
    """§4 Sailboat: "and arrive active"; returns the token."""
    table = game(position(seats=[seat({"herbs": 3, "tide": 1}, favors=["sailboat"])]))
    table.action("sail herbs tide 2", {"0.active.herbs": 1, "0.active.tide": 3, "0.favors.sailboat": False})


def test_sailboat_from_the_landing_stage(game: Game) -> None:
    """§4 Sailboat: "or novices of the landing stage", to any isle."""
    table = game(position(seats=[seat(landing=3, favors=["sailboat"])]))
    assert table.legal("sail") == {f"sail landing {kind} {n}" for kind in KINDS for n in (1, 2)}
    table.action("sail landing tide 2", {"0.landing": 1, "0.active.tide": 2, "0.favors.sailboat": False})


def test_sailboat_needs_the_favor(game: Game) -> None:
    """§4 Sailboat: "returns the ``sailboat`` favor"."""
    assert game(position(seats=[seat({"herbs": 3}, landing=1)])).legal("sail") == set()


def test_sailboat_always_goes_to_another_isle(game: Game) -> None:
    """§4 [choice ``same_isle_moves``]: "Sailboat always goes to another", with the option too."""
    table = game(position(seats=[seat({"herbs": 2}, favors=["sailboat"])]), same_isle_moves=True)
    assert table.legal("sail") == {f"sail herbs {kind} {n}" for kind in ALL_KINDS_BUT["herbs"] for n in (1, 2)}


# Journey: lifts


def test_journey_lifts_any_number_up_to_four_at_a_time(game: Game) -> None:
    """§4 Many-step: "A lift takes n ∈ {1, 2, 3, 4} novices from one source"; at most those active there."""
    table = game(position(seats=[seat({"book": 1, "tide": 5}, {"herbs": 2}, landing=1)]))
    assert table.legal("journey") == {"journey book 1"} | {f"journey tide {n}" for n in (1, 2, 3, 4)}


def test_journey_needs_no_favor_and_tide_needs_one(game: Game) -> None:
    """§4 table: Tide "returns the ``tide`` favor", Journey returns nothing."""
    table = game(position(seats=[seat({"book": 1}, {"tide": 1}, landing=1)]))
    assert table.legal("journey", "tide") == {"journey book 1"}


def test_journey_lift_takes_active_novices_into_the_hand(game: Game) -> None:
    """§8 ``pending``: lifted, hand, last = source 0–6, last_n; the action is not completed (``actions`` stands)."""
    table = game(position(seats=[seat({"herbs": 3}, {"herbs": 1})]))
    table.step(
        "journey herbs 2",
        {"0.active.herbs": 1, "pending": pending("journey", "lift", {"herbs": 2}, 4, 2)},
    )


def test_journey_later_lifts_come_from_greater_sources(game: Game) -> None:
    """§4 Many-step: "the source (the kind) is greater than that of the step before"."""
    table = game(position(seats=[seat({"book": 2, "herbs": 2, "tide": 1})]))
    table = table.play("journey herbs 1")
    assert table.legal("journey") == {"journey tide 1"}


def test_journey_same_source_again_only_after_four(game: Game) -> None:
    """§4 Many-step: "or equal to it if that step had n = 4"."""
    table = game(position(seats=[seat({"book": 6})]))
    assert table.play("journey book 3").legal("journey") == set()
    assert table.play("journey book 4").legal("journey") == {"journey book 1", "journey book 2"}


def test_journey_four_and_four_and_one(game: Game) -> None:
    """§4 Many-step: equal again after each step of 4, the lifted ones add up in ``pending``."""
    table = game(position(seats=[seat({"book": 9})])).play("journey book 4", "journey book 4")
    assert table.legal("journey") == {"journey book 1"}
    table.step("journey book 1", {"0.active.book": 0, "pending": pending("journey", "lift", {"book": 9}, 0, 1)})


def test_journey_only_journeys_and_landings_while_pending(game: Game) -> None:
    """§4 Many-step: lifts, then landings "of the same player": no Meditation, no Tide, no other action inside."""
    table = game(position(seats=[seat({"book": 3, "tide": 2}, favors=["tide", "sailboat"])])).play("journey book 1")
    assert table.json["to_move"] == 0
    assert {notation.split()[0] for notation in table.legal()} == {"journey", "land"}


def test_journey_no_lift_after_a_landing(game: Game) -> None:
    """§4 Many-step: "After the first landing there is no more lift"."""
    table = game(position(seats=[seat({"book": 2, "tide": 2})])).play("journey book 2", "land bribery 1")
    assert table.legal() == lands(["novice", "sailboat", "herbs", "shrine", "tide"], 1)


# Journey: landings


def test_landing_not_on_the_isle_that_was_left(game: Game) -> None:
    """§4 Many-step: "at most T − a(k) land on k": with all from one isle none lands there."""
    table = game(position(seats=[seat({"herbs": 1})])).play("journey herbs 1")
    assert table.legal() == lands(ALL_KINDS_BUT["herbs"], 1)


def test_landing_limit_with_two_isles_left(game: Game) -> None:
    """§4 Many-step: T = 3, a(book) = 2, a(novice) = 1: at most 1 on book, 2 on novice, 3 elsewhere; n is at most the
    hand, and on the last kind nothing may be left over."""
    table = game(position(seats=[seat({"book": 2, "novice": 1})])).play("journey book 2", "journey novice 1")
    assert table.legal() == (
        lands(["book"], 1)
        | lands(["novice"], 1, 2)
        | lands(["bribery", "sailboat", "herbs", "shrine"], 1, 2, 3)
        | lands(["tide"], 3)
    )


def test_landing_only_if_the_rest_can_still_land(game: Game) -> None:
    """§4 Many-step: "legal only if the rest can still land on the kinds that may follow ... within their limits": all
    came from tide, so nothing can follow on tide, and after shrine nothing is left."""
    table = game(position(seats=[seat({"tide": 2})])).play("journey tide 2")
    assert table.legal() == lands(["book", "bribery", "novice", "sailboat", "herbs"], 1, 2) | lands(["shrine"], 2)


def test_landing_rest_within_a_partial_limit(game: Game) -> None:
    """§4 Many-step: T = 3 with a(tide) = 2: one may still land on tide, so shrine takes 2 or 3, not 1."""
    table = game(position(seats=[seat({"book": 1, "tide": 2})])).play("journey book 1", "journey tide 2")
    assert table.legal() == (
        lands(["book"], 1, 2) | lands(["bribery", "novice", "sailboat", "herbs"], 1, 2, 3) | lands(["shrine"], 2, 3)
    )


def test_landing_kinds_ascend(game: Game) -> None:
    """§4 Many-step: "the source (the kind) is greater than that of the step before", for landings too."""
    table = game(position(seats=[seat({"book": 3})])).play("journey book 3", "land sailboat 1")
    assert table.legal() == lands(["herbs", "shrine"], 1, 2) | lands(["tide"], 2)


def test_landing_five_on_the_last_kind_as_four_and_one(game: Game) -> None:
    """§4 Many-step: "(the same kind included when n = 4)": 4 on tide may be followed by 1 on tide."""
    table = game(position(seats=[seat({"book": 5})])).play("journey book 4", "journey book 1")
    assert lands(["tide"], 1, 2, 3, 4) & table.legal() == lands(["tide"], 4)
    after = table.play("land tide 4")
    assert after.legal() == lands(["tide"], 1)
    after.action("land tide 1", {"0.inactive.tide": 5, "pending": None})


def test_landing_order_starts_anew_after_the_lifts(game: Game) -> None:
    """§4 Many-step: "In both *rows* of steps": the first landing is not bound by the last lift."""
    table = game(position(seats=[seat({"tide": 1})])).play("journey tide 1")
    assert "land book 1" in table.legal()


def test_landing_four_again_within_the_limit_of_the_whole_action(game: Game) -> None:
    """§4 Many-step: T = 5, a(shrine) = 1: at most 4 on shrine "in the whole action", so not 4 and then 1 more; and
    a(tide) = 0, so the one left goes to tide."""
    table = game(position(seats=[seat({"book": 4, "shrine": 1})])).play("journey book 4", "journey shrine 1")
    assert table.play("land shrine 4").legal() == lands(["tide"], 1)


def test_landing_four_on_the_last_kind_not_beyond_its_limit(game: Game) -> None:
    """§4 Many-step: T = 5, a(tide) = 1, a(book) = 4: tide holds 4 and nothing follows for the fifth."""
    table = game(position(seats=[seat({"book": 4, "tide": 1})])).play("journey book 4", "journey tide 1")
    assert lands(["tide"], 1, 2, 3, 4) & table.legal() == set()
    assert lands(["shrine"], 1, 2, 3, 4) & table.legal() == lands(["shrine"], 1, 2, 3, 4)
    assert lands(["book"], 1, 2) & table.legal() == lands(["book"], 1)


def test_landing_more_than_four_of_the_rest_on_the_last_kind(game: Game) -> None:
    """§4 Many-step: "within their limits ... (the same kind included when n = 4)": T = 6. With a(tide) = 1 the five
    left after one on shrine go to tide as 4 and 1; with a(tide) = 2 tide takes only four, so shrine at least two."""
    five = game(position(seats=[seat({"book": 5, "tide": 1})]))
    five = five.play("journey book 4", "journey book 1", "journey tide 1")
    assert lands(["shrine", "tide"], 1, 2, 3, 4) & five.legal() == lands(["shrine"], 1, 2, 3, 4)
    assert five.play("land shrine 1", "land tide 4").legal() == lands(["tide"], 1)
    four = game(position(seats=[seat({"book": 4, "tide": 2})])).play("journey book 4", "journey tide 2")
    assert lands(["shrine", "tide"], 1, 2, 3, 4) & four.legal() == lands(["shrine"], 2, 3, 4)
    assert four.play("land shrine 2").legal() == lands(["tide"], 4)


def test_landing_at_most_four_at_a_time(game: Game) -> None:
    """§4 Many-step: "A landing puts n ∈ {1, 2, 3, 4} lifted novices"; after a landing of 4 the same kind again."""
    table = game(position(seats=[seat({"book": 6})])).play("journey book 4", "journey book 2")
    assert lands(["bribery"], 1, 2, 3, 4, 5, 6) & table.legal() == lands(["bribery"], 1, 2, 3, 4)
    assert lands(["bribery"], 1, 2, 3) & table.play("land bribery 4").legal() == lands(["bribery"], 1, 2)
    assert lands(["bribery"], 1, 2, 3) & table.play("land bribery 3").legal() == set()


def test_landing_in_part(game: Game) -> None:
    """§8 ``pending``: stage ``land``, ``landed`` by kind, ``last`` the kind; §4: they land inactive."""
    table = game(position(seats=[seat({"book": 3})])).play("journey book 3")
    table.step(
        "land sailboat 2",
        {
            "0.inactive.sailboat": 2,
            "pending": pending("journey", "land", {"book": 3}, 3, 2, landed={"sailboat": 2}),
        },
    )


def test_journey_ends_by_itself_and_all_arrive_inactive(game: Game) -> None:
    """§4 Many-step: "the action ends by itself when every lifted novice has landed"; Journey: "they arrive
    inactive"; two novices may change places."""
    table = game(position(3, to_move=2, seats=[seat(), seat(), seat({"book": 1, "tide": 2}, {"tide": 1})]))
    table.action(
        ["journey book 1", "journey tide 1", "land book 1", "land tide 1"],
        {"2.active.book": 0, "2.inactive.book": 1, "2.active.tide": 1, "2.inactive.tide": 2},
    )


# Tide


def test_tide_sources(game: Game) -> None:
    """§4 Tide: "Any number ≥ 1 of novices, active or inactive, from any isles and the landing stage"."""
    table = game(position(seats=[seat({"book": 1}, {"book": 2, "tide": 1}, landing=5, favors=["tide"])]))
    assert table.legal("tide") == (
        {"tide book 1", "tide book~ 1", "tide book~ 2", "tide tide~ 1"} | {f"tide landing {n}" for n in (1, 2, 3, 4)}
    )


def test_tide_returns_its_favor_with_the_first_lift(game: Game) -> None:
    """§4 Many-step: "Tide's favor token is returned with its first lift", once."""
    table = game(position(seats=[seat({"book": 1}, {"herbs": 1}, favors=["tide", "herbs"])]))
    table = table.step(
        "tide book 1",
        {"0.active.book": 0, "0.favors.tide": False, "pending": pending("tide", "lift", {"book": 1}, 0, 1)},
    )
    table.step(
        "tide herbs~ 1",
        {"0.inactive.herbs": 0, "pending": pending("tide", "lift", {"book": 1, "herbs": 1}, 11, 1)},
    )


def test_tide_from_the_landing_stage(game: Game) -> None:
    """§8 ``pending``: "L the number lifted from the landing stage", source 14."""
    table = game(position(seats=[seat(landing=3, favors=["tide"])]))
    after = table.step(
        "tide landing 2",
        {"0.landing": 1, "0.favors.tide": False, "pending": pending("tide", "lift", {}, 14, 2, landing_lifted=2)},
    )
    assert after.legal() == lands(ALL_KINDS_BUT["tide"], 1, 2) | lands(["tide"], 2)


def test_tide_lifts_active_then_inactive_then_landing_stage(game: Game) -> None:
    """§4 Many-step: sources "0–6 active ..., 7–13 inactive ..., 14 the landing stage", ascending."""
    one = seat({"book": 1, "tide": 1}, {"book": 1, "herbs": 1}, landing=1, favors=["tide"])
    table = game(position(seats=[one])).play("tide tide 1")
    assert table.legal("tide") == {"tide book~ 1", "tide herbs~ 1", "tide landing 1"}
    table = table.play("tide herbs~ 1")
    assert table.legal("tide") == {"tide landing 1"}
    assert table.play("tide landing 1").legal("tide") == set()


@pytest.mark.parametrize("source", ["book", "book~", "landing"])
def test_tide_same_source_again_only_after_four(game: Game, source: str) -> None:
    """§4 Many-step: "or equal to it if that step had n = 4", for each sort of source."""
    ones = {
        "book": seat({"book": 5}, favors=["tide"]),
        "book~": seat({}, {"book": 5}, favors=["tide"]),
        "landing": seat(landing=5, favors=["tide"]),
    }
    table = game(position(seats=[ones[source]]))
    assert table.play(f"tide {source} 4").legal("tide") == {f"tide {source} 1"}
    assert table.play(f"tide {source} 3").legal("tide") == set()


def test_tide_active_and_inactive_count_together_for_the_limit(game: Game) -> None:
    """§4 Many-step: "a(k) of them from the isle of kind k (active and inactive)": T = 3, a(book) = 2."""
    one = seat({"book": 1}, {"book": 1, "tide": 1}, favors=["tide"])
    table = game(position(seats=[one])).play("tide book 1", "tide book~ 1", "tide tide~ 1")
    assert table.legal() == (lands(["book"], 1) | lands(["bribery", "novice", "sailboat", "herbs", "shrine"], 1, 2, 3))


def test_tide_novices_of_the_landing_stage_land_anywhere(game: Game) -> None:
    """§4 Many-step: the landing stage is no isle: T = 2, a(book) = 1, the other may land on book."""
    table = game(position(seats=[seat({"book": 1}, landing=1, favors=["tide"])]))
    table = table.play("tide book 1", "tide landing 1")
    assert lands(["book"], 1, 2) & table.legal() == lands(["book"], 1)
    assert lands(["tide"], 1, 2) & table.legal() == lands(["tide"], 2)


def test_tide_arrives_inactive(game: Game) -> None:
    """§4 Tide: "They arrive inactive", active ones and those of the landing stage too."""
    one = seat({"book": 1}, {"book": 1}, landing=1, favors=["tide"])
    game(position(seats=[one])).action(
        ["tide book 1", "tide book~ 1", "tide landing 1", "land herbs 1", "land shrine 2"],
        {
            "0.active.book": 0,
            "0.inactive.book": 0,
            "0.landing": 0,
            "0.inactive.herbs": 1,
            "0.inactive.shrine": 2,
            "0.favors.tide": False,
        },
    )


def test_tide_the_same_can_have_several_sequences(game: Game) -> None:
    """§4 Many-step: "(a Tide can have several)": book to novice, or book to herbs and herbs to novice."""
    table = game(position(seats=[seat({}, {"book": 1, "herbs": 1}, favors=["tide"])]))
    one = table.play("tide book~ 1", "land novice 1")
    other = table.play("tide book~ 1", "tide herbs~ 1", "land novice 1", "land herbs 1")
    assert one.json == other.json


# [choice same_isle_moves]


def test_same_isle_moves_lifts_the_limit_of_a_journey(game: Game) -> None:
    """§4 [choice ``same_isle_moves``=true]: "the limit on ``land`` below does not apply"; what cannot follow in order
    is still illegal."""
    table = game(position(seats=[seat({"tide": 2})]), same_isle_moves=True).play("journey tide 2")
    assert table.legal() == lands(ALL_KINDS_BUT["tide"], 1, 2) | lands(["tide"], 2)
    table.action("land tide 2", {"0.inactive.tide": 2, "pending": None})


def test_same_isle_moves_even_an_inactive_novice(game: Game) -> None:
    """§4 [choice ``same_isle_moves``=true]: "even an inactive novice may 'move' to its own isle"."""
    table = game(position(seats=[seat({}, {"book": 1}, favors=["tide"])]), same_isle_moves=True)
    table.action(["tide book~ 1", "land book 1"], {"0.favors.tide": False})


def test_same_isle_moves_off_for_an_inactive_novice(game: Game) -> None:
    """§4 [choice ``same_isle_moves``=false]: "moves to the isle that the novice left are not moves"."""
    table = game(position(seats=[seat({}, {"book": 1}, favors=["tide"])])).play("tide book~ 1")
    assert table.legal() == lands(ALL_KINDS_BUT["book"], 1)
