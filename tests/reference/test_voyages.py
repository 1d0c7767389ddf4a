"""The row of landings of section 4 against what it stands for: each novice moves to another isle than its own."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement

import pytest

from engine_fast.reference.model import KINDS, SOURCES, Voyage, counts
from engine_fast.reference.voyages import land, landings
from tests.reference.games import reference, start


def all_endings(twin, position):
    """Where the novices of every complete row of legal landings lie in the end, a list with one entry a row."""
    rows, endings = [position], []
    while rows:
        now = rows.pop()
        if now.pending is None:
            endings.append(tuple(now.seats[0].inactive[kind] for kind in KINDS))
            continue
        decisions = list(landings(twin.rules, now))
        assert decisions, "a legal row of landings has come to a dead end"
        for decision in decisions:
            after = now.copy()
            land(twin.rules, after, decision)
            rows.append(after)
    return endings


def can_be_assigned(lifted, landed):
    """Whether the novices lifted from each isle can be dealt out so that none lands where it was (landing stage: any).

    Tries all ways for the first isle that still has novices in hand.
    """
    if not any(lifted):
        return True
    origin = next(kind for kind, number in enumerate(lifted) if number)
    rest = [number - (kind == origin) for kind, number in enumerate(lifted)]
    return any(
        can_be_assigned(rest, [number - (kind == goal) for kind, number in enumerate(landed)])
        for goal in range(len(landed))
        if goal != origin and landed[goal]
    )


def begun(twin, lifted, landing):
    position = start(twin, 3)
    position.pending = Voyage("tide", "lift", counts(lifted), landing, sum(lifted) + landing, counts(), SOURCES[0], 1)
    return position


def some_lifts():
    rng = random.Random(8)
    for total in (1, 2, 3, 4, 5, 6):
        for _ in range(4):
            chosen = Counter(rng.choices(range(8), weights=[3, 1, 1, 1, 1, 2, 3, 2], k=total))
            yield pytest.param([chosen[kind] for kind in range(7)], chosen[7], id=str(sorted(chosen.elements())))


@pytest.mark.parametrize(("lifted", "landing"), list(some_lifts()))
def test_rows_of_landings_are_exactly_the_different_journeys(lifted, landing):
    twin = reference()
    total = sum(lifted) + landing
    endings = all_endings(twin, begun(twin, lifted, landing))
    assert len(endings) == len(set(endings)), "one row for each different Journey"
    goals = [tuple(map(chosen.count, range(7))) for chosen in combinations_with_replacement(range(7), total)]
    wanted = {goal for goal in goals if can_be_assigned([*lifted, landing], [*goal, 0])}
    assert set(endings) == wanted


@pytest.mark.parametrize(("lifted", "landing"), list(some_lifts()))
def test_with_same_isle_moves_everything_is_reached(lifted, landing):
    twin = reference(same_isle_moves=True)
    total = sum(lifted) + landing
    endings = all_endings(twin, begun(twin, lifted, landing))
    assert len(endings) == len(set(endings))
    ways = 1
    for step in range(1, 7):
        ways = ways * (total + step) // step
    assert len(endings) == ways
