"""The guard of fast backends: which positions, which figures, what is used, the same again after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine_fast.layout import columns
from luna_ai import backend_guard
from luna_ai.backend_guard import Agreement, GuardedEvaluator, Verdict, agreement, chosen, resolved, stratified
from luna_ai.config import UserError
from luna_ai.evaluator import EvaluatorError, NetworkEvaluator, TorchAnswer
from luna_ai.losses import unpack_masks
from luna_ai.network import NetworkConfig, make_network
from luna_ai.search.evaluators import Batch, new_batch
from luna_ai.train import train
from luna_ai.training_config import TrainingConfig
from tests.luna_ai.test_evaluator import ATTENTION, RESIDUAL, lively, positions
from tests.luna_ai.walks import states_of

STATES = states_of(list(positions()))
RULES = positions()[0].game.rules


@pytest.mark.parametrize("count", [1, 7, 30, 99, 100, 500])
def test_kinds_have_equal_shares_as_far_as_they_go(count: int):
    kinds = np.random.default_rng(1).permutation(np.repeat([5, 6, 7], [10, 30, 60]))
    rows = stratified(kinds, count)
    assert len(rows) == len(set(rows.tolist())) == min(count, 100)
    assert (np.diff(rows) > 0).all()
    shares = [int((kinds[rows] == kind).sum()) for kind in (5, 6, 7)]
    expected = {1: [0, 0, 1], 7: [2, 2, 3], 30: [10, 10, 10], 99: [10, 30, 59]}.get(count, [10, 30, 60])
    assert shares == expected


def test_rows_of_a_kind_are_spread_over_all_of_them():
    assert stratified(np.zeros(100, dtype=np.int64), 4).tolist() == [0, 25, 50, 75]
    assert stratified(np.zeros(0, dtype=np.int64), 4).tolist() == []


def test_positions_are_chosen_by_players_and_rounds_among_the_newest(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(backend_guard, "POSITIONS", 36)
    some = chosen(STATES)
    assert len(some) == 36
    pairs = set(zip(columns(some, "players").tolist(), columns(some, "round").tolist(), strict=True))
    assert pairs == set(zip(columns(STATES, "players").tolist(), columns(STATES, "round").tolist(), strict=True))
    monkeypatch.setattr(backend_guard, "RECENT", 40)
    assert {row.tobytes() for row in chosen(STATES)} <= {row.tobytes() for row in STATES[-40:]}


class Fixed:
    """Says the same of every position."""

    name = "fixed"

    def __init__(self, logits: dict[int, float], values: tuple[float, ...]) -> None:
        self.logits, self.values = logits, values

    def evaluate(self, batch: Batch) -> None:
        batch.logits[:] = -100.0
        for action, logit in self.logits.items():
            batch.logits[:, action] = logit
        batch.values[:] = self.values


def test_the_figures_by_hand():
    state = next(s for s in STATES if columns(s.reshape(1, -1), "players")[0] == 3).reshape(1, -1)
    legal = np.flatnonzero(unpack_masks(new_batch(state, RULES).masks)[0])
    a, b = int(legal[0]), int(legal[-1])
    exact = Fixed({a: np.log(0.75), b: np.log(0.25)}, (0.5, 0.3, 0.2, 0.0))
    other = Fixed({a: np.log(0.25) + 3, b: np.log(0.75) + 3}, (0.44, 0.33, 0.23, 0.9))
    found = agreement(exact, other, np.repeat(state, 3, axis=0), RULES)
    assert found.positions == 3
    assert found.kl == pytest.approx(0.5 * np.log(3), rel=1e-5)
    assert found.value_error == pytest.approx(0.04, rel=1e-5)
    assert found.top1 == 0.0
    assert agreement(exact, exact, state, RULES) == Agreement(1, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("figures", "good"),
    [
        ((9, 0.01, 0.005, 0.98), True),
        ((9, 0.0101, 0.005, 0.98), False),
        ((9, 0.01, 0.0051, 0.98), False),
        ((9, 0.01, 0.005, 0.979), False),
        ((0, 0.0, 0.0, 1.0), False),
        ((9, float("nan"), 0.0, 1.0), False),
    ],
)
def test_all_limits_count(figures: Any, good: bool):
    assert Agreement(*figures).good is good


def test_a_network_that_rounds_well_is_evaluated_in_eight_bits():
    guard = GuardedEvaluator("int8", lively(RESIDUAL[0]), RULES)
    evaluator = guard.publish(network := make_network(RESIDUAL[0], seed=3), STATES)
    assert guard.verdict is not None
    assert evaluator.backend == guard.verdict.used == "int8"
    assert guard.verdict.line is None
    assert guard.verdict.scalars()["backend/int8"] == 1.0
    assert set(guard.verdict.scalars()) == {"backend/int8", "backend/kl", "backend/value_error", "backend/top1"}
    expected, batch = new_batch(STATES, RULES), new_batch(STATES, RULES)
    NetworkEvaluator(network, "int8").evaluate(expected)
    evaluator.evaluate(batch)
    assert (batch.values == expected.values).all(), "the new version, not the first"


def badly_rounded() -> Any:
    """A network with an output of its last block so large that all others of its inputs are rounded to 0."""
    network = lively(RESIDUAL[0])
    with torch.no_grad():
        network.get_parameter("stem.bias")[0] = 3000.0
        network.get_parameter("blocks.0.norm.weight").mul_(2000.0)
        network.get_parameter("blocks.0.norm.weight")[0] = 0.0
    return network


def test_a_network_that_rounds_badly_is_evaluated_in_float32_and_the_next_is_not():
    guard = GuardedEvaluator("int8", lively(RESIDUAL[0]), RULES)
    assert guard.publish(badly_rounded(), STATES).backend == "numba"
    assert guard.verdict is not None and guard.verdict.agreement is not None
    assert guard.verdict.line == f"backend numba instead of int8 for this version: {guard.verdict.agreement}"
    assert "(at most 0.01), value error" in guard.verdict.line
    assert guard.verdict.scalars()["backend/int8"] == 0.0
    assert guard.publish(make_network(RESIDUAL[0], seed=3), STATES).backend == "int8"


def test_the_verdict_follows_from_network_and_positions():
    first, again = (GuardedEvaluator("int8", lively(RESIDUAL[1]), RULES) for _ in range(2))
    first.publish(badly_rounded(), STATES[:50])
    first.publish(lively(RESIDUAL[0]), STATES)
    again.publish(lively(RESIDUAL[0]), STATES.copy())
    assert first.verdict == again.verdict
    assert first.verdict is not None and first.verdict.agreement is not None
    assert first.verdict.agreement.positions == len(STATES)


def test_without_positions_there_is_no_eight_bit_version():
    guard = GuardedEvaluator("int8", lively(RESIDUAL[0]), RULES)
    assert guard.publish(lively(RESIDUAL[0]), STATES[:0]).backend == "numba"
    assert guard.verdict is not None
    assert guard.verdict.line is not None and guard.verdict.line.endswith("no positions to compare them on yet")
    assert guard.verdict.scalars() == {"backend/int8": 0.0}


@pytest.mark.parametrize(("backend", "config"), [("numba", RESIDUAL[0]), ("torch", RESIDUAL[0]), ("auto", ATTENTION)])
def test_backends_that_do_not_round_are_not_compared(backend: str, config: NetworkConfig):
    guard = GuardedEvaluator(backend, lively(config), RULES)
    used = guard.publish(lively(config), STATES).backend
    assert guard.verdict == Verdict(used, used)
    assert guard.verdict.line is None


def test_auto_is_the_fastest_of_this_processor(monkeypatch: pytest.MonkeyPatch):
    network = make_network(RESIDUAL[0], seed=0)
    for found, expected in ((True, "int8"), (False, "numba")):
        monkeypatch.setattr(backend_guard, "has_vnni", lambda context, found=found: found)
        assert resolved("auto", network) == expected
    assert resolved("auto", make_network(ATTENTION, seed=0)) == "torch"
    with pytest.raises(EvaluatorError, match="backend 'onnx' is unknown; allowed: auto, numba, int8, torch, cuda"):
        GuardedEvaluator("onnx", network, RULES)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_cuda_is_refused_in_one_line_where_there_is_none():
    for make in (lambda n: NetworkEvaluator(n, "cuda"), lambda n: GuardedEvaluator("cuda", n, RULES)):
        with pytest.raises(EvaluatorError) as refused:
            make(make_network(RESIDUAL[0], seed=0))
        line = "backend cuda: torch finds no CUDA on this machine; allowed: numba, int8, torch"
        assert str(refused.value) == line


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("config", [RESIDUAL[0], ATTENTION], ids=lambda config: config.kind)
def test_half_precision_is_near_float32(config: NetworkConfig, precision: torch.dtype):
    """What `cuda` does, on the processor."""
    network = lively(config)
    exact, half = new_batch(STATES, RULES), new_batch(STATES, RULES)
    NetworkEvaluator(network, "torch").evaluate(exact)
    TorchAnswer(network, "cpu", precision)(half)
    assert half.values.sum(axis=1) == pytest.approx(1.0, abs=1e-5), "probabilities are made in float32"
    assert 0 < np.abs(exact.values - half.values).max() < (0.02 if precision is torch.float16 else 0.1)
    assert np.abs(exact.logits - half.logits).max() < (0.05 if precision is torch.float16 else 0.4)


def test_a_training_tells_what_evaluates_its_networks(tmp_path: Path):
    tiny = TrainingConfig(
        steps=2, games=2, slots=2, sims=2, fast_sims=1, width=8, blocks=1, batch=32, evaluate_every=0, window=200,
        warmup=1, backend="int8",
    )  # fmt: skip
    said: list[str] = []
    run = train(tiny, tmp_path, say=said.append)
    assert any(line.endswith("no positions to compare them on yet") for line in said), "the first games"
    verdict = run.crew.verdict
    assert verdict is not None and verdict.agreement is not None
    assert verdict.used == "int8"
    assert 100 < verdict.agreement.positions < 4096
    with pytest.raises(UserError, match="backend int8 evaluates no attention networks; allowed: auto, torch, cuda"):
        replace(tiny, kind="attention").check()
