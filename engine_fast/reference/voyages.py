"""Journey and Tide, the two actions of many steps (rules, section 4, "Two-step and many-step actions").

First novices are lifted, source by source, then they land, isle by isle; here a Journey or Tide is called a voyage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .model import INACTIVE, KINDS, LANDING, SOURCES, Position, Seat, Voyage, counts
from .notation import STEP_NUMBERS, Decision
from .sheet import Rules

MOST_IN_A_STEP = STEP_NUMBERS[-1]


def places_that_may_follow(places: Sequence[str], last: str, last_n: int) -> Sequence[str]:
    """Section 4: the place of a step is greater than that of the step before, or equal if that step had n = 4."""
    last_place = places.index(last)
    return places[last_place if last_n == MOST_IN_A_STEP else last_place + 1 :]


def novices_at(seat: Seat, source: str) -> int:
    """How many novices of the player a lift could take from this source."""
    if source == LANDING:
        return seat.landing
    if source.endswith(INACTIVE):
        return seat.inactive[source.removesuffix(INACTIVE)]
    return seat.active[source]


def lifts(position: Position, action: str) -> Iterator[Decision]:
    """Section 4: a lift takes 1 to 4 novices from one source; a Journey lifts active novices only."""
    sources: Sequence[str] = KINDS if action == "journey" else SOURCES
    if isinstance(position.pending, Voyage):
        sources = places_that_may_follow(sources, position.pending.last, position.pending.last_n)
    seat = position.seats[position.mover]
    for source in sources:
        for number in range(1, min(MOST_IN_A_STEP, novices_at(seat, source)) + 1):
            yield Decision(action, source=source, number=number)


def journeys(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Journey: lifts of active novices, from any isles."""
    return lifts(position, "journey")


def tides(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Tide: lifts of any novices on the isles and the landing stage; the first needs the favor token."""
    if position.pending is None and "tide" not in position.seats[position.mover].favors:
        return iter(())
    return lifts(position, "tide")


def landings(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4: a landing is legal only if the rest can still land on the kinds that may follow."""
    voyage = position.pending
    assert isinstance(voyage, Voyage)
    kinds: Sequence[str] = KINDS
    if voyage.stage == "land":
        kinds = places_that_may_follow(KINDS, voyage.last, voyage.last_n)
    room = room_on_the_isles(rules, voyage)
    for kind in kinds:
        for number in range(1, min(MOST_IN_A_STEP, voyage.hand, room[kind]) + 1):
            if rest_can_land(voyage.hand - number, kind, number, {**room, kind: room[kind] - number}):
                yield Decision("land", kind=kind, number=number)


def room_on_the_isles(rules: Rules, voyage: Voyage) -> dict[str, int]:
    """How many of the voyage can still land on each isle: in all at most T - a(k), without same-isle moves."""
    if rules.options.same_isle_moves:
        return dict.fromkeys(KINDS, voyage.hand)
    return {kind: voyage.total - voyage.lifted[kind] - voyage.landed[kind] for kind in KINDS}


def rest_can_land(rest: int, last: str, last_n: int, room: dict[str, int]) -> bool:
    """Tries out whether `rest` novices find a row of landings after one of `last_n` on `last`."""
    if rest == 0:
        return True
    for kind in places_that_may_follow(KINDS, last, last_n):
        for number in range(min(MOST_IN_A_STEP, rest, room[kind]), 0, -1):
            if rest_can_land(rest - number, kind, number, {**room, kind: room[kind] - number}):
                return True
    return False


def lift(rules: Rules, position: Position, decision: Decision) -> None:
    """Takes the novices off their place; the first lift of a Tide returns the favor token."""
    seat = position.seats[position.mover]
    if position.pending is None:
        seat.favors.discard(decision.verb)
        position.pending = Voyage(decision.verb, "lift", counts(), 0, 0, counts(), decision.source, 0)
    voyage = position.pending
    assert isinstance(voyage, Voyage)
    if decision.source == LANDING:
        seat.landing -= decision.number
        voyage.landing_lifted += decision.number
    else:
        group = seat.inactive if decision.source.endswith(INACTIVE) else seat.active
        kind = decision.source.removesuffix(INACTIVE)
        group[kind] -= decision.number
        voyage.lifted[kind] += decision.number
    voyage.hand += decision.number
    voyage.last, voyage.last_n = decision.source, decision.number


def land(rules: Rules, position: Position, decision: Decision) -> None:
    """Puts lifted novices, inactive, on an isle; the action ends by itself when every one has landed."""
    voyage = position.pending
    assert isinstance(voyage, Voyage)
    position.seats[position.mover].inactive[decision.kind] += decision.number
    voyage.stage = "land"
    voyage.hand -= decision.number
    voyage.landed[decision.kind] += decision.number
    voyage.last, voyage.last_n = decision.kind, decision.number
    if voyage.hand == 0:
        position.pending = None
