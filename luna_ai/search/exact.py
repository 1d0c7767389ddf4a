"""Exact values of small endings: max-n over all positions that can be reached.

Luckhardt and Irani, "An algorithmic solution of n-person games" (1986): the seat that decides takes what is best for
itself. Of decisions that are equally good to it nothing says which it takes: the value is the mean of theirs, one
part for each decision. So the value of a finished game is 1 for its winner, and every other value follows.

    seat 0 decides     (1/3, 1/3, 1/3): to it the first and the third are tied
      -> (1/3, 2/3, 0), (0, 0, 1), (1/3, 0, 2/3)

No position comes back within a game, so values exist: each completed action adds to the actions of its round, each
step of a Journey or Tide lifts or lands a novice for good, a Book is taken once before it is given, and a round never
returns. (`solve` would notice: an order in which positions follow each other is part of its work.)

Positions are counted and kept by their words; more than a limit are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.batch import apply_batch, legal_batch
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, OVER, STATE_WORDS, columns
from engine_fast.position import Game, Position

LIMIT = 100_000
BLOCK = 512
"""Positions whose decisions are played at once."""
TIED = 1e-9
"""Values that differ by less are equal: they are sums of the same fractions in another order."""


class TooManyPositions(ValueError):
    """More positions can be reached than an exact solution is allowed to count."""


class NotSolved(ValueError):
    """A position that a solution does not hold."""


@dataclass(frozen=True)
class Solution:
    """All positions that can be reached from one, with their exact values.

    Attributes:
        game: sheet and rule set.
        states: `uint64[S, STATE_WORDS]`, the position that was solved first.
        values: `float64[S, 4]`, chances to win by seat, absent seats 0.
        number: row of a position by the bytes of its words.
    """

    game: Game
    states: NDArray[np.uint64]
    values: NDArray[np.float64]
    number: dict[bytes, int]

    def __len__(self) -> int:
        """How many positions there are."""
        return len(self.states)

    def value(self, position: Position) -> NDArray[np.float64]:
        """Exact chances to win by seat, `float64[4]`.

        Raises:
            NotSolved: the position cannot be reached from the one that was solved.
        """
        row = self.number.get(position.state.tobytes())
        if row is None:
            raise NotSolved(f"{position!r} cannot be reached from the position that was solved")
        value: NDArray[np.float64] = self.values[row]
        return value

    def decisions(self, position: Position) -> dict[int, NDArray[np.float64]]:
        """Exact chances to win after each legal decision, by its id."""
        return {action: self.value(position.play(action)) for action in position.legal_ids()}


def solve(position: Position, limit: int = LIMIT) -> Solution:
    """The exact solution of an ending.

    Raises:
        TooManyPositions: more than `limit` positions can be reached.
    """
    number, first, child = reachable(position, limit)
    states = np.frombuffer(b"".join(number), dtype=np.uint64).reshape(-1, STATE_WORDS)
    return Solution(position.game, states, exact_values(states, first, child), number)


def reachable(position: Position, limit: int = LIMIT) -> tuple[dict[bytes, int], NDArray[np.int64], NDArray[np.int64]]:
    """Every position that can be reached, itself included, and which follows which.

    Returns:
        Row of each position by its bytes, in rows' order; `first`, `int64[S + 1]`; `child`, `int64[edges]`: the
        positions after the decisions in row s are `child[first[s] : first[s + 1]]`, one for each decision.

    Raises:
        TooManyPositions: more than `limit`.
    """
    number = {position.state.tobytes(): 0}
    queue, counts, follow = [position.state.tobytes()], [0], []
    done = 0
    while done < len(queue):
        block = np.frombuffer(b"".join(queue[done : done + BLOCK]), dtype=np.uint64).reshape(-1, STATE_WORDS).copy()
        done += len(block)
        after, decisions = all_after(block, position.game)
        counts.extend(decisions.tolist())
        for key in after:
            row = number.setdefault(key, len(queue))
            if row == len(queue):
                queue.append(key)
            follow.append(row)
        if len(queue) > limit:
            raise TooManyPositions(f"{position!r}: {len(queue)} positions and more can be reached; allowed: {limit}")
    return number, np.cumsum(counts), np.array(follow, dtype=np.int64)


def all_after(states: NDArray[np.uint64], game: Game) -> tuple[list[bytes], NDArray[np.int64]]:
    """The positions after every decision in every row, as bytes, and how many belong to each row, `int64[B]`."""
    masks = np.zeros((len(states), MASK_WORDS), dtype=np.uint64)
    legal_batch(states, game.rules, masks)
    bits = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, :NUM_ACTIONS]
    rows, decisions = bits.nonzero()
    after = states[rows]
    apply_batch(after, decisions, game.rules, np.zeros((len(after), MAX_PLAYERS, NUM_SOURCES), dtype=np.int16))
    return after.view(f"V{8 * STATE_WORDS}").ravel().tolist(), bits.sum(axis=1, dtype=np.int64)


def exact_values(states: NDArray[np.uint64], first: NDArray[np.int64], child: NDArray[np.int64]) -> NDArray[np.float64]:
    """Max-n values, `float64[S, 4]`, from the last positions back to the first."""
    values = final_values(states)
    mover = columns(states, "to_move")
    for row in reversed(in_order(first, child)):
        options = values[child[first[row] : first[row + 1]]]
        if len(options):
            own = options[:, mover[row]]
            values[row] = options[own >= own.max() - TIED].mean(axis=0)
    return values


def final_values(states: NDArray[np.uint64]) -> NDArray[np.float64]:
    """1 for the winner of each game that is over (ties by Council precedence), 0 elsewhere, `float64[S, 4]`."""
    present = np.arange(MAX_PLAYERS) < columns(states, "players")[:, None]
    standing = MAX_PLAYERS * columns(states, "influence") - columns(states, "council_rank")
    winner = np.where(present, standing, -1).argmax(axis=1)
    over = columns(states, "phase") == int(OVER)
    won: NDArray[np.float64] = (np.arange(MAX_PLAYERS) == winner[:, None]) & over[:, None]
    return won.astype(np.float64)


def in_order(first: NDArray[np.int64], child: NDArray[np.int64]) -> list[int]:
    """Rows in an order in which every position comes before those that follow it (Kahn 1962)."""
    waiting = np.bincount(child, minlength=len(first) - 1).tolist()
    starts, follow = first.tolist(), child.tolist()
    order = [0]
    for row in order:  # grows while it is read
        for after in follow[starts[row] : starts[row + 1]]:
            waiting[after] -= 1
            if waiting[after] == 0:
                order.append(after)
    if len(order) != len(waiting):
        raise AssertionError("a position comes back within a game")
    return order
