"""Runs the commands of README.md as typed, one shell for all of them in an empty folder, in order.

A command stands in a fenced ```console block behind `$ `; lines that end with a backslash go on. What is too long, or
needs what a test must not do, is replaced through `SMALL` or skipped through `SKIPPED`, each with its reason.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TRAINED = "results/demo/training"
TRAIN = f"luna train --config configs/train/quick.yaml --workers 2 --out {TRAINED}"
STUDY = f"luna seats --players 2 3 4 --agents net:{TRAINED}/checkpoints/latest,sims={{}} --deals {{}} --seed 1"
SMALL: dict[str, str] = {
    "luna seats --players 2 3 4 --agents greedy --deals 500 --seed 1 --out results/demo/greedy": (
        "luna seats --players 2 3 4 --agents greedy --deals 40 --seed 1 --out results/demo/greedy"
    ),
    TRAIN: f"{TRAIN} --steps 2 --games 4 --evaluate-every 0",
    f"luna evaluate {TRAINED} --deals 20": f"luna evaluate {TRAINED} --deals 2 --sims 2",
    STUDY.format(8, 60) + " --out results/demo/bot": STUDY.format(0, 4) + " --out results/demo/bot",
    "luna simulate --players 4 --agents greedy --games 100000 --out results/greedy4": (
        "luna simulate --players 4 --agents greedy --games 500 --out results/greedy4"
    ),
    "luna simulate --players 3 --agents mcts:sims=100 greedy greedy --games 20 --out results/search": (
        "luna simulate --players 3 --agents mcts:sims=20 greedy greedy --games 2 --out results/search"
    ),
    "luna bench engine --seconds 1 --json speed.json": (
        "luna bench engine --seconds 0.05 --runs 1 --jobs 1 --players 2 --json speed.json"
    ),
}
"""Command as in README.md -> the same with smaller numbers."""

SKIPPED = {
    r"make .*": "creates environments and runs these tests",
    r"(python -m )?pip install .*": "changes the environment",
    r"tensorboard .*": "a server, which does not end by itself",
}
"""Pattern of commands that are not run -> why."""


def commands() -> list[str]:
    """The commands of the README in their order, each on one line."""
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [" ".join(line[2:].split()) for line in lines if line.startswith("$ ")]


def is_skipped(command: str) -> bool:
    return any(re.fullmatch(pattern, command) for pattern in SKIPPED)


def test_the_lists_of_exceptions_are_used():
    """An exception for a command that is no longer in the README goes."""
    assert [command for command in SMALL if command not in commands()] == []
    assert [pattern for pattern in SKIPPED if not any(re.fullmatch(pattern, each) for each in commands())] == []


@pytest.mark.readme
def test_the_commands_of_the_readme_run(tmp_path: Path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    todo = [command for command in commands() if not is_skipped(command)]
    assert todo
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    for command in todo:
        done = subprocess.run(
            ["bash", "-euc", SMALL.get(command, command)],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=1200,  # the first ones may have to compile on a busy machine
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
