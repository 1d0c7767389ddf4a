"""Small hand-made positions for the paragraphs of the rules that are easily got wrong.

They start from `start`: ring tide, novice, sailboat, herbs, book, bribery, shrine; Moon Priestess on tide, Master
Builder on herbs, Apostate on bribery. Two active novices each on four isles:
seat 0: shrine on novice; tide, sailboat, book, bribery; favors herbs, shrine
seat 1: shrine on sailboat; tide, herbs, bribery, shrine; favors book, novice
seat 2: shrine on book; tide, novice, herbs, shrine; favors bribery, sailboat
With three players the batches are 5 6 8, 9 11 12, 14 15 16, 17 18 19, 21 22 24, 25 27 28; space 18 touches 2, 5, 6,
12, 19 and 28.
"""

from __future__ import annotations

import random

import pytest

from engine_fast.reference import IllegalDecision
from engine_fast.reference.model import KINDS, SOURCES, BookInHand, Tile, Voyage, counts
from engine_fast.reference.scoring import (
    after_loss,
    council_precedence,
    end_game,
    next_isle_of_apostate,
    score_apostate,
    score_priestess,
    score_temple,
)
from tests.reference.games import reference, start

TWIN = reference()


def with_verb(twin, position, *verbs):
    return [text for text in twin.legal(position) if text.split()[0] in verbs]


def play_all(twin, position, *decisions):
    for decision in decisions:
        position = twin.play(position, decision)
    return position


def on_isles(**numbers):
    return counts(numbers.get(kind, 0) for kind in KINDS)


def influences(position):
    return [seat.influence for seat in position.seats]


# Section 4: length of the phase and whose turn it is


def test_last_token_gains_one_and_ends_the_phase_at_once():
    position = start(TWIN, 3)
    position.time_tokens, position.actions, position.to_move, position.priestess = 1, 4, 1, "bribery"
    for seat in position.seats:
        seat.active["bribery"] = 0
    after = TWIN.play(position, "meditate")
    assert influences(after) == [6, 7, 6]
    assert (after.round, after.actions, after.time_tokens, after.start_player, after.to_move) == (2, 0, 4, 2, 2)


def test_the_limit_of_actions_ends_the_phase_without_bonus():
    twin = reference(max_actions_per_player=1)
    position = start(twin, 3, start_player=1)
    for seat in position.seats:
        seat.active["bribery"] = 0
    position.priestess = "bribery"
    after = play_all(twin, position, "meditate", "meditate", "recruit tide")
    assert influences(after) == [6, 6, 6]
    assert (after.round, after.start_player) == (2, 1)


def test_the_limit_counts_an_action_of_many_steps_once():
    twin = reference(max_actions_per_player=1)
    position = play_all(twin, start(twin, 2), "journey tide 2", "land herbs 2")
    assert (position.round, position.actions, position.to_move) == (1, 1, 1)
    after = twin.play(position, "journey tide 1")
    assert after.round == 1
    assert twin.play(after, "land book 1").round == 2


def test_meditation_as_the_last_action_allowed_still_gains_its_bonus():
    twin = reference(max_actions_per_player=2)
    position = start(twin, 2)
    position.time_tokens, position.actions, position.to_move = 1, 3, 1
    with_bonus, without = (twin.play(position, text).seats[1].influence for text in ("meditate", "recruit herbs"))
    assert with_bonus == without + 1


def test_nobody_is_skipped():
    position = start(TWIN, 3)
    for seat in position.seats:
        seat.active, seat.favors = on_isles(), set()
    assert TWIN.legal(position) == ["meditate"]


# Section 4: virtual novice


def test_virtual_novice_may_be_alone():
    position = start(TWIN, 3, start_player=1)
    assert {"favor sailboat +v", "council +v", "expel +v"} <= set(TWIN.legal(position))
    alone = reference(virtual_alone=False)
    assert not {"favor sailboat +v", "council +v", "expel +v"} & set(alone.legal(position))
    assert {"recruit tide +v", "promote 5 +v", "council tide 1 +v"} <= set(alone.legal(position))


