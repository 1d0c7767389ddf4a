"""Which decisions are legal: one function per kind of action, each the paragraph of RULES.md that its docstring names.

A mask is ten `uint64` words (`actions.MASK_WORDS`), bit `id % 64` of word `id // 64`, 1 = legal. Functions return
the part that they are about, already at its place in a word or as plain sets (7 bits by isle kind, 28 bits by
tile - 1) that `legal_mask` puts together.

Where an action begins, any word may be filled; inside an action and in the preliminary round, at most two are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U2, U3, U4, extract_bits, low_bits, popcount
from engine_fast.jit import called, inline, kernel
from engine_fast.layout import (
    ACTION,
    BRIBERY,
    GIVE_BOOK,
    HERBS,
    JOURNEY_LAND,
    JOURNEY_LIFT,
    NONE,
    OVER,
    SHRINES,
    TIDE_LAND,
    nibble,
)

U5, U6, U7, U8, U9, U15 = (np.uint64(i) for i in (5, 6, 7, 8, 9, 15))
U24, U28, U56, U60, U63 = (np.uint64(i) for i in (24, 28, 56, 60, 63))
ALL = np.uint64(2**64 - 1)
KIND_SET = np.uint64(0x7F)
ONES = np.uint64(0x1111111111111111)
SEVEN_ONES = np.uint64(0x1111111)
TIDE_IDS = np.uint64((1 << 60) - 1)
JOURNEY_IDS = np.uint64((1 << 28) - 1)
OTHER_ISLES = np.uint64(sum(1 << (7 * a + b) for a in range(7) for b in range(7) if a != b))
FAVOR_SETS = tuple(np.uint64(1 << kind) for kind in range(7))
HAS_BOOK, HAS_BRIBERY, HAS_NOVICE, HAS_SAILBOAT, HAS_HERBS, HAS_SHRINE, HAS_TIDE = FAVOR_SETS
HERBS_ISLE = FAVOR_SETS[HERBS]
LANDING_NIBBLE, SUPPLY_NIBBLE = np.uint64(layout.LANDING), np.uint64(layout.SUPPLY)


@inline
def unary(word: Any) -> Any:
    """Each nibble of `word` as a row of ones, four at the most: 0 -> 0000, 1 -> 0001, 2 -> 0011, 5 -> 1111.

    Of a novices word this is "n novices can be lifted from source s" at bit 4 s + n - 1: the Tide's own order of ids.
    """
    bit0, bit1 = word & ONES, (word >> U1) & ONES
    four = ((word >> U2) | (word >> U3)) & ONES
    two = bit1 | four
    return (bit0 | two) | (two << U1) | (((bit0 & bit1) | four) << U2) | (four << U3)


@inline
def when(condition: Any) -> Any:
    """All bits 1 if a 0-or-1 `uint64` is 1, else 0: `a & when(c)` is "a, if c"."""
    return U0 - condition


@inline
def holds(favors: Any, token: Any) -> Any:
    """All bits 1 if the favor set holds `token` (a set of one kind), else 0."""
    return when(np.uint64((favors & token) != U0))


@inline
def active_isles(rows: Any, count: Any) -> Any:
    """Isles (7 bits) with at least `count` (1 to 4, uint64) active novices; `rows` is `unary` of the novices word."""
    return extract_bits(rows, SEVEN_ONES << (count - U1))


@inline
def inactive_isles(rows: Any, count: Any) -> Any:
    """Isles (7 bits) with at least `count` (1 to 4, uint64) inactive novices."""
    return extract_bits(rows, SEVEN_ONES << (U28 + count - U1))


@inline
def isle_of(state: Any, position: Any) -> Any:
    """Kind of the isle at a ring position."""
    return layout.ring(state, position)


@inline
def favor_isles(one: Any, two: Any, shrines: Any, favors: Any) -> Any:
    """Section 4, Priest's Favor: a favor not owned, for 2 novices or 1 beside an own shrine."""
    return (two | (one & shrines)) & ~favors & KIND_SET


@inline
def favor_virtual_isles(one: Any, shrines: Any, favors: Any, alone: Any) -> Any:
    """Priest's Favor with the virtual novice: 1 real novice, or none beside an own shrine."""
    return ((one & ~shrines) | (shrines & alone)) & ~favors & KIND_SET


