"""Progress of long work, on stderr: a bar on a terminal, a plain line every few seconds otherwise."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from luna_ai.terminal import console

SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Counts steps of a work; use it as a context manager.

    Args:
        what: the work, a word or two (`playing`).
        total: number of steps, None where it is not known.
        unit: what a step is, in the plural (`games`).
    """

    def __init__(self, what: str, total: int | None, unit: str) -> None:
        """Starts at step 0; shows nothing before `with`."""
        self.what, self.total, self.unit = what, total, unit
        self.done = 0
        self._started = self._last_line = time.monotonic()
        self._bar = _bar(unit) if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        """Shows the bar."""
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the last state of the bar, or a last line where lines were printed."""
        if self._bar is not None:
            self._bar.stop()
        elif self._last_line > self._started:
            self._print_line()

    def advance(self, steps: int = 1) -> None:
        """Adds finished steps."""
        self.done += steps
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._print_line()

    def say(self, text: str) -> None:
        """Prints a line above the bar: something that takes long begins, for example."""
        if self._bar is not None:
            self._bar.console.print(text)
        else:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def _print_line(self) -> None:
        self._last_line = time.monotonic()
        of_total = f" of {self.total:,}" if self.total is not None else ""
        sys.stderr.write(f"{self.what}: {self.done:,}{of_total} {self.unit}, {self._last_line - self._started:.0f} s\n")
        sys.stderr.flush()


def _bar(unit: str) -> Bar:
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console(stderr=True),
    )
