"""What the mover's novices are worth where they are: the part of the evaluation that all actions share.

For each isle k two rows are filled, `use[k, a]` for a active novices until the round ends and `stay[k, t]` for t
novices there when it ends. Uses are packed as a small knapsack (`packing`): each special use (favor, Promotion, shrine,
Recruit) once, the rest at the unit value. The evaluation of a position is the sum of both rows over the isles, so
that moving novices costs and gains differences of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, U3
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import ACTION, BRIBERY, INACTIVE, LANDING, NONE, SHRINE, SUPPLY, TIDE, nibble
from engine_fast.legal import nibble_sum
from engine_fast.scoring import on_ring
from luna_ai.bots.columns import INDEX
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.packing import NO_GAINS, larger, pack_one, pack_two, write_row
from luna_ai.bots.tiles import mark_threats, weigh_tiles
from luna_ai.bots.workspace import AGAIN, AGAIN_AFTER, COUNTS, ROUNDS_LEFT, UNIT_NOW

PRIESTESS, PRIESTESS_NEXT, PRIESTESS_MARGIN = (INDEX[f"priestess{end}"] for end in ("", "_next", "_margin"))
APOSTATE, APOSTATE_NEXT = INDEX["apostate"], INDEX["apostate_next"]
SHRINES, FAVORS, SHRINE_USE = INDEX["shrines"], INDEX["favors"], INDEX["shrine_use"]
UNIT, UNIT_TOP, NEXT = INDEX["unit"], INDEX["unit_top"], INDEX["next"]
LATER, LATER_GROWTH = INDEX["later"], INDEX["later_growth"]
RECRUIT, BUILD, CONTEST = INDEX["recruit"], INDEX["build"], INDEX["contest"]
ENOUGH_SEATS = 8.0
MOST_BY_SAIL = 2
AGAIN_0, AGAIN_FREE, FIRST_TOKEN = INDEX["again_0"], INDEX["again_free"], INDEX["token_book"]
LONG_TIME = INDEX["again_3"] - AGAIN_0

U6, U15, U28, U32 = (np.uint64(i) for i in (6, 15, 28, 32))
ISLE_NIBBLES = np.uint64((1 << 28) - 1)
INACTIVE_AT, LANDING_AT, SUPPLY_AT = np.uint64(INACTIVE), np.uint64(LANDING), np.uint64(SUPPLY)
LAST_COUNT = COUNTS - 1


@inline
def active_total(state: Any, seat: Any) -> Any:
    """Active novices of a seat, int64."""
    return np.int64(nibble_sum(layout.novices(state, seat) & ISLE_NIBBLES))


@called
def idle_rivals(state: Any, seat: Any) -> Any:
    """Rivals with at most one active novice: they will meditate soon. int64."""
    idle = 0
    for index in range(layout.MAX_PLAYERS):
        rival = np.uint64(index)
        if rival != seat and rival < layout.players(state) and active_total(state, rival) <= 1:
            idle += 1
    return idle


@inline
def chance_of_turn(tokens: Any, idle: Any, w: Any) -> Any:
    """Chance of a further action in this round when `idle` rivals turn a Time token each time round."""
    if tokens <= 0:
        return 0.0
    if idle == 0:
        return w[AGAIN_FREE]
    turns = (tokens + idle - 1) // idle - 1
    return w[AGAIN_0 + min(turns, LONG_TIME)]


@called
def weigh_time(state: Any, seat: Any, w: Any, workspace: Any) -> None:
    """Rounds left after this one, and the chance of a further action in this one."""
    facts, tokens = workspace.facts, np.int64(layout.time_tokens(state))
    facts[ROUNDS_LEFT] = np.float64(U6 - layout.round_number(state))
    idle = idle_rivals(state, seat) if layout.phase(state) == ACTION else 0
    facts[AGAIN] = chance_of_turn(tokens, idle, w)
    facts[AGAIN_AFTER] = chance_of_turn(tokens - 1, idle, w)


@called
def weigh_tokens(w: Any, rules: Any, workspace: Any) -> None:
    """Worth of holding each favor token: its end value, and a use while there is time."""
    left = workspace.facts[ROUNDS_LEFT]
    time = 1.0 if left > 0.0 else workspace.facts[AGAIN]
    kept = w[FAVORS] * np.float64(tables.favor_value(rules))
    for kind in range(NUM_KINDS):
        workspace.tokens[kind] = kept + time * w[FIRST_TOKEN + kind]
    if left == 0.0:
        workspace.tokens[BRIBERY] = kept


@called
def weigh_unit(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Worth of an active novice without a better use: most are good for a Council seat, while there are some."""
    left = np.float64(tables.council_last(rules) - layout.council_seat(state, seat))
    open_share = min(left / ENOUGH_SEATS, 1.0)
    workspace.facts[UNIT_NOW] = open_share * w[UNIT] + (1.0 - open_share) * w[UNIT_TOP]


