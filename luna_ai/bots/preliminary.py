"""The preliminary round: where the first shrine and the pairs of novices go."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.bits import U0, U1, U7, lowest_bit
from engine_fast.layout import SHRINES
from luna_ai.bots.columns import INDEX
from luna_ai.bots.compiling import called
from luna_ai.bots.offers import FIRST_ID, block, offer

PLACE_TOKEN, PLACE_TILE, PLACE_LEFT_OUT = INDEX["place_token"], INDEX["place_tile"], INDEX["place_left_out"]
PLACE_SHRINE, PLACE_NOVICES = FIRST_ID["place_shrine"], FIRST_ID["place_novices"]


@called
def offer_placings(state: Any, w: Any, workspace: Any) -> None:
    """Offers every isle: for a shrine what it makes cheaper, for novices what they can do less the favor forgone."""
    shrine = layout.phase(state) == SHRINES
    rest = block(PLACE_SHRINE if shrine else PLACE_NOVICES, U7, workspace)
    while rest != U0:
        isle = lowest_bit(rest)
        rest &= rest - U1
        kind = np.int64(isle)
        if shrine:
            tiles = workspace.tile_now[kind] + workspace.tile_next[kind]
            offer(workspace, PLACE_SHRINE + isle, w[PLACE_TOKEN] * workspace.tokens[kind] + w[PLACE_TILE] * tiles)
        else:
            worth = workspace.use[kind, 2] + workspace.stay[kind, 2]
            offer(workspace, PLACE_NOVICES + isle, worth - w[PLACE_LEFT_OUT] * workspace.tokens[kind])
