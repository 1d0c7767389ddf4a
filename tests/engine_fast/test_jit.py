"""Compiled kernels on disk: never stale, never in the way, and the user is told when he has to wait."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import config

from engine_fast import jit

ROOT = Path(__file__).parents[2]
ANNOUNCEMENT = "compiling for this machine"
USE_A_SMALL_KERNEL = """
import numpy as np
from engine_fast.batch import hash_batch, over_batch
states, out = np.ones((2, 14), np.uint64), np.zeros(2, np.uint64)
hash_batch(states, out)
over_batch(states, np.zeros(2, np.bool_))
print(out[0] == out[1])
"""


def run(code: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh process with a cache folder of its own."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("LUNA_", "NUMBA_"))}
    env = inherited | {"LUNA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)} | environment
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


# --- the name of the folder ----------------------------------------------------------------------------------------


def write(folder: Path, **sources: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_hash_depends_on_every_source(tmp_path: Path):
    one, two = write(tmp_path / "one", a="A = 1\n", b="B = 2\n"), write(tmp_path / "two", c="C = 3\n")
    first = jit.source_hash((one, two))
    assert first == jit.source_hash((one, two))
    assert first != jit.source_hash((one,))
    write(one, b="B = 3\n")
    second = jit.source_hash((one, two))
    write(one, b="B = 2\n", new="")
    third = jit.source_hash((one, two))
    (one / "new.py").unlink()
    write(two, c="C = 4\n")
    fourth = jit.source_hash((one, two))
    write(two, c="C = 3\n")
    assert jit.source_hash((one, two)) == first
    assert len({first, second, third, fourth}) == 4


def test_the_hash_depends_on_where_one_file_ends_and_on_names(tmp_path: Path):
    one = write(tmp_path / "one", a="A = 1\n", b="B = 2\n")
    renamed = write(tmp_path / "two", a="A = 1\n", c="B = 2\n")
    assert jit.source_hash((one,)) != jit.source_hash((renamed,))


@pytest.mark.parametrize("flag", ["BOUNDSCHECK", "DEBUG_JIT", "OPT"])
def test_the_hash_depends_on_flags_that_change_the_code(flag: str, monkeypatch: pytest.MonkeyPatch):
    before = jit.source_hash(())
    monkeypatch.setattr(config, flag, 1 if getattr(config, flag) != 1 else 0)
    assert jit.source_hash(()) != before


def test_other_files_in_the_folder_do_not_matter(tmp_path: Path):
    folder = write(tmp_path / "one", a="A = 1\n")
    before = jit.source_hash((folder,))
    (folder / "README.md").write_text("text")
    write(folder / "below", a="A = 1\n")
    assert jit.source_hash((folder,)) == before


# --- where the folder is -------------------------------------------------------------------------------------------

KEY = "0123456789abcdef0123"


def test_the_users_choice_of_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LUNA_CACHE_DIR", str(tmp_path / "mine"))
    assert jit.cache_folder(KEY) == tmp_path / "mine" / KEY
    assert (tmp_path / "mine" / KEY).is_dir()
    monkeypatch.delenv("LUNA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit.cache_root() == tmp_path / "xdg" / "luna-ai"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert jit.cache_root() == Path.home() / ".cache" / "luna-ai"


def test_a_cache_that_cannot_be_made_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LUNA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    folder = jit.cache_folder(KEY)
    assert tmp_path / "temporary" in folder.parents
    assert folder.name == KEY


def test_a_cache_that_is_read_only_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also as root, who may write anywhere, so that the system's answer is set here."""
    read_only = tmp_path / "cache"
    monkeypatch.setenv("LUNA_CACHE_DIR", str(read_only))
    (read_only / KEY).mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: read_only not in Path(path).parents)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert read_only not in jit.cache_folder(KEY).parents
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    last_resort = jit.cache_folder(KEY)
    assert last_resort.is_dir()
    assert last_resort.name.startswith("luna-ai-")


def test_folders_of_old_versions_are_removed(tmp_path: Path):
    kept = ["new" + "0" * 17, "notes", KEY]
    for name in ("old" + "0" * 17, *kept):
        (tmp_path / name).mkdir()
    (tmp_path / ("a" * 20)).write_text("a file")
    long_ago = time.time() - jit.UNUSED_SECONDS - 60
    for name in ("old" + "0" * 17, "notes", KEY, "a" * 20):
        os.utime(tmp_path / name, (long_ago, long_ago))
    jit.remove_unused(tmp_path, keep=KEY)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "a" * 20])