def test_virtual_novice_is_never_used_to_gain_its_own_favor():
    position = start(TWIN, 3, start_player=1)
    position.seats[1].active = on_isles(novice=4)
    assert not [text for text in TWIN.legal(position) if text.startswith("favor novice")]


def test_the_token_is_returned_and_one_novice_fewer_used():
    after = TWIN.play(start(TWIN, 3, start_player=1), "favor tide +v")
    seat = after.seats[1]
    assert (seat.favors, seat.active["tide"], seat.inactive["tide"]) == ({"book", "tide"}, 1, 1)


# Section 4: Priest's Favor, Recruit, Build Shrine, Herbs, Sailboat


def test_a_shrine_spares_a_novice_for_the_favor():
    position = start(TWIN, 3)
    position.seats[0].active["novice"] = 2
    after = TWIN.play(position, "favor novice")
    assert (after.seats[0].active["novice"], after.seats[0].inactive["novice"]) == (1, 1)


def test_recruit_needs_supply_and_arrives_inactive():
    position = start(TWIN, 3)
    after = TWIN.play(position, "recruit tide")
    assert (after.seats[0].active["tide"], after.seats[0].inactive["tide"], after.seats[0].supply) == (0, 3, 3)
    position.seats[0].supply = 0
    assert with_verb(TWIN, position, "recruit") == []


def test_build_asks_for_the_favor_the_isle_and_a_shrine():
    position = start(TWIN, 3)
    assert with_verb(TWIN, position, "build") == []
    position.seats[0].active["herbs"] = 2
    assert with_verb(TWIN, position, "build") == ["build"]
    after = TWIN.play(position, "build")
    assert (after.seats[0].shrines, after.seats[0].favors) == ({"novice", "herbs"}, {"herbs"})
    position.seats[0].shrines = {"herbs"}
    assert with_verb(TWIN, position, "build") == []
    position.seats[0].shrines = set(KINDS) - {"herbs"}
    assert with_verb(TWIN, position, "build") == []


def test_herbs_never_on_its_own_isle():
    position = start(TWIN, 3)
    position.seats[0].inactive = on_isles(herbs=2, tide=1, book=3)
    assert with_verb(TWIN, position, "herbs") == ["herbs book 1", "herbs book 2", "herbs tide 1"]
    after = TWIN.play(position, "herbs book 2")
    assert (after.seats[0].active["book"], after.seats[0].inactive["book"]) == (4, 1)


def test_sailboat_goes_elsewhere_and_arrives_active():
    position = start(TWIN, 3, start_player=2)
    position.seats[2].landing = 2
    sails = with_verb(TWIN, position, "sail")
    assert "sail tide tide 1" not in sails
    assert {"sail landing tide 2", "sail landing tide 1", "sail tide book 2"} <= set(sails)
    after = TWIN.play(position, "sail landing book 2")
    assert (after.seats[2].landing, after.seats[2].active["book"], after.seats[2].favors) == (0, 2, {"bribery"})


def test_inactive_novices_do_not_sail():
    position = start(TWIN, 3, start_player=2)
    position.seats[2].active, position.seats[2].inactive = on_isles(), on_isles(tide=2)
    assert with_verb(TWIN, position, "sail") == []


# Section 4: Journey and Tide


def lifted(action="journey", landing=0, stage="lift", **numbers):
    hand = sum(numbers.values()) + landing
    return Voyage(action, stage, on_isles(**numbers), landing, hand, counts(), SOURCES[0], 1)


def landings_of(twin, voyage):
    position = start(twin, 3)
    position.pending = voyage
    return with_verb(twin, position, "land")


def test_lifts_ascend_and_repeat_only_after_four():
    position = start(TWIN, 3)
    position.seats[0].active = on_isles(book=1, novice=5, herbs=2)
    after = TWIN.play(position, "journey novice 4")
    assert with_verb(TWIN, after, "journey") == ["journey herbs 1", "journey herbs 2", "journey novice 1"]
    after = TWIN.play(position, "journey novice 3")
    assert with_verb(TWIN, after, "journey") == ["journey herbs 1", "journey herbs 2"]


