"""`luna bench`: that it runs, what it writes, and that it measures what it says. No test asserts a speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from engine_fast.layout import STATE_WORDS
from engine_fast.position import new_ledger
from luna_ai.bench import costs, measuring, peers, slow
from luna_ai.bench.costs import Recorded
from luna_ai.bench.engine import EngineBench, measure_engine, speed, speed_of_all
from luna_ai.bench.kernels import recorded
from luna_ai.bench.memory import measure_memory
from luna_ai.bench.playouts import Playouts

PARTS = ("apply_and_scoring", "legal_mask", "choice", "waiting_for_the_choice", "set_up")
TINY = ("--seconds", "0.001", "--runs", "2", "--jobs", "2", "--decisions", "500", "--players", "3", "2")
JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
with_jit = pytest.mark.skipif(JIT_IS_OFF, reason="plain Python is too slow for whole measurements")
with_peers = pytest.mark.skipif(find_spec("pyspiel") is None, reason="open_spiel is not installed")


def luna(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "luna_ai.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What `luna bench engine` prints and writes with tiny settings."""
    file = tmp_path_factory.mktemp("bench") / "speed.json"
    done = luna("bench", "engine", *TINY, "--json", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text())


@with_jit
def test_the_json_file_has_all_figures_by_number_of_players(tiny_run: tuple[str, dict[str, Any]]):
    figures = tiny_run[1]
    assert set(figures) == {
        *("settings", "machine", "versions", "load_average"),
        *("decisions_per_second", "all_cores_decisions_per_second", "one_core", "all_cores", "mixed_policy"),
        *("costs_ns", "profile_ns"),
        *("position_decisions_per_second", "reference_decisions_per_second", "position_us", "reference_ratio"),
        "memory",
    }
    by_players = [key for key, value in figures.items() if isinstance(value, dict) and "2" in value]
    assert len(by_players) == 10
    assert all(set(figures[key]) == {"2", "3"} for key in by_players)
    assert figures["settings"]["players"] == [3, 2]
    assert figures["load_average"]["before"] is None or len(figures["load_average"]["before"]) == 3
    one = figures["one_core"]["2"]["decisions_per_second"]
    assert one["min"] <= one["median"] <= one["max"]
    assert len(one["runs"]) == 2
    assert figures["decisions_per_second"]["2"] == one["median"] > 0


@with_jit
def test_the_profile_adds_up(tiny_run: tuple[str, dict[str, Any]]):
    for parts in tiny_run[1]["profile_ns"].values():
        for run, whole in enumerate(parts["whole"]["runs"]):
            total = sum(found["runs"][run] for name, found in parts.items() if name in PARTS)
            assert total == pytest.approx(whole)


@with_jit
def test_tables_are_printed(tiny_run: tuple[str, dict[str, Any]]):
    text = tiny_run[0]
    for words in ("one core", "in 2 processes", "legal mask", "waiting for the choice", "playouts / reference"):
        assert words in text
    assert "load average before: " in text
    assert "median (min-max) of 2 runs" in text


@with_jit
def test_ticks_are_as_many_as_announced():
    bench = EngineBench(players=(2,), seconds=0.001, runs=1, jobs=1, decisions=100)
    ticks, figures = list[None](), dict[str, Any]()
    measure_engine(bench, lambda: ticks.append(None), figures)
    assert len(ticks) == bench.steps


@with_jit
def test_an_interrupted_run_keeps_the_finished_sections():
    def stop() -> None:
        raise KeyboardInterrupt

    figures: dict[str, Any] = {}
    with pytest.raises(KeyboardInterrupt):
        measure_engine(EngineBench(players=(2,), seconds=0.001, runs=1), stop, figures)
    assert set(figures) == {"settings", "machine", "versions", "load_average"}


@pytest.mark.skipif(find_spec("pyspiel") is not None, reason="open_spiel is installed")
def test_missing_peers_are_said_in_one_line():
    done = luna("bench", "--peers")
    assert done.returncode == 2
    assert done.stderr == (
        "luna bench: error: --peers: open_spiel is not installed; pip install open_spiel, or leave --peers out\n"
    )


@pytest.fixture(scope="module")
def games() -> Recorded:
    return Recorded(players=3, seed=5, games=4, num_positions=50)


def test_recorded_games_replay_to_the_same_decisions(games: Recorded):
    """Drawn again with the same generator, the games are those that were recorded: the rungs do the same work."""
    assert games.lengths.sum() == len(games.chosen)
    assert len(games.positions) == 50
    state, ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
    drawn = recorded.replay_with_choices(
        games.starts, games.lengths, games.chosen, games.rules, games.generator(), state, ledger
    )
    assert int(drawn) == int(games.chosen.sum(dtype=np.uint64))
    for times in (1, 2):
        again = recorded.play_again(
            games.starts, times, games.rules, games.generator(), games.generator(), state, ledger
        )
        assert again == len(games.chosen)


@with_jit
def test_every_part_can_be_called(games: Recorded):
    works = costs.verb_works(games) | costs.ladder_works(games)
    for units, call in works.values():
        call()
        assert units in (4, 50, len(games.chosen), costs.TIMES * len(games.chosen))


def test_run_for_counts_units_and_doubles_the_size_of_short_calls():
    sizes: list[int] = []

    def work(size: int) -> int:
        sizes.append(size)
        return 10 * size

    sample = measuring.run_for(0.002, work)
    assert sample.units == 10 * sum(sizes)
    assert sizes[:4] == [1, 2, 4, 8]
    assert sample.seconds >= 0.002
    assert measuring.run_for(0, work).units == 10


def test_series_are_median_and_range():
    assert measuring.series([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0, "runs": [3.0, 1.0, 2.0]}


def test_speed_of_several_processes_by_hand():
    alone = [Playouts(measuring.Sample(units=1000, seconds=1.0, wall=2.0), games=10)]
    together = [[Playouts(measuring.Sample(units=900, seconds=1.0, wall=wall), games=9) for wall in (1.0, 2.0)]]
    assert speed(alone)["decisions_per_game"] == 100
    assert speed(alone)["nanoseconds_per_decision"]["median"] == 1e6
    found = speed_of_all(together, alone)
    assert found["decisions_per_second"]["median"] == 1800
    assert found["speedup"]["median"] == 1.8
    assert found["wall_decisions_per_second"]["median"] == 1350
    assert found["wall_speedup"]["median"] == 2.7


def test_reference_and_position_play_on_after_a_game():
    assert slow.reference_player(2, seed=3)(250) == 250
    assert slow.position_player(2, seed=3)(250) == 250


def test_memory_is_watched_until_the_decisions_are_played():
    ticks: list[None] = []
    found = measure_memory((2,), 300, lambda: ticks.append(None))
    assert len(ticks) == 1
    assert found["decisions"] >= 300
    assert set(found) == {"decisions", "resident_before", "resident_after", "growth", "peak"}


@with_peers
def test_lengths_of_peers_leave_out_chance():
    """In pig about every second step is a roll of the die."""
    peer = peers.Peer("tic_tac_toe")
    assert 7 < peer.decisions_per_game < 8.2  # 7.6 in random play
    assert 200 < peers.Peer("pig(players=4)").decisions_per_game < 220


@with_peers
def test_peers_are_measured_in_turns_with_luna():
    found = peers.measure_peers((2,), 0.001, 2, lambda: None, names=("tic_tac_toe",))
    assert set(found["luna"]) == {"2"}
    ratio = found["games"]["tic_tac_toe"]["ratio"]["2"]
    assert len(ratio["runs"]) == 2
    assert ratio["median"] > 0
