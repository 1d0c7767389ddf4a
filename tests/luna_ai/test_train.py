"""The training loop: the same run after any interruption, refusals, full disks."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import yaml

from luna_ai.checkpoint import read_checkpoint
from luna_ai.config import UserError
from luna_ai.run_folder import InvalidRun, RunChanged
from luna_ai.samples import read_samples
from luna_ai.train import Run, TrainingError, train
from luna_ai.training_config import TrainingConfig
from luna_ai.training_folder import alone_in, kept_steps, read_games

TINY = TrainingConfig(
    steps=4, save_every=2, games=2, slots=2, sims=2, fast_sims=1, full_share=0.5, width=8, blocks=1, batch=32,
    past_share=0.5, bot_share=0.2, evaluate_every=0, window=200, reuse=1.0, warmup=1,
)  # fmt: skip


class Killed(BaseException):
    """What `kill -9` is to the process; nothing but clean-up runs after it."""


def content(folder: Path) -> dict[str, Any]:
    """All that a run has come to, without wall times."""
    checkpoint = read_checkpoint(folder / "checkpoints" / "latest")
    training = dict(checkpoint.training)
    del training["seconds"]
    shards = {name: read_samples(folder / "replay" / name)._asdict() for name in training["replay"]["shards"]}
    steps = sorted(path.name for path in (folder / "checkpoints").iterdir())
    weights = checkpoint.network.state_dict()
    return {"weights": weights, "training": training, "shards": shards, "files": steps, "games": read_games(folder)}


def assert_same(found: Any, wanted: Any) -> None:
    """Equal to the last bit."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            assert_same(found[key], wanted[key])
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, torch.Tensor):
        assert torch.equal(found, wanted)
    elif isinstance(wanted, np.ndarray):
        assert np.array_equal(found, wanted)
    elif isinstance(wanted, pl.DataFrame):
        assert found.equals(wanted)
    else:
        assert found == wanted


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run = train(TINY, folder)
    assert run.step == 4
    assert run.crew.updates > 4
    return content(folder)


def test_two_steps_and_two_steps_are_four(undisturbed: dict[str, Any], tmp_path: Path):
    class Two(Exception):
        """Ends the first session after its second step."""

    def say(line: str) -> None:
        if line.startswith("step 3/"):
            raise Two

    with pytest.raises(Two):
        train(TINY, tmp_path, say=say)
    assert train(TINY, tmp_path).step == 4
    assert_same(content(tmp_path), undisturbed)
    log = (tmp_path / "log.txt").read_text().splitlines()
    assert sum(line.endswith("goes on after step 2") for line in log) == 1


def test_the_games_of_a_run(undisturbed: dict[str, Any], tmp_path: Path):
    games = undisturbed["games"]
    assert games.filter(pl.col("seat") == 0)["index"].to_list() == list(range(8))
    assert games["step"].unique().sort().to_list() == [0, 1, 2, 3]
    assert games["run"].n_unique() == 1
    assert (games.group_by("index").agg((pl.col("rank") == 1).sum())["rank"] == 1).all()


def test_a_stopped_run_saves_and_goes_on(tmp_path: Path, undisturbed: dict[str, Any]):
    sign, lines = [False], list[str]()

    def say(line: str) -> None:
        lines.append(line)
        sign[0] = sign[0] or line.startswith("step 1/")

    run = train(TINY, tmp_path, say=say, stop=lambda: sign[0])
    assert run.step == 1
    assert os.readlink(tmp_path / "checkpoints" / "latest") == "step-1.pt"
    train(TINY, tmp_path)
    found = content(tmp_path)
    assert found["files"] == ["latest", "step-2.pt", "step-4.pt"]
    assert_same(found, undisturbed)


