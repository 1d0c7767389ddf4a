"""Products of rows of bytes and matrices of bytes, for the network's evaluation in eight bits; and of few half numbers.

Rows are uint8, matrices int8, sums int32. A processor with VNNI (x86's `vpdpbusd`) adds up 64 products in one
instruction; others get the same sums, being whole numbers, from multiplications in pieces. What is written in LLVM's
own language here (see `matrix`) is plain Python as well, for `NUMBA_DISABLE_JIT=1`.

A matrix is kept in panels of 64 columns as in `matrix`, but four inputs of a column stand side by side, as the
instruction wants them: panel p holds, for inputs 4 g to 4 g + 3, 64 columns of four bytes (see `byte_panels`).

Each row of numbers has a scale of its own (its largest number, see `largest`) and each column of a matrix too, so a
row's result is the same to the last bit with any neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from luna_ai.learning.matrix import LANES, PANEL, TILE, VECTORS, Writer, intrinsic, padded

FOUR = 4
"""Products that one lane of the instruction adds up."""
STEP = FOUR * PANEL
"""Bytes of a panel for four inputs."""

_F32, _I8, _I32, _I64 = ir.FloatType(), ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FLOATS, _WORDS = ir.VectorType(_F32, LANES), ir.VectorType(_I32, LANES)
_BYTES = ir.VectorType(_I8, FOUR * LANES)
_FEW_BYTES, _HALVES = ir.VectorType(_I8, LANES), ir.VectorType(ir.HalfType(), LANES)


def byte_panels(matrix: NDArray[np.int8], inputs: int) -> NDArray[np.int8]:
    """`int8[outputs, inputs]` in panels, flat; outputs filled up with 0, inputs to `inputs` (a multiple of 64)."""
    outputs, given = matrix.shape
    filled = np.zeros((padded(outputs), inputs), dtype=np.int8)
    filled[:outputs, :given] = matrix
    by_panel = filled.reshape(-1, PANEL, inputs // FOUR, FOUR).transpose(0, 2, 1, 3)  # [panels, inputs / 4, 64, 4]
    return np.ascontiguousarray(by_panel).ravel()


# --- plain Python -----------------------------------------------------------------------------------------------------


def tile_bytes(
    x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any,
    row: Any, out: Any, out_at: Any, out_stride: Any,
) -> Any:  # fmt: skip
    """Adds to 4 rows by 64 columns of `out` the scaled product of 4 rows of bytes and the panel at `w_at`.

    out += (base + x w) * scale of the column * factor of the row, rounded after each step.

    Args:
        x, x_at, x_stride: `uint8`, first number of the first row, distance of rows.
        w, w_at, k: `int8` panels, where the panel begins, number of inputs (a multiple of 4).
        base, scales, column: `int32` and `float32` of all columns, the panel's first.
        factors, row: `float32` of all rows, the first one's place.
        out, out_at, out_stride: `float32`, as x.
    """
    for index in range(TILE):
        x_first, out_first = x_at + index * x_stride, out_at + index * out_stride
        tile_bytes_row(x, x_first, w, w_at, k, base, scales, column, factors, row + index, out, out_first)
    return 0


def tile_bytes_row(
    x: Any, x_at: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any, row: Any,
    out: Any, out_at: Any,
) -> Any:  # fmt: skip
    """`tile_bytes` of a single row."""
    numbers = x[x_at : x_at + k].astype(np.int32).reshape(k // FOUR, 1, FOUR)
    block = w[w_at : w_at + k * PANEL].astype(np.int32).reshape(k // FOUR, PANEL, FOUR)
    sums = (base[column : column + PANEL] + (numbers * block).sum(axis=(0, 2))).astype(np.float32)
    out[out_at : out_at + PANEL] += sums * scales[column : column + PANEL] * factors[row]
    return 0


def tile_sparse_half(numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any) -> Any:
    """`matrix.tile_sparse` of weights in half precision, the bits of which are given as `uint16`."""
    for index in range(count):
        first = w_at + places[index] * PANEL
        out[out_at : out_at + PANEL] += numbers[index] * w[first : first + PANEL].view(np.float16).astype(np.float32)
    return 0


def largest(x: Any, at: Any, count: Any) -> Any:
    """The largest absolute value of `count` numbers, a multiple of 64."""
    return np.abs(x[at : at + count]).max()


def to_bytes(x: Any, at: Any, count: Any, factor: Any, offset: Any, out: Any) -> Any:
    """`count` numbers (a multiple of 64) times a factor plus an offset, cut off to `uint8`, at the same place in `out`.

    The results must lie from 0 to 255 (not checked here).
    """
    out[at : at + count] = (x[at : at + count] * factor + offset).astype(np.uint8)
    return 0


# --- LLVM -------------------------------------------------------------------------------------------------------------


def has_vnni(context: Any) -> bool:
    """Whether the processor that is compiled for has the instruction."""
    return "+avx512vnni" in context.codegen().magic_tuple()[2].split(",")


class ByteWriter(Writer):
    """Writes vector code with bytes."""

    def vector(self, base: Any, at: Any, kind: Any, align: int) -> Any:
        """A vector of any type that begins at a number of an array."""
        pointer = self.builder.bitcast(self.builder.gep(base, [at]), kind.as_pointer())
        return self.builder.load(pointer, align=align)

    def four(self, base: Any, at: Any) -> Any:
        """Four bytes, 16 times."""
        pointer = self.builder.bitcast(self.builder.gep(base, [at]), _I32.as_pointer())
        number = self.builder.load(pointer, align=1)
        undefined = ir.Constant(_WORDS, ir.Undefined)
        first = self.builder.insert_element(undefined, number, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(first, undefined, ir.Constant(_WORDS, [0] * LANES))

    def call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        """Calls one of LLVM's functions."""
        known = self.builder.module.globals.get(name)
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(known or ir.Function(self.builder.module, kind, name=name), arguments)


