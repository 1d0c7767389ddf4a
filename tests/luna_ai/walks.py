"""Positions of random games, for tests that want many."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from engine_fast import Position
from engine_fast.actions import BLOCK_MASKS
from engine_fast.notation import ids_of_mask


def random_decision(position: Position, rng: random.Random) -> int:
    """First a kind of decision, then one of it, so that rare kinds are met."""
    of_blocks = BLOCK_MASKS & position.legal_mask()
    return rng.choice(ids_of_mask(of_blocks[rng.choice(np.flatnonzero(of_blocks.any(axis=1)).tolist())]))


def random_game(start: Position, seed: int) -> list[Position]:
    """The positions of a game, the final one left out."""
    rng, walk = random.Random(seed), [start]
    while not (following := walk[-1].play(random_decision(walk[-1], rng))).over:
        walk.append(following)
    return walk


def states_of(positions: list[Position]) -> NDArray[np.uint64]:
    """`uint64[B, STATE_WORDS]`."""
    return np.array([position.state for position in positions])
