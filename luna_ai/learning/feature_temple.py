"""The features of tiles and Temple spaces: where they lie, when they are approved, who threatens whom.

Sets of tiles are 28 bits (bit tile - 1), sets of isles 7 bits (bit kind), as in the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U2, lowest_bit, popcount
from engine_fast.kinds import NUM_KINDS, NUM_TILES
from engine_fast.layout import BRIBERY, MAX_PLAYERS, NOVICE, nibble
from luna_ai.learning.compiling import called, inline
from luna_ai.learning.feature_table import OFFSET as A
from luna_ai.learning.feature_writing import HALF, ONE, count, write_bits

U6, BRIBERY_KIND, NOVICE_KIND = np.uint64(6), np.uint64(BRIBERY), np.uint64(NOVICE)
OPEN_APPROVED, OPEN_BRIBABLE, OPEN_LATER = A["open_approved"], A["open_bribable"], A["open_later"]
IN_PLAY, PATH, CLAIMED, TEMPLE, VACATED, BOOK = (
    A[name] for name in ("in_play", "path", "claimed", "temple", "vacated", "book")
)
APPROVED, BRIBABLE, APPROVED_IN = A["approved"], A["bribable"], A["approved_in"]
DISPLACES, THREATENS, EXPOSED = A["displaces"], A["threatens"], A["exposed"]
NUM_PROMOTE, NUM_SANCTIFY, NUM_THREATENED, NUM_EXPOSED = (
    A[name] for name in ("num_promote", "num_sanctify", "num_threatened", "num_exposed")
)


@inline
def on_the_path(state: Any) -> Any:
    """Unclaimed and claimed tiles."""
    tiles = layout.path(state)
    for seat in range(MAX_PLAYERS):
        tiles |= layout.claimed(state, np.uint64(seat))
    return tiles


@inline
def in_the_temple(state: Any) -> Any:
    """Spaces with a novice."""
    spaces = U0
    for seat in range(MAX_PLAYERS):
        spaces |= layout.temple(state, np.uint64(seat))
    return spaces


@called
def write_tiles(state: Any, row: Any, rules: Any) -> None:
    """Tiles by where they lie and when they are approved."""
    order, round_index = layout.board_order(state), layout.round_number(state) - U1
    in_play, waiting, open_tiles = tables.tiles_in_play(rules, order), on_the_path(state), layout.path(state)
    approved, both = tables.usable(rules, order, round_index, U0), tables.usable(rules, order, round_index, U1)
    write_bits(row, IN_PLAY, in_play, ONE)
    write_bits(row, PATH, open_tiles, ONE)
    write_bits(row, VACATED, in_play & ~waiting & ~in_the_temple(state), ONE)
    write_bits(row, BOOK, layout.books(state), ONE)
    write_bits(row, APPROVED, waiting & approved, ONE)
    write_bits(row, BRIBABLE, waiting & both & ~approved, ONE)
    later, rounds = waiting & ~approved, U1
    while later != U0 and round_index + rounds < U6:
        now = tables.usable(rules, order, round_index + rounds, U0)
        write_bits(row, APPROVED_IN, later & now, count(rounds))
        later &= ~now
        rounds += U1
    for kind in range(NUM_KINDS):
        tiles = tables.symbol_tiles(rules, U1 << np.uint64(kind)) & open_tiles
        row[OPEN_APPROVED + kind] = count(popcount(tiles & approved))
        row[OPEN_BRIBABLE + kind] = count(popcount(tiles & both & ~approved))
        row[OPEN_LATER + kind] = count(popcount(tiles & ~both))


@inline
def usable_by(state: Any, seat: Any, rules: Any) -> Any:
    """Tiles that a seat could use in this round: approved, and bribable if it owns the bribery token."""
    bribery = (layout.favors(state, seat) >> BRIBERY_KIND) & U1
    return tables.usable(rules, layout.board_order(state), layout.round_number(state) - U1, bribery)


@inline
def promotable(state: Any, seat: Any, rules: Any) -> Any:
    """Section 4, Promotion: tiles that a seat could claim if it were its turn."""
    novices, shrines, one, two = layout.novices(state, seat), layout.shrines(state, seat), U0, U0
    for kind in range(NUM_KINDS):
        k = np.uint64(kind)
        one |= np.uint64(nibble(novices, k) >= U1) << k
        two |= np.uint64(nibble(novices, k) >= U2) << k
    virtual = U0 - ((layout.favors(state, seat) >> NOVICE_KIND) & U1)
    isles = two | (one & shrines) | (one & virtual & tables.virtual_promotion(rules))
    return tables.symbol_tiles(rules, isles) & layout.path(state) & usable_by(state, seat, rules)


@inline
def below(tiles: Any, order: Any, rules: Any) -> Any:
    """Spaces that lie next to one of the tiles and have a lower number than it."""
    spaces, rest = U0, tiles
    while rest != U0:
        spaces |= tables.lower_neighbours(rules, order, lowest_bit(rest))
        rest &= rest - U1
    return spaces


@called
def write_temple(state: Any, seat: Any, p: Any, row: Any, rules: Any) -> None:
    """Claims and Temple of a seat: what it can do and whom it threatens (section 4, Promotion and Sanctification)."""
    order, claimed, own = layout.board_order(state), layout.claimed(state, seat), layout.temple(state, seat)
    usable, unprotected = usable_by(state, seat, rules), in_the_temple(state) & ~layout.books(state)
    write_bits(row, CLAIMED + NUM_TILES * p, claimed, ONE)
    write_bits(row, TEMPLE + NUM_TILES * p, own, ONE)
    write_bits(row, THREATENS + NUM_TILES * p, below(claimed, order, rules) & unprotected & ~own, HALF)
    write_bits(row, THREATENS + NUM_TILES * p, below(claimed & usable, order, rules) & unprotected & ~own, ONE)
    exposed = below(on_the_path(state) & ~claimed, order, rules) & own & ~layout.books(state)
    write_bits(row, EXPOSED, exposed, ONE)
    row[NUM_EXPOSED + p] = count(popcount(exposed))
    threatening = U0
    for index in range(MAX_PLAYERS):
        if np.uint64(index) != seat:
            threatening |= layout.claimed(state, np.uint64(index))
    row[NUM_THREATENED + p] = count(popcount(below(threatening, order, rules) & own & ~layout.books(state)))
    row[NUM_PROMOTE + p] = count(popcount(promotable(state, seat, rules)))
    row[NUM_SANCTIFY + p] = count(popcount(claimed & usable))
    rest = claimed if p != 0 else claimed | layout.path(state)
    while rest != U0:
        tile = lowest_bit(rest)
        displaced = tables.lower_neighbours(rules, order, tile) & unprotected & ~own
        row[DISPLACES + np.int64(tile)] = count(popcount(displaced))
        rest &= rest - U1
