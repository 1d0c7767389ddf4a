"""What `valid_setup` accepts and what it refuses, each with a sentence that names the trouble."""

from __future__ import annotations

import copy
import random
import re
from functools import cache

import pytest

from engine_fast.reference.model import LANDING
from tests.reference.games import EXAMPLES, random_game, read_record, reference, start

TWIN = reference()


@cache
def positions(players):
    """All positions of some random standard games, as JSON."""
    rng = random.Random(players)
    games = (random_game(TWIN, rng, players, "standard") for _ in range(12))
    return [TWIN.dump(position) for game in games for position, _ in game]


def example(players, wanted):
    """A copy of the first position of the random games for which `wanted` is true."""
    return copy.deepcopy(next(data for data in positions(players) if wanted(data)))


def pending(action, stage=None):
    """Picks positions with such a pending action, with at least two novices in hand and two sources or landings."""

    def wanted(data):
        now = data["pending"]
        if not now or now["action"] != action:
            return False
        if stage is None:
            return True
        return now["stage"] == stage and sum(map(bool, now["lifted"])) >= 2 and now["hand"] >= 2

    return wanted


BASES = {
    "start": lambda: TWIN.dump(start(TWIN, 3)),
    "two": lambda: TWIN.dump(start(TWIN, 2)),
    "shrines": lambda: example(3, lambda data: data["phase"] == "shrines" and any(s["shrines"] for s in data["seats"])),
    "two shrines": lambda: example(2, lambda data: data["phase"] == "shrines"),
    "novices": lambda: example(3, lambda data: data["phase"] == "novices" and any(map(any_active, data["seats"]))),
    "late": lambda: example(
        3, lambda data: data["round"] == 4 and data["actions"] == 8 and not data["pending"] and temple_spaces(data)
    ),
    "over": lambda: example(3, lambda data: data["phase"] == "over" and data["time_tokens"] == 0),
    "book": lambda: example(3, pending("book")),
    "journey lift": lambda: example(3, pending("journey", "lift")),
    "journey land": lambda: example(3, pending("journey", "land")),
    "tide lift": lambda: example(3, pending("tide", "lift")),
    "tide land": lambda: example(3, pending("tide", "land")),
}


def any_active(seat):
    return any(seat["active"])


def temple_spaces(data):
    return [n for n, tile in data["tiles"].items() if tile["at"] == "temple" and "book" not in tile and int(n) > 4]


def mover(data):
    return data["seats"][data["to_move"]]


def put(*path_and_value):
    """A corruption: sets what the path names."""
    *path, key, value = path_and_value

    def corrupt(data):
        for step in path:
            data = data[step]
        data[key] = value

    return corrupt


def drop(*path):
    """A corruption: removes what the path names."""

    def corrupt(data):
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return corrupt


def then(*corruptions):
    def corrupt(data):
        for one in corruptions:
            one(data)

    return corrupt


def move_supply_to_active(data, number, kind=0):
    mover(data)["supply"] -= number
    mover(data)["active"][kind] += number


def swap_tile_for_one_of_another_board(data):
    data["tiles"]["4"] = data["tiles"].pop("5")


def take_a_book_from(data):
    for tile in data["tiles"].values():
        if tile.pop("book", False):
            return


def displace_but_leave_the_book(data):
    tile = next(tile for tile in data["tiles"].values() if tile.get("book"))
    data["seats"][tile["owner"]]["landing"] += 1
    tile["owner"] = None


def claim(tile):
    def corrupt(data):
        data["tiles"][tile] = {"at": "claimed", "owner": 0}
        data["seats"][0]["supply"] -= 1

    return corrupt


def start_tile_back_on_the_path(data):
    owner = data["tiles"]["1"]["owner"]
    data["tiles"]["1"] = {"at": "path"}
    data["seats"][owner]["landing"] += 1


def two_start_tiles_for_one(data):
    first, second, *_ = (data["tiles"][number] for number in "1234" if number in data["tiles"])
    data["seats"][second["owner"]]["landing"] += 1
    second["owner"] = first["owner"]
    data["seats"][first["owner"]]["supply"] -= 1


def lift_one_more_in_the_books_only(data):
    data["pending"]["lifted"][data["pending"]["last"] % 7] += 1


def own_the_favor_again(favor):
    def corrupt(data):
        kinds = ["book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide"]
        mover(data)["favors"] = sorted({*mover(data)["favors"], favor}, key=kinds.index)

    return corrupt


def lose_the_favor(favor):
    return lambda data: mover(data)["favors"].remove(favor)


