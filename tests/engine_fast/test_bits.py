"""Bit tricks and the random generator against plain Python integers, compiled and not, with and without BMI2."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from engine_fast import bits
from tests.engine_fast.splitmix import SplitMix

ALL = 2**64 - 1
RNG = random.Random(1)
EDGES = [
    0,
    1,
    2,
    3,
    1 << 31,
    1 << 32,
    1 << 62,
    1 << 63,
    (1 << 63) | 1,
    ALL,
    ALL - 1,
    0x5555555555555555,
    ALL << 32 & ALL,
]
WORDS = [
    *EDGES,
    *(RNG.getrandbits(64) for _ in range(200)),
    *(RNG.getrandbits(64) & RNG.getrandbits(64) for _ in range(50)),
]


def word(value: int) -> np.uint64:
    return np.uint64(value)


def ones(value: int) -> list[int]:
    """Indices of the 1 bits, ascending."""
    return [i for i in range(64) if value >> i & 1]


def gathered(value: int, mask: int) -> int:
    return sum((value >> bit & 1) << place for place, bit in enumerate(ones(mask)))


@njit
def compiled_popcount(value: Any) -> Any:
    return bits.popcount(value)


@njit
def compiled_lowest_bit(value: Any) -> Any:
    return bits.lowest_bit(value)


@njit
def compiled_extract_bits(value: Any, mask: Any) -> Any:
    return bits.extract_bits(value, mask)


@njit
def compiled_select_bit(value: Any, k: Any) -> Any:
    return bits.select_bit(value, k)


@pytest.mark.parametrize("popcount", [bits.popcount, compiled_popcount], ids=["python", "compiled"])
def test_popcount(popcount: Callable[..., Any]):
    assert [int(popcount(word(value))) for value in WORDS] == [len(ones(value)) for value in WORDS]


@pytest.mark.parametrize("lowest_bit", [bits.lowest_bit, compiled_lowest_bit], ids=["python", "compiled"])
def test_lowest_bit(lowest_bit: Callable[..., Any]):
    values = [value for value in WORDS if value]
    assert [int(lowest_bit(word(value))) for value in values] == [ones(value)[0] for value in values]


EXTRACT = {"python": bits.extract_bits, "compiled": compiled_extract_bits, "loop": bits.loop_extract_bits}
SELECT = {"python": bits.select_bit, "compiled": compiled_select_bit, "loop": bits.loop_select_bit}


@pytest.mark.parametrize("way", EXTRACT)
def test_extract_bits(way: str):
    pairs = [(value, RNG.choice(WORDS)) for value in WORDS] + [(value, ALL) for value in EDGES]
    found = [int(EXTRACT[way](word(value), word(mask))) for value, mask in pairs]
    assert found == [gathered(value, mask) for value, mask in pairs]


@pytest.mark.parametrize("way", SELECT)
def test_select_bit(way: str):
    for value in WORDS:
        assert [int(SELECT[way](word(value), word(k))) for k in range(len(ones(value)))] == ones(value)


def test_low_bits():
    assert [int(bits.low_bits(word(count))) for count in range(64)] == [(1 << count) - 1 for count in range(64)]


def test_results_are_unsigned_words():
    """A signed result would drag its sign into the next shift."""
    high = word(1 << 63)
    for value in (compiled_popcount(high), compiled_lowest_bit(high), bits.low_bits(word(63))):
        assert np.dtype(type(value)) == np.uint64 or value >= 0
    generator = np.array([0], dtype=np.uint64)
    assert 0 <= int(bits.next_random(generator)) < 2**64


def test_published_random_numbers():
    """First outputs of SplitMix64 from state 1234567, as published with the algorithm's other implementations."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    generator, plain = np.array([1234567], dtype=np.uint64), SplitMix(1234567)
    assert [int(bits.next_random(generator)) for _ in range(5)] == published
    assert [plain.next() for _ in range(5)] == published
    assert int(generator[0]) == plain.state


def test_random_below_follows_the_plain_version():
    generator, plain = np.array([99], dtype=np.uint64), SplitMix(99)
    for bound in [1, 2, 3, 7, 24, 637, 2**31] * 50:
        number = int(bits.random_below(generator, word(bound)))
        assert number == plain.below(bound)
        assert 0 <= number < bound


@pytest.mark.parametrize("bound", [2, 3, 7, 60, 343])
def test_random_below_is_even(bound: int):
    generator = np.array([bound], dtype=np.uint64)
    counts = Counter(int(bits.random_below(generator, word(bound))) for _ in range(200 * bound))
    assert chisquare([counts[number] for number in range(bound)]).pvalue > 1e-4


def test_mix_spreads_every_bit():
    """One flipped bit of a word changes about half of the bits of the hash, and no two words collide."""
    start = word(0x243F6A8885A308D3)
    plain = int(bits.mix(start, word(0)))
    flips = [(int(bits.mix(start, word(1 << bit))) ^ plain).bit_count() for bit in range(64)]
    assert sum(flips) / 64 > 16
    assert len({int(bits.mix(start, word(value))) for value in WORDS}) == len(set(WORDS))
