"""Training on Ray: the same run whoever dies, games counted once, bad input in one line."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from engine_fast.position import load_game
from luna_ai.checkpoint import read_checkpoint
from luna_ai.cli import main
from luna_ai.config import UserError
from luna_ai.distributed import crew_of
from luna_ai.game_plans import plan_games
from luna_ai.search.evaluators import new_batch
from luna_ai.train import Run, train
from luna_ai.training_config import TrainingConfig
from luna_ai.training_folder import read_games

ray = pytest.importorskip("ray")
from luna_ai.distributed.cluster import DistributedError, make_actor  # noqa: E402
from luna_ai.distributed.crew import RayCrew  # noqa: E402
from luna_ai.distributed.inference import Answering  # noqa: E402

TINY = TrainingConfig(
    steps=6, save_every=2, games=4, slots=4, sims=2, fast_sims=1, full_share=0.5, width=8, blocks=1, batch=32,
    past_share=0.5, bot_share=0.2, evaluate_every=0, window=500, reuse=1.0, warmup=1, workers=2,
)  # fmt: skip
QUICK_TO_NOTICE = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "4",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of this machine: a head for the driver, a node with two places for workers."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_TO_NOTICE.items():
            patch.setenv(name, value)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        made.add_node(num_cpus=1)
        yield made
        made.shutdown()


def assert_every_game_once(folder: Path, config: TrainingConfig) -> None:
    """Games of each worker have the numbers 0, 1, ... without gap or repetition, on the disk too."""
    parts = pl.concat([pl.read_parquet(part) for part in sorted((folder / "games").iterdir())])
    assert parts.equals(read_games(folder))
    games = parts.filter(pl.col("seat") == 0)
    training = read_checkpoint(folder / "checkpoints" / "latest").training
    assert len(games) == training["games"] >= config.steps * config.games
    for actor, count in training["played"].items():
        assert games.filter(actor=actor)["index"].sort().to_list() == list(range(count))
    assert set(training["played"]) <= set(range(1, config.workers + 1))
    assert games["moves_hash"].n_unique() == len(games)


def assert_whole(folder: Path, run: Run, config: TrainingConfig) -> None:
    """All steps, all games, and as many updates as the learner counts."""
    assert run.step == config.steps
    training = read_checkpoint(folder / "checkpoints" / "latest").training
    assert training["step"] == config.steps
    made = {float(state["step"]) for state in training["learner"]["optimizer"]["state"].values()}
    assert made == {float(training["learner"]["updates"])} == {float(run.crew.updates)}
    assert_every_game_once(folder, config)


def run_with(
    config: TrainingConfig, folder: Path, address: str, at: dict[int, Any], kind: type[RayCrew] = RayCrew
) -> tuple[Run, list[str]]:
    """A run in which something happens after some steps."""
    crew, lines = kind(address), list[str]()

    def say(line: str) -> None:
        lines.append(line)
        for step, happen in at.items():
            if line.startswith(f"step {step}/"):
                happen(crew)

    return train(config, folder, say=say, crew=crew), lines


def kill_process(actor: Any) -> None:
    os.kill(ray.get(actor.hello.remote()), signal.SIGKILL)


def test_two_workers_and_then_one_process(cluster: Any, tmp_path: Path):
    config = replace(TINY, steps=3)
    run, lines = run_with(config, tmp_path, cluster.address, {})
    assert_whole(tmp_path, run, config)
    steps = [line.split(":")[0] for line in lines if line.startswith("step")]
    assert steps == ["step 1/3", "step 2/3", "step 3/3"]
    run = train(replace(config, steps=4, workers=0), tmp_path, override=["steps", "workers"])
    assert run.step == 4
    found = read_games(tmp_path).filter(seat=0)
    assert found.filter(actor=0)["index"].to_list() == [0, 1, 2, 3]
    assert found.filter(step=3)["actor"].unique().to_list() == [0]


def test_worker_learner_and_replay_are_killed(cluster: Any, tmp_path: Path):
    """The learner trains again what it had trained since the checkpoint; the replay keeps its shards."""
    seen = list[int]()

    def kill_worker(crew: RayCrew) -> None:
        (pid,) = crew._pool.pids().values()
        os.kill(pid, signal.SIGKILL)

    def look(crew: RayCrew) -> None:
        seen.extend(slot.restarts for slot in crew._pool._slots)

    config = replace(TINY, workers=1, save_every=4, window=100)
    at = {1: lambda crew: ray.kill(crew._replay), 2: kill_worker, 3: lambda crew: kill_process(crew._learner), 6: look}
    run, _ = run_with(config, tmp_path, cluster.address, at)
    assert_whole(tmp_path, run, config)
    assert seen == [1]
    again = train(replace(config, workers=0, steps=7), tmp_path, override=["steps", "workers"])
    assert again.step == 7  # every shard that the checkpoint names is there


@pytest.mark.slow
def test_a_run_on_ray_goes_on_on_ray(cluster: Any, tmp_path: Path):
    config = replace(TINY, steps=3, evaluate_every=2, evaluate_deals=1, evaluate_sims=1, anchors=("random",))
    run, lines = run_with(config, tmp_path, cluster.address, {})
    assert_whole(tmp_path, run, config)
    assert [line.split(" wins")[0] for line in lines if line.startswith("network")] == [
        "network of step 2", "network of step 3",
    ]  # fmt: skip
    longer = replace(config, steps=5)
    run = train(longer, tmp_path, override=["steps"], crew=RayCrew(cluster.address))
    assert_whole(tmp_path, run, longer)
    assert {met[0] for met in run.ratings.to_plain()} == {2, 3, 4, 5}
    next((tmp_path / "replay").glob("shard-*.npz")).unlink()
    with pytest.raises(DistributedError, match=r"shard-.* is missing or damaged; the run cannot go on from it"):
        train(replace(config, steps=6), tmp_path, override=["steps"], crew=RayCrew(cluster.address))
    assert not ray.is_initialized()


@pytest.mark.slow
def test_two_checkpoints_need_shards_of_two_windows(cluster: Any, tmp_path: Path):
    """A replay that is made anew keeps what only the older checkpoint names."""
    config = replace(TINY, save_every=4, steps=8, window=100)
    at = {number: lambda crew: ray.kill(crew._replay) for number in (2, 3, 6, 7)}

    class Broken(Exception):
        """The end of the first session."""

    def stop(crew: RayCrew) -> None:
        raise Broken

    with pytest.raises(Broken):
        run_with(config, tmp_path, cluster.address, {**at, 7: stop})
    run, _ = run_with(config, tmp_path, cluster.address, {6: lambda crew: kill_process(crew._learner)})
    assert_whole(tmp_path, run, config)


@pytest.mark.slow
def test_one_process_evaluates_for_all(cluster: Any, tmp_path: Path):
    config = replace(TINY, steps=2, inference="cpu")
    game = load_game()
    batch = new_batch(plan_games(config, game, seed=1, actor=0, first=0, count=5).state, game.rules)
    known = list[Any]()

    def ask(crew: RayCrew) -> None:
        for name in ("begun 0", "nobody"):
            known.append(ray.get(crew._inference.answer.remote(name, batch.states, batch.masks)))

    run, _ = run_with(config, tmp_path, cluster.address, {2: ask})
    assert_whole(tmp_path, run, config)
    answer, nothing = known  # a worker told it of the network with which games began
    assert nothing is None
    assert np.allclose(answer.values.sum(axis=1), 1.0, atol=1e-5)


class WithoutGpu(RayCrew):
    """Has a process that evaluates in eight bits where `inference: cuda` has one on a GPU."""

    def _new_inference(self) -> Any:
        return make_actor(Answering, self._setting.sheet, self._setting.ruleset, "int8", max_concurrency=1000)


@pytest.mark.slow
def test_a_gpu_is_judged_where_it_is(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Everything of `inference: cuda` but the GPU: the driver asks the process that evaluates for its verdicts."""
    monkeypatch.setattr("luna_ai.distributed.crew.need_gpu", lambda config: 0.0)
    config, verdicts = replace(TINY, steps=3, inference="cuda"), list[Any]()
    at = {step: lambda crew: verdicts.append(crew.verdict) for step in (2, 3)}
    run, _ = run_with(config, tmp_path, cluster.address, at, WithoutGpu)
    assert_whole(tmp_path, run, config)
    assert [verdict.wanted for verdict in verdicts] == ["int8", "int8"]
    assert all(verdict.agreement.positions > 0 for verdict in verdicts)


