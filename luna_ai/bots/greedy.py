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
from luna_ai.bots.compiling import called, spliced
from luna_ai.bots.offers import begin_offers, offer
from luna_ai.bots.outlook import look, look_without_tide
from luna_ai.bots.preliminary import offer_placings
from luna_ai.bots.single import offer_single
from luna_ai.bots.voyages import best_voyage, continue_voyage, first_lift, sources_at_start
from luna_ai.bots.workspace import BEST_ACTION

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
    offer_voyage(U0, 0.0, state, seat, workspace)
    if (layout.favors(state, seat) >> TIDE_KIND) & U1 != U0:
        change = look_without_tide(state, seat, w, rules, workspace) - workspace.tokens[TIDE]
        offer_voyage(U1, change, state, seat, workspace)


@called
def offer_voyage(tide: Any, change: Any, state: Any, seat: Any, workspace: Any) -> None:
    """Offers the first lift of the best Journey or Tide, if there is one that gains anything."""
    sources_at_start(tide, state, seat, workspace)
    gain = best_voyage(np.int64(0), workspace)
    if gain > 0.0:
        offer(workspace, first_lift(tide, workspace), gain + change)
