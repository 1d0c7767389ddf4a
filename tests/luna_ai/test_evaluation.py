"""The current network against bots, on the same deals every time."""

from __future__ import annotations

import numpy as np
import pytest

from engine_fast.layout import columns
from engine_fast.position import load_game
from luna_ai.evaluation import Evaluation, evaluation_plan
from luna_ai.game_plans import SELF
from luna_ai.players import CODES
from luna_ai.search.evaluators import PlayoutEvaluator, UniformEvaluator
from luna_ai.training_config import TrainingConfig

GAME = load_game()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_deal_is_played_with_every_starter(players: int):
    plan = evaluation_plan(GAME, players, "greedy", 3, seed=1)
    assert plan.codes[:, :players].tolist() == [[SELF] + [CODES["greedy"]] * (players - 1)] * 3 * players
    assert columns(plan.state, "start_player").tolist() == list(range(players)) * 3
    for name in ("ring", "board_order", "priestess"):
        blocks = columns(plan.state, name).reshape(3, players, -1)
        assert (blocks == blocks[:, :1]).all()
    assert len(np.unique(columns(plan.state, "ring"), axis=0)) == 3
    assert len(np.unique(plan.search)) == plan.search.size


def test_shares_and_intervals():
    config = TrainingConfig(anchors=("random",), evaluate_deals=4, evaluate_sims=24, shares=(1.0, 0.0, 1.0))
    evaluation = Evaluation(config, GAME)
    found = evaluation(PlayoutEvaluator(playouts=8))
    assert [(each.anchor, each.players, each.games) for each in found] == [("random", 2, 8), ("random", 4, 16)]
    for each in found:
        assert 0 <= each.low <= each.share <= each.high <= 1
        assert np.mean(each.by_position) == pytest.approx(each.share)
        assert len(each.by_position) == each.players
    assert found[0].share > 0.7  # playouts beat random play
    assert evaluation(PlayoutEvaluator(playouts=8)) == found
    weaker = evaluation(UniformEvaluator())
    assert sum(each.share for each in weaker) < sum(each.share for each in found)
    assert evaluation(UniformEvaluator(), stop=lambda: True) == []
    for each in found:
        assert np.shape(each.places) == (4, each.players)
        assert np.mean(np.array(each.places) == 1) == each.share


def test_the_network_before_sits_at_the_other_seats():
    config = TrainingConfig(anchors=("random",), evaluate_deals=6, evaluate_sims=24, shares=(1.0, 0.0, 0.0))
    evaluation = Evaluation(config, GAME)
    strong, weak = PlayoutEvaluator(playouts=8), UniformEvaluator()
    ahead, behind = (evaluation(one, other)[-1] for one, other in ((strong, weak), (weak, strong)))
    assert (ahead.anchor, ahead.games, behind.anchor) == ("previous", 12, "previous")
    assert ahead.share > 0.7 > 0.3 > behind.share
