"""The replay window: the newest samples, in memory and as append-only shards on disk.

    FOLDER/shard-NNNNNNNNN.npz   the samples of one step

The window grows with all samples so far as KataGo's does (Wu, "Accelerating Self-Play Learning in Go", 2019,
appendix C): c (1 + b ((n / c)^a - 1) / a) for n samples, at least c; what falls out of it is forgotten by whole shards.
Samples are drawn by weight, and as many as keep the balance: a new sample of weight w is trained on `reuse` x w times.

A window is restored from the shards that a checkpoint names; shards that came later are removed, they will be played
again.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from luna_ai.samples import POLICY_COLUMNS, ROW_SHAPES, Samples, no_samples, read_samples, taken, write_samples
from luna_ai.training_config import ReplayOptions

MEGABYTE = 1_000_000


class ReplayError(ValueError):
    """Shards that are missing or damaged, or nothing to draw from."""


class Strip:
    """Rows in a line: new ones join at the end, old ones leave at the front."""

    def __init__(self, kind: Any, shape: tuple[int, ...]) -> None:
        """No rows yet."""
        self._rows = np.zeros((0, *shape), dtype=kind)
        self._first = self._last = 0

    @property
    def rows(self) -> NDArray[Any]:
        """All rows, a view that holds until the next change."""
        return self._rows[self._first : self._last]

    def append(self, rows: NDArray[Any]) -> None:
        """Adds rows at the end."""
        live, needed = self.rows, self._last - self._first + len(rows)
        if self._last + len(rows) > len(self._rows):
            roomy = len(self._rows) >= needed + needed // 3
            target = self._rows if roomy else np.zeros((needed + needed // 2, *live.shape[1:]), dtype=live.dtype)
            target[: len(live)] = live
            self._rows, self._first, self._last = target, 0, len(live)
        self._rows[self._last : self._last + len(rows)] = rows
        self._last += len(rows)

    def drop(self, count: int) -> None:
        """Removes rows at the front."""
        self._first += count


def window_size(total: int, options: ReplayOptions) -> float:
    """Samples in the window after `total` samples; see the module for the formula."""
    least, power = options.window, options.window_power
    growth = ((max(total, least) / least) ** power - 1.0) / power
    return float(least * (1.0 + options.window_growth * growth))


class Replay:
    """The window of one training.

    Attributes:
        total: samples so far, forgotten ones included.
        credit: weight that waits to be trained on, less than a batch after `updates_due`.
    """

    def __init__(
        self,
        options: ReplayOptions,
        folder: Path,
        counters: dict[str, Any] | None = None,
        kept: Collection[str] = (),
    ) -> None:
        """An empty window, or the one of `counters`.

        Args:
            options: size and balance.
            folder: of the shards; made if it is missing.
            counters: what `counters()` said when the checkpoint was written.
            kept: shards that stay on the disk though the window has nothing of them: an older checkpoint names them.

        Raises:
            ReplayError: a shard is missing or damaged.
            OSError: the folder cannot be made.
        """
        self.options, self._folder = options, folder
        self._strips = {name: Strip(kind, shape) for name, (kind, shape) in ROW_SHAPES.items()}
        self._shards: list[tuple[str, int, int, int]] = []  # name, samples, probabilities, bytes
        self.total, self.credit, self._number = 0, 0.0, 0
        folder.mkdir(parents=True, exist_ok=True)
        if counters is not None:
            for name in counters["shards"]:
                self._append(name, self._read(name))
            self.total, self.credit = counters["total"], counters["credit"]
            self._number = counters["number"]
        self.forget(kept)
        self._index()

    def _read(self, name: str) -> Samples:
        try:
            return read_samples(self._folder / name)
        except (OSError, ValueError, KeyError, BadZipFile) as problem:
            raise ReplayError(f"{self._folder / name} is missing or damaged; the run cannot go on from it") from problem

    def counters(self) -> dict[str, Any]:
        """What a checkpoint must hold to restore this window: plain data."""
        shards = [name for name, *_ in self._shards]
        return {"shards": shards, "total": self.total, "credit": self.credit, "number": self._number}

    @property
    def samples(self) -> Samples:
        """All samples of the window: views that hold until the next change."""
        return Samples(**{name: strip.rows for name, strip in self._strips.items()})

    def __len__(self) -> int:
        """Samples in the window."""
        return sum(size for _, size, _, _ in self._shards)

    @property
    def nbytes(self) -> int:
        """Bytes of the window's samples; arrays reserve up to half as much again."""
        return sum(size for _, _, _, size in self._shards)

    def add(self, samples: Samples) -> None:
        """Writes the samples of one step as a shard and adds them; old ones fall out of the window.

        Raises:
            OSError: the shard cannot be written; then the window is as before.
        """
        name = f"shard-{self._number:09d}.npz"
        write_samples(self._folder / name, samples)
        self._number += 1
        self.total += len(samples.state)
        self.credit += self.options.reuse * float(samples.weight.sum(dtype=np.float64))
        self._append(name, samples)
        while len(self._shards) > 1 and self._has_too_much():
            _, size, probabilities, _ = self._shards.pop(0)
            for column, strip in self._strips.items():
                strip.drop(probabilities if column in POLICY_COLUMNS else size)
        self._index()

    def _append(self, name: str, samples: Samples) -> None:
        for column, strip in self._strips.items():
            strip.append(getattr(samples, column))
        self._shards.append((name, len(samples.state), len(samples.policy), samples.nbytes))

    def _has_too_much(self) -> bool:
        oldest = self._shards[0][1]
        too_many = len(self) - oldest >= window_size(self.total, self.options)
        return too_many or self.nbytes > self.options.replay_mb * MEGABYTE

    def _index(self) -> None:
        samples = self.samples
        self._summed = np.cumsum(samples.weight, dtype=np.float64)
        self._starts = np.cumsum(samples.policy_size, dtype=np.int64) - samples.policy_size

    def updates_due(self, batch: int) -> int:
        """Batches to train on now; they are taken from the credit."""
        due = int(self.credit // batch) if len(self) else 0
        self.credit -= due * batch
        return due

    def draw(self, count: int, rng: np.random.Generator) -> Samples:
        """Samples drawn by weight, with replacement.

        Raises:
            ReplayError: the window is empty.
        """
        if not len(self):
            raise ReplayError("the window is empty, there is nothing to draw from")
        places = np.searchsorted(self._summed, rng.random(count) * self._summed[-1], side="right")
        return taken(self.samples, np.minimum(places, len(self) - 1), self._starts)

    def mean_version(self) -> float:
        """Mean step at which the window's samples were played, by weight; NaN if it is empty."""
        samples = self.samples if len(self) else no_samples()
        return float(np.average(samples.version, weights=samples.weight)) if len(samples.version) else float("nan")

    def forget(self, besides: Collection[str] = ()) -> None:
        """Removes shards of which the window has nothing from the disk, once no checkpoint needs them."""
        kept = {name for name, *_ in self._shards} | set(besides)
        for path in (*self._folder.glob("shard-*.npz"), *self._folder.glob(".*.tmp")):
            if path.name not in kept:
                path.unlink()