def fours_by_instruction(at: ByteWriter, sums: Any, numbers: Any, weights: Any) -> Any:
    """Adds to 16 sums the products of four bytes each, by VNNI."""
    return at.call("llvm.x86.avx512.vpdpbusd.512", _WORDS, [sums, numbers, weights])


def fours_in_pieces(at: ByteWriter, sums: Any, numbers: Any, weights: Any) -> Any:
    """The same on any processor."""
    builder, wide = at.builder, ir.VectorType(_I32, FOUR * LANES)
    products = builder.mul(
        builder.zext(builder.bitcast(numbers, _BYTES), wide), builder.sext(builder.bitcast(weights, _BYTES), wide)
    )
    while products.type.count > LANES:
        places = range(0, products.type.count, 2)
        kind = ir.VectorType(_I32, len(places))
        even, odd = (
            builder.shuffle_vector(products, products, ir.Constant(kind, [place + odd for place in places]))
            for odd in (0, 1)
        )
        products = builder.add(even, odd)
    return builder.add(sums, products)


def write_byte_tile(
    at: ByteWriter, rows: int, x: Any, x_starts: list[Any], w: Any, w_at: Any, k: Any, base: Any, scales: Any,
    column: Any, factors: Any, row: Any, out: Any, outs: list[Any], fours: Any,
) -> None:  # fmt: skip
    """rows x VECTORS sums, kept in registers over k."""
    builder = at.builder
    places = [LANES * each for each in range(VECTORS)]
    bases = [at.vector(base, at.add(column, place), _WORDS, 4) for place in places]

    def step(index: Any, carried: list[Any]) -> list[Any]:
        first = at.add(w_at, at.times(index, STEP))
        weights = [at.vector(w, at.add(first, FOUR * place), _WORDS, 1) for place in places]
        numbers = [at.four(x, at.add(start, at.times(index, FOUR))) for start in x_starts]
        return [
            fours(at, carried[each * VECTORS + v], numbers[each], weights[v])
            for each in range(rows)
            for v in range(VECTORS)
        ]

    groups = builder.sdiv(k, ir.Constant(_I64, FOUR))
    found = at.sum_up(groups, bases * rows, step)
    scale = [at.load(scales, at.add(column, place)) for place in places]
    for each in range(rows):
        factor = at.splat(at.number(factors, at.add(row, each)))
        for v, place in enumerate(places):
            to = at.add(outs[each], place)
            scaled = builder.fmul(builder.fmul(builder.sitofp(found[each * VECTORS + v], _FLOATS), scale[v]), factor)
            at.store(builder.fadd(at.load(out, to), scaled), out, to)


