"""The uses of an isle's active novices, packed as a knapsack.

Every novice is worth the unit value; some uses of one or two novices are worth more, each once. `gains` is a tuple of
eight numbers, gains[n - 1] the most that n novices can be worth above n units. There are at most four special uses of
at most two novices, so more than eight novices gain no more than eight. Held in registers: loops over such short rows
cost several times as much.
"""

from __future__ import annotations

from typing import Any

from luna_ai.bots.compiling import inline

NO_GAINS = (0.0,) * 8
MOST_TO_PACK = 8


@inline
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers that are no NaN."""
    return a if a > b else b


@inline
def pack_one(gains: Any, value: Any) -> Any:
    """One use more, of one novice, that is worth `value` above the unit."""
    a, b, c, d, e, f, g, h = gains
    return (
        larger(a, value),
        larger(b, a + value),
        larger(c, b + value),
        larger(d, c + value),
        larger(e, d + value),
        larger(f, e + value),
        larger(g, f + value),
        larger(h, g + value),
    )


@inline
def pack_two(gains: Any, value: Any) -> Any:
    """One use more, of two novices, that is worth `value` above two units."""
    a, b, c, d, e, f, g, h = gains
    return (
        a,
        larger(b, value),
        larger(c, a + value),
        larger(d, b + value),
        larger(e, c + value),
        larger(f, d + value),
        larger(g, e + value),
        larger(h, f + value),
    )


@inline
def write_row(row: Any, limit: Any, unit: Any, gains: Any) -> None:
    """`row[n]`: what n novices are worth, for n up to `limit`."""
    a, b, c, d, e, f, g, h = gains
    row[0], row[1], row[2], row[3], row[4] = 0.0, unit + a, 2.0 * unit + b, 3.0 * unit + c, 4.0 * unit + d
    row[5], row[6], row[7], row[8] = 5.0 * unit + e, 6.0 * unit + f, 7.0 * unit + g, 8.0 * unit + h
    for n in range(MOST_TO_PACK + 1, limit + 1):
        row[n] = unit * n + h
