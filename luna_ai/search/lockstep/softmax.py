"""A softmax that LLVM can vectorise: numba calls the C library's `expf` number by number, a fifth of a search.

`exp(x) = 2**i * 2**f` with i the whole part of x / log 2 and f the rest in [0, 1): 2**f by a polynomial, 2**i by
writing i into the exponent bits of a float32. The relative error is below 1e-5 (tested); most of it is the rounding
of x / log 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from luna_ai.search.compiling import inline

SMALLEST_EXPONENT = np.float32(-80.0)
"""Exponents are cut off here, so that every probability stays above 0: exp(-80) is 2e-35."""
LOG2_E = np.float32(1.4426950408889634)
EXPONENT_BIAS, MANTISSA_BITS = np.int32(127), np.int32(23)
# 2**f on [0, 1): fitted by Chebyshev interpolation of degree 6, lowest power first.
COEFFICIENTS = tuple(
    np.float32(c)
    for c in np.polynomial.Chebyshev.interpolate(np.exp2, 6, domain=[0, 1]).convert(kind=np.polynomial.Polynomial).coef
)
C0, C1, C2, C3, C4, C5, C6 = COEFFICIENTS


class Powers(NamedTuple):
    """Scratch of `softmax`: the same memory as bits and as numbers."""

    bits: NDArray[np.int32]  # [M]
    numbers: NDArray[np.float32]  # [M]


def new_powers(most: int) -> Powers:
    """Scratch for a softmax over at most `most` numbers."""
    bits = np.zeros(most, dtype=np.int32)
    return Powers(bits, bits.view(np.float32))


@inline
def softmax(numbers: Any, first: Any, count: Any, powers: Any) -> None:
    """Replaces `count` (at least 1) logits from `first` on by probabilities, in place in `float32[...]`."""
    highest = numbers[first]
    for index in range(1, count):
        if numbers[first + index] > highest:
            highest = numbers[first + index]
    for index in range(count):
        exponent = (numbers[first + index] - highest) * LOG2_E
        exponent = exponent if exponent > SMALLEST_EXPONENT * LOG2_E else SMALLEST_EXPONENT * LOG2_E
        whole = np.floor(exponent)
        f = exponent - whole
        numbers[first + index] = C0 + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
        powers.bits[index] = (np.int32(whole) + EXPONENT_BIAS) << MANTISSA_BITS
    total = np.float32(0.0)
    for index in range(count):
        numbers[first + index] *= powers.numbers[index]
        total += numbers[first + index]
    scale = np.float32(1.0) / total
    for index in range(count):
        numbers[first + index] *= scale
