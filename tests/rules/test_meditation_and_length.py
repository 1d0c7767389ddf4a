"""RULES.md section 4: turn order, Meditation, and the end of an action phase."""

from __future__ import annotations

import pytest

from .builder import KINDS, position, seat
from .table import Game

# In the tests of the end of a phase nobody has a novice on the figures' isles: scoring gives 1 to each for the Temple.


def test_turns_go_clockwise(game: Game) -> None:
    """§4 "Beginning with the round's start player, clockwise, players take one action each"."""
    table = game(position(4, start_player=2, seats=[seat(favors=["novice"]) for _ in range(4)]))
    order = []
    for _ in range(5):
        order.append(table.json["to_move"])
        table = table.play("council +v" if len(order) < 5 else "meditate")
    assert order == [2, 3, 0, 1, 2]


def test_who_has_nothing_else_meditates(game: Game) -> None:
    """§4 "Nobody is skipped: who has nothing else to do meditates ... asked for, also when only one is legal"."""
    assert game(position(3)).legal() == {"meditate"}


def test_meditation_turns_a_time_token(game: Game) -> None:
    """§4 Meditation: "turns a Time token": no influence, it counts as an action (§4 "Meditations included")."""
    game(position(3, seats=[seat({"book": 2})])).action("meditate", {"time_tokens": 3})


def test_meditation_is_always_possible(game: Game) -> None:
    """§4 Meditation: "Always possible where an action begins"."""
    rich = seat(dict.fromkeys(KINDS, 1), {"book": 1}, landing=1, favors=KINDS)
    assert "meditate" in game(position(3, seats=[rich])).legal()


def test_every_kind_of_action_side_by_side(game: Game) -> None:
    """§4, the whole table at once: the complete legal list of a position with every favor."""
    one = seat({"book": 2}, {"tide": 1}, landing=1, shrines=["novice"], favors=KINDS)
    table = game(position(builder="book", apostate="book", temple={5: 0}, claimed={8: 0}, seats=[one]))
    others = [kind for kind in KINDS if kind != "book"]
    assert table.legal() == (
        {"meditate", "recruit book", "recruit book +v", "build", "build +v", "herbs tide 1"}
        | {"journey book 1", "journey book 2", "tide book 1", "tide book 2", "tide tide~ 1", "tide landing 1"}
        | {f"sail book {kind} {n}" for kind in others for n in (1, 2)}
        | {f"sail landing {kind} 1" for kind in KINDS}
        | {"sanctify 8", "take-book 1", "take-book 2"}
        | {"council book 1", "council book 2", "council book 1 +v", "council book 2 +v", "council +v"}
        | {"expel 1", "expel 2", "expel 1 +v", "expel 2 +v", "expel +v"}
    )


def test_used_favors_are_free_at_once(game: Game) -> None:
    """§4 "Used favor tokens return to their isles at once": the same kind can be gained with the next action."""
    seats = [seat({"herbs": 2}, {"tide": 1}, favors=["herbs"]), seat(favors=KINDS)]
    table = game(position(seats=seats)).play("herbs tide 1", "meditate")
    assert "favor herbs" in table.legal()


def test_last_time_token_gains_one_and_ends_the_phase_at_once(game: Game) -> None:
    """§4 Meditation: "The player who turns the last one gains 1 influence, and the action phase ends at once": nobody
    else acts; with 1 for each novice in the Temple (§5.3)."""
    table = game(position(4, start_player=1, to_move=2, time_tokens=1, seats=[seat({"book": 2}) for _ in range(4)]))
    assert table.gains("meditate") == [1, 1, 2, 1]
    assert table.play("meditate").json["round"] == 2


def test_last_but_one_time_token_ends_nothing(game: Game) -> None:
    """§4 Meditation: "until the *last* Time token is turned"."""
    game(position(4, to_move=1, time_tokens=2)).action("meditate", {"time_tokens": 1})


# [choice max_actions_per_player]


def test_cap_ends_the_phase_without_the_bonus(game: Game) -> None:
    """§4 Length: "ends, without the bonus of the last Time token, as soon as 60·N actions ... have been taken in it";
    here 2·3. The Time tokens are restacked, the player of the last action (seat 1) counts as the one who turned the
    last token, so seat 2 starts."""
    before = position(3, start_player=2, actions=5, time_tokens=3, seats=[seat(), seat({"book": 2})])
    game(before, max_actions_per_player=2).step(
        "recruit book",
        {
            "1.active.book": 3,
            "1.supply": "-1",
            "0.influence": "+1",
            "1.influence": "+1",
            "2.influence": "+1",
            "priestess": "bribery",
            "builder": "bribery",
            "apostate": "book",
            "round": 2,
            "actions": 0,
            "time_tokens": 4,
            "to_move": 2,
        },
    )


