"""Ctrl-C as a wish that long work looks at between two steps, so that it never breaks off in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Notes Ctrl-C instead of raising KeyboardInterrupt; a second Ctrl-C raises it. Use it as a context manager.

    Attributes:
        seen: whether Ctrl-C was pressed.
    """

    def __init__(self) -> None:
        """Nothing is noted before `with`."""
        self.seen = False
        self._before: Any = None

    def __enter__(self) -> Self:
        """Begins to note; outside the main thread, where no signal arrives, nothing changes."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Lets Ctrl-C do what it did before."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
