"""Batches, the learning rate, and that the learner learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine_fast.layout import MAX_PLAYERS, columns
from engine_fast.position import load_game
from luna_ai.features import features_of
from luna_ai.game_plans import plan_games
from luna_ai.learner import Learner, batch_of, learning_rate
from luna_ai.network import MARGIN_UNIT, NetworkConfig, make_network
from luna_ai.samples import Samples, taken
from luna_ai.search.evaluators import HashEvaluator
from luna_ai.selfplay import SelfPlay
from luna_ai.training_config import LearnerOptions, SelfPlayOptions

GAME = load_game()


@pytest.fixture(scope="module")
def samples() -> Samples:
    options = SelfPlayOptions(sims=4, fast_sims=2, bot_share=0.0, past_share=0.0)
    found = SelfPlay(options, GAME, 6).play(plan_games(options, GAME, 1, 0, 0, 6), HashEvaluator())
    assert found is not None
    return found.samples


def test_a_batch_stands_in_the_order_of_the_mover(samples: Samples):
    batch = batch_of(samples, GAME.rules, root_share=0.25)
    targets = batch.targets
    assert np.array_equal(batch.features.numpy(), features_of(samples.state, GAME.rules))
    assert targets.sources is not None
    mover, players = columns(samples.state, "to_move"), columns(samples.state, "players")
    for row in range(0, len(mover), 53):
        for place in range(MAX_PLAYERS):
            seat = (mover[row] + place) % players[row] if place < players[row] else place
            mixed = 0.75 * samples.win[row, seat] + 0.25 * samples.root[row, seat]
            assert float(targets.win[row, place]) == pytest.approx(mixed, abs=1e-6)
            assert bool(targets.present[row, place]) == (place < players[row])
            assert float(targets.margin[row, place]) * MARGIN_UNIT == pytest.approx(samples.margin[row, seat], abs=1e-4)
            wanted = samples.sources[row, seat].tolist()
            assert (targets.sources[row, place] * MARGIN_UNIT).tolist() == pytest.approx(wanted, abs=1e-4)
    assert torch.equal(targets.policy.sum(dim=1) > 0.5, targets.policy_weight > 0)
    assert not targets.policy[~targets.legal].any()
    assert (targets.legal.sum(dim=1) > 1).all()


def test_the_learning_rate_rises_and_falls():
    options = LearnerOptions(learning_rate=1.0, final_rate=0.1, warmup=3)
    rates = [learning_rate(options, step, 24) for step in range(24)]
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[3:] == sorted(rates[3:], reverse=True)
    assert rates[13] == pytest.approx(0.55)  # half way down
    assert rates[-1] == pytest.approx(0.1)
    assert learning_rate(options, 100, 24) == pytest.approx(0.1)
    assert learning_rate(LearnerOptions(learning_rate=1.0, warmup=0), 0, 1) == 1.0


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_few_samples_are_learned_by_heart(samples: Samples, precision: str):
    options = LearnerOptions(learning_rate=3e-3, warmup=0, final_rate=1.0, weight_decay=0.0, root_share=0.0)
    options = replace(options, precision="bfloat16" if precision == "bfloat16" else "float32")
    learner = Learner(make_network(NetworkConfig(width=64, blocks=1), seed=1), options, GAME.rules, steps=1)
    few = taken(samples, np.flatnonzero(samples.policy_size > 0)[:32])
    entropy = -(few.policy * np.log(few.policy)).sum() / 32
    before = learner.learn(lambda count: few, 1, 0)
    learner.learn(lambda count: few, 150, 0)
    later = learner.learn(lambda count: few, 1, 0)
    assert before.win > 0.6
    assert later.win < 0.1
    assert later.policy - entropy < 0.2 < before.policy - entropy
    assert later.margin < 0.1 * before.margin
    assert learner.updates == 152
    assert later.learning_rate == 3e-3


def test_no_update_changes_nothing(samples: Samples):
    learner = Learner(make_network(NetworkConfig(width=8, blocks=0), seed=1), LearnerOptions(), GAME.rules, steps=1)
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    learned = learner.learn(lambda count: samples, 0, 0)
    assert learned.updates == 0
    assert np.isnan(learned.total)
    assert all(torch.equal(value, before[name]) for name, value in learner.network.state_dict().items())


def test_the_norm_of_a_gradient_is_bounded(samples: Samples):
    """Adam hides the scale of gradients from its steps, so the gradients themselves are looked at."""
    options = LearnerOptions(clip=1e-3)
    learner = Learner(make_network(NetworkConfig(width=8, blocks=0), seed=1), options, GAME.rules, steps=1)
    learned = learner.learn(lambda count: samples, 1, 0)
    norms = [float(p.grad.norm()) for p in learner.network.parameters() if p.grad is not None]
    assert learned.gradient_norm > 1e-2
    assert sum(norm**2 for norm in norms) ** 0.5 <= 1.001e-3
