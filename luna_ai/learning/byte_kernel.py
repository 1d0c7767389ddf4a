"""The residual MLP evaluated inside a kernel with blocks in eight bits: `residual_kernel` with less work.

The matrices of the blocks, nearly all of the work, are int8 with a scale for each output; what is multiplied with them
is rounded to bytes with a scale for each row: after a norm to -127 ... 127, moved up by 128, after a rectifier to
0 ... 255; sums are exact. Of the first layer few inputs are not 0, so reading its weights is what costs: they are half
precision (in bytes they alone would make a larger error than all blocks). The stream through the blocks and the heads
stay float32. A row's result is the same to the last bit with any neighbours, and on processors with and without VNNI.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from luna_ai.learning.byte_matrix import byte_panels, largest, tile_bytes, tile_bytes_row, tile_sparse_half, to_bytes
from luna_ai.learning.compiling import called, kernel
from luna_ai.learning.feature_table import NUM_FEATURES
from luna_ai.learning.matrix import PANEL, TILE, dot, padded
from luna_ai.learning.residual_kernel import (
    CHUNK,
    NORM_EPSILON,
    Floats,
    Weights,
    add_bias,
    answer_policy,
    answer_win,
    finish,
    gather,
    rectify,
    set_bias,
)
from luna_ai.memory import moved_together, zeros_together

MOST = 127
OFFSET = 128
Bytes = NDArray[np.int8]


class ByteLayer(NamedTuple):
    """The same matrix of all blocks; O outputs, I inputs, filled up to panels."""

    matrix: Bytes  # blocks x panels of [O, I]
    base: NDArray[np.int32]  # [blocks * O] what the offset of the inputs adds, taken away
    scale: Floats  # [blocks * O]


class ByteWeights(NamedTuple):
    """What is rounded of a residual network."""

    stem: NDArray[np.uint16]  # panels of [D, F], the bits of half precision
    first: ByteLayer  # [H, D], gain of the norm multiplied in
    second: ByteLayer  # [D, H]


class ByteScratch(NamedTuple):
    """Memory of an evaluation beside `residual_kernel.Scratch`; D and H as there."""

    stream: NDArray[np.uint8]  # [CHUNK * D]
    inner: NDArray[np.uint8]  # [CHUNK * H]
    factors: Floats  # [CHUNK] scale of each row


def round_rows(matrix: Floats) -> tuple[Bytes, Floats]:
    """`float32[O, I]` as int8 and a scale for each output, `float32[O]`."""
    scale = (np.abs(matrix).max(axis=1) / np.float32(MOST)).astype(np.float32)
    scale[scale == 0] = 1
    return np.rint(matrix / scale[:, np.newaxis]).astype(np.int8), scale


def pack_layer(matrices: list[Floats], offset: int) -> ByteLayer:
    """Matrices `float32[O, I]` of all blocks, both sizes filled up to panels; inputs are moved up by `offset`."""
    nothing = tuple(np.zeros(0, dtype=kind) for kind in (np.int8, np.int32, np.float32))
    parts = [nothing]
    for matrix in matrices:
        outputs, inputs = (padded(size) for size in matrix.shape)
        small, scale = round_rows(matrix)
        base, scales = np.zeros(outputs, dtype=np.int32), np.ones(outputs, dtype=np.float32)
        base[: len(small)] = -offset * small.sum(axis=1, dtype=np.int32)
        scales[: len(small)] = scale
        parts.append((byte_panels(small, inputs), base, scales))
    return ByteLayer(*moved_together([np.concatenate(each) for each in zip(*parts, strict=True)]))


def pack_bytes(weights: Weights, state: Mapping[str, Floats]) -> ByteWeights:
    """Rounds a network.

    Args:
        weights: what `residual_kernel.pack` made of it.
        state: as given to `residual_kernel.pack`.
    """
    each = range(weights.blocks)
    first = [state[f"blocks.{b}.first.weight"] * state[f"blocks.{b}.norm.weight"][np.newaxis] for b in each]
    second = [state[f"blocks.{b}.second.weight"] for b in each]
    (stem,) = moved_together([weights.stem.astype(np.float16).view(np.uint16)])
    return ByteWeights(stem, pack_layer(first, OFFSET), pack_layer(second, 0))


def new_byte_scratch(weights: Weights) -> ByteScratch:
    """Memory for `evaluate_bytes` with these weights."""
    size, inner = len(weights.stem_bias), len(weights.first_bias) // max(1, weights.blocks)
    kinds = {"stream": ((CHUNK * size,), np.uint8), "inner": ((CHUNK * inner,), np.uint8)}
    return ByteScratch(**zeros_together(kinds | {"factors": ((CHUNK,), np.float32)}))


@called
def enter_half(state: Any, rules: Any, row: Any, weights: Any, rounded: Any, scratch: Any) -> None:
    """The first layer: features of a position into row `row` of the stream."""
    size, count = weights.stem_bias.shape[0], gather(state, rules, row, weights, scratch)
    for first in range(0, size, PANEL):
        to, at = row * size + first, first * NUM_FEATURES
        tile_sparse_half(scratch.numbers, scratch.places, count, rounded.stem, at, scratch.stream, to)


@called
def round_normed(weights: Any, scratch: Any, small: Any, rows: Any) -> None:
    """The stream to bytes; the scales of the rows have the norm in them."""
    size = weights.stem_bias.shape[0]
    for row in range(rows):
        at = row * size
        mean = dot(scratch.stream, at, scratch.stream, at, size) / np.float32(weights.width)
        most = max(largest(scratch.stream, at, size), np.float32(1e-30))
        small.factors[row] = most / np.float32(MOST) / np.sqrt(mean + NORM_EPSILON)
        to_bytes(scratch.stream, at, size, np.float32(MOST) / most, np.float32(OFFSET + 0.5), small.stream)


@called
def round_rectified(scratch: Any, inner: Any, small: Any, rows: Any) -> None:
    """What is inside a block, none of it below 0, to bytes."""
    for row in range(rows):
        most = max(largest(scratch.inner, row * inner, inner), np.float32(1e-30))
        small.factors[row] = most / np.float32(255.0)
        to_bytes(scratch.inner, row * inner, inner, np.float32(255.0) / most, np.float32(0.5), small.inner)


@called
def multiply_bytes(
    x: Any, inputs: Any, layer: Any, block: Any, factors: Any, out: Any, outputs: Any, rows: Any
) -> None:
    """Adds bytes times the matrix of a block to `out`: `uint8[rows, inputs]` and `float32[rows, outputs]`, flat."""
    whole = rows - rows % TILE
    for first in range(0, outputs, PANEL):
        column = block * outputs + first
        w, at, base, scale = layer.matrix, column * inputs, layer.base, layer.scale
        for row in range(0, whole, TILE):
            to = row * outputs + first
            tile_bytes(x, row * inputs, inputs, w, at, inputs, base, scale, column, factors, row, out, to, outputs)
        for row in range(whole, rows):
            to = row * outputs + first
            tile_bytes_row(x, row * inputs, w, at, inputs, base, scale, column, factors, row, out, to)


@called
def run_byte_blocks(weights: Any, rounded: Any, scratch: Any, small: Any, rows: Any) -> None:
    """`residual_kernel.run_blocks` in bytes."""
    size = weights.stem_bias.shape[0]
    for block in range(weights.blocks):
        inner = weights.first_bias.shape[0] // weights.blocks
        round_normed(weights, scratch, small, rows)
        set_bias(scratch.inner, inner, weights.first_bias, block * inner, rows)
        multiply_bytes(small.stream, size, rounded.first, block, small.factors, scratch.inner, inner, rows)
        rectify(scratch.inner, rows * inner)
        round_rectified(scratch, inner, small, rows)
        add_bias(scratch.stream, size, weights.second_bias, block * size, rows)
        multiply_bytes(small.inner, inner, rounded.second, block, small.factors, scratch.stream, size, rows)
    finish(weights, scratch, rows)


@kernel
def evaluate_bytes(
    states: Any, masks: Any, rules: Any, weights: Any, rounded: Any, scratch: Any, small: Any, logits: Any, values: Any
) -> None:  # fmt: skip
    """Evaluates positions; arrays as in `luna_ai.search.evaluators.Evaluator.evaluate`."""
    size = weights.stem_bias.shape[0]
    for start in range(0, states.shape[0], CHUNK):
        rows = min(CHUNK, states.shape[0] - start)
        for row in range(rows):
            enter_half(states[start + row], rules, row, weights, rounded, scratch)
        run_byte_blocks(weights, rounded, scratch, small, rows)
        for row in range(rows):
            answer_policy(masks[start + row], row * size, weights, scratch, logits[start + row])
            answer_win(states[start + row], row * size, weights, scratch, values[start + row])
