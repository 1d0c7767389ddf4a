"""Products of rows and matrices in vectors of 16 float32, for the network's evaluation inside kernels.

LLVM does not keep a tile of sums in registers when a kernel's loops are written with arrays, and must not reorder a sum
of floats; so the inner loops are written in its own language here: `tile_rows` for a tile of 4 rows (or 1) by 64
columns, `tile_sparse` for one row of which only some numbers are not 0, `dot` for one number. Processors with shorter
vectors get them cut into pieces. Each function is plain Python as well, for `NUMBA_DISABLE_JIT=1`.

A matrix is kept in *panels* of 64 columns: panel p holds, for each input k, the weights of outputs 64 p to 64 p + 63
(see `panels`). Every sum over k runs from the first to the last, by fused multiply-add, whatever the tile, so a row's
result is the same to the last bit with any neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import overload
from numba.np import arrayobj as numba_arrays
from numpy.typing import NDArray

intrinsic: Callable[[Callable[..., Any]], Any] = (
    numba_intrinsic  # numba's type information does not know what the decorator makes
)
arrayobj: Any = numba_arrays
LANES = 16
VECTORS = 4
PANEL = LANES * VECTORS
TILE = 4

_F32, _I32, _I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_F32, LANES)
_SPLAT = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)


def padded(count: int) -> int:
    """The next multiple of a panel's width."""
    return -(-count // PANEL) * PANEL


def panels(matrix: NDArray[np.float32], inputs: int | None = None) -> NDArray[np.float32]:
    """`float32[outputs, inputs]` in panels, flat; outputs (and inputs, to `inputs`) filled up with 0."""
    outputs, given = matrix.shape
    rows = given if inputs is None else inputs
    filled = np.zeros((padded(outputs), rows), dtype=np.float32)
    filled[:outputs, :given] = matrix
    by_panel = filled.reshape(-1, PANEL, rows).transpose(0, 2, 1)  # [panels, inputs, 64]
    return np.ascontiguousarray(by_panel).ravel()


# --- plain Python -----------------------------------------------------------------------------------------------------


def tile_rows(
    x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any, out_stride: Any
) -> Any:
    """Adds to 4 rows by 64 columns of `out` the product of 4 rows of `x` (k numbers each) and the panel at `w_at`.

    Flat float32 arrays; positions, strides and k are int64 (not checked here).
    """
    block = w[w_at : w_at + k * PANEL].reshape(k, PANEL)
    for row in range(TILE):
        numbers = x[x_at + row * x_stride : x_at + row * x_stride + k]
        out[out_at + row * out_stride : out_at + row * out_stride + PANEL] += numbers @ block
    return 0


def tile_row(x: Any, x_at: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any) -> Any:
    """`tile_rows` of a single row."""
    out[out_at : out_at + PANEL] += x[x_at : x_at + k] @ w[w_at : w_at + k * PANEL].reshape(k, PANEL)
    return 0


def tile_sparse(numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any) -> Any:
    """Adds to 64 columns the product of a row that is 0 but for `count` numbers, at the inputs `places` (int64)."""
    for index in range(count):
        first = w_at + places[index] * PANEL
        out[out_at : out_at + PANEL] += numbers[index] * w[first : first + PANEL]
    return 0


def not_zero(x: Any, at: Any) -> Any:
    """`uint64` with a bit for each of 64 numbers that is not 0."""
    return np.uint64(sum(1 << place for place in range(PANEL) if x[at + place] != 0))


def dot(x: Any, x_at: Any, w: Any, w_at: Any, count: Any) -> Any:
    """Sum of products of `count` numbers, a multiple of 64."""
    return np.float32(x[x_at : x_at + count] @ w[w_at : w_at + count])


# --- LLVM -------------------------------------------------------------------------------------------------------------


class Writer:
    """Writes vector code at the place where an intrinsic is called."""

    def __init__(self, context: Any, builder: Any, signature: Signature, arguments: Any) -> None:
        """Takes arrays apart into their pointers."""
        self.builder, self.values = builder, list(arguments)
        for index, (kind, value) in enumerate(zip(signature.args, arguments, strict=True)):
            if isinstance(kind, types.Array):
                self.values[index] = arrayobj.make_array(kind)(context, builder, value).data
        name = "llvm.fma.v16f32"
        known = builder.module.globals.get(name)
        self.fma_function = known or ir.Function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR] * 3), name=name)

    def add(self, a: Any, b: Any) -> Any:
        """Sum of two positions."""
        return self.builder.add(a, b if not isinstance(b, int) else ir.Constant(_I64, b))

    def times(self, a: Any, factor: int) -> Any:
        """A position times a constant."""
        return self.builder.mul(a, ir.Constant(_I64, factor))

    def _pointer(self, base: Any, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(base, [at]), _VECTOR.as_pointer())

    def load(self, base: Any, at: Any) -> Any:
        """16 numbers."""
        return self.builder.load(self._pointer(base, at), align=4)

    def store(self, value: Any, base: Any, at: Any) -> None:
        """Stores 16 numbers."""
        self.builder.store(value, self._pointer(base, at), align=4)

    def number(self, base: Any, at: Any) -> Any:
        """One number."""
        return self.builder.load(self.builder.gep(base, [at]))

    def splat(self, number: Any) -> Any:
        """16 times the same number."""
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = self.builder.insert_element(undefined, number, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(first, undefined, _SPLAT)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a x b + c."""
        return self.builder.call(self.fma_function, [a, b, c])

    def sum_up(self, count: Any, sums: list[Any], step: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
        """A loop over `count` steps that carries vectors of sums."""
        builder, before = self.builder, self.builder.block
        head, body, done = (builder.append_basic_block(name) for name in ("sum.head", "sum.body", "sum.done"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(_I64)
        carried = [builder.phi(first.type) for first in sums]
        builder.cbranch(builder.icmp_signed("<", index, count), body, done)
        builder.position_at_end(body)
        after = step(index, carried)
        following = self.add(index, 1)
        index.add_incoming(ir.Constant(_I64, 0), before)
        index.add_incoming(following, builder.block)
        for phi, first, last in zip(carried, sums, after, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(last, builder.block)
        builder.branch(head)
        builder.position_at_end(done)
        return carried


def _write_tile(
    at: Writer, rows: int, x: Any, x_starts: list[Any], w: Any, w_at: Any, k: Any, out: Any, outs: list[Any]
) -> None:
    """rows x VECTORS sums, kept in registers over k."""
    columns = range(VECTORS)
    sums = [at.load(out, at.add(outs[row], LANES * column)) for row in range(rows) for column in columns]

    def step(index: Any, carried: list[Any]) -> list[Any]:
        first = at.add(w_at, at.times(index, PANEL))
        weights = [at.load(w, at.add(first, LANES * column)) for column in columns]
        numbers = [at.splat(at.number(x, at.add(start, index))) for start in x_starts]
        return [
            at.fma(numbers[row], weights[column], carried[row * VECTORS + column])
            for row in range(rows)
            for column in columns
        ]

    found = at.sum_up(k, sums, step)
    for row in range(rows):
        for column in columns:
            at.store(found[row * VECTORS + column], out, at.add(outs[row], LANES * column))


_ROW = types.Array(types.float32, 1, "C")
_PLACES = types.Array(types.int64, 1, "C")
_INT = types.int64


@intrinsic
def _tile_rows(
    typing: Any, x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any, out_stride: Any
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = Writer(context, builder, signature, arguments)
        x, x_at, x_stride, w, w_at, k, out, out_at, out_stride = at.values
        rows = [(ir.Constant(_I64, row)) for row in range(TILE)]
        starts = [at.add(x_at, builder.mul(row, x_stride)) for row in rows]
        outs = [at.add(out_at, builder.mul(row, out_stride)) for row in rows]
        _write_tile(at, TILE, x, starts, w, w_at, k, out, outs)
        return ir.Constant(_I64, 0)

    return _INT(_ROW, _INT, _INT, _ROW, _INT, _INT, _ROW, _INT, _INT), codegen


@intrinsic
def _tile_row(typing: Any, x: Any, x_at: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = Writer(context, builder, signature, arguments)
        x, x_at, w, w_at, k, out, out_at = at.values
        _write_tile(at, 1, x, [x_at], w, w_at, k, out, [out_at])
        return ir.Constant(_I64, 0)

    return _INT(_ROW, _INT, _ROW, _INT, _INT, _ROW, _INT), codegen


@intrinsic
def _tile_sparse(typing: Any, numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = Writer(context, builder, signature, arguments)
        numbers, places, count, w, w_at, out, out_at = at.values
        columns = range(VECTORS)

        def step(index: Any, carried: list[Any]) -> list[Any]:
            first = at.add(w_at, at.times(at.number(places, index), PANEL))
            number = at.splat(at.number(numbers, index))
            return [at.fma(number, at.load(w, at.add(first, LANES * c)), carried[c]) for c in columns]

        sums = [at.load(out, at.add(out_at, LANES * column)) for column in columns]
        for column, total in enumerate(at.sum_up(count, sums, step)):
            at.store(total, out, at.add(out_at, LANES * column))
        return ir.Constant(_I64, 0)

    return _INT(_ROW, _PLACES, _INT, _ROW, _INT, _ROW, _INT), codegen


@intrinsic
def _not_zero(typing: Any, x: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = Writer(context, builder, signature, arguments)
        x, first = at.values
        zero, word = ir.Constant(_VECTOR, [0.0] * LANES), ir.Constant(_I64, 0)
        for column in range(VECTORS):
            found = builder.fcmp_unordered("!=", at.load(x, at.add(first, LANES * column)), zero)
            bits = builder.zext(builder.bitcast(found, ir.IntType(LANES)), _I64)
            word = builder.or_(word, builder.shl(bits, ir.Constant(_I64, LANES * column)))
        return word

    return types.uint64(_ROW, _INT), codegen


@intrinsic
def _dot(typing: Any, x: Any, x_at: Any, w: Any, w_at: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = Writer(context, builder, signature, arguments)
        x, x_at, w, w_at, count = at.values
        columns = range(VECTORS)

        def step(index: Any, carried: list[Any]) -> list[Any]:
            here = at.times(index, PANEL)
            places = [at.add(here, LANES * column) for column in columns]
            return [
                at.fma(at.load(x, at.add(x_at, place)), at.load(w, at.add(w_at, place)), carried[column])
                for column, place in enumerate(places)
            ]

        steps = builder.sdiv(count, ir.Constant(_I64, PANEL))
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        a, b, c, d = at.sum_up(steps, [zero] * VECTORS, step)
        return _sum_of_lanes(builder, builder.fadd(builder.fadd(a, b), builder.fadd(c, d)))

    return types.float32(_ROW, _INT, _ROW, _INT, _INT), codegen


def _sum_of_lanes(builder: Any, vector: Any) -> Any:
    """The sum of 16 numbers: halves are added until one is left."""
    width = LANES // 2
    while width:
        mask = [(lane + width) % LANES for lane in range(LANES)]
        turned = builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_I32, LANES), mask))
        vector = builder.fadd(vector, turned)
        width //= 2
    return builder.extract_element(vector, ir.Constant(_I32, 0))


@overload(tile_rows, inline="always", strict=False)
def _overload_tile_rows(
    x: Any, x_at: Any, x_stride: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any, out_stride: Any
) -> Any:
    return lambda x, x_at, x_stride, w, w_at, k, out, out_at, out_stride: _tile_rows(
        x, x_at, x_stride, w, w_at, k, out, out_at, out_stride
    )


@overload(tile_row, inline="always", strict=False)
def _overload_tile_row(x: Any, x_at: Any, w: Any, w_at: Any, k: Any, out: Any, out_at: Any) -> Any:
    return lambda x, x_at, w, w_at, k, out, out_at: _tile_row(x, x_at, w, w_at, k, out, out_at)


@overload(tile_sparse, inline="always", strict=False)
def _overload_tile_sparse(numbers: Any, places: Any, count: Any, w: Any, w_at: Any, out: Any, out_at: Any) -> Any:
    return lambda numbers, places, count, w, w_at, out, out_at: _tile_sparse(
        numbers, places, count, w, w_at, out, out_at
    )


@overload(not_zero, inline="always", strict=False)
def _overload_not_zero(x: Any, at: Any) -> Any:
    return lambda x, at: _not_zero(x, at)


@overload(dot, inline="always", strict=False)
def _overload_dot(x: Any, x_at: Any, w: Any, w_at: Any, count: Any) -> Any:
    return lambda x, x_at, w, w_at, count: _dot(x, x_at, w, w_at, count)
