"""`luna bench search`: that it runs, what it writes, and that it measures what it says. No test asserts a speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from engine_fast import layout
from engine_fast.position import Position, load_game
from luna_ai.bench import search_gumbel, search_peers, search_shares
from luna_ai.bench.report import print_report
from luna_ai.bench.search import SearchBench, measure_search
from luna_ai.bench.search_network import SIMULATIONS, Batches, measure_run, nodes_made
from luna_ai.bench.search_report import SEARCH_SECTIONS
from luna_ai.bench.search_trees import KINDS, Roots, bare_player, options_of, searcher
from luna_ai.search.mcts import Search
from luna_ai.search.options import SearchOptions
from luna_ai.search.tree import NODES_USED

JIT_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT") == "1"
with_jit = pytest.mark.skipif(JIT_IS_OFF, reason="plain Python is too slow for whole measurements")
with_openspiel = pytest.mark.skipif(find_spec("pyspiel") is None, reason="open_spiel is not installed")
without_openspiel = pytest.mark.skipif(find_spec("pyspiel") is not None, reason="open_spiel is installed")
with_gumbel = pytest.mark.skipif(search_gumbel.missing() is not None, reason="gumbel-mcts is not installed")
PARTS = {"engine", "evaluator", "tree"}
TINY = SearchBench(players=(3, 2), seconds=0.001, runs=2, roots=2, simulations=20, games=3)


def luna(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "luna_ai.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def tiny_run() -> tuple[int, dict[str, Any]]:
    """How often `tick` was called, and the figures, of a bench with tiny settings, as its JSON file has them."""
    ticks, figures = list[None](), dict[str, Any]()
    measure_search(TINY, lambda: ticks.append(None), figures)
    return len(ticks), json.loads(json.dumps(figures))


@with_jit
def test_the_figures_are_complete(tiny_run: tuple[int, dict[str, Any]]):
    ticks, figures = tiny_run
    assert ticks == TINY.steps
    assert set(figures) == {
        *("settings", "machine", "versions", "load_average"),
        *("players_measured", "bare_playouts_per_second", "simulations_per_second", "uct_ratio"),
        *("time_of_a_simulation", "memory_per_node", "network"),
    }
    for key in ("simulations_per_second", "time_of_a_simulation", "memory_per_node"):
        assert set(figures[key]) == set(KINDS)
        assert all(set(by_seats) == {"2", "3"} for by_seats in figures[key].values())
    kinds = figures["network"]["kinds"]
    assert set(kinds) == {"gumbel_hash", "gumbel_uniform", "puct_hash", "puct_uniform"}
    for found in (row for by_seats in kinds.values() for row in by_seats.values()):
        assert found["simulations_per_second"]["median"] > 0
        assert 1.0 <= found["mean_depth"]["median"] < SIMULATIONS
        assert found["bytes_per_node"] > 8 * layout.STATE_WORDS


@with_jit
def test_the_ratio_is_that_of_each_run(tiny_run: tuple[int, dict[str, Any]]):
    figures = tiny_run[1]
    uct, bare = figures["simulations_per_second"]["uct"]["2"]["runs"], figures["bare_playouts_per_second"]["2"]["runs"]
    assert figures["uct_ratio"]["2"]["runs"] == pytest.approx([uct[0] / bare[0], uct[1] / bare[1]])


@with_jit
def test_shares_add_up_to_the_whole(tiny_run: tuple[int, dict[str, Any]]):
    figures = tiny_run[1]
    by_kind = [*figures["time_of_a_simulation"].values(), *figures["network"]["kinds"].values()]
    for found in (row for by_seats in by_kind for row in by_seats.values()):
        assert set(found["share"]) == PARTS
        for run in range(TINY.runs):
            assert sum(part["runs"][run] for part in found["share"].values()) == pytest.approx(1.0)
    row = figures["time_of_a_simulation"]["uct"]["2"]
    assert row["whole_ns"] == pytest.approx(1e9 / figures["simulations_per_second"]["uct"]["2"]["median"])


@with_jit
def test_tables_are_printed(tiny_run: tuple[int, dict[str, Any]], capsys: pytest.CaptureFixture[str]):
    print_report(tiny_run[1], Console(width=130), SEARCH_SECTIONS)
    text = capsys.readouterr().out
    for words in ("uct / bare playouts", "Where a simulation's time goes", "3 games in lock-step", "gumbel hash"):
        assert words in text
    assert "load average before: " in text
    assert "gumbel-mcts" not in text


@with_jit
def test_an_interrupted_run_keeps_the_finished_sections():
    figures: dict[str, Any] = {}

    def stop() -> None:
        if "uct_ratio" in figures:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_search(SearchBench(players=(2,), seconds=0.001, runs=1, roots=1, simulations=5), stop, figures)
    assert "simulations_per_second" in figures
    assert "time_of_a_simulation" not in figures


@with_jit
def test_the_verb_writes_what_it_prints(tmp_path: Any):
    file = tmp_path / "speed.json"
    done = luna("bench", "search", "--players", "2", "--seconds", "0.001", "--runs", "1", "--json", str(file))
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())
    assert figures["settings"] | {"players": [2], "runs": 1, "simulations": 400, "games": 64} == figures["settings"]
    ratio = figures["uct_ratio"]["2"]["median"]
    assert f"{ratio:.2f} ({ratio:.2f}-{ratio:.2f})" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("searching",), "searching"),
        (("search", "--players", "5"), "5"),
        (("search", "--seconds", "0"), "seconds"),
        (("search", "--runs", "many"), "runs"),
        (("search", "--json", "nowhere/at/all.json"), "nowhere"),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments: tuple[str, ...], named: str):
    done = luna("bench", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("luna bench: error: ")
    assert done.stderr.count("\n") == 1
    assert named in done.stderr


@without_openspiel
def test_missing_peers_are_said_in_one_line():
    done = luna("bench", "search", "--peers")
    assert done.returncode == 2
    assert done.stderr == (
        "luna bench: error: --peers: open_spiel is not installed; pip install open_spiel, or leave --peers out\n"
    )


@with_jit
def test_a_missing_gumbel_mcts_is_one_line(
    tiny_run: tuple[int, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(search_gumbel, "find_spec", lambda name: None)
    found = search_gumbel.measure_gumbel(2, 0.001, 1, lambda: pytest.fail("nothing is measured"))
    assert found == {"gumbel_mcts": None}
    print_report(tiny_run[1] | found, Console(width=130), SEARCH_SECTIONS)
    assert "\ngumbel-mcts: not installed (pip install gumbel-mcts)\n" in capsys.readouterr().out


def test_kinds_are_players_as_named():
    assert options_of("default", 400) == SearchOptions()
    uct = options_of("uct", 50)
    assert (uct.rule, uct.rollout, uct.rounds, uct.sharpness, uct.bias, uct.sims) == ("uct", "uniform", 0, 0, 0, 50)
    assert (options_of("uct_greedy_cut", 5).rollout, options_of("uct_greedy_cut", 5).rounds) == ("greedy", 1)


@with_jit
def test_roots_are_of_the_first_rounds_and_drawn_by_the_seed():
    roots = Roots(4, 30)
    assert roots.states.shape == (30, layout.STATE_WORDS)
    assert len({row.tobytes() for row in roots.states}) == 30
    assert {position.players for position in roots.positions} == {4}
    assert {position.round for position in roots.positions} <= {1, 2, 3, 4, 5}
    assert len({position.round for position in roots.positions}) > 2
    assert np.array_equal(Roots(4, 30).states, roots.states)
    assert not np.array_equal(Roots(4, 30, seed=2).states, roots.states)


@with_jit
def test_works_count_playouts_and_simulations():
    roots = Roots(2, 3)
    before = roots.states.copy()
    assert bare_player(roots, 1)(4) == 12
    assert np.array_equal(roots.states, before)
    assert searcher(options_of("uct", 25), roots, 1)(2) == 2 * 3 * 25


@with_jit
@pytest.mark.parametrize("kind", ["uct", "default"])
def test_what_a_search_asked_for_is_in_its_tree(kind: str):
    """Every simulation makes a node and plays it on; the parents' decisions lead to the nodes made."""
    roots, options = Roots(3, 3), options_of(kind, 40)
    asked = search_shares.ask(options, roots, seed=1)
    assert asked.simulations == 120
    assert len(asked.chosen) == len(asked.parents) == len(asked.leaves) == asked.nodes - 3
    assert 100 <= len(asked.chosen) <= 120
    assert 3 <= len(asked.expanded) <= len(asked.chosen)
    game = load_game()
    made = {row.tobytes() for row in asked.leaves}
    for parent, action in zip(asked.parents[:40], asked.chosen, strict=False):
        assert Position(parent.copy(), game).play(int(action)).state.tobytes() in made
    assert (asked.prior_seconds > 0) == (options.sharpness > 0)
    memory = search_shares.memory_of(asked)
    assert 0 < memory["edges_per_node"] == asked.edges / asked.nodes
    assert memory["bytes_used"] < memory["bytes_reserved"]


