"""What can be done with games while they are verified: drawn step by step, written again, counted (`verify`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console

from luna_ai.records.drawing import StepDrawing, result_table
from luna_ai.records.lines import Decision, RecordLine
from luna_ai.records.summary import replayed_game, replayed_line
from luna_ai.records.verification import Event, GameEnd, Mismatch, Step
from luna_ai.records.writing import RecordFile


@dataclass
class Film:
    """Draws steps on a console.

    Attributes:
        console: where to.
        game: number of the game in its file, from 1; None for all.
        first: number of the first step; 0 is the set-up.
        last: number of the last step; None for the end of the game, result included.
        delay: seconds between steps; a terminal is cleared for each step if there is any.
        drawn: number of steps drawn so far.
    """

    console: Console
    game: int | None = None
    first: int = 0
    last: int | None = None
    delay: float = 0.0
    drawn: int = 0
    _before: dict[str, Any] | None = None

    def __call__(self, event: Event) -> None:
        """Draws a step or a result if it is among the chosen ones."""
        chosen = self.game in (None, event.game)
        if isinstance(event, Step):
            before, self._before = self._before, event.position
            if chosen and self.first <= event.number and (self.last is None or event.number <= self.last):
                self._draw(StepDrawing(event, before if event.number else None))
        elif isinstance(event, GameEnd) and chosen and self.last is None and event.result is not None:
            self.console.print(result_table(event.header.seats, event.result.influence, event.result.rank))

    def _draw(self, step: StepDrawing) -> None:
        if self.delay:
            if self.drawn:
                time.sleep(self.delay)
            if self.console.is_terminal:
                self.console.clear()
        self.console.print(step)
        self.drawn += 1


class Rewriter:
    """Writes what is replayed as records again, in a `with` block; the file is dropped if a line does not verify."""

    def __init__(self, file: Path, positions: bool, legal: bool) -> None:
        """Opens the file; says what its decisions are to state. OSError if it cannot be written."""
        self._out, self._positions, self._legal = RecordFile(file), positions, legal
        self._lines: list[RecordLine] = []

    def __call__(self, event: Event) -> None:
        """Takes down a step; with the end of a game its record is written."""
        if isinstance(event, Mismatch):
            self._out.discard()
        elif isinstance(event, GameEnd):
            self._out.add([*self._lines, *([event.result] if event.result is not None else [])])
        elif event.decision is None:
            self._lines = [event.header]
        else:
            stated = (event.position if self._positions else None, event.legal if self._legal else None)
            self._lines.append(Decision(event.decision, *stated))

    def __enter__(self) -> Self:
        """As `RecordFile`."""
        self._out.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As `RecordFile`."""
        self._out.__exit__(kind, error, trace)


class Account:
    """Says what became of each game, and keeps its figures.

    Attributes:
        records: `summary.replayed_game` of each game that was replayed to its end.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        """Takes what a line is said with."""
        self._say = say
        self.records: list[dict[str, Any]] = []

    def __call__(self, event: Event) -> None:
        """Takes down the end of a game."""
        if isinstance(event, GameEnd):
            self._say(replayed_line(event))
            self.records.append(replayed_game(event))

    def longest(self) -> int:
        """Number of decisions of the longest game."""
        return max((int(record["decisions"]) for record in self.records), default=0)