_ROW, _INT = types.Array(types.float32, 1, "C"), types.int64
_U8, _S8 = types.Array(types.uint8, 1, "C"), types.Array(types.int8, 1, "C")
_SUMS, _HALF = types.Array(types.int32, 1, "C"), types.Array(types.uint16, 1, "C")
_PLACES = types.Array(types.int64, 1, "C")


@intrinsic
def _tile_bytes(
    typing: Any, x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any,
    factors: Any, row: Any, out: Any, out_at: Any, out_stride: Any,
) -> Any:  # fmt: skip
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = ByteWriter(context, builder, signature, arguments)
        x, x_at, x_stride, w, w_at, k, base, scales, column, factors, row, out, out_at, out_stride = at.values
        starts = [at.add(x_at, at.times(x_stride, each)) for each in range(TILE)]
        outs = [at.add(out_at, at.times(out_stride, each)) for each in range(TILE)]
        fours = fours_by_instruction if has_vnni(context) else fours_in_pieces
        write_byte_tile(at, TILE, x, starts, w, w_at, k, base, scales, column, factors, row, out, outs, fours)
        return ir.Constant(_I64, 0)

    kinds = (_U8, _INT, _INT, _S8, _INT, _INT, _SUMS, _ROW, _INT, _ROW, _INT, _ROW, _INT, _INT)
    return _INT(*kinds), codegen


