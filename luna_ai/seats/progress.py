"""Shows how far a seat study is: one bar or line for each stage of each variant."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from luna_ai.progress import Progress as Bar
from luna_ai.seats.schedule import SeatStudy
from luna_ai.seats.study import Progress


class StudyProgress:
    """Turns the reports of `run_study` into progress on stderr; use it as a context manager."""

    def __init__(self, study: SeatStudy) -> None:
        """Shows nothing before the first report."""
        self._study = study
        self._bar: Bar | None = None
        self._stage: tuple[str, str] | None = None

    def __enter__(self) -> Self:
        """Ready for reports."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the last state on the screen."""
        self._close()

    def report(self, progress: Progress) -> None:
        """One part is finished."""
        stage = (progress.variant.label, progress.stage)
        if stage != self._stage or self._bar is None:
            self._close()
            self._stage = stage
            self._bar = Bar(f"{stage[0]}, {stage[1]}", progress.goal, "deals").__enter__()
        self._bar.total = progress.goal
        self._bar.advance(progress.blocks - self._bar.done)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None
