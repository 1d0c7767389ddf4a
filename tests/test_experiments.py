"""The commands of experiments/ run, with small numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

ROOT = Path(__file__).parents[1]
TINY_TRAINING = "width: 64\nblocks: 1\ngames: 4\nslots: 4\nsteps: 1\nsims: 2\nfast_sims: 1\nevaluate_every: 0\n"
AGENTS = {
    "greedy": {"agent": "greedy", "deals": 6},
    "network": {"agent": "net:NETWORK,sims=2", "deals": 2, "verify_deals": 0},
}


@pytest.mark.slow
def test_the_start_player_study_is_made_by_one_command(tmp_path: Path):
    study = yaml.safe_load((ROOT / "experiments/start_player/study.yaml").read_text())
    (tmp_path / "training.yaml").write_text(TINY_TRAINING)
    small = study | {"players": [2, 3], "network": "training.yaml", "agents": AGENTS}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(small, sort_keys=False))
    command = [sys.executable, str(ROOT / "experiments/start_player/run.py")]
    for _ in range(2):  # the second time everything is there already
        done = subprocess.run(
            [*command, "--study", "study.yaml", "--out", "out", "--tables", "tables"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    table = pl.read_csv(tmp_path / "tables" / "seats.csv")
    assert len(table) == len(AGENTS) * len(small["components"]) * (2 + 3)
    assert table.filter(name="greedy")["deals"].unique().to_list() == [6]
    made = {path.name for path in (tmp_path / "tables").iterdir()}
    assert made == {"seats.csv", "all.png", "settings.json", "greedy.png", "network.png"}


def test_every_experiment_says_question_command_seeds_results_and_verdict():
    folders = [path for path in (ROOT / "experiments").iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert folders
    for folder in folders:
        text = (folder / "README.md").read_text()
        for word in ("Question", "Command", "Commit", "Seeds", "Results", "Verdict"):
            assert f"**{word}" in text or f"## {word}" in text, f"{folder.name}: {word}"
