"""Shared nodes: how many they save, that they change no exact result, that they stay shared when a tree is kept."""

from __future__ import annotations

import numpy as np
import pytest

from engine_fast import Position
from engine_fast.layout import columns
from luna_ai.players import parse_player
from luna_ai.search.exact import solve
from luna_ai.search.mcts import Search
from luna_ai.search.options import parse_options
from luna_ai.search.transpositions import add_position, find_shared
from luna_ai.search.tree import NODES_USED, UNVISITED, Tree, bytes_per_node, new_tree
from tests.luna_ai.endings import ENDINGS, Ending

UNIFORM = "rule=uct,rollout=uniform,rounds=0,sharpness=0,bias=0"


def positions_of(tree: Tree) -> list[bytes]:
    return [state.tobytes() for state in tree.state[: tree.counters[NODES_USED]]]


def edges_of(tree: Tree) -> list[tuple[int, int, int]]:
    """Every edge that has a node: node, edge, child."""
    found = []
    for node in range(int(tree.counters[NODES_USED])):
        first = int(tree.first_edge[node])
        for edge in range(first, first + int(tree.num_tried[node])):
            if tree.child[edge] != UNVISITED:
                found.append((node, edge, int(tree.child[edge])))
    return found


def searched(position: Position, options: str) -> Search:
    search = Search(parse_options(options), seed=3)
    search(position)
    return search


def progress(state: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> tuple[int, ...]:
    """What only grows in a game: pieces placed, rounds, actions, steps within an action."""
    one = {name: int(columns(state[None], name)[0]) for name in ("phase", "round", "actions", "pending")}
    supply = sum(int(word) >> 60 for word in state[:4])
    shrines = int(sum(int(bits).bit_count() for bits in columns(state[None], "shrines")[0]))
    placed = (shrines, -supply) if one["phase"] < 2 else (0, 0)
    carried = int(state[13])
    moved = sum(carried >> 4 * place & 15 for place in range(15))
    return one["phase"], *placed, one["round"], one["actions"], moved + (one["pending"] > 0)


def after(players: int, decisions: int) -> Position:
    """A position of a random game."""
    rng, position = np.random.default_rng(players), Position.new(players, seed=players)
    for _ in range(decisions):
        position = position.play(int(rng.choice(position.legal_ids())))
    return position


@pytest.mark.parametrize(("players", "decisions"), [(2, 10), (2, 60), (3, 90), (4, 120)])
def test_a_tree_has_positions_several_times_and_a_shared_one_has_each_once(players: int, decisions: int) -> None:
    """Every simulation makes a node in both: those that are saved hold further positions."""
    position = after(players, decisions)
    plain, shared = (
        positions_of(searched(position, f"sims=2000,nodes=2000,transpositions={choice}").tree)
        for choice in ("false", "true")
    )
    assert len(set(shared)) == len(shared) == len(plain) == 2000
    assert len(set(plain)) < 0.995 * len(plain)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: str(ending.positions))
def test_results_are_exact_with_shared_nodes(ending: Ending) -> None:
    search = Search(parse_options(f"sims=20000,nodes=40000,{UNIFORM},transpositions=true"), seed=1)
    found, solution, seat = search(ending.position), solve(ending.position), ending.position.to_move or 0
    tree = search.tree
    proven = np.flatnonzero(tree.proven[: tree.counters[NODES_USED]])
    exact = np.array([solution.values[solution.number[tree.state[node].tobytes()]] for node in proven])
    assert tree.proven_value[proven] == pytest.approx(exact, abs=1e-6)
    if ending.certain:
        values = solution.decisions(ending.position)
        assert values[found.best.action][seat] == pytest.approx(max(value[seat] for value in values.values()))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_edge_leads_forward_so_no_line_comes_back(players: int) -> None:
    for decisions in (0, 3, 33, 80):
        tree = searched(after(players, decisions), f"sims=2000,{UNIFORM},transpositions=true").tree
        assert all(progress(tree.state[child]) > progress(tree.state[node]) for node, _, child in edges_of(tree))


def test_visits_of_a_shared_node_are_those_of_all_edges_that_lead_to_it() -> None:
    tree = searched(after(2, 60), "sims=4000,transpositions=true").tree
    arrived = np.zeros(tree.counters[NODES_USED], dtype=np.int64)
    several = np.zeros_like(arrived)
    for _, edge, child in edges_of(tree):
        arrived[child] += tree.edge_visits[edge]
        several[child] += 1
    assert (several > 1).sum() > 50
    assert arrived[1:].tolist() == tree.visits[1 : len(arrived)].tolist()


def test_nodes_stay_shared_when_the_tree_is_kept() -> None:
    position = after(3, 90)
    search = Search(parse_options("sims=3000,transpositions=true"), seed=2)
    best = search(position).best
    before = {state.tobytes(): node for node, state in enumerate(search.tree.state[: search.tree.counters[0]])}
    old = search.tree
    search._take_root(position.play(best.action))
    tree = search.tree
    kept = positions_of(tree)
    assert len(set(kept)) == len(kept) > 100 and set(kept) <= set(before)
    assert tree.visits[: len(kept)].tolist() == [int(old.visits[before[key]]) for key in kept]
    below = {child for _, _, child in edges_of(tree)}
    assert below == set(range(1, len(kept)))
    again = search(position.play(best.action))
    assert again.played > 0 and len(set(positions_of(search.tree))) == len(positions_of(search.tree))


def test_two_positions_in_one_slot_stay_two() -> None:
    """A table of two nodes has four slots: some of these share one."""
    tree, value = new_tree(2, 1, shared=True), np.zeros(4)
    for seed in range(20):
        tree.counters[:], tree.table[:] = 0, -1
        one, other = Position.new(2, seed=seed).state.copy(), Position.new(3, seed=seed).state.copy()
        with np.errstate(over="ignore"):  # words wrap around
            assert find_shared(tree, one) == -1
            assert (add_position(tree, one, value), add_position(tree, other, value)) == (0, 1)
            assert (find_shared(tree, one), find_shared(tree, other)) == (0, 1)


def test_the_option_prints_back_and_costs_a_table() -> None:
    assert parse_player("mcts:transpositions=true").name == "mcts:sims=400,transpositions=true"
    assert new_tree(100, 100).table.nbytes == 4 and new_tree(100, 100, shared=True).table.nbytes == 4 * 256
    assert bytes_per_node(0) == 112 + 4 + 2 + 2 + 4 + 4 + 32 + 1 + 16
    assert bytes_per_node(10) - bytes_per_node(0) == 10 * (2 + 4 + 4 + 4 + 8 + 1)
