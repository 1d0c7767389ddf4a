"""Plans of games: deal, who sits where, and where all chance comes from.

A plan follows from (seed of the run, actor, number of the game) alone, so a game that was lost can be played again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from engine_fast.position import Game
from engine_fast.setup import SETUPS, set_up_into
from luna_ai.players import CODES
from luna_ai.training_config import SelfPlayOptions

SELF, PAST = -1, -2
"""Codes of the seats of the network and of a past one; bots have their `PlayerSpec.code`, from 0 on."""
ABSENT = -3
SELF_PLAY_KEY = 1
"""First spawn key of the chance of self-play; others belong to other parts of a training."""
NAME_OF_CODE = {code: name for name, code in CODES.items()} | {SELF: "self", PAST: "past"}


class SelfPlayError(ValueError):
    """A plan that cannot be played."""


class Plan(NamedTuple):
    """K games to play."""

    number: NDArray[np.int64]  # [K] numbers of the games
    players: NDArray[np.int64]  # [K]
    deal: NDArray[np.uint64]  # [K] seeds of the set-ups
    state: NDArray[np.uint64]  # [K, STATE_WORDS] set-up positions
    codes: NDArray[np.int64]  # [K, 4] who sits where: SELF, PAST, ABSENT, or the code of a bot
    coin: NDArray[np.uint64]  # [K] seeds of the choice between full and capped searches
    chance: NDArray[np.uint64]  # [K, 1] generators of the bots
    search: NDArray[np.uint64]  # [K, 3] generators of the full, capped and past network's searches


def plan_games(
    options: SelfPlayOptions, game: Game, seed: int, actor: int, first: int, count: int, *, past: bool = False
) -> Plan:
    """The plan of games `first` to `first + count - 1` of an actor.

    Args:
        options: shares of player counts, set-ups and opponents.
        game: sheet and rule set.
        seed: of the run.
        actor: number of the process that plays; the same for a process that takes another's place.
        first: number of the first game.
        count: how many.
        past: whether there is a past network; without, nobody plays against it.
    """
    keys = [(SELF_PLAY_KEY, actor, index) for index in range(first, first + count)]
    rows = [_planned(options, game, np.random.SeedSequence(seed, spawn_key=key), key[2], past) for key in keys]
    return joined_plans(rows)


def joined_plans(plans: Sequence[Plan]) -> Plan:
    """The games of all plans.

    Raises:
        SelfPlayError: there are none.
    """
    if not plans:
        raise SelfPlayError("0 games cannot be played; allowed: 1 and more")
    return Plan(*(np.concatenate(arrays) for arrays in zip(*plans, strict=True)))


def _planned(options: SelfPlayOptions, game: Game, sequence: np.random.SeedSequence, index: int, past: bool) -> Plan:
    words = sequence.generate_state(6, np.uint64).astype(np.uint64)
    rng = np.random.default_rng(sequence.spawn(1)[0])
    shares = np.array(options.shares) / sum(options.shares)
    players = 2 + int(rng.choice(3, p=shares))
    setup = "preselected" if rng.random() < options.preselected_share else "standard"
    codes = seat_codes(options, players, rng, past)
    return one_plan(game, index, players, setup, -1, codes, words)


def one_plan(
    game: Game, number: int, players: int, setup: str, starter: int, codes: Sequence[int], words: NDArray[np.uint64]
) -> Plan:
    """The plan of one game.

    Args:
        game: sheet and rule set.
        number: its number.
        players: 2, 3 or 4.
        setup: name of a set-up.
        starter: seat of the start player, -1 to draw it.
        codes: who sits where, one a seat.
        words: six random words: deal, coin, bots, three searches.
    """
    state = np.zeros((1, STATE_WORDS), dtype=np.uint64)
    set_up_into(state[0], players, SETUPS.index(setup), starter, words[:1].copy(), game.rules)
    return Plan(
        number=np.array([number]),
        players=np.array([players]),
        deal=words[:1].copy(),
        state=state,
        codes=np.array([[*codes, *[ABSENT] * (MAX_PLAYERS - players)]]),
        coin=words[1:2].copy(),
        chance=words[2:3].reshape(1, 1).copy(),
        search=words[3:6].reshape(1, 3).copy(),
    )


def seat_codes(options: SelfPlayOptions, players: int, rng: np.random.Generator, past: bool) -> list[int]:
    """Who sits where: mostly the network alone; otherwise a bot or a past network at one to N - 1 random seats."""
    drawn, other = rng.random(), SELF
    if drawn < options.bot_share:
        other = CODES[options.bots[rng.integers(len(options.bots))]]
    elif drawn < options.bot_share + options.past_share and past:
        other = PAST
    seats = rng.permutation(players)[: 1 + rng.integers(players - 1)]
    return [other if seat in seats else SELF for seat in range(players)]
