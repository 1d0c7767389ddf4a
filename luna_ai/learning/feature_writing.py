"""Small functions that the feature kernels are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast.bits import U0, U1, lowest_bit
from luna_ai.learning.compiling import inline

ONE, HALF = np.float32(1.0), np.float32(0.5)


@inline
def write_bits(row: Any, first: Any, bits: Any, value: Any) -> None:
    """Writes `value` at `first` + the index of each 1 bit."""
    rest = bits
    while rest != U0:
        row[first + np.int64(lowest_bit(rest))] = value
        rest &= rest - U1


@inline
def count(number: Any) -> Any:
    """A `uint64` as a feature."""
    return np.float32(np.int64(number))


@inline
def flag(word: Any) -> Any:
    """1 for an option that is on."""
    return np.float32(word != U0)
