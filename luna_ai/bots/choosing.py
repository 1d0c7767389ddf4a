"""One decision of any bot, by its code (see `luna_ai.players`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions
from engine_fast.bits import U0, U1
from engine_fast.legal import legal_mask
from engine_fast.playout import choose_uniform
from luna_ai.bots.compiling import called, inline, kernel

RANDOM = 0
PRIORITY = np.array(
    [
        actions.BLOCK_INDEX[name]
        for name in (
            "sanctify promote promote_virtual build build_virtual take_book give_book land recruit favor "
            "council favor_virtual place_shrine place_novices herbs"
        ).split()
    ]
)
BLOCK_MASKS = actions.BLOCK_MASKS


@called
def choose(code: Any, state: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """The id (uint64) of the decision of bot `code` (int64) in a position that is not over.

    Args:
        code: `PlayerSpec.code`.
        state: `uint64[STATE_WORDS]`, not changed.
        rules: the rules table.
        generator: `uint64[1]`, moved on by bots that play at random.
        workspace: see `workspace`.
    """
    if code != RANDOM:
        mask = legal_mask(state, rules)
        for block in PRIORITY:
            for word in range(actions.MASK_WORDS):
                found = mask[word] & BLOCK_MASKS[block, word]
                if found != U0:
                    return np.uint64(word) * np.uint64(64) + np.uint64(_lowest(found))
    return choose_uniform(state, rules, generator)


@inline
def _lowest(word: Any) -> Any:
    place = U0
    while (word >> place) & U1 == U0:
        place += U1
    return place


@kernel
def choose_into(code: Any, state: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """`choose` for Python callers."""
    return choose(code, state, rules, generator, workspace)
