"""Games of OpenSpiel, played at random by its own C++ code, in turns with ours.

No Python runs between two decisions: `MCTSBot` with two simulations asks the C++ `RandomRolloutEvaluator` twice, for
`n` rollouts from the start position and for `n` from a position one decision later, and does next to nothing besides.
A rollout copies the position, then lists the legal decisions, draws one evenly and plays it until the game is over:
the same work as our playout. With `L` decisions a game these are `n (2 L - 1)` decisions. `L` is measured before, on
games played by OpenSpiel's uniform random bots, without decisions of chance.

`pip install open_spiel` (https://github.com/google-deepmind/open_spiel), or this package with the extra `peers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from statistics import fmean, stdev
from typing import Any

from luna_ai.bench.measuring import Sample, run_for, series
from luna_ai.bench.playouts import play_for

GAMES = ("amazons", "chinese_checkers(players=4)", "go(board_size=9)", "nine_mens_morris", "y", "pig(players=4)")
"""Board games of similar length, the fastest that OpenSpiel has among them, and a dice game that is next to nothing:
two decisions to choose from and four counters."""
LENGTH_GAMES = 400
SIMULATIONS = 2


class NoPeers(ValueError):
    """OpenSpiel is not installed."""


def load_pyspiel() -> Any:
    """The module `pyspiel`.

    Raises:
        NoPeers: it is not installed.
    """
    if find_spec("pyspiel") is None:
        raise NoPeers("--peers: open_spiel is not installed; pip install open_spiel, or leave --peers out")
    import pyspiel

    return pyspiel


@dataclass(frozen=True)
class Peer:
    """A game of OpenSpiel by its name there."""

    name: str

    @cached_property
    def _game(self) -> Any:
        return load_pyspiel().load_game(self.name)

    @cached_property
    def lengths(self) -> list[int]:
        """Decisions of `LENGTH_GAMES` random games."""
        pyspiel, lengths = load_pyspiel(), []
        bots = [pyspiel.make_uniform_random_bot(seat, 1 + seat) for seat in range(self._game.num_players())]
        for seed in range(LENGTH_GAMES):
            state = self._game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, seed)
            lengths.append(sum(1 for step in state.full_history() if step.player >= 0))
        return lengths

    @property
    def decisions_per_game(self) -> float:
        """Mean length."""
        return fmean(self.lengths)

    def roll_out(self, rollouts: int, seed: int = 1) -> int:
        """Plays `SIMULATIONS * rollouts` games in C++; returns their decisions, from the mean length."""
        pyspiel = load_pyspiel()
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
        bot = pyspiel.MCTSBot(self._game, evaluator, 1.0, SIMULATIONS, 1000, False, seed, False)
        bot.step(self._game.new_initial_state())
        return round(rollouts * (SIMULATIONS * self.decisions_per_game - 1))

    def figures(self, samples: list[Sample]) -> dict[str, Any]:
        """Speed and length; `length_error` is the standard error of the mean length, relative."""
        length = self.decisions_per_game
        return {
            "decisions_per_second": series([sample.rate for sample in samples]),
            "decisions_per_game": length,
            "length_error": stdev(self.lengths) / length / len(self.lengths) ** 0.5,
        }


def measure_peers(
    players: tuple[int, ...], seconds: float, runs: int, tick: Callable[[], None], names: tuple[str, ...] = GAMES
) -> dict[str, Any]:
    """Luna and its peers in turns (A B C A B C ...), one core.

    Returns:
        `luna`: by number of players; `games`: by name, with `ratio`, by number of players the decisions a second of
        Luna over those of the game in the same turn.
    """
    peers = [Peer(name) for name in names]
    ours: dict[str, list[float]] = {str(seats): [] for seats in players}
    theirs: dict[str, list[Sample]] = {peer.name: [] for peer in peers}
    for peer in peers:
        peer.roll_out(1)
    for run in range(runs):
        for seats in players:
            ours[str(seats)].append(play_for(seconds, seats, seed=run).decisions.rate)
            tick()
        for peer in peers:
            theirs[peer.name].append(run_for(seconds, peer.roll_out))
            tick()
    games = {peer.name: peer.figures(theirs[peer.name]) for peer in peers}
    for name, figures in games.items():
        figures["ratio"] = {
            seats: series([our / sample.rate for our, sample in zip(rates, theirs[name], strict=True)])
            for seats, rates in ours.items()
        }
    return {
        "luna": {seats: {"decisions_per_second": series(rates)} for seats, rates in ours.items()},
        "games": games,
    }
