"""THE weight table: what the evaluation of the bots weighs, one named column each. A bot is a row of weights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One weight: its name, the greedy bot's value and what it multiplies."""

    name: str
    greedy: float
    meaning: str


COLUMNS: tuple[Column, ...] = (Column("guard", 1.0, "influence of the Guard for a Sanctification"),)