@called
def count_novices(state: Any, seat: Any, workspace: Any) -> None:
    """The mover's novices by isle."""
    word = layout.novices(state, seat)
    for kind in range(NUM_KINDS):
        k = np.uint64(kind)
        workspace.active[kind] = np.int64(nibble(word, k))
        workspace.inactive[kind] = np.int64(nibble(word, k + INACTIVE_AT))


@inline
def shrine_value(w: Any, rules: Any, workspace: Any) -> Any:
    """Worth of a shrine on an isle: end value and cheaper actions in the rounds to come."""
    return w[SHRINES] * np.float64(tables.shrine_value(rules)) + w[SHRINE_USE] * workspace.facts[ROUNDS_LEFT]


@inline
def later_value(w: Any, rounds: Any) -> Any:
    """Worth of a novice in the last `rounds` rounds."""
    return rounds * (w[LATER] + w[LATER_GROWTH] * rounds)


@inline
def novice_value(w: Any, workspace: Any, rounds: Any) -> Any:
    """Worth of one more novice when `rounds` rounds are left after its first use."""
    return w[NEXT] * workspace.facts[UNIT_NOW] + later_value(w, rounds) if rounds >= 0.0 else 0.0


@inline
def isle_at(state: Any, position: Any) -> Any:
    """Kind of the isle at a ring position, int64."""
    return np.int64(layout.ring(state, on_ring(position)))


@inline
def can_build(state: Any, seat: Any, favors: Any, kind: Any, position: Any) -> Any:
    """Whether the mover can build where the Master Builder stands or will stand, with novices enough."""
    free = (layout.shrines(state, seat) >> np.uint64(kind)) & U1 == U0
    return free and isle_at(state, position) == kind and (favors >> np.uint64(SHRINE)) & U1 != U0


@called
def fill_uses(
    row: Any,
    limit: Any,
    kind: Any,
    tile: Any,
    builder: Any,
    rounds: Any,
    state: Any,
    seat: Any,
    favors: Any,
    w: Any,
    rules: Any,
    workspace: Any,
) -> None:
    """The most that up to `limit` active novices of an isle can do with a favor, a tile, a shrine and a Recruit.

    `tile` is the worth of a Promotion here, `builder` the Master Builder's ring position, `rounds` the rounds left.
    """
    alone = (layout.shrines(state, seat) >> np.uint64(kind)) & U1 != U0
    unit, novice, gains = workspace.facts[UNIT_NOW], novice_value(w, workspace, rounds - 1.0), NO_GAINS
    if (favors >> np.uint64(kind)) & U1 == U0:
        gains = pack(gains, workspace.tokens[kind], alone, unit)
    if tile > 0.0:
        gains = pack(gains, tile - novice, alone, unit)
    if can_build(state, seat, favors, kind, builder):
        gains = pack(gains, w[BUILD] * shrine_value(w, rules, workspace) - workspace.tokens[SHRINE], False, unit)
    if nibble(layout.novices(state, seat), SUPPLY_AT) != U0:
        gains = pack(gains, w[RECRUIT] * novice, False, unit)
    write_row(row, limit, unit, gains)


@inline
def pack(gains: Any, worth: Any, alone: Any, unit: Any) -> Any:
    """One use more: of one novice if `alone` (beside a shrine), else of two."""
    return pack_one(gains, worth - unit) if alone else pack_two(gains, worth - 2.0 * unit)


