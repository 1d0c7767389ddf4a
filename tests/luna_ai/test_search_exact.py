"""Small endings solved exactly: counted twice, valued twice, and found by the tree search."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from engine_fast import Position
from engine_fast.position import load_game
from engine_fast.reference import Reference
from luna_ai.search.exact import NotSolved, TooManyPositions, in_order, solve
from luna_ai.search.mcts import Search, SearchResult
from luna_ai.search.options import parse_options
from luna_ai.search.tree import NODES_USED
from tests.luna_ai.endings import ENDINGS, Ending

UNIFORM = "rule=uct,rollout=uniform,rounds=0,sharpness=0,bias=0"
CERTAIN = [ending for ending in ENDINGS if ending.certain]


def named(ending: Ending) -> str:
    return ending.source.replace(" ", "-").replace(",", "")


def searched(position: Position, sims: int, options: str = UNIFORM) -> tuple[Search, SearchResult]:
    search = Search(parse_options(f"sims={sims},nodes={2 * sims},{options}"), seed=7)
    return search, search(position)


class Twin:
    """Exact values by the reference engine, in fractions, by recursion."""

    def __init__(self) -> None:
        game = load_game()
        self.reference = Reference(game.sheet.resolved, game.ruleset.to_json())
        self.known: dict[str, list[Fraction]] = {}

    def value(self, position: Any) -> list[Fraction]:
        key = json.dumps(self.reference.dump(position))
        if key not in self.known:
            self.known[key] = self.compute(position)
        return self.known[key]

    def compute(self, position: Any) -> list[Fraction]:
        if position.phase == "over":
            return [Fraction(rank == 1) for rank in self.reference.result(position)["rank"]]
        after = [self.value(self.reference.play(position, text)) for text in self.reference.legal(position)]
        best = max(value[position.to_move] for value in after)
        tied = [value for value in after if value[position.to_move] == best]
        return [sum(parts, Fraction(0)) / len(tied) for parts in zip(*tied, strict=True)]


def test_the_endings_are_of_all_kinds() -> None:
    assert {ending.position.players for ending in ENDINGS} == {2, 3, 4} and len(ENDINGS) >= 12
    assert max(ending.positions for ending in ENDINGS) > 25_000
    assert any(ending.position.to_json()["pending"] for ending in ENDINGS)
    assert any(ending.value[ending.position.to_move or 0] == 0 for ending in ENDINGS)


@pytest.mark.parametrize("ending", ENDINGS, ids=named)
def test_solutions_are_as_they_were(ending: Ending) -> None:
    solution = solve(ending.position)
    assert len(solution) == ending.positions
    assert solution.value(ending.position)[: ending.position.players] == pytest.approx(ending.value)
    assert solution.values.sum(axis=1) == pytest.approx(np.ones(len(solution)))


@pytest.mark.parametrize("ending", [e for e in ENDINGS if e.positions < 700], ids=named)
def test_the_reference_counts_and_values_the_same(ending: Ending) -> None:
    twin = Twin()
    value = twin.value(twin.reference.load(ending.position.to_json()))
    assert len(twin.known) == ending.positions
    assert [float(part) for part in value] == pytest.approx(ending.value)


def test_too_many_positions_are_refused() -> None:
    with pytest.raises(TooManyPositions, match=r"\d+ positions and more can be reached; allowed: 20"):
        solve(ENDINGS[0].position, limit=20)
    assert len(solve(ENDINGS[0].position, limit=ENDINGS[0].positions)) == ENDINGS[0].positions
    with pytest.raises(TooManyPositions, match="allowed: 3000"):
        solve(Position.new(4, seed=1), limit=3000)


def test_a_position_that_was_not_solved_is_refused() -> None:
    with pytest.raises(NotSolved, match="cannot be reached"):
        solve(ENDINGS[0].position).value(Position.new(2, seed=1))


def test_a_position_that_comes_back_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="comes back"):
        in_order(np.array([0, 1, 2]), np.array([1, 0]))


@pytest.mark.parametrize("ending", CERTAIN, ids=named)
def test_the_search_finds_a_best_decision_and_the_exact_value(ending: Ending) -> None:
    position, seat = ending.position, ending.position.to_move or 0
    _, found = searched(position, 20_000)
    exact = solve(position).decisions(position)
    assert exact[found.best.action][seat] == pytest.approx(max(value[seat] for value in exact.values()))
    assert found.values[: position.players] == pytest.approx(ending.value, abs=0.02)


@pytest.mark.parametrize("ending", ENDINGS, ids=named)
@pytest.mark.parametrize("options", [UNIFORM, "rollout=greedy"])
def test_whatever_the_search_has_proven_is_exact(ending: Ending, options: str) -> None:
    search, found = searched(ending.position, 3_000, options)
    tree, solution = search.tree, solve(ending.position)
    proven = np.flatnonzero(tree.proven[: tree.counters[NODES_USED]])
    exact = np.array([solution.values[solution.number[tree.state[node].tobytes()]] for node in proven])
    assert len(proven) >= 1
    assert tree.proven_value[proven] == pytest.approx(exact, abs=1e-6)
    if found.proven:
        assert found.values == pytest.approx(solution.value(ending.position), abs=1e-6)


def test_some_losses_are_proven_with_the_mean_of_what_the_others_get() -> None:
    lost = [ending for ending in ENDINGS if ending.value[ending.position.to_move or 0] == 0 and max(ending.value) < 1]
    results = [(ending, searched(ending.position, 20_000)[1]) for ending in lost]
    proven = [(ending, found) for ending, found in results if found.proven]
    assert len(proven) >= 2
    for ending, found in proven:
        assert found.values[: ending.position.players] == pytest.approx(ending.value, abs=1e-6)
