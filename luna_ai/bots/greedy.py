"""The greedy bot and the strategies: the complete action with the best score, from any position.

One function for all of them; they differ in their row of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.bits import U0, U1
from engine_fast.layout import ACTION, GIVE_BOOK, NONE, TIDE
from luna_ai.bots.books import offer_books, offer_places
from luna_ai.bots.compiling import called, kernel, spliced
from luna_ai.bots.offers import begin_offers, offer
from luna_ai.bots.outlook import look, look_without_tide, novice_value
from luna_ai.bots.preliminary import offer_placings
from luna_ai.bots.single import offer_single
from luna_ai.bots.voyages import best_voyage, continue_voyage, first_lift, most_to_gain, sources_at_start, weigh_changes
from luna_ai.bots.workspace import BEST_ACTION, BEST_SCORE, ROUNDS_LEFT

TIDE_KIND = np.uint64(TIDE)


@called
def choose_greedy(w: Any, state: Any, rules: Any, workspace: Any) -> Any:
    """The id (uint64) of the decision with the best score under the weights `w`, `float64[W]`."""
    seat, step = layout.to_move(state), layout.pending(state)
    look(state, seat, w, rules, workspace)
    if step != NONE and step != GIVE_BOOK:
        return continue_voyage(state, seat, rules, workspace)
    begin_offers(state, rules, workspace)
    if step == GIVE_BOOK:
        offer_places(state, seat, w, rules, workspace)
    elif layout.phase(state) != ACTION:
        offer_placings(state, w, workspace)
    else:
        offer_actions(state, seat, w, rules, workspace)
    return workspace.sets[BEST_ACTION]


@spliced
def offer_actions(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Offers every kind of action; of Journeys and Tides the best one."""
    offer_single(state, seat, w, rules, workspace)
    offer_books(state, seat, w, rules, workspace)
    offer_voyage(U0, 0.0, state, seat, w, workspace)
    if (layout.favors(state, seat) >> TIDE_KIND) & U1 != U0:
        change = look_without_tide(state, seat, w, rules, workspace) - workspace.tokens[TIDE]
        offer_voyage(U1, change, state, seat, w, workspace)


@called
def offer_voyage(tide: Any, change: Any, state: Any, seat: Any, w: Any, workspace: Any) -> None:
    """Offers the first lift of the best Journey or Tide, if one can gain anything and beat what has been offered."""
    sources_at_start(tide, state, seat, workspace)
    most = weigh_changes(np.int64(0), workspace)
    price = novice_value(w, workspace, workspace.facts[ROUNDS_LEFT] - 1.0)
    if most_to_gain(price, most, workspace) <= max(workspace.facts[BEST_SCORE] - change, 0.0):
        return
    gain = best_voyage(np.int64(0), most, workspace)
    if gain > 0.0:
        offer(workspace, first_lift(tide, workspace), gain + change)


@kernel
def plan_into(code: Any, tide: Any, state: Any, rules: Any, workspace: Any) -> Any:
    """The gain of the best Journey (`tide` False) or Tide of bot `code` where an action begins; fills its `plan`."""
    seat, w = layout.to_move(state), workspace.weights[code - 1]
    look(state, seat, w, rules, workspace)
    if tide:
        look_without_tide(state, seat, w, rules, workspace)
    sources_at_start(np.uint64(tide), state, seat, workspace)
    return best_voyage(np.int64(0), weigh_changes(np.int64(0), workspace), workspace)