@pytest.mark.slow
def test_the_process_that_evaluates_may_die(cluster: Any, tmp_path: Path):
    config = replace(TINY, inference="cpu")
    strike = {2: lambda crew: ray.kill(crew._inference, no_restart=False)}
    run, _ = run_with(config, tmp_path, cluster.address, strike)
    assert_whole(tmp_path, run, config)


@pytest.mark.slow
def test_the_evaluator_may_die(cluster: Any, tmp_path: Path):
    config = replace(TINY, steps=4, evaluate_every=1, evaluate_deals=1, anchors=("random",))
    seen = list[int]()

    def strike(crew: RayCrew) -> None:
        seen.append(crew._measures is not None)
        ray.kill(crew._evaluator)

    run, lines = run_with(config, tmp_path, cluster.address, {2: strike, 3: strike})
    assert_whole(tmp_path, run, config)
    assert len([line for line in lines if line.startswith("network of step")]) == 4


@pytest.mark.slow
def test_a_node_dies_and_another_one_joins(cluster: Any, tmp_path: Path):
    """The workers of a dead node wait for a place while the others go on; a new node gives them one."""
    made = cluster.add_node(num_cpus=2)
    alive = list[int]()

    def count(crew: RayCrew, wanted: int) -> None:
        deadline = time.monotonic() + 60.0
        while (found := sum(slot.greeting is None for slot in crew._pool._slots)) != wanted:
            if time.monotonic() > deadline:
                break
            crew._pool.wait([], 1.0)
        alive.append(found)

    def leave(crew: RayCrew) -> None:
        count(crew, 4)
        cluster.remove_node(made, allow_graceful=False)

    def join(crew: RayCrew) -> None:
        count(crew, 2)
        cluster.add_node(num_cpus=2)
        count(crew, 4)

    config = replace(TINY, workers=4, steps=60, save_every=10)
    run, _ = run_with(config, tmp_path, cluster.address, {10: leave, 40: join})
    assert_whole(tmp_path, run, config)
    assert alive == [4, 2, 4]


