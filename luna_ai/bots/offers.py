"""The running best of a decision, and the packed mask read block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions
from engine_fast.bits import U1
from engine_fast.legal import legal_mask
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.workspace import BEST_ACTION, BEST_SCORE

FIRST_ID = {name: np.uint64(offset) for name, offset in actions.OFFSET.items()}
NOTHING = -1e300
U64 = np.uint64(64)


@called
def begin_offers(state: Any, rules: Any, workspace: Any) -> None:
    """Writes the legal mask; nothing has been offered yet."""
    m = workspace.mask
    m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9] = legal_mask(state, rules)
    workspace.facts[BEST_SCORE] = NOTHING


@inline
def offer(workspace: Any, action: Any, score: Any) -> None:
    """Keeps the decision `action` (uint64 id) if no better one was offered before."""
    if score > workspace.facts[BEST_SCORE]:
        workspace.facts[BEST_SCORE] = score
        workspace.sets[BEST_ACTION] = action


def block_reader(name: str) -> Any:
    """A function `read(workspace)` that gives the legal decisions of a block of at most 64 ids, bit 0 = its first."""
    count = next(block.count for block in actions.BLOCKS if block.name == name)
    first, kept = actions.OFFSET[name], np.uint64((1 << count) - 1)
    word, shift = first // 64, np.uint64(first % 64)
    if first % 64 + count <= 64:
        return inline(lambda workspace: (workspace.mask[word] >> shift) & kept)
    rest = U64 - shift
    return inline(lambda workspace: ((workspace.mask[word] >> shift) | (workspace.mask[word + 1] << rest)) & kept)


@inline
def is_legal(workspace: Any, action: Any) -> Any:
    """Whether the mask holds a decision (uint64 id)."""
    return (workspace.mask[action // U64] >> (action % U64)) & U1 != np.uint64(0)