@with_jit
def test_lockstep_batches_take_turns_and_report_depth():
    batches = Batches("gumbel", "hash", Roots(2, 8), games=2)
    assert len(batches.batches) == 4
    played = batches.work(5)
    assert 0 < played <= 5 * 2 * SIMULATIONS
    assert batches.evaluator.seconds > 0
    run = measure_run(batches, 0.001)
    assert 1 < run.depth < SIMULATIONS
    assert 0 < run.evaluator < 1 and 0 < run.engine < 1 and 0 < run.expansion < 1
    batches.work(1)
    parents, chosen = nodes_made(batches.search.forest, games=2)
    assert 0 < len(parents) == len(chosen) <= 2 * SIMULATIONS
    game = load_game()
    for parent, action in zip(parents, chosen, strict=True):
        assert int(action) in Position(parent.copy(), game).legal_ids()


@with_jit
def test_the_tree_measured_is_the_searchs_own():
    search = Search(options_of("uct", 10), 1)
    found = search(Roots(2, 1).positions[0])
    assert search.tree.counters[NODES_USED] == found.nodes


@with_openspiel
def test_openspiel_in_python_plays_the_same_deal():
    state = search_peers.luna_in_openspiel(3, seed=4).new_initial_state()
    assert state.position == Position.new(3, seed=4, start_player=0)
    assert search_peers.python_search(2, simulations=6)(2) == 12
    assert search_peers.our_search(2, simulations=6)(3) == 18
    assert search_peers.cpp_search("tic_tac_toe", simulations=9)(2) == 18
    lengths = {work(1) for work in search_peers.adapter_works(2).values()}
    assert len(lengths) == 1
    assert 60 < lengths.pop() < 250


