"""Decorators of the learner's kernels: cached under a hash of the sources of engine and learner kernels."""

from __future__ import annotations

from pathlib import Path

from engine_fast.jit import compiler

__all__ = ["HERE", "called", "inline", "kernel"]

HERE = Path(__file__).resolve().parent
kernel, inline, called = compiler(HERE)
