"""Lifts and landings, proved by brute force (rules, section 4, "Two-step and many-step actions").

Every novice of a small position is sent, one by one, to every isle (or stays), without a word about rows of steps. The
rows of the engine must end in exactly these placements: each Journey once, each Tide at least once, and no row may
come to a point where nothing is legal.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_fast import NOTATIONS, Position, RuleSet, new_ledger
from engine_fast.actions import MASK_WORDS
from engine_fast.apply import apply_into
from engine_fast.bounds import JOURNEY_STEPS, max_steps
from engine_fast.check import field_value, field_values, nibbles_of
from engine_fast.legal import legal_into
from engine_fast.notation import ids_of_mask
from tests.engine_fast.arranged import KINDS, Json

Placement = tuple[int, ...]
"""Active by kind, inactive by kind, landing stage: the first 15 nibbles of a novices word."""
NUM_KINDS, LANDING = 7, 14
SUPPLY_AND_TEMPLE = 13
STEPS_OF_A_VOYAGE = ("journey", "tide", "land")


@dataclass(frozen=True)
class Crowd:
    """The novices of the player to move, by isle kind."""

    active: dict[str, int]
    inactive: dict[str, int] = field(default_factory=dict)
    landing: int = 0

    @property
    def placement(self) -> Placement:
        isles = [count.get(kind, 0) for count in (self.active, self.inactive) for kind in KINDS]
        return (*isles, self.landing)

    def position(self, same_isle: bool) -> Position:
        """A position in which the player has this crowd (and the tide favor), the rest in supply."""
        first = Position.new(2, "preselected", seed=3).to_json()
        seat = first["seats"][first["to_move"]]
        supply = SUPPLY_AND_TEMPLE - 1 - sum(self.placement)
        kinds = {name: [count.get(kind, 0) for kind in KINDS] for name, count in self.by_name.items()}
        seat |= {**kinds, "landing": self.landing, "supply": max(supply, 0), "favors": ["tide"]}
        if supply < 0:
            _leave_the_temple(first, -supply)
        return Position.from_json(first, ruleset=RuleSet(same_isle_moves=same_isle))

    @property
    def by_name(self) -> dict[str, dict[str, int]]:
        return {"active": self.active, "inactive": self.inactive}


def _leave_the_temple(position: Json, number: int) -> None:
    """Takes the novice off the mover's start tile; its Book goes to the other player, who claims another space."""
    assert number == 1
    mover, other = position["to_move"], 1 - position["to_move"]
    tile = next(tile for tile in position["tiles"].values() if tile.get("owner") == mover)
    tile["owner"] = None
    del tile["book"]
    path = next(tile for tile in position["tiles"].values() if tile["at"] == "path")
    path |= {"at": "temple", "owner": other, "book": True}
    position["seats"][other]["supply"] -= 1


# --- brute force: novice by novice ---------------------------------------------------------------------------------


def moved(placement: Placement, source: int, count_by_isle: Counter[int]) -> Placement:
    """Novices of a source arrive inactive on isles."""
    after = list(placement)
    for isle, count in count_by_isle.items():
        after[source] -= count
        after[NUM_KINDS + isle] += count
    return tuple(after)


def all_placements(start: Placement, sources: range, same_isle: bool) -> set[Placement]:
    """Everything that at least one moving novice can lead to: each novice of a source goes to an isle or stays."""
    stays = -1
    reached = {(start, 0)}
    for source in sources:
        isles = [isle for isle in range(NUM_KINDS) if same_isle or isle != source % NUM_KINDS or source == LANDING]
        further = set()
        for goals in combinations_with_replacement([stays, *isles], start[source]):
            counts = Counter(goal for goal in goals if goal != stays)
            further |= {(moved(now, source, counts), n + sum(counts.values())) for now, n in reached}
        reached = further
    return {placement for placement, movers in reached if movers}


def novice_by_novice(start: Placement, sources: range, same_isle: bool) -> set[Placement]:
    """The same without any shortcut: all assignments of single novices (for very small crowds)."""
    reached = [(start, 0)]
    for source in sources:
        for _ in range(start[source]):
            isles = [isle for isle in range(NUM_KINDS) if same_isle or isle != source % NUM_KINDS or source == LANDING]
            reached = [
                (moved(now, source, Counter([isle])) if isle >= 0 else now, n + (isle >= 0))
                for now, n in reached
                for isle in [-1, *isles]
            ]
    return {placement for placement, movers in reached if movers}


# --- the engine: row by row ----------------------------------------------------------------------------------------


class DeadEnd(AssertionError):
    """A row of steps that cannot be completed."""


