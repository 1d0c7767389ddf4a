"""A network as an evaluator of the search: features in, priors and win probabilities by absolute seat out.

Four backends. `numba`, a float32 kernel for residual networks, is the usual one; `int8` is faster, with rounded
weights, and wants a look at its error for each network (`luna_ai.backend_guard`); in both a row's result is the same
to the last bit with any neighbours. `torch`, float32 on one thread, evaluates every network and is the check; `cuda` is
torch in half precision on a graphics card, for large batches. In these two, neighbours may change the last digits.
docs/FEATURES.md says what the network sees, docs/NETWORKS.md how fast the backends are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.checkpoint import read_checkpoint
from luna_ai.features import NUM_FEATURES, to_seats, write_features
from luna_ai.learning.byte_kernel import evaluate_bytes, new_byte_scratch, pack_bytes
from luna_ai.learning.residual_kernel import Floats, Weights, evaluate_rows, new_scratch, pack
from luna_ai.losses import win_probabilities
from luna_ai.network import AttentionNetwork, Network, ResidualNetwork
from luna_ai.search.evaluators import Batch

BACKENDS = ("numba", "int8", "torch", "cuda")


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
            backend: `numba`, `int8`, `torch` or `cuda`; None for the faster one of those in float32.

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
            EvaluatorError: the backend cannot evaluate this network, or this machine has none.
        """
        self._answer = _ANSWERS[self.backend](network)

    def evaluate(self, batch: Batch) -> None:
        """See `luna_ai.search.evaluators.Evaluator`."""
        self._answer(batch)


class _KernelAnswer:
    """The kernel for residual networks."""

    def __init__(self, network: Network) -> None:
        self.weights = weights_of(residual(network, "numba"))
        self.scratch = new_scratch(self.weights)

    def __call__(self, batch: Batch) -> None:
        rows, answers = (batch.states, batch.masks, batch.rules), (batch.logits, batch.values)
        evaluate_rows(*rows, self.weights, self.scratch, *answers)


class _ByteAnswer:
    """The kernel for residual networks with blocks in eight bits."""

    def __init__(self, network: Network) -> None:
        known = residual(network, "int8")
        self.weights = weights_of(known)
        self.rounded = pack_bytes(self.weights, arrays_of(known))
        self.scratch, self.small = new_scratch(self.weights), new_byte_scratch(self.weights)

    def __call__(self, batch: Batch) -> None:
        rows, answers = (batch.states, batch.masks, batch.rules), (batch.logits, batch.values)
        evaluate_bytes(*rows, self.weights, self.rounded, self.scratch, self.small, *answers)


def residual(network: Network, backend: str) -> ResidualNetwork:
    """The network, if it is one of the kernels' kind.

    Raises:
        EvaluatorError: it is not.
    """
    if isinstance(network, ResidualNetwork):
        return network
    raise EvaluatorError(
        f"backend {backend} evaluates residual networks; allowed for {network.config.kind}: torch, cuda"
    )


def arrays_of(network: ResidualNetwork) -> dict[str, Floats]:
    """All weights by name."""
    return {name: value.detach().cpu().float().numpy() for name, value in network.state_dict().items()}


def weights_of(network: ResidualNetwork) -> Weights:
    """The weights as the kernels want them."""
    return pack(network.config.width, network.config.inner, network.config.blocks, arrays_of(network))


class TorchAnswer:
    """Torch; on the processor it sets this process to one thread, since more wait for each other on busy cores."""

    def __init__(self, network: Network, device: str = "cpu", precision: torch.dtype = torch.float32) -> None:
        """Copies a network to a device, with numbers of some precision."""
        made = ResidualNetwork if isinstance(network, ResidualNetwork) else AttentionNetwork
        self.device = torch.device(device)
        with torch.random.fork_rng(devices=[]):
            self.network = made(network.config)
        self.network.load_state_dict({name: value.detach().cpu() for name, value in network.state_dict().items()})
        self.network.to(device=self.device, dtype=precision).eval()
        self.precision = precision
        if self.device.type == "cpu":
            torch.set_num_threads(1)
        self._features = torch.zeros((0, NUM_FEATURES), pin_memory=self.device.type == "cuda")

    def __call__(self, batch: Batch) -> None:
        """Answers a batch; probabilities are computed in float32 whatever the precision."""
        count = len(batch.states)
        if count > len(self._features):
            self._features = torch.zeros((count, NUM_FEATURES), pin_memory=self.device.type == "cuda")
        features = self._features[:count]
        write_features(batch.states, batch.rules, features.numpy())
        present = torch.from_numpy(np.arange(MAX_PLAYERS) < columns(batch.states, "players")[:, np.newaxis])
        with torch.inference_mode():
            outputs = self.network(features.to(self.device, non_blocking=True).to(self.precision))
            win = win_probabilities(outputs.win, present.to(self.device))
            batch.logits[:] = outputs.policy.float().cpu().numpy()
            batch.values[:] = to_seats(batch.states, win.cpu().numpy())


def on_cuda(network: Network) -> TorchAnswer:
    """Half precision on the graphics card.

    Raises:
        EvaluatorError: torch finds no CUDA here.
    """
    if not torch.cuda.is_available():
        usable = ", ".join(name for name in BACKENDS if name != "cuda")
        raise EvaluatorError(f"backend cuda: torch finds no CUDA on this machine; allowed: {usable}")
    return TorchAnswer(network, "cuda", torch.float16)


_ANSWERS: dict[str, Callable[[Network], Callable[[Batch], None]]] = {
    "numba": _KernelAnswer,
    "int8": _ByteAnswer,
    "torch": TorchAnswer,
    "cuda": on_cuda,
}
assert tuple(_ANSWERS) == BACKENDS
