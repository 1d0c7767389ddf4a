"""Scores of the actions that are complete with one decision: what they gain less what the novices used were worth.

One function per kind; each offers its legal decisions. Worth of novices and tiles is what `outlook.look` has filled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.actions import MAX_STEPS
from engine_fast.bits import U0, U1, U7, lowest_bit
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import BRIBERY, HERBS, NOVICE, SAILBOAT, SHRINE, nibble
from engine_fast.legal import seats_to_climb
from luna_ai.bots.columns import INDEX
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.offers import FIRST_ID, block, offer
from luna_ai.bots.outlook import INACTIVE_AT, active_total, apostate_loss, isle_at, shrine_value
from luna_ai.bots.tiles import approved_tiles, has, hold_value, relief, sanctify_value
from luna_ai.bots.workspace import AGAIN, AGAIN_AFTER

COUNCIL, COUNCIL_AHEAD = INDEX["council"], INDEX["council_ahead"]
APOSTATE, EXPEL_RIVALS = INDEX["apostate"], INDEX["expel_rivals"]
MEDITATION, MEDITATE, END_RIVALS = INDEX["meditation"], INDEX["meditate"], INDEX["end_rivals"]

FAVOR, FAVOR_VIRTUAL = FIRST_ID["favor"], FIRST_ID["favor_virtual"]
RECRUIT, RECRUIT_VIRTUAL = FIRST_ID["recruit"], FIRST_ID["recruit_virtual"]
BUILD, BUILD_VIRTUAL = FIRST_ID["build"], FIRST_ID["build_virtual"]
HERBS_ID, SAIL, SAIL_LANDING = FIRST_ID["herbs"], FIRST_ID["sail"], FIRST_ID["sail_landing"]
PROMOTE, PROMOTE_VIRTUAL, SANCTIFY = FIRST_ID["promote"], FIRST_ID["promote_virtual"], FIRST_ID["sanctify"]
EXPEL, EXPEL_VIRTUAL, EXPEL_ALONE = FIRST_ID["expel"], FIRST_ID["expel_virtual"], FIRST_ID["expel_alone"]
COUNCIL_ID, COUNCIL_VIRTUAL, COUNCIL_ALONE = (FIRST_ID[f"council{end}"] for end in ("", "_virtual", "_alone"))
MOST_TO_SAIL = 2
MEDITATE_ID = FIRST_ID["meditate"]
KINDS, PAIRS, TILE_COUNT = np.uint64(7), np.uint64(14), np.uint64(28)


@inline
def used_up(kind: Any, count: Any, workspace: Any) -> Any:
    """What `count` active novices of an isle would have been worth for the rest of the round."""
    active = workspace.active[kind]
    return workspace.use[kind, active] - workspace.use[kind, active - count]


@inline
def stay_change(kind: Any, change: Any, workspace: Any) -> Any:
    """How the worth of an isle changes with `change` novices more (fewer) there when the round ends."""
    here = workspace.active[kind] + workspace.inactive[kind]
    return workspace.stay[kind, here + change] - workspace.stay[kind, here]


@inline
def shrine_on(state: Any, seat: Any, kind: Any) -> Any:
    """1 if the seat has a shrine on the isle, else 0 (int64)."""
    return np.int64((layout.shrines(state, seat) >> np.uint64(kind)) & U1)


@called
def offer_favors(state: Any, seat: Any, workspace: Any) -> None:
    """Priest's Favor: the token, for novices used (and the novice token)."""
    rest = block(FAVOR, KINDS, workspace) | (block(FAVOR_VIRTUAL, KINDS, workspace) << U7)
    while rest != U0:
        index = np.int64(lowest_bit(rest))
        rest &= rest - U1
        kind, virtual = index % 7, index // 7
        count = 2 - shrine_on(state, seat, kind) - virtual
        score = workspace.tokens[kind] - used_up(kind, count, workspace) - virtual * workspace.tokens[NOVICE]
        offer(workspace, (FAVOR_VIRTUAL if virtual else FAVOR) + np.uint64(kind), score)


@called
def offer_recruits(workspace: Any) -> None:
    """Recruit: one more novice on the isle, for novices used (and the novice token)."""
    rest = block(RECRUIT, KINDS, workspace) | (block(RECRUIT_VIRTUAL, KINDS, workspace) << U7)
    while rest != U0:
        index = np.int64(lowest_bit(rest))
        rest &= rest - U1
        kind, virtual = index % 7, index // 7
        cost = used_up(kind, 2 - virtual, workspace) + virtual * workspace.tokens[NOVICE]
        offer(
            workspace,
            (RECRUIT_VIRTUAL if virtual else RECRUIT) + np.uint64(kind),
            stay_change(kind, 1, workspace) - cost,
        )


