"""The state table: fields have room, do not overlap, and the generated accessors read and write exactly their bits."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.check import field_values
from engine_fast.components import LIMITS
from engine_fast.layout import BOARD_ORDERS, FIELD, FIELDS, INFLUENCE_BIAS, STATE_WORDS, Field
from engine_fast.ruleset import MAX_ACTIONS

ACCESSOR_NAMES = {"round": "round_number"}


def bits_of(field: Field) -> list[set[int]]:
    """For each value of the field, the bits of the whole state that it takes."""
    starts = [word * 64 + shift for word, shift in map(field.place, range(field.count))]
    return [set(range(start, start + field.bits)) for start in starts]


def test_fields_do_not_overlap():
    places = [(field.name, bits) for field in FIELDS for bits in bits_of(field)]
    assert [(a, b) for (a, left), (b, right) in combinations(places, 2) if left & right] == []


def test_fields_fit_into_their_words():
    assert STATE_WORDS <= 16
    for field in FIELDS:
        for bits in bits_of(field):
            assert {bit // 64 for bit in bits} == {min(bits) // 64}, field.name
            assert max(bits) < 64 * STATE_WORDS, field.name


def test_names_are_unique_and_every_field_has_a_meaning():
    assert len(FIELD) == len(FIELDS)
    assert all(field.meaning for field in FIELDS)


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        ("council_seat", LIMITS["council"][1] - 1),
        ("time_tokens", LIMITS["time_tokens"][1]),
        ("actions", MAX_ACTIONS * 4 - 1),
        ("board_order", len(BOARD_ORDERS) - 1),
        ("players", 4),
        ("round", 6),
        ("last", 14),
        ("last_count", 4),
        ("book_from", 27),
        ("shrines", 2**7 - 1),
        ("favors", 2**7 - 1),
        ("temple", 2**28 - 1),
        ("claimed", 2**28 - 1),
        ("path", 2**28 - 1),
        ("books", 2**28 - 1),
        ("pending", 5),
        ("ring", 6),
        ("influence", INFLUENCE_BIAS + 10_000 + 6 * 100 * 8),
    ],
)
def test_the_largest_value_fits(name: str, largest: int):
    """The limits of sheets and rule sets are those of the fields."""
    assert largest < 1 << FIELD[name].bits


def test_thirteen_novices_fit_into_a_nibble():
    assert LIMITS["novices"][1] < 16
    assert FIELD["novices"].bits == FIELD["carried"].bits == 16 * 4


def random_state(rng: random.Random) -> NDArray[np.uint64]:
    return np.array([rng.getrandbits(64) for _ in range(STATE_WORDS)], dtype=np.uint64)


def accessor(name: str, prefix: str = ""):
    return getattr(layout, prefix + ACCESSOR_NAMES.get(name, name))


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_generated_reader_reads_the_field(field: Field):
    read, rng = accessor(field.name), random.Random(field.name)
    for state in (random_state(rng) for _ in range(10)):
        expected = field_values(state, field.name)
        if field.count == 1:
            found = [int(read(state))]
        else:
            found = [int(read(state, np.uint64(index))) for index in range(field.count)]
        assert found == expected


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_generated_writer_writes_nothing_else(field: Field):
    write, rng = accessor(field.name, "set_"), random.Random(field.name)
    for index in range(field.count):
        for value in (0, (1 << field.bits) - 1, rng.getrandbits(field.bits)):
            state = random_state(rng)
            word, shift = field.place(index)
            expected = [int(w) for w in state]
            expected[word] = expected[word] & ~(((1 << field.bits) - 1) << shift) | value << shift
            where = () if field.count == 1 else (np.uint64(index),)
            write(state, *where, np.uint64(value))
            assert [int(w) for w in state] == expected


def test_nibbles():
    novices = np.uint64(0xFEDCBA9876543210)
    assert [int(layout.nibble(novices, np.uint64(index))) for index in range(16)] == list(range(16))
    assert int(layout.nibbles(np.uint64(13), np.uint64(15))) == 13 << 60


def test_board_orders_are_all_ordered_choices():
    assert len(BOARD_ORDERS) == len(set(BOARD_ORDERS)) == 12 + 24 + 24
    for players, first in layout.FIRST_BOARD_ORDER.items():
        group = BOARD_ORDERS[first : first + layout.NUM_BOARD_ORDERS[players]]
        assert {len(order) for order in group} == {players}
        assert all(len(set(order)) == players for order in group)
