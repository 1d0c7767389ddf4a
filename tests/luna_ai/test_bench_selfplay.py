"""`luna bench selfplay`: that it runs, what it writes, and that it measures what it says. No test asserts a speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from engine_fast.position import load_game
from luna_ai.bench.report import print_report
from luna_ai.bench.selfplay import (
    PARTS,
    RECORDED,
    Recording,
    SelfPlayBench,
    bare_speed,
    measure_selfplay,
    ray_is_missing,
)
from luna_ai.bench.selfplay_report import SELF_PLAY_SECTIONS
from luna_ai.checkpoint import write_checkpoint
from luna_ai.game_plans import plan_games
from luna_ai.network import NetworkConfig, make_network
from luna_ai.search.evaluators import HashEvaluator, new_batch
from luna_ai.training_config import TrainingConfig

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
pytestmark = pytest.mark.skipif(JIT_IS_OFF, reason="plain Python is too slow for whole measurements")
TINY = TrainingConfig(games=4, slots=3, sims=4, fast_sims=2, width=8, blocks=1, batch=16)


def luna(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "luna_ai.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def tiny_run() -> tuple[SelfPlayBench, int, dict[str, Any]]:
    """A bench with tiny settings, how often `tick` was called, and the figures as the JSON file has them."""
    bench, ticks, figures = SelfPlayBench(TINY, seconds=0.01, runs=2, jobs=1), list[None](), dict[str, Any]()
    measure_selfplay(bench, lambda: ticks.append(None), figures)
    return bench, len(ticks), json.loads(json.dumps(figures))


def test_the_figures_are_complete(tiny_run: tuple[SelfPlayBench, int, dict[str, Any]]):
    bench, ticks, figures = tiny_run
    assert ticks == bench.steps
    found = {name: row["median"] for name, row in figures["self_play"].items()}
    assert found["ratio"] == pytest.approx(
        found["evaluations_per_second"] / found["bare_evaluations_per_second"], rel=0.5
    )
    assert sum(found[f"share_{part}"] for part in PARTS) == pytest.approx(1, abs=0.2)
    assert 1 <= found["mean_batch"] <= 3
    assert found["evaluations_per_second"] > found["decisions_per_second"] > found["games_per_second"] > 0
    assert figures["learner"]["samples_per_second"]["median"] > 0
    assert 10 < figures["learner"]["trained_on_per_game"] < 1000
    if ray_is_missing() is None:
        assert set(figures["workers"]) == {"0", "1"}
        assert figures["workers"]["1"]["to_one"]["median"] == 1.0
        assert 0 < figures["workers"]["1"]["to_local"]["median"] < 10
    console = Console(record=True, width=100)
    print_report(figures, console, SELF_PLAY_SECTIONS)
    assert "self-play / bare backend" in console.export_text()


def test_recorded_batches_are_those_that_were_asked():
    states = plan_games(TINY, load_game(), 1, 0, 0, 5).state
    recording = Recording(HashEvaluator())
    for size in (5, 3, 1):
        recording.evaluate(new_batch(states[:size].copy(), load_game().rules))
    assert (recording.calls, recording.positions) == (3, 9)
    assert [len(batch.states) for batch in recording.batches] == [5, 3, 1]
    assert (recording.batches[0].states == states).all()
    assert bare_speed(recording, 0.0).units == 5  # the first of them


def test_recorded_batches_are_spread_over_all_calls():
    states = plan_games(TINY, load_game(), 1, 0, 0, 5).state
    recording, calls = Recording(HashEvaluator()), 5 * RECORDED
    for number in range(calls):
        recording.evaluate(new_batch(states[: 1 + (number >= calls // 2)].copy(), load_game().rules))
    late = [len(batch.states) == 2 for batch in recording.batches]
    assert RECORDED <= len(late) < 2 * RECORDED
    assert abs(sum(late) / len(late) - 0.5) < 0.05


def test_as_typed(tmp_path: Path):
    write_checkpoint(tmp_path / "small.pt", make_network(NetworkConfig(width=8, blocks=1), 1))
    config = tmp_path / "training.yaml"
    config.write_text("games: 4\nslots: 3\nsims: 2\nfast_sims: 1\nbatch: 16\n")
    words = ["--training", str(config), "--checkpoint", str(tmp_path / "small.pt"), "--seconds", "0.01", "--runs", "1"]
    done = luna("bench", "selfplay", *words, "--jobs", "1", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert "residual 8 x 1" in figures["network"]
    assert "Where its time goes" in done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--backend", "abacus"], "abacus"),
        (["--checkpoint", "missing.pt"], "missing.pt is no file; allowed: a checkpoint"),
        (["--training", "missing.yaml"], "missing.yaml"),
    ],
)
def test_bad_input_is_one_line(words: list[str], problem: str):
    done = luna("bench", "selfplay", *words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
