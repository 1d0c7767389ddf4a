"""Progress: plain lines where stderr is no terminal, a bar where it is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from luna_ai import progress
from luna_ai.progress import Progress

ROOT = Path(__file__).parents[2]


def test_short_work_prints_nothing(capsys: pytest.CaptureFixture[str]):
    with Progress("playing", 3, "games") as bar:
        bar.advance(3)
    assert capsys.readouterr() == ("", "")


def test_long_work_prints_a_line_now_and_then_and_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    clock = iter([0.0, 1.0, 6.0, 6.5, 7.0, 8.0, 9.0])
    monkeypatch.setattr("luna_ai.progress.time.monotonic", lambda: next(clock))
    with Progress("playing", 5000, "games") as bar:
        bar.say("compiling")
        bar.advance(1000)  # second 1: too early
        bar.advance(1000)  # second 6: a line, printed at 6.5
        bar.advance(1000)  # second 7: too early
    assert capsys.readouterr().err.splitlines() == [
        "compiling",
        "playing: 2,000 of 5,000 games, 6 s",
        "playing: 3,000 of 5,000 games, 8 s",
    ]


def test_without_a_total(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    with Progress("playing", None, "games") as bar:
        bar.advance()
    assert capsys.readouterr().err.splitlines()[0] == "playing: 1 games, 0 s"


@pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals")
def test_a_bar_on_a_terminal():
    import pty

    code = "from luna_ai.progress import Progress\nwith Progress('playing', 2, 'games') as bar:\n    bar.advance(2)"
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    done = subprocess.run([sys.executable, "-c", code], stderr=slave, cwd=ROOT, env=environment, timeout=60)
    os.close(slave)
    shown = os.read(master, 100_000).decode()
    os.close(master)
    assert done.returncode == 0
    assert "playing" in shown
    assert "2/2" in shown
