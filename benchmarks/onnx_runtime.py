"""ONNX Runtime beside the backends of this project: µs of processor time a position of a residual network, one thread.

float32, and eight bits by ONNX Runtime's dynamic quantisation, which takes one scale for all of a batch. As in
`evaluator.py` features are written and win chances turned to seats; backends take turns, the median of the rounds is
shown. Beside the speed stands what eight bits change: the mean divergence of policies from float32's over legal
decisions, and by how much a position's logits depend on its neighbours in the batch.

    pip install onnx onnxruntime onnxscript
    python benchmarks/onnx_runtime.py --checkpoint RUN/checkpoints/latest
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
import torch
from evaluator import BATCHES, NETWORKS, POSITIONS, ROUNDS, Work, random_positions
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.backend_guard import agreement
from luna_ai.checkpoint import read_checkpoint
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.features import NUM_FEATURES, to_seats, write_features
from luna_ai.losses import unpack_masks
from luna_ai.network import Network, make_network
from luna_ai.search.evaluators import Batch, Evaluator, new_batch


class PolicyAndWin(nn.Module):
    """The two heads that a search needs."""

    def __init__(self, network: Network) -> None:
        """Shares the network's weights."""
        super().__init__()
        self.network = network

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """`float[B, F]` to logits and win numbers."""
        found = self.network(features)
        return found.policy, found.win


class OnnxEvaluator:
    """A session of ONNX Runtime as an evaluator."""

    name = backend = "onnx"

    def __init__(self, path: Path) -> None:
        """Loads a model for one thread."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._features = np.zeros((POSITIONS, NUM_FEATURES), dtype=np.float32)

    def evaluate(self, batch: Batch) -> None:
        """See `luna_ai.search.evaluators.Evaluator`."""
        features = self._features[: len(batch.states)]
        write_features(batch.states, batch.rules, features)
        batch.logits[:], win = self._session.run(None, {"features": features})
        present = np.arange(MAX_PLAYERS) < columns(batch.states, "players")[:, np.newaxis]
        weights = np.where(present, np.exp(win - win.max(axis=1, keepdims=True)), 0.0)
        batch.values[:] = to_seats(batch.states, (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))


def exported(network: Network, folder: Path) -> dict[str, Evaluator]:
    """The network in ONNX Runtime, in float32 and in eight bits."""
    exact, small = folder / "exact.onnx", folder / "small.onnx"
    shapes = {"features": {0: torch.export.Dim("rows")}}
    names = {"input_names": ["features"], "output_names": ["policy", "win"]}
    model, example = PolicyAndWin(network).eval(), (torch.zeros(2, NUM_FEATURES),)
    torch.onnx.export(model, example, str(exact), dynamic_shapes=shapes, verbose=False, **names)
    quantize_dynamic(exact, small, weight_type=QuantType.QInt8)
    return {"onnx float32": OnnxEvaluator(exact), "onnx int8": OnnxEvaluator(small)}


def neighbours_matter(evaluator: Evaluator, states: Any, rules: Any) -> float:
    """Largest difference of a legal logit between a position alone and among others."""
    many, worst = new_batch(states, rules), 0.0
    evaluator.evaluate(many)
    for row in range(0, len(states), 16):
        one = new_batch(states[row : row + 1], rules)
        evaluator.evaluate(one)
        legal = unpack_masks(one.masks)[0]
        worst = max(worst, float(np.abs(one.logits[0] - many.logits[row])[legal].max(initial=0.0)))
    return worst


def main() -> None:
    """Measures and prints a Markdown table a network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time for each figure (default: 1)")
    parser.add_argument("--checkpoint", type=Path, help="a trained residual network; otherwise new ones of two sizes")
    given = parser.parse_args()
    torch.set_num_threads(1)
    states, rules = random_positions(1)
    if given.checkpoint is not None:
        networks = {str(given.checkpoint): read_checkpoint(given.checkpoint).network}
    else:
        residual = {name: config for name, config in NETWORKS.items() if config.kind == "residual"}
        networks = {name: make_network(config, seed=1) for name, config in residual.items()}
    for name, network in networks.items():
        with tempfile.TemporaryDirectory() as folder:
            measure(name, network, states, rules, given.seconds, Path(folder))
    print(f"load average {os.getloadavg()[0]:.2f}")


def measure(name: str, network: Network, states: Any, rules: Any, seconds: float, folder: Path) -> None:
    """One network's table."""
    evaluators: dict[str, Any] = {backend: NetworkEvaluator(network, backend) for backend in ("torch", "numba", "int8")}
    evaluators |= exported(network, folder)
    times: dict[str, list[float]] = {backend: [] for backend in evaluators}
    for size in BATCHES:
        works = {backend: Work(evaluator, size, states, rules) for backend, evaluator in evaluators.items()}
        rounds = [{b: work.microseconds(seconds / ROUNDS) for b, work in works.items()} for _ in range(ROUNDS)]
        for backend, found in times.items():
            found.append(median(each[backend] for each in rounds))
    print(f"\n| {name} | {' | '.join(f'batch {size}' for size in BATCHES)} | divergence, nats | neighbours |")
    print(f"|---|{'---|' * (len(BATCHES) + 2)}")
    for backend, evaluator in evaluators.items():
        kl = agreement(evaluators["torch"], evaluator, states, rules).kl
        figures = " | ".join(f"{each:.1f}" for each in times[backend])
        print(f"| {backend} | {figures} | {kl:.5f} | {neighbours_matter(evaluator, states, rules):.5f} |")


if __name__ == "__main__":
    main()
