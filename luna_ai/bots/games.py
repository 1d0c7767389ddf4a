"""Whole games between bots inside one kernel.

The caller cuts a long row of games into slices of at most about 0.1 s (some hundred games), so that Ctrl-C works.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.apply import apply
from engine_fast.bits import mix
from engine_fast.layout import OVER
from luna_ai.bots.choosing import choose
from luna_ai.bots.compiling import kernel, spliced
from luna_ai.bots.offers import is_legal, write_mask

HASH_SEED = np.uint64(0x243F6A8885A308D3)


@spliced
def play_game(state: Any, codes: Any, rules: Any, generator: Any, ledger: Any, workspace: Any) -> Any:
    """Plays `state` to its end, in place.

    Args:
        state: `uint64[STATE_WORDS]`, any position.
        codes: `int64[4]`, the bot of each seat.
        rules: the rules table.
        generator: `uint64[1]`, all chance of the game.
        ledger: `int16[4, SOURCES]`, to which gains and losses are added.
        workspace: see `luna_ai.bots.workspace`.

    Returns:
        The number of decisions and a hash of their ids (equal for equal games). A decision that is not legal would be
        an error in a bot; the game then stops and the number is -1 less the decisions played before.
    """
    decisions, hashed = 0, HASH_SEED
    while layout.phase(state) != OVER:
        action = choose(codes[layout.to_move(state)], state, rules, generator, workspace)
        write_mask(state, rules, workspace)
        if not is_legal(action, workspace):
            return -1 - decisions, hashed
        apply(state, action, rules, ledger)
        hashed = mix(hashed, action)
        decisions += 1
    return decisions, hashed


@kernel
def play_batch(
    states: Any,
    codes: Any,
    rules: Any,
    generators: Any,
    ledgers: Any,
    decisions: Any,
    hashes: Any,
    workspace: Any,
) -> None:
    """Plays each row of `states` to its end, in place; all with one rules table.

    Args:
        states: `uint64[B, STATE_WORDS]`.
        codes: `int64[B, 4]`, the bot of each seat.
        rules: the rules table.
        generators: `uint64[B, 1]`, moved on.
        ledgers: `int16[B, 4, SOURCES]`, added to.
        decisions: `int32[B]`, written: decisions of the game, negative if a bot chose an illegal one (see `play_game`).
        hashes: `uint64[B]`, written: hash of the decisions' ids.
        workspace: see `luna_ai.bots.workspace`; one for each thread.
    """
    for i in range(states.shape[0]):
        decisions[i], hashes[i] = play_game(states[i], codes[i], rules, generators[i], ledgers[i], workspace)


@kernel
def hash_decision(hashed: Any, action: Any) -> Any:
    """One step of a game's hash, for games that are played from Python: uint64, from the hash so far and an id."""
    return mix(np.uint64(hashed), np.uint64(action))
