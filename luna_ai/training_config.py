"""Options of a training: one frozen dataclass a part, all of them together in `TrainingConfig`.

Light: read and checked without numba and torch. `luna train` takes every field as a flag and as a key of its files.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from luna_ai.config import PlayedRules, Seeded, UserError, argument

BackendName = Literal["auto", "numba", "int8", "torch", "cuda"]


@dataclass(frozen=True)
class SelfPlayOptions:
    """How games are played and what becomes a sample."""

    games: int = argument(64, "games of a step", low=1, high=1_000_000)
    slots: int = argument(64, "games side by side, whose leaves form one batch", low=1, high=65_536)
    shares: tuple[float, ...] = argument(
        (1.0, 1.0, 1.0), "games with 2, 3 and 4 players, in proportion", low=0, high=1000, metavar="SHARE"
    )
    preselected_share: float = argument(0.0, "share of games from the preselected set-up", low=0, high=1)
    sims: int = argument(32, "simulations of a full search", low=1, high=100_000)
    fast_sims: int = argument(8, "simulations of a capped search", low=1, high=100_000)
    full_share: float = argument(
        0.25, "share of decisions with a full search; others have no policy target", low=0, high=1
    )
    considered: int = argument(16, "most decisions considered at a root", low=1, high=637)
    gumbel_scale: float = argument(1.0, "factor of the noise at a root", low=0, high=10)
    c_scale: float = argument(1.0, "scale of values in the search, with two players", low=0, high=1000)
    bot_share: float = argument(0.1, "share of games with a bot at some seats", low=0, high=1)
    bots: tuple[str, ...] = argument(("random", "greedy"), "these bots, in turn", metavar="NAME")
    past_share: float = argument(0.1, "share of games with a past checkpoint at some seats", low=0, high=1)
    action_power: float = argument(
        1.0, "a decision of an action of k decisions weighs k to the power of minus this", low=0, high=2
    )
    surprise_share: float = argument(
        0.5,
        "share of a game's policy weight given in proportion to how much the search changed the policy",
        low=0,
        high=1,
    )
    value_weight: float = argument(
        0.25, "weight of decisions without a policy target, relative to others", low=0.001, high=1
    )


@dataclass(frozen=True)
class ReplayOptions:
    """Which samples are kept, and how often each is trained on."""

    reuse: float = argument(2.0, "how often a new position (of weight 1) is trained on", low=0.01, high=1000)
    window: int = argument(20_000, "samples of the first window", low=1, high=1_000_000_000)
    window_growth: float = argument(0.4, "growth of the window a new sample, at its start", low=0, high=1)
    window_power: float = argument(0.75, "the window grows with the samples to this power", low=0.01, high=1)
    replay_mb: int = argument(1024, "most memory of the window, MB", low=1, high=10_000_000)


@dataclass(frozen=True)
class LearnerOptions:
    """How the network is trained."""

    batch: int = argument(256, "samples of an update", low=1, high=1_000_000)
    learning_rate: float = argument(1e-3, "largest learning rate", low=1e-8, high=1)
    final_rate: float = argument(0.1, "learning rate of the last step, relative to the largest", low=0, high=1)
    warmup: int = argument(2, "steps in which the learning rate rises", low=0, high=1_000_000)
    weight_decay: float = argument(1e-3, "of AdamW, on matrices", low=0, high=1)
    clip: float = argument(1.0, "largest norm of a gradient", low=1e-6, high=1e6)
    root_share: float = argument(0.5, "share of the search's value in the win target", low=0, high=1)
    win_weight: float = argument(1.0, "weight of the win loss beside the policy's", low=0, high=100)
    margin_weight: float = argument(0.25, "weight of the margin loss", low=0, high=100)
    sources_weight: float = argument(0.1, "weight of the loss of influence by source", low=0, high=100)
    precision: Literal["float32", "bfloat16"] = argument("float32", "numbers of the forward pass in training")
    device: Literal["cpu", "cuda"] = argument("cpu", "where the learner trains; cuda: not measured yet")


@dataclass(frozen=True)
class BackendOptions:
    """What evaluates the network in self-play."""

    backend: BackendName = argument("auto", "what evaluates the network in self-play, see NETWORKS.md")


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of the network."""

    kind: Literal["residual", "attention"] = argument("residual", "kind of network, see NETWORKS.md")
    width: int = argument(256, "numbers that flow through the blocks", low=8, high=8192)
    blocks: int = argument(4, "number of blocks", low=0, high=256)
    hidden: int = argument(0, "numbers inside a block; 0: usual", low=0, high=32_768)
    heads: int = argument(4, "attention heads", low=1, high=256)


