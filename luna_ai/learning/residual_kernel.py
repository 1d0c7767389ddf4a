"""The residual MLP evaluated inside a kernel, in float32: from positions to logits of legal decisions and win chances.

The same numbers as `luna_ai.network.ResidualNetwork` up to rounding, and less work: about 4 of 5 features are 0, so the
first layer adds up only the columns of the others; of the policy only legal decisions are computed; auxiliary heads are
not. The gains of the norms are multiplied into the next matrices. Rows are worked on in chunks, so that weights are
read from memory once for many rows; no row depends on another (see `matrix`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.bits import U0, U1, lowest_bit
from engine_fast.layout import MAX_PLAYERS
from luna_ai.learning.compiling import called, inline, kernel
from luna_ai.learning.feature_kernel import seat_after, write_row
from luna_ai.learning.feature_table import NUM_FEATURES
from luna_ai.learning.matrix import PANEL, TILE, dot, not_zero, padded, panels, tile_row, tile_rows, tile_sparse
from luna_ai.memory import moved_together, zeros_together

CHUNK = 64
"""Rows worked on together: their numbers stay in the second cache while the weights pass by."""
NORM_EPSILON = np.float32(1e-5)

Floats = NDArray[np.float32]


class Weights(NamedTuple):
    """A residual network for the kernel; D width, H numbers inside a block, both filled up with 0 to panels."""

    width: int  # D before filling up: the norm's mean is over so many numbers
    blocks: int
    stem: Floats  # panels of [D, F]
    stem_bias: Floats  # [D]
    first: Floats  # blocks x panels of [H, D], gain of the norm multiplied in
    first_bias: Floats  # [blocks * H]
    second: Floats  # blocks x panels of [D, H]
    second_bias: Floats  # [blocks * D]
    gain: Floats  # [D] of the last norm
    policy: Floats  # [A * D], row by row
    policy_bias: Floats  # [A]
    win: Floats  # [P * D]
    win_bias: Floats  # [P]


class Scratch(NamedTuple):
    """Memory of an evaluation."""

    features: Floats  # [F], filled up with 0 to panels
    numbers: Floats  # [F] features that are not 0
    places: NDArray[np.int64]  # [F] where they are
    stream: Floats  # [CHUNK * D] what flows through the blocks
    normed: Floats  # [CHUNK * D]
    inner: Floats  # [CHUNK * H]


def pack(width: int, inner: int, blocks: int, state: Mapping[str, Floats]) -> Weights:
    """The weights of a `ResidualNetwork`, copied from its `state_dict` as arrays.

    Args:
        width, inner, blocks: sizes of the network.
        state: names of `ResidualNetwork.state_dict()` to `float32` arrays.
    """
    full, full_inner = padded(width), padded(inner)

    def row(name: str, size: int) -> Floats:
        return _filled(state[name], size)

    each = range(blocks)
    first = [
        panels(state[f"blocks.{b}.first.weight"] * state[f"blocks.{b}.norm.weight"][np.newaxis], full) for b in each
    ]
    second = [panels(state[f"blocks.{b}.second.weight"], full_inner) for b in each]
    arrays = (
        panels(state["stem.weight"]),
        row("stem.bias", full),
        _joined(first),
        _joined([row(f"blocks.{b}.first.bias", full_inner) for b in each]),
        _joined(second),
        _joined([row(f"blocks.{b}.second.bias", full) for b in each]),
        row("norm.weight", full),
        _joined([_filled(line, full) for line in state["policy.weight"]]),
        np.array(state["policy.bias"], dtype=np.float32),
        _joined([_filled(line, full) for line in state["win.weight"]]),
        np.array(state["win.bias"], dtype=np.float32),
    )
    return Weights(width, blocks, *moved_together(arrays))


def _filled(values: Floats, size: int) -> Floats:
    out = np.zeros(size, dtype=np.float32)
    out[: len(values)] = values
    return out


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def new_scratch(weights: Weights) -> Scratch:
    """Memory for `evaluate_rows` with these weights."""
    full, inner = len(weights.stem_bias), len(weights.first_bias) // max(1, weights.blocks)
    sizes = {"features": padded(NUM_FEATURES), "numbers": NUM_FEATURES, "places": NUM_FEATURES}
    sizes |= {"stream": CHUNK * full, "normed": CHUNK * full, "inner": CHUNK * inner}
    kinds = {name: ((size,), np.int64 if name == "places" else np.float32) for name, size in sizes.items()}
    return Scratch(**zeros_together(kinds))


@called
def gather(state: Any, rules: Any, row: Any, weights: Any, scratch: Any) -> Any:
    """Features of a position that are not 0, and their number; row `row` of the stream becomes the bias."""
    size = weights.stem_bias.shape[0]
    write_row(state, rules, scratch.features)
    count = 0
    for first in range(0, scratch.features.shape[0], PANEL):
        bits = not_zero(scratch.features, first)
        while bits != U0:
            place = first + np.int64(lowest_bit(bits))
            bits &= bits - U1
            scratch.numbers[count] = scratch.features[place]
            scratch.places[count] = place
            count += 1
    for column in range(size):
        scratch.stream[row * size + column] = weights.stem_bias[column]
    return count


@called
def enter(state: Any, rules: Any, row: Any, weights: Any, scratch: Any) -> None:
    """The first layer: features of a position into row `row` of the stream."""
    size, count = weights.stem_bias.shape[0], gather(state, rules, row, weights, scratch)
    for first in range(0, size, PANEL):
        at = first * NUM_FEATURES
        tile_sparse(scratch.numbers, scratch.places, count, weights.stem, at, scratch.stream, row * size + first)


@called
def multiply(x: Any, inputs: Any, matrix: Any, matrix_at: Any, out: Any, outputs: Any, rows: Any) -> None:
    """Adds x times a matrix to `out`: `[rows, inputs]` and `[rows, outputs]`, flat; the matrix in panels."""
    whole = rows - rows % TILE
    for first in range(0, outputs, PANEL):
        at = matrix_at + first * inputs
        for row in range(0, whole, TILE):
            tile_rows(x, row * inputs, inputs, matrix, at, inputs, out, row * outputs + first, outputs)
        for row in range(whole, rows):
            tile_row(x, row * inputs, matrix, at, inputs, out, row * outputs + first)


@called
def normalise(x: Any, size: Any, width: Any, out: Any, rows: Any) -> None:
    """RMSNorm without a gain: each row by the root of the mean of its squares."""
    for row in range(rows):
        at = row * size
        mean = dot(x, at, x, at, size) / np.float32(width)
        scale = np.float32(1.0) / np.sqrt(mean + NORM_EPSILON)
        for column in range(size):
            out[at + column] = x[at + column] * scale


@inline
def set_bias(out: Any, size: Any, bias: Any, bias_at: Any, rows: Any) -> None:
    """Each row of `out` becomes the bias."""
    for row in range(rows):
        for column in range(size):
            out[row * size + column] = bias[bias_at + column]


@inline
def add_bias(out: Any, size: Any, bias: Any, bias_at: Any, rows: Any) -> None:
    """The bias is added to each row of `out`."""
    for row in range(rows):
        for column in range(size):
            out[row * size + column] += bias[bias_at + column]


@inline
def rectify(x: Any, count: Any) -> None:
    """max(x, 0)."""
    for index in range(count):
        x[index] = x[index] if x[index] > np.float32(0.0) else np.float32(0.0)


@called
def run_blocks(weights: Any, scratch: Any, rows: Any) -> None:
    """The residual blocks on the stream, and what `finish` does."""
    size = weights.stem_bias.shape[0]
    for block in range(weights.blocks):
        inner = weights.first_bias.shape[0] // weights.blocks
        matrix_at = block * size * inner
        normalise(scratch.stream, size, weights.width, scratch.normed, rows)
        set_bias(scratch.inner, inner, weights.first_bias, block * inner, rows)
        multiply(scratch.normed, size, weights.first, matrix_at, scratch.inner, inner, rows)
        rectify(scratch.inner, rows * inner)
        add_bias(scratch.stream, size, weights.second_bias, block * size, rows)
        multiply(scratch.inner, inner, weights.second, matrix_at, scratch.stream, size, rows)
    finish(weights, scratch, rows)


@called
def finish(weights: Any, scratch: Any, rows: Any) -> None:
    """The last norm of the stream, cut off at 0, into `normed`."""
    size = weights.stem_bias.shape[0]
    normalise(scratch.stream, size, weights.width, scratch.normed, rows)
    for row in range(rows):
        for column in range(size):
            scratch.normed[row * size + column] *= weights.gain[column]
    rectify(scratch.normed, rows * size)


@called
def answer_policy(mask: Any, at: Any, weights: Any, scratch: Any, logits: Any) -> None:
    """Logits of the legal decisions of a row, `float32[A]`."""
    size = weights.stem_bias.shape[0]
    for word in range(MASK_WORDS):
        bits = mask[word]
        while bits != U0:
            action = 64 * word + np.int64(lowest_bit(bits))
            bits &= bits - U1
            logits[action] = weights.policy_bias[action] + dot(scratch.normed, at, weights.policy, action * size, size)


@called
def answer_win(state: Any, at: Any, weights: Any, scratch: Any, values: Any) -> None:
    """Win probabilities of a row by absolute seat, `float32[P]`: a softmax over the seats that play."""
    size, players = weights.stem_bias.shape[0], np.int64(layout.players(state))
    highest = np.float32(-1e30)
    for seat in range(MAX_PLAYERS):
        values[seat] = np.float32(0.0)
    for p in range(players):
        mine = np.int64(seat_after(state, np.uint64(p)))
        values[mine] = weights.win_bias[p] + dot(scratch.normed, at, weights.win, p * size, size)
        highest = max(highest, values[mine])
    total = np.float32(0.0)
    for p in range(players):  # from the mover on, so that the sum does not change when the seats are rotated
        mine = np.int64(seat_after(state, np.uint64(p)))
        values[mine] = np.exp(values[mine] - highest)
        total += values[mine]
    for seat in range(players):
        values[seat] /= total


@kernel
def evaluate_rows(states: Any, masks: Any, rules: Any, weights: Any, scratch: Any, logits: Any, values: Any) -> None:
    """Evaluates positions; arrays as in `luna_ai.search.evaluators.Evaluator.evaluate`."""
    size = weights.stem_bias.shape[0]
    for start in range(0, states.shape[0], CHUNK):
        rows = min(CHUNK, states.shape[0] - start)
        for row in range(rows):
            enter(states[start + row], rules, row, weights, scratch)
        run_blocks(weights, scratch, rows)
        for row in range(rows):
            answer_policy(masks[start + row], row * size, weights, scratch, logits[start + row])
            answer_win(states[start + row], row * size, weights, scratch, values[start + row])


assert NUM_ACTIONS <= 64 * MASK_WORDS