@with_openspiel
def test_openspiels_figures_have_both_sides(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_peers, "PYTHON_SIMULATIONS", 3)
    found = search_peers.measure_python((2,), 0.001, 2, lambda: None)["openspiel_python"]["players"]["2"]
    assert found["ratio"]["median"] > 0
    assert set(found["adapter_ns"]) == {"legal_actions", "apply_action", "clone"}
    games = search_peers.measure_cpp((2,), 0.001, 2, lambda: None, names=("tic_tac_toe",))["openspiel_cpp"]["games"]
    assert len(games["tic_tac_toe"]["ratio"]["2"]["runs"]) == 2


@with_gumbel
def test_gumbel_mcts_plays_luna():
    """Its game functions are the engine's; its searches make as many simulations as ours where they can be divided."""
    step, legal = search_gumbel.game_functions()
    row = Roots(2, 1).states[0].copy()
    position = Position(row.copy(), load_game())
    assert np.flatnonzero(legal(row.view(np.int8), 1)).tolist() == position.legal_ids()
    action = position.legal_ids()[0]
    _, _, done, _ = step(row.view(np.int8), action, 1)
    assert row.tobytes() == position.play(action).state.tobytes()
    assert not done
    found = search_gumbel.measure_gumbel(4, 0.001, 1, lambda: None)["gumbel_mcts"]
    assert set(found["kinds"]) == {"GumbelDense", "GumbelSparse", "PUCT", "luna gumbel", "luna puct"}
    assert all(row["simulations_per_second"]["median"] > 0 for row in found["kinds"].values())
    states = search_gumbel.with_a_choice(Roots(2, 16).states)[:4]
    assert search_gumbel.their_search("PUCT", states, 8)[0](1) == 4 * 8
    assert search_gumbel.our_search("puct", states, 8)[0](1) == 4 * 8
