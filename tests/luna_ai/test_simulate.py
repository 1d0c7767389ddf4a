"""Games between bots: the same table however it is played, nothing lost or counted twice when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from engine_fast.layout import LEDGER_SOURCES
from engine_fast.ruleset import RuleSet
from luna_ai.run_folder import InvalidRun, RunChanged
from luna_ai.runner import Runner, play_rows, ruleset_label, ruleset_of
from luna_ai.simulate import Simulation, figures, simulate

TABLE = Simulation(3, ("random", "greedy", "random"), 300, seed=5)
LUNA = (sys.executable, "-m", "luna_ai.cli")


@pytest.fixture(scope="module")
def undisturbed() -> pl.DataFrame:
    """The games of `TABLE`, played in one process."""
    with Runner(1) as runner:
        return simulate(TABLE, runner).games


def games_on_disk(folder: Path) -> pl.DataFrame:
    """All parts of a simulation's folder."""
    return pl.concat([pl.read_parquet(path) for path in sorted((folder / "games").glob("part-*.parquet"))])


def test_two_processes_give_the_same_table(undisturbed: pl.DataFrame) -> None:
    with Runner(2) as runner:
        assert simulate(TABLE, runner).games.equals(undisturbed)


def test_a_row_of_the_schedule_depends_on_its_number_alone() -> None:
    assert TABLE.schedule(0, 60)[40:].equals(TABLE.schedule(40, 20))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sheet_is_read_once_in_a_run(tmp_path: Path, jobs: int) -> None:
    sheet, found = tmp_path / "own.yaml", []
    sheet.write_text("name: own\nextends: rosette\nstarting_influence: 7\n")
    schedule = Simulation(2, ("random", "random"), 200, seed=5, components=str(sheet)).schedule(0, 200)
    with Runner(jobs) as runner:
        found.append(runner(schedule)["start_influence"].unique().to_list())
        sheet.write_text("name: own\nextends: rosette\nstarting_influence: 8\n")
        if jobs == 1:
            found.append(runner(schedule)["start_influence"].unique().to_list())
    with Runner(jobs) as runner:
        found.append(runner(schedule)["start_influence"].unique().to_list())
    assert found == ([[7], [7], [8]] if jobs == 1 else [[7], [8]])


def test_every_game_has_its_own_deal_and_course(undisturbed: pl.DataFrame) -> None:
    for column in ("deal", "seed", "moves_hash"):
        assert undisturbed[column].n_unique() == TABLE.games


def test_rows_are_whole(undisturbed: pl.DataFrame) -> None:
    assert len(undisturbed) == 3 * TABLE.games
    sources = sum((undisturbed[source].cast(pl.Int64) for source in LEDGER_SOURCES), undisturbed["start_influence"])
    assert (sources == undisturbed["influence"]).all()
    turned = (undisturbed["seat"] - undisturbed["start_player"]) % 3
    assert (turned == undisturbed["turn_position"]).all()
    ranks = undisturbed.group_by("game").agg(pl.col("rank").sort())["rank"].to_list()
    assert all(rank == [1, 2, 3] for rank in ranks)
    assert undisturbed["player"].to_list() == list(TABLE.agents) * TABLE.games
    assert (undisturbed["rounds"] == 6).all()


def test_the_winner_has_the_most_influence(undisturbed: pl.DataFrame) -> None:
    best = undisturbed.group_by("game").agg(pl.col("influence").max().alias("most"))
    winners = undisturbed.filter(pl.col("rank") == 1).join(best, on="game")
    assert (winners["influence"] == winners["most"]).all()


def test_start_players_are_drawn_evenly() -> None:
    starters = Simulation(4, ("random",) * 4, 4000).schedule(0, 4000)["start_player"].value_counts()
    assert min(starters["count"].to_list()) > 900


def test_a_handicap_goes_to_turn_positions() -> None:
    table = Simulation(4, ("random",) * 4, 40, handicap=(0, 3, -2, 7))
    with Runner(1) as runner:
        games = simulate(table, runner).games
    starts = games.group_by("turn_position").agg(pl.col("start_influence").unique()).sort("turn_position")
    assert starts["start_influence"].to_list() == [[5], [8], [3], [12]]


@pytest.mark.parametrize(
    "ruleset", [RuleSet(), RuleSet("online"), RuleSet(influence_floor=None, book_same_space=True, virtual_alone=False)]
)
def test_labels_of_rule_sets_are_read_back(ruleset: RuleSet) -> None:
    assert ruleset_of(ruleset_label(ruleset)) == ruleset


