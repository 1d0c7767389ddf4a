"""The 637 decisions of Luna and their strings (rules, section 7).

A decision is a small tuple of words; its string is those words in a row. By form there are 637: whether one is legal
is the question of `rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .model import KINDS, LANDING, SOURCES, TILES

STEP_NUMBERS = (1, 2, 3, 4)
"""How many novices one lift or one landing can move."""

PAIR = (1, 2)
"""How many novices Herbs and Sailboat can move."""

CROWD = range(1, 14)
"""How many real novices the Council and the Expulsion can use."""


class NotationError(ValueError):
    """A string that is no decision of Luna."""


class Decision(NamedTuple):
    """One decision; a field that a verb does not need is empty or 0."""

    verb: str
    source: str = ""
    kind: str = ""
    number: int = 0
    tile: int = 0
    virtual: bool = False


def spell(decision: Decision) -> str:
    """The notation of a decision: its words in the order of section 7."""
    words = [decision.verb, decision.source, decision.kind, decision.number or "", decision.tile or ""]
    words.append("+v" if decision.virtual else "")
    return " ".join(str(word) for word in words if word != "")


def all_decisions() -> Iterator[Decision]:
    """Every decision that section 7 can write, row by row of its table."""
    for kind in KINDS:
        yield Decision("place-shrine", kind=kind)
        yield Decision("place-novices", kind=kind)
        yield from (Decision("herbs", kind=kind, number=n) for n in PAIR)
        yield from (Decision("sail", source, kind, n) for source in (*KINDS, LANDING) for n in PAIR)
        yield from (Decision("journey", source=kind, number=n) for n in STEP_NUMBERS)
        yield from (Decision("land", kind=kind, number=n) for n in STEP_NUMBERS)
    for source in SOURCES:
        yield from (Decision("tide", source=source, number=n) for n in STEP_NUMBERS)
    for tile in TILES:
        yield from (Decision(verb, tile=tile) for verb in ("sanctify", "take-book", "give-book"))
    yield Decision("meditate")
    for virtual in (False, True):
        yield from decisions_with_virtual(virtual)
    yield Decision("council", virtual=True)
    yield Decision("expel", virtual=True)


def decisions_with_virtual(virtual: bool) -> Iterator[Decision]:
    """The decisions of section 7 that exist with and without the virtual novice."""
    for kind in KINDS:
        yield Decision("favor", kind=kind, virtual=virtual)
        yield Decision("recruit", kind=kind, virtual=virtual)
        yield from (Decision("council", kind=kind, number=n, virtual=virtual) for n in CROWD)
    yield Decision("build", virtual=virtual)
    yield from (Decision("promote", tile=tile, virtual=virtual) for tile in TILES)
    yield from (Decision("expel", number=n, virtual=virtual) for n in CROWD)


TEXTS = {decision: spell(decision) for decision in all_decisions()}
DECISIONS = {text: decision for decision, text in TEXTS.items()}


def parse(text: str) -> Decision:
    """The decision that `text` writes.

    Raises:
        NotationError: `text` is none of the 637 strings.
    """
    if text not in DECISIONS:
        raise NotationError(f"{text!r} is no decision; see section 7 of the rules for the 637 that exist")
    return DECISIONS[text]


def write(decision: Decision) -> str:
    """The string of a decision, from the table of all of them."""
    return TEXTS[decision]
