"""Features: what the network is told about positions, seen from the seat to move.

>>> features = features_of(states, rules)   # float32[B, NUM_FEATURES]

The table is `luna_ai.learning.feature_table` (described in docs/FEATURES.md), the kernel `feature_kernel` beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.learning.feature_kernel import write_batch as write_features
from luna_ai.learning.feature_table import (
    FEATURE,
    FEATURE_VERSION,
    FEATURES,
    LIMIT,
    NUM_FEATURES,
    OFFSET,
    TABLE_HASH,
    block,
)

__all__ = [
    "FEATURE",
    "FEATURES",
    "FEATURE_VERSION",
    "LIMIT",
    "NUM_FEATURES",
    "OFFSET",
    "TABLE_HASH",
    "block",
    "features_of",
    "from_seats",
    "seat_order",
    "to_seats",
    "write_features",
]


def features_of(states: NDArray[np.uint64], rules: NDArray[np.uint64]) -> NDArray[np.float32]:
    """The features of positions of one game (sheet and rule set), `uint64[B, STATE_WORDS]` -> `float32[B, F]`."""
    out = np.empty((len(states), NUM_FEATURES), dtype=np.float32)
    write_features(np.ascontiguousarray(states), rules, out)
    return out


def seat_order(states: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The absolute seat at each place from the seat to move on, `int64[B, 4]`; absent ones keep their own number."""
    players, first = columns(states, "players")[:, np.newaxis], columns(states, "to_move")[:, np.newaxis]
    place = np.arange(MAX_PLAYERS)
    return np.where(place < players, (first + place) % players, place)


def to_seats(states: NDArray[np.uint64], turned: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers by place from the seat to move on, `[B, 4]`, by absolute seat instead."""
    out = np.empty_like(turned)
    np.put_along_axis(out, seat_order(states), turned, axis=1)
    return out


def from_seats(states: NDArray[np.uint64], by_seat: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers by absolute seat, `[B, 4]`, by place from the seat to move on instead."""
    return np.take_along_axis(by_seat, seat_order(states), axis=1)
