"""Names of players, and players as Python objects."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine_fast import Position
from luna_ai.players import CODES, PlayerSpec, UnknownPlayer, make_player, parse_player, parse_table


@pytest.mark.parametrize("name", CODES)
def test_a_name_prints_back_in_full(name):
    spec = parse_player(name)
    assert str(spec) == spec.name == name
    assert parse_player(spec.name) == spec


def test_codes_are_a_row_without_gaps():
    assert sorted(CODES.values()) == list(range(len(CODES)))


@pytest.mark.parametrize("name", ["", "Random", "strategy", "strategy:", "strategy:nobody", "greedy ", "mcts:"])
def test_an_unknown_name_is_refused_in_one_line_with_the_allowed_names(name):
    with pytest.raises(UnknownPlayer) as refused:
        parse_player(name)
    message = str(refused.value)
    assert repr(name) in message
    assert "\n" not in message
    assert all(known in message for known in CODES)


def test_one_name_fills_all_seats():
    assert parse_table(["greedy"], 3) == (parse_player("greedy"),) * 3


def test_several_names_are_seats():
    assert [spec.name for spec in parse_table(["random", "greedy"], 2)] == ["random", "greedy"]


@pytest.mark.parametrize("names", [[], ["random", "random"], ["random"] * 4])
def test_a_table_needs_one_name_or_one_a_seat(names):
    with pytest.raises(UnknownPlayer, match=r"allowed: 1 \(fills all seats\) or 3"):
        parse_table(names, 3)


def test_importing_players_loads_no_numba():
    code = "import sys, luna_ai.players; sys.exit(bool({'numba', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_players_choose_legal_decisions_and_the_same_seed_the_same_game():
    games = []
    for _ in range(2):
        players = [make_player("random", seed=1), make_player(parse_player("greedy"))]
        position, decisions = Position.new(2, seed=5), []
        while not position.over:
            assert position.to_move is not None
            decisions.append(players[position.to_move].choose(position))
            position = position.play(decisions[-1])
        games.append(decisions)
    assert games[0] == games[1]
    with pytest.raises(ValueError, match="the game is over"):
        players[0].choose(position)


def test_a_spec_is_frozen():
    spec = PlayerSpec("random", 0)
    with pytest.raises(AttributeError):
        spec.code = 1  # type: ignore[misc]