@called
def offer_builds(state: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Build Shrine: a shrine, for novices used and the shrine token (and the novice token)."""
    kind = isle_at(state, layout.builder(state))
    gain = shrine_value(w, rules, workspace) - workspace.tokens[SHRINE]
    if block(BUILD, U1, workspace) != U0:
        offer(workspace, BUILD, gain - used_up(kind, 2, workspace))
    if block(BUILD_VIRTUAL, U1, workspace) != U0:
        offer(workspace, BUILD_VIRTUAL, gain - used_up(kind, 1, workspace) - workspace.tokens[NOVICE])


@called
def offer_herbs(workspace: Any) -> None:
    """Herbs: novices become active, for the token."""
    rest = block(HERBS_ID, PAIRS, workspace)
    while rest != U0:
        index = lowest_bit(rest)
        rest &= rest - U1
        kind, count = np.int64(index) % 7, np.int64(index) // 7 + 1
        active = workspace.active[kind]
        gain = workspace.use[kind, active + count] - workspace.use[kind, active]
        offer(workspace, HERBS_ID + index, gain - workspace.tokens[HERBS])


@inline
def arrive(kind: Any, count: Any, workspace: Any) -> Any:
    """Worth of `count` novices that arrive active on an isle."""
    active = workspace.active[kind]
    woken = workspace.use[kind, active + count] - workspace.use[kind, active]
    return woken + stay_change(kind, count, workspace)


@called
def offer_sails(state: Any, seat: Any, workspace: Any) -> None:
    """Sailboat: novices to another isle, for the token; from the landing stage, and from every isle to every other."""
    rest = block(SAIL_LANDING, PAIRS, workspace)
    while rest != U0:
        index = lowest_bit(rest)
        rest &= rest - U1
        kind, count = np.int64(index) % NUM_KINDS, np.int64(index) // NUM_KINDS + 1
        offer(workspace, SAIL_LANDING + index, arrive(kind, count, workspace) - workspace.tokens[SAILBOAT])
    if (layout.favors(state, seat) >> np.uint64(SAILBOAT)) & U1 != U0:
        for source in range(NUM_KINDS):
            for number in range(1, min(workspace.active[source], MOST_TO_SAIL) + 1):
                offer_sails_from(source, number, workspace)


@inline
def offer_sails_from(source: Any, count: Any, workspace: Any) -> None:
    """The ways to sail from an isle with `count` novices."""
    leave = stay_change(source, -count, workspace) - used_up(source, count, workspace) - workspace.tokens[SAILBOAT]
    first = SAIL + np.uint64(((count - 1) * NUM_KINDS + source) * NUM_KINDS)
    for kind in range(NUM_KINDS):
        if kind != source:
            offer(workspace, first + np.uint64(kind), leave + arrive(kind, count, workspace))


@called
def offer_promotions(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Promotion: a claimed tile, for the novice on it, one more used (or the novice token) and perhaps a bribe."""
    offer_promotions_of(PROMOTE, block(PROMOTE, TILE_COUNT, workspace), U0, state, seat, w, rules, workspace)
    offer_promotions_of(
        PROMOTE_VIRTUAL, block(PROMOTE_VIRTUAL, TILE_COUNT, workspace), U1, state, seat, w, rules, workspace
    )


@called
def offer_promotions_of(
    first: Any, tiles: Any, virtual: Any, state: Any, seat: Any, w: Any, rules: Any, workspace: Any
) -> None:
    """The Promotions without or with the virtual novice."""
    approved, rest = approved_tiles(state, rules), tiles
    while rest != U0:
        tile = lowest_bit(rest)
        rest &= rest - U1
        kind = np.int64(tables.tile_symbol(rules, tile))
        count = 2 - shrine_on(state, seat, kind) - np.int64(virtual)
        paid = np.float64(virtual) * workspace.tokens[NOVICE] + (1.0 - has(approved, tile)) * workspace.tokens[BRIBERY]
        moved = stay_change(kind, -1, workspace) - used_up(kind, count, workspace)
        held = hold_value(state, tile, w, rules, workspace) + relief(state, tile, w, rules, workspace)
        offer(workspace, first + tile, held + moved - paid)


@called
def offer_sanctifications(state: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Sanctification: its worth now less the worth of waiting with the claimed tile, and perhaps a bribe."""
    approved, rest = approved_tiles(state, rules), block(SANCTIFY, TILE_COUNT, workspace)
    while rest != U0:
        tile = lowest_bit(rest)
        rest &= rest - U1
        paid = (1.0 - has(approved, tile)) * workspace.tokens[BRIBERY]
        gain = sanctify_value(state, tile, U0, w, rules, workspace) - hold_value(state, tile, w, rules, workspace)
        offer(workspace, SANCTIFY + tile, gain - paid)


@inline
def rivals_passed(state: Any, seat: Any, target: Any, rules: Any) -> Any:
    """Pieces that come to be preceded by the seat's piece when it moves to the Council seat `target`."""
    last = tables.council_last(rules)
    reach, passed = target if target < last else last - U1, U0
    for index in range(layout.MAX_PLAYERS):
        rival = np.uint64(index)
        if rival < layout.players(state) and layout.council_rank(state, rival) < layout.council_rank(state, seat):
            passed += np.uint64(layout.council_seat(state, rival) <= reach)
    return passed


@called
def council_gain(state: Any, seat: Any, steps: Any, w: Any, rules: Any) -> Any:
    """Worth of climbing `steps` (int64) Council seats."""
    here, last = layout.council_seat(state, seat), tables.council_last(rules)
    target = here + np.uint64(steps)
    target = target if target < last else last
    climbed = np.float64(tables.council_value(rules, target)) - np.float64(tables.council_value(rules, here))
    return w[COUNCIL] * climbed + w[COUNCIL_AHEAD] * np.float64(rivals_passed(state, seat, target, rules))


@called
def offer_councils(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Council: seats, for novices of one isle (and the novice token)."""
    virtual = (layout.favors(state, seat) >> np.uint64(NOVICE)) & U1 != U0
    novices = np.int64(0)
    for kind in range(NUM_KINDS):
        novices = max(novices, workspace.active[kind])
    most = min(np.int64(seats_to_climb(state, seat, rules)), novices + np.int64(virtual))
    for steps in range(1, (most if most < MAX_STEPS else MAX_STEPS) + 1):
        gain = council_gain(state, seat, steps, w, rules)
        offer_councils_of(steps, gain, virtual, workspace)
    if block(COUNCIL_ALONE, U1, workspace) != U0:
        offer(workspace, COUNCIL_ALONE, council_gain(state, seat, 1, w, rules) - workspace.tokens[NOVICE])


@inline
def offer_councils_of(steps: Any, gain: Any, virtual: Any, workspace: Any) -> None:
    """The ways to climb `steps` seats with novices."""
    for kind in range(NUM_KINDS):
        if workspace.active[kind] >= steps:
            offer(workspace, COUNCIL_ID + np.uint64((steps - 1) * 7 + kind), gain - used_up(kind, steps, workspace))
        if virtual and steps > 1 and workspace.active[kind] >= steps - 1:
            cost = used_up(kind, steps - 1, workspace) + workspace.tokens[NOVICE]
            offer(workspace, COUNCIL_VIRTUAL + np.uint64((steps - 2) * 7 + kind), gain - cost)


@called
def loss_at(state: Any, seat: Any, kind: Any, w: Any) -> Any:
    """What the Apostate on an isle costs the mover, less what it is worth that he costs his rivals."""
    k, own, rivals = np.uint64(kind), 0.0, 0.0
    for index in range(layout.MAX_PLAYERS):
        word = layout.novices(state, np.uint64(index))
        loss = apostate_loss(np.float64(nibble(word, k) + nibble(word, k + INACTIVE_AT)))
        if np.uint64(index) == seat:
            own = loss
        else:
            rivals += loss  # whole numbers: the order of the seats makes no difference
    return w[APOSTATE] * own - w[EXPEL_RIVALS] * rivals


@called
def offer_expulsions(state: Any, seat: Any, w: Any, workspace: Any) -> None:
    """Expulsion: the Apostate elsewhere, for novices used on his isle (and the novice token)."""
    position = layout.apostate(state)
    kind = isle_at(state, position)
    here, most = loss_at(state, seat, kind, w), workspace.active[kind]
    virtual = block(EXPEL_VIRTUAL, KINDS, workspace) != U0
    for steps in range(1, (most if most < MAX_STEPS else MAX_STEPS) + 1):
        gain = here - loss_at(state, seat, isle_at(state, position + np.uint64(steps)), w)
        cost = used_up(kind, steps, workspace)
        offer(workspace, EXPEL + np.uint64(steps - 1), gain - cost)
        if virtual:
            gain = here - loss_at(state, seat, isle_at(state, position + np.uint64(steps + 1)), w)
            offer(workspace, EXPEL_VIRTUAL + np.uint64(steps - 1), gain - cost - workspace.tokens[NOVICE])
    if block(EXPEL_ALONE, U1, workspace) != U0:
        gain = here - loss_at(state, seat, isle_at(state, position + U1), w)
        offer(workspace, EXPEL_ALONE, gain - workspace.tokens[NOVICE])


@called
def offer_meditation(state: Any, seat: Any, w: Any, workspace: Any) -> None:
    """Meditation: time lost for the own novices, and for the rivals' when it ends the round."""
    score, lost = w[MEDITATE], workspace.facts[AGAIN] - workspace.facts[AGAIN_AFTER]
    for kind in range(NUM_KINDS):
        score -= lost * workspace.raw[kind, workspace.active[kind]]
    if layout.time_tokens(state) == U1:
        rivals = np.int64(0)
        for index in range(layout.MAX_PLAYERS):
            if np.uint64(index) != seat:
                rivals += active_total(state, np.uint64(index))
        score += w[MEDITATION] + w[END_RIVALS] * rivals
    offer(workspace, MEDITATE_ID, score)


@called
def offer_single(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Offers every legal action of one decision."""
    offer_favors(state, seat, workspace)
    offer_recruits(workspace)
    offer_builds(state, w, rules, workspace)
    offer_herbs(workspace)
    offer_sails(state, seat, workspace)
    offer_promotions(state, seat, w, rules, workspace)
    offer_sanctifications(state, w, rules, workspace)
    offer_councils(state, seat, w, rules, workspace)
    offer_expulsions(state, seat, w, workspace)
    offer_meditation(state, seat, w, workspace)
