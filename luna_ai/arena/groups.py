"""Who meets whom in a round robin: all groups of a table's size, or a balanced part of them.

With fewer players than seats, a group holds every player and copies of some.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from luna_ai.arena.settings import InvalidArena

Group = tuple[str, ...]


def num_possible(num_players: int, seats: int) -> int:
    """Number of different groups: C(K, seats), or C(seats - 1, K - 1) ways to hand out copies."""
    return math.comb(num_players, seats) if num_players >= seats else math.comb(seats - 1, num_players - 1)


def groups_of(names: Sequence[str], seats: int, limit: int, rng: np.random.Generator) -> tuple[Group, ...]:
    """The groups that play at tables of `seats`.

    Args:
        names: players, each once.
        seats: 2, 3 or 4.
        limit: with more groups than this, `balanced` chooses so many.
        rng: breaks ties of that choice.

    Raises:
        InvalidArena: so few groups cannot connect all players.
    """
    indices = range(len(names))
    if len(names) >= seats:
        everything = np.array(list(itertools.combinations(indices, seats)))
    else:
        copies = itertools.combinations_with_replacement(indices, seats)
        everything = np.array([group for group in copies if len(set(group)) == len(names)])
    chosen = everything if len(everything) <= limit else balanced(everything, len(names), limit, rng)
    check_connected(chosen, len(names), seats)
    return tuple(tuple(names[index] for index in group) for group in chosen)


def balanced(
    everything: NDArray[np.int64], num_players: int, limit: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Some groups in which all players sit about equally often and meet each other about equally often.

    The next group is always the one whose players have sat least so far, then have met least, ties at random.

    Args:
        everything: all groups, ``int64[M, seats]``, players in ascending order.
        num_players: number of players.
        limit: number of groups wanted, below M.
        rng: breaks ties.
    """
    sat, met = np.zeros(num_players), np.zeros((num_players, num_players))
    pairs = list(itertools.combinations(range(everything.shape[1]), 2))
    rest, chosen = everything[rng.permutation(len(everything))], []
    for _ in range(limit):
        meetings = np.sum([met[rest[:, a], rest[:, b]] for a, b in pairs], axis=0)
        best = np.lexsort((meetings, sat[rest].sum(axis=1), sat[rest].max(axis=1)))[0]
        group = rest[best]
        chosen.append(group)
        sat[group] += 1
        for a, b in pairs:
            met[group[a], group[b]] += 1
        rest = np.delete(rest, best, axis=0)
    return np.array(chosen)


def check_connected(chosen: NDArray[np.int64], num_players: int, seats: int) -> None:
    """Raises InvalidArena unless all players are compared with all, directly or through others."""
    met = np.zeros((num_players, num_players), dtype=np.int64)
    for group in chosen:
        met[np.ix_(group, group)] = 1
    if sparse.csgraph.connected_components(met, directed=False)[0] > 1:
        least = -(-(num_players - 1) // (seats - 1))
        raise InvalidArena(
            f"max_groups = {len(chosen)} leaves players uncompared; {num_players} players at tables of {seats} need "
            f"at least {least}, and rather twice as many"
        )
