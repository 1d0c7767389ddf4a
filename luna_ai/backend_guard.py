"""Whether a fast backend says what float32 says, asked anew for each version of a network that is published.

A training chooses a backend once. Where it rounds weights (`int8`) or numbers (`cuda`), each version is compared with
float32 on positions of recent self-play, and evaluated in float32 if they differ too much. The verdict follows from
network and positions alone, so a training that was killed comes to the same one again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba.core.registry import cpu_target
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.evaluator import BACKENDS, EvaluatorError, NetworkEvaluator
from luna_ai.learning.byte_matrix import has_vnni
from luna_ai.losses import unpack_masks
from luna_ai.network import Network, ResidualNetwork
from luna_ai.search.evaluators import Batch, Evaluator, new_batch

AUTO = "auto"
CHOICES = (AUTO, *BACKENDS)
GUARDED = ("int8", "cuda")
"""Backends that round."""
POSITIONS = 4096
RECENT = 16 * POSITIONS
"""The newest positions, of which some are chosen."""
BATCH = 512


class Agreement(NamedTuple):
    """How near a backend comes to float32."""

    positions: int
    kl: float  # mean Kullback-Leibler divergence of policies over legal decisions, nats
    value_error: float  # mean absolute error of win probabilities of present seats
    top1: float  # share of positions at which both find the same decision likeliest

    @property
    def good(self) -> bool:
        """Within the limits; never on no positions at all."""
        near = self.kl <= LIMITS.kl and self.value_error <= LIMITS.value_error
        return self.positions > 0 and near and self.top1 >= LIMITS.top1

    def __str__(self) -> str:
        """The figures beside their limits."""
        return (
            f"KL {self.kl:.5f} (at most {LIMITS.kl:g}), value error {self.value_error:.5f} "
            f"(at most {LIMITS.value_error:g}), same best decision {self.top1:.1%} (at least {LIMITS.top1:.0%}), "
            f"{self.positions:,} positions"
        )


LIMITS = Agreement(0, 0.01, 0.005, 0.98)
NOTHING_COMPARED = Agreement(0, float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True)
class Verdict:
    """What evaluates a version of a network.

    Attributes:
        wanted: the backend of the training.
        used: that one, or the fastest in float32.
        agreement: with float32; None where nothing is rounded.
    """

    wanted: str
    used: str
    agreement: Agreement | None = None

    @property
    def line(self) -> str | None:
        """What a log should say; None if all is well."""
        if self.used == self.wanted:
            return None
        if self.agreement is None or not self.agreement.positions:
            return f"backend {self.used} instead of {self.wanted} for this version: no positions to compare them on yet"
        return f"backend {self.used} instead of {self.wanted} for this version: {self.agreement}"

    def scalars(self) -> dict[str, float]:
        """Values of the metrics `backend/...`."""
        found = {"backend/int8": float(self.used == "int8")}
        if self.agreement is not None and self.agreement.positions:
            kl, value_error, top1 = self.agreement[1:]
            found |= {"backend/kl": kl, "backend/value_error": value_error, "backend/top1": top1}
        return found


class GuardedEvaluator:
    """Evaluates the versions of a network with a backend as long as it agrees with float32.

    Attributes:
        wanted: the backend; never `auto`.
        verdict: on the version published last; None before the first.
    """

    def __init__(self, backend: str, network: Network, rules: NDArray[np.uint64]) -> None:
        """Chooses a backend.

        Args:
            backend: one of `CHOICES`; `auto` for the fastest on this processor.
            network: the first version, or any of the same shape.
            rules: the rules table of all positions.

        Raises:
            EvaluatorError: no such backend, or it cannot evaluate this network on this machine.
        """
        self.wanted, self._rules = resolved(backend, network), rules
        self._fast = NetworkEvaluator(network, self.wanted)
        self._exact = NetworkEvaluator(network) if self.wanted in GUARDED else self._fast
        self.verdict: Verdict | None = None

    def publish(self, network: Network, states: NDArray[np.uint64]) -> NetworkEvaluator:
        """The evaluator of a new version, good until the next one; `verdict` says which backend it is and why.

        Args:
            network: as it is now.
            states: `uint64[B, STATE_WORDS]`, positions of self-play, the newest last; some are chosen.
        """
        self._fast.update(network)
        if self._exact is self._fast:
            self.verdict = Verdict(self.wanted, self.wanted)
            return self._fast
        self._exact.update(network)
        found = agreement(self._exact, self._fast, chosen(states), self._rules)
        best = self._fast if found.good else self._exact
        self.verdict = Verdict(self.wanted, best.backend, found)
        return best


def resolved(backend: str, network: Network) -> str:
    """The name of a backend that can be used; `auto` is `int8` on processors with VNNI, for networks it can evaluate.

    Raises:
        EvaluatorError: no such backend.
    """
    if backend not in CHOICES:
        raise EvaluatorError(f"backend {backend!r} is unknown; allowed: {', '.join(CHOICES)}")
    if backend != AUTO:
        return backend
    if not isinstance(network, ResidualNetwork):
        return "torch"
    return "int8" if has_vnni(cpu_target.target_context) else "numba"


def agreement(exact: Evaluator, fast: Evaluator, states: NDArray[np.uint64], rules: NDArray[np.uint64]) -> Agreement:
    """Compares two evaluators.

    Args:
        exact: the measure.
        fast: who is measured.
        states: `uint64[B, STATE_WORDS]`, none of them over.
        rules: the rules table.
    """
    if not len(states):
        return NOTHING_COMPARED
    rows = [_differences(exact, fast, states[at : at + BATCH], rules) for at in range(0, len(states), BATCH)]
    kl, error, same = (np.concatenate(each) for each in zip(*rows, strict=True))
    return Agreement(len(states), float(kl.mean()), float(error.mean()), float(same.mean()))


def _differences(
    exact: Evaluator, fast: Evaluator, states: NDArray[np.uint64], rules: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.bool_]]:
    """Divergence and same best decision of each position, value errors of each present seat."""
    measure = new_batch(np.ascontiguousarray(states), rules)
    other = measure._replace(logits=np.zeros_like(measure.logits), values=np.zeros_like(measure.values))
    exact.evaluate(measure)
    fast.evaluate(other)
    legal = unpack_masks(measure.masks)
    own, its = (log_policy(batch, legal) for batch in (measure, other))
    kl = np.where(legal, np.exp(own) * (own - its), 0.0).sum(axis=1)
    present = np.arange(MAX_PLAYERS) < columns(measure.states, "players")[:, np.newaxis]
    best, its_best = (np.where(legal, logs, -np.inf).argmax(axis=1) for logs in (own, its))
    return kl, np.abs(measure.values - other.values)[present], best == its_best


def log_policy(batch: Batch, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log-probabilities of legal decisions, `float64[B, A]`; 0 elsewhere."""
    logits = np.where(legal, batch.logits.astype(np.float64), -np.inf)
    shifted = np.where(legal, logits - logits.max(axis=1, keepdims=True), 0.0)
    total = np.log(np.where(legal, np.exp(shifted), 0.0).sum(axis=1, keepdims=True))
    return np.where(legal, shifted - total, 0.0)


def chosen(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`POSITIONS` of the newest positions, or all if there are fewer; players and rounds as evenly as they allow."""
    recent = np.ascontiguousarray(states[-RECENT:])
    kinds = columns(recent, "players").astype(np.int64) * 64 + columns(recent, "round").astype(np.int64)
    return recent[stratified(kinds, POSITIONS)]


def stratified(kinds: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Rows of which every kind has about equally many.

    Kinds with fewer rows than their share give all they have, the others fill up; rows of a kind are evenly spaced.

    Args:
        kinds: `int64[B]`, the kind of each row.
        count: rows wanted; all if there are not more.

    Returns:
        `int64[min(B, count)]`, ascending.
    """
    names, sizes = np.unique(kinds, return_counts=True)
    picked, left = [np.zeros(0, dtype=np.int64)], min(count, len(kinds))
    for rank, at in enumerate(np.argsort(sizes, kind="stable")):  # the smallest first: what they lack others give
        share = min(int(sizes[at]), left // (len(names) - rank))
        rows = np.flatnonzero(kinds == names[at])
        picked.append(rows[np.arange(share) * len(rows) // max(1, share)])
        left -= share
    return np.sort(np.concatenate(picked))
