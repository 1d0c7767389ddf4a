"""The engine once more with every index checked, and once as plain Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine_fast.golden import PERFT

ROOT = Path(__file__).parents[2]
CANARY = """
import numpy as np
from engine_fast.bits import inline
from engine_fast.jit import kernel

@inline
def read(row, index):
    return row[index]

@kernel
def canary(row, index):
    return read(row, index)

row = np.zeros(14, np.uint64)
canary(row, 13)
canary(row, 14)
"""


def run(*arguments: str, **flags: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=inherited | flags, capture_output=True, text=True, check=False)


def canary_file(folder: Path) -> str:
    """A kernel that is kept in the cache needs a file."""
    path = folder / "canary.py"
    path.write_text(CANARY)
    return str(path)


def numbers(output: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"^(.+): (\d+)$", output, re.MULTILINE)}


def test_an_index_out_of_range_is_found(tmp_path: Path):
    """Without the flag nothing happens; with it the kernel of the same source raises, also from a warm cache."""
    file, path = canary_file(tmp_path), {"PYTHONPATH": str(ROOT), "LUNA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(file, **path).returncode == 0
    for _ in range(2):
        checked = run(file, **path, NUMBA_BOUNDSCHECK="1")
        assert checked.returncode == 1
        assert "IndexError: index is out of bounds" in checked.stderr
    plain = run(file, **path, NUMBA_DISABLE_JIT="1")
    assert "IndexError: index 14 is out of bounds" in plain.stderr


def test_games_with_checked_indexes():
    done = run("-m", "tests.engine_fast.checked_run", "12", NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 0, done.stderr
    assert numbers(done.stdout)["decisions compared"] > 600


@pytest.mark.slow
def test_all_kernels_with_checked_indexes():
    done = run("-m", "tests.engine_fast.checked_run", "60", "all", NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 0, done.stderr
    found = numbers(done.stdout)
    assert found["decisions compared"] > 3000
    assert found["perft numbers right"] == len(list(PERFT.glob("*.json")))
    assert found["playout decisions"] > 2000


def test_games_in_plain_python():
    """Warnings about overflow are what words do in plain Python; the results are the same."""
    done = run("-m", "tests.engine_fast.checked_run", "6", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    assert numbers(done.stdout)["decisions compared"] > 300


@pytest.mark.slow
def test_all_kernels_in_plain_python():
    done = run("-m", "tests.engine_fast.checked_run", "20", "all", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    assert numbers(done.stdout)["perft numbers right"] == len(list(PERFT.glob("*.json")))
