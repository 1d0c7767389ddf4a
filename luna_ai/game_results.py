"""What games leave: samples with their targets and weights, and one row a game and seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from engine_fast.layout import INFLUENCE_BIAS, LEDGER_SOURCES, MAX_PLAYERS, columns
from luna_ai.game_plans import ABSENT, NAME_OF_CODE, Plan
from luna_ai.samples import Samples, joined, taken
from luna_ai.training_config import SelfPlayOptions


class Log(NamedTuple):
    """Samples of one round before their games are over; B of them with P probabilities."""

    game: NDArray[np.int64]  # [B] place in the plan
    action: NDArray[np.int64]  # [B] number of the action in its game
    state: NDArray[np.uint64]  # [B, STATE_WORDS]
    ledger: NDArray[np.int16]  # [B, 4, SOURCES]
    root: NDArray[np.float32]  # [B, 4]
    surprise: NDArray[np.float32]  # [B] divergence of the improved policy from the prior, nats; 0 without a policy
    size: NDArray[np.int32]  # [B]
    policy_id: NDArray[np.uint16]  # [P]
    policy: NDArray[np.float32]  # [P]


@dataclass
class Table:
    """The games of a plan while they are played; K games, G of them now."""

    plan: Plan
    state: NDArray[np.uint64]  # [K, STATE_WORDS]
    ledger: NDArray[np.int16]  # [K, 4, SOURCES]
    decisions: NDArray[np.int64]  # [K]
    actions: NDArray[np.int64]  # [K] actions begun
    hashes: NDArray[np.uint64]  # [K]
    playing: NDArray[np.int64]  # [G] places of the games under way
    waiting: int  # first game that is not begun


def final_standing(states: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks (1: winner; strict, ties by Council precedence) and margins of games that are over, each `int64[K, 4]`.

    A margin is the seat's influence minus the best other's. Absent seats have margin 0 and the last ranks.
    """
    influence = columns(states, "influence") - INFLUENCE_BIAS
    standing = MAX_PLAYERS * influence - columns(states, "council_rank")
    ranks = 1 + (standing[:, np.newaxis, :] > standing[:, :, np.newaxis]).sum(axis=2)
    best = np.sort(influence, axis=1)[:, -2:]
    leads = influence == best[:, 1:]
    margins = influence - np.where(leads, best[:, :1], best[:, 1:])
    present = np.arange(MAX_PLAYERS) < columns(states, "players")[:, np.newaxis]
    return ranks, np.where(present, margins, 0)


def samples_of(
    final: NDArray[np.uint64], ledger: NDArray[np.int16], logs: list[Log], options: SelfPlayOptions, version: int
) -> Samples:
    """The samples of games that are over, ordered by game and then by decision.

    Args:
        final: `uint64[K, STATE_WORDS]`, last positions.
        ledger: `int16[K, 4, SOURCES]`, last ledgers.
        logs: what was searched, in the order of decisions.
        options: weights.
        version: written beside every sample.
    """
    ranks, margins = final_standing(final)
    parts = [_part(log, ranks, margins, ledger, version) for log in logs]
    samples = joined(parts)
    if not logs:
        return samples
    game, action, surprise = (
        np.concatenate([getattr(log, key) for log in logs]) for key in ("game", "action", "surprise")
    )
    weight = sample_weights(game, action, samples.policy_size > 0, options)
    weight = surprise_weights(game, weight, surprise, options.surprise_share)
    return taken(samples._replace(weight=weight), np.argsort(game, kind="stable"))


def _part(
    log: Log, ranks: NDArray[np.int64], margins: NDArray[np.int64], ledger: NDArray[np.int16], version: int
) -> Samples:
    count = len(log.game)
    return Samples(
        state=log.state,
        weight=np.ones(count, dtype=np.float32),
        policy_size=log.size,
        win=(ranks[log.game] == 1).astype(np.float32),
        root=log.root,
        margin=margins[log.game].astype(np.int16),
        sources=ledger[log.game] - log.ledger,
        version=np.full(count, version, dtype=np.int32),
        policy_id=log.policy_id,
        policy=log.policy,
    )


def sample_weights(
    game: NDArray[np.int64], action: NDArray[np.int64], has_policy: NDArray[np.bool_], options: SelfPlayOptions
) -> NDArray[np.float32]:
    """Weights of samples, `float32[B]`: k^-action_power for each of k samples of one action of one game, and
    `value_weight` times as much without a policy target.
    """
    if not len(game):
        return np.zeros(0, dtype=np.float32)
    _, which, counts = np.unique(np.stack([game, action]), axis=1, return_inverse=True, return_counts=True)
    shared = counts[which.reshape(-1)].astype(np.float64) ** -options.action_power
    return (shared * np.where(has_policy, 1.0, options.value_weight)).astype(np.float32)


def surprise_weights(
    game: NDArray[np.int64], weight: NDArray[np.float32], surprise: NDArray[np.float32], share: float
) -> NDArray[np.float32]:
    """Weights after policy surprise weighting (Wu, KataGo's "Other methods", 2020), `float32[B]`.

    A game's samples with a policy target keep their sum of weights: 1 - share of it stays as it is, the rest goes to
    them in proportion to weight x surprise. Samples without surprise (no policy target) keep their weights.
    """
    if share == 0.0 or not len(game):
        return weight
    asked = surprise > 0.0
    _, which = np.unique(game, return_inverse=True)
    total = np.bincount(which, weights=weight * asked)[which]
    surprising = np.bincount(which, weights=weight * surprise)[which]
    factor = (1.0 - share) + share * surprise * total / np.where(asked, surprising, 1.0)
    return np.where(asked, weight * factor, weight).astype(np.float32)


def game_rows(table: Table, version: int) -> pl.DataFrame:
    """One row a game and seat, in the order of the plan.

    Args:
        table: games that are over.
        version: step of the network that played them.
    """
    plan, state = table.plan, table.state
    starts = columns(plan.state, "start_player")
    influence = columns(state, "influence") - INFLUENCE_BIAS
    began = columns(plan.state, "influence") - INFLUENCE_BIAS
    ranks, _ = final_standing(state)
    game, seat = np.nonzero(plan.codes != ABSENT)
    per_game: dict[str, NDArray[Any]] = {
        "index": plan.number,
        "deal": plan.deal,
        "players": plan.players.astype(np.int8),
        "start_player": starts.astype(np.int8),
        "decisions": table.decisions.astype(np.int32),
        "rounds": columns(state, "round").astype(np.int8),
        "moves_hash": table.hashes,
        "version": np.full(len(state), version, dtype=np.int32),
    }
    per_seat = {
        "seat": seat.astype(np.int8),
        "turn_position": ((seat - starts[game]) % plan.players[game]).astype(np.int8),
        "player": [NAME_OF_CODE[code] for code in plan.codes[game, seat].tolist()],
        "influence": influence[game, seat].astype(np.int16),
        "rank": ranks[game, seat].astype(np.int8),
        "start_influence": began[game, seat].astype(np.int16),
    }
    sources = {name: table.ledger[game, seat, column] for column, name in enumerate(LEDGER_SOURCES)}
    return pl.DataFrame({name: values[game] for name, values in per_game.items()} | per_seat | sources)
