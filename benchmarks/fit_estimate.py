"""Fits the estimate of who will win (`luna_ai/search/estimate.py`) on games of the greedy bot, with its calibration.

At the beginning of each round of each game the features of every seat are noted. For each number of players and
round: coefficients by least squares on final influence, temperature of the softmax by maximum likelihood on the winner.
The first half of the games fits, the second half tells how well it does. Without `--out` nothing is fitted: all games
tell how well the packaged estimate does.

Examples:
    python benchmarks/fit_estimate.py --games 8000 --out luna_ai/search/estimate.npz
    python benchmarks/fit_estimate.py --games 8000 --seed 10 --plot docs/images/calibration.png
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
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
from luna_ai.search.estimate import NUM_FEATURES, load_model, write_features

Floats = NDArray[np.float64]
Fitted = tuple[Floats, float]
"""Coefficients `[F]` and temperature."""
PLAYERS, ROUNDS = (2, 3, 4), range(1, 7)
FEWEST = 50
"""Cases that a tenth of the chances needs to be told and drawn."""


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


def fit(rows: Floats, finals: Floats, winner: NDArray[np.int64]) -> Fitted:
    """Coefficients `[F]` and temperature of one number of players and round, from `[games, seats, F]`."""
    solved, *_ = np.linalg.lstsq(rows.reshape(-1, NUM_FEATURES), finals.ravel(), rcond=1e-8)
    coefficients = solved.astype(np.float64)
    estimates = rows @ coefficients
    found = minimize_scalar(lambda t: surprise(estimates, winner, t), bounds=(0.3, 60.0), method="bounded")
    return coefficients, float(found.x)


@dataclass(frozen=True)
class Judged:
    """How well an estimate does at the beginning of a round, on games that did not fit it.

    Attributes:
        players: number of players.
        round_number: 1 to 6.
        error: root mean square error of final influence.
        temperature: of the softmax.
        surprise: mean negative log-likelihood of the winners.
        given: chances to win, `float64[games, seats]`.
        won: who won, `bool[games, seats]`.
    """

    players: int
    round_number: int
    error: float
    temperature: float
    surprise: float
    given: Floats
    won: NDArray[np.bool_]

    def tenths(self) -> tuple[Floats, Floats]:
        """Mean chance and share of games won in each tenth of the chances with at least `FEWEST` cases."""
        given, won = self.given.ravel(), self.won.ravel()
        tenth = np.minimum((given * 10).astype(int), 9)
        seen = [k for k in range(10) if (tenth == k).sum() >= FEWEST]
        shares = [(given[tenth == k].mean(), won[tenth == k].mean()) for k in seen]
        table = np.array(shares).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def __str__(self) -> str:
        """A line of the table."""
        chances_given, shares = self.tenths()
        gap, alike = float(abs(chances_given - shares).max()), np.log(self.players)
        figures = f"{self.error:6.2f} | {self.temperature:6.2f} | {self.surprise:.3f} {alike:.3f} | {gap:.3f}"
        return f"{self.players:7} {self.round_number:5} | {figures}"


def judge(players: int, number: int, rows: Floats, finals: Floats, winner: NDArray[np.int64], model: Fitted) -> Judged:
    """An estimate at the beginning of round `number`; `rows` is `[games, seats, F]`."""
    coefficients, temperature = model
    estimates = rows @ coefficients
    error = float(np.sqrt(((estimates - finals) ** 2).mean()))
    won = winner[:, None] == np.arange(players)
    given = chances(estimates, temperature)
    return Judged(players, number, error, temperature, surprise(estimates, winner, temperature), given, won)


def draw(judged: Sequence[Judged], path: Path) -> None:
    """Share of games won against the chance that the estimate gave, a line a round, for each number of players."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4.2), sharey=True, layout="constrained")
    shades = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(ROUNDS)))
    for axis, players in zip(axes, PLAYERS, strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for one in (one for one in judged if one.players == players):
            given, won = one.tenths()
            axis.plot(given, won, "o-", markersize=4, color=shades[one.round_number - 1], label=one.round_number)
        axis.set(title=f"{players} players", xlabel="estimated chance to win", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("share of games won")
    axes[0].legend(title="at the beginning of round", frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def fit_and_judge(games: int, seed: int, out: Path) -> list[Judged]:
    """Fits on the first half of the games, writes the file, judges on the second half."""
    coefficients, temperature = np.zeros((5, 8, NUM_FEATURES)), np.ones((5, 8))
    half, judged = games // 2, []
    for players in PLAYERS:
        rows, finals, winner = play(players, games, seed)
        for number in ROUNDS:
            seen = rows[:, number, :players]
            model = fit(seen[:half], finals[:half], winner[:half])
            coefficients[players, number], temperature[players, number] = model
            judged.append(judge(players, number, seen[half:], finals[half:], winner[half:], model))
    np.savez(out, coefficients=coefficients, temperature=temperature)
    return judged


def judge_packaged(games: int, seed: int) -> list[Judged]:
    """How well the packaged estimate does."""
    packaged, judged = load_model(), []
    for players in PLAYERS:
        rows, finals, winner = play(players, games, seed)
        for number in ROUNDS:
            model = packaged.coefficients[players, number], float(packaged.temperature[players, number])
            judged.append(judge(players, number, rows[:, number, :players], finals, winner, model))
    return judged


def main(arguments: Sequence[str] | None = None) -> None:
    """Fits (with `--out`), prints how well it does on games that did not fit it, draws the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=8000, help="games for each number of players")
    parser.add_argument("--seed", type=int, default=9, help="the packaged estimate was fitted with 9")
    parser.add_argument("--out", type=Path, help="fit, and write estimate.npz")
    parser.add_argument("--plot", type=Path, help="calibration as PNG")
    options = parser.parse_args(arguments)
    if options.out is None:
        judged = judge_packaged(options.games, options.seed)
    else:
        judged = fit_and_judge(options.games, options.seed, options.out)
    print("players round | error of influence | temperature | surprise, and of equal chances | largest gap in a tenth")
    print(*judged, sep="\n")
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
        draw(judged, options.plot)


if __name__ == "__main__":
    main()
