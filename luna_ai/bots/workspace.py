"""Scratch memory of the bots: made once, handed to every kernel, so that no decision allocates anything.

Nothing in it outlives a decision except the weights, so a bot's choice depends on the position alone (and on the
generator, if it plays at random).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.kinds import NUM_KINDS
from luna_ai.bots.columns import COLUMNS
from luna_ai.strategies import STRATEGIES

COUNTS = 16
"""Length of a row by number of novices (0 ... 15)."""

AGAIN, AGAIN_AFTER, ROUNDS_LEFT, UNIT_NOW, BEST_SCORE = range(5)
NUM_FACTS = 5
THREATENED_PATH, THREATENED_CLAIMED, RIVALS_TEMPLE, OWN_TEMPLE, BEST_ACTION = range(5)
NUM_SETS = 5


class Workspace(NamedTuple):
    """Arrays that kernels write into; one for each thread."""

    weights: NDArray[np.float64]  # [bots, W], row code - 1: what a bot weighs, see `columns`
    mask: NDArray[np.uint64]  # [MASK_WORDS + 1] legal decisions, and a word of zeros
    active: NDArray[np.int64]  # [7] active novices of the mover by isle
    inactive: NDArray[np.int64]  # [7] inactive novices of the mover by isle
    facts: NDArray[np.float64]  # [NUM_FACTS] named by the indices above
    scores: NDArray[np.float64]  # [NUM_ACTIONS] score of each decision that was offered; others are as they were
    sets: NDArray[np.uint64]  # [NUM_SETS] named by the indices above
    tokens: NDArray[np.float64]  # [7] value of holding a favor token
    tile_now: NDArray[np.float64]  # [7] best tile to promote with a symbol, in this round
    tile_next: NDArray[np.float64]  # [7] ... in the next round
    raw: NDArray[np.float64]  # [7, COUNTS] uses of n active novices of an isle, if there is time for all
    use: NDArray[np.float64]  # [7, COUNTS] worth of n active novices of an isle for the rest of the round
    stay: NDArray[np.float64]  # [7, COUNTS] worth of n novices on an isle when the round ends
    packed: NDArray[np.float64]  # [COUNTS] uses of n active novices in the next round
    standing: NDArray[np.float64]  # [COUNTS] points of the Moon Priestess with n novices on her isle
    lifts: NDArray[
        np.int64
    ]  # [8, 2] novices that can be lifted: active, inactive by isle; landing stage in the last row
    room: NDArray[np.int64]  # [7] novices that can land
    gain: NDArray[np.float64]  # [8, 2 COUNTS] worth of n more (index COUNTS + n) or fewer novices on an isle
    best: NDArray[np.float64]  # [9, 2 COUNTS] best gain of the first isles by novices in the air (index COUNTS + n)
    step: NDArray[np.int64]  # [8, 2 COUNTS] the change on the isle that reaches it
    plan: NDArray[np.int64]  # [8] the best change by isle, and on the landing stage


def weight_table() -> NDArray[np.float64]:
    """The weights of all bots, `float64[bots, W]`: the greedy bot, then the strategies."""
    greedy = {column.name: column.greedy for column in COLUMNS}
    rows = [greedy, *(greedy | dict(strategy.weights) for strategy in STRATEGIES)]
    return np.array([[row[column.name] for column in COLUMNS] for row in rows], dtype=np.float64)


def new_workspace(weights: NDArray[np.float64] | None = None) -> Workspace:
    """A workspace with the bots' weights, or with others (`float64[bots, W]`, row code - 1)."""
    both = 2 * COUNTS
    return Workspace(
        weights=weight_table() if weights is None else weights,
        mask=np.zeros(MASK_WORDS + 1, dtype=np.uint64),
        active=np.zeros(NUM_KINDS, dtype=np.int64),
        inactive=np.zeros(NUM_KINDS, dtype=np.int64),
        facts=np.zeros(NUM_FACTS, dtype=np.float64),
        scores=np.zeros(NUM_ACTIONS, dtype=np.float64),
        sets=np.zeros(NUM_SETS, dtype=np.uint64),
        tokens=np.zeros(NUM_KINDS, dtype=np.float64),
        tile_now=np.zeros(NUM_KINDS, dtype=np.float64),
        tile_next=np.zeros(NUM_KINDS, dtype=np.float64),
        raw=np.zeros((NUM_KINDS, COUNTS), dtype=np.float64),
        use=np.zeros((NUM_KINDS, COUNTS), dtype=np.float64),
        stay=np.zeros((NUM_KINDS, COUNTS), dtype=np.float64),
        packed=np.zeros(COUNTS, dtype=np.float64),
        standing=np.zeros(COUNTS, dtype=np.float64),
        lifts=np.zeros((NUM_KINDS + 1, 2), dtype=np.int64),
        room=np.zeros(NUM_KINDS, dtype=np.int64),
        gain=np.zeros((NUM_KINDS + 1, both), dtype=np.float64),
        best=np.zeros((NUM_KINDS + 2, both), dtype=np.float64),
        step=np.zeros((NUM_KINDS + 1, both), dtype=np.int64),
        plan=np.zeros(NUM_KINDS + 1, dtype=np.int64),
    )
