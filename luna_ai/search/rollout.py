"""Playing a leaf on: to the end of the game, or for some rounds and then an estimate of who will win."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine_fast import layout
from engine_fast.apply import apply, apply_into
from engine_fast.bits import U0, next_random
from engine_fast.layout import MAX_PLAYERS, NONE, OVER
from engine_fast.playout import choose_mixed, choose_uniform
from luna_ai.bots.compiling import spliced
from luna_ai.bots.greedy import choose_greedy
from luna_ai.search.compiling import called, inline
from luna_ai.search.estimate import estimate_win

UNIFORM, MIXED, GREEDY = 0, 1, 2
GREEDY_WEIGHTS = 0
"""Row of the greedy bot in the weights of a workspace."""
FULL = np.uint64(7)


@inline
def final_values(state: Any, out: Any) -> None:
    """Writes 1 for the winner of a game that is over, 0 for all others."""
    winner = U0
    for index in range(1, MAX_PLAYERS):
        seat = np.uint64(index)
        if seat < layout.players(state) and stands_before(state, seat, winner):
            winner = seat
    for index in range(MAX_PLAYERS):
        out[index] = 1.0 if np.uint64(index) == winner else 0.0


@inline
def stands_before(state: Any, seat: Any, other: Any) -> Any:
    """Whether a seat has more influence than another, ties by Council precedence."""
    mine, theirs = layout.influence(state, seat), layout.influence(state, other)
    if mine != theirs:
        return mine > theirs
    return layout.council_rank(state, seat) < layout.council_rank(state, other)


@inline
def random_share(generator: Any) -> Any:
    """A random float64 in [0, 1)."""
    return np.float64(next_random(generator) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inline
def goes_on(state: Any, last: Any) -> Any:
    """Whether a game is neither over nor in round `last` (uint64) yet."""
    return layout.phase(state) != OVER and layout.round_number(state) < last


@called
def roll_uniform(state: Any, last: Any, rules: Any, generator: Any, ledger: Any) -> None:
    """Plays `state` on to round `last` by uniform random decisions: the engine's loop for playouts."""
    while goes_on(state, last):
        apply(state, choose_uniform(state, rules, generator), rules, ledger)


@spliced
def roll_by_policy(
    state: Any, last: Any, kind: Any, noise: Any, rules: Any, generator: Any, workspace: Any, ledger: Any
) -> None:
    """Plays `state` on to round `last` by mixed decisions, or by greedy ones with a share of mixed ones, `noise`."""
    while goes_on(state, last):
        by_chance = kind == MIXED
        if not by_chance and noise > 0.0 and layout.pending(state) == NONE:
            by_chance = random_share(generator) < noise
        if by_chance:
            action = choose_mixed(state, rules, generator)
        else:
            action = choose_greedy(workspace.weights[GREEDY_WEIGHTS], state, rules, workspace)
        apply_into(state, np.int64(action), rules, ledger)


@spliced
def roll_out(
    state: Any,
    kind: Any,
    rounds: Any,
    noise: Any,
    rules: Any,
    generator: Any,
    workspace: Any,
    ledger: Any,
    model: Any,
    out: Any,
) -> None:
    """Plays `state` on, in place, and writes every seat's chance to win into `out`, `float64[4]`.

    Args:
        state: `uint64[STATE_WORDS]`, changed.
        kind: index in `options.ROLLOUTS`.
        rounds: rounds to finish before the estimate; 0 plays to the end of the game.
        noise: chance that a greedy decision is drawn at random instead.
        rules: the rules table.
        generator: `uint64[1]`, moved on.
        workspace: scratch of the bots.
        ledger: scratch, `int16[4, SOURCES]`.
        model: coefficients of the estimate, see `estimate`.
        out: `float64[4]`, overwritten.
    """
    last = layout.round_number(state) + np.uint64(rounds) if rounds > 0 else FULL
    if kind == UNIFORM:
        roll_uniform(state, last, rules, generator, ledger)
    else:
        roll_by_policy(state, last, kind, noise, rules, generator, workspace, ledger)
    if layout.phase(state) == OVER:
        final_values(state, out)
    else:
        estimate_win(state, rules, model, out)