@inline
def needed_to_pass(state: Any, seat: Any, rival: Any, kind: Any, resting: Any) -> Any:
    """The count (int64) with which a seat stands before a rival on an isle; 0 if the rival is not there."""
    word = layout.novices(state, rival)
    theirs = nibble(word, kind) + (nibble(word, kind + INACTIVE_AT) & resting)
    theirs += (layout.shrines(state, rival) >> kind) & U1
    if theirs == U0:
        return 0
    return min(
        np.int64(theirs + np.uint64(layout.council_rank(state, rival) < layout.council_rank(state, seat))), COUNTS
    )


@called
def fill_standing(state: Any, seat: Any, isle: Any, resting: Any, margin: Any, rules: Any, workspace: Any) -> None:
    """Points of the Moon Priestess on an isle for n novices; inactive rivals count if `resting`."""
    standing, kind, seats = workspace.standing, np.uint64(isle), layout.players(state)
    shrine = np.int64((layout.shrines(state, seat) >> kind) & U1)
    for n in range(COUNTS):
        standing[n] = 0.0
    for index in range(layout.MAX_PLAYERS):
        rival = np.uint64(index)
        if rival != seat:
            for n in range(needed_to_pass(state, seat, rival, kind, resting) - shrine):
                standing[n] += 1.0
    for n in range(COUNTS):
        place = np.uint64(standing[n])
        placed = n + shrine > 0 and place < U3
        standing[n] = np.float64(tables.priestess_points(rules, seats, place)) if placed else 0.0
    for back in range(1, COUNTS):
        n = COUNTS - back
        standing[n] += margin * (standing[n - 1] - standing[n])


@inline
def blend(row: Any, uses: Any, scale: Any, standing: Any, weight: Any, limit: Any) -> None:
    """`row[n]`: the best split of n novices into some to be used and the others to stand before the Moon Priestess."""
    for n in range(limit + 1):
        row[n] = scale * uses[n] + weight * standing[0]
    for kept in range(1, limit + 1):
        if standing[kept] > standing[kept - 1]:
            points = weight * standing[kept]
            for n in range(kept, limit + 1):
                row[n] = larger(row[n], scale * uses[n - kept] + points)


@inline
def settlement(state: Any, seat: Any) -> Any:
    """Novices of a seat on each isle as nibbles; inside a Journey or Tide as they were when it began."""
    word = layout.novices(state, seat)
    total = (word & ISLE_NIBBLES) + ((word >> U28) & ISLE_NIBBLES)
    if seat == layout.to_move(state):
        carried = layout.carried(state)
        total += (carried & ISLE_NIBBLES) - ((carried >> U32) & ISLE_NIBBLES)
    return total


@called
def apostate_next(state: Any) -> Any:
    """The isle where the Apostate goes next if all novices stay on their isles, int64."""
    settled = U0
    for index in range(layout.MAX_PLAYERS):
        settled |= settlement(state, np.uint64(index))
    position = layout.apostate(state)
    for step in range(1, NUM_KINDS):
        isle = isle_at(state, position + np.uint64(step))
        if nibble(settled, np.uint64(isle)) != U0:
            return isle
    return isle_at(state, position)


@inline
def apostate_loss(count: Any) -> Any:
    """Influence that `count` novices on the Apostate's isle cost."""
    return count + 1.0 if count > 0 else 0.0


@called
def fill_use(state: Any, seat: Any, kind: Any, favors: Any, w: Any, rules: Any, workspace: Any) -> None:
    """The row `use` of an isle."""
    raw, row, again = workspace.raw[kind], workspace.use[kind], workspace.facts[AGAIN]
    limit = min(workspace.active[kind] + 2, LAST_COUNT)
    builder, rounds = layout.builder(state), workspace.facts[ROUNDS_LEFT]
    tile = w[CONTEST] * workspace.tile_now[kind]
    fill_uses(raw, limit, kind, tile, builder, rounds, state, seat, favors, w, rules, workspace)
    if kind == isle_at(state, layout.priestess(state)):
        fill_standing(state, seat, kind, U0, w[PRIESTESS_MARGIN], rules, workspace)
        blend(row, raw, again, workspace.standing, w[PRIESTESS], limit)
    else:
        for n in range(limit + 1):
            row[n] = again * raw[n]