def test_cap_not_before_the_last_action(game: Game) -> None:
    """§4 Length: "as soon as": the fifth of six does not end it."""
    before = position(3, actions=4, time_tokens=3, seats=[seat(), seat({"book": 2})])
    game(before, max_actions_per_player=2).action(
        "council book 1",
        {
            "1.active.book": 1,
            "1.inactive.book": 1,
            "council.0": [0, 2],
            "council.1": [1],
        },
    )


@pytest.mark.parametrize("players", [2, 3, 4])
def test_cap_is_60_for_each_player_by_default(game: Game, players: int) -> None:
    """§4 Length: "60·N actions" [choice ``max_actions_per_player``=60]."""
    seats = [seat({"book": 2}) for _ in range(players)]
    last = game(position(players, actions=60 * players - 1, seats=seats))
    assert last.play("recruit book").json["round"] == 2
    last_but_one = game(position(players, actions=60 * players - 2, seats=seats))
    assert last_but_one.play("recruit book").json["round"] == 1


def test_cap_of_one_action_each(game: Game) -> None:
    """§4 Length with ``max_actions_per_player``=1: each player acts once, "Meditations included"; no token is the last
    (two of three turned), so no bonus."""
    table = game(position(2), max_actions_per_player=1)
    assert table.play("meditate").json["round"] == 1
    assert table.gains("meditate", "meditate") == [1, 1]
    assert table.play("meditate", "meditate").json["round"] == 2


def test_cap_by_a_meditation_that_is_not_the_last(game: Game) -> None:
    """§4 Length: a Meditation that reaches the cap ends the phase "without the bonus"."""
    table = game(position(3, actions=5, time_tokens=2), max_actions_per_player=2)
    assert table.gains("meditate") == [1, 1, 1]
    assert table.play("meditate").json["round"] == 2


def test_cap_by_the_last_meditation_gains_its_bonus(game: Game) -> None:
    """§4 Length: "(If that very action is the Meditation that turns the last token, its bonus is gained.)" Once, and
    one round ends, not two."""
    table = game(position(3, actions=5, time_tokens=1), max_actions_per_player=2)
    assert table.gains("meditate") == [1, 1, 2]
    assert table.play("meditate").json["round"] == 2


def test_cap_waits_for_the_end_of_a_journey(game: Game) -> None:
    """§4 Length counts actions; §8 ``actions``: "actions *completed* in this round"."""
    table = game(position(3, actions=5, seats=[seat(), seat(), seat({"book": 1})]), max_actions_per_player=2)
    lifted = table.play("journey book 1")
    assert (lifted.json["round"], lifted.json["actions"]) == (1, 5)
    landed = lifted.play("land herbs 1")
    assert (landed.json["round"], landed.json["actions"], landed.json["pending"]) == (2, 0, None)


def test_cap_waits_for_the_end_of_a_book(game: Game) -> None:
    """§4 Length and Book: the influence of ``give-book`` is gained, then the phase ends; the bonus counts double again
    in the next round (§5)."""
    seats = [seat(), seat(favors=["book"])]
    table = game(position(actions=3, temple={5: 1}, seats=seats), max_actions_per_player=2)
    taken = table.play("take-book 1")
    assert taken.json["round"] == 1
    assert table.gains("take-book 1", "give-book 5") == [1, 2 + 2]
    after = taken.play("give-book 5").json
    assert (after["round"], after["book_bonus"]) == (2, True)


def test_cap_with_two_players_online(game: Game) -> None:
    """§4 Length and §5 ``online``: "the player of the last action then counts as the one who turned the last token":
    seat 1 acted last, so his opponent starts."""
    before = position(actions=3, seats=[seat(), seat({"book": 2})])
    online = game(before, name="online", max_actions_per_player=2).play("recruit book").json
    assert (online["start_player"], online["to_move"]) == (0, 0)
    official = game(before, max_actions_per_player=2).play("recruit book").json
    assert (official["start_player"], official["to_move"]) == (1, 1)


def test_cap_counts_each_round_anew(game: Game) -> None:
    """§4 Length: "actions ... have been taken *in it*", one action phase."""
    table = game(position(2), max_actions_per_player=1).play("meditate", "meditate", "meditate")
    assert (table.json["round"], table.json["actions"]) == (2, 1)
