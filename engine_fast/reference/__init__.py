"""The slow twin of the engine, to be read beside the rules of Luna.

Plain Python: dataclasses, sets, dicts and words, one function for each paragraph of the rules, which names its section.
It imports nothing of the rest of the project and shares no table with it, so that the two can check each other; the
bridge between them is the notation of decisions and the canonical JSON of positions.

Read in this order: `model`, `notation`, `sheet`, `rules`, `actions`, `voyages`, `scoring`, `setup`, `shape`,
`validity`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from . import rules as _rules
from . import setup as _setup
from .model import Position
from .notation import NotationError
from .rules import IllegalDecision
from .scoring import ranks
from .sheet import Options, Rules
from .validity import setup_problems

__all__ = ["IllegalDecision", "NotationError", "Position", "Reference"]


class Reference:
    """The game of Luna with one component sheet and one rule set."""

    def __init__(self, sheet: Mapping[str, Any], ruleset: Mapping[str, Any]) -> None:
        """Takes a component sheet with `extends` resolved and the `ruleset` map of a record's header.

        Raises:
            ValueError: `ruleset` lacks an option or has an unknown one.
        """
        self.rules = Rules(sheet, Options.of(ruleset))

    def load(self, position: Mapping[str, Any]) -> Position:
        """The position of a canonical JSON; ValueError for wrong keys, the rest is the caller's to check."""
        return Position.from_json(position)

    def dump(self, position: Position) -> dict[str, Any]:
        """The canonical JSON of a position (section 8)."""
        return position.to_json()

    def legal(self, position: Position) -> list[str]:
        """The legal decisions, sorted by code point; empty when the game is over."""
        return _rules.legal(self.rules, position)

    def play(self, position: Position, notation: str) -> Position:
        """The position after a decision; NotationError or IllegalDecision if it cannot be taken."""
        return _rules.play(self.rules, position, notation)

    def result(self, position: Position) -> dict[str, list[int]]:
        """Final influence and rank (1 = winner) by seat; ValueError while the game goes on."""
        if position.phase != "over":
            raise ValueError(f"the game is in phase {position.phase!r}: there is a result only when it is over")
        return {"influence": [seat.influence for seat in position.seats], "rank": ranks(position)}

    def valid_setup(self, position: Any) -> list[str]:
        """What is inconsistent in a canonical JSON, a sentence each; empty when a record may start from it."""
        return setup_problems(self.rules, position)

    def new(self, rng: random.Random, players: int, setup: str = "standard") -> Position:
        """A random `standard` or `preselected` set-up for 2, 3 or 4 players."""
        return _setup.new(self.rules, rng, players, setup)