@pytest.mark.parametrize("late", [False, True])
def test_a_run_that_is_killed_at_any_write_ends_as_an_undisturbed_one(
    late: bool, undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real, calls, target = os.replace, [0], [0]

    def replace_or_die(source: Any, goal: Any) -> None:
        calls[0] += 1
        if calls[0] == target[0] and not late:
            raise Killed
        real(source, goal)
        if calls[0] == target[0] and late:
            raise Killed

    monkeypatch.setattr("os.replace", replace_or_die)
    train(TINY, tmp_path / "whole")
    writes = calls[0]
    assert writes == 1 + 4 + 2 * 3  # config, shards, and at two steps: games, checkpoint, latest
    for number in range(1, writes + 1):
        folder = tmp_path / str(number)
        calls[0], target[0] = 0, number
        with pytest.raises(Killed):
            train(TINY, folder)
        target[0] = 0
        train(TINY, folder)
        assert_same(content(folder), undisturbed)
        assert not list(folder.rglob(".*.tmp"))


def test_many_deaths_in_one_run(undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The n-th session dies at its n-th write: some get a little further, some do not."""
    real, left = os.replace, [0]

    def replace_or_die(source: Any, goal: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        real(source, goal)

    monkeypatch.setattr("os.replace", replace_or_die)
    deaths = 0
    for allowed in range(1, 20):
        left[0] = allowed
        try:
            train(TINY, tmp_path)
            break
        except Killed:
            deaths += 1
    assert deaths > 4
    assert_same(content(tmp_path), undisturbed)


@pytest.mark.parametrize("writer", ["torch.save", "numpy.savez", "polars.DataFrame.write_parquet"])
def test_a_full_disk_stops_cleanly_and_the_run_goes_on(
    writer: str, undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:

        def full(*given: Any, **more: Any) -> None:
            raise OSError(28, "No space left on device")

        def say(line: str) -> None:
            if line.startswith("step 2/"):
                patch.setattr(
                    "luna_ai.training_folder.TrainingFolder.prune", lambda *given: patch.setattr(writer, full)
                )

        with pytest.raises(TrainingError, match="No space left on device; checkpoint 2 is kept"):
            train(TINY, tmp_path, say=say)
    assert read_checkpoint(tmp_path / "checkpoints" / "latest").training["step"] == 2
    assert not list(tmp_path.rglob(".*.tmp"))
    train(TINY, tmp_path)
    assert_same(content(tmp_path), undisturbed)


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*given: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    with pytest.raises(TrainingError, match="there is no checkpoint yet"):
        train(TINY, tmp_path)


def test_a_changed_config_is_refused_by_key(tmp_path: Path):
    train(replace(TINY, steps=1), tmp_path)
    with pytest.raises(RunChanged, match=r"with learning_rate = 0\.001, not 0\.01; .*--override learning_rate or"):
        train(replace(TINY, steps=1, learning_rate=0.01), tmp_path)
    with pytest.raises(RunChanged, match="width = 8, not 16; width cannot change"):
        train(replace(TINY, steps=1, width=16), tmp_path, override=["width"])
    with pytest.raises(UserError, match="override: 'colour' is no key; allowed: seed, "):
        train(replace(TINY, steps=1), tmp_path, override=["colour"])
    changed = replace(TINY, steps=2, learning_rate=0.01)
    assert train(changed, tmp_path, override=["learning_rate", "steps"]).step == 2
    assert yaml.safe_load((tmp_path / "config.yaml").read_text()) == changed.to_plain()
    assert Run(changed, tmp_path).step == 2


def test_folders_that_hold_something_else_are_refused(tmp_path: Path):
    train(replace(TINY, steps=1), tmp_path)
    config = (tmp_path / "config.yaml").read_text()
    (tmp_path / "config.yaml").unlink()
    with pytest.raises(InvalidRun, match=r"holds checkpoints but no config\.yaml"):
        train(replace(TINY, steps=1), tmp_path)
    (tmp_path / "config.yaml").write_text("- 1\n")
    with pytest.raises(InvalidRun, match="is no config of a training"):
        train(replace(TINY, steps=1), tmp_path)
    (tmp_path / "config.yaml").write_text(config)
    file = tmp_path / "games"
    for part in file.iterdir():
        part.unlink()
    with pytest.raises(InvalidRun, match="holds no games"):
        read_games(tmp_path)
    file.rmdir()
    file.write_text("a file")
    with pytest.raises(InvalidRun, match="cannot use the folder"):
        train(replace(TINY, steps=1), tmp_path)


def test_two_trainings_in_one_folder_are_one_too_many(tmp_path: Path):
    with alone_in(tmp_path), pytest.raises(InvalidRun, match="another process trains in"):
        train(replace(TINY, steps=1), tmp_path)
    assert train(replace(TINY, steps=1), tmp_path).step == 1


def test_the_time_of_a_run_is_bounded(tmp_path: Path):
    assert train(replace(TINY, minutes=0.001), tmp_path / "short").step < 4
    assert train(replace(TINY, minutes=60.0, steps=1), tmp_path / "long").step == 1


def test_the_last_network_is_measured_when_the_time_is_up(tmp_path: Path):
    config = replace(TINY, steps=1000, minutes=0.02, evaluate_every=1000, evaluate_deals=1, anchors=("random",))
    for _ in range(2):  # once: a run that has ended is not measured again
        lines = list[str]()
        run = train(config, tmp_path, say=lines.append)
        assert 0 < run.step < 1000
    logged = (tmp_path / "log.txt").read_text()
    assert logged.count(f"network of step {run.step} wins against") == logged.count("network of step") == 1


@pytest.mark.parametrize("wrong", [
    {"shares": (1.0, 1.0)}, {"shares": (0.0, 0.0, 0.0)}, {"bot_share": 0.6, "past_share": 0.6},
    {"kind": "attention", "width": 10}, {"bots": ("nobody",)}, {"anchors": ("mcts:sims=4",)}, {"bots": ()},
])  # fmt: skip
def test_values_that_do_not_fit_each_other_are_refused(wrong: dict[str, Any], tmp_path: Path):
    with pytest.raises(UserError, match=f"{next(iter(wrong)) if 'kind' not in wrong else 'width'}"):
        train(replace(TINY, **wrong), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_kept_checkpoints_are_spread_over_the_run():
    assert kept_steps(9, 3, 10) == []
    assert kept_steps(35, 3, 10) == [10, 20, 30]
    assert kept_steps(40, 3, 10) == [20, 40]
    for step in range(1, 2000):
        kept = set(kept_steps(step, 5, 10))
        assert len(kept) <= 5
        assert kept <= set(kept_steps(step - 1, 5, 10)) | {step}
