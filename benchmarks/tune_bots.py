"""Better weights for the greedy bot by matches against itself: SPSA, as chess programs are tuned.

In each step all weights are moved at once, each up or down by chance; the two rows play each other on the same deals
in every seating that has both; then all weights move a little towards the row that did better (Spall, "Multivariate
stochastic approximation using a simultaneous perturbation gradient approximation", 1992). The answer is the mean of
the last third of the steps. It is printed as JSON, to be put into `luna_ai/bots/columns.py` by hand.

Example:
    nice python benchmarks/tune_bots.py --minutes 15 --out weights.json
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bots import PLAYER_COUNTS, play
from luna_ai.bots.columns import COLUMNS
from luna_ai.bots.workspace import new_workspace, weight_table

FIRST, SECOND = 1, 2
"""Codes of the two rows in a match."""
FIXED = ("meditation",)
"""Stays as the rules have it; all others are relative to it."""
SIGNED = ("meditate", "end_rivals", "later_growth", "risk_rounds")
"""May be below 0."""
SMALLEST_SCALE = {"later_growth": 0.06, "risk_rounds": 0.06, "relief": 0.1}
POINTS_OF_A_WIN = 12.0
"""A game won counts as much as so much influence more than the others have."""


def seatings(players: int) -> NDArray[np.int64]:
    """Codes by seat, `int64[S, P]`: every seating with both rows, for four players with two seats each."""
    both = [row for row in product((FIRST, SECOND), repeat=players) if len(set(row)) == 2]
    even = [row for row in both if players < 4 or row.count(FIRST) == 2]
    return np.array(even, dtype=np.int64)


def lead(first: NDArray[np.float64], second: NDArray[np.float64], deals: int, seed: int) -> NDArray[np.float64]:
    """How much better the first row of weights is: `float64[player counts, 2]`, influence ahead and wins ahead."""
    workspace, found = new_workspace(np.ascontiguousarray(np.stack([first, second]))), []
    for players in PLAYER_COUNTS:
        games = play(np.tile(seatings(players), (deals, 1)), seed + players, workspace)
        own = games.codes == FIRST
        mean = [np.where(side, games.influence, 0).sum(axis=1) / side.sum(axis=1) for side in (own, ~own)]
        wins = (games.wins & own).sum(axis=1) - own.mean(axis=1)
        found.append([float((mean[0] - mean[1]).mean()), float(wins.mean())])
    return np.array(found)


def better(weights: NDArray[np.float64], minutes: float, deals: int, seed: int) -> NDArray[np.float64]:
    """Weights after so many minutes of steps from `weights`, `float64[W]`."""
    names, rng = [column.name for column in COLUMNS], np.random.default_rng(seed)
    scale = np.maximum(np.abs(weights), [SMALLEST_SCALE.get(name, 0.25) for name in names])
    lowest = np.array([-np.inf if name in SIGNED else 0.0 for name in names])
    moving = np.array([name not in FIXED for name in names])
    begun, now, last_third = time.monotonic(), weights.copy(), []
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        reach, rate = 0.20 - 0.12 * done, 0.25 * (1 - 0.8 * done)
        step = reach * scale * rng.choice([-1.0, 1.0], len(weights)) * moving
        ahead = lead(np.maximum(now + step, lowest), np.maximum(now - step, lowest), deals, int(rng.integers(2**31)))
        gain = float((ahead[:, 0] / POINTS_OF_A_WIN + ahead[:, 1]).mean())
        now = np.maximum(now + rate * step * np.clip(gain, -0.6, 0.6), lowest)
        if done > 2 / 3:
            last_third.append(now)
    return np.asarray(np.mean(last_third, axis=0)) if last_third else now


def main() -> None:
    """Tunes, compares with the weights in use and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0, help="how long")
    parser.add_argument("--deals", type=int, default=80, help="deals in each step and for each number of players")
    parser.add_argument("--seed", type=int, default=1, help="all chance is drawn from this number")
    parser.add_argument("--out", type=Path, help="file for the weights")
    chosen = parser.parse_args()
    before = weight_table()[0]
    after = better(before, chosen.minutes, chosen.deals, chosen.seed)
    ahead = lead(after, before, 500, chosen.seed)
    for players, (influence, wins) in zip(PLAYER_COUNTS, ahead, strict=True):
        print(f"{players} players: ahead of the weights in use by {influence:.2f} influence, {wins:.3f} wins a game")
    text = json.dumps({column.name: round(float(value), 3) for column, value in zip(COLUMNS, after, strict=True)})
    print(text)
    if chosen.out:
        chosen.out.write_text(text)


if __name__ == "__main__":
    main()
