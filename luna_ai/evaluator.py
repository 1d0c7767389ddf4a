"""A network as an evaluator of the search: features in, priors and win probabilities by absolute seat out.

Two backends: `numba`, a float32 kernel for residual networks (the fast one: a row's result is the same to the last bit
with any neighbours), and `torch`, float32 on one thread, for every network (the check: neighbours may change the last
digits). docs/FEATURES.md says what the network sees, `benchmarks/evaluator.py` how fast both are.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.checkpoint import read_checkpoint
from luna_ai.features import NUM_FEATURES, to_seats, write_features
from luna_ai.learning.residual_kernel import Weights, evaluate_rows, new_scratch, pack
from luna_ai.losses import win_probabilities
from luna_ai.network import AttentionNetwork, Network, ResidualNetwork
from luna_ai.search.evaluators import Batch

BACKENDS = ("numba", "torch")


class EvaluatorError(ValueError):
    """A backend that does not exist or cannot evaluate this network."""


class NetworkEvaluator:
    """Asks a network; keeps to `luna_ai.search.evaluators.Evaluator`.

    Weights are copied when it is made: a network that is trained on needs a new evaluator (or `update`).
    """

    name = "network"

    def __init__(self, network: Network | str | Path, backend: str | None = None) -> None:
        """Prepares a backend.

        Args:
            network: a network, or the path of a checkpoint.
            backend: `numba` or `torch`; None for the fastest that can evaluate this network.

        Raises:
            CheckpointError: the file is no checkpoint of this program.
            EvaluatorError: no such backend, or it cannot evaluate this network.
        """
        known = read_checkpoint(Path(network)).network if isinstance(network, str | Path) else network
        fastest = "numba" if isinstance(known, ResidualNetwork) else "torch"
        self.backend = fastest if backend is None else backend
        if self.backend not in BACKENDS:
            raise EvaluatorError(f"backend {backend!r} is unknown; allowed: {', '.join(BACKENDS)}")
        self.update(known)

    def update(self, network: Network) -> None:
        """Takes the weights of a network as they are now.

        Raises:
            EvaluatorError: the backend cannot evaluate this network.
        """
        if self.backend == "torch":
            self._answer: _TorchAnswer | _KernelAnswer = _TorchAnswer(network)
        elif isinstance(network, ResidualNetwork):
            self._answer = _KernelAnswer(network)
        else:
            raise EvaluatorError(f"backend numba evaluates residual networks; allowed for {network.config.kind}: torch")

    def evaluate(self, batch: Batch) -> None:
        """See `luna_ai.search.evaluators.Evaluator`."""
        self._answer(batch)


class _KernelAnswer:
    """The kernel for residual networks."""

    def __init__(self, network: ResidualNetwork) -> None:
        self.weights = weights_of(network)
        self.scratch = new_scratch(self.weights)

    def __call__(self, batch: Batch) -> None:
        rows, answers = (batch.states, batch.masks, batch.rules), (batch.logits, batch.values)
        evaluate_rows(*rows, self.weights, self.scratch, *answers)


def weights_of(network: ResidualNetwork) -> Weights:
    """The weights as the kernel wants them."""
    state = {name: value.detach().cpu().float().numpy() for name, value in network.state_dict().items()}
    return pack(network.config.width, network.config.inner, network.config.blocks, state)


class _TorchAnswer:
    """Torch in float32; sets this process to one thread, since more wait for each other on busy cores."""

    def __init__(self, network: Network) -> None:
        made = ResidualNetwork if isinstance(network, ResidualNetwork) else AttentionNetwork
        with torch.random.fork_rng(devices=[]):
            self.network = made(network.config)
        self.network.load_state_dict({name: value.detach().cpu() for name, value in network.state_dict().items()})
        self.network.eval()
        torch.set_num_threads(1)
        self._features = np.zeros((0, NUM_FEATURES), dtype=np.float32)

    def __call__(self, batch: Batch) -> None:
        if len(batch.states) > len(self._features):
            self._features = np.zeros((len(batch.states), NUM_FEATURES), dtype=np.float32)
        features = self._features[: len(batch.states)]
        write_features(batch.states, batch.rules, features)
        with torch.inference_mode():
            outputs = self.network(torch.from_numpy(features))
            present = np.arange(MAX_PLAYERS) < columns(batch.states, "players")[:, np.newaxis]
            win = win_probabilities(outputs.win, torch.from_numpy(present))
        batch.logits[:] = outputs.policy.numpy()
        batch.values[:] = to_seats(batch.states, win.numpy())
