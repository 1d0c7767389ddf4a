"""Set-up positions (RULES.md section 2), drawn at random inside a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U2, popcount, random_below, select_bit
from engine_fast.jit import called, inline, kernel
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import ACTION, FIRST_BOARD_ORDER, INFLUENCE_BIAS, NUM_BOARD_ORDERS, SHRINES, SUPPLY, nibbles

SETUPS = ("standard", "preselected")
"""Names of the set-ups; kernels take the index."""
STANDARD, PRESELECTED = 0, 1

U7, U15 = np.uint64(7), np.uint64(15)
SUPPLY_AT = np.uint64(SUPPLY)
BIAS = np.uint64(INFLUENCE_BIAS)
ALL_KINDS = np.uint64(0x7F)
FIRST_ORDER = np.array([FIRST_BOARD_ORDER.get(n, 0) for n in range(5)], dtype=np.uint64)
NUM_ORDERS = np.array([NUM_BOARD_ORDERS.get(n, 1) for n in range(5)], dtype=np.uint64)


@inline
def draw_ring(state: Any, generator: Any) -> None:
    """A random order of the seven isles (Fisher-Yates, from the identity)."""
    for kind in range(NUM_KINDS):
        layout.set_ring(state, np.uint64(kind), np.uint64(kind))
    for below in range(NUM_KINDS - 1, 0, -1):
        i = np.uint64(below)
        j = random_below(generator, i + U1)
        kind = layout.ring(state, i)
        layout.set_ring(state, i, layout.ring(state, j))
        layout.set_ring(state, j, kind)


@inline
def draw_boards(state: Any, generator: Any, rules: Any) -> None:
    """A random ordered choice of Temple boards; its tiles numbered above 4 are on the path."""
    seats = layout.players(state)
    order = FIRST_ORDER[seats] + random_below(generator, NUM_ORDERS[seats])
    layout.set_board_order(state, order)
    layout.set_path(state, tables.tiles_in_play(rules, order) & ~U15)


@inline
def draw_start_tiles(state: Any, generator: Any, rules: Any) -> None:
    """Section 2.2: each player gets one of the tiles 1-4 in play, on its Temple space, with a novice and a Book."""
    rest = tables.tiles_in_play(rules, layout.board_order(state)) & U15
    layout.set_books(state, rest)
    for index in range(layout.MAX_PLAYERS):
        if np.uint64(index) < layout.players(state):
            tile = U1 << select_bit(rest, random_below(generator, popcount(rest)))
            layout.set_temple(state, np.uint64(index), tile)
            rest &= ~tile


@inline
def stack_council(state: Any) -> None:
    """Section 2.6: all pieces on seat 0, the start player at the bottom, the last player of the order on top."""
    seats, starter = layout.players(state), layout.start_player(state)
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        if seat < seats:
            turn_position = seat - starter if seat >= starter else seat + seats - starter
            layout.set_council_rank(state, seat, seats - U1 - turn_position)


@inline
def ring_position(state: Any, kind: Any) -> Any:
    """Where the isle of a kind lies on the ring."""
    found = U0
    for position in range(NUM_KINDS):
        if layout.ring(state, np.uint64(position)) == kind:
            found = np.uint64(position)
    return found


@inline
def draw_figures(state: Any, generator: Any) -> None:
    """Standard set-up: the three figures uniformly and independently."""
    layout.set_priestess(state, random_below(generator, U7))
    layout.set_builder(state, random_below(generator, U7))
    layout.set_apostate(state, random_below(generator, U7))


@inline
def place_preselected(state: Any, rules: Any) -> None:
    """Section 2.8, preselected: ring, figures, shrines and novices of the sheet; favors of the two isles left over."""
    for index in range(NUM_KINDS):
        layout.set_ring(state, np.uint64(index), tables.preselected_ring(rules, np.uint64(index)))
    layout.set_priestess(state, ring_position(state, tables.preselected_figure(rules, U0)))
    layout.set_builder(state, ring_position(state, tables.preselected_figure(rules, U1)))
    layout.set_apostate(state, ring_position(state, tables.preselected_figure(rules, U2)))
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        if seat < layout.players(state):
            place_preselected_seat(state, seat, rules)
    layout.set_phase(state, ACTION)


@inline
def place_preselected_seat(state: Any, seat: Any, rules: Any) -> None:
    """Shrine, novices and favors of one line of the sheet."""
    shrine, isles = U1 << tables.preselected_shrine(rules, seat), tables.preselected_novices(rules, seat)
    word = layout.novices(state, seat)
    for kind in range(NUM_KINDS):
        k = np.uint64(kind)
        here = U2 * ((isles >> k) & U1)
        word += nibbles(here, k) - nibbles(here, SUPPLY_AT)
    layout.set_novices(state, seat, word)
    layout.set_shrines(state, seat, shrine)
    layout.set_favors(state, seat, ALL_KINDS & ~(shrine | isles))


@inline
def place_players(state: Any, rules: Any) -> None:
    """Section 2.1: influence and novices; one of these is the Temple novice of section 2.2."""
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        if seat < layout.players(state):
            layout.set_influence(state, seat, BIAS + tables.start_influence(rules))
            layout.set_novices(state, seat, nibbles(tables.start_novices(rules) - U1, SUPPLY_AT))


@called
def set_up(state: Any, seats: Any, setup: Any, start_player: Any, generator: Any, rules: Any) -> None:
    """Writes a random set-up position.

    Args:
        state: `uint64[STATE_WORDS]`, overwritten.
        seats: number of players (uint64, 2 to 4).
        setup: STANDARD or PRESELECTED.
        start_player: seat (uint64), or any number >= `seats` to draw it. Everything else is drawn in the same way
            whatever is given here, so one generator state gives the same deal for every start player.
        generator: `uint64[1]`, moved on.
        rules: the rules table.
    """
    state[:] = U0
    layout.set_players(state, seats)
    layout.set_phase(state, SHRINES)
    layout.set_round_number(state, U1)
    layout.set_time_tokens(state, tables.time_tokens_of(rules, seats))
    layout.set_book_bonus(state, np.uint64(seats == U2))
    drawn = random_below(generator, seats)
    starter = drawn if start_player >= seats else start_player
    layout.set_start_player(state, starter)
    layout.set_to_move(state, starter)
    draw_boards(state, generator, rules)
    place_players(state, rules)
    draw_start_tiles(state, generator, rules)
    stack_council(state)
    if setup == PRESELECTED:
        place_preselected(state, rules)
    else:
        draw_ring(state, generator)
        draw_figures(state, generator)


@kernel
def set_up_into(state: Any, seats: Any, setup: Any, start_player: Any, generator: Any, rules: Any) -> None:
    """`set_up` for Python callers: int64 `seats`, `setup` and `start_player` (-1 draws it)."""
    starter = np.uint64(start_player) if start_player >= 0 else U7
    set_up(state, np.uint64(seats), setup, starter, generator, rules)


def add_handicaps(states: NDArray[np.uint64], handicaps: NDArray[np.int64]) -> None:
    """Adds influence at the start (RULES.md section 9: a handicap is nothing but another starting influence).

    Args:
        states: `uint64[B, STATE_WORDS]` set-up positions with one number of players, changed.
        handicaps: `int64[B, players]`, by turn position.
    """
    starters, rows = layout.columns(states, "start_player"), np.arange(len(states))
    word, _ = layout.FIELD["influence"].place(0)
    for turn_position in range(handicaps.shape[1]):
        seats = (starters + turn_position) % handicaps.shape[1]
        shifts = (layout.FIELD["influence"].step * seats).astype(np.uint64)
        states[rows, word] += handicaps[:, turn_position].astype(np.uint64) << shifts