def rows(position: Position, verb: str) -> Iterator[tuple[Placement, tuple[int, ...]]]:
    """All rows of decisions that begin with `verb` and complete the action: where they end, and their ids."""
    rules, seat = position.game.rules, position.to_move
    stack: list[tuple[NDArray[np.uint64], tuple[int, ...], list[int]]] = [
        (position.state.copy(), (), [a for a in position.legal_ids() if NOTATIONS[a].startswith(verb)])
    ]
    mask = np.zeros(MASK_WORDS, dtype=np.uint64)
    while stack:
        state, row, legal = stack.pop()
        for action in legal:
            after = state.copy()
            apply_into(after, action, rules, new_ledger())
            if field_value(after, "pending") == 0:
                yield tuple(nibbles_of(field_values(after, "novices")[seat])[:15]), (*row, action)
                continue
            legal_into(after, rules, mask)
            following = ids_of_mask(mask)
            if not following:
                raise DeadEnd([NOTATIONS[a] for a in (*row, action)])
            assert all(NOTATIONS[a].split(" ")[0] in (verb, "land") for a in following)
            stack.append((after, (*row, action), following))


CROWDS = {
    "one": Crowd({"book": 1}),
    "one on the last isle": Crowd({"tide": 1}),
    "two on the last two isles": Crowd({"shrine": 1, "tide": 1}),
    "crowd on the last isle": Crowd({"tide": 5}),
    "crowd on the isle before": Crowd({"shrine": 5}),
    "crowds on the last two isles": Crowd({"shrine": 3, "tide": 2}),
    "five and one": Crowd({"novice": 5, "tide": 1}),
    "six": Crowd({"herbs": 6}),
    "three isles": Crowd({"book": 2, "sailboat": 1, "tide": 2}),
    "three and three": Crowd({"bribery": 3, "shrine": 3}),
    "one on each isle but one": Crowd({"book": 1, "bribery": 1, "novice": 1, "herbs": 1, "shrine": 1, "tide": 1}),
    "inactive ones stay": Crowd({"novice": 2, "shrine": 1}, {"novice": 2, "tide": 2}, landing=2),
}


@pytest.mark.parametrize("same_isle", [False, True])
@pytest.mark.parametrize("name", CROWDS)
def test_every_journey_has_exactly_one_row(name: str, same_isle: bool):
    crowd = CROWDS[name]
    position = crowd.position(same_isle)
    reached = Counter(placement for placement, _ in rows(position, "journey"))
    expected = all_placements(crowd.placement, range(NUM_KINDS), same_isle)
    assert set(reached) == expected
    assert set(reached.values()) == {1}


TIDES = {
    "one on the landing stage": Crowd({}, landing=1),
    "five on the landing stage": Crowd({}, landing=5),
    "active": Crowd({"book": 2, "tide": 2}),
    "inactive": Crowd({}, {"book": 2, "tide": 2}),
    "both on one isle": Crowd({"tide": 2}, {"tide": 2}),
    "both on the isle before": Crowd({"shrine": 2}, {"shrine": 2}, landing=1),
    "five inactive": Crowd({}, {"shrine": 5}),
    "all kinds of sources": Crowd({"book": 1, "herbs": 1}, {"herbs": 1, "shrine": 1}, landing=1),
    "last isle and landing stage": Crowd({"tide": 3}, landing=2),
}


@pytest.mark.parametrize("same_isle", [False, True])
@pytest.mark.parametrize("name", TIDES)
def test_every_tide_has_a_row(name: str, same_isle: bool):
    crowd = TIDES[name]
    position = crowd.position(same_isle)
    reached = {placement for placement, _ in rows(position, "tide")}
    assert reached == all_placements(crowd.placement, range(LANDING + 1), same_isle)


@pytest.mark.parametrize("same_isle", [False, True])
@pytest.mark.parametrize("crowd", [CROWDS["three isles"], TIDES["all kinds of sources"], TIDES["both on one isle"]])
def test_the_brute_force_is_right(crowd: Crowd, same_isle: bool):
    """Sending single novices and sending groups of like novices lead to the same placements."""
    for sources in (range(NUM_KINDS), range(LANDING + 1)):
        groups = all_placements(crowd.placement, sources, same_isle)
        assert groups == novice_by_novice(crowd.placement, sources, same_isle)