@dataclass(frozen=True)
class EvaluationOptions:
    """How the current network is measured while it learns."""

    evaluate_every: int = argument(10, "steps between two evaluations; 0: none", low=0, high=1_000_000)
    evaluate_deals: int = argument(10, "deals for each anchor and number of players", low=1, high=100_000)
    evaluate_sims: int = argument(32, "simulations of the network's decisions", low=1, high=100_000)
    anchors: tuple[str, ...] = argument(("random", "greedy"), "bots that it is measured against", metavar="NAME")


@dataclass(frozen=True)
class TrainingConfig(
    EvaluationOptions, NetworkShape, BackendOptions, LearnerOptions, ReplayOptions, SelfPlayOptions, PlayedRules, Seeded
):
    """Everything that a training depends on."""

    steps: int = argument(100, "steps of the training: collect, store, train, ...", low=1, high=1_000_000_000)
    minutes: float | None = argument(None, "end before, after so many minutes of all sessions", low=0.001, high=1e7)
    save_every: int = argument(10, "steps between two checkpoints", low=1, high=1_000_000)
    keep_checkpoints: int = argument(20, "checkpoints that are kept, over the whole run", low=1, high=1_000_000)
    workers: int = argument(0, "processes for self-play on Ray; 0: one process does everything", low=0, high=4096)
    inference: Literal["none", "cpu", "cuda"] = argument(
        "none", "one process on this device evaluates for all workers; none: each for itself"
    )

    def check(self) -> None:
        """Checks what one field alone does not show.

        Raises:
            UserError: one line that names the key and what is allowed.
        """
        if len(self.shares) != 3 or not sum(self.shares) > 0:
            raise UserError(
                f"shares {list(self.shares)} is not three numbers, for 2, 3 and 4 players, with a sum above 0"
            )
        if self.bot_share + self.past_share > 1:
            raise UserError(f"bot_share {self.bot_share:g} and past_share {self.past_share:g} have a sum above 1")
        if self.kind == "attention" and self.backend in ("numba", "int8"):
            raise UserError(f"backend {self.backend} evaluates no attention networks; allowed: auto, torch, cuda")
        if self.kind == "attention" and self.width % self.heads:
            raise UserError(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.inference == "cuda" and self.backend not in ("auto", "cuda"):
            raise UserError(f"backend {self.backend}: inference cuda evaluates in half precision; allowed: auto, cuda")
        if self.evaluate_every and not self.anchors:
            raise UserError("anchors: none, but networks are measured; allowed: some bots, or evaluate_every 0")
        if self.inference != "none" and not self.workers:
            raise UserError(f"inference {self.inference}: workers 0 evaluate for themselves; allowed: none")
        self.rules()
        from luna_ai.players import CODES

        for key in ("bots", "anchors"):
            for name in getattr(self, key):
                if name not in CODES:
                    raise UserError(f"{key}: {name!r} is unknown; allowed: {', '.join(CODES)}")
        if not self.bots and self.bot_share > 0:
            raise UserError(f"bots: none and bot_share {self.bot_share:g}; allowed: some bots, or a share of 0")

    def to_plain(self) -> dict[str, Any]:
        """As a map of plain data, for `config.yaml`."""
        values = {field.name: getattr(self, field.name) for field in fields(TrainingConfig)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