def test_the_first_landing_may_be_on_any_isle():
    position = TWIN.play(start(TWIN, 3), "journey tide 1")
    assert with_verb(TWIN, position, "land") == [f"land {kind} 1" for kind in sorted(KINDS) if kind != "tide"]


def test_no_lift_after_a_landing():
    position = play_all(TWIN, start(TWIN, 3), "journey book 2", "land bribery 1")
    assert {text.split()[0] for text in TWIN.legal(position)} == {"land"}


def test_a_single_novice_on_the_last_isle_needs_all_to_be_landed():
    """On tide nothing follows but tide itself after four."""
    assert "land tide 2" in landings_of(TWIN, lifted(book=2))
    assert "land tide 1" not in landings_of(TWIN, lifted(book=2))
    assert "land tide 4" in landings_of(TWIN, lifted(book=5))
    assert "land tide 1" not in landings_of(TWIN, lifted(book=5))


def test_four_may_be_followed_by_the_same_isle():
    position = start(TWIN, 3)
    position.seats[0].active = on_isles(book=9)
    position.seats[0].supply = 3
    position = play_all(TWIN, position, "journey book 4", "journey book 4", "journey book 1", "land tide 4")
    assert TWIN.legal(position) == ["land tide 4"]
    position = TWIN.play(position, "land tide 4")
    assert TWIN.legal(position) == ["land tide 1"]
    assert TWIN.play(position, "land tide 1").seats[0].inactive["tide"] == 9


def test_each_novice_lands_on_another_isle_than_its_own():
    """Two from tide, one from book: one can land on tide, two on book."""
    landings = landings_of(TWIN, lifted(tide=2, book=1))
    assert {"land book 1", "land book 2"} <= set(landings)
    assert "land book 3" not in landings
    assert "land shrine 1" not in landings
    assert {"land shrine 2", "land shrine 3"} <= set(landings)
    assert not {text for text in landings if "tide" in text}


def test_the_limit_counts_repeated_landings_together():
    """Five from tide and one from book: at most five land on book, four and then only one."""
    position = start(TWIN, 3)
    position.pending = lifted(tide=5, book=1)
    after = TWIN.play(position, "land book 4")
    assert "land book 1" in TWIN.legal(after)
    assert "land book 2" not in TWIN.legal(after)
    after = TWIN.play(after, "land book 1")
    assert TWIN.legal(after) == sorted(f"land {kind} 1" for kind in KINDS if kind != "book")


def test_novices_of_the_landing_stage_land_anywhere():
    assert "land tide 3" not in landings_of(TWIN, lifted("tide", tide=1, landing=2))
    assert "land tide 3" in landings_of(TWIN, lifted("tide", landing=3))


def test_same_isle_moves_has_no_limit():
    twin = reference(same_isle_moves=True)
    assert "land tide 2" in landings_of(twin, lifted(tide=2))
    assert "land tide 1" not in landings_of(twin, lifted(tide=2))


def test_tide_lifts_active_then_inactive_then_the_landing_stage():
    position = start(TWIN, 3)
    seat = position.seats[0]
    seat.favors, seat.active, seat.inactive, seat.landing = {"tide"}, on_isles(shrine=1), on_isles(book=2), 1
    assert with_verb(TWIN, position, "tide") == ["tide book~ 1", "tide book~ 2", "tide landing 1", "tide shrine 1"]
    after = TWIN.play(position, "tide shrine 1")
    assert after.seats[0].favors == set()
    assert with_verb(TWIN, after, "tide") == ["tide book~ 1", "tide book~ 2", "tide landing 1"]
    after = play_all(TWIN, after, "tide book~ 1", "tide landing 1")
    assert with_verb(TWIN, after, "tide") == []
    assert TWIN.dump(after)["pending"] == {
        "action": "tide", "stage": "lift", "lifted": [1, 0, 0, 0, 0, 1, 0], "landing_lifted": 1, "hand": 3,
        "landed": [0] * 7, "last": 14, "last_n": 1,
    }  # fmt: skip
    after = play_all(TWIN, after, "land herbs 2", "land tide 1")
    assert (after.pending, after.actions, after.to_move) == (None, 1, 1)
    assert (after.seats[0].inactive["herbs"], after.seats[0].inactive["tide"]) == (2, 1)


