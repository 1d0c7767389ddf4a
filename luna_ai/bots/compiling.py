"""Decorators of the bots' kernels: cached under a hash of the engine's and this folder's sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine_fast.jit import compiler, njit

__all__ = ["called", "inline", "kernel", "spliced"]

kernel, inline, called = compiler(Path(__file__).resolve().parent)


def spliced(function: Callable[..., Any]) -> Any:
    """For the layers around the bots, which have one or two callers: put into the caller before it is compiled.

    A function that is compiled on its own is optimised once more inside each of its callers, which for a layer around
    everything costs seconds.
    """
    return njit(inline="always", _nrt=False)(function)
