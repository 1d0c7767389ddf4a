"""Event files of TensorBoard, written in step with the caller: no threads, and a full disk is an OSError here and now.

`torch.utils.tensorboard` would need the whole of TensorBoard to write; tensorboardX, whose protocol buffers are used
here, does not. A session that goes on after step S says so by a start mark at S + 1: TensorBoard then hides what an
earlier session wrote for later steps.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Layout = Mapping[str, Mapping[str, tuple[str, list[str]]]]
"""Category -> chart -> (`Multiline` or `Margin`, tags), as tensorboardX takes it."""


class NoEventWriter(ValueError):
    """tensorboardX is not installed."""


class EventFile:
    """One session's file in a folder of TensorBoard; use it as a context manager."""

    def __init__(self, folder: Path, first_step: int, layout: Layout) -> None:
        """Begins a file.

        Args:
            folder: exists already.
            first_step: the first step that this session will write; later ones of earlier sessions are hidden.
            layout: charts of the custom page.

        Raises:
            NoEventWriter: tensorboardX is not installed.
            OSError: the file cannot be written.
        """
        try:
            from tensorboardX import summary
            from tensorboardX.proto import event_pb2
            from tensorboardX.record_writer import RecordWriter
        except ImportError as problem:
            needed = "learning curves need tensorboardX, which is not installed; pip install 'luna-ai[train]' does it"
            raise NoEventWriter(needed) from problem
        self._summary, self._proto = summary, event_pb2
        number = len(list(folder.glob("events.out.tfevents.*")))
        self._writer = RecordWriter(str(folder / f"events.out.tfevents.{int(time.time()):010d}.{number:06d}"))
        self._write(0, file_version="brain.Event:2")
        mark = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        self._write(first_step, session_log=mark)
        self._write(first_step, summary=summary.custom_scalars(layout))
        self._writer.flush()

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        self._writer.close()

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Writes scalars of a step and brings them to the disk.

        Raises:
            OSError: they cannot be written.
        """
        for tag, value in scalars.items():
            self._write(step, summary=self._summary.scalar(tag, value))
        self._writer.flush()

    def _write(self, step: int, **content: Any) -> None:
        event = self._proto.Event(wall_time=time.time(), step=step, **content)
        self._writer.write(event.SerializeToString())
