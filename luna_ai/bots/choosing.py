"""One decision of any bot, by its code (see `luna_ai.players`)."""

from __future__ import annotations

from typing import Any

from engine_fast.playout import choose_uniform
from luna_ai.bots.compiling import kernel, spliced
from luna_ai.bots.greedy import choose_greedy

RANDOM = 0


@spliced
def choose(code: Any, state: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """The id (uint64) of the decision of bot `code` (int64) in a position that is not over.

    Args:
        code: `PlayerSpec.code`.
        state: `uint64[STATE_WORDS]`, not changed.
        rules: the rules table.
        generator: `uint64[1]`, moved on by bots that play at random.
        workspace: see `workspace`.
    """
    if code == RANDOM:
        return choose_uniform(state, rules, generator)
    return choose_greedy(workspace.weights[code - 1], state, rules, workspace)


@kernel
def choose_into(code: Any, state: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """`choose` for Python callers."""
    return choose(code, state, rules, generator, workspace)