def row_of_tile(fours: Any) -> Any:
    """The code of `tile_bytes_row`; `fours` adds up four products, None for the best of this processor."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = ByteWriter(context, builder, signature, arguments)
        x, x_at, w, w_at, k, base, scales, column, factors, row, out, out_at = at.values
        chosen = fours or (fours_by_instruction if has_vnni(context) else fours_in_pieces)
        write_byte_tile(at, 1, x, [x_at], w, w_at, k, base, scales, column, factors, row, out, [out_at], chosen)
        return ir.Constant(_I64, 0)

    kinds = (_U8, _INT, _S8, _INT, _INT, _SUMS, _ROW, _INT, _ROW, _INT, _ROW, _INT)
    return _INT(*kinds), codegen


@intrinsic
def _tile_bytes_row(
    typing: Any, x: Any, x_at: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any,
    row: Any, out: Any, out_at: Any,
) -> Any:  # fmt: skip
    return row_of_tile(None)


@intrinsic
def _tile_sparse_half(
    typing: Any, numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = ByteWriter(context, builder, signature, arguments)
        numbers, places, count, w, w_at, out, out_at = at.values
        columns = [LANES * each for each in range(VECTORS)]

        def step(index: Any, carried: list[Any]) -> list[Any]:
            first = at.add(w_at, at.times(at.number(places, index), PANEL))
            number = at.splat(at.number(numbers, index))
            halves = [at.vector(w, at.add(first, column), _HALVES, 2) for column in columns]
            return [at.fma(number, builder.fpext(h, _FLOATS), c) for h, c in zip(halves, carried, strict=True)]

        sums = [at.load(out, at.add(out_at, column)) for column in columns]
        for column, total in zip(columns, at.sum_up(count, sums, step), strict=True):
            at.store(total, out, at.add(out_at, column))
        return ir.Constant(_I64, 0)

    return _INT(_ROW, _PLACES, _INT, _HALF, _INT, _ROW, _INT), codegen


@intrinsic
def _largest(typing: Any, x: Any, at: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = ByteWriter(context, builder, signature, arguments)
        x, first, count = at.values

        def greater(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        def step(index: Any, carried: list[Any]) -> list[Any]:
            places = [at.add(at.add(first, at.times(index, PANEL)), LANES * v) for v in range(VECTORS)]
            sizes = [at.call("llvm.fabs.v16f32", _FLOATS, [at.load(x, place)]) for place in places]
            return [greater(size, most) for size, most in zip(sizes, carried, strict=True)]

        zero = ir.Constant(_FLOATS, [0.0] * LANES)
        a, b, c, d = at.sum_up(builder.sdiv(count, ir.Constant(_I64, PANEL)), [zero] * VECTORS, step)
        found, width = greater(greater(a, b), greater(c, d)), LANES // 2
        while width:
            turn = ir.Constant(_WORDS, [(lane + width) % LANES for lane in range(LANES)])
            found = greater(builder.shuffle_vector(found, found, turn), found)
            width //= 2
        return builder.extract_element(found, ir.Constant(_I32, 0))

    return types.float32(_ROW, _INT, _INT), codegen


@intrinsic
def _to_bytes(typing: Any, x: Any, at: Any, count: Any, factor: Any, offset: Any, out: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = ByteWriter(context, builder, signature, arguments)
        x, first, count, factor, offset, out = at.values
        factor, offset = at.splat(factor), at.splat(offset)

        def step(index: Any, carried: list[Any]) -> list[Any]:
            for v in range(VECTORS):
                place = at.add(at.add(first, at.times(index, PANEL)), LANES * v)
                number = builder.fadd(builder.fmul(at.load(x, place), factor), offset)
                octets = builder.trunc(builder.fptosi(number, _WORDS), _FEW_BYTES)
                builder.store(octets, builder.bitcast(builder.gep(out, [place]), _FEW_BYTES.as_pointer()), align=1)
            return []

        at.sum_up(builder.sdiv(count, ir.Constant(_I64, PANEL)), [], step)
        return ir.Constant(_I64, 0)

    return _INT(_ROW, _INT, _INT, types.float32, types.float32, _U8), codegen


@overload(tile_bytes, inline="always", strict=False)
def _overload_tile_bytes(
    x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any,
    row: Any, out: Any, out_at: Any, out_stride: Any,
) -> Any:  # fmt: skip
    return lambda x, x_at, x_stride, w, w_at, k, base, scales, column, factors, row, out, out_at, out_stride: (
        _tile_bytes(x, x_at, x_stride, w, w_at, k, base, scales, column, factors, row, out, out_at, out_stride)
    )


@overload(tile_bytes_row, inline="always", strict=False)
def _overload_tile_bytes_row(
    x: Any, x_at: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any, row: Any,
    out: Any, out_at: Any,
) -> Any:  # fmt: skip
    return lambda x, x_at, w, w_at, k, base, scales, column, factors, row, out, out_at: _tile_bytes_row(
        x, x_at, w, w_at, k, base, scales, column, factors, row, out, out_at
    )


@overload(tile_sparse_half, inline="always", strict=False)
def _overload_tile_sparse_half(numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any) -> Any:
    return lambda numbers, places, count, w, w_at, out, out_at: _tile_sparse_half(
        numbers, places, count, w, w_at, out, out_at
    )


@overload(largest, inline="always", strict=False)
def _overload_largest(x: Any, at: Any, count: Any) -> Any:
    return lambda x, at, count: _largest(x, at, count)


@overload(to_bytes, inline="always", strict=False)
def _overload_to_bytes(x: Any, at: Any, count: Any, factor: Any, offset: Any, out: Any) -> Any:
    return lambda x, at, count, factor, offset, out: _to_bytes(x, at, count, factor, offset, out)
