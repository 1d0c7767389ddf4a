"""Decorators of the search kernels: cached under a hash of the sources of engine, bots and search."""

from __future__ import annotations

from pathlib import Path

from engine_fast.jit import compiler

__all__ = ["called", "inline", "kernel"]

HERE = Path(__file__).resolve().parent
kernel, inline, called = compiler(HERE.parent / "bots", HERE, HERE / "lockstep")
