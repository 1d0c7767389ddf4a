"""Playing a decision: one function per kind, each the paragraph of RULES.md that its docstring names.

`apply` changes a position in place and trusts its caller: the decision must be legal (not checked here; `Position`
checks). Most kinds are a sum of a few nibbles on one word of the player.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions, layout, tables
from engine_fast.bits import U0, U1, U2, U4, U7, popcount
from engine_fast.jit import called, inline, kernel
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import (
    ACTION,
    BOOK,
    BOOK_SOURCE,
    BRIBERY,
    DISPLACEMENT_SOURCE,
    GIVE_BOOK,
    GUARD_SOURCE,
    HERBS,
    JOURNEY_LAND,
    JOURNEY_LIFT,
    MEDITATION_SOURCE,
    NONE,
    NOVICE,
    NOVICES,
    SAILBOAT,
    SHRINE,
    TIDE,
    TIDE_LAND,
    TIDE_LIFT,
    nibble,
    nibbles,
)
from engine_fast.scoring import end_round, gain, on_ring

U5, U8, U12, U15, U17, U31, U28 = (np.uint64(i) for i in (5, 8, 12, 15, 17, 31, 28))
CODES = actions.CODES
KIND_SET = np.uint64(0x7F)
INACTIVE_AT, LANDING_AT, SUPPLY_AT = (np.uint64(n) for n in (layout.INACTIVE, layout.LANDING, layout.SUPPLY))
LANDED_AT, HAND_AT = np.uint64(layout.LANDED), np.uint64(layout.HAND)
TOKEN = tuple(np.uint64(1 << kind) for kind in range(7))
BOOK_TOKEN, BRIBERY_TOKEN, NOVICE_TOKEN, SAILBOAT_TOKEN = TOKEN[BOOK], TOKEN[BRIBERY], TOKEN[NOVICE], TOKEN[SAILBOAT]
HERBS_TOKEN, SHRINE_TOKEN, TIDE_TOKEN = TOKEN[HERBS], TOKEN[SHRINE], TOKEN[TIDE]

_ID = {name: np.uint64(index) for name, index in actions.BLOCK_INDEX.items()}
TIDE_BLOCK, JOURNEY_BLOCK, LAND_BLOCK = _ID["tide"], _ID["journey"], _ID["land"]
EXPEL_BLOCK, EXPEL_VIRTUAL_BLOCK, EXPEL_ALONE_BLOCK = _ID["expel"], _ID["expel_virtual"], _ID["expel_alone"]
FAVOR_BLOCK, FAVOR_VIRTUAL_BLOCK, HERBS_BLOCK = _ID["favor"], _ID["favor_virtual"], _ID["herbs"]
SAIL_BLOCK, SAIL_LANDING_BLOCK, MEDITATE_BLOCK = _ID["sail"], _ID["sail_landing"], _ID["meditate"]
PROMOTE_BLOCK, PROMOTE_VIRTUAL_BLOCK, SANCTIFY_BLOCK = _ID["promote"], _ID["promote_virtual"], _ID["sanctify"]
RECRUIT_BLOCK, RECRUIT_VIRTUAL_BLOCK = _ID["recruit"], _ID["recruit_virtual"]
BUILD_BLOCK, BUILD_VIRTUAL_BLOCK = _ID["build"], _ID["build_virtual"]
TAKE_BOOK_BLOCK, GIVE_BOOK_BLOCK = _ID["take_book"], _ID["give_book"]
COUNCIL_BLOCK, COUNCIL_VIRTUAL_BLOCK, COUNCIL_ALONE_BLOCK = _ID["council"], _ID["council_virtual"], _ID["council_alone"]
PLACE_SHRINE_BLOCK, PLACE_NOVICES_BLOCK = _ID["place_shrine"], _ID["place_novices"]


@inline
def add_novices(state: Any, seat: Any, change: Any) -> None:
    """Adds `change` (a sum of `nibbles`, negative ones as two's complement) to the novices word of a seat."""
    layout.set_novices(state, seat, layout.novices(state, seat) + change)


@inline
def used(count: Any, isle: Any) -> Any:
    """The change of a novices word when `count` active novices of an isle become inactive there ("uses")."""
    return nibbles(count, isle + INACTIVE_AT) - nibbles(count, isle)


@inline
def return_token(state: Any, seat: Any, token: Any) -> None:
    """A favor token goes back to its isle."""
    layout.set_favors(state, seat, layout.favors(state, seat) & ~token)


@inline
def has_shrine(state: Any, seat: Any, isle: Any) -> Any:
    """1 if the seat has a shrine on the isle, else 0."""
    return (layout.shrines(state, seat) >> isle) & U1


@inline
def priests_favor(state: Any, seat: Any, isle: Any, virtual: Any) -> None:
    """Section 4, Priest's Favor: uses 2 novices, 1 beside a shrine, one fewer with the virtual novice."""
    add_novices(state, seat, used(U2 - has_shrine(state, seat, isle) - virtual, isle))
    kept = layout.favors(state, seat) & ~(NOVICE_TOKEN * virtual)
    layout.set_favors(state, seat, kept | (U1 << isle))


@inline
def recruit(state: Any, seat: Any, isle: Any, virtual: Any) -> None:
    """Section 4, Recruit: uses 2 novices (1); one from supply comes to them, inactive."""
    coming = nibbles(U1, isle + INACTIVE_AT) - nibbles(U1, SUPPLY_AT)
    add_novices(state, seat, used(U2 - virtual, isle) + coming)
    return_token(state, seat, NOVICE_TOKEN * virtual)


@inline
def build_shrine(state: Any, seat: Any, virtual: Any) -> None:
    """Section 4, Build Shrine: uses 2 novices (1) on the Master Builder's isle, returns the shrine favor."""
    isle = layout.ring(state, layout.builder(state))
    add_novices(state, seat, used(U2 - virtual, isle))
    layout.set_shrines(state, seat, layout.shrines(state, seat) | (U1 << isle))
    return_token(state, seat, SHRINE_TOKEN | (NOVICE_TOKEN * virtual))


@inline
def herbs(state: Any, seat: Any, isle: Any, count: Any) -> None:
    """Section 4, Herbs: inactive novices of an isle become active."""
    add_novices(state, seat, U0 - used(count, isle))
    return_token(state, seat, HERBS_TOKEN)


@inline
def sail(state: Any, seat: Any, source: Any, isle: Any, count: Any) -> None:
    """Section 4, Sailboat: active novices, or those of the landing stage, arrive active on another isle."""
    add_novices(state, seat, nibbles(count, isle) - nibbles(count, source))
    return_token(state, seat, SAILBOAT_TOKEN)


@inline
def return_bribe(state: Any, seat: Any, tile: Any, rules: Any) -> None:
    """Returns the bribery favor if the tile is not approved in this round (then it is bribed)."""
    approved = tables.usable(rules, layout.board_order(state), layout.round_number(state) - U1, U0)
    return_token(state, seat, BRIBERY_TOKEN * (((approved >> tile) & U1) ^ U1))


@inline
def promote(state: Any, seat: Any, tile: Any, virtual: Any, rules: Any) -> None:
    """Section 4, Promotion: one active novice of the symbol's isle moves onto the tile, one more is used."""
    isle = tables.tile_symbol(rules, tile)
    second = U1 - has_shrine(state, seat, isle) - virtual
    add_novices(state, seat, used(second, isle) - nibbles(U1, isle))
    layout.set_path(state, layout.path(state) & ~(U1 << tile))
    layout.set_claimed(state, seat, layout.claimed(state, seat) | (U1 << tile))
    return_token(state, seat, NOVICE_TOKEN * virtual)
    return_bribe(state, seat, tile, rules)


@inline
def displace(state: Any, seat: Any, tile: Any, rules: Any, ledger: Any) -> None:
    """Section 4, Sanctification: others' novices without a Book on adjacent lower spaces go to the landing stage."""
    near = tables.lower_neighbours(rules, layout.board_order(state), tile) & ~layout.books(state)
    for index in range(layout.MAX_PLAYERS):
        other = np.uint64(index)
        hit = layout.temple(state, other) & near
        if other != seat and hit != U0:
            count = popcount(hit)
            layout.set_temple(state, other, layout.temple(state, other) & ~hit)
            add_novices(state, other, nibbles(count, LANDING_AT))
            gain(state, ledger, seat, DISPLACEMENT_SOURCE, count)


@inline
def sanctify(state: Any, seat: Any, tile: Any, rules: Any, ledger: Any) -> None:
    """Section 4, Sanctification: tile and novice move to the Temple space; the Guard tile's value is gained."""
    layout.set_claimed(state, seat, layout.claimed(state, seat) & ~(U1 << tile))
    layout.set_temple(state, seat, layout.temple(state, seat) | (U1 << tile))
    return_bribe(state, seat, tile, rules)
    gain(state, ledger, seat, GUARD_SOURCE, tables.guard_value(rules, layout.round_number(state) - U1))
    displace(state, seat, tile, rules, ledger)


@inline
def take_book(state: Any, tile: Any) -> None:
    """Section 4, Book, first step: the Book is lifted; nothing else changes."""
    layout.set_books(state, layout.books(state) & ~(U1 << tile))
    layout.set_book_from(state, tile)
    layout.set_pending(state, GIVE_BOOK)


@inline
def give_book(state: Any, seat: Any, tile: Any, ledger: Any) -> None:
    """Section 4, Book, second step: 1 influence, 2 for the first use of a round with two players."""
    layout.set_books(state, layout.books(state) | (U1 << tile))
    layout.set_book_from(state, U0)
    layout.set_pending(state, NONE)
    return_token(state, seat, BOOK_TOKEN)
    gain(state, ledger, seat, BOOK_SOURCE, U1 + layout.book_bonus(state))
    layout.set_book_bonus(state, U0)


@inline
def climb(state: Any, seat: Any, steps: Any, rules: Any) -> None:
    """Section 4, Council: up by `steps`; on top of the pieces of the new seat, on the last seat under them.

    A piece that climbs is preceded only by pieces on higher seats (on the last seat: by all that are there), and the
    pieces that it passes are preceded by one more.
    """
    last_seat = tables.council_last(rules)
    target = layout.council_seat(state, seat) + steps
    target = target if target < last_seat else last_seat
    ahead = target + np.uint64(target != last_seat)
    before, now = layout.council_rank(state, seat), U0
    for index in range(layout.MAX_PLAYERS):
        other = np.uint64(index)
        if other != seat and other < layout.players(state) and layout.council_seat(state, other) >= ahead:
            now += U1
    for index in range(layout.MAX_PLAYERS):
        other = np.uint64(index)
        rank = layout.council_rank(state, other)
        if other < layout.players(state) and rank >= now and rank < before:
            layout.set_council_rank(state, other, rank + U1)
    layout.set_council_rank(state, seat, now)
    layout.set_council_seat(state, seat, target)


@inline
def council(state: Any, seat: Any, isle: Any, count: Any, virtual: Any, rules: Any) -> None:
    """Section 4, Council: uses `count` active novices of an isle, the virtual novice is one step more."""
    add_novices(state, seat, used(count, isle))
    return_token(state, seat, NOVICE_TOKEN * virtual)
    climb(state, seat, count + virtual, rules)


@inline
def expel(state: Any, seat: Any, count: Any, virtual: Any) -> None:
    """Section 4, Expulsion: uses `count` active novices of the Apostate's isle; he moves on by as many isles."""
    position = layout.apostate(state)
    add_novices(state, seat, used(count, layout.ring(state, position)))
    return_token(state, seat, NOVICE_TOKEN * virtual)
    layout.set_apostate(state, on_ring(position + count + virtual))


@inline
def lift(state: Any, seat: Any, source: Any, count: Any, step: Any) -> None:
    """Section 4, a lift of a Journey or Tide: novices of a source into the hand."""
    add_novices(state, seat, U0 - nibbles(count, source))
    origin = source if source < U7 else source - U7
    layout.set_carried(state, layout.carried(state) + nibbles(count, origin) + nibbles(count, HAND_AT))
    layout.set_pending(state, step)
    layout.set_last(state, source)
    layout.set_last_count(state, count)


@inline
def land(state: Any, seat: Any, isle: Any, count: Any) -> Any:
    """Section 4, a landing: novices of the hand arrive inactive. Returns whether the action is complete."""
    add_novices(state, seat, nibbles(count, isle + INACTIVE_AT))
    carried = layout.carried(state) + nibbles(count, isle + LANDED_AT) - nibbles(count, HAND_AT)
    if nibble(carried, HAND_AT) == U0:
        layout.set_carried(state, U0)
        layout.set_pending(state, NONE)
        layout.set_last(state, U0)
        layout.set_last_count(state, U0)
        return True
    layout.set_carried(state, carried)
    tide = (layout.pending(state) == TIDE_LIFT) | (layout.pending(state) == TIDE_LAND)
    layout.set_pending(state, TIDE_LAND if tide else JOURNEY_LAND)
    layout.set_last(state, isle)
    layout.set_last_count(state, count)
    return False


@inline
def next_seat(state: Any, seat: Any) -> Any:
    """The left neighbour."""
    following = seat + U1
    return U0 if following == layout.players(state) else following


@inline
def finish_action(state: Any, seat: Any, rules: Any, ledger: Any) -> None:
    """Section 4: the next player, or the end of the action phase when the cap on actions is reached."""
    taken = layout.actions(state) + U1
    layout.set_actions(state, taken)
    if taken == tables.action_cap(rules, layout.players(state)):
        end_round(state, seat, rules, ledger)
    else:
        layout.set_to_move(state, next_seat(state, seat))


@inline
def meditate(state: Any, seat: Any, rules: Any, ledger: Any) -> None:
    """Section 4, Meditation: turns a Time token; the last one gains 1 influence and ends the action phase."""
    left = layout.time_tokens(state) - U1
    layout.set_time_tokens(state, left)
    if left != U0:
        finish_action(state, seat, rules, ledger)
    else:
        layout.set_actions(state, layout.actions(state) + U1)
        gain(state, ledger, seat, MEDITATION_SOURCE, U1)
        end_round(state, seat, rules, ledger)


@called
def place_shrine(state: Any, seat: Any, isle: Any) -> None:
    """Section 2, preliminary round: a shrine each, clockwise from the start player."""
    layout.set_shrines(state, seat, U1 << isle)
    following = next_seat(state, seat)
    layout.set_to_move(state, following)
    if following == layout.start_player(state):
        layout.set_phase(state, NOVICES)


@called
def place_novices(state: Any, seat: Any, isle: Any) -> None:
    """Section 2, preliminary round: two novices, four times around; then everybody receives two favors."""
    add_novices(state, seat, nibbles(U2, isle) - nibbles(U2, SUPPLY_AT))
    following = next_seat(state, seat)
    layout.set_to_move(state, following)
    if following == layout.start_player(state) and popcount(settled_isles(state, seat)) == U4:
        layout.set_phase(state, ACTION)
        for index in range(layout.MAX_PLAYERS):
            other = np.uint64(index)
            if other < layout.players(state):
                own = settled_isles(state, other) | layout.shrines(state, other)
                layout.set_favors(state, other, ~own & KIND_SET)


@inline
def settled_isles(state: Any, seat: Any) -> Any:
    """Isles (7 bits) where the seat has active novices."""
    word, isles = layout.novices(state, seat), U0
    for kind in range(NUM_KINDS):
        k = np.uint64(kind)
        isles |= np.uint64(nibble(word, k) != U0) << k
    return isles


@inline
def apply(state: Any, action: Any, rules: Any, ledger: Any) -> None:
    """Plays a legal decision in place.

    Args:
        state: `uint64[STATE_WORDS]`, changed.
        action: id (uint64) of a decision that is legal here (not checked).
        rules: the rules table.
        ledger: `int16[4, SOURCES]`, to which gains and losses are added (a scratch array if nobody asks).
    """
    code = CODES[action]
    block, isle = code & U31, (code >> U5) & U7
    seat = layout.to_move(state)
    if block == JOURNEY_BLOCK:
        lift(state, seat, isle, code >> U17, JOURNEY_LIFT)
        return
    if block == LAND_BLOCK:
        if land(state, seat, isle, code >> U17):
            finish_action(state, seat, rules, ledger)
        return
    if block == MEDITATE_BLOCK:
        meditate(state, seat, rules, ledger)
        return
    if block == TIDE_BLOCK:
        return_token(state, seat, TIDE_TOKEN)
        lift(state, seat, (code >> U8) & U15, code >> U17, TIDE_LIFT)
        return
    if block == TAKE_BOOK_BLOCK:
        take_book(state, (code >> U12) & U31)
        return
    if block == PLACE_SHRINE_BLOCK:
        place_shrine(state, seat, isle)
        return
    if block == PLACE_NOVICES_BLOCK:
        place_novices(state, seat, isle)
        return
    apply_single(state, seat, code, rules, ledger)
    finish_action(state, seat, rules, ledger)


@inline
def apply_single(state: Any, seat: Any, code: Any, rules: Any, ledger: Any) -> None:
    """The actions that are complete with this decision, Meditation apart."""
    block, isle, count = code & U31, (code >> U5) & U7, code >> U17
    source, tile = (code >> U8) & U15, (code >> U12) & U31
    if block == FAVOR_BLOCK:
        priests_favor(state, seat, isle, U0)
    elif block == FAVOR_VIRTUAL_BLOCK:
        priests_favor(state, seat, isle, U1)
    elif block == RECRUIT_BLOCK:
        recruit(state, seat, isle, U0)
    elif block == RECRUIT_VIRTUAL_BLOCK:
        recruit(state, seat, isle, U1)
    elif block == BUILD_BLOCK:
        build_shrine(state, seat, U0)
    elif block == BUILD_VIRTUAL_BLOCK:
        build_shrine(state, seat, U1)
    elif block == HERBS_BLOCK:
        herbs(state, seat, isle, count)
    elif block == SAIL_BLOCK or block == SAIL_LANDING_BLOCK:
        sail(state, seat, source, isle, count)
    elif block == PROMOTE_BLOCK:
        promote(state, seat, tile, U0, rules)
    elif block == PROMOTE_VIRTUAL_BLOCK:
        promote(state, seat, tile, U1, rules)
    elif block == SANCTIFY_BLOCK:
        sanctify(state, seat, tile, rules, ledger)
    elif block == GIVE_BOOK_BLOCK:
        give_book(state, seat, tile, ledger)
    elif block == COUNCIL_BLOCK:
        council(state, seat, isle, count, U0, rules)
    elif block == COUNCIL_VIRTUAL_BLOCK:
        council(state, seat, isle, count, U1, rules)
    elif block == COUNCIL_ALONE_BLOCK:
        council(state, seat, U0, U0, U1, rules)
    elif block == EXPEL_BLOCK:
        expel(state, seat, count, U0)
    elif block == EXPEL_VIRTUAL_BLOCK:
        expel(state, seat, count, U1)
    elif block == EXPEL_ALONE_BLOCK:
        expel(state, seat, U0, U1)


@kernel
def apply_into(state: Any, action: Any, rules: Any, ledger: Any) -> None:
    """`apply` for Python callers; `action` is an int64 id."""
    apply(state, np.uint64(action), rules, ledger)