@inline
def herbs_ids(rows: Any) -> Any:
    """Section 4, Herbs: 1 or 2 inactive novices of an isle that is not `herbs`; 14 bits, number-major."""
    one = inactive_isles(rows, U1) & ~HERBS_ISLE
    two = inactive_isles(rows, U2) & ~HERBS_ISLE
    return one | (two << U7)


@inline
def sail_landing_ids(waiting: Any) -> Any:
    """Section 4, Sailboat from the landing stage: 1 or 2 novices to any isle; 14 bits, number-major."""
    one = when(np.uint64(waiting >= U1)) & KIND_SET
    two = when(np.uint64(waiting >= U2)) & KIND_SET
    return one | (two << U7)


@inline
def sail_rows(rows: Any, count: Any) -> Any:
    """Section 4, Sailboat: `count` active novices of one isle to another; 49 bits, isle left by isle reached."""
    leaving = extract_bits(rows, SEVEN_ONES << (count - U1))
    spread = np.uint64(0)
    for kind in range(7):
        k = np.uint64(kind)
        spread |= ((leaving >> k) & U1) << (U7 * k)
    return (spread * KIND_SET) & OTHER_ISLES


@inline
def build_ids(state: Any, one: Any, two: Any, shrines: Any, rules: Any) -> Any:
    """Section 4, Build Shrine: 2 novices on the Master Builder's isle (1 and the virtual novice).

    Returns bit 0 for `build`, bit 1 for `build +v`; that the favor tokens are held is the caller's part.
    """
    isle = isle_of(state, layout.builder(state))
    free = (~shrines >> isle) & np.uint64(popcount(shrines) < tables.start_shrines(rules))
    return (free & (two >> isle)) & U1 | ((free & (one >> isle)) & U1) << U1


@inline
def usable_tiles(state: Any, favors: Any, rules: Any) -> Any:
    """Tiles approved in this round, with those that can be bribed if the player has the bribery favor."""
    bribery = (favors >> np.uint64(BRIBERY)) & U1
    return tables.usable(rules, layout.board_order(state), layout.round_number(state) - U1, bribery)


@inline
def books_to_take(state: Any, seat: Any, rules: Any) -> Any:
    """Section 4, Book: spaces whose Book can be taken, that is, after which a Book can be given.

    A Book can be given to an own novice without one, elsewhere than where it was taken from.
    """
    books, own = layout.books(state), layout.temple(state, seat)
    without = np.uint64((own & ~books) != U0)
    back = books & own & tables.book_same_space(rules)
    return (books & when(without)) | back


@inline
def spaces_to_give(state: Any, seat: Any, rules: Any) -> Any:
    """Section 4, Book: own novices without a Book, not the space that the Book was taken from."""
    left = U1 << layout.book_from(state)
    return layout.temple(state, seat) & ~layout.books(state) & (~left | tables.book_same_space(rules))


@inline
def expel_steps(active: Any) -> Any:
    """Section 4, Expulsion: 1 to all active novices of the Apostate's isle; 13 bits."""
    return low_bits(active)


@inline
def seats_to_climb(state: Any, seat: Any, rules: Any) -> Any:
    """Section 4, Council: the most steps that the player may make: the seats that remain (any, if surplus is lost)."""
    left = tables.council_last(rules) - layout.council_seat(state, seat)
    any_number = when(np.uint64(left != U0)) & tables.council_overshoot(rules) & U15
    return left | any_number


@inline
def council_low(rows: Any, most: Any) -> Any:
    """Council by 1 to 4 novices: 28 bits, number-major, cut after `most` steps."""
    by_number = (
        active_isles(rows, U1)
        | (active_isles(rows, U2) << U7)
        | (active_isles(rows, U3) << np.uint64(14))
        | (active_isles(rows, U4) << np.uint64(21))
    )
    return by_number & low_bits(U7 * min_of(most, U4))


@inline
def min_of(a: Any, b: Any) -> Any:
    """The smaller of two `uint64` (numba's `min` would make a float of them)."""
    return a if a < b else b


@inline
def crowded(novices: Any) -> Any:
    """Whether some isle holds five or more active novices (as in few positions)."""
    bit3 = novices >> U3
    five = bit3 | ((novices >> U2) & (novices | (novices >> U1)))
    return (five & SEVEN_ONES) != U0