@pytest.mark.parametrize("places", [1, 2, 3, 4])
def test_the_longest_row_of_steps(places: int):
    """The bound on a game's length takes the longest row: tried out over all ways to spread the novices."""
    for novices in range(1, 14):
        spreads = combinations_with_replacement(range(places), novices)
        longest = max(sum(-(-count // 4) for count in Counter(spread).values()) for spread in spreads)
        assert max_steps(places, novices) == longest


def test_a_longest_journey_exists():
    """13 novices on all seven isles: 8 lifts and 8 landings, as many as the bound on a game's length allows."""
    crowd = Crowd({kind: 7 if kind == "book" else 1 for kind in KINDS})
    position = crowd.position(same_isle=True)
    row = [f"{verb} {kind} 1" for verb in ("journey", "land") for kind in KINDS]
    row[7:8], row[0:1] = ["land book 4", "land book 3"], ["journey book 4", "journey book 3"]
    for decision in row:
        position = position.play(decision)
    assert position.to_json()["pending"] is None
    assert len(row) == JOURNEY_STEPS


def test_rows_use_four_again_and_again():
    """Crowds of nine and more: lifts and landings of 4, 4, ... on one isle occur, and every Journey is reached once."""
    crowd = Crowd({"tide": 9})
    found = list(rows(crowd.position(same_isle=False), "journey"))
    assert max(Counter(row for _, row in found).values()) == 1
    assert len({placement for placement, _ in found}) == len(found)
    # n of nine leave; six other isles take them: stars and bars.
    assert len(found) == sum(comb(n + 5, 5) for n in range(1, 10))
    texts = {tuple(NOTATIONS[action] for action in row) for _, row in found}
    assert ("journey tide 4", "journey tide 4", "journey tide 1", "land book 4", "land book 4", "land book 1") in texts


def number_of_journeys(active: Placement, same_isle: bool) -> int:
    """Pairs (lifted, landed) that are Journeys, by formula: at most T - a(k) land on k, T in all (inclusion-exclusion).

    Two isles cannot both be over their limits, since T - a(i) + 1 + T - a(j) + 1 > T.
    """
    total = 0
    for lifted in _sub_crowds(active):
        movers = sum(lifted)
        landings = comb(movers + 6, 6)
        if not same_isle:
            landings -= sum(comb(own - 1 + 6, 6) for own in lifted if own)
        total += landings if movers else 0
    return total


def _sub_crowds(active: Placement) -> Iterator[tuple[int, ...]]:
    if not active:
        yield ()
        return
    for first in range(active[0] + 1):
        for rest in _sub_crowds(active[1:]):
            yield (first, *rest)


@pytest.mark.parametrize(
    ("crowd", "journeys"),
    [
        (Crowd({"book": 2, "bribery": 2, "novice": 2, "sailboat": 2}), 31_277),
        (Crowd({"novice": 2, "herbs": 2, "shrine": 2, "tide": 2}), 31_277),
        (Crowd({"book": 4, "tide": 4}), 11_339),
        (Crowd({"shrine": 7, "tide": 2}), 16_085),
    ],
)
def test_the_number_of_journeys_of_larger_crowds(crowd: Crowd, journeys: int):
    position = crowd.position(same_isle=False)
    found = sum(1 for _ in rows(position, "journey"))
    assert found == number_of_journeys(crowd.placement[:NUM_KINDS], same_isle=False) == journeys


@pytest.mark.parametrize("same_isle", [False, True])
def test_no_row_of_a_full_hand_comes_to_a_dead_end(same_isle: bool):
    """All thirteen novices, at random over the fifteen sources, in thousands of random rows."""
    rng = random.Random(int(same_isle))
    lengths: Counter[int] = Counter()
    for _ in range(300):
        places = Counter(rng.choices(range(15), weights=[rng.random() ** 3 for _ in range(15)], k=13))
        active, inactive = ({KINDS[i]: places[first + i] for i in range(NUM_KINDS)} for first in (0, NUM_KINDS))
        position = Crowd(active, inactive, places[LANDING]).position(same_isle)
        for verb in ("journey", "tide"):
            for _ in range(4):
                lengths[random_row(position, verb, rng)] += 1
    assert max(lengths) >= 12


def random_row(position: Position, verb: str, rng: random.Random) -> int:
    """Plays one random row to its end; returns its length, 0 if no such action can begin."""
    first = [a for a in position.legal_ids() if NOTATIONS[a].startswith(verb)]
    if not first:
        return 0
    liking, patient = rng.choice((verb, "land")), rng.random() < 0.5
    state, rules, mask = position.state.copy(), position.game.rules, np.zeros(MASK_WORDS, dtype=np.uint64)
    legal, length = first, 0
    while True:
        liked = [a for a in legal if NOTATIONS[a].startswith(liking)] or legal
        apply_into(state, rng.choice(liked[: 3 if patient else None]), rules, new_ledger())
        length += 1
        if field_value(state, "pending") == 0:
            return length
        legal_into(state, rules, mask)
        legal = ids_of_mask(mask)
        assert legal, position.to_json()