@called
def fill_stay(
    state: Any, seat: Any, kind: Any, favors: Any, coming: Any, apostate: Any, w: Any, rules: Any, workspace: Any
) -> None:
    """The row `stay` of an isle, for what is there and up to `coming` novices more."""
    row, rounds = workspace.stay[kind], workspace.facts[ROUNDS_LEFT]
    limit = min(workspace.active[kind] + workspace.inactive[kind] + coming, LAST_COUNT)
    if rounds > 0.0:
        fill_next(state, seat, kind, favors, limit, w, rules, workspace)
    else:
        for n in range(limit + 1):
            row[n] = 0.0
    here = w[APOSTATE] if kind == isle_at(state, layout.apostate(state)) else 0.0
    if kind == apostate and rounds > 0.0:
        here += w[APOSTATE_NEXT]
    if here > 0.0:
        for n in range(1, limit + 1):
            row[n] -= here * apostate_loss(n)


@called
def fill_next(state: Any, seat: Any, kind: Any, favors: Any, limit: Any, w: Any, rules: Any, workspace: Any) -> None:
    """The part of `stay` that looks at the next round and those after it."""
    row, uses, rounds = workspace.stay[kind], workspace.packed, workspace.facts[ROUNDS_LEFT] - 1.0
    builder = layout.builder(state) + tables.builder_move(rules)
    priestess = layout.priestess(state) + tables.priestess_move(rules, layout.players(state))
    fill_uses(uses, limit, kind, workspace.tile_next[kind], builder, rounds, state, seat, favors, w, rules, workspace)
    if kind == isle_at(state, priestess):
        fill_standing(state, seat, kind, U15, w[PRIESTESS_MARGIN], rules, workspace)
        blend(row, uses, w[NEXT], workspace.standing, w[PRIESTESS_NEXT], limit)
    else:
        for n in range(limit + 1):
            row[n] = w[NEXT] * uses[n]
    later = later_value(w, rounds)
    for n in range(limit + 1):
        row[n] += later * n


@inline
def novices_to_come(state: Any, seat: Any, workspace: Any) -> Any:
    """The most novices that an action can add to an isle, int64."""
    total = MOST_BY_SAIL + np.int64(nibble(layout.carried(state), np.uint64(layout.HAND)))
    tide = (layout.favors(state, seat) >> np.uint64(TIDE)) & U1 != U0 or layout.pending(state) != NONE
    if tide:
        total += np.int64(nibble(layout.novices(state, seat), LANDING_AT))
    for kind in range(NUM_KINDS):
        total += workspace.active[kind] + (workspace.inactive[kind] if tide else 0)
    return total


@called
def look(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Fills all that the scores of actions share, for the player `seat` who is to move."""
    favors = layout.favors(state, seat)
    weigh_time(state, seat, w, workspace)
    weigh_tokens(w, rules, workspace)
    weigh_unit(state, seat, w, rules, workspace)
    count_novices(state, seat, workspace)
    mark_threats(state, seat, rules, workspace)
    weigh_tiles(state, favors, w, rules, workspace)
    coming, apostate = novices_to_come(state, seat, workspace), apostate_next(state)
    for kind in range(NUM_KINDS):
        fill_use(state, seat, kind, favors, w, rules, workspace)
        fill_stay(state, seat, kind, favors, coming, apostate, w, rules, workspace)


@called
def look_without_tide(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> Any:
    """Fills the isle `tide` again as it is when the tide favor has been returned; returns how its worth changes."""
    before = worth_of_isle(TIDE, workspace)
    favors = layout.favors(state, seat) & ~(U1 << np.uint64(TIDE))
    coming, apostate = novices_to_come(state, seat, workspace), apostate_next(state)
    fill_use(state, seat, np.int64(TIDE), favors, w, rules, workspace)
    fill_stay(state, seat, np.int64(TIDE), favors, coming, apostate, w, rules, workspace)
    return worth_of_isle(TIDE, workspace) - before


@inline
def worth_of_isle(kind: Any, workspace: Any) -> Any:
    """What the mover's novices on an isle are worth."""
    active = workspace.active[kind]
    return workspace.use[kind, active] + workspace.stay[kind, active + workspace.inactive[kind]]
