"""Decorators of the bots' kernels: cached under a hash of the engine's and this folder's sources."""

from __future__ import annotations

from pathlib import Path

from engine_fast.jit import called, compiler

__all__ = ["called", "inline", "kernel"]

kernel, inline = compiler(Path(__file__).resolve().parent)
