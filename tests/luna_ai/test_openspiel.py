"""Luna as a game of OpenSpiel: what its users rely on, against the engine. Only where pyspiel can be imported."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

import luna_ai.adapters.openspiel as adapter  # noqa: E402
from engine_fast.actions import NUM_ACTIONS  # noqa: E402
from engine_fast.notation import notation_of  # noqa: E402
from engine_fast.position import Position, SetupError  # noqa: E402


def load(players: int = 3, seed: int = 5, **more):
    return pyspiel.load_game("luna", {"players": players, "seed": seed, **more})


def play_random(state, chance: np.random.Generator, decisions: int = 10_000):
    """Plays random decisions; yields before each."""
    for _ in range(decisions):
        if state.is_terminal():
            return
        legal = state.legal_actions()
        action = int(chance.choice(legal))
        yield legal, action
        state.apply_action(action)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_equal_the_engines(players: int):
    chance = np.random.default_rng(players)
    for seed in range(3):
        state = load(players, seed).new_initial_state()
        position = Position.new(players, seed=seed)
        for legal, action in play_random(state, chance):
            assert state.position == position
            assert state.current_player() == position.to_move
            assert legal == position.legal_ids()
            assert state.action_to_string(action) == notation_of(action)
            assert state.returns() == state.rewards() == [0.0] * players
            position = position.play(action)
        assert state.position == position
        assert position.over
        assert state.current_player() == pyspiel.PlayerId.TERMINAL
        assert state.legal_actions() == []
        winner = position.ranking.index(1)
        others = -1.0 / (players - 1)
        assert state.returns() == [1.0 if seat == winner else others for seat in range(players)]
        assert state.rewards() == state.returns()
        assert sum(state.returns()) == pytest.approx(0.0)
        assert len(state.history()) <= state.get_game().max_game_length()


def test_parameters_choose_the_deal():
    game = load(4, 9, start_player=2, setup="preselected", ruleset="online")
    expected = Position.new(4, setup="preselected", seed=9, ruleset="online", start_player=2)
    state = game.new_initial_state()
    assert state.position == expected
    assert state.current_player() == expected.to_move
    assert game.num_players() == 4
    assert game.num_distinct_actions() == NUM_ACTIONS
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (pytest.approx(-1 / 3), 1.0, 0.0)
    assert pyspiel.load_game("luna").new_initial_state().position == Position.new(3, seed=0)


@pytest.mark.parametrize(("name", "value"), [("players", 5), ("seed", -1), ("start_player", 3), ("setup", "odd")])
def test_parameters_that_are_not_allowed(name: str, value: Any):
    with pytest.raises(SetupError, match=name):
        load(**{name: value})


def test_clones_do_not_share_their_position():
    state = load().new_initial_state()
    clone = state.clone()
    before = state.row.copy()
    clone.apply_action(clone.legal_actions()[0])
    assert np.array_equal(state.row, before)
    assert not np.array_equal(clone.row, before)
    assert state.history() == []
    assert clone.table is state.table
    child = state.child(state.legal_actions()[0])
    assert child.position == clone.position


def test_states_survive_serialisation_and_pickling():
    game = load(4, 3, ruleset="online")
    state = game.new_initial_state()
    for _ in play_random(state, np.random.default_rng(1), decisions=40):
        pass
    same_game, same = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert str(same_game) == str(game)
    for copy in (same, pickle.loads(pickle.dumps(state))):
        assert copy.position == state.position
        assert copy.history() == state.history()
        assert copy.legal_actions() == state.legal_actions()
        copy.apply_action(copy.legal_actions()[-1])
        assert copy.position != state.position


def test_a_position_can_be_given():
    position = Position.new(2, seed=4)
    for _ in range(30):
        position = position.play(position.legal()[0])
    state = load(2, 4).new_initial_state(position.to_json())
    assert state.position == position
    assert state.observation_string(0) == str(state) == str(position)


def test_legality_is_checked_on_request():
    state = load().new_initial_state()
    illegal = next(action for action in range(NUM_ACTIONS) if action not in state.legal_actions())
    with pytest.raises(pyspiel.SpielError, match="illegal action"):
        state.apply_action_with_legality_check(illegal)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_openspiels_search_plays_it(players: int):
    """Returns reach its nodes as vectors: a root's children share out the simulations."""
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

    game = load(players)
    evaluator = RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = MCTSBot(game, 1.0, 12, evaluator, random_state=np.random.RandomState(1))
    state = game.new_initial_state()
    root = bot.mcts_search(state)
    assert sorted(child.action for child in root.children) == state.legal_actions()
    assert sum(child.explore_count for child in root.children) == 11
    assert {child.player for child in root.children} == {state.current_player()}
    values = (1.0, -1.0 / (players - 1))
    ones = [child for child in root.children if child.explore_count == 1]
    assert ones
    assert all(any(child.total_reward == pytest.approx(value) for value in values) for child in ones)
    assert bot.step(state) in state.legal_actions()


def test_a_search_next_to_the_end_sees_the_result():
    """One decision before the end the search proves the results and plays the best for the seat that decides."""
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

    state = load(3, 8).new_initial_state()
    before = state.clone()
    for _ in play_random(state, np.random.default_rng(8)):
        before = state.clone()
    results = [before.child(action).returns() for action in before.legal_actions()]
    bot = MCTSBot(load(3, 8), 1.0, 100, RandomRolloutEvaluator(1, np.random.RandomState(1)))
    chosen = before.child(bot.step(before)).returns()
    seat = before.current_player()
    assert chosen[seat] == max(result[seat] for result in results)


def test_importing_registers_the_game():
    assert adapter.GAME_TYPE.short_name in pyspiel.registered_names()
