"""Evaluators: what a search asks about a position. A protocol, and those that need no network.

An evaluator is given positions and their legal decisions and writes, for each row by itself, priors (as logits) and
win probabilities by absolute seat. No row may depend on another: a game's search must not change with its neighbours.

`uniform` knows nothing. `hash` draws priors and values from a hash of the position: free of cost and of meaning, but
trees grow as real ones do, so it measures the search alone. `playout` plays to the end at random. The network's
evaluator keeps to the same protocol; nothing in `luna_ai.search` imports torch.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.batch import legal_batch, position_hash
from engine_fast.bits import U0, U1, lowest_bit, mix
from engine_fast.layout import MAX_PLAYERS, OVER, STATE_WORDS, copy_position
from engine_fast.playout import choose_uniform
from engine_fast.position import new_ledger
from luna_ai.search.compiling import called, inline, kernel
from luna_ai.search.rollout import final_values

HASH_LOGIT_SPAN = 4.0
"""Logits of `hash` lie between 0 and this: the likeliest of 50 decisions gets about 7 %."""


class Batch(NamedTuple):
    """n positions put before an evaluator, and room for its answers; all arrays are C-contiguous."""

    states: NDArray[np.uint64]  # [n, STATE_WORDS], none of them over
    masks: NDArray[np.uint64]  # [n, MASK_WORDS] their legal decisions
    rules: NDArray[np.uint64]  # the rules table
    logits: NDArray[np.float32]  # [n, NUM_ACTIONS] answer: log-probabilities up to a constant; those of decisions that
    # are not legal do not count, whatever they are
    values: NDArray[np.float32]  # [n, 4] answer: win probabilities by absolute seat; absent seats 0, sum 1


def new_batch(states: NDArray[np.uint64], rules: NDArray[np.uint64]) -> Batch:
    """A batch of `uint64[n, STATE_WORDS]`, with the legal decisions and room for answers."""
    masks = np.zeros((len(states), actions.MASK_WORDS), dtype=np.uint64)
    legal_batch(states, rules, masks)
    logits = np.zeros((len(states), actions.NUM_ACTIONS), dtype=np.float32)
    return Batch(states, masks, rules, logits, np.zeros((len(states), MAX_PLAYERS), dtype=np.float32))


class Evaluator(Protocol):
    """Answers what is asked of positions."""

    def evaluate(self, batch: Batch) -> None:
        """Writes the answers, `batch.logits` and `batch.values`; every row by itself."""


class UniformEvaluator:
    """Equal priors and equal chances."""

    name = "uniform"

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        players = layout.columns(batch.states, "players")[:, np.newaxis]
        batch.logits[:] = 0.0
        batch.values[:] = np.where(np.arange(MAX_PLAYERS) < players, 1.0 / players, 0.0)


class HashEvaluator:
    """Priors and chances from a hash of the position."""

    name = "hash"

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        hash_answers(batch.states, batch.masks, batch.logits, batch.values)


class PlayoutEvaluator:
    """Equal priors, and the mean result of uniform random playouts.

    The randomness of a row comes from the position and the seed alone, so that neighbours do not matter.
    """

    name = "playout"

    def __init__(self, playouts: int = 1, seed: int = 0) -> None:
        """Plays each position to its end `playouts` times (at least 1)."""
        self.playouts, self.seed = playouts, np.uint64(seed)
        self._state, self._ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
        self._result, self._generator = np.zeros(MAX_PLAYERS), np.zeros(1, dtype=np.uint64)

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        batch.logits[:] = 0.0
        scratch = (self._state, self._ledger, self._result, self._generator)
        playout_answers(batch.states, batch.rules, self.playouts, self.seed, *scratch, batch.values)


@inline
def hash_share(hashed: Any) -> Any:
    """A float32 in [0, 1) from the upper bits of a hash."""
    return np.float32(hashed >> np.uint64(40)) * np.float32(1.0 / 16777216.0)


@inline
def write_hash_value(hashed: Any, players: Any, row: Any) -> None:
    """Chances of the present seats, from a hash."""
    total, drawn = np.float32(0.0), hashed
    for seat in range(MAX_PLAYERS):
        row[seat] = np.float32(0.0)
        if np.uint64(seat) < players:
            drawn = mix(drawn, U1)
            row[seat] = hash_share(drawn) + np.float32(0.01)
            total += row[seat]
    for seat in range(MAX_PLAYERS):
        row[seat] /= total


@kernel
def hash_answers(states: Any, masks: Any, logits: Any, values: Any) -> None:
    """Writes the answers of `hash`; arrays as in `Batch`."""
    span = np.float32(HASH_LOGIT_SPAN)
    for i in range(states.shape[0]):
        hashed = position_hash(states[i])
        write_hash_value(hashed, layout.players(states[i]), values[i])
        for word in range(actions.MASK_WORDS):
            bits = masks[i, word]
            while bits != U0:
                action = np.uint64(64 * word) + lowest_bit(bits)
                logits[i, action] = span * hash_share(mix(hashed, action))
                bits &= bits - U1


@called
def play_to_the_end(state: Any, rules: Any, generator: Any, ledger: Any) -> None:
    """Plays on at random, in place."""
    while layout.phase(state) != OVER:
        apply(state, choose_uniform(state, rules, generator), rules, ledger)


@kernel
def playout_answers(
    states: Any,
    rules: Any,
    playouts: Any,
    seed: Any,
    state: Any,
    ledger: Any,
    result: Any,
    generator: Any,
    values: Any,
) -> None:
    """Writes the mean results of `playouts` random games from each position into `values`, `float32[n, 4]`."""
    for i in range(states.shape[0]):
        generator[0] = mix(position_hash(states[i]), seed)
        for seat in range(MAX_PLAYERS):
            values[i, seat] = np.float32(0.0)
        for _ in range(playouts):
            copy_position(state, states[i])
            play_to_the_end(state, rules, generator, ledger)
            final_values(state, result)
            for seat in range(MAX_PLAYERS):
                values[i, seat] += np.float32(result[seat] / playouts)
