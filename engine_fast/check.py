"""Recomputes what is redundant in a position: laws that hold after every decision. For tests; never in production."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.layout import FIELDS, STATE_WORDS
from engine_fast.tables import OFFSET

PER_SEAT = ("novices", "temple", "claimed", "shrines", "favors", "council_seat", "council_rank", "influence")


PLACES = {field.name: [field.place(index) for index in range(field.count)] for field in FIELDS}
MASKS = {field.name: (1 << field.bits) - 1 for field in FIELDS}
USED = [
    sum(MASKS[name] << shift for name, places in PLACES.items() for at, shift in places if at == word)
    for word in range(STATE_WORDS)
]


def field_values(state: NDArray[np.uint64], name: str) -> list[int]:
    """The values of a field, read with plain integers (independent of the compiled accessors)."""
    words, mask = state.tolist(), MASKS[name]
    return [words[word] >> shift & mask for word, shift in PLACES[name]]


def field_value(state: NDArray[np.uint64], name: str) -> int:
    """The value of a field that has one."""
    ((word, shift),) = PLACES[name]
    return int(state[word]) >> shift & MASKS[name]


def nibbles_of(word: int) -> list[int]:
    """The sixteen nibbles of a word."""
    return [(word >> 4 * i) & 15 for i in range(16)]


def problems(state: NDArray[np.uint64], rules: NDArray[np.uint64]) -> list[str]:
    """What is wrong with a position `uint64[STATE_WORDS]` under a rules table; empty if nothing is."""
    return [
        *_unused_bits(state),
        *_absent_seats(state),
        *_novices(state, int(rules[OFFSET["start_novices"]])),
        *_shrines(state, int(rules[OFFSET["start_shrines"]])),
        *_tiles(state, rules),
        *_books(state),
        *_council(state, int(rules[OFFSET["council_last"]])),
        *_favors(state),
        *_ring(state),
        *_pending(state),
    ]


def _unused_bits(state: NDArray[np.uint64]) -> list[str]:
    return [f"word {i}: unused bits are set" for i, word in enumerate(state.tolist()) if word & ~USED[i]]


def _absent_seats(state: NDArray[np.uint64]) -> list[str]:
    seats = field_value(state, "players")
    return [
        f"{name} of absent seat {seat} is not 0"
        for name in PER_SEAT
        for seat, value in enumerate(field_values(state, name))
        if seat >= seats and value
    ]


def _novices(state: NDArray[np.uint64], total: int) -> list[str]:
    found = []
    isles, temple, claimed = (field_values(state, name) for name in ("novices", "temple", "claimed"))
    for seat in range(field_value(state, "players")):
        count = sum(nibbles_of(isles[seat])) + temple[seat].bit_count() + claimed[seat].bit_count()
        if seat == field_value(state, "to_move"):
            count += nibbles_of(field_value(state, "carried"))[layout.HAND]
        if count != total:
            found.append(f"seat {seat} has {count} novices, not {total}")
    return found


def _shrines(state: NDArray[np.uint64], total: int) -> list[str]:
    counts = [shrines.bit_count() for shrines in field_values(state, "shrines")]
    return [f"seat {seat} has {count} shrines of {total}" for seat, count in enumerate(counts) if count > total]


def _tiles(state: NDArray[np.uint64], rules: NDArray[np.uint64]) -> list[str]:
    in_play = int(rules[OFFSET["tiles_in_play"] + field_value(state, "board_order")])
    places = [field_value(state, "path"), *field_values(state, "temple"), *field_values(state, "claimed")]
    seen, found = 0, []
    for place in places:
        if place & seen:
            found.append("a tile is at two places")
        seen |= place
    return found + ([] if seen & ~in_play == 0 else ["a tile that is not in play is on the board"])


def _books(state: NDArray[np.uint64]) -> list[str]:
    books, temple = field_value(state, "books"), sum(field_values(state, "temple"))
    lifted = field_value(state, "pending") == int(layout.GIVE_BOOK)
    found = [] if books & ~temple == 0 else ["a Book lies where no novice is"]
    if books.bit_count() + lifted != field_value(state, "players"):
        found.append("there is not one Book for each player")
    return found


def _council(state: NDArray[np.uint64], last: int) -> list[str]:
    seats = field_value(state, "players")
    at, rank = field_values(state, "council_seat")[:seats], field_values(state, "council_rank")[:seats]
    found = [] if sorted(rank) == list(range(seats)) else ["Council precedence is not a strict order"]
    if any(at[a] > at[b] and rank[a] > rank[b] for a in range(seats) for b in range(seats)):
        found.append("a lower Council seat precedes a higher one")
    return found + ([f"a Council seat above {last}"] if max(at) > last else [])


def _favors(state: NDArray[np.uint64]) -> list[str]:
    seats = field_value(state, "players")
    held = [sum(favors >> kind & 1 for favors in field_values(state, "favors")) for kind in range(7)]
    return ["more favor tokens than players"] if max(held) > seats else []


def _ring(state: NDArray[np.uint64]) -> list[str]:
    found = [] if sorted(field_values(state, "ring")) == list(range(7)) else ["the ring is not an order of the isles"]
    figures = [field_value(state, name) for name in ("priestess", "builder", "apostate")]
    return found + (["a figure is beside the ring"] if max(figures) > 6 else [])


def _pending(state: NDArray[np.uint64]) -> list[str]:
    carried = nibbles_of(field_value(state, "carried"))
    lifted, landed = sum(carried[:8]), sum(carried[8:15])
    found = [] if lifted - landed == carried[15] else ["lifted, landed and hand do not agree"]
    open_row = field_value(state, "pending") in (2, 3, 4, 5)
    if open_row != bool(carried[15]) or open_row != bool(field_value(state, "last_count")):
        found.append("a Journey or Tide is open without novices in hand, or the other way round")
    return found
