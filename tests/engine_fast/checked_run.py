"""A short set of games for processes with unusual settings (`NUMBA_BOUNDSCHECK=1`, `NUMBA_DISABLE_JIT=1`).

    python -m tests.engine_fast.checked_run GAMES [all]

plays games of the differential schedule in engine and reference; with `all` also every other kernel. Prints what it
did; an out-of-range index or a difference ends it with a traceback.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from engine_fast import Position, load_game
from engine_fast.batch import apply_batch, hash_batch, legal_batch, over_batch, set_up_batch
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, STATE_WORDS
from engine_fast.perft import perft
from engine_fast.playout import POLICIES, playout_batch, random_games
from tests.engine_fast.golden import PERFT, engine_of
from tests.engine_fast.schedule import game_spec
from tests.engine_fast.twins import play_game


def play_schedule(games: int) -> int:
    """Games of a chunk of their own; returns the number of decisions."""
    return sum(len(play_game(game_spec(99, index)).played) for index in range(games))


def count_perft(depth: int) -> int:
    """The frozen perft numbers up to a depth; returns how many were right."""
    right = 0
    for path in sorted(PERFT.glob("*.json")):
        case = json.loads(path.read_text())
        position = engine_of(case)
        right += perft(position.state, position.game.rules, depth) == case["perft"][depth - 1]
    return right


def use_batches(size: int) -> int:
    """All batch verbs and playouts on games of 2, 3 and 4 players; returns the decisions of the playouts."""
    rules, total = load_game().rules, 0
    for players in (2, 3, 4):
        states, generators = np.zeros((size, STATE_WORDS), np.uint64), np.arange(size, dtype=np.uint64).reshape(-1, 1)
        set_up_batch(states, players, players % 2, np.full(size, -1), generators, rules)
        ledgers, masks = np.zeros((size, MAX_PLAYERS, NUM_SOURCES), np.int16), np.zeros((size, 10), np.uint64)
        over = np.zeros(size, np.bool_)
        legal_batch(states, rules, masks)
        apply_batch(states, np.array([Position(s, load_game()).legal_ids()[0] for s in states.copy()]), rules, ledgers)
        hash_batch(states, np.zeros(size, np.uint64))
        for policy in range(len(POLICIES)):
            ends, decisions = states.copy(), np.zeros(size, np.int32)
            playout_batch(ends, policy, rules, generators, ledgers.copy(), decisions)
            over_batch(ends, over)
            assert over.all()
            total += int(decisions.sum())
        total += random_games(players, 1, rules, generators[0], states[0], ledgers[0])
    return total


if __name__ == "__main__":
    print("decisions compared:", play_schedule(int(sys.argv[1])))
    if sys.argv[2:] == ["all"]:
        print("perft numbers right:", count_perft(2))
        print("playout decisions:", use_batches(3))
