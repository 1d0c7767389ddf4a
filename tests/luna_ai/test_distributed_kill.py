"""`luna train` with workers: `kill -9` of any process at any moment, Ctrl-C, and what is left of Ray afterwards."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import yaml

from luna_ai.checkpoint import read_checkpoint
from luna_ai.training_folder import read_games

pytest.importorskip("ray")
ROOT = Path(__file__).parents[2]
WORKERS = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
TINY = {
    "steps": 60, "save_every": 5, "games": 4, "slots": 4, "sims": 2, "fast_sims": 1, "width": 8, "blocks": 1,
    "batch": 32, "evaluate_every": 0, "reuse": 1.0, "window": 500, "workers": WORKERS,
}  # fmt: skip
pytestmark = pytest.mark.slow


def start(folder: Path, **options: object) -> subprocess.Popen[str]:
    """`luna train` in a process of its own."""
    file = folder / "tiny.yaml"
    file.write_text(yaml.safe_dump(TINY | options))
    words = [sys.executable, "-m", "luna_ai.cli", "train", "--config", str(file), "--out", str(folder / "run")]
    return subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def processes_under(pid: int) -> dict[int, str]:
    """Command lines of all processes that a process has started, directly or not."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    below, names = {pid}, dict[int, str]()
    for _ in range(6):
        below |= {int(child) for child, parent, _ in rows if int(parent) in below}
    for child, _, args in rows:
        if int(child) in below and int(child) != pid:
            names[int(child)] = args
    return names


def wait_for_line(process: subprocess.Popen[str], beginning: str) -> str:
    """The next line that begins so; empty if the process ends before."""
    assert process.stderr is not None
    return next((line for line in process.stderr if line.startswith(beginning)), "")


def checkpoint_step(folder: Path) -> int:
    """Step of the newest checkpoint, 0 before the first."""
    latest = folder / "run" / "checkpoints" / "latest"
    return int(read_checkpoint(latest).training["step"]) if latest.exists() else 0


def assert_whole(folder: Path, steps: int) -> None:
    training = read_checkpoint(folder / "run" / "checkpoints" / "latest").training
    assert training["step"] == steps
    made = {float(state["step"]) for state in training["learner"]["optimizer"]["state"].values()}
    assert made == {float(training["learner"]["updates"])}
    parts = pl.concat([pl.read_parquet(part) for part in sorted((folder / "run" / "games").iterdir())])
    assert parts.equals(read_games(folder / "run"))  # no game counted twice
    games = parts.filter(seat=0)
    assert games["moves_hash"].n_unique() == len(games)
    assert (games["version"] <= games["step"]).all()
    assert sorted(games["step"].unique()) == list(range(steps))
    assert len(games) == training["games"]
    for actor, count in training["played"].items():
        assert games.filter(actor=actor)["index"].sort().to_list() == list(range(count))


def test_ten_kills_at_random_moments(tmp_path: Path):
    """Driver, workers and learner in turn; a killed driver is started again by the same command."""
    rng, kills, steps = random.Random(3), list[str](), 150
    order = ["Playing", "driver", "Learning"] * 3 + ["driver"]
    process, newest = start(tmp_path, steps=steps, save_every=2), 0
    while len(kills) < 10:
        assert wait_for_line(process, "step"), f"the run ended after {kills}"
        time.sleep(rng.uniform(0.0, 0.3))
        step, target = checkpoint_step(tmp_path), order[len(kills)]
        assert step >= newest  # no checkpoint is lost
        newest = step
        if target == "driver":
            process.kill()
            process.communicate()
            kills.append(target)
            process = start(tmp_path, steps=steps, save_every=2)
            continue
        found = [pid for pid, name in processes_under(process.pid).items() if name.startswith(f"ray::{target}")]
        if found:
            os.kill(rng.choice(found), signal.SIGKILL)
            kills.append(target)
    _, error = process.communicate()
    assert process.returncode == 0, error
    assert_whole(tmp_path, steps)


def test_nothing_of_ray_outlives_a_killed_driver(tmp_path: Path):
    process = start(tmp_path)
    assert wait_for_line(process, "step 1/")
    others = processes_under(process.pid)
    assert any("raylet" in name for name in others.values())
    process.kill()
    process.communicate()
    again = start(tmp_path, steps=60)
    assert wait_for_line(again, "step")
    again.send_signal(signal.SIGINT)
    again.communicate()
    assert again.returncode == 130
    for _ in range(120):
        left = {pid: name for pid, name in others.items() if same_process(pid, name)}
        if not left:
            break
        time.sleep(1.0)
    assert not left


def same_process(pid: int, name: str) -> bool:
    """Whether a process still is what it was; Ray changes what stands behind `ray::`."""
    try:
        now = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return False
    return bool(now) and now[:5] == name[:5]


def test_ctrl_c_saves_and_the_run_goes_on(tmp_path: Path):
    process = start(tmp_path, save_every=1000, steps=12)
    assert wait_for_line(process, "step 3/")
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert 3 <= checkpoint_step(tmp_path) < 12
    process = start(tmp_path, save_every=1000, steps=12)
    process.communicate()
    assert process.returncode == 0
    assert_whole(tmp_path, 12)