@called
def council_high(novices: Any, most: Any) -> Any:
    """Council by 5 or more novices of one isle: the 91 ids of a block as two words, number-major, cut after `most`."""
    low, high = U0, U0
    for kind in range(7):
        number = min_of(nibble(novices, np.uint64(kind)), most)
        for n in range(4, np.int64(number)):
            bit = np.uint64(7 * n + kind)
            if bit < np.uint64(64):
                low |= U1 << bit
            else:
                high |= U1 << (bit - np.uint64(64))
    return low, high


@inline
def next_places(last: Any, count: Any) -> Any:
    """Lifts and landings that may follow (last, count): a greater source or kind, or the same after four; 60 bits."""
    first = last + np.uint64(count != U4)
    return ALL << (U4 * first)


@inline
def hand_rows(hand: Any) -> Any:
    """At most `hand` novices can be landed at once: four bits, repeated for each kind."""
    return low_bits(min_of(hand, U4)) * SEVEN_ONES


@inline
def land_ids(carried: Any, start: Any, rules: Any) -> Any:
    """Section 4, landings of a Journey or Tide: 28 bits, kind by number.

    With T lifted, kind k still takes room(k) = T - a(k) - landed(k) novices. Followed by two or more later kinds, a
    landing can always be completed: these take 2 T - a(i) - a(j) >= T together. So only the last two kinds need care:
    after kind 5 the rest must fit into kind 6 (and kind 5 itself after four), on kind 6 all must land.
    """
    hand = nibble(carried, U15)
    landed = (carried >> np.uint64(32)) & JOURNEY_IDS
    lifted = carried & JOURNEY_IDS & ~tables.same_isle_moves(rules)
    total = hand + nibble_sum(landed)
    room = total * SEVEN_ONES - lifted - landed
    ids = unary(room) & hand_rows(hand) & (JOURNEY_IDS & start)
    return ids & (np.uint64((1 << 20) - 1) | last_two_kinds(hand, nibble(room, U5), nibble(room, U6)))


@inline
def nibble_sum(word: Any) -> Any:
    """Sum of the eight low nibbles."""
    pairs = (word & np.uint64(0x0F0F0F0F)) + ((word >> U4) & np.uint64(0x0F0F0F0F))
    return ((pairs * np.uint64(0x01010101)) >> U24) & np.uint64(0xFF)


@inline
def last_two_kinds(hand: Any, room5: Any, room6: Any) -> Any:
    """The numbers that may land on kinds 5 and 6, as ids 20 to 27 of a landing (see `land_ids`)."""
    all_of_six = U1 << (hand - U1) if hand <= U4 else U8 & when(np.uint64(room6 >= hand))
    least = hand - room6 - U1 if hand > room6 + U1 else U0
    enough = (U15 << min_of(least, U4)) & U15
    four_and_on = U8 & when(np.uint64(room5 + room6 >= hand))
    return ((enough | four_and_on) << np.uint64(20)) | (all_of_six << U24)


@inline
def place_shrine_isles(state: Any) -> Any:
    """Section 2, preliminary round: an isle without a shrine; with two players not `herbs`."""
    taken = U0
    for seat in range(layout.MAX_PLAYERS):
        taken |= layout.shrines(state, np.uint64(seat))
    if layout.players(state) == U2:
        taken |= HERBS_ISLE
    return ~taken & KIND_SET


@inline
def place_novices_isles(state: Any, seat: Any) -> Any:
    """Section 2, preliminary round: an isle that holds none of the player's own pieces."""
    own = active_isles(unary(layout.novices(state, seat)), U1) | layout.shrines(state, seat)
    return ~own & KIND_SET


