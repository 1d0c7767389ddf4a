"""Masks and losses: what the network's outputs are trained towards.

total = policy + `win` x win + `margin` x margin + `sources` x sources, each a mean over the samples that have it:
cross-entropy of the improved policy over legal decisions, cross-entropy of soft win targets over present seats, Huber
loss of final margins and of the influence still to come by source (auxiliary targets as KataGo's score and ownership:
Wu, "Accelerating Self-Play Learning in Go", 2019, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from luna_ai.network import Outputs

WORST = -1e9
"""Logit of what is masked: its probability is exactly 0 in float32 and bfloat16."""


@dataclass(frozen=True)
class LossWeights:
    """Weights of the parts of the loss beside the policy's, which is 1.

    Attributes:
        win: win probabilities.
        margin: final influence margins.
        sources: influence still to come by source.
    """

    win: float = 1.0
    margin: float = 0.25
    sources: float = 0.1


class Targets(NamedTuple):
    """What the outputs for B positions should be; seats by place from the mover on."""

    legal: Tensor  # bool [B, A]
    policy: Tensor  # [B, A] probabilities, 0 where not legal
    policy_weight: Tensor  # [B] 0 for samples without a policy target
    present: Tensor  # bool [B, P]
    win: Tensor  # [B, P] probabilities, 0 for absent seats
    margin: Tensor  # [B, P] units of MARGIN_UNIT
    sources: Tensor | None = None  # [B, P, S] units of MARGIN_UNIT


class Losses(NamedTuple):
    """Scalars."""

    total: Tensor
    policy: Tensor
    win: Tensor
    margin: Tensor
    sources: Tensor


def unpack_masks(masks: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Packed legal masks `uint64[B, MASK_WORDS]` as `bool[B, A]`."""
    octets = np.ascontiguousarray(masks, dtype="<u8").view(np.uint8).reshape(len(masks), 8 * MASK_WORDS)
    return np.unpackbits(octets, axis=1, count=NUM_ACTIONS, bitorder="little").astype(np.bool_)


def masked(logits: Tensor, allowed: Tensor) -> Tensor:
    """Logits in float32, with all that is not allowed at `WORST`."""
    return logits.float().masked_fill(~allowed, WORST)


def policy_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """Probabilities over legal decisions, `[B, A]`; 0 for all others."""
    return masked(logits, legal).softmax(dim=1)


def win_probabilities(logits: Tensor, present: Tensor) -> Tensor:
    """Probabilities over present seats, `[B, P]`; 0 for absent ones."""
    return masked(logits, present).softmax(dim=1)


def cross_entropy(logits: Tensor, allowed: Tensor, target: Tensor) -> Tensor:
    """-sum of target x log probability over what is allowed, `[B]`."""
    logs = masked(logits, allowed).log_softmax(dim=1)
    return -(target * logs.masked_fill(~allowed, 0.0)).sum(dim=1)


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Mean by weight; 0 if all weights are 0."""
    return (values * weights).sum() / weights.sum().clamp(min=1e-6)


def losses(outputs: Outputs, targets: Targets, weights: LossWeights) -> Losses:
    """The total loss of a batch and its parts."""
    policy = weighted_mean(cross_entropy(outputs.policy, targets.legal, targets.policy), targets.policy_weight)
    win = cross_entropy(outputs.win, targets.present, targets.win).mean()
    present = targets.present.float()  # [B, P]
    margin = weighted_mean(functional.huber_loss(outputs.margin.float(), targets.margin, reduction="none"), present)
    sources = torch.zeros_like(margin)
    if targets.sources is not None:
        by_seat = functional.huber_loss(outputs.sources.float(), targets.sources, reduction="none").mean(dim=2)
        sources = weighted_mean(by_seat, present)  # [B, P]
    total = policy + weights.win * win + weights.margin * margin + weights.sources * sources
    return Losses(total, policy, win, margin, sources)
