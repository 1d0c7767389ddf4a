"""Notation and ids (RULES.md section 7): `journey book 2` <-> a flat action id."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import ID_OF_NOTATION, NOTATIONS, NUM_ACTIONS


class NotationError(ValueError):
    """A text that is none of the 637 notations, or an id out of range."""


def parse(notation: str) -> int:
    """The id of a notation.

    Raises:
        NotationError: no decision is written like this; similar ones are named.
    """
    action = ID_OF_NOTATION.get(notation)
    if action is None:
        similar = get_close_matches(str(notation), NOTATIONS, n=3)
        hint = f"; similar: {', '.join(similar)}" if similar else ""
        raise NotationError(f"{notation!r} is not a decision{hint}")
    return action


def notation_of(action: int) -> str:
    """The notation of an id.

    Raises:
        NotationError: the id is not in 0 ... NUM_ACTIONS - 1.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise NotationError(f"no decision has the id {action}; allowed: 0 to {NUM_ACTIONS - 1}")
    return NOTATIONS[action]


def ids_of_mask(mask: NDArray[np.uint64]) -> list[int]:
    """Ids of the 1 bits of a packed mask `uint64[MASK_WORDS]`, ascending."""
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    return [int(i) for i in np.flatnonzero(bits)]


def notations_of_mask(mask: NDArray[np.uint64]) -> list[str]:
    """Notations of the 1 bits of a packed mask, sorted by code point as records have them."""
    return sorted(NOTATIONS[i] for i in ids_of_mask(mask))


def describe(mask: NDArray[np.uint64]) -> dict[str, Any]:
    """How many decisions of each kind a packed mask holds, for people who look at a position."""
    counts: dict[str, int] = {}
    for notation in notations_of_mask(mask):
        kind = notation.split(" ")[0]
        counts[kind] = counts.get(kind, 0) + 1
    return counts
