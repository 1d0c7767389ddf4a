"""Fits the estimate of who will win (`luna_ai/search/estimate.py`) on games of the greedy bot, with its calibration.

At the beginning of each round of each game the features of every seat are noted. For each number of players and
round: coefficients by least squares on final influence, temperature of the softmax by maximum likelihood on the winner.
The first half of the games fits, the second half tells how well it does.

Example:
    python benchmarks/fit_estimate.py --games 8000 --out luna_ai/search/estimate.npz --plot calibration.png
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from engine_fast import layout
from engine_fast.apply import apply
from engine_fast.batch import set_up_batch
from engine_fast.layout import MAX_PLAYERS, OVER, STATE_WORDS
from engine_fast.position import load_game, new_ledger
from luna_ai.bots.choosing import choose
from luna_ai.bots.workspace import new_workspace
from luna_ai.players import GREEDY
from luna_ai.runner import columns_of_influence, ranks
from luna_ai.search.compiling import kernel
from luna_ai.search.estimate import NUM_FEATURES, write_features

Floats = NDArray[np.float64]
ROUNDS = range(1, 7)


@kernel
def note_rounds(states: Any, rules: Any, generators: Any, workspace: Any, ledger: Any, rows: Any, code: Any) -> None:
    """Plays every row of `states` to its end and writes the features of each seat at the beginning of each round."""
    for i in range(states.shape[0]):
        state, last = states[i], np.uint64(0)
        while layout.phase(state) != OVER:
            now = layout.round_number(state)
            if now != last:
                last = now
                for seat in range(np.int64(layout.players(state))):
                    write_features(state, np.uint64(seat), rules, rows[i, np.int64(now), seat])
            apply(state, choose(code, state, rules, generators[i], workspace), rules, ledger)


def play(players: int, games: int, seed: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Features `[games, 8, 4, F]`, final influence `[games, players]` and winning seat of each game."""
    states = np.zeros((games, STATE_WORDS), dtype=np.uint64)
    words = np.random.SeedSequence(seed, spawn_key=(players,)).generate_state(games, np.uint64)
    generators, rules = words.astype(np.uint64).reshape(-1, 1), load_game().rules
    set_up_batch(states, players, 0, np.full(games, -1), generators, rules)
    rows = np.zeros((games, 8, MAX_PLAYERS, NUM_FEATURES))
    note_rounds(states, rules, generators, new_workspace(), new_ledger(), rows, GREEDY)
    winner: NDArray[np.int64] = ranks(states, players).argmin(axis=1)
    return rows, columns_of_influence(states, players).astype(np.float64), winner


def chances(estimates: Floats, temperature: float) -> Floats:
    """Softmax over the seats."""
    scaled = (estimates - estimates.max(axis=1, keepdims=True)) / temperature
    powers = np.exp(scaled)
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def surprise(estimates: Floats, winner: NDArray[np.int64], temperature: float) -> float:
    """Mean negative log-likelihood of the winners."""
    won = chances(estimates, temperature)[np.arange(len(winner)), winner]
    return float(-np.log(won).mean())


def fit(rows: Floats, finals: Floats, winner: NDArray[np.int64]) -> tuple[Floats, float]:
    """Coefficients `[F]` and temperature of one number of players and round, from `[games, seats, F]`."""
    solved, *_ = np.linalg.lstsq(rows.reshape(-1, NUM_FEATURES), finals.ravel(), rcond=1e-8)
    coefficients = solved.astype(np.float64)
    estimates = rows @ coefficients
    found = minimize_scalar(lambda t: surprise(estimates, winner, t), bounds=(0.3, 60.0), method="bounded")
    return coefficients, float(found.x)


def draw(told: dict[int, list[tuple[Floats, NDArray[np.bool_]]]], path: Path) -> None:
    """Share of games won against the chance that the estimate gave, in tenths, for each number of players."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(told), figsize=(12, 4), sharey=True, layout="constrained")
    for axis, (players, parts) in zip(np.atleast_1d(axes), told.items(), strict=True):
        given, won = (np.concatenate([part[i].ravel() for part in parts]) for i in (0, 1))
        tenth = np.minimum((given * 10).astype(int), 9)
        seen = [k for k in range(10) if (tenth == k).sum() >= 50]
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axis.plot(
            [given[tenth == k].mean() for k in seen], [won[tenth == k].mean() for k in seen], "o-", color="#0072B2"
        )
        axis.set(title=f"{players} players", xlabel="estimated chance to win", xlim=(0, 1), ylim=(0, 1))
    np.atleast_1d(axes)[0].set_ylabel("share of games won")
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fits, prints how well it does on games that it has not seen, writes the file and the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=8000, help="games for each number of players")
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--out", type=Path, required=True, help="estimate.npz")
    parser.add_argument("--plot", type=Path, help="calibration as PNG")
    options = parser.parse_args(arguments)
    coefficients, temperature = np.zeros((5, 8, NUM_FEATURES)), np.ones((5, 8))
    told: dict[int, list[tuple[Floats, NDArray[np.bool_]]]] = {}
    print("players round | error of influence | temperature | surprise, and of equal chances")
    for players in (2, 3, 4):
        rows, finals, winner = play(players, options.games, options.seed)
        half = options.games // 2
        for number in ROUNDS:
            seen = rows[:, number, :players]
            found, heat = fit(seen[:half], finals[:half], winner[:half])
            coefficients[players, number], temperature[players, number] = found, heat
            estimates = seen[half:] @ found
            error = float(np.sqrt(((estimates - finals[half:]) ** 2).mean()))
            miss = surprise(estimates, winner[half:], heat)
            print(f"{players:7} {number:5} | {error:6.2f} | {heat:6.2f} | {miss:.3f} {np.log(players):.3f}")
            won = winner[half:, None] == np.arange(players)
            told.setdefault(players, []).append((chances(estimates, heat), won))
    np.savez(options.out, coefficients=coefficients, temperature=temperature)
    if options.plot is not None:
        draw(told, options.plot)


if __name__ == "__main__":
    main()