# Section 4: Promotion and Sanctification


def test_approved_needs_no_bribe_and_bribable_does():
    position = start(TWIN, 3)
    position.seats[0].active = on_isles(shrine=2, sailboat=2, tide=2, book=2)
    assert with_verb(TWIN, position, "promote") == ["promote 5", "promote 6", "promote 8"]
    position.seats[0].favors.add("bribery")
    assert with_verb(TWIN, position, "promote") == ["promote 11", "promote 5", "promote 6", "promote 8", "promote 9"]
    assert "bribery" in TWIN.play(position, "promote 8").seats[0].favors
    after = TWIN.play(position, "promote 9")
    assert "bribery" not in after.seats[0].favors
    assert after.tiles[9] == Tile("claimed", 0)
    assert (after.seats[0].active["sailboat"], after.seats[0].inactive["sailboat"]) == (0, 1)


def test_nothing_is_bribable_in_round_six():
    position = start(TWIN, 3)
    position.round = 6
    position.seats[0].active = on_isles(herbs=2, bribery=2)
    before = with_verb(TWIN, position, "promote")
    assert before == ["promote 12", "promote 15", "promote 24", "promote 25", "promote 27"]
    position.seats[0].favors.add("bribery")
    assert with_verb(TWIN, position, "promote") == before


def test_promotion_with_a_shrine_uses_one_and_no_virtual_novice():
    position = start(TWIN, 3, start_player=1)
    position.seats[1].active = on_isles(sailboat=1, shrine=1)
    assert with_verb(TWIN, position, "promote") == ["promote 5 +v", "promote 8"]
    assert with_verb(reference(virtual_promotion=False), position, "promote") == ["promote 8"]
    after = TWIN.play(position, "promote 8")
    assert (after.seats[1].active["sailboat"], after.seats[1].inactive["sailboat"]) == (0, 0)
    after = TWIN.play(position, "promote 5 +v")
    assert (after.seats[1].active["shrine"], after.seats[1].inactive["shrine"]) == (0, 0)
    assert after.seats[1].favors == {"book"}


def test_sanctification_displaces_lower_neighbours_without_book():
    position = start(TWIN, 3)
    position.round = 4
    position.tiles |= {
        18: Tile("claimed", 0), 5: Tile("temple", 1), 6: Tile("temple", 2, True), 12: Tile("temple", 0),
        19: Tile("temple", 1), 28: Tile("temple", 2), 2: Tile("temple", 1), 17: Tile("temple", 2),
    }  # fmt: skip
    after = TWIN.play(position, "sanctify 18")
    assert after.tiles[18] == Tile("temple", 0)
    assert after.tiles[5] == after.tiles[2] == Tile("temple", None)
    assert [after.tiles[tile].owner for tile in (6, 12, 19, 28, 17)] == [2, 0, 1, 2, 2]
    assert [seat.landing for seat in after.seats] == [0, 2, 0]
    assert after.seats[0].influence == 5 + 3 + 2


def test_a_claimed_tile_can_be_sanctified_only_by_its_owner_and_in_time():
    position = start(TWIN, 3)
    position.tiles |= {5: Tile("claimed", 1), 6: Tile("claimed", 0), 9: Tile("claimed", 0), 14: Tile("claimed", 0)}
    assert with_verb(TWIN, position, "sanctify") == ["sanctify 6"]
    position.seats[0].favors.add("bribery")
    assert with_verb(TWIN, position, "sanctify") == ["sanctify 6", "sanctify 9"]
    after = TWIN.play(position, "sanctify 9")
    assert (after.seats[0].influence, "bribery" in after.seats[0].favors) == (11, False)


# Section 4: Book


def book_position(players, twin=TWIN):
    position = start(twin, players)
    position.tiles[5] = Tile("temple", 0)
    for seat in position.seats:
        seat.favors = {"book"}
    return position


def test_book_is_worth_two_for_the_first_use_with_two_players():
    position = book_position(2)
    position = play_all(TWIN, position, "take-book 2", "give-book 5")
    assert (position.seats[0].influence, position.book_bonus, position.seats[0].favors) == (7, False, set())
    position.seats[0].favors = {"book"}
    position.tiles[8] = Tile("temple", 1)
    position = play_all(TWIN, position, "take-book 1", "give-book 8")
    assert position.seats[1].influence == 6
    position = play_all(TWIN, position, "meditate", "meditate", "meditate")
    assert position.book_bonus
    assert position.round == 2