@inline
def new_action_mask(state: Any, rules: Any) -> Any:
    """The ten words where an action begins (section 4)."""
    seat = layout.to_move(state)
    novices, favors, shrines = layout.novices(state, seat), layout.favors(state, seat), layout.shrines(state, seat)
    rows = unary(novices)
    one, two = active_isles(rows, U1), active_isles(rows, U2)
    virtual = holds(favors, HAS_NOVICE)
    alone = virtual & tables.virtual_alone(rules)

    expel = expel_steps(nibble(novices, isle_of(state, layout.apostate(state))))
    w0 = (rows & TIDE_IDS & holds(favors, HAS_TIDE)) | (expel << U60)

    herbs = herbs_ids(rows) & holds(favors, HAS_HERBS)
    sailing = holds(favors, HAS_SAILBOAT)
    from_landing = sail_landing_ids(nibble(novices, LANDING_NIBBLE)) & sailing
    w1 = (
        (expel >> U4)
        | ((expel & virtual) << U9)
        | (favor_isles(one, two, shrines, favors) << np.uint64(22))
        | ((favor_virtual_isles(one, shrines, favors, alone) & virtual) << np.uint64(29))
        | (herbs << np.uint64(36))
        | (from_landing << np.uint64(50))
    )

    w2 = (rows & JOURNEY_IDS) | (U1 << U63)

    usable = usable_tiles(state, favors, rules)
    open_tiles = usable & layout.path(state)
    supply = when(np.uint64(nibble(novices, SUPPLY_NIBBLE) != U0))
    build = build_ids(state, one, two, shrines, rules) & holds(favors, HAS_SHRINE)
    second = one & ~shrines
    promote = tables.symbol_tiles(rules, two | (one & shrines)) & open_tiles
    promote_virtual = tables.symbol_tiles(rules, second) & open_tiles & virtual & tables.virtual_promotion(rules)
    w3 = promote | (promote_virtual << U28) | ((two & supply) << U56) | (build << U63)

    sanctify = layout.claimed(state, seat) & usable
    take = books_to_take(state, seat, rules) & holds(favors, HAS_BOOK)
    w4 = sanctify | (take << U28) | ((one & supply & virtual) << U56) | (((build & virtual) >> U1) << U63)

    w5, w6 = U0, U0
    if sailing != U0:
        single, double = sail_rows(rows, U1), sail_rows(rows, U2)
        w5 = single | (double << np.uint64(49))
        w6 = double >> U15

    most = seats_to_climb(state, seat, rules)
    step = alone & U1
    w6 |= (step & np.uint64(most != U0)) << np.uint64(62) | step << U63
    w7 = council_low(rows, most)
    w8, w9 = U0, U0
    if (virtual & most) != U0:
        w8 = council_low(rows, most - U1) << np.uint64(27)
    if crowded(novices):
        low, high = council_high(novices, most)
        w7 |= low
        w8 |= high
        if (virtual & most) != U0:
            low, high = council_high(novices, most - U1)
            w8 |= low << np.uint64(27)
            w9 |= (low >> np.uint64(37)) | (high << np.uint64(27))
    return w0, w1, w2, w3, w4, w5, w6, w7, w8, w9


@inline
def step_words(state: Any, rules: Any) -> Any:
    """Words 0, 2 and 6 inside an action (a Journey, Tide or Book with steps to come); all others are 0 there."""
    step = layout.pending(state)
    if step == GIVE_BOOK:
        return U0, U0, spaces_to_give(state, layout.to_move(state), rules) << np.uint64(34)
    start = next_places(layout.last(state), layout.last_count(state))
    if step == JOURNEY_LAND or step == TIDE_LAND:
        return U0, land_ids(layout.carried(state), start, rules) << U28, U0
    rows = unary(layout.novices(state, layout.to_move(state))) & start
    lands = land_ids(layout.carried(state), ALL, rules) << U28
    if step == JOURNEY_LIFT:
        return U0, (rows & JOURNEY_IDS) | lands, U0
    return rows & TIDE_IDS, lands, U0


@inline
def preliminary_words(state: Any) -> Any:
    """Words 2 and 9 in the preliminary round; all others are 0 there."""
    if layout.phase(state) == SHRINES:
        return place_shrine_isles(state) << U56, U0
    return U0, place_novices_isles(state, layout.to_move(state)) << np.uint64(54)


@inline
def legal_mask(state: Any, rules: Any) -> Any:
    """The legal decisions as ten `uint64` words; all 0 when the game is over."""
    phase = layout.phase(state)
    w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 = U0, U0, U0, U0, U0, U0, U0, U0, U0, U0
    if layout.pending(state) != NONE:
        w0, w2, w6 = step_words(state, rules)
    elif phase == ACTION:
        w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 = new_action_mask(state, rules)
    elif phase != OVER:
        w2, w9 = preliminary_words(state)
    return w0, w1, w2, w3, w4, w5, w6, w7, w8, w9


@kernel
def legal_into(state: Any, rules: Any, out: Any) -> None:
    """Writes the legal mask of `uint64[STATE_WORDS]` into `out`, `uint64[MASK_WORDS]`."""
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8], out[9] = legal_mask(state, rules)
