"""The scoring phase, the next round and the end of the game (RULES.md sections 5 and 6).

Influence moves only through `gain` and `lose`, which book it in the ledger `int16[seats, SOURCES]` under its source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U2, U3, U4, U7, popcount
from engine_fast.jit import called, inline
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import (
    ACTIVE,
    APOSTATE_SOURCE,
    COUNCIL_SOURCE,
    FAVOR_SOURCE,
    INACTIVE,
    LANDING,
    OVER,
    PRIESTESS_SOURCE,
    SHRINE_SOURCE,
    TEMPLE_SOURCE,
    nibble,
)

U6 = np.uint64(6)
FIRST_INACTIVE = np.uint64(INACTIVE)
ACTIVE_NIBBLES = np.uint64((1 << 28) - 1)
INACTIVE_NIBBLES = np.uint64(((1 << 28) - 1) << 28)
INACTIVE_SHIFT = np.uint64(28)


@inline
def gain(state: Any, ledger: Any, seat: Any, source: Any, amount: Any) -> None:
    """Adds `amount` (uint64) to a seat's influence and to its row of the ledger."""
    layout.set_influence(state, seat, layout.influence(state, seat) + amount)
    ledger[seat, source] += np.int16(amount)


@inline
def lose(state: Any, ledger: Any, seat: Any, source: Any, amount: Any, rules: Any) -> None:
    """Takes `amount` from a seat, down to the floor of the rule set; who is below it already loses nothing."""
    held, floor = layout.influence(state, seat), tables.floor(rules)
    left = held - amount
    if left < floor:
        left = floor if floor < held else held
    layout.set_influence(state, seat, left)
    ledger[seat, source] -= np.int16(held - left)


@inline
def precedes(state: Any, seat: Any, count: Any, other: Any, other_count: Any) -> Any:
    """Whether `other` is placed before `seat`: a higher count, ties by Council precedence."""
    if other_count != count:
        return other_count > count
    return layout.council_rank(state, other) < layout.council_rank(state, seat)


@inline
def priestess_count(state: Any, seat: Any, isle: Any) -> Any:
    """Active novices and shrine of a seat on the Moon Priestess's isle."""
    return nibble(layout.novices(state, seat), isle) + ((layout.shrines(state, seat) >> isle) & U1)


@inline
def score_priestess(state: Any, rules: Any, ledger: Any) -> None:
    """Section 5.1: places 1, 2 and 3 on the Moon Priestess's isle gain the values of her figure."""
    isle, seats = layout.ring(state, layout.priestess(state)), layout.players(state)
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        count = priestess_count(state, seat, isle)
        if count == U0:
            continue
        place = U0
        for rival in range(layout.MAX_PLAYERS):
            other = np.uint64(rival)
            other_count = priestess_count(state, other, isle)
            if other != seat and other_count != U0 and precedes(state, seat, count, other, other_count):
                place += U1
        if place < U3:
            gain(state, ledger, seat, PRIESTESS_SOURCE, tables.priestess_points(rules, seats, place))


@inline
def score_apostate(state: Any, rules: Any, ledger: Any) -> None:
    """Section 5.2: who has novices, active or inactive, on the Apostate's isle loses their number + 1."""
    isle = layout.ring(state, layout.apostate(state))
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        word = layout.novices(state, seat)
        count = nibble(word, isle) + nibble(word, isle + FIRST_INACTIVE)
        if count != U0:
            lose(state, ledger, seat, APOSTATE_SOURCE, count + U1, rules)


@inline
def score_temple(state: Any, ledger: Any) -> None:
    """Section 5.3: 1 for each novice in the Temple."""
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        count = popcount(layout.temple(state, seat))
        if count != U0:
            gain(state, ledger, seat, TEMPLE_SOURCE, count)


@inline
def score_end(state: Any, rules: Any, ledger: Any) -> None:
    """Section 6: shrines on isles, unused favor tokens, Council seats."""
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        if seat < layout.players(state):
            shrines, favors = popcount(layout.shrines(state, seat)), popcount(layout.favors(state, seat))
            gain(state, ledger, seat, SHRINE_SOURCE, shrines * tables.shrine_value(rules))
            gain(state, ledger, seat, FAVOR_SOURCE, favors * tables.favor_value(rules))
            gain(state, ledger, seat, COUNCIL_SOURCE, tables.council_value(rules, layout.council_seat(state, seat)))


@inline
def reactivate(state: Any) -> None:
    """Section 5, next round 1: all inactive novices become active."""
    for index in range(layout.MAX_PLAYERS):
        seat = np.uint64(index)
        word = layout.novices(state, seat)
        woken = (word & INACTIVE_NIBBLES) >> INACTIVE_SHIFT
        layout.set_novices(state, seat, (word & ~INACTIVE_NIBBLES) + woken)


@inline
def on_ring(position: Any) -> Any:
    """A ring position from 0 to 6."""
    return position % U7


@inline
def move_apostate(state: Any) -> None:
    """Section 5, next round 3: clockwise to the next isle with a novice; his own is the last one looked at.

    All novices on isles are active by now, so the active ones of the four seats are all there are.
    """
    settled = U0
    for seat in range(layout.MAX_PLAYERS):
        settled |= layout.novices(state, np.uint64(seat)) & ACTIVE_NIBBLES
    position = layout.apostate(state)
    for step in range(1, NUM_KINDS):
        there = on_ring(position + np.uint64(step))
        if nibble(settled, layout.ring(state, there)) != U0:
            layout.set_apostate(state, there)
            return


@inline
def next_start_player(state: Any, last_seat: Any, rules: Any) -> Any:
    """Section 5, next round 5: the left neighbour of who turned the last token; two players take turns.

    In the rule set `online` two players follow the same rule as three and four.
    """
    seats = layout.players(state)
    before = last_seat
    if seats == U2 and tables.online_start(rules) == U0:
        before = layout.start_player(state)
    following = before + U1
    return U0 if following == seats else following


@inline
def prepare_round(state: Any, last_seat: Any, rules: Any) -> None:
    """Section 5, the five steps before the next round."""
    seats = layout.players(state)
    reactivate(state)
    layout.set_priestess(state, on_ring(layout.priestess(state) + tables.priestess_move(rules, seats)))
    layout.set_builder(state, on_ring(layout.builder(state) + tables.builder_move(rules)))
    move_apostate(state)
    layout.set_round_number(state, layout.round_number(state) + U1)
    layout.set_time_tokens(state, tables.time_tokens_of(rules, seats))
    layout.set_actions(state, U0)
    layout.set_book_bonus(state, np.uint64(seats == U2))
    starter = next_start_player(state, last_seat, rules)
    layout.set_start_player(state, starter)
    layout.set_to_move(state, starter)


@called
def end_round(state: Any, last_seat: Any, rules: Any, ledger: Any) -> None:
    """Scores the round and prepares the next one, or ends the game; `last_seat` took the last action."""
    score_priestess(state, rules, ledger)
    score_apostate(state, rules, ledger)
    score_temple(state, ledger)
    if layout.round_number(state) < U6:
        prepare_round(state, last_seat, rules)
    else:
        score_end(state, rules, ledger)
        layout.set_phase(state, OVER)
        layout.set_to_move(state, U0)


assert (ACTIVE, LANDING) == (0, 14) and U4 == 4
