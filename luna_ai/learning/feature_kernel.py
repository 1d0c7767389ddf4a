"""The kernel that writes features: one function for each part of the feature table.

All of them write raw values at the offsets of the table; `finish` scales a row and cuts it off. Tiles and Temple are in
`feature_temple`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U2, U3, U4, popcount
from engine_fast.kinds import NUM_KINDS, NUM_TILES
from engine_fast.layout import ACTION, GIVE_BOOK, MAX_PLAYERS, NONE, NUM_ROUNDS, nibble
from engine_fast.legal import LANDING_NIBBLE, SUPPLY_NIBBLE, isle_of
from engine_fast.scoring import precedes, priestess_count
from luna_ai.learning import feature_table
from luna_ai.learning.compiling import called, inline, kernel
from luna_ai.learning.feature_table import AXES, LIMIT, NUM_FEATURES, OFFSET, SCALES
from luna_ai.learning.feature_temple import promotable, write_temple, write_tiles
from luna_ai.learning.feature_writing import ONE, count, flag, write_bits

LOWEST, HIGHEST = np.float32(-LIMIT), np.float32(LIMIT)
U6, U7 = np.uint64(6), np.uint64(7)
FIRST_INACTIVE, HAND = np.uint64(layout.INACTIVE), np.uint64(layout.HAND)
LIFTED_LANDING, LANDED = np.uint64(layout.LIFTED_LANDING), np.uint64(layout.LANDED)
BIAS, NO_FLOOR = layout.INFLUENCE_BIAS, 1 << 20
NEXT, CLIMBS, PLACES, COUNCIL_SEATS = AXES["next"], AXES["climb"], AXES["place"], AXES["council"]
A = OFFSET
PRESENT, ACTIVE, INACTIVE, HAS_ONE, HAS_TWO = A["present"], A["active"], A["inactive"], A["has_one"], A["has_two"]
LANDING, SUPPLY, NUM_CLAIMED, NUM_TEMPLE = A["landing"], A["supply"], A["num_claimed"], A["num_temple"]
SHRINE, NUM_SHRINES, SHRINE_SUPPLY = A["shrine"], A["num_shrines"], A["shrine_supply"]
FAVOR, NUM_FAVORS, NUM_BOOK = A["favor"], A["num_favors"], A["num_book"]
INFLUENCE, PROJECTED, LEAD, PLACE_NOW, FLOOR_ROOM = (
    A[name] for name in ("influence", "projected", "lead", "place_now", "floor_room")
)
COUNCIL_SEAT, COUNCIL_LEFT, COUNCIL_RANK = A["council_seat"], A["council_left"], A["council_rank"]
COUNCIL_VALUE, CLIMB_GAIN = A["council_value"], A["climb_gain"]
PRIESTESS_GAIN, APOSTATE_LOSS, PRIESTESS_COUNT = A["priestess_gain"], A["apostate_loss"], A["priestess_count"]
BUILDER_COUNT, BUILDER_SHRINE = A["builder_count"], A["builder_shrine"]
ORDER, STARTER, NEXT_STARTER = A["order"], A["starter"], A["next_starter"]
PRIESTESS_AT, BUILDER_AT, APOSTATE_AT, APOSTATE_NEXT = (
    A[name] for name in ("priestess_at", "builder_at", "apostate_at", "apostate_next")
)
PLAYERS, ROUND, ROUNDS_LEFT, GUARD = A["players"], A["round"], A["rounds_left"], A["guard"]
TIME_TOKENS, LAST_TOKEN, TWO_TOKENS = A["time_tokens"], A["last_token"], A["two_tokens"]
DISTANCE, CAN_PROMOTE = A["distance"], A["can_promote"]
ACTIONS, CAP_LEFT, BOOK_BONUS = A["actions"], A["cap_left"], A["book_bonus"]
PHASE, PENDING, LAST_SOURCE, LAST_COUNT, LAST_FULL = (
    A[name] for name in ("phase", "pending", "last_source", "last_count", "last_full")
)
LIFTED, LIFTED_LANDING_AT, LANDED_AT, HAND_AT, BOOK_FROM = (
    A[name] for name in ("lifted", "lifted_landing", "landed", "hand", "book_from")
)
POINTS, PRIESTESS_MOVE, BUILDER_MOVE = A["priestess_points"], A["priestess_move"], A["builder_move"]
COUNCIL_VALUES, COUNCIL_LAST, SHRINE_VALUE, FAVOR_VALUE = (
    A[name] for name in ("council_values", "council_last", "shrine_value", "favor_value")
)
HAS_FLOOR, VIRTUAL_ALONE, VIRTUAL_PROMOTION, COUNCIL_OVERSHOOT = (
    A[name] for name in ("has_floor", "virtual_alone", "virtual_promotion", "council_overshoot")
)
BOOK_SAME_SPACE, SAME_ISLE_MOVES, ONLINE_START = A["book_same_space"], A["same_isle_moves"], A["online_start"]


@inline
def seat_after(state: Any, turns: Any) -> Any:
    """The seat `turns` (uint64) places clockwise of the seat to move."""
    seat = layout.to_move(state) + turns
    players = layout.players(state)
    return seat - players if seat >= players else seat


@inline
def raw_influence(state: Any, seat: Any) -> Any:
    """Influence of a seat, int64."""
    return np.int64(layout.influence(state, seat)) - BIAS


@inline
def projected(state: Any, seat: Any, rules: Any) -> Any:
    """Influence of a seat if the game ended now without a scoring (section 6), int64."""
    worth = (
        popcount(layout.shrines(state, seat)) * tables.shrine_value(rules)
        + popcount(layout.favors(state, seat)) * tables.favor_value(rules)
        + tables.council_value(rules, layout.council_seat(state, seat))
    )
    return raw_influence(state, seat) + np.int64(worth)


@called
def write_pieces(state: Any, seat: Any, p: Any, row: Any, rules: Any) -> None:
    """The pieces of a seat, `p` places after the one to move."""
    novices, shrines, favors = layout.novices(state, seat), layout.shrines(state, seat), layout.favors(state, seat)
    row[PRESENT + p] = ONE
    for kind in range(NUM_KINDS):
        active, at = nibble(novices, np.uint64(kind)), 7 * p + kind
        row[ACTIVE + at] = count(active)
        row[INACTIVE + at] = count(nibble(novices, np.uint64(kind) + FIRST_INACTIVE))
        row[HAS_ONE + at] = np.float32(active >= U1)
        row[HAS_TWO + at] = np.float32(active >= U2)
    row[LANDING + p] = count(nibble(novices, LANDING_NIBBLE))
    row[SUPPLY + p] = count(nibble(novices, SUPPLY_NIBBLE))
    row[NUM_CLAIMED + p] = count(popcount(layout.claimed(state, seat)))
    row[NUM_TEMPLE + p] = count(popcount(layout.temple(state, seat)))
    row[NUM_BOOK + p] = count(popcount(layout.temple(state, seat) & layout.books(state)))
    write_bits(row, SHRINE + 7 * p, shrines, ONE)
    write_bits(row, FAVOR + 7 * p, favors, ONE)
    built = popcount(shrines)
    row[NUM_SHRINES + p] = count(built)
    row[SHRINE_SUPPLY + p] = count(tables.start_shrines(rules)) - count(built)
    row[NUM_FAVORS + p] = count(popcount(favors))


@called
def write_standing(state: Any, seat: Any, p: Any, row: Any, rules: Any) -> None:
    """Influence and Council of a seat."""
    mine, players = projected(state, seat, rules), np.int64(layout.players(state))
    row[INFLUENCE + p] = np.float32(raw_influence(state, seat))
    row[PROJECTED + p] = np.float32(mine)
    row[LEAD + p] = np.float32(mine - projected(state, layout.to_move(state), rules))
    ahead, rank = 0, layout.council_rank(state, seat)
    for index in range(players):
        other = np.uint64(index)
        theirs = projected(state, other, rules)
        ahead += theirs > mine or (theirs == mine and layout.council_rank(state, other) < rank)
    row[PLACE_NOW + p] = np.float32(ahead)
    floor = np.int64(tables.floor(rules))
    row[FLOOR_ROOM + p] = np.float32(np.int64(layout.influence(state, seat)) - floor if floor != 0 else NO_FLOOR)
    write_council(layout.council_seat(state, seat), p, row, rules)
    row[COUNCIL_RANK + p] = count(rank)


@inline
def write_council(at: Any, p: Any, row: Any, rules: Any) -> None:
    """What a Council seat is worth, and the next ones."""
    top, value = tables.council_last(rules), np.int64(tables.council_value(rules, at))
    row[COUNCIL_SEAT + p] = count(at)
    row[COUNCIL_LEFT + p] = count(top - at)
    row[COUNCIL_VALUE + p] = np.float32(value)
    for climb in range(CLIMBS):
        target = at + np.uint64(climb + 1)
        target = target if target < top else top
        row[CLIMB_GAIN + CLIMBS * p + climb] = np.float32(np.int64(tables.council_value(rules, target)) - value)


@inline
def figure_later(position: Any, move: Any, rounds: Any) -> Any:
    """Ring position of a figure after so many rounds (uint64)."""
    return (position + move * rounds) % U7


@called
def write_figures(state: Any, seat: Any, p: Any, row: Any, rules: Any) -> None:
    """What a seat would get at the figures now, and what it has where they will stand."""
    novices, shrines, players = layout.novices(state, seat), layout.shrines(state, seat), layout.players(state)
    row[PRIESTESS_GAIN + p] = count(priestess_gain(state, seat, rules))
    isle = isle_of(state, layout.apostate(state))
    there = nibble(novices, isle) + nibble(novices, isle + FIRST_INACTIVE)
    row[APOSTATE_LOSS + p] = count(there + np.uint64(there != U0))
    for index in range(NEXT):
        rounds = np.uint64(index)
        hers = isle_of(state, figure_later(layout.priestess(state), tables.priestess_move(rules, players), rounds))
        his = isle_of(state, figure_later(layout.builder(state), tables.builder_move(rules), rounds))
        woken = np.uint64(index != 0)
        on_hers = nibble(novices, hers) + nibble(novices, hers + FIRST_INACTIVE) * woken
        on_his = nibble(novices, his) + nibble(novices, his + FIRST_INACTIVE) * woken
        row[PRIESTESS_COUNT + NEXT * p + index] = count(on_hers + ((shrines >> hers) & U1))
        row[BUILDER_COUNT + NEXT * p + index] = count(on_his)
        row[BUILDER_SHRINE + NEXT * p + index] = count((shrines >> his) & U1)


@inline
def priestess_gain(state: Any, seat: Any, rules: Any) -> Any:
    """Section 5.1: what a seat would gain if the action phase ended now."""
    isle, players = isle_of(state, layout.priestess(state)), layout.players(state)
    own, place = priestess_count(state, seat, isle), U0
    for index in range(MAX_PLAYERS):
        other = np.uint64(index)
        theirs = priestess_count(state, other, isle)
        if other != seat and theirs != U0 and precedes(state, seat, own, other, theirs):
            place += U1
    if own == U0 or place >= U3:
        return U0
    return tables.priestess_points(rules, players, place)


@inline
def write_order(state: Any, seat: Any, p: Any, row: Any, rules: Any) -> None:
    """Who started the round and who will start the next one."""
    players, start = layout.players(state), layout.start_player(state)
    after = seat + players - start if seat < start else seat - start
    row[ORDER + p] = count(after)
    row[STARTER + p] = np.float32(after == U0)
    known = players == U2 and tables.online_start(rules) == U0 and layout.round_number(state) < U6
    row[NEXT_STARTER + p] = np.float32(known and after != U0)


@called
def write_ring(state: Any, row: Any, rules: Any) -> None:
    """Where the figures are and will stand, and the distances of isles."""
    players = layout.players(state)
    for index in range(NUM_ROUNDS + 1 - np.int64(layout.round_number(state))):
        rounds = np.uint64(index)
        hers = isle_of(state, figure_later(layout.priestess(state), tables.priestess_move(rules, players), rounds))
        his = isle_of(state, figure_later(layout.builder(state), tables.builder_move(rules), rounds))
        row[PRIESTESS_AT + NUM_KINDS * index + np.int64(hers)] = ONE
        row[BUILDER_AT + NUM_KINDS * index + np.int64(his)] = ONE
        row[GUARD + index] = count(tables.guard_value(rules, layout.round_number(state) - U1 + rounds))
    for step in range(NUM_KINDS):
        isle = isle_of(state, figure_later(layout.apostate(state), U1, np.uint64(step)))
        row[APOSTATE_AT + NUM_KINDS * step + np.int64(isle)] = ONE
    write_apostate_next(state, row)
    write_distances(state, row)


@inline
def write_apostate_next(state: Any, row: Any) -> None:
    """Section 5, next round 3: the next isle clockwise with a novice, his own as the last."""
    if layout.round_number(state) == U6:
        return
    settled = U0
    for seat in range(MAX_PLAYERS):
        word = layout.novices(state, np.uint64(seat))
        for kind in range(NUM_KINDS):
            k = np.uint64(kind)
            settled |= np.uint64((nibble(word, k) | nibble(word, k + FIRST_INACTIVE)) != U0) << k
    for step in range(1, NUM_KINDS + 1):
        isle = isle_of(state, figure_later(layout.apostate(state), U1, np.uint64(step)))
        if (settled >> isle) & U1 != U0 or step == NUM_KINDS:
            row[APOSTATE_NEXT + np.int64(isle)] = ONE
            return


@inline
def write_distances(state: Any, row: Any) -> None:
    """Clockwise steps between isles; the pair (a, b), a < b, is number a (13 - a) / 2 + b - a - 1."""
    for here in range(NUM_KINDS):
        a = np.int64(isle_of(state, np.uint64(here)))
        for steps in range(1, NUM_KINDS):
            b = np.int64(isle_of(state, figure_later(np.uint64(here), U1, np.uint64(steps))))
            if a < b:
                row[DISTANCE + a * (13 - a) // 2 + b - a - 1] = np.float32(steps)


@inline
def write_clock(state: Any, row: Any, rules: Any) -> None:
    """Players, rounds, tokens, actions."""
    players, number = layout.players(state), layout.round_number(state)
    row[PLAYERS + np.int64(players) - 2] = ONE
    row[ROUND + np.int64(number) - 1] = ONE
    row[ROUNDS_LEFT] = count(U6 - number)
    tokens, actions = layout.time_tokens(state), layout.actions(state)
    row[TIME_TOKENS] = count(tokens)
    row[LAST_TOKEN] = np.float32(tokens == U1)
    row[TWO_TOKENS] = np.float32(tokens == U2)
    row[ACTIONS] = count(actions) / count(players)
    row[CAP_LEFT] = (count(tables.action_cap(rules, players)) - count(actions)) / count(players)
    row[BOOK_BONUS] = count(layout.book_bonus(state))


@inline
def write_step(state: Any, row: Any) -> None:
    """Phase and unfinished action."""
    phase, pending = layout.phase(state), layout.pending(state)
    if phase <= ACTION:
        row[PHASE + np.int64(phase)] = ONE
    row[PENDING + np.int64(pending)] = ONE
    if pending == GIVE_BOOK:
        row[BOOK_FROM + np.int64(layout.book_from(state))] = ONE
    elif pending != NONE:
        carried, last = layout.carried(state), layout.last_count(state)
        row[LAST_SOURCE + np.int64(layout.last(state))] = ONE
        row[LAST_COUNT] = count(last)
        row[LAST_FULL] = np.float32(last == U4)
        for kind in range(NUM_KINDS):
            row[LIFTED + kind] = count(nibble(carried, np.uint64(kind)))
            row[LANDED_AT + kind] = count(nibble(carried, np.uint64(kind) + LANDED))
        row[LIFTED_LANDING_AT] = count(nibble(carried, LIFTED_LANDING))
        row[HAND_AT] = count(nibble(carried, HAND))


@called
def write_numbers(state: Any, row: Any, rules: Any) -> None:
    """Component sheet and rule set."""
    players = layout.players(state)
    for place in range(PLACES):
        row[POINTS + place] = count(tables.priestess_points(rules, players, np.uint64(place)))
    for seat in range(COUNCIL_SEATS):
        row[COUNCIL_VALUES + seat] = count(tables.council_value(rules, np.uint64(seat)))
    row[PRIESTESS_MOVE] = count(tables.priestess_move(rules, players))
    row[BUILDER_MOVE] = count(tables.builder_move(rules))
    row[COUNCIL_LAST] = count(tables.council_last(rules))
    row[SHRINE_VALUE] = count(tables.shrine_value(rules))
    row[FAVOR_VALUE] = count(tables.favor_value(rules))
    row[HAS_FLOOR] = flag(tables.floor(rules))
    row[VIRTUAL_ALONE] = flag(tables.virtual_alone(rules))
    row[VIRTUAL_PROMOTION] = flag(tables.virtual_promotion(rules))
    row[COUNCIL_OVERSHOOT] = flag(tables.council_overshoot(rules))
    row[BOOK_SAME_SPACE] = flag(tables.book_same_space(rules))
    row[SAME_ISLE_MOVES] = flag(tables.same_isle_moves(rules))
    row[ONLINE_START] = flag(tables.online_start(rules))


@inline
def finish(row: Any) -> None:
    """Scales the raw values and cuts them off at the limit."""
    for index in range(NUM_FEATURES):
        value = row[index] * SCALES[index]
        value = value if value < HIGHEST else HIGHEST
        row[index] = value if value > LOWEST else LOWEST


@called
def write_row(state: Any, rules: Any, row: Any) -> None:
    """The features of one position into `float32[F]`."""
    for index in range(NUM_FEATURES):
        row[index] = np.float32(0.0)
    for p in range(np.int64(layout.players(state))):
        seat = seat_after(state, np.uint64(p))
        write_pieces(state, seat, p, row, rules)
        write_standing(state, seat, p, row, rules)
        write_figures(state, seat, p, row, rules)
        write_order(state, seat, p, row, rules)
        write_temple(state, seat, p, row, rules)
    write_bits(row, CAN_PROMOTE, promotable(state, layout.to_move(state), rules), ONE)
    write_ring(state, row, rules)
    write_tiles(state, row, rules)
    write_clock(state, row, rules)
    write_step(state, row)
    write_numbers(state, row, rules)
    finish(row)


@kernel
def write_batch(states: Any, rules: Any, out: Any) -> None:
    """Writes the features of `uint64[B, STATE_WORDS]` into `float32[B, F]`; rules: the rules table."""
    for index in range(states.shape[0]):
        write_row(states[index], rules, out[index])


assert feature_table.AXES["seat"] == MAX_PLAYERS and feature_table.AXES["tile"] == NUM_TILES
