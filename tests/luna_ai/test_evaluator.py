"""The network's evaluator: backends agree, rows do not depend on each other, seats have no names, searches run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine_fast import Position
from engine_fast.layout import columns
from luna_ai.checkpoint import write_checkpoint
from luna_ai.evaluator import EvaluatorError, NetworkEvaluator
from luna_ai.learning import matrix, residual_kernel
from luna_ai.losses import unpack_masks
from luna_ai.network import Network, NetworkConfig, ResidualNetwork, make_network
from luna_ai.search.evaluators import new_batch
from luna_ai.search.network_search import NetworkOptions, NetworkSearch
from tests.engine_fast.test_laws import rotated_seats
from tests.luna_ai.walks import random_game, states_of

ROOT = Path(__file__).parents[2]
RESIDUAL = [
    NetworkConfig("residual", 128, 2),
    NetworkConfig("residual", 96, 1, hidden=40),
    NetworkConfig("residual", 64, 0),
]
ATTENTION = NetworkConfig("attention", 32, 1)
Answers = tuple[NDArray[np.float32], NDArray[np.float32]]


@pytest.fixture(scope="module", autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@cache
def positions() -> tuple[Position, ...]:
    return tuple(p for n in (2, 3, 4) for p in random_game(Position.new(n, seed=n), n)[::3])


def lively(config: NetworkConfig) -> Network:
    """A network whose heads, norms and blocks are all far from where they start."""
    network = make_network(config, seed=1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return network


def answers(evaluator: NetworkEvaluator, some: list[Position]) -> Answers:
    states = states_of(some)
    batch = new_batch(states, some[0].game.rules)
    batch.logits[:] = batch.values[:] = 7.0
    evaluator.evaluate(batch)
    return np.where(unpack_masks(batch.masks), batch.logits, 0.0), batch.values


@pytest.mark.parametrize("config", RESIDUAL, ids=lambda config: f"{config.width}x{config.blocks}")
def test_backends_agree(config: NetworkConfig):
    network, some = lively(config), list(positions())
    kernel, check = (answers(NetworkEvaluator(network, backend), some) for backend in ("numba", "torch"))
    assert np.abs(kernel[0]).max() > 0.5
    assert kernel[0] == pytest.approx(check[0], abs=1e-4)
    assert kernel[1] == pytest.approx(check[1], abs=1e-4)


@pytest.mark.parametrize("backend", ["numba", "int8", "torch"])
def test_values_are_probabilities_of_present_seats(backend: str):
    some = list(positions())
    _, values = answers(NetworkEvaluator(lively(RESIDUAL[0]), backend), some)
    absent = np.arange(4) >= columns(states_of(some), "players")[:, None]
    assert (values[absent] == 0).all()
    assert values.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.ptp(values[~absent]) > 0.2


@pytest.mark.parametrize("backend", ["numba", "int8"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 63, 64, 65, 130])
def test_a_row_of_the_kernels_does_not_depend_on_its_neighbours(size: int, backend: str):
    """To the last bit, in every place of a tile and of a chunk."""
    evaluator = NetworkEvaluator(lively(RESIDUAL[1]), backend)
    logits, values = answers(evaluator, list(positions())[:130])
    for start in range(0, 130 - size + 1, max(1, size // 2)):
        own = answers(evaluator, list(positions())[start : start + size])
        assert (own[0] == logits[start : start + size]).all()
        assert (own[1] == values[start : start + size]).all()


@pytest.mark.parametrize("config", [RESIDUAL[0], ATTENTION], ids=lambda config: config.kind)
def test_a_row_of_torch_depends_on_its_neighbours_by_rounding_only(config: NetworkConfig):
    evaluator = NetworkEvaluator(lively(config), "torch")
    logits, values = answers(evaluator, list(positions()))
    for index in range(0, len(logits), 23):
        own = answers(evaluator, [positions()[index]])
        assert own[0][0] == pytest.approx(logits[index], abs=1e-4)
        assert own[1][0] == pytest.approx(values[index], abs=1e-5)


@pytest.mark.parametrize(
    ("config", "backend"), [(RESIDUAL[0], "numba"), (RESIDUAL[0], "int8"), (RESIDUAL[0], "torch"), (ATTENTION, "torch")]
)
def test_rotating_the_seats_rotates_the_values(config: NetworkConfig, backend: str):
    evaluator = NetworkEvaluator(lively(config), backend)
    for position in positions()[::11]:
        logits, values = answers(evaluator, [position])
        for by in range(1, position.players):
            other = Position.from_json(rotated_seats(position.to_json(), by))
            turned = answers(evaluator, [other])
            assert (turned[0] == logits).all()
            expected = [values[0, (seat - by) % position.players] for seat in range(position.players)]
            assert turned[1][0, : position.players].tolist() == expected


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_search_with_it_runs_and_rotates_with_the_seats(players: int):
    evaluator = NetworkEvaluator(lively(RESIDUAL[0]))
    game = random_game(Position.new(players, seed=players), 3)
    start = next(position for position in game[40:] if len(position.legal_ids()) > 8)
    other = Position.from_json(rotated_seats(start.to_json(), 1))
    search = NetworkSearch(NetworkOptions(sims=40, gumbel_scale=0.0), evaluator, games=2, seed=1)
    found = search(states_of([start, other]), start.game.rules)
    assert found.visits[0].sum() == 40
    assert (found.visits[0] == found.visits[1]).all()
    assert found.chosen[0] == found.chosen[1]
    turned = [found.root_values[0, (seat - 1) % players] for seat in range(players)]
    assert found.root_values[1, :players].tolist() == pytest.approx(turned, abs=1e-6)


def test_a_network_from_a_file_and_the_same_network_answer_alike(tmp_path: Path):
    network = lively(RESIDUAL[0])
    write_checkpoint(tmp_path / "a.pt", network)
    some = list(positions())[:10]
    read = answers(NetworkEvaluator(str(tmp_path / "a.pt")), some)
    given = answers(NetworkEvaluator(network), some)
    assert all((a == b).all() for a, b in zip(read, given, strict=True))


@pytest.mark.parametrize("backend", ["numba", "int8", "torch"])
def test_weights_are_copied_until_updated(backend: str):
    network, some = lively(RESIDUAL[0]), list(positions())[:5]
    evaluator = NetworkEvaluator(network, backend)
    before = answers(evaluator, some)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5)
    assert (answers(evaluator, some)[0] == before[0]).all()
    evaluator.update(network)
    assert (answers(evaluator, some)[0] != before[0]).any()


def test_the_fastest_backend_is_chosen_and_others_are_refused():
    assert NetworkEvaluator(make_network(RESIDUAL[0], seed=0)).backend == "numba"
    assert NetworkEvaluator(make_network(ATTENTION, seed=0)).backend == "torch"
    with pytest.raises(EvaluatorError, match="backend 'onnx' is unknown; allowed: numba, int8, torch, cuda"):
        NetworkEvaluator(make_network(RESIDUAL[0], seed=0), "onnx")
    for backend in ("numba", "int8"):
        with pytest.raises(
            EvaluatorError, match=f"{backend} evaluates residual networks; allowed for attention: torch"
        ):
            NetworkEvaluator(make_network(ATTENTION, seed=0), backend)


def test_making_an_evaluator_draws_nothing():
    network = make_network(RESIDUAL[0], seed=0)
    before = torch.get_rng_state()
    NetworkEvaluator(network, "torch")
    assert (torch.get_rng_state() == before).all()


def test_the_kernel_has_one_signature():
    for config in RESIDUAL[:2]:
        for some in (list(positions())[:1], list(positions())[:70]):
            answers(NetworkEvaluator(lively(config), "numba"), some)
    assert len(getattr(residual_kernel.evaluate_rows, "signatures", [0])) == 1


def test_epsilon_and_sizes_are_those_of_the_network():
    network = make_network(NetworkConfig(), seed=0)
    assert isinstance(network, ResidualNetwork)
    assert network.norm.eps == pytest.approx(float(residual_kernel.NORM_EPSILON))
    assert [matrix.padded(size) for size in (1, 64, 65, 256)] == [64, 64, 128, 256]


def test_panels_by_hand():
    weights = np.arange(70 * 3, dtype=np.float32).reshape(70, 3)
    flat = matrix.panels(weights, 4)
    assert flat.shape == (128 * 4,)
    assert flat[2 * 64 + 5] == weights[5, 2]
    assert flat[4 * 64 + 1 * 64 + 3] == weights[67, 1]
    assert flat[3 * 64 : 4 * 64].tolist() == [0.0] * 64


PLAIN = """
import numpy as np, torch
from tests.luna_ai.test_evaluator import RESIDUAL, answers, lively, positions
from luna_ai.evaluator import NetworkEvaluator
some = list(positions())[::40]
logits, values = answers(NetworkEvaluator(lively(RESIDUAL[1]), "numba"), some)
check = answers(NetworkEvaluator(lively(RESIDUAL[1]), "torch"), some)
assert np.abs(logits - check[0]).max() < 1e-4 and np.abs(values - check[1]).max() < 1e-4
print("agree on", len(some))
"""


@pytest.mark.parametrize("flag", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
def test_with_checked_indexes_and_in_plain_python(flag: str):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    command = [sys.executable, "-W", "ignore", "-c", PLAIN]
    done = subprocess.run(command, cwd=ROOT, env=inherited | {flag: "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("agree on")