def test_book_is_worth_one_with_three_players():
    position = play_all(TWIN, book_position(3), "take-book 3", "give-book 5")
    assert position.seats[0].influence == 6
    assert (position.tiles[3].book, position.tiles[5].book) == (False, True)


def test_book_from_the_own_novice_to_another_own_one():
    position = book_position(3)
    position.pending = None
    after = TWIN.play(position, "take-book 1")
    assert after.pending == BookInHand(1)
    assert TWIN.dump(after)["pending"] == {"action": "book", "from": 1}
    assert (after.to_move, after.seats[0].favors) == (0, {"book"})
    assert TWIN.legal(after) == ["give-book 5"]


def test_book_needs_a_novice_without_one():
    position = book_position(3)
    position.tiles[5] = Tile("path")
    assert with_verb(TWIN, position, "take-book") == []
    twin = reference(book_same_space=True)
    assert with_verb(twin, position, "take-book") == ["take-book 1"]
    after = play_all(twin, position, "take-book 1", "give-book 1")
    assert (after.seats[0].influence, after.seats[0].favors, after.tiles[1].book) == (6, set(), True)


def test_a_novice_that_lost_its_book_can_get_another_one_but_not_the_same():
    position = book_position(3)
    position.tiles[2] = Tile("temple", 0, True)
    after = TWIN.play(position, "take-book 2")
    assert TWIN.legal(after) == ["give-book 5"]
    assert reference(book_same_space=True).legal(after) == ["give-book 2", "give-book 5"]


# Section 4: Council and Expulsion


def council(position, *stacks_from_the_top_seat):
    """Puts the named stacks on the highest seats of the Council."""
    position.council = [[] for _ in position.council]
    for index, stack in enumerate(stacks_from_the_top_seat):
        position.council[-1 - index] = list(stack)


def test_council_moves_on_top_but_under_on_the_last_seat():
    position = start(TWIN, 3)
    council(position, [1], [2], [0])
    after = TWIN.play(position, "council tide 1")
    assert after.council[-2] == [2, 0]
    assert council_precedence(after) == [1, 0, 2]
    after = TWIN.play(position, "council tide 2")
    assert after.council[-1] == [0, 1]
    assert council_precedence(after) == [1, 0, 2]


def test_council_leaves_from_the_middle_of_a_stack():
    after = TWIN.play(start(TWIN, 3, start_player=1), "council tide 1 +v")
    assert (after.council[0], after.council[2]) == ([2, 0], [1])


def test_council_steps_may_not_exceed_the_remaining_seats():
    position = start(TWIN, 3, start_player=1)
    position.seats[1].active = on_isles(tide=3)
    council(position, [], [0, 2], [1])
    legal = ["council +v", "council tide 1", "council tide 1 +v", "council tide 2"]
    assert with_verb(TWIN, position, "council") == legal
    twin = reference(council_overshoot=True)
    more = ["council tide 2 +v", "council tide 3", "council tide 3 +v"]
    assert with_verb(twin, position, "council") == sorted(legal + more)
    after = twin.play(position, "council tide 3 +v")
    assert (after.council[-1], after.seats[1].inactive["tide"]) == ([1], 3)


@pytest.mark.parametrize("overshoot", [False, True])
def test_council_is_illegal_on_the_last_seat(overshoot):
    position = start(TWIN, 3, start_player=1)
    council(position, [0, 1, 2])
    assert with_verb(reference(council_overshoot=overshoot), position, "council") == []


def test_expulsion_counts_real_and_virtual_novices_round_the_ring():
    position = start(TWIN, 3, start_player=1)
    assert with_verb(TWIN, position, "expel") == ["expel +v", "expel 1", "expel 1 +v", "expel 2", "expel 2 +v"]
    assert TWIN.play(position, "expel 2 +v").apostate == "novice"
    assert TWIN.play(position, "expel +v").apostate == "shrine"
    position.seats[1].active = on_isles(bribery=8)
    after = TWIN.play(position, "expel 7")
    assert (after.apostate, after.seats[1].inactive["bribery"]) == ("bribery", 7)
    assert TWIN.play(position, "expel 8").apostate == "shrine"


