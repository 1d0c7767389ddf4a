"""More simulations are never significantly worse: matches of each search with more against itself with fewer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from engine_fast import Position
from engine_fast.layout import columns
from luna_ai.players import make_player
from luna_ai.search.evaluators import PlayoutEvaluator
from luna_ai.search.network_search import NetworkOptions, NetworkSearch
from luna_ai.stats import holm

LADDER = (4, 32)
GAMES = 24


def choices(search: NetworkSearch, positions: list[Position]) -> NDArray[np.int64]:
    """What a search decides in each position; those that are over are replaced by one that is not."""
    going = next(position for position in positions if not position.over)
    states = np.array([(going if position.over else position).state for position in positions])
    return search(states, positions[0].game.rules).chosen


def evaluator_match(rule: str, players: int, more: int, fewer: int, seed: int) -> int:
    """Games won by one seat that searches more, among seats that search less; it takes every seat in turn."""
    positions = [Position.new(players, seed=seed + game // players) for game in range(GAMES)]
    strong = np.arange(GAMES) % players
    searches = [
        NetworkSearch(NetworkOptions(rule=rule, sims=sims, gumbel_scale=0.0), PlayoutEvaluator(1, seed), GAMES, seed)
        for sims in (fewer, more)
    ]
    while not all(position.over for position in positions):
        weak_choice, strong_choice = (choices(search, positions) for search in searches)
        movers = columns(np.array([position.state for position in positions]), "to_move")
        chosen = np.where(movers == strong, strong_choice, weak_choice)
        positions = [p if p.over else p.play(int(action)) for p, action in zip(positions, chosen, strict=True)]
    return sum(position.ranking[seat] == 1 for position, seat in zip(positions, strong, strict=True))


def rollout_match(players: int, more: int, fewer: int, seed: int) -> int:
    """The same for `mcts:`."""
    won = 0
    for game in range(GAMES):
        position, strong = Position.new(players, seed=seed + game // players), game % players
        table: list[Any] = [make_player(f"mcts:sims={more if s == strong else fewer}", game) for s in range(players)]
        while (seat := position.to_move) is not None:
            position = position.play(table[seat].choose(position))
        won += position.ranking[strong] == 1
    return won


def worse(won: int, players: int) -> float:
    """p-value of "wins less than an equal share", as if all games were independent."""
    return float(binomtest(won, GAMES, 1 / players, alternative="less").pvalue)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["gumbel", "puct"])
def test_more_simulations_with_an_evaluator_are_never_worse(rule: str) -> None:
    found = {
        (players, fewer, more): evaluator_match(rule, players, more, fewer, seed=100 * players)
        for players in (2, 3, 4)
        for fewer, more in pairwise(LADDER)
    }
    p_values = holm([worse(won, players) for (players, _, _), won in found.items()])
    assert min(p_values) > 0.05, found
    assert sum(found.values()) / GAMES > 1.25 * sum(1 / players for players, _, _ in found), found


@pytest.mark.slow
def test_more_simulations_of_mcts_are_never_worse() -> None:
    found = {
        (players, fewer, more): rollout_match(players, more, fewer, seed=100 * players)
        for players in (2, 3, 4)
        for fewer, more in pairwise(LADDER)
    }
    p_values = holm([worse(won, players) for (players, _, _), won in found.items()])
    assert min(p_values) > 0.05, found
    assert sum(found.values()) / GAMES > 1.25 * sum(1 / players for players, _, _ in found), found
