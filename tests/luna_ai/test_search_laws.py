"""Laws that hold for every tree search: seats are alike, nothing is lost or invented, there is always an answer."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_fast import Position
from engine_fast.actions import NOTATIONS
from engine_fast.layout import columns
from luna_ai.players import make_player
from luna_ai.search.mcts import Search, SearchResult
from luna_ai.search.options import parse_options
from luna_ai.search.tree import EDGES_USED, NODES_USED, TRUNCATED, UNEXPANDED, UNVISITED

UNIFORM = "rule=uct,rollout=uniform,rounds=0,sharpness=0,bias=0"
CONTINUING = ("journey", "tide", "land", "give-book")
KINDS = ["sims=150", f"sims=2000,{UNIFORM}", "sims=300,rollout=mixed,rounds=2", "sims=100,rule=uct,noise=0.5,rounds=0"]


def after(position: Position, decisions: int, player: str = "random", seed: int = 0) -> Position:
    """The position after some decisions of a bot (or fewer, where the game ends before)."""
    bot = make_player(player, seed)
    for _ in range(decisions):
        following = position.play(bot.choose(position))
        if following.over:
            break
        position = following
    return position


def rotated(position: Position, by: int) -> Position:
    """The same position with everybody `by` seats further on: owners, starter, mover, Council."""
    data, players = position.to_json(), position.players

    def turned(seat: int | None) -> int | None:
        return None if seat is None else (seat + by) % players

    tiles: dict[str, dict[str, Any]] = {
        number: tile | ({"owner": turned(tile["owner"])} if "owner" in tile else {})
        for number, tile in data["tiles"].items()
    }
    return Position.from_json(
        data
        | {
            "start_player": turned(data["start_player"]),
            "to_move": turned(data["to_move"]),
            "council": [[turned(seat) for seat in stack] for stack in data["council"]],
            "seats": [data["seats"][(seat - by) % players] for seat in range(players)],
            "tiles": tiles,
        }
    )


def visits(found: SearchResult) -> dict[int, int]:
    return {candidate.action: candidate.visits for candidate in found.candidates}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", KINDS)
def test_turning_the_seats_turns_the_values_and_nothing_else(players: int, options: str) -> None:
    for seed, decisions in enumerate((0, 3, 5 * players, 20 * players, 45 * players)):
        player = ("random", "greedy")[seed % 2]
        position = after(Position.new(players, seed=seed), decisions, player, seed)
        plain = Search(parse_options(options), seed=9)(position)
        for by in range(1, players):
            turned = Search(parse_options(options), seed=9)(rotated(position, by))
            assert visits(turned) == visits(plain)
            assert np.array_equal(turned.values[:players], np.roll(plain.values[:players], by))
            assert turned.best.action == plain.best.action and turned.nodes == plain.nodes


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", KINDS)
def test_visits_and_values_add_up_in_every_node(players: int, options: str) -> None:
    search = Search(parse_options(options), seed=4)
    search(after(Position.new(players, seed=5), 12 * players))
    tree = search.tree
    assert tree.counters[TRUNCATED] == 0
    for node in range(int(tree.counters[NODES_USED])):
        assert tree.value[node].sum() == pytest.approx(float(tree.visits[node]))
        if tree.first_edge[node] == UNEXPANDED:
            assert tree.visits[node] == 1 or tree.proven[node]
            continue
        first, tried = int(tree.first_edge[node]), int(tree.num_tried[node])
        edges = slice(first, first + tried)
        assert (
            tree.edge_visits[edges].min() > 0
            and tree.visits[tree.child[edges]].tolist() == tree.edge_visits[edges].tolist()
        )
        assert not tree.edge_visits[first + tried : first + int(tree.num_edges[node])].any()
        if not tree.proven[node]:
            assert tree.edge_visits[edges].sum() == tree.visits[node] - 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_edges_are_the_legal_decisions_and_lead_where_the_engine_says(players: int) -> None:
    search = Search(parse_options("sims=300"), seed=2)
    search(after(Position.new(players, seed=3), 20 * players))
    tree = search.tree
    for node in range(0, int(tree.counters[NODES_USED]), 7):
        position = Position(tree.state[node].copy(), Position.new(2, seed=0).game)
        edges = range(int(tree.first_edge[node]), int(tree.first_edge[node]) + int(tree.num_edges[node]))
        if tree.first_edge[node] != UNEXPANDED:
            assert sorted(int(tree.action[edge]) for edge in edges) == position.legal_ids()
        for edge in edges:
            if tree.first_edge[node] != UNEXPANDED and tree.child[edge] != UNVISITED:
                following = position.play(int(tree.action[edge]))
                assert np.array_equal(tree.state[tree.child[edge]], following.state)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_finished_action_is_never_half_executed(players: int) -> None:
    """Whoever begins a Journey, Tide or Book decides until it is complete."""
    player, position, unfinished = make_player("mcts:sims=30", 1), Position.new(players, seed=players), 0
    for _ in range(30 * players):
        following = position.play(player.choose(position))
        if following.to_json()["pending"]:
            unfinished += 1
            assert following.to_move == position.to_move
            assert all(NOTATIONS[i].split()[0] in CONTINUING for i in following.legal_ids())
        position = following
    assert unfinished >= players


def test_every_line_of_the_tree_completes_an_action_by_the_same_seat() -> None:
    position = after(Position.new(3, seed=8), 30)
    begun = position.play(next(text for text in position.legal() if text.startswith("journey")))
    search = Search(parse_options(f"sims=3000,{UNIFORM}"), seed=1)
    search(begun)
    tree, steps, completed = search.tree, 0, 0
    for node in range(int(tree.counters[NODES_USED])):
        first = int(tree.first_edge[node])
        parent = columns(tree.state[node : node + 1], "pending")[0] != 0
        for edge in range(first, first + int(tree.num_tried[node])) if parent else ():
            before, now = (facts(tree.state[place]) for place in (node, int(tree.child[edge])))
            if now["pending"]:
                assert (now["to_move"], now["actions"]) == (before["to_move"], before["actions"])
                steps += 1
            else:
                assert now["actions"] == before["actions"] + 1 or now["round"] == before["round"] + 1
                completed += 1
    assert steps > 50 and completed > 50


def facts(state: NDArray[np.uint64]) -> dict[str, int]:
    return {name: int(columns(state[None], name)[0]) for name in ("pending", "to_move", "actions", "round")}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("budget", ["sims=1", "seconds=0.001"])
def test_the_smallest_budgets_have_an_answer(players: int, budget: str) -> None:
    position = after(Position.new(players, seed=1), 9 * players)
    for options in ("", ",nodes=2", f",{UNIFORM}", ",reuse=false"):
        search = Search(parse_options(budget + options), seed=1)
        found = search(position)
        assert found.played >= 1 and found.best.action in position.legal_ids()
        assert len(found.candidates) == len(position.legal_ids())
        again = search(position.play(found.best.action)) if not position.play(found.best.action).over else found
        assert again.candidates


def test_with_one_simulation_the_likeliest_decision_is_the_answer() -> None:
    position = after(Position.new(3, seed=4), 40)
    found = Search(parse_options("sims=1"), seed=1)(position)
    assert found.best.prior == max(candidate.prior for candidate in found.candidates)


def test_a_full_tree_goes_on_with_what_it_has() -> None:
    """The number of nodes is kept, every simulation counts, and further ones sharpen the values of the leaves."""
    position = after(Position.new(4, seed=9), 45)
    for nodes in (2, 3, 50):
        search = Search(parse_options(f"sims=500,nodes={nodes}"), seed=1)
        found = search(position)
        assert found.nodes == nodes and found.played == 500
        assert sum(candidate.visits for candidate in found.candidates) == 499
        assert search.tree.counters[TRUNCATED] > 0
        again = search(position)
        assert again.nodes == nodes and again.simulations == 1000


def test_full_edges_leave_nodes_without_decisions_and_the_search_goes_on() -> None:
    position = after(Position.new(4, seed=9), 45)
    search = Search(parse_options("sims=500"), seed=1)
    search.tree = search.tree._replace(**{name: getattr(search.tree, name)[:100] for name in PER_EDGE})
    found = search(position)
    assert found.played == 500 and search.tree.counters[EDGES_USED] <= 100 and search.tree.counters[TRUNCATED] > 0
    assert sum(candidate.visits for candidate in found.candidates) == 499


PER_EDGE = ("action", "child", "prior", "edge_visits", "edge_value", "edge_proof")


def test_a_short_time_after_a_long_search_is_kept() -> None:
    """Slices grow with what the machine can do in 0.05 s; the last one is cut to what is left."""
    position = after(Position.new(4, seed=3), 40)
    search = Search(parse_options(f"sims=40000,{UNIFORM}"), seed=1)
    search(position)
    search.options = parse_options(f"seconds=0.002,{UNIFORM}")
    began = time.process_time()
    found = search(position)
    assert found.best.action in position.legal_ids() and time.process_time() - began < 0.03


def test_an_interrupt_comes_through_within_a_slice_and_leaves_an_answer() -> None:
    position = after(Position.new(3, seed=3), 40)
    search = Search(parse_options("seconds=60"), seed=1)
    search(position, stop=lambda: True)  # compiles
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            search(position)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 3
    found = search.result()
    assert found.best.action in position.legal_ids() and found.played > 100
    assert sum(candidate.visits for candidate in found.candidates) == found.simulations - 1


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def growth_over(searches: int) -> int:
    """Bytes by which the process grew over so many searches with trees kept, half of them by new players."""
    positions = [after(Position.new(players, seed=seed), 7 * seed) for players in (2, 3, 4) for seed in range(4)]
    kept = Search(parse_options("sims=8,nodes=64"), seed=1)

    def run(number: int) -> None:
        for index in range(number // 2):
            kept(positions[index // 2 % len(positions)])
            Search(parse_options("sims=4,nodes=64"), seed=index)(positions[index % len(positions)])
        gc.collect()

    run(400)
    before = resident_bytes()
    run(searches)
    return resident_bytes() - before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
@pytest.mark.parametrize("searches", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_memory_stays_flat(searches: int) -> None:
    assert growth_over(searches) < 4 << 20


PLAIN_PYTHON = """
from engine_fast import Position
from luna_ai.search.mcts import Search
from luna_ai.search.options import parse_options
for options in ("sims=12,rounds=0,rule=uct,rollout=uniform,sharpness=0", "sims=6,transpositions=true", "rollout=mixed"):
    search = Search(parse_options(options + ("" if "sims" in options else ",sims=4")), seed=3)
    for text in ("", "place-shrine book"):
        position = Position.new(3, seed=4)
        found = search(position.play(text) if text else position)
        print([(one.action, one.visits, round(one.prior, 6)) for one in found.candidates], found.values.round(9))
"""


@pytest.mark.slow
def test_the_search_is_the_same_without_compiling() -> None:
    printed = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", PLAIN_PYTHON], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1] and printed[0].count("[(") == 6
