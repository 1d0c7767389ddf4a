"""The running best of a decision, and the packed mask read block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import actions
from engine_fast.bits import U0, U1, low_bits
from engine_fast.legal import legal_mask
from luna_ai.bots.compiling import called, inline
from luna_ai.bots.workspace import BEST_ACTION, BEST_SCORE

FIRST_ID = {name: np.uint64(offset) for name, offset in actions.OFFSET.items()}
NOTHING = -1e300
U63, U64 = np.uint64(63), np.uint64(64)


@called
def write_mask(state: Any, rules: Any, workspace: Any) -> None:
    """Writes the legal decisions into the workspace."""
    m = workspace.mask
    m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9] = legal_mask(state, rules)


@inline
def begin_offers(state: Any, rules: Any, workspace: Any) -> None:
    """Writes the legal mask; nothing has been offered yet."""
    write_mask(state, rules, workspace)
    workspace.facts[BEST_SCORE] = NOTHING


@inline
def offer(workspace: Any, action: Any, score: Any) -> None:
    """Notes the score of the decision `action` (uint64 id), and keeps it if no better one was offered before."""
    workspace.scores[action] = score
    if score > workspace.facts[BEST_SCORE]:
        workspace.facts[BEST_SCORE] = score
        workspace.sets[BEST_ACTION] = action


@inline
def block(first: Any, count: Any, workspace: Any) -> Any:
    """The legal decisions among the `count` (uint64, at most 63) ids from `first` on, bit 0 = first."""
    word, shift = first // U64, first % U64
    low = workspace.mask[word] >> shift
    high = (workspace.mask[word + U1] << U1) << (U63 - shift)
    return (low | high) & low_bits(count)


@inline
def is_legal(action: Any, workspace: Any) -> Any:
    """Whether the mask holds a decision (uint64 id)."""
    return (workspace.mask[action // U64] >> (action % U64)) & U1 != U0