# Section 5: scoring


def test_priestess_counts_active_novices_and_shrine():
    position = start(TWIN, 3)
    position.priestess = "novice"
    position.seats[1].inactive["novice"] = 5
    score_priestess(TWIN.rules, position)
    assert influences(position) == [7, 5, 10]


def test_priestess_ties_go_by_council_precedence():
    position = start(TWIN, 3)
    score_priestess(TWIN.rules, position)
    assert position.council[0] == [0, 1, 2]
    assert influences(position) == [6, 7, 10]
    position = start(TWIN, 3)
    position.council[0], position.council[1] = [0, 2], [1]
    score_priestess(TWIN.rules, position)
    assert influences(position) == [6, 10, 7]


def test_priestess_leaves_the_fourth_and_who_is_not_there_without():
    position = start(TWIN, 4)
    score_priestess(TWIN.rules, position)
    assert influences(position) == [5, 6, 8, 11]
    position = start(TWIN, 2)
    position.seats[1].active["tide"] = 0
    score_priestess(TWIN.rules, position)
    assert influences(position) == [10, 5]


def test_apostate_counts_active_and_inactive():
    position = start(TWIN, 3)
    position.seats[0].inactive["bribery"] = 1
    position.seats[0].shrines.add("bribery")
    position.seats[2].shrines.add("bribery")
    score_apostate(TWIN.rules, position)
    assert influences(position) == [1, 2, 5]


@pytest.mark.parametrize(
    ("influence", "loss", "floor", "expected"),
    [(5, 3, 0, 2), (2, 3, 0, 0), (0, 3, 0, 0), (-4, 3, 0, -4), (2, 3, None, -1), (4, 3, 3, 3), (1, 2, 3, 1)],
)
def test_the_floor_stops_losses_and_never_raises(influence, loss, floor, expected):
    assert after_loss(influence, loss, floor) == expected


def test_gains_come_before_the_loss_and_the_temple_after_it():
    """2 influence + 0 for the Priestess - 3 stops at 0, then 1 for the Temple."""
    position = start(TWIN, 3)
    position.time_tokens, position.actions, position.priestess = 1, 3, "shrine"
    position.seats[0].influence = 1
    after = TWIN.play(position, "meditate")
    assert after.seats[0].influence == 1


def test_temple_counts_neither_path_nor_landing_stage():
    position = start(TWIN, 3)
    position.tiles |= {5: Tile("claimed", 0), 6: Tile("temple", 1), 3: Tile("temple", None)}
    position.seats[2].landing = 1
    score_temple(position)
    assert influences(position) == [6, 7, 5]


def last_token(players, player, twin=TWIN, **changes):
    position = start(twin, players, start_player=changes.pop("start_player", 0))
    position.time_tokens, position.to_move = 1, player
    position.actions = 2 * players + (player - position.start_player) % players
    for key, value in changes.items():
        setattr(position, key, value)
    return twin.play(position, "meditate")


def test_figures_move_clockwise_by_their_numbers():
    position = last_token(3, 0)
    assert (position.priestess, position.builder) == ("bribery", "tide")
    position = last_token(4, 0)
    assert (position.priestess, position.builder) == ("shrine", "tide")


def test_inactive_become_active_and_the_landing_stage_stays():
    position = start(TWIN, 3)
    position.time_tokens, position.actions = 1, 3
    position.seats[1].inactive["novice"], position.seats[1].landing = 3, 2
    after = TWIN.play(position, "meditate")
    assert (after.seats[1].active["novice"], after.seats[1].inactive["novice"], after.seats[1].landing) == (3, 0, 2)