def land_in_the_supply(data):
    """The landed novices are gone from their isle, but counted."""
    for kind, number in enumerate(data["pending"]["landed"]):
        mover(data)["inactive"][kind] -= min(number, mover(data)["inactive"][kind])
        mover(data)["landing"] += number


def land_all_on_their_own_isle(data):
    now = data["pending"]
    for kind, number in enumerate(now["landed"]):
        mover(data)["inactive"][kind] -= number
    now["lifted"] = [0, 0, 0, 3, 0, 0, 0]
    now["landing_lifted"] = 0
    now["landed"] = [0, 0, 0, 2, 0, 0, 0]
    mover(data)["inactive"][3] += 2
    now |= {"hand": 1, "last": 3, "last_n": 2}
    return data


def last_landing_too_far(data):
    now = data["pending"]
    number = sum(now["landed"])
    for kind, landed in enumerate(now["landed"]):
        mover(data)["inactive"][kind] -= landed
    mover(data)["inactive"][6] += number
    now["landed"] = [0, 0, 0, 0, 0, 0, number]
    now |= {"last": 6, "last_n": (number - 1) % 4 + 1}


CORRUPTIONS = [
    # form (section 8)
    ("start", drop("ring"), "the key 'ring' is missing"),
    ("start", put("guard", 1), "unknown key 'guard'"),
    ("start", put("players", 5), "players: 5 is none of 2, 3, 4"),
    ("start", put("players", 3.0), "players: 3.0"),
    ("start", put("round", 0), "round: 0 is no integer from 1 to 6"),
    ("start", put("round", True), "round: True is no integer"),
    ("start", put("phase", "scoring"), "phase: 'scoring'"),
    ("start", put("start_player", 3), "start_player: 3"),
    ("start", put("time_tokens", 5), "time_tokens: 5"),
    ("start", put("actions", -1), "actions: -1"),
    ("start", put("actions", 181), "actions: 181"),
    ("start", put("ring", ["tide"] * 7), "is no list of the seven kinds"),
    ("start", put("ring", [["tide"]] * 7), "is no list of the seven kinds"),
    ("start", put("priestess", "moon"), "priestess: 'moon'"),
    ("start", put("builder", 2), "builder: 2"),
    ("start", put("apostate", None), "apostate: None"),
    ("start", put("boards", [0, 1]), "one board a player"),
    ("start", put("boards", [0, 1, 1]), "names a board twice"),
    ("start", put("boards", [0, 1, 4]), "boards: 4"),
    ("start", put("boards", [0, 1, 3]), "tiles: the key '4' is missing"),
    ("start", put("book_bonus", 0), "book_bonus: 0"),
    ("start", lambda data: data["council"].pop(), "13 lists of pieces"),
    ("start", put("council", 0, [0, 1]), "each of the players"),
    ("start", put("council", 3, [2]), "each of the players"),
    ("start", put("council", 0, [0, 1, 1]), "each of the players"),
    ("start", put("council", 0, [0, 1, "2"]), "each of the players"),
    ("start", lambda data: data["seats"].pop(), "one map for each player"),
    ("start", drop("seats", 1, "landing"), "seat 1: the key 'landing' is missing"),
    ("start", put("seats", 1, "color", "red"), "seat 1: unknown key 'color'"),
    ("start", put("seats", 1, "influence", 5.0), "seat 1, influence: 5.0"),
    ("start", put("seats", 1, "influence", None), "seat 1, influence: None"),
    ("start", put("seats", 1, "active", [2] * 6), "seat 1, active"),
    ("start", put("seats", 1, "active", 2, -2), "seat 1, active on novice: -2"),
    ("start", put("seats", 1, "inactive", 0, False), "seat 1, inactive on book: False"),
    ("start", put("seats", 1, "supply", "4"), "seat 1, supply: '4'"),
    ("start", put("seats", 1, "shrines", ["tide", "book"]), "seat 1, shrines.*in the order"),
    ("start", put("seats", 1, "favors", ["book", "book"]), "seat 1, favors.*different kinds"),
    ("start", put("seats", 1, "favors", {"book": 1}), "seat 1, favors"),
    ("start", swap_tile_for_one_of_another_board, "tiles: the key '5' is missing"),
    ("start", put("tiles", "05", {"at": "path"}), "tiles: unknown key '05'"),
    ("start", put("tiles", "5", "path"), "tile 5: 'path'"),
    ("start", put("tiles", "5", {"at": "path", "owner": None}), "tile 5: unknown key 'owner'"),
    ("start", put("tiles", "5", {"at": "claimed", "owner": None}), "tile 5, owner: None"),
    ("start", put("tiles", "5", {"at": "claimed", "owner": 3}), "tile 5, owner: 3"),
    ("start", put("tiles", "5", {"at": "claimed", "owner": 0, "book": True}), "tile 5: unknown key 'book'"),
    ("late", lambda data: data["tiles"][temple_spaces(data)[0]].update(book=False), "book is False"),
    ("start", put("pending", {}), "pending: {} is neither"),
    ("start", put("pending", {"action": "book"}), "pending: the key 'from' is missing"),
    ("journey lift", drop("pending", "hand"), "pending: the key 'hand' is missing"),
    ("journey lift", put("pending", "last", 7), "pending, last: 7"),
    ("journey lift", put("pending", "last_n", 5), "pending, last_n: 5"),
    ("journey lift", put("pending", "stage", "sail"), "pending, stage: 'sail'"),
    ("tide lift", put("pending", "last", 15), "pending, last: 15"),
    # turns (section 4)
    ("start", put("to_move", None), "to_move is null, but the phase is 'action'"),
    ("late", put("time_tokens", 0), "the action phase is over"),
    ("late", put("actions", 180), "180 actions are taken, so the action phase is over"),
    ("over", put("to_move", 0), "to_move is 0, but the game is over"),
    ("over", put("round", 5), "over in round 5"),
    ("over", put("time_tokens", 1), "Time tokens are left"),
    ("start", put("book_bonus", True), "book_bonus is true with 3 players"),
    # pieces (sections 2 and 3)
    ("start", put("seats", 1, "supply", 3), "player 1 has 12 novices, not 13"),
    ("start", put("seats", 1, "shrines", ["book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide"]),
     "player 1 has 7 shrines on isles, but owns 6"),
    ("start", start_tile_back_on_the_path, "tile 1 is a start tile"),
    ("start", two_start_tiles_for_one, "the start tiles belong to the players"),
    ("start", take_a_book_from, "there are 2 Books, not 3"),
    ("start", put("pending", {"action": "book", "from": 1}), "there are 4 Books, not 3"),
    ("start", displace_but_leave_the_book, "where no novice is"),
    # preliminary round (section 2)
    ("shrines", put("round", 2), "the preliminary round has round 1"),
    ("shrines", put("time_tokens", 3), "all Time tokens are there"),
    ("shrines", lambda data: data["council"][0].reverse(), "beginning with the start player"),
    ("shrines", claim("5"), "in the preliminary round tile"),
    ("shrines", put("seats", 0, "favors", ["book"]), "player 0 has favors"),
    ("shrines", lambda data: move_supply_to_active(data, 2), "novices are placed before all shrines are"),
    ("shrines", lambda data: data.update(to_move=data["start_player"]), "has to place next"),
    ("shrines", lambda data: data.update(phase="novices"), "each has placed one"),
    ("shrines", lambda data: [seat.update(shrines=["tide"]) for seat in data["seats"]], "not on different isles"),
    ("two shrines", lambda data: (data["seats"][data["start_player"]].update(shrines=["herbs"])),
     "with two players no shrine is placed on herbs"),
    ("novices", lambda data: move_supply_to_active(data, 1), "cannot have placed"),
    ("novices", lambda data: data.update(start_player=(data["start_player"] + 1) % 3),
     "clockwise from the start player"),
    ("novices", lambda data: move_supply_to_active(data, 2, next(
        kind for kind in range(7) if not mover(data)["active"][kind])), "to_move is|clockwise"),
    ("novices", lambda data: [seat.update(active=[2, 2, 2, 2, 0, 0, 0], supply=4, shrines=[shrine]) for seat, shrine
                              in zip(data["seats"], ["herbs", "shrine", "tide"], strict=True)],
     "everything is placed"),
    # pending actions (sections 4 and 8)
    ("over", put("pending", {"action": "book", "from": 1}), "an action is pending in phase 'over'"),
    ("book", put("pending", "from", 28), "no Book can have been taken from tile 28"),
    ("book", lose_the_favor("book"), "no `book` favor to return"),
    ("book", lambda data: data["tiles"][str(data["pending"]["from"])].update(book=True), "4 Books|no Book can"),
    ("journey lift", put("pending", "landing_lifted", 1), "a Journey lifts nobody from the landing stage"),
    ("tide lift", own_the_favor_again("tide"), "its favor token is not returned"),
    ("tide land", own_the_favor_again("tide"), "its favor token is not returned"),
    ("journey lift", lift_one_more_in_the_books_only, "those in hand and landed are not as many"),
    ("journey lift", lambda data: data["pending"].update(hand=data["pending"]["hand"] + 1), "novices, not 13"),
    ("journey lift", lambda data: data["pending"].update(last=data["pending"]["lifted"].index(0)), "the last lift"),
    ("journey lift", lambda data: data["pending"].update(last_n=data["pending"]["last_n"] % 4 + 1), "the last lift"),
    ("tide lift", lambda data: data["pending"].update(last=14 if not data["pending"]["landing_lifted"] else 0),
     "the last lift"),
    ("journey land", lambda data: data["pending"].update(stage="lift"), "landed in stage 'lift'"),
    ("journey lift", lambda data: data["pending"].update(stage="land"), "nobody has landed in stage 'land'"),
    ("journey land", lambda data: data["pending"].update(last=data["pending"]["landed"].index(0)), "the last landing"),
    ("journey land", lambda data: data["pending"].update(last_n=data["pending"]["last_n"] % 4 + 1), "the last landing"),
    ("journey land", land_in_the_supply, "fewer inactive novices are there"),
    ("journey land", land_all_on_their_own_isle, "have landed on sailboat, but at most 0 can"),
    ("journey land", last_landing_too_far, "cannot land any more"),
]  # fmt: skip


