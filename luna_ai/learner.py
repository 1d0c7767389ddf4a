"""The learner: batches from the replay window, losses, AdamW with a learning rate that rises and then falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine_fast.actions import MASK_WORDS
from engine_fast.batch import legal_batch
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, columns
from luna_ai.features import features_of, from_seats, seat_order
from luna_ai.losses import Losses, LossWeights, Targets, losses, unpack_masks
from luna_ai.network import MARGIN_UNIT, Network
from luna_ai.samples import Samples
from luna_ai.training_config import LearnerOptions


class Batch(NamedTuple):
    """What one update sees."""

    features: Tensor  # [B, F]
    targets: Targets

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        moved = {name: each.to(device) for name, each in self.targets._asdict().items() if each is not None}
        return Batch(self.features.to(device), Targets(**moved))


class Learned(NamedTuple):
    """Means over the updates of one step; NaN where there were none."""

    updates: int
    total: float
    policy: float
    win: float
    margin: float
    sources: float
    gradient_norm: float
    learning_rate: float


def batch_of(samples: Samples, rules: NDArray[np.uint64], root_share: float = 0.0) -> Batch:
    """Features and targets of samples, seats turned to the one that decides.

    Args:
        samples: B of them.
        rules: the rules table of their games.
        root_share: part of the search's value in the win target; the rest is the result of the game.
    """
    states = np.ascontiguousarray(samples.state)
    masks = np.zeros((len(states), MASK_WORDS), dtype=np.uint64)
    legal_batch(states, rules, masks)
    win = (1.0 - root_share) * samples.win + root_share * samples.root
    order = seat_order(states)
    sources = np.take_along_axis(samples.sources, order[:, :, np.newaxis].repeat(NUM_SOURCES, axis=2), axis=1)
    targets = Targets(
        legal=torch.from_numpy(unpack_masks(masks)),
        policy=torch.from_numpy(samples.dense_policy()),
        policy_weight=torch.from_numpy((samples.policy_size > 0).astype(np.float32)),
        present=torch.from_numpy(np.arange(MAX_PLAYERS) < columns(states, "players")[:, np.newaxis]),
        win=torch.from_numpy(from_seats(states, win.astype(np.float32))),
        margin=torch.from_numpy(from_seats(states, samples.margin.astype(np.float32)) / np.float32(MARGIN_UNIT)),
        sources=torch.from_numpy(sources.astype(np.float32) / np.float32(MARGIN_UNIT)),
    )
    return Batch(torch.from_numpy(features_of(states, rules)), targets)


def learning_rate(options: LearnerOptions, step: int, steps: int) -> float:
    """The rate of step 0, 1, ... `steps` - 1: a straight line up, then half a cosine down (Loshchilov, Hutter 2017)."""
    if step < options.warmup:
        return options.learning_rate * (step + 1) / (options.warmup + 1)
    progress = (step - options.warmup) / max(1, steps - options.warmup - 1)
    falling = 0.5 * (1.0 + np.cos(np.pi * min(1.0, progress)))
    return float(options.learning_rate * (options.final_rate + (1.0 - options.final_rate) * falling))


class LearnerError(ValueError):
    """A device that this machine does not have."""


def need_device(device: str) -> None:
    """Refuses a device that this machine does not have.

    Raises:
        LearnerError: torch finds no CUDA here.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise LearnerError("device cuda: torch finds no CUDA on this machine; allowed: cpu")


class Learner:
    """Trains one network in this process, on one thread of torch or on a graphics card."""

    def __init__(self, network: Network, options: LearnerOptions, rules: NDArray[np.uint64], steps: int) -> None:
        """Prepares the optimizer.

        Args:
            network: trained in place.
            options: how.
            rules: the rules table of all samples.
            steps: of the whole training, for the learning rate.

        Raises:
            LearnerError: `options.device` is not there.
        """
        need_device(options.device)
        torch.set_num_threads(1)
        self.device = torch.device(options.device)
        self.network, self.options, self.rules, self.steps = network.to(self.device), options, rules, steps
        self.updates = 0
        matrices = [p for p in network.parameters() if p.ndim > 1]
        rest = [p for p in network.parameters() if p.ndim <= 1]
        groups = [{"params": matrices, "weight_decay": options.weight_decay}, {"params": rest, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=options.learning_rate)
        self._weights = LossWeights(options.win_weight, options.margin_weight, options.sources_weight)

    def learn(self, draw: Callable[[int], Samples], updates: int, step: int) -> Learned:
        """Makes some updates.

        Args:
            draw: gives so many samples.
            updates: how many batches.
            step: of the training, for the learning rate.
        """
        rate = learning_rate(self.options, step, self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        rows = [
            self._update(batch_of(draw(self.options.batch), self.rules, self.options.root_share))
            for _ in range(updates)
        ]
        self.network.eval()
        self.updates += updates
        means = np.mean(rows, axis=0).tolist() if rows else [float("nan")] * 6
        total, policy, win, margin, sources, norm = means
        return Learned(updates, total, policy, win, margin, sources, norm, rate)

    def _update(self, batch: Batch) -> list[float]:
        found = self.losses(batch)
        self.optimizer.zero_grad(set_to_none=True)
        found.total.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.options.clip)
        self.optimizer.step()
        return [float(value.detach()) for value in (*found, norm)]

    def losses(self, batch: Batch) -> Losses:
        """The losses of a batch, with gradients."""
        here, half = batch.to(self.device), self.options.precision == "bfloat16"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=half):
            outputs = self.network(here.features)
        return losses(outputs, here.targets, self._weights)

    def state(self) -> dict[str, Any]:
        """What a checkpoint must hold beside the weights; on the CPU."""
        optimizer = self.optimizer.state_dict()
        moments = {number: on_cpu(state) for number, state in optimizer["state"].items()}
        return {"optimizer": optimizer | {"state": moments}, "updates": self.updates}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes what `state` gave; the weights are restored by whoever made the network."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.updates = state["updates"]


def on_cpu(state: dict[str, Any]) -> dict[str, Any]:
    """The numbers that an optimizer keeps of one array of weights."""
    return {name: value.cpu() if isinstance(value, Tensor) else value for name, value in state.items()}