def test_apostate_skips_isles_without_novices():
    position = start(TWIN, 3)
    for seat in position.seats:
        seat.active = on_isles()
        seat.landing = 2
    assert next_isle_of_apostate(position) == "bribery"
    position.seats[2].active["bribery"] = 1
    assert next_isle_of_apostate(position) == "bribery"
    position.seats[1].active["book"] = 1
    assert next_isle_of_apostate(position) == "book"
    position.seats[0].active["novice"] = 1
    assert next_isle_of_apostate(position) == "novice"


@pytest.mark.parametrize("start_player", [0, 1])
@pytest.mark.parametrize("player", [0, 1])
def test_start_player_of_two(start_player, player):
    online = reference(name="online")
    assert last_token(2, player, start_player=start_player).start_player == 1 - start_player
    assert last_token(2, player, twin=online, start_player=start_player).start_player == 1 - player


@pytest.mark.parametrize("name", ["official", "online"])
@pytest.mark.parametrize("players", [3, 4])
def test_start_player_of_more_is_the_left_neighbour(players, name):
    for player in range(players):
        after = last_token(players, player, twin=reference(name=name))
        assert after.start_player == after.to_move == (player + 1) % players


def test_two_players_have_three_tokens():
    assert (last_token(2, 0).time_tokens, last_token(3, 0).time_tokens) == (3, 4)


# Section 6: end


def test_end_counts_shrines_favors_and_the_council_seat():
    position = start(TWIN, 3)
    council(position, [1], [0, 2])
    position.seats[0].shrines = {"novice", "tide", "book"}
    position.tiles[5] = Tile("claimed", 1)
    end_game(TWIN.rules, position)
    assert influences(position) == [5 + 12 + 2 + 11, 5 + 4 + 2 + 12, 5 + 4 + 2 + 11]
    assert (position.phase, position.to_move) == ("over", None)


def test_final_ties_go_by_council_precedence():
    position = start(TWIN, 3)
    council(position, [1], [0, 2])
    position.phase, position.to_move = "over", None
    for seat, influence in zip(position.seats, (30, 30, 30), strict=True):
        seat.influence = influence
    assert TWIN.result(position) == {"influence": [30, 30, 30], "rank": [3, 1, 2]}
    position.seats[0].influence = 31
    assert TWIN.result(position)["rank"] == [1, 2, 3]


def test_over_leaves_the_board_as_the_last_action_left_it():
    position = last_token(2, 1, round=6, book_bonus=False)
    assert (position.phase, position.round, position.time_tokens, position.actions) == ("over", 6, 0, 6)
    assert (position.start_player, position.book_bonus) == (0, False)
    assert (position.priestess, position.builder, position.apostate) == ("tide", "herbs", "bribery")
    assert TWIN.legal(position) == []
    with pytest.raises(IllegalDecision, match="legal: nothing"):
        TWIN.play(position, "meditate")


def test_there_is_no_result_before_the_end():
    with pytest.raises(ValueError, match="'action'"):
        TWIN.result(start(TWIN, 3))


def test_the_limit_of_actions_ends_the_game_too():
    twin = reference(max_actions_per_player=1)
    position = start(twin, 2)
    position.round = 6
    after = play_all(twin, position, "recruit tide", "recruit tide")
    assert (after.phase, after.time_tokens, after.actions, after.seats[0].inactive["tide"]) == ("over", 3, 2, 3)
    assert twin.valid_setup(twin.dump(after)) == []


# Section 2: preliminary round


def test_with_two_players_no_shrine_on_herbs():
    for players, allowed in ((2, False), (3, True)):
        position = TWIN.new(random.Random(1), players, "standard")
        assert ("place-shrine herbs" in TWIN.legal(position)) == allowed


def test_shrines_avoid_all_shrines_and_novices_only_own_pieces():
    position = TWIN.new(random.Random(1), 3, "standard")
    position = play_all(TWIN, position, "place-shrine tide")
    assert "place-shrine tide" not in TWIN.legal(position)
    position = play_all(TWIN, position, "place-shrine book", "place-shrine herbs")
    assert "place-novices tide" not in TWIN.legal(position)
    position = play_all(TWIN, position, "place-novices book")
    assert "place-novices tide" in TWIN.legal(position)
    position = play_all(TWIN, position, "place-novices tide", "place-novices tide")
    assert not {"place-novices tide", "place-novices book"} & set(TWIN.legal(position))