@pytest.mark.parametrize("base", BASES)
def test_the_uncorrupted_positions_are_valid(base):
    assert TWIN.valid_setup(BASES[base]()) == []


@pytest.mark.parametrize(("base", "corrupt", "message"), CORRUPTIONS, ids=range(len(CORRUPTIONS)))
def test_corrupted_positions_are_refused_with_a_reason(base, corrupt, message):
    data = BASES[base]()
    corrupt(data)
    problems = TWIN.valid_setup(data)
    assert any(re.search(message, problem) for problem in problems), problems


@pytest.mark.parametrize("value", [None, 3, "position", [], {}, [{}]])
def test_what_is_no_position_at_all_is_refused(value):
    assert TWIN.valid_setup(value)


def junk_of(rng):
    return rng.choice([None, True, -1, 0, 1, 2, 99, 1.5, "", "book", [], [0], {}, {"at": "temple"}])


def test_junk_anywhere_never_raises():
    """Each place of a position is replaced by junk in turn: a list comes back, never an exception."""
    rng = random.Random(4)
    for base in BASES.values():
        places = list(places_in(base()))
        for path in rng.sample(places, 60):
            data = base()
            put(*path, junk_of(rng))(data)
            assert isinstance(TWIN.valid_setup(data), list)


def places_in(data, path=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*path, key))