def test_a_folder_in_use_counts_as_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LUNA_CACHE_DIR", str(tmp_path))
    (tmp_path / KEY).mkdir()
    os.utime(tmp_path / KEY, (0, 0))
    jit.cache_folder(KEY)
    assert time.time() - (tmp_path / KEY).stat().st_mtime < 60


# --- in a process of its own ---------------------------------------------------------------------------------------


def test_compiling_is_announced_once_and_only_when_it_happens(tmp_path: Path):
    cold, warm = run(USE_A_SMALL_KERNEL, tmp_path), run(USE_A_SMALL_KERNEL, tmp_path)
    assert (cold.returncode, cold.stdout) == (warm.returncode, warm.stdout) == (0, "True\n"), cold.stderr
    assert cold.stderr.count(ANNOUNCEMENT) == 1
    assert cold.stderr.count("\n") == 1
    assert warm.stderr == ""
    (folder,) = tmp_path.iterdir()
    assert folder.name == jit.source_hash((jit.ENGINE_FOLDER,))
    assert any(folder.rglob("*.nbc"))


def test_the_announcement_can_be_silenced(tmp_path: Path):
    assert run(USE_A_SMALL_KERNEL, tmp_path, LUNA_QUIET_COMPILE="1").stderr == ""


def test_the_engine_works_where_no_cache_can_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "temporary").mkdir()
    done = run(USE_A_SMALL_KERNEL, tmp_path / "file", TMPDIR=str(tmp_path / "temporary"))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert any((tmp_path / "temporary").rglob("*.nbc"))


BOT = """
from pathlib import Path

from constants import STEP
from engine_fast.jit import compiler

kernel, inline, called = compiler(Path(__file__).parent)

@kernel
def advance(number):
    return number + STEP
"""


def test_a_changed_constant_of_another_file_is_noticed(tmp_path: Path):
    """Numba's own cache would keep the old machine code: it looks at the kernel's file only."""
    folder = write(tmp_path / "bot", constants="STEP = 1\n", kernels=BOT)
    use = f"import sys; sys.path.insert(0, {str(folder)!r}); from kernels import advance; print(advance(1))"
    first = run(use, tmp_path / "cache", PYTHONDONTWRITEBYTECODE="1")
    write(folder, constants="STEP = 5\n")
    second, third = (run(use, tmp_path / "cache", PYTHONDONTWRITEBYTECODE="1") for _ in range(2))
    assert [done.stdout for done in (first, second, third)] == ["2\n", "6\n", "6\n"], first.stderr + second.stderr
    assert [ANNOUNCEMENT in done.stderr for done in (first, second, third)] == [True, True, False]
    assert len(list((tmp_path / "cache").iterdir())) == 2


PARTS = """
import numpy as np
from pathlib import Path
from engine_fast.jit import compiler

kernel, inline, called = compiler(Path(__file__).parent)

@inline
def double(number):
    return number + number

@called
def sum_of_doubles(numbers):
    total = 0
    for number in numbers:
        total += double(number)
    return total

@kernel
def quadruple(numbers):
    return double(sum_of_doubles(numbers))
"""


def test_functions_for_kernels_have_no_entry_for_python_which_runs_their_source(tmp_path: Path):
    """Their compiled code has no wrapper: a call from Python into it would end the process."""
    folder = write(tmp_path / "parts", parts=PARTS)
    use = f"""
import sys; sys.path.insert(0, {str(folder)!r})
from parts import double, np, quadruple, sum_of_doubles
numbers = np.array([1, 2, 3])
print(quadruple(numbers), double(4), sum_of_doubles(numbers), double("ab"))
"""
    cold, warm = (run(use, tmp_path / "cache") for _ in range(2))
    assert [done.stdout for done in (cold, warm)] == ["24 8 12 abab\n"] * 2, cold.stderr + warm.stderr
    assert {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*.nbi")} == {
        "parts.quadruple",
        "parts.sum_of_doubles",
    }
