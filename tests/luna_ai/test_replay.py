"""The replay window and samples on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from luna_ai.replay import Replay, ReplayError, Strip, window_size
from luna_ai.samples import ROW_SHAPES, Samples, joined, no_samples, ragged_rows, read_samples, taken, write_samples
from luna_ai.training_config import ReplayOptions

OPTIONS = ReplayOptions(window=50, window_growth=0.0, reuse=3.0)


def made(count: int, first: int = 0, weight: float = 1.0) -> Samples:
    """Samples that say which they are: number n has n % 3 probabilities, all with decision n % 600."""
    numbers = np.arange(first, first + count)
    columns = {name: np.zeros((count, *shape), dtype=kind) for name, (kind, shape) in ROW_SHAPES.items()}
    columns["state"][:, 0] = numbers
    columns["weight"][:] = weight
    columns["version"][:] = numbers
    columns["policy_size"][:] = numbers % 3
    columns["policy_id"] = np.repeat(numbers % 600, numbers % 3).astype(np.uint16)
    columns["policy"] = np.full(int((numbers % 3).sum()), 0.5, dtype=np.float32)
    return Samples(**columns)


def numbers_of(samples: Samples) -> list[int]:
    """Which samples these are; their policies must be theirs."""
    numbers = samples.state[:, 0].astype(np.int64)
    assert samples.policy_size.tolist() == (numbers % 3).tolist()
    assert samples.policy_id.tolist() == np.repeat(numbers % 600, numbers % 3).tolist()
    return [int(number) for number in numbers]


def equal(one: Samples, other: Samples) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) and getattr(one, name).dtype == kind
        for name, (kind, _) in ROW_SHAPES.items()
    )


def test_samples_are_joined_taken_and_read_back(tmp_path: Path):
    both = joined([made(5), no_samples(), made(4, first=5)])
    assert equal(both, made(9))
    assert numbers_of(taken(both, np.array([8, 2, 2, 0]))) == [8, 2, 2, 0]
    assert ragged_rows(np.array([10, 3, 0]), np.array([2, 0, 3], dtype=np.int32)).tolist() == [10, 11, 0, 1, 2]
    write_samples(tmp_path / "a.npz", both)
    assert equal(read_samples(tmp_path / "a.npz"), both)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_a_dense_policy():
    dense = made(4).dense_policy()
    assert np.flatnonzero(dense).tolist() == [637 + 1, 2 * 637 + 2]
    assert dense[2, 2] == 0.5


def test_a_strip_is_a_line():
    strip, wanted, rng = Strip(np.int64, (2,)), list[int](), np.random.default_rng(1)
    for _ in range(300):
        new = rng.integers(1000, size=rng.integers(20))
        strip.append(np.stack([new, new + 1], axis=1))
        wanted += new.tolist()
        gone = int(rng.integers(min(21, len(wanted) + 1)))
        strip.drop(gone)
        wanted = wanted[gone:]
        assert strip.rows[:, 0].tolist() == wanted
        assert strip.rows[:, 1].tolist() == [value + 1 for value in wanted]
    assert len(strip._rows) < 2 * max(len(wanted), 200)


def test_the_window_grows_with_the_data():
    options = ReplayOptions(window=100, window_growth=0.4, window_power=0.75)
    assert window_size(0, options) == window_size(100, options) == 100
    assert window_size(1600, options) == pytest.approx(100 * (1 + 0.4 * (8 - 1) / 0.75))
    assert window_size(10**6, replace(options, window_growth=0.0)) == 100


def test_old_samples_fall_out_by_whole_shards(tmp_path: Path):
    replay = Replay(OPTIONS, tmp_path)
    for step in range(10):
        replay.add(made(20, first=20 * step))
        kept = min(20 * (step + 1), 60)
        assert numbers_of(replay.samples) == list(range(20 * (step + 1) - kept, 20 * (step + 1)))
        assert len(replay) == kept
        assert replay.nbytes == replay.samples.nbytes
    assert replay.total == 200
    assert replay.mean_version() == 169.5
    assert len(list(tmp_path.iterdir())) == 10
    replay.forget()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"shard-00000000{number}.npz" for number in (7, 8, 9)]


def test_memory_is_bounded(tmp_path: Path):
    options = replace(OPTIONS, window=10**9, replay_mb=1)
    replay, one = Replay(options, tmp_path), made(1000).nbytes
    for step in range(8):
        replay.add(made(1000, first=1000 * step))
        assert replay.nbytes <= 1_000_000
    assert len(replay) == 1000 * (1_000_000 // one) > 1000


def test_samples_are_drawn_by_weight(tmp_path: Path):
    replay = Replay(OPTIONS, tmp_path)
    replay.add(made(10, weight=3.0))
    replay.add(made(10, first=10, weight=1.0))
    drawn = numbers_of(replay.draw(8000, np.random.default_rng(1)))
    counts = np.bincount(drawn, minlength=20)
    assert counts[:10] == pytest.approx(np.full(10, 600), abs=110)
    assert counts[10:] == pytest.approx(np.full(10, 200), abs=70)
    assert drawn == numbers_of(replay.draw(8000, np.random.default_rng(1)))


def test_a_new_sample_is_trained_on_reuse_times(tmp_path: Path):
    replay = Replay(OPTIONS, tmp_path)
    assert replay.updates_due(16) == 0
    updates = 0
    for step in range(20):
        replay.add(made(10, first=10 * step, weight=0.5))
        updates += replay.updates_due(16)
    assert replay.credit < 16
    assert updates * 16 + replay.credit == 3.0 * 0.5 * 200


def test_a_window_is_restored(tmp_path: Path):
    replay = Replay(OPTIONS, tmp_path)
    for step in range(5):
        replay.add(made(17, first=17 * step))
    replay.updates_due(16)
    counters, window = replay.counters(), joined([replay.samples])
    replay.add(made(30, first=1000))  # after the checkpoint: lost with the process
    replay.add(made(30, first=2000))
    again = Replay(OPTIONS, tmp_path, counters)
    assert equal(again.samples, window)
    assert again.counters() == counters
    assert {path.name for path in tmp_path.iterdir()} == set(counters["shards"])
    again.add(made(30, first=1000))
    assert numbers_of(again.draw(5, np.random.default_rng(2)))
    assert again.counters()["shards"][-1] == "shard-000000005.npz"


def test_a_broken_window_is_refused(tmp_path: Path):
    with pytest.raises(ReplayError, match="the window is empty"):
        Replay(OPTIONS, tmp_path).draw(1, np.random.default_rng(1))
    replay = Replay(OPTIONS, tmp_path)
    replay.add(made(10))
    counters = replay.counters()
    shard = tmp_path / counters["shards"][0]
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(ReplayError, match=r"shard-000000000\.npz is missing or damaged"):
        Replay(OPTIONS, tmp_path, counters)


def test_a_full_disk_leaves_the_window_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    replay = Replay(OPTIONS, tmp_path)
    replay.add(made(10))

    def full(*given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    before = replay.counters()
    with pytest.raises(OSError, match="No space left"):
        replay.add(made(10))
    assert replay.counters() == before
    assert [path.name for path in tmp_path.iterdir()] == before["shards"]
