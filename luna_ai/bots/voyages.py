"""Journey and Tide: the best complete voyage under the evaluation, found isle by isle.

The evaluation is a sum over isles (`outlook`), so a voyage is worth the sum of what each isle gains, `gain[k, x]` for
x novices more (x > 0, landings) or fewer (x < 0, lifts). An isle that is both left and reached is never better than
with as many lifts fewer, so x says all, and the isles' own limits are met. The best voyage is found by dynamic
programming over the isles with the novices in the air as state: `best[k, n]` is the most that the first k isles can
gain with n novices lifted there and not yet landed (n < 0: landed, to be lifted later).

From the middle of a voyage, what has been lifted is in the air and what has been landed stays. The rest of the best
voyage is the best rest (but for ties), so each decision is found from the position alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import HAND, JOURNEY_LIFT, LANDED, LANDING, TIDE_LIFT, nibble
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.offers import FIRST_ID
from luna_ai.bots.workspace import COUNTS

JOURNEY, TIDE_ID, LAND = FIRST_ID["journey"], FIRST_ID["tide"], FIRST_ID["land"]
PER_LIFT = 1e-6
"""Price of a lift that breaks ties: no novice moves for nothing."""
IMPOSSIBLE = -1e300
MOST_AT_ONCE = 4
LANDING_AT, HAND_AT, LANDED_AT = np.uint64(LANDING), np.uint64(HAND), np.uint64(LANDED)


@inline
def open_isles(workspace: Any, room: Any) -> None:
    """Nothing can be lifted, every isle takes `room` novices."""
    for place in range(NUM_KINDS + 1):
        workspace.lifts[place, 0] = 0
        workspace.lifts[place, 1] = 0
    for kind in range(NUM_KINDS):
        workspace.room[kind] = room


@called
def sources_at_start(tide: Any, state: Any, seat: Any, workspace: Any) -> None:
    """What a new Journey (Tide) can lift."""
    open_isles(workspace, COUNTS)
    for kind in range(NUM_KINDS):
        workspace.lifts[kind, 0] = workspace.active[kind]
        if tide != U0:
            workspace.lifts[kind, 1] = workspace.inactive[kind]
    if tide != U0:
        workspace.lifts[NUM_KINDS, 1] = np.int64(nibble(layout.novices(state, seat), LANDING_AT))


@called
def sources_while_lifting(state: Any, seat: Any, workspace: Any) -> None:
    """What an unfinished Journey (Tide) can still lift, and how many novices each isle can take.

    Isles already left take those lifted elsewhere; what may be lifted later is not counted (a safe limit).
    """
    tide = np.uint64(layout.pending(state) == TIDE_LIFT)
    sources_at_start(tide, state, seat, workspace)
    first = np.int64(layout.last(state)) + np.int64(layout.last_count(state) != np.uint64(MOST_AT_ONCE))
    carried = layout.carried(state)
    hand = np.int64(nibble(carried, HAND_AT))
    for kind in range(NUM_KINDS):
        if kind < first:
            workspace.lifts[kind, 0] = 0
        if kind + NUM_KINDS < first:
            workspace.lifts[kind, 1] = 0
        lifted = np.int64(nibble(carried, np.uint64(kind)))
        if lifted > 0:
            workspace.room[kind] = hand - lifted
    if first > LANDING:
        workspace.lifts[NUM_KINDS, 1] = 0


@called
def room_while_landing(state: Any, rules: Any, workspace: Any) -> None:
    """How many novices each isle can take in an unfinished row of landings (RULES.md section 4)."""
    open_isles(workspace, 0)
    carried = layout.carried(state)
    total = np.int64(nibble(carried, HAND_AT))
    for kind in range(NUM_KINDS):
        total += np.int64(nibble(carried, LANDED_AT + np.uint64(kind)))
    first = np.int64(layout.last(state)) + np.int64(layout.last_count(state) != np.uint64(MOST_AT_ONCE))
    for kind in range(first, NUM_KINDS):
        left, landed = nibble(carried, np.uint64(kind)), nibble(carried, LANDED_AT + np.uint64(kind))
        barred = np.int64(left) if tables.same_isle_moves(rules) == U0 else 0
        workspace.room[kind] = total - barred - np.int64(landed)


@called
def weigh_changes(in_air: Any, workspace: Any) -> Any:
    """Fills `gain` for every change that is possible; returns how many novices can be in the air at once."""
    most = in_air
    for place in range(NUM_KINDS + 1):
        most += workspace.lifts[place, 0] + workspace.lifts[place, 1]
    for kind in range(NUM_KINDS):
        row, active = workspace.gain[kind], workspace.active[kind]
        stay, here = workspace.stay[kind], active + workspace.inactive[kind]
        inactive, liftable = workspace.lifts[kind, 1], workspace.lifts[kind, 0] + workspace.lifts[kind, 1]
        for count in range(1, liftable + 1):
            used = max(count - inactive, 0)
            cost = workspace.use[kind, active] - workspace.use[kind, active - used] + PER_LIFT * count
            row[COUNTS - count] = stay[here - count] - stay[here] - cost
        row[COUNTS] = 0.0
        for count in range(1, min(workspace.room[kind], most - liftable) + 1):
            row[COUNTS + count] = stay[here + count] - stay[here]
    landing = workspace.gain[NUM_KINDS]
    for count in range(workspace.lifts[NUM_KINDS, 1] + 1):
        landing[COUNTS - count] = -PER_LIFT * count
    return most


@called
def most_to_gain(price: Any, most: Any, workspace: Any) -> Any:
    """A new voyage gains no more than this, whatever the `price` of a novice.

    Each isle alone sells and buys novices at the price (the Lagrangian of "as many landings as lifts"), so that no
    voyage does better; the nearer the price is to what novices are worth, the tighter is the bound.
    """
    total = 0.0
    for place in range(NUM_KINDS + 1):
        row, alone = workspace.gain[place], 0.0
        liftable = workspace.lifts[place, 0] + workspace.lifts[place, 1]
        for count in range(1, liftable + 1):
            alone = max(alone, row[COUNTS - count] + price * count)
        if place < NUM_KINDS:
            for count in range(1, most - liftable + 1):
                alone = max(alone, row[COUNTS + count] - price * count)
        total += alone
    return total


@called
def best_voyage(in_air: Any, most: Any, workspace: Any) -> Any:
    """Fills `plan` with the best change of each isle for `in_air` novices in hand; returns what it gains.

    `gain` must have been filled by `weigh_changes`, which returns `most`.
    """
    best, to_come = workspace.best, most - in_air
    best[0, COUNTS + in_air] = 0.0
    low, high = in_air, in_air
    for place in range(NUM_KINDS + 1):
        liftable = workspace.lifts[place, 0] + workspace.lifts[place, 1]
        room = min(workspace.room[place], most) if place < NUM_KINDS else 0
        to_come -= liftable
        next_low, next_high = max(low - room, -to_come), high + liftable
        extend(place, low, high, next_low, next_high, liftable, room, workspace)
        low, high = next_low, next_high
    read_plan(workspace)
    return best[NUM_KINDS + 1, COUNTS]


@called
def extend(
    place: Any, low: Any, high: Any, next_low: Any, next_high: Any, liftable: Any, room: Any, workspace: Any
) -> None:
    """One isle more: `low` to `high` novices in the air before it, `next_low` to `next_high` after it."""
    before, after = workspace.best[place], workspace.best[place + 1]
    gain, step = workspace.gain[place], workspace.step[place]
    for air in range(next_low, next_high + 1):
        most, change = IMPOSSIBLE, 0
        for x in range(max(low - air, -liftable), min(high - air, room) + 1):
            value = before[COUNTS + air + x] + gain[COUNTS + x]
            if value > most:
                most, change = value, x
        after[COUNTS + air] = most
        step[COUNTS + air] = change


@called
def read_plan(workspace: Any) -> None:
    """Follows the steps back from nobody in the air."""
    air = 0
    for back in range(NUM_KINDS + 1):
        place = NUM_KINDS - back
        change = workspace.step[place, COUNTS + air]
        workspace.plan[place] = change
        air += change


@called
def first_lift(tide: Any, workspace: Any) -> Any:
    """The id (uint64) of the plan's first lift; LAND if it lifts nothing. Of an isle, the inactive are lifted first."""
    for kind in range(NUM_KINDS):
        count = -workspace.plan[kind] - workspace.lifts[kind, 1]
        if count > 0:
            return (TIDE_ID if tide != U0 else JOURNEY) + np.uint64(4 * kind + min(count, MOST_AT_ONCE) - 1)
    for place in range(NUM_KINDS + 1):
        count = min(-workspace.plan[place], workspace.lifts[place, 1])
        if count > 0:
            return TIDE_ID + np.uint64(4 * (NUM_KINDS + place) + min(count, MOST_AT_ONCE) - 1)
    return LAND


@called
def first_landing(workspace: Any) -> Any:
    """The id (uint64) of the plan's first landing."""
    for kind in range(NUM_KINDS):
        count = workspace.plan[kind]
        if count > 0:
            return LAND + np.uint64(4 * kind + min(count, MOST_AT_ONCE) - 1)
    return LAND


@called
def continue_voyage(state: Any, seat: Any, rules: Any, workspace: Any) -> Any:
    """The id (uint64) of the next lift or landing of an unfinished Journey or Tide."""
    step = layout.pending(state)
    lifting = step == JOURNEY_LIFT or step == TIDE_LIFT
    if lifting:
        sources_while_lifting(state, seat, workspace)
    else:
        room_while_landing(state, rules, workspace)
    hand = np.int64(nibble(layout.carried(state), HAND_AT))
    best_voyage(hand, weigh_changes(hand, workspace), workspace)
    if lifting:
        lift = first_lift(np.uint64(step == TIDE_LIFT), workspace)
        if lift != LAND:
            return lift
    return first_landing(workspace)
