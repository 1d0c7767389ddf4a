"""What `Position.from_json` accepts is what the reference's `valid_setup` accepts; what is refused is named.

Engine and reference read the same thousands of spoiled positions. Where both accept one, they agree on the legal
decisions too.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from engine_fast import InvalidPosition, Position, RuleSet
from engine_fast.reference import Reference
from tests.engine_fast.arranged import Json
from tests.engine_fast.corruption import at, rearranged, vandalised
from tests.engine_fast.golden import ARRANGED, FOUND, PERFT, twin_of

NAMES = sorted((*FOUND, *ARRANGED))


@cache
def case(name: str) -> tuple[Json, Reference, RuleSet]:
    """A named position with its sheet, the reference and the rule set."""
    loaded = json.loads((PERFT / f"{name}.json").read_text())
    return loaded, twin_of(loaded), RuleSet.from_json(loaded["ruleset"])


def read(name: str, position: Any) -> Position:
    loaded, _, ruleset = case(name)
    return Position.from_json(position, components=loaded["components"], ruleset=ruleset)


def compare(name: str, position: Json) -> bool:
    """Both accept, or both refuse, a position; returns whether they accept it."""
    twin, complaint = case(name)[1], ""
    try:
        engine = read(name, position)
    except InvalidPosition as error:
        complaint = str(error)
    problems = twin.valid_setup(position)
    assert bool(complaint) == bool(problems), (name, complaint, problems, json.dumps(position))
    if not problems:
        assert engine.legal() == twin.legal(twin.load(position))
        assert json.dumps(engine.to_json()) == json.dumps(position)
    return not problems


def compare_many(seed: int, number: int) -> Counter[tuple[str, bool]]:
    rng, found = random.Random(seed), Counter[tuple[str, bool]]()
    for _ in range(number):
        name, spoil = rng.choice(NAMES), rng.choice((vandalised, rearranged, rearranged))
        accepted = compare(name, spoil(rng, case(name)[0]["position"]))
        found[spoil.__name__, accepted] += 1
    return found


def test_engine_and_reference_refuse_the_same():
    found = compare_many(seed=1, number=3000)
    assert len(found) == 4
    assert min(found.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_engine_and_reference_refuse_the_same_at_length(seed: int):
    found = compare_many(seed, number=15_000)
    assert min(found.values()) > 100


def put(*path_and_value: Any) -> tuple[tuple[Any, ...], Any]:
    return path_and_value[:-1], path_and_value[-1]


PENDING_OVER = {"action": "book", "from": 1}
CORRUPTIONS = [
    # form
    ("set-up-3", put("players", 5), "players"),
    ("set-up-3", put("players", True), "players"),
    ("set-up-3", put("players", "3"), "players"),
    ("set-up-3", put("phase", "dream"), "phase"),
    ("set-up-3", put("phase", None), "phase"),
    ("set-up-3", put("round", 2), "round"),
    ("round-3-of-3", put("round", 7), "round"),
    ("round-3-of-3", put("start_player", 3), "start_player"),
    ("round-3-of-3", put("to_move", None), "to_move"),
    ("round-3-of-3", put("to_move", -1), "to_move"),
    ("over", put("to_move", 0), "to_move"),
    ("over", put("round", 5), "round"),
    ("round-3-of-3", put("time_tokens", 0), "time_tokens"),
    ("round-3-of-3", put("time_tokens", 5), "time_tokens"),
    ("set-up-3", put("time_tokens", 3), "time_tokens"),
    ("over", put("time_tokens", 2), "time_tokens"),
    ("round-3-of-3", put("actions", 180), "actions"),
    ("set-up-3", put("actions", 1), "actions"),
    ("round-3-of-3", put("actions", 4.0), "actions"),
    ("round-3-of-3", put("ring", ["book"] * 7), "ring"),
    ("round-3-of-3", put("ring", ["book"]), "ring"),
    ("round-3-of-3", put("priestess", "isle"), "priestess"),
    ("round-3-of-3", put("builder", None), "builder"),
    ("round-3-of-3", put("apostate", 3), "apostate"),
    ("round-3-of-3", put("boards", [0, 1]), "boards"),
    ("round-3-of-3", put("boards", [0, 1, 1]), "boards"),
    ("round-3-of-3", put("boards", [0, 1, 4]), "boards"),
    ("round-3-of-3", put("book_bonus", True), "book_bonus"),
    ("set-up-2", put("book_bonus", False), "book_bonus"),
    ("last-token", put("book_bonus", 1), "book_bonus"),
    ("round-3-of-3", put("council", [[0, 1, 2]]), "council"),
    ("round-3-of-3", put("council", 12, [0, 1, 2, 0]), "council"),
    ("set-up-3", put("council", 0, [0, 1]), "council"),
    ("round-3-of-3", put("seats", []), "seats"),
    ("round-3-of-3", put("seats", 1, None), "seats[1]"),
    ("round-3-of-3", put("seats", 1, "influence", 1.5), "seats[1].influence"),
    ("round-3-of-3", put("seats", 0, "active", [0] * 6), "seats[0].active"),
    ("round-3-of-3", put("seats", 0, "active", 0, 14), "seats[0].active"),
    ("round-3-of-3", put("seats", 2, "inactive", 3, -1), "seats[2].inactive"),
    ("round-3-of-3", put("seats", 2, "landing", 14), "seats[2].landing"),
    ("round-3-of-3", put("seats", 2, "supply", None), "seats[2].supply"),
    ("round-3-of-3", put("seats", 2, "supply", 13), "seats[2]"),
    ("round-3-of-3", put("seats", 0, "shrines", ["tide", "book"]), "seats[0].shrines"),
    ("round-3-of-3", put("seats", 0, "shrines", ["book", "book"]), "seats[0].shrines"),
    ("round-3-of-3", put("seats", 0, "favors", ["gold"]), "seats[0].favors"),
    ("round-3-of-3", put("seats", 0, "favors", "book"), "seats[0].favors"),
    ("round-3-of-3", put("tiles", {}), "tiles"),
    ("round-3-of-3", put("tiles", "99", {"at": "path"}), "tiles"),
    ("set-up-3", put("tiles", "1", {"at": "path"}), "tiles"),
    ("set-up-3", put("tiles", "1", "at", "shelf"), "tiles[1].at"),
    ("set-up-3", put("tiles", "1", "owner", 3), "tiles[1].owner"),
    ("set-up-3", put("tiles", "1", "book", False), "tiles[1].book"),
    ("set-up-3", put("tiles", "1", "owner", None), "tiles[1].book"),
    # unfinished actions
    ("round-3-of-3", put("pending", 7), "pending"),
    ("round-3-of-3", put("pending", {"action": "nap"}), "pending.action"),
    ("over", put("pending", PENDING_OVER), "pending"),
    ("set-up-3", put("pending", PENDING_OVER), "pending"),
    ("book-in-the-air", put("pending", "from", 29), "pending.from"),
    ("book-in-the-air", put("pending", None), "tiles"),
    ("tide-lifting", put("pending", "stage", "sail"), "pending.stage"),
    ("tide-lifting", put("pending", "stage", "land"), "pending.last"),
    ("tide-lifting", put("pending", "hand", 0), "pending.hand"),
    ("tide-lifting", put("pending", "hand", 13), "pending.hand"),
    ("tide-lifting", put("pending", "lifted", [0] * 6), "pending.lifted"),
    ("tide-lifting", put("pending", "last", 15), "pending.last"),
    ("tide-lifting", put("pending", "last_n", 5), "pending.last_n"),
    ("tide-lifting", put("pending", "last_n", 0), "pending.last_n"),
    ("tide-landing", put("pending", "last", 7), "pending.last"),
    ("tide-landing", put("pending", "landed", [0] * 7), "pending.hand"),
    ("tide-landing", put("pending", "stage", "lift"), "pending.stage"),
    ("journey-lifting", put("pending", "landing_lifted", 1), "pending"),
    ("journey-lifting", put("pending", "last", 9), "pending.last"),
]


@pytest.mark.parametrize(
    ("name", "change", "field"), CORRUPTIONS, ids=lambda value: value if isinstance(value, str) else None
)
def test_a_corrupted_field_is_named(name: str, change: tuple[tuple[Any, ...], Any], field: str):
    position = copy.deepcopy(case(name)[0]["position"])
    (*way, key), value = change
    at(position, tuple(way))[key] = value
    with pytest.raises(InvalidPosition) as caught:
        read(name, position)
    message = str(caught.value)
    assert message.startswith(field)
    assert "\n" not in message
    assert not compare(name, position)


def influence_limits(position: dict[str, Any], ruleset: RuleSet) -> tuple[int, int]:
    """Smallest and largest influence that can be read in a position, as its error says them."""
    spoiled = copy.deepcopy(position)
    spoiled["seats"][0]["influence"] = 10**6
    with pytest.raises(InvalidPosition, match=r"seats\[0\].influence: 1000000 is not a whole number from") as caught:
        Position.from_json(spoiled, ruleset=ruleset)
    _, low, high = map(int, re.findall(r"-?\d{3,}", str(caught.value)))
    return low, high


def with_influence(position: dict[str, Any], influence: int) -> dict[str, Any]:
    return position | {"seats": [entry | {"influence": influence} for entry in position["seats"]]}


def test_influence_beyond_the_width_of_its_field():
    """The reference knows no limit, the engine keeps influence in 16 bits and leaves room for a game's gains."""
    start = Position.new(3, seed=1)
    assert influence_limits(start.to_json(), start.game.ruleset) == (-10_000, 10_000)
    for limit in (10_000, -10_000):
        assert Position.from_json(with_influence(start.to_json(), limit)).influence == [limit] * 3
        with pytest.raises(InvalidPosition, match="from -10000 to 10000"):
            Position.from_json(with_influence(start.to_json(), limit + limit // 10_000))


@pytest.mark.parametrize(("players", "actions"), [(2, 60), (3, 1), (4, 250)])
def test_what_a_game_reaches_can_be_read_even_from_the_limit_of_influence(players: int, actions: int):
    """Also if every position on the way is given the most, or the least, influence that can be read there."""
    ruleset, rng = RuleSet(influence_floor=None, max_actions_per_player=actions), random.Random(players)
    plain = Position.new(players, seed=players, ruleset=ruleset)
    first = with_influence(plain.to_json(), 10_000)
    from_limit, highest = Position.from_json(first, ruleset=ruleset), 0
    while not plain.over:
        decision = rng.choice(plain.legal())
        for limit in influence_limits(plain.to_json(), ruleset):
            pushed = Position.from_json(with_influence(plain.to_json(), limit), ruleset=ruleset).play(decision)
            assert Position.from_json(pushed.to_json(), ruleset=ruleset) == pushed
        plain, from_limit = plain.play(decision), from_limit.play(decision)
        assert Position.from_json(from_limit.to_json(), ruleset=ruleset) == from_limit
        highest = max(highest, *from_limit.influence)
    assert highest > 10_000


@pytest.mark.parametrize("key", [*json.loads((PERFT / "tide-lifting.json").read_text())["position"]])
def test_every_key_is_needed_and_no_other_is_allowed(key: str):
    position = copy.deepcopy(case("tide-lifting")[0]["position"])
    value = position.pop(key)
    for spoiled in (position, position | {key: value, f"{key}2": value}):
        with pytest.raises(InvalidPosition, match=f"'{key}2?' is missing or unknown; allowed: players, round"):
            read("tide-lifting", spoiled)


@pytest.mark.parametrize("position", [None, 7, "set-up", [], {}])
def test_what_is_no_position_at_all(position: Any):
    with pytest.raises(InvalidPosition, match="position"):
        read("set-up-2", position)
