"""What Temple tiles are worth to the mover: to sanctify, to hold, to promote; and who threatens whom in the Temple."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout, tables
from engine_fast.bits import U0, U1, lowest_bit, popcount
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import BRIBERY
from luna_ai.bots.columns import INDEX
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.workspace import AGAIN, OWN_TEMPLE, RIVALS_TEMPLE, ROUNDS_LEFT, THREATENED_CLAIMED, THREATENED_PATH

GUARD, TEMPLE, DISPLACEMENT, HURT = INDEX["guard"], INDEX["temple"], INDEX["displacement"], INDEX["hurt"]
RISK_CLAIMED, RISK_PATH, RISK_ROUNDS = INDEX["risk_claimed"], INDEX["risk_path"], INDEX["risk_rounds"]
CLAIM, TILE_NEXT, RELIEF = INDEX["claim"], INDEX["tile_next"], INDEX["relief"]
U5 = np.uint64(5)


@inline
def has(tiles: Any, tile: Any) -> Any:
    """1.0 if a set of tiles holds the tile (bit number), else 0.0."""
    return np.float64((tiles >> tile) & U1)


@inline
def lower_spaces(tiles: Any, order: Any, rules: Any) -> Any:
    """Spaces with a higher neighbour in `tiles`."""
    near, rest = U0, tiles
    while rest != U0:
        near |= tables.lower_neighbours(rules, order, lowest_bit(rest))
        rest &= rest - U1
    return near


@called
def mark_threats(state: Any, seat: Any, rules: Any, workspace: Any) -> None:
    """Which spaces tiles of the path and rivals' claimed tiles will threaten; where rivals can be displaced."""
    order, claimed, settled = layout.board_order(state), U0, U0
    for index in range(layout.MAX_PLAYERS):
        rival = np.uint64(index)
        if rival != seat:
            claimed |= layout.claimed(state, rival)
            settled |= layout.temple(state, rival)
    workspace.sets[THREATENED_PATH] = lower_spaces(layout.path(state), order, rules)
    workspace.sets[THREATENED_CLAIMED] = lower_spaces(claimed, order, rules)
    workspace.sets[RIVALS_TEMPLE] = settled & ~layout.books(state)
    workspace.sets[OWN_TEMPLE] = layout.temple(state, seat) & ~layout.books(state)


@inline
def danger(tile: Any, w: Any, workspace: Any) -> Any:
    """Chance that a novice without a Book is displaced from a Temple space."""
    sets = workspace.sets
    on_path = w[RISK_PATH] + w[RISK_ROUNDS] * workspace.facts[ROUNDS_LEFT]
    return w[RISK_CLAIMED] * has(sets[THREATENED_CLAIMED], tile) + on_path * has(sets[THREATENED_PATH], tile)


@inline
def scorings(rounds_left: Any) -> Any:
    """Scoring phases still to come with so many rounds left after the one meant."""
    return rounds_left + 1.0


@inline
def sanctify_value(state: Any, tile: Any, later: Any, w: Any, rules: Any, workspace: Any) -> Any:
    """Worth of a Sanctification now (`later` = U0) or in the next round (U1): Guard, income, displacement."""
    left = workspace.facts[ROUNDS_LEFT] - np.float64(later)
    if left < 0.0:
        return 0.0
    near = tables.lower_neighbours(rules, layout.board_order(state), tile)
    victims = np.float64(popcount(near & workspace.sets[RIVALS_TEMPLE]))
    guard = np.float64(tables.guard_value(rules, layout.round_number(state) - U1 + later))
    income = w[TEMPLE] * (1.0 - danger(tile, w, workspace)) + w[HURT] * victims
    return w[GUARD] * guard + scorings(left) * income + w[DISPLACEMENT] * victims


@inline
def approved_tiles(state: Any, rules: Any) -> Any:
    """Tiles that can be used without bribery in this round."""
    return tables.usable(rules, layout.board_order(state), layout.round_number(state) - U1, U0)


@inline
def hold_value(state: Any, tile: Any, w: Any, rules: Any, workspace: Any) -> Any:
    """Worth of a claimed tile before it is sanctified: in this round if there is time, else in the next."""
    after = sanctify_value(state, tile, U1, w, rules, workspace)
    if (approved_tiles(state, rules) >> tile) & U1 == U0:
        return w[CLAIM] * after
    again = workspace.facts[AGAIN]
    now = sanctify_value(state, tile, U0, w, rules, workspace)
    return w[CLAIM] * (again * now + (1.0 - again) * after)


@inline
def relief(state: Any, tile: Any, w: Any, rules: Any, workspace: Any) -> Any:
    """Worth of a claim that keeps rivals from the tile: own novices on the spaces that it threatens."""
    near = tables.lower_neighbours(rules, layout.board_order(state), tile) & workspace.sets[OWN_TEMPLE]
    return w[RELIEF] * scorings(workspace.facts[ROUNDS_LEFT]) * np.float64(popcount(near))


@called
def weigh_tiles(state: Any, favors: Any, w: Any, rules: Any, workspace: Any) -> None:
    """The best tile of each symbol that can be promoted now, and the best one of the next round."""
    order, index = layout.board_order(state), layout.round_number(state) - U1
    bribery = (favors >> np.uint64(BRIBERY)) & U1
    now = tables.usable(rules, order, index, bribery)
    soon = tables.usable(rules, order, index + U1, U0) if index < U5 else U0
    approved = approved_tiles(state, rules)
    for kind in range(NUM_KINDS):
        workspace.tile_now[kind] = 0.0
        workspace.tile_next[kind] = 0.0
    rest = layout.path(state) & (now | soon)
    while rest != U0:
        tile = lowest_bit(rest)
        rest &= rest - U1
        symbol = tables.tile_symbol(rules, tile)
        if has(now, tile) > 0.0:
            bribe = (1.0 - has(approved, tile)) * workspace.tokens[BRIBERY]
            value = hold_value(state, tile, w, rules, workspace) + relief(state, tile, w, rules, workspace) - bribe
            workspace.tile_now[symbol] = max(workspace.tile_now[symbol], value)
        if has(soon, tile) > 0.0:
            value = w[TILE_NEXT] * sanctify_value(state, tile, U1, w, rules, workspace)
            workspace.tile_next[symbol] = max(workspace.tile_next[symbol], value)