@pytest.mark.parametrize("influence", [-3, 0, 2, 1000])
def test_a_handicap_is_another_influence(influence):
    data = BASES["start"]()
    data["seats"][1]["influence"] = influence
    assert TWIN.valid_setup(data) == []


def test_limits_depend_on_the_rule_set_and_the_sheet():
    data = TWIN.dump(start(TWIN, 2)) | {"actions": 20}
    assert TWIN.valid_setup(data) == []
    assert reference(max_actions_per_player=10).valid_setup(data)
    assert reference("rosette").valid_setup(data)


def test_over_by_the_limit_of_actions():
    data = BASES["over"]() | {"time_tokens": 2}
    assert TWIN.valid_setup(data)
    assert TWIN.valid_setup(data | {"actions": 180}) == []


def test_landing_on_the_own_isle_needs_the_option():
    data = land_all_on_their_own_isle(BASES["journey land"]())
    before = [problem for problem in TWIN.valid_setup(data) if "novices, not" not in problem]
    after = [problem for problem in reference(same_isle_moves=True).valid_setup(data) if "novices, not" not in problem]
    assert before
    assert after == []


def test_a_tide_can_have_lifted_inactive_novices_last():
    """The kind of the last source need not be the highest: inactive novices of a lower kind come after active ones."""
    seen = set()
    for data in positions(3) + positions(4):
        now = data["pending"]
        if now and now["action"] == "tide" and now["stage"] == "lift" and now["last"] >= 7:
            seen.add(LANDING if now["last"] == 14 else now["last"] % 7 < max(k for k in range(7) if now["lifted"][k]))
    assert seen == {True, False, LANDING}


def test_positions_of_the_example_records_are_valid_only_with_their_sheet():
    rosette = next(read_record(path) for path in EXAMPLES if "rosette" in path.stem)
    assert all(rosette.twin.valid_setup(data) == [] for data in rosette.positions)
    assert all(TWIN.valid_setup(data) for data in rosette.positions)
