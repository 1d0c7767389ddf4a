"""Samples: positions of self-play with what the network should have said of them, as arrays.

Seats are absolute here; the learner turns them to the seat that decides (`luna_ai.learner`). The policy is sparse:
only decisions with a probability above 0, those of all samples one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import NUM_ACTIONS
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, STATE_WORDS
from luna_ai.run_folder import write_whole


class Samples(NamedTuple):
    """B positions and P probabilities."""

    state: NDArray[np.uint64]  # [B, STATE_WORDS]
    weight: NDArray[np.float32]  # [B] how often it is drawn, relative to others; above 0
    policy_size: NDArray[np.int32]  # [B] number of its probabilities; 0: no policy target
    win: NDArray[np.float32]  # [B, 4] 1 for the winner of the game
    root: NDArray[np.float32]  # [B, 4] win probabilities that the search found
    margin: NDArray[np.int16]  # [B, 4] final influence minus the best other's; 0 for absent seats
    sources: NDArray[np.int16]  # [B, 4, SOURCES] influence still to come
    version: NDArray[np.int32]  # [B] step of the training at which it was played
    policy_id: NDArray[np.uint16]  # [P] decisions
    policy: NDArray[np.float32]  # [P] their probabilities in the improved policy

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(column.nbytes for column in self)

    def dense_policy(self) -> NDArray[np.float32]:
        """`float32[B, NUM_ACTIONS]`; rows of zeros where there is no policy target."""
        dense = np.zeros((len(self.state), NUM_ACTIONS), dtype=np.float32)
        dense[np.repeat(np.arange(len(self.state)), self.policy_size), self.policy_id] = self.policy
        return dense


ROW_SHAPES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "state": (np.uint64, (STATE_WORDS,)),
    "weight": (np.float32, ()),
    "policy_size": (np.int32, ()),
    "win": (np.float32, (MAX_PLAYERS,)),
    "root": (np.float32, (MAX_PLAYERS,)),
    "margin": (np.int16, (MAX_PLAYERS,)),
    "sources": (np.int16, (MAX_PLAYERS, NUM_SOURCES)),
    "version": (np.int32, ()),
    "policy_id": (np.uint16, ()),
    "policy": (np.float32, ()),
}
"""Type and shape of one row of each column."""
POLICY_COLUMNS = ("policy_id", "policy")


def no_samples() -> Samples:
    """Samples of nothing."""
    return Samples(**{name: np.zeros((0, *shape), dtype=kind) for name, (kind, shape) in ROW_SHAPES.items()})


def joined(parts: Sequence[Samples]) -> Samples:
    """The samples of all parts, in their order."""
    return Samples(*(np.concatenate(columns) for columns in zip(*(no_samples(), *parts), strict=True)))


def ragged_rows(starts: NDArray[np.int64], sizes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The indices start, start + 1, ... of runs of the given sizes, one run after another."""
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else np.zeros(0, dtype=np.int64)
    found: NDArray[np.int64] = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
    return found


def taken(samples: Samples, rows: NDArray[np.int64], starts: NDArray[np.int64] | None = None) -> Samples:
    """The samples of some rows, in that order.

    Args:
        samples: where they are taken from.
        rows: `int64[K]`, repetitions allowed.
        starts: `int64[B]`, where the probabilities of each sample begin; None to count them.
    """
    if starts is None:
        starts = np.cumsum(samples.policy_size, dtype=np.int64) - samples.policy_size
    flat = ragged_rows(starts[rows], samples.policy_size[rows])
    columns = {name: getattr(samples, name)[flat if name in POLICY_COLUMNS else rows] for name in Samples._fields}
    return Samples(**columns)


def write_samples(path: Path, samples: Samples) -> None:
    """Writes samples so that `path` is never half a file.

    Raises:
        OSError: the file cannot be written.
    """

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, **samples._asdict())

    write_whole(path, write)


def read_samples(path: Path) -> Samples:
    """Samples that `write_samples` wrote.

    Raises:
        OSError, ValueError, KeyError, BadZipFile: the file is missing or damaged.
    """
    with np.load(path, allow_pickle=False) as file:
        return Samples(**{name: file[name] for name in Samples._fields})
