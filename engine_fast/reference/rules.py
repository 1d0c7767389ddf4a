"""Legal decisions and play: the sequence of the game (rules, sections 2 and 4), resting on the single actions.

`legal` and `play` are the whole game. A position passed in is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import actions, voyages
from .model import KINDS, BookInHand, Position, Seat, Voyage
from .notation import Decision, parse, write
from .scoring import end_action_phase
from .sheet import Rules

PLACINGS = 4
"""Section 2, preliminary round: so many times around, each player places two novices."""


class IllegalDecision(ValueError):
    """A decision that the rules do not allow in this position."""


def free_isles_for_shrine(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 2, preliminary round: an isle that holds no shrine; with two players not `herbs`."""
    for kind in KINDS:
        taken = any(kind in seat.shrines for seat in position.seats)
        if not taken and not (position.players == 2 and kind == "herbs"):
            yield Decision("place-shrine", kind=kind)


def place_shrine(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 2, preliminary round: one shrine each, clockwise; then come the novices."""
    position.seats[position.mover].shrines.add(decision.kind)
    position.to_move = left_neighbour(position)
    if position.to_move == position.start_player:
        position.phase = "novices"


def isles_without_own_piece(seat: Seat) -> list[str]:
    """The isles where the player has neither shrine nor novice."""
    return [kind for kind in KINDS if kind not in seat.shrines and seat.active[kind] + seat.inactive[kind] == 0]


def free_isles_for_novices(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 2, preliminary round: an isle that holds none of his own pieces."""
    for kind in isles_without_own_piece(position.seats[position.mover]):
        yield Decision("place-novices", kind=kind)


def place_novices(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 2, preliminary round: two active novices each, four times around; then the first round begins."""
    seat = position.seats[position.mover]
    seat.active[decision.kind] += 2
    seat.supply -= 2
    position.to_move = left_neighbour(position)
    if all(sum(seat.active.values()) == 2 * PLACINGS for seat in position.seats):
        for seat in position.seats:
            seat.favors.update(isles_without_own_piece(seat))
        position.phase = "action"


def left_neighbour(position: Position) -> int:
    """The next player clockwise."""
    return (position.mover + 1) % position.players


LEGAL: dict[str, Callable[[Rules, Position], Iterator[Decision]]] = {
    "place-shrine": free_isles_for_shrine,
    "place-novices": free_isles_for_novices,
    "favor": actions.priests_favors,
    "recruit": actions.recruits,
    "build": actions.builds,
    "herbs": actions.herb_cures,
    "sail": actions.sailings,
    "journey": voyages.journeys,
    "tide": voyages.tides,
    "land": voyages.landings,
    "promote": actions.promotions,
    "sanctify": actions.sanctifications,
    "take-book": actions.books_to_take,
    "give-book": actions.books_to_give,
    "council": actions.council_steps,
    "expel": actions.expulsions,
    "meditate": actions.meditations,
}
"""By the first word of the notation: the legal decisions of the player to move."""

EFFECT: dict[str, Callable[[Rules, Position, Decision], None]] = {
    "place-shrine": place_shrine,
    "place-novices": place_novices,
    "favor": actions.gain_favor,
    "recruit": actions.recruit,
    "build": actions.build,
    "herbs": actions.cure,
    "sail": actions.sail,
    "journey": voyages.lift,
    "tide": voyages.lift,
    "land": voyages.land,
    "promote": actions.promote,
    "sanctify": actions.sanctify,
    "take-book": actions.take_book,
    "give-book": actions.give_book,
    "council": actions.move_up,
    "expel": actions.expel,
    "meditate": actions.meditate,
}
"""By the first word of the notation: what the decision changes."""

BEGINNINGS = (
    "favor", "recruit", "build", "herbs", "sail", "journey", "tide", "promote", "sanctify", "take-book", "council",
    "expel", "meditate",
)  # fmt: skip
"""The decisions with which an action begins."""


def verbs(position: Position) -> tuple[str, ...]:
    """Which kinds of decision the stage of the game asks for (sections 2 and 4)."""
    if position.phase == "over":
        return ()
    if position.phase == "shrines":
        return ("place-shrine",)
    if position.phase == "novices":
        return ("place-novices",)
    if isinstance(position.pending, BookInHand):
        return ("give-book",)
    if isinstance(position.pending, Voyage):
        return (position.pending.action, "land") if position.pending.stage == "lift" else ("land",)
    return BEGINNINGS


def legal(rules: Rules, position: Position) -> list[str]:
    """The notations of all legal decisions, sorted by code point; empty when the game is over."""
    return sorted(write(decision) for verb in verbs(position) for decision in LEGAL[verb](rules, position))


def play(rules: Rules, position: Position, text: str) -> Position:
    """The position after the decision.

    Raises:
        NotationError: `text` is no decision of the game.
        IllegalDecision: the rules do not allow it here.
    """
    decision = parse(text)
    if decision.verb not in verbs(position) or decision not in LEGAL[decision.verb](rules, position):
        raise IllegalDecision(f"{text!r} is illegal here; legal: {', '.join(legal(rules, position)) or 'nothing'}")
    after = position.copy()
    EFFECT[decision.verb](rules, after, decision)
    if position.phase == "action" and after.pending is None:
        complete_action(rules, after)
    return after


def complete_action(rules: Rules, position: Position) -> None:
    """Section 4: the next player clockwise acts, until the last Time token is turned or the phase is too long."""
    position.actions += 1
    if position.time_tokens == 0 or position.actions >= rules.most_actions(position.players):
        end_action_phase(rules, position, position.mover)
    else:
        position.to_move = left_neighbour(position)
