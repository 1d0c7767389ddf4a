"""The terminal that verbs print to."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from rich.console import Console

PIPED_WIDTH = 120


class _Console(Console):
    """A console whose reader may go away: `luna_ai.cli` answers, where rich would exit with 1."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(stderr: bool = False) -> Console:
    """The standard output (or error); wide tables are not cut for the 80 columns that rich assumes of a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    known = stream.isatty() or "COLUMNS" in os.environ
    return _Console(stderr=stderr, width=None if known else PIPED_WIDTH, highlight=False)
