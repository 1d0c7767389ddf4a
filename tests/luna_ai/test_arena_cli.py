"""`luna arena` with real bots: killed, interrupted and parallel; shipped configurations."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from luna_ai.arena import Challenge, RoundRobin, figures_of, run_arena
from luna_ai.commands.arena import Config, _arena
from luna_ai.parsing import parse
from luna_ai.players import CODES
from luna_ai.runner import Runner, versions, warm_up

ROOT = Path(__file__).parents[2]
LUNA = (sys.executable, "-m", "luna_ai.cli", "arena")
ROBIN = ("--agents", "random", "strategy:temple", "greedy", "--players", "3", "4", "--seed", "3")


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """Commands started below find their kernels compiled."""
    warm_up()


def luna(*words, check=0):
    done = subprocess.run([*LUNA, *words], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == check, done.stderr
    return done


def start(*words):
    """A `luna arena` in the background, in a process group of its own."""
    return subprocess.Popen(
        [*LUNA, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )


def wait_for_part(process, folder, parts=1):
    """Returns when so many parts are on disk; kernels may have to be compiled first."""
    limit = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < limit:
        if len(list(folder.glob("games/p*.parquet"))) >= parts:
            return
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail(f"no part after 300 s: {process.communicate()}")


def figures(path):
    return json.loads(path.read_text())


def test_a_killed_arena_goes_on_and_ends_as_an_undisturbed_one(tmp_path):
    words = (*ROBIN, "--jobs", "2", "--out", str(tmp_path / "killed"))
    process = start(*words, "--deals", "100000")
    wait_for_part(process, tmp_path / "killed")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    found = [pl.read_parquet(path) for path in sorted((tmp_path / "killed" / "games").glob("p3-*.parquet"))]
    deals = str(int(found[-1]["block"][-1]) + 1 + 5)  # there is one group of three
    assert "holds a run with players = [3, 4]" in luna(*words, "--deals", deals, "--players", "3", check=2).stderr
    luna(*words, "--deals", deals, "--json", str(tmp_path / "killed.json"))
    luna(*ROBIN, "--jobs", "1", "--deals", deals, "--json", str(tmp_path / "whole.json"))
    assert figures(tmp_path / "killed.json") == figures(tmp_path / "whole.json")


@pytest.mark.slow
def test_ten_thousand_games_killed_again_and_again_are_none_lost_and_none_twice(tmp_path):
    robin = ("--agents", "random", "strategy:temple", "greedy", "--players", "4", "--deals", "70", "--jobs", "2")
    words = (*robin, "--out", str(tmp_path / "killed"))
    for parts in (1, 2, 3):
        process = start(*words)
        wait_for_part(process, tmp_path / "killed", parts)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    luna(*words, "--json", str(tmp_path / "killed.json"))
    luna(*robin, "--json", str(tmp_path / "whole.json"))
    assert figures(tmp_path / "killed.json") == figures(tmp_path / "whole.json")
    assert figures(tmp_path / "whole.json")["distinct_games"] == 70 * 3 * 48


def test_ctrl_c_keeps_what_is_finished_and_exits_with_130(tmp_path):
    out = tmp_path / "run"
    process = start(*ROBIN, "--jobs", "2", "--deals", "100000", "--out", str(out), "--json", str(tmp_path / "f.json"))
    wait_for_part(process, out)
    os.killpg(process.pid, signal.SIGINT)
    shown, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted" in shown
    found = figures(tmp_path / "f.json")
    kept = pl.concat([pl.read_parquet(path) for path in sorted((out / "games").glob("p3-*.parquet"))])
    assert not found["complete"]
    assert found["games"] == kept["game"].n_unique() == len(pl.read_parquet(out / "schedule.parquet"))
    assert kept["game"].to_list() == [game for game in range(found["games"]) for _ in range(3)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_match_of_bots(jobs, tmp_path):
    arena = Challenge(challenger="greedy", against=("random",), better_by=0.1, players=(2, 3, 4), seed=1)
    with Runner(jobs) as runner:
        result = run_arena(arena, runner, versions=versions())
    found = figures_of(result)
    assert [(match["verdict"], match["blocks"]) for match in found["matches"]] == [("better", 30)] * 3
    assert found["distinct_games"] == found["games"] == 30 * 4 + 30 * 2 * 9 + 30 * 2 * 16


def test_a_round_robin_does_not_depend_on_processes():
    arena = RoundRobin(agents=("greedy", "random", "strategy:books"), deals=4, players=(3,), seed=2)
    found = []
    for jobs in (1, 2):
        with Runner(jobs) as runner:
            found.append(run_arena(arena, runner).games[0])
    assert found[0].equals(found[1])


def test_all_outputs(tmp_path):
    words = (*ROBIN, "--deals", "2", "--jobs", "1", "--seatings", "rotations")
    done = luna(*words, "--out", str(tmp_path / "out"), "--tensorboard", str(tmp_path / "board"))
    for text in ("3 players", "4 players", "strategy:temple", "distinct"):
        assert text in done.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"arena.json", "figures.json", "schedule.parquet", "ratings.parquet", "cross.parquet", "arena.png"}
    assert len(list((tmp_path / "board").iterdir())) == 1


@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "arena").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configurations_are_arenas(file):
    arena = _arena(parse(Config, ["--config", str(file)], "luna arena", ""))
    assert isinstance(arena, RoundRobin | Challenge)
    assert (ROOT / "configs" / "README.md").read_text().count(f"arena/{file.name}") >= 1


def test_the_round_robin_of_all_bots_has_all_of_them():
    arena = _arena(parse(Config, ["--config", str(ROOT / "configs" / "arena" / "bots.yaml")], "luna arena", ""))
    assert set(arena.names) == set(CODES)