def test_what_ray_cannot_do_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for words, said in [
        (["--workers", "4000"], "workers 4000 are more than the "),
        (["--workers", "1", "--address", "nowhere"], "address 'nowhere' is not HOST:PORT"),
        (["--workers", "1", "--address", "127.0.0.1:1"], "address 127.0.0.1:1 cannot be reached: "),
        (["--address", "127.0.0.1:1"], "address 127.0.0.1:1: workers 0 need no cluster"),
        (["--inference", "cpu"], "inference cpu: workers 0 evaluate for themselves"),
    ]:
        assert main(["train", "--width", "8", "--blocks", "0", "--out", str(tmp_path / "run"), *words]) == 2
        error = capsys.readouterr().err
        assert error.startswith("luna train: error: ")
        assert said in error
        assert error.count("\n") == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--workers 1 --inference cuda",
            "inference cuda: this machine has no GPU; allowed: none, cpu, or --address of",
        ),
        ("--workers 1 --device cuda", "device cuda: this machine has no GPU; allowed: cpu, or --address of a cluster"),
        ("--device cuda", "device cuda: torch finds no CUDA on this machine; allowed: cpu"),
    ],
)
def test_a_gpu_that_is_not_there_is_one_line(words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["train", "--out", str(tmp_path / "run"), *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"luna train: error: {said}")
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_ray_workers_are_refused(monkeypatch: pytest.MonkeyPatch):
    for name in [each for each in sys.modules if each.startswith("luna_ai.distributed.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"workers 1 needs Ray, which is not installed; pip install 'luna-ai\[train\]'"):
        crew_of(replace(TINY, workers=1))
    assert type(crew_of(replace(TINY, workers=0))).__name__ == "LocalCrew"
