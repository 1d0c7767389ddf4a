"""The network: features of a position to a policy, win chances, influence margins. Masks and losses are in `losses`.

Two kinds share the heads' meaning and one config: a residual MLP over the whole row (the default), and an attention
network over tokens (7 isles, 28 tiles with their Temple spaces, 4 seats, one for the rest). Both see the seat to move
first; what they say of seats is in that order too ("place p" is the p-th seat from the mover on).

Residual blocks are pre-normalised (Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020) with
RMSNorm (Zhang and Sennrich 2019), whose gain can be folded into the next matrix; the last matrix of each block starts
at 0, so that a new network is as deep as its data ask for (Zhang et al., "Fixup", 2019). Heads start near 0: a new
network finds all decisions and all seats equal.

Shape letters: B batch, F features, A actions, P places (4), D width, T tokens, S influence sources.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine_fast.actions import ACTIONS, NUM_ACTIONS
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES
from luna_ai.learning.feature_table import AXES, FEATURES, NUM_FEATURES, OFFSET
from luna_ai.learning.residual_kernel import NORM_EPSILON

KINDS = ("residual", "attention")
MARGIN_UNIT = 10.0
"""Influence in one unit of the margin and source heads."""
HEAD_SCALE, EPSILON = 0.01, float(NORM_EPSILON)
NUM_ISLES, NUM_TILES = AXES["kind"], AXES["tile"]


class NetworkError(ValueError):
    """A config that makes no network."""


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of a network.

    Attributes:
        kind: `residual` or `attention`.
        width: numbers that flow through the blocks; of each token with `attention`.
        blocks: number of blocks.
        hidden: numbers inside a block; 0 for as many as `width` (residual) or twice as many (attention).
        heads: attention heads; divides `width`.
    """

    kind: str = "residual"
    width: int = 256
    blocks: int = 4
    hidden: int = 0
    heads: int = 4

    def __post_init__(self) -> None:
        """Checks all values.

        Raises:
            NetworkError: a value that is not allowed.
        """
        if self.kind not in KINDS:
            raise NetworkError(f"kind {self.kind!r} is unknown; allowed: {', '.join(KINDS)}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise NetworkError(f"{name} {value!r} is not a whole number from {low} to {high}")
        if self.kind == "attention" and self.width % self.heads:
            raise NetworkError(f"width {self.width} is not a multiple of heads {self.heads}")

    @property
    def inner(self) -> int:
        """Numbers inside a block."""
        return self.hidden or self.width * (2 if self.kind == "attention" else 1)

    def to_plain(self) -> dict[str, Any]:
        """As a map of plain data."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> NetworkConfig:
        """The config of `to_plain`.

        Raises:
            NetworkError: an unknown key, or a value that is not allowed.
        """
        known = [field.name for field in fields(cls)]
        if unknown := [key for key in plain if key not in known]:
            raise NetworkError(f"{unknown[0]!r} is unknown; allowed: {', '.join(known)}")
        return cls(**plain)


RANGES = {"width": (8, 8192), "blocks": (0, 256), "hidden": (0, 32768), "heads": (1, 256)}


class Outputs(NamedTuple):
    """What a network says of B positions; logits without masks."""

    policy: Tensor  # [B, A] logits of all decisions
    win: Tensor  # [B, P] logits of the win, by place
    margin: Tensor  # [B, P] final influence minus the best other's, in units of MARGIN_UNIT, by place
    sources: Tensor  # [B, P, S] influence still to come from each source of the ledger, in units of MARGIN_UNIT


def small(layer: nn.Linear, scale: float = HEAD_SCALE) -> nn.Linear:
    """A layer that starts near 0 (scale 0: at 0)."""
    nn.init.normal_(layer.weight, std=scale / layer.in_features**0.5)
    nn.init.zeros_(layer.bias)
    return layer


class ResidualBlock(nn.Module):
    """x + W2 relu(W1 norm(x) + b1) + b2."""

    def __init__(self, width: int, inner: int) -> None:
        """A block that starts as the identity."""
        super().__init__()
        self.norm = nn.RMSNorm(width, eps=EPSILON)
        self.first, self.second = nn.Linear(width, inner), small(nn.Linear(inner, width), 0.0)

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D] -> [..., D]`."""
        out: Tensor = x + self.second(functional.relu(self.first(self.norm(x))))
        return out


class ResidualNetwork(nn.Module):
    """The residual MLP."""

    def __init__(self, config: NetworkConfig) -> None:
        """A network with random weights, drawn from torch's generator."""
        super().__init__()
        self.config = config
        width = config.width
        self.stem = nn.Linear(NUM_FEATURES, width)
        self.blocks = nn.ModuleList(ResidualBlock(width, config.inner) for _ in range(config.blocks))
        self.norm = nn.RMSNorm(width, eps=EPSILON)
        self.policy, self.win = small(nn.Linear(width, NUM_ACTIONS)), small(nn.Linear(width, MAX_PLAYERS))
        self.margin = small(nn.Linear(width, MAX_PLAYERS))
        self.sources = small(nn.Linear(width, MAX_PLAYERS * NUM_SOURCES))

    def forward(self, features: Tensor) -> Outputs:
        """`float[B, F]` to the heads."""
        x = self.stem(features)  # [B, D]
        for block in self.blocks:
            x = block(x)
        x = functional.relu(self.norm(x))
        sources = self.sources(x).unflatten(1, (MAX_PLAYERS, NUM_SOURCES))  # [B, P * S] -> [B, P, S]
        return Outputs(self.policy(x), self.win(x), self.margin(x), sources)


class AttentionBlock(nn.Module):
    """Self-attention among the tokens, then a residual block for each."""

    def __init__(self, config: NetworkConfig) -> None:
        """A block that starts as the identity."""
        super().__init__()
        self.heads = config.heads
        self.norm = nn.RMSNorm(config.width, eps=EPSILON)
        self.project = nn.Linear(config.width, 3 * config.width)
        self.merge = small(nn.Linear(config.width, config.width), 0.0)
        self.feed = ResidualBlock(config.width, config.inner)

    def forward(self, x: Tensor) -> Tensor:
        """`[B, T, D] -> [B, T, D]`."""
        split = self.project(self.norm(x)).unflatten(2, (3, self.heads, -1))  # [B, T, 3, H, D / H]
        query, key, value = split.permute(2, 0, 3, 1, 4)  # each [B, H, T, D / H]
        mixed = functional.scaled_dot_product_attention(query, key, value)  # [B, H, T, D / H]
        out: Tensor = self.feed(x + self.merge(mixed.transpose(1, 2).flatten(2)))  # [B, T, D]
        return out


TOKEN_AXES = ("kind", "tile", "seat")
"""Axes that make tokens; a feature with two of them belongs to both tokens."""


def token_features(axis: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Indices of the features of each token along an axis, `int64[tokens, features of one]`."""
    columns = []
    for feature in FEATURES:
        if axis in feature.axes:
            at = np.arange(feature.count).reshape(feature.shape) + OFFSET[feature.name]
            columns.append(np.moveaxis(at, feature.axes.index(axis), 0).reshape(AXES[axis], -1))
    return np.concatenate(columns, axis=1)


def rest_features() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Indices of the features that belong to no isle, tile or seat."""
    rest = [f for f in FEATURES if not set(TOKEN_AXES) & set(f.axes)]
    return np.concatenate([np.arange(f.count) + OFFSET[f.name] for f in rest])


class ActionColumns(NamedTuple):
    """Where each decision's part of the policy stands among the outputs of isle and tile tokens."""

    per_isle: int
    per_tile: int
    place: np.ndarray[Any, np.dtype[np.int64]]  # [A] index into (isles x per_isle, tiles x per_tile, one 0)


def action_columns() -> ActionColumns:
    """One output of an isle's (a tile's) token for each block of decisions and number, source, ... within it."""
    kinds: dict[tuple[Any, ...], int] = {}
    tiles: dict[tuple[Any, ...], int] = {}
    found = []
    for action in ACTIONS:
        if "tile" in action.block.order:
            found.append(("tile", action.tile - 1, tiles.setdefault((action.block.name,), len(tiles))))
        elif "kind" in action.block.order or (action.block.name == "tide" and action.source < 14):
            isle = action.source % NUM_ISLES if action.block.name == "tide" else action.kind
            source = -1 if action.block.name == "journey" else action.source
            source = source // NUM_ISLES if action.block.name == "tide" else source
            column = kinds.setdefault((action.block.name, action.count, source), len(kinds))
            found.append(("isle", isle, column))
        else:
            found.append(("none", 0, 0))
    first = {"isle": (0, len(kinds)), "tile": (NUM_ISLES * len(kinds), len(tiles))}
    nothing = NUM_ISLES * len(kinds) + NUM_TILES * len(tiles)
    place = [nothing if kind == "none" else first[kind][0] + at * first[kind][1] + col for kind, at, col in found]
    return ActionColumns(len(kinds), len(tiles), np.array(place))


class AttentionNetwork(nn.Module):
    """Attention over isles, tiles and seats; what belongs to an isle or tile is decided by its token."""

    def __init__(self, config: NetworkConfig) -> None:
        """A network with random weights, drawn from torch's generator."""
        super().__init__()
        self.config = config
        width, columns = config.width, action_columns()
        self.inputs = nn.ModuleDict()
        for axis in TOKEN_AXES:
            indices = torch.from_numpy(token_features(axis))
            self.register_buffer(f"index_{axis}", indices, persistent=False)
            self.inputs[axis] = nn.Linear(indices.shape[1], width)
        rest = torch.from_numpy(rest_features())
        self.register_buffer("index_rest", rest, persistent=False)
        self.inputs["rest"] = nn.Linear(len(rest), width)
        self.names = nn.Parameter(0.1 * torch.randn(NUM_ISLES + NUM_TILES + MAX_PLAYERS + 1, width))  # [T, D]
        self.blocks = nn.ModuleList(AttentionBlock(config) for _ in range(config.blocks))
        self.norm = nn.RMSNorm(width, eps=EPSILON)
        self.register_buffer("place", torch.from_numpy(columns.place), persistent=False)
        self.policy = small(nn.Linear(width, NUM_ACTIONS))
        self.isle_policy, self.tile_policy = (
            small(nn.Linear(width, columns.per_isle)),
            small(nn.Linear(width, columns.per_tile)),
        )
        self.win, self.margin = small(nn.Linear(width, 1)), small(nn.Linear(width, 1))
        self.sources = small(nn.Linear(width, NUM_SOURCES))

    def tokens(self, features: Tensor) -> Tensor:
        """`[B, F] -> [B, T, D]`: isles, tiles, seats, the rest."""
        parts = [self.inputs[axis](features[:, self.get_buffer(f"index_{axis}")]) for axis in TOKEN_AXES]
        rest = self.inputs["rest"](features[:, self.get_buffer("index_rest")]).unsqueeze(1)  # [B, 1, D]
        return torch.cat([*parts, rest], dim=1) + self.names

    def forward(self, features: Tensor) -> Outputs:
        """`float[B, F]` to the heads."""
        x = self.tokens(features)
        for block in self.blocks:
            x = block(x)
        x = functional.relu(self.norm(x))
        isles, tiles, seats, rest = torch.split(x, [NUM_ISLES, NUM_TILES, MAX_PLAYERS, 1], dim=1)
        by_token = torch.cat(
            [self.isle_policy(isles).flatten(1), self.tile_policy(tiles).flatten(1), x.new_zeros(len(x), 1)], dim=1
        )  # [B, isles x per_isle + tiles x per_tile + 1]
        policy = self.policy(rest.squeeze(1)) + by_token[:, self.get_buffer("place")]  # [B, A]
        return Outputs(policy, self.win(seats).squeeze(2), self.margin(seats).squeeze(2), self.sources(seats))


Network = ResidualNetwork | AttentionNetwork


def make_network(config: NetworkConfig, seed: int | None = None) -> Network:
    """A new network with random weights (seed None: from torch's generator as it stands, which moves on)."""
    made: type[Network] = ResidualNetwork if config.kind == "residual" else AttentionNetwork
    if seed is None:
        return made(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return made(config)


def num_parameters(network: nn.Module) -> int:
    """Number of weights."""
    return sum(parameter.numel() for parameter in network.parameters())
