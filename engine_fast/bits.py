"""Counting, finding, gathering and scattering bits of `uint64` words.

Each function is plain Python that also runs under `NUMBA_DISABLE_JIT=1`; compiled code uses the processor's
instruction instead (`popcnt`, `tzcnt`, and `pext`/`pdep` where the processor has BMI2).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from engine_fast.jit import inline

U0, U1, U2, U3, U4, U7 = (np.uint64(i) for i in (0, 1, 2, 3, 4, 7))
U32 = np.uint64(32)


def _has_bmi2() -> bool:
    if not llvm.get_process_triple().startswith("x86_64"):
        return False
    return bool(llvm.get_host_cpu_features().get("bmi2", False))


HAS_BMI2 = _has_bmi2()


def popcount(word: Any) -> Any:
    """Number of 1 bits of a `uint64`, as `uint64`."""
    return np.uint64(int(word).bit_count())


def lowest_bit(word: Any) -> Any:
    """Index of the lowest 1 bit of a `uint64`, as `uint64`; the word must not be 0 (not checked here)."""
    value = int(word)
    return np.uint64((value & -value).bit_length() - 1)


def extract_bits(word: Any, mask: Any) -> Any:
    """The bits of `word` at the 1 bits of `mask`, packed together from bit 0 on (`pext`)."""
    gathered, position = 0, 0
    for i in range(64):
        if int(mask) >> i & 1:
            gathered |= (int(word) >> i & 1) << position
            position += 1
    return np.uint64(gathered)


def select_bit(word: Any, k: Any) -> Any:
    """Index of the 1 bit of `word` that has exactly `k` 1 bits below it; `k < popcount(word)` (not checked here)."""
    value = int(word)
    for _ in range(int(k)):
        value &= value - 1
    return np.uint64((value & -value).bit_length() - 1)


def _unary_intrinsic(name: str, *extra: Any) -> Any:
    """A typed call of the LLVM intrinsic `name` on one `uint64`; `extra` are constant further arguments."""

    @intrinsic
    def call(typing_context: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            i64 = ir.IntType(64)
            kinds = [i64] + [ir.IntType(1) for _ in extra]
            function = builder.module.declare_intrinsic(name, [i64], ir.FunctionType(i64, kinds))
            return builder.call(function, [arguments[0], *(ir.Constant(ir.IntType(1), value) for value in extra)])

        return types.uint64(types.uint64), codegen

    return call


def _binary_intrinsic(name: str) -> Any:
    """A typed call of the x86 intrinsic `name` on two `uint64`."""

    @intrinsic
    def call(typing_context: Any, left: Any, right: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            i64 = ir.IntType(64)
            function = builder.module.globals.get(name)
            if function is None:
                function = ir.Function(builder.module, ir.FunctionType(i64, [i64, i64]), name=name)
            return builder.call(function, arguments)

        return types.uint64(types.uint64, types.uint64), codegen

    return call


_popcount = _unary_intrinsic("llvm.ctpop")
_lowest_bit = _unary_intrinsic("llvm.cttz", 0)
_pext = _binary_intrinsic("llvm.x86.bmi.pext.64")
_pdep = _binary_intrinsic("llvm.x86.bmi.pdep.64")


@overload(popcount, inline="always", strict=False)
def _overload_popcount(word: Any) -> Any:
    return lambda word: _popcount(word)


@overload(lowest_bit, inline="always", strict=False)
def _overload_lowest_bit(word: Any) -> Any:
    return lambda word: _lowest_bit(word)


@inline
def loop_extract_bits(word: Any, mask: Any) -> Any:
    """`extract_bits` for processors without BMI2: one step per 1 bit of the mask."""
    gathered, position, rest = U0, U0, mask
    while rest != U0:
        gathered |= ((word >> lowest_bit(rest)) & U1) << position
        position += U1
        rest &= rest - U1
    return gathered


@inline
def loop_select_bit(word: Any, k: Any) -> Any:
    """`select_bit` for processors without BMI2: clears the lowest bit `k` times."""
    rest, left = word, k
    while left != U0:
        rest &= rest - U1
        left -= U1
    return lowest_bit(rest)


@overload(extract_bits, inline="always", strict=False)
def _overload_extract_bits(word: Any, mask: Any) -> Any:
    if HAS_BMI2:
        return lambda word, mask: _pext(word, mask)
    return lambda word, mask: loop_extract_bits(word, mask)


@overload(select_bit, inline="always", strict=False)
def _overload_select_bit(word: Any, k: Any) -> Any:
    if HAS_BMI2:
        return lambda word, k: _lowest_bit(_pdep(U1 << k, word))
    return lambda word, k: loop_select_bit(word, k)


@inline
def low_bits(count: Any) -> Any:
    """A word whose `count` lowest bits are 1; `count` is a `uint64` of at most 63 (not checked here)."""
    return (U1 << count) - U1


@inline
def next_random(generator: Any) -> Any:
    """The next 64 random bits; `generator` is `uint64[1]` and is moved on.

    SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): one word of
    state, so that every game, seat and thread can have a generator of its own.
    """
    generator[0] += np.uint64(0x9E3779B97F4A7C15)
    z = generator[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def random_below(generator: Any, bound: Any) -> Any:
    """A random `uint64` below `bound` (1 to 2**31).

    The high half of a 32-bit product (Lemire, "Fast random integer generation in an interval", 2019) without the
    rejection step: the probabilities differ by less than bound / 2**32 from equal.
    """
    return ((next_random(generator) >> U32) * bound) >> U32


@inline
def mix(hashed: Any, word: Any) -> Any:
    """One step of a 64-bit hash over words: add, multiply, xor-shift (constants of SplitMix64)."""
    z = (hashed ^ word) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(29))
