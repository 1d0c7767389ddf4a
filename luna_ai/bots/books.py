"""The Book: every pair of a space to take one from and an own novice to give it to."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.bits import U0, U1, lowest_bit
from engine_fast.layout import BOOK
from engine_fast.legal import spaces_to_give
from luna_ai.bots.columns import INDEX
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.offers import FIRST_ID, block, offer
from luna_ai.bots.tiles import danger, has, lower_spaces, scorings
from luna_ai.bots.workspace import ROUNDS_LEFT

BOOKS, TEMPLE, DISPLACEMENT, HURT = (INDEX[name] for name in ("books", "temple", "displacement", "hurt"))
TAKE_BOOK, GIVE_BOOK_ID = FIRST_ID["take_book"], FIRST_ID["give_book"]
TILE_COUNT = np.uint64(28)


@inline
def shelter(tile: Any, w: Any, workspace: Any) -> Any:
    """Worth of a Book under an own novice: the income that displacement would take."""
    return w[TEMPLE] * danger(tile, w, workspace) * scorings(workspace.facts[ROUNDS_LEFT])


@inline
def exposure(tile: Any, own: Any, near_own_claims: Any, w: Any, workspace: Any) -> Any:
    """Worth of a space without its Book: an own novice loses shelter, a rival's may be displaced by the mover."""
    if has(own, tile) > 0.0:
        return -shelter(tile, w, workspace)
    lasting = w[HURT] * scorings(workspace.facts[ROUNDS_LEFT])
    return has(near_own_claims, tile) * (w[DISPLACEMENT] + lasting)


@called
def offer_books(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Offers every Book that can be taken with the score of its best place."""
    own = layout.temple(state, seat)
    without = own & ~layout.books(state)
    near = lower_spaces(layout.claimed(state, seat), layout.board_order(state), rules)
    use = w[BOOKS] * (1.0 + np.float64(layout.book_bonus(state))) - workspace.tokens[BOOK]
    rest = block(TAKE_BOOK, TILE_COUNT, workspace)
    while rest != U0:
        tile = lowest_bit(rest)
        rest &= rest - U1
        change = exposure(tile, own, near, w, workspace)
        places = without if without != U0 else U1 << tile
        while places != U0:
            place = lowest_bit(places)
            places &= places - U1
            offer(workspace, TAKE_BOOK + tile, use + change + shelter(place, w, workspace))


@called
def offer_places(state: Any, seat: Any, w: Any, rules: Any, workspace: Any) -> None:
    """Offers every novice that the Book in the air can be given to."""
    rest = spaces_to_give(state, seat, rules)
    while rest != U0:
        place = lowest_bit(rest)
        rest &= rest - U1
        offer(workspace, GIVE_BOOK_ID + place, shelter(place, w, workspace))