def test_options_reach_the_games() -> None:
    quick = Simulation(2, ("random",) * 2, 64, ruleset=ruleset_label(RuleSet(max_actions_per_player=1)))
    games = play_rows(quick.schedule(0, 64))
    assert max(games["decisions"].to_list()) < 10 + 12 * 21
    assert games["meditation"].sum() == 0  # with one action each nobody turns the last of three tokens


class Stopped:
    """A runner that is interrupted in the middle of its second schedule."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.calls, self.advance = runner, 0, runner.advance

    def __call__(self, schedule: pl.DataFrame) -> pl.DataFrame:
        self.calls += 1
        return self.runner(schedule.head(20) if self.calls == 2 else schedule)


def test_an_interrupted_simulation_goes_on(tmp_path: Path, undisturbed: pl.DataFrame) -> None:
    with Runner(1) as runner:
        half = simulate(TABLE, Stopped(runner), tmp_path)  # type: ignore[arg-type]
        assert half.interrupted and half.games["game"].n_unique() == 276
        assert half.games.equals(undisturbed.head(276 * 3))
        whole = simulate(TABLE, runner, tmp_path)
    assert not whole.interrupted and whole.games.equals(undisturbed)
    assert games_on_disk(tmp_path).equals(undisturbed)
    assert pl.read_parquet(tmp_path / "schedule.parquet").equals(TABLE.schedule(0, 300))


def test_more_games_are_added_and_fewer_are_cut(tmp_path: Path, undisturbed: pl.DataFrame) -> None:
    def some(games: int) -> Simulation:
        return Simulation(TABLE.players, TABLE.agents, games, TABLE.seed)

    with Runner(1) as runner:
        simulate(some(70), runner, tmp_path)
        assert simulate(some(300), runner, tmp_path).games.equals(undisturbed)
        assert simulate(some(10), runner, tmp_path).games.equals(undisturbed.head(30))


def test_another_simulation_is_refused(tmp_path: Path) -> None:
    with Runner(1) as runner:
        simulate(Simulation(2, ("random",) * 2, 8, seed=1), runner, tmp_path)
        with pytest.raises(RunChanged, match="seed = 1, not 2"):
            simulate(Simulation(2, ("random",) * 2, 8, seed=2), runner, tmp_path)


def test_games_of_an_unknown_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "part-000000000.parquet").write_bytes(b"somebody else's")
    with Runner(1) as runner, pytest.raises(InvalidRun, match="choose another folder"):
        simulate(TABLE, runner, tmp_path)


def test_figures_add_up(undisturbed: pl.DataFrame) -> None:
    with Runner(1) as runner:
        found = figures(TABLE, simulate(TABLE, runner))
    assert found["games"] == found["distinct_games"] == 300
    assert sum(row["win_share"] for row in found["by_turn_position"]) == pytest.approx(1)
    best = max(found["by_player"], key=lambda row: row["influence"])
    assert best["player"] == "greedy" and best["win_share"] > 0.9


def start(*words: str) -> subprocess.Popen[str]:
    """A `luna` command in the background, in a process group of its own."""
    return subprocess.Popen(
        [*LUNA, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_part(process: subprocess.Popen[str], folder: Path) -> None:
    """Returns when the first part is on disk."""
    limit = time.monotonic() + 300  # it may have to compile first
    while not list(folder.glob("games/part-*.parquet")):
        if process.poll() is not None or time.monotonic() > limit:
            process.kill()
            pytest.fail(f"no part was written: {process.communicate()}")
        time.sleep(0.02)


LONG = ("simulate", "--players", "4", "--agents", "random", "--games", "2000000", "--seed", "3")


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    process = start(*LONG, "--jobs", "2", "--out", str(tmp_path / "run"), "--json", str(tmp_path / "figures.json"))
    wait_for_part(process, tmp_path / "run")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    found = json.loads((tmp_path / "figures.json").read_text())
    kept = games_on_disk(tmp_path / "run")
    assert not found["complete"] and found["games"] == kept["game"].n_unique() >= 256
    assert kept["game"].to_list() == [game for game in range(found["games"]) for _ in range(4)]


def test_a_killed_simulation_goes_on_without_loss(tmp_path: Path) -> None:
    process = start(*LONG, "--jobs", "1", "--out", str(tmp_path))
    wait_for_part(process, tmp_path)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = games_on_disk(tmp_path)["game"].n_unique()
    table = Simulation(4, ("random",) * 4, kept + 100, seed=3)
    with Runner(1) as runner:
        resumed = simulate(table, runner, tmp_path).games
        assert resumed.equals(simulate(table, runner).games)


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    process = start(*LONG, "--jobs", "2", "--out", str(tmp_path))
    wait_for_part(process, tmp_path)
    process.kill()
    process.communicate(timeout=30)  # returns when the last of them has closed the pipes
