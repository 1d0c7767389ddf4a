"""THE state table: where each fact of a position stands in its words.

A position is one C-contiguous `uint64[STATE_WORDS]`, a batch `uint64[B, STATE_WORDS]`. A position of the game has
exactly one encoding (unused bits are 0, absent seats are 0), so equality and hashing are comparisons of words.
Everything that reads or writes a field does it through the accessors made from this table.

Not in the state: the component sheet and the rule set (they are the `rules` table, see `tables.py`) and the ledger of
influence sources (a separate array, see `LEDGER_SOURCES`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.jit import inline
from engine_fast.kinds import NUM_KINDS

MAX_PLAYERS = 4
NUM_ROUNDS = 6
BOOK, BRIBERY, NOVICE, SAILBOAT, HERBS, SHRINE, TIDE = range(NUM_KINDS)


@dataclass(frozen=True)
class Field:
    """One row of the table: `count` values of `bits` bits, the first at `shift` of `word`, each `step` bits on."""

    name: str
    word: int
    shift: int
    bits: int
    meaning: str
    count: int = 1
    step: int = 0

    def place(self, index: int) -> tuple[int, int]:
        """Word and shift of value `index`."""
        at = self.word * 64 + self.shift + index * self.step
        return at // 64, at % 64


# fmt: off
FIELDS = (
    #     name            word shift bits  meaning
    Field("novices",         0,  0, 64, "nibbles of a seat: active, inactive by kind, landing stage, supply", 4, 64),
    Field("temple",          4,  0, 28, "Temple spaces with a novice of the seat, bit tile - 1", 4, 64),
    Field("claimed",         4, 28, 28, "tiles on the path with a novice of the seat, bit tile - 1", 4, 64),
    Field("shrines",         4, 56,  7, "isles with a shrine of the seat, bit kind", 4, 64),
    Field("favors",          8,  0,  7, "favor tokens of the seat, bit kind", 4, 8),
    Field("council_seat",    8, 32,  4, "Council seat of the seat's piece", 4, 4),
    Field("council_rank",    8, 48,  2, "pieces that precede the seat's piece in the Council", 4, 2),
    Field("influence",       9,  0, 16, "influence of the seat + INFLUENCE_BIAS; 0 for an absent seat", 4, 16),
    Field("path",           10,  0, 28, "unclaimed tiles on the path, bit tile - 1"),
    Field("books",          10, 28, 28, "Temple spaces with a Book, bit tile - 1"),
    Field("players",        11,  0,  3, "number of players, 2 to 4"),
    Field("phase",          11,  3,  2, "SHRINES, NOVICES, ACTION or OVER"),
    Field("pending",        11,  5,  3, "the step of an unfinished action: NONE, GIVE_BOOK, JOURNEY_LIFT, ..."),
    Field("to_move",        11,  8,  2, "seat to decide; 0 when over"),
    Field("start_player",   11, 10,  2, "start player of the round"),
    Field("round",          11, 12,  3, "1 to 6"),
    Field("time_tokens",    11, 15,  4, "Time tokens still to be turned in the round"),
    Field("actions",        11, 19, 10, "actions completed in the round"),
    Field("book_bonus",     11, 29,  1, "two players: the first use of a Book in the round is to come"),
    Field("priestess",      11, 30,  3, "ring position of the Moon Priestess"),
    Field("builder",        11, 33,  3, "ring position of the Master Builder"),
    Field("apostate",       11, 36,  3, "ring position of the Apostate"),
    Field("last",           11, 39,  4, "source of the last lift or kind of the last landing"),
    Field("last_count",     11, 43,  3, "number of the last lift or landing; 0 where no row of steps is open"),
    Field("book_from",      11, 46,  5, "tile whose Book is in the air"),
    Field("board_order",    11, 51,  6, "index of the ordered choice of Temple boards in BOARD_ORDERS"),
    Field("ring",           12,  0,  3, "isle kinds clockwise from ring position 0", 7, 3),
    Field("carried",        13,  0, 64, "nibbles of a Journey or Tide, see LIFTED to HAND below"),
)
# fmt: on

STATE_WORDS = 14
FIELD = {field.name: field for field in FIELDS}

# Phases and steps.
SHRINES, NOVICES, ACTION, OVER = (np.uint64(i) for i in range(4))
NONE, GIVE_BOOK, JOURNEY_LIFT, JOURNEY_LAND, TIDE_LIFT, TIDE_LAND = (np.uint64(i) for i in range(6))

# Nibbles of the novices word (index) and of the carried word.
ACTIVE, INACTIVE, LANDING, SUPPLY = 0, 7, 14, 15
LIFTED, LIFTED_LANDING, LANDED, HAND = 0, 7, 8, 15

INFLUENCE_BIAS = 1 << 15
MAX_START_INFLUENCE = 10_000

LEDGER_SOURCES = (
    "guard",
    "displacement",
    "books",
    "temple",
    "priestess",
    "apostate",
    "meditation",
    "shrines",
    "favors",
    "council",
)
"""Columns of the ledger `int16[seats, SOURCES]`: where influence came from; start + row sum = influence."""
NUM_SOURCES = len(LEDGER_SOURCES)
GUARD_SOURCE, DISPLACEMENT_SOURCE, BOOK_SOURCE, TEMPLE_SOURCE, PRIESTESS_SOURCE = range(5)
APOSTATE_SOURCE, MEDITATION_SOURCE, SHRINE_SOURCE, FAVOR_SOURCE, COUNCIL_SOURCE = range(5, 10)

BOARD_ORDERS = tuple(order for players in (2, 3, 4) for order in permutations(range(4), players))
"""Every ordered choice of 2, 3 or 4 of the four Temple boards: 12 + 24 + 24 = 60."""
FIRST_BOARD_ORDER = {2: 0, 3: 12, 4: 36}
NUM_BOARD_ORDERS = {2: 12, 3: 24, 4: 24}


def _reader(field: Field) -> Any:
    word, shift, step = np.uint64(field.word), np.uint64(field.shift), np.uint64(field.step)
    mask = np.uint64((1 << field.bits) - 1)
    if field.count == 1 and field.bits == 64:
        return inline(lambda state: state[word])
    if field.count == 1:
        return inline(lambda state: (state[word] >> shift) & mask)
    if field.step == 64 and field.bits == 64:
        return inline(lambda state, index: state[word + index])
    if field.step == 64:
        return inline(lambda state, index: (state[word + index] >> shift) & mask)
    return inline(lambda state, index: (state[word] >> (shift + index * step)) & mask)


def _writer(field: Field) -> Any:
    word, shift, step = np.uint64(field.word), np.uint64(field.shift), np.uint64(field.step)
    mask = np.uint64((1 << field.bits) - 1)
    keep = np.uint64(~(((1 << field.bits) - 1) << field.shift) & (2**64 - 1))

    def write_word(state: Any, value: Any) -> None:
        state[word] = value

    def write_one(state: Any, value: Any) -> None:
        state[word] = (state[word] & keep) | (value << shift)

    def write_seat_word(state: Any, index: Any, value: Any) -> None:
        state[word + index] = value

    def write_in_seat_word(state: Any, index: Any, value: Any) -> None:
        state[word + index] = (state[word + index] & keep) | (value << shift)

    def write_indexed(state: Any, index: Any, value: Any) -> None:
        at = shift + index * step
        state[word] = (state[word] & ~(mask << at)) | (value << at)

    if field.count == 1:
        return inline(write_word if field.bits == 64 else write_one)
    if field.step == 64:
        return inline(write_seat_word if field.bits == 64 else write_in_seat_word)
    return inline(write_indexed)


def accessors(name: str) -> tuple[Any, Any]:
    """The generated reader and writer of a field.

    The reader is `read(state)` or, for a field with several values, `read(state, index)`; it returns `uint64`. The
    writer takes the value last; the value must fit its bits (not checked here). All numbers are `uint64`.
    """
    return _reader(FIELD[name]), _writer(FIELD[name])


def columns(states: NDArray[np.uint64], name: str) -> NDArray[np.int64]:
    """A field of many positions at once, for tables: `int64[B]`, or `int64[B, count]` for one with several values.

    Args:
        states: `uint64[B, STATE_WORDS]`.
        name: a field of at most 63 bits.
    """
    field = FIELD[name]
    mask = np.uint64((1 << field.bits) - 1)
    places = [field.place(index) for index in range(field.count)]
    values = [((states[:, word] >> np.uint64(shift)) & mask).astype(np.int64) for word, shift in places]
    return values[0] if field.count == 1 else np.stack(values, axis=1)


novices, set_novices = accessors("novices")
temple, set_temple = accessors("temple")
claimed, set_claimed = accessors("claimed")
shrines, set_shrines = accessors("shrines")
favors, set_favors = accessors("favors")
council_seat, set_council_seat = accessors("council_seat")
council_rank, set_council_rank = accessors("council_rank")
influence, set_influence = accessors("influence")
path, set_path = accessors("path")
books, set_books = accessors("books")
players, set_players = accessors("players")
phase, set_phase = accessors("phase")
pending, set_pending = accessors("pending")
to_move, set_to_move = accessors("to_move")
start_player, set_start_player = accessors("start_player")
round_number, set_round_number = accessors("round")
time_tokens, set_time_tokens = accessors("time_tokens")
actions, set_actions = accessors("actions")
book_bonus, set_book_bonus = accessors("book_bonus")
priestess, set_priestess = accessors("priestess")
builder, set_builder = accessors("builder")
apostate, set_apostate = accessors("apostate")
last, set_last = accessors("last")
last_count, set_last_count = accessors("last_count")
book_from, set_book_from = accessors("book_from")
board_order, set_board_order = accessors("board_order")
ring, set_ring = accessors("ring")
carried, set_carried = accessors("carried")


@inline
def copy_position(target: Any, source: Any) -> None:
    """Copies a position from row to row; `target[:] = source` would need memory, which kernels must not allocate."""
    for word in range(STATE_WORDS):
        target[word] = source[word]


_FOUR, _FIFTEEN = np.uint64(4), np.uint64(15)


@inline
def nibble(word: Any, index: Any) -> Any:
    """Nibble `index` (uint64) of a novices or carried word."""
    return (word >> (index * _FOUR)) & _FIFTEEN


@inline
def nibbles(count: Any, index: Any) -> Any:
    """A word that holds `count` in nibble `index` (both uint64): add or subtract it to move novices."""
    return count << (index * _FOUR)
