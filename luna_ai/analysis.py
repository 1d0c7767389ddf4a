"""What a search thinks of the decisions of recorded games, and how much each of them gave away.

A decision is judged in three searches with the same budget, each with an empty tree and its own chance:

    1. the position: its value vector, and the decisions there, best first by visits
    2. the position after the best decision
    3. the position after the decision that was played

The loss is what the deciding seat's chance to win is worth less in 3 than in 2. Visits in search 1 go where decisions
look good, so its value of a decision that it hardly tried is noise; 2 and 3 treat both decisions alike. A played
decision that search 1 finds best has no loss, and there search 3 is left out. Losses below 0 count as 0: a closer
look found the played decision no worse.

A network's search draws no chance, so there only the tree is its own.

Every search depends on the seed, the game, the number of the decision and the position alone, so a decision gets the
same figures whatever else is analysed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine_fast.actions import ID_OF_NOTATION
from engine_fast.position import Position
from luna_ai import __version__
from luna_ai.network_analysis import NetworkCandidate, NetworkSearcher
from luna_ai.network_options import NET
from luna_ai.players import PlayerSpec
from luna_ai.search.mcts import Candidate, Search, SearchResult
from luna_ai.search.options import PREFIX, SearchOptions
from luna_ai.turns import Choice, RecordedGame, Turn

POSITION, AFTER_BEST, AFTER_PLAYED = range(3)
"""The three searches of a decision."""


class AnalysisError(ValueError):
    """A player that cannot analyse; one line that says who can."""


class Searcher(Protocol):
    """Searches a position with chance drawn from a seed; stops early, with what it has, when `stop` says so."""

    def __call__(self, position: Position, seed: int, stop: Callable[[], bool]) -> SearchResult:
        """The decisions of a position that is not over."""


def searcher_of(spec: PlayerSpec) -> tuple[str, Searcher]:
    """Full name and searcher of a player; each of its searches begins with an empty tree.

    Raises:
        AnalysisError: the player does not search.
        NetOptionError, CheckpointError, EvaluatorError: a network cannot be read or evaluated.
    """
    if spec.network is not None and spec.network.sims:
        return spec.network.name, NetworkSearcher(spec.network)
    if not isinstance(spec.search, SearchOptions):
        allowed = f"{PREFIX}:sims=400, {NET}:PATH,sims=64 and their other options"
        raise AnalysisError(f"player {spec.name!r} does not search; allowed: {allowed}")
    options = replace(spec.search, reuse=False)
    return options.name, lambda position, seed, stop: Search(options, seed)(position, stop)


@dataclass(frozen=True)
class Option:
    """A legal decision as the search of the position sees it.

    Attributes:
        decision: notation.
        visits: simulations that began with it.
        value: chance to win of the seat that decides; None without a visit.
        prior: how likely the search held it to be before.
        policy: how likely a network's search makes it (the improved policy); None for other searches.
    """

    decision: str
    visits: int
    value: float | None
    prior: float
    policy: float | None = None


@dataclass(frozen=True)
class Judgement:
    """A decision and what the searches say. Chances to win are by seat, between 0 and 1, and sum to 1.

    Attributes:
        number: of the decision in its game, from 1.
        round: 1 to 6.
        phase: `shrines`, `novices` or `action`.
        seat: who decided.
        legal: number of legal decisions.
        simulations: of the search of the position.
        values: chances before the decision.
        best: the best decisions that the search tried, best first.
        played: the decision that was played, as an option.
        place: of the played one among all legal ones, 1 = best.
        after_best: chances after the best decision, from a search of its own.
        after_played: the same after the played decision.
    """

    number: int
    round: int
    phase: str
    seat: int
    legal: int
    simulations: int
    values: tuple[float, ...]
    best: tuple[Option, ...]
    played: Option
    place: int
    after_best: tuple[float, ...]
    after_played: tuple[float, ...]

    @property
    def loss(self) -> float:
        """What the decision gave away: the seat's chance after the best one less that after the played one, from 0."""
        return max(0.0, self.after_best[self.seat] - self.after_played[self.seat])

    def to_json(self) -> dict[str, Any]:
        """Plain data, loss included."""
        plain = {**vars(self), "best": [vars(option) for option in self.best], "played": vars(self.played)}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()} | {
            "loss": self.loss
        }


@dataclass(frozen=True)
class GameAnalysis:
    """What was found out about a game.

    Attributes:
        about: as `RecordedGame.about`.
        chosen: number of decisions that were to be analysed, forced ones included.
        forced: how many of them were the only legal one and so were not searched.
        judgements: of the others, in the order of play.
    """

    about: dict[str, Any]
    chosen: int
    forced: int
    judgements: tuple[Judgement, ...]

    @property
    def complete(self) -> bool:
        """Whether every chosen decision was looked at."""
        return self.forced + len(self.judgements) == self.chosen

    def mistakes(self, most: int) -> list[Judgement]:
        """The decisions with the largest losses, at most so many, largest first; those without loss are none."""
        found = [judgement for judgement in self.judgements if judgement.loss > 0]
        return sorted(found, key=lambda judgement: -judgement.loss)[:most]

    def by_seat(self) -> list[dict[str, Any]]:
        """For each seat: player, decisions analysed, share that was the search's first choice, mean loss."""
        return [self._of_seat(seat, str(player)) for seat, player in enumerate(self.about["seats"])]

    def _of_seat(self, seat: int, player: str) -> dict[str, Any]:
        own = [judgement for judgement in self.judgements if judgement.seat == seat]
        return {
            "seat": seat,
            "player": player,
            "decisions": len(own),
            "first_choice": sum(judgement.place == 1 for judgement in own) / len(own) if own else None,
            "mean_loss": sum(judgement.loss for judgement in own) / len(own) if own else None,
        }

    def to_json(self, mistakes: int) -> dict[str, Any]:
        """Plain data; `mistakes` are numbers of decisions, largest loss first."""
        return {
            **self.about,
            "chosen": self.chosen,
            "forced": self.forced,
            "complete": self.complete,
            "by_seat": self.by_seat(),
            "mistakes": [judgement.number for judgement in self.mistakes(mistakes)],
            "judgements": [judgement.to_json() for judgement in self.judgements],
        }


@dataclass(frozen=True)
class Analysis:
    """What was found out about the games of a file.

    Attributes:
        file: the record file.
        player: full name of who searched.
        seed: from which the chance of the searches is drawn.
        games: in the order of the file; where it was interrupted, the last one may be incomplete.
        interrupted: whether decisions that were chosen are missing.
    """

    file: Path
    player: str
    seed: int
    games: tuple[GameAnalysis, ...]
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """130 interrupted; 3 a game is unfinished; 0 otherwise."""
        return 130 if self.interrupted else 0 if all(game.about["finished"] for game in self.games) else 3

    def to_json(self, mistakes: int) -> dict[str, Any]:
        """Plain data, with so many mistakes a game."""
        head = {"version": __version__, "file": str(self.file), "player": self.player, "seed": self.seed}
        games = [game.to_json(mistakes) for game in self.games]
        return head | {"complete": not self.interrupted, "games": games}


def analyse_games(
    file: Path,
    games: Sequence[RecordedGame],
    choice: Choice,
    player: tuple[str, Searcher],
    seed: int = 0,
    top: int = 3,
    stop: Callable[[], bool] = lambda: False,
    advance: Callable[[], None] = lambda: None,
) -> Analysis:
    """Judges the chosen decisions of several games; `player` is from `searcher_of`, the rest as in `analyse_game`."""
    analysed: list[GameAnalysis] = []
    for game in games:
        if stop():
            break
        analysed.append(analyse_game(game, choice, player[1], seed, top, stop, advance))
    complete = len(analysed) == len(games) and all(game.complete for game in analysed)
    return Analysis(file, player[0], seed, tuple(analysed), not complete)


def analyse_game(
    game: RecordedGame,
    choice: Choice,
    search: Searcher,
    seed: int = 0,
    top: int = 3,
    stop: Callable[[], bool] = lambda: False,
    advance: Callable[[], None] = lambda: None,
) -> GameAnalysis:
    """Judges the chosen decisions of a game.

    Args:
        game: from `luna_ai.turns.read_games`.
        choice: which decisions.
        search: asked up to three times a decision.
        seed: all chance of the searches is drawn from it.
        top: number of best decisions to keep.
        stop: once it says yes, the decisions judged so far are returned.
        advance: called after each decision, forced ones included.
    """
    turns, judgements, forced = choice.of(game), list[Judgement](), 0
    for turn in turns:
        seeds = [_seed_of(seed, int(game.about["game"]), turn.number, which) for which in range(3)]
        forced += turn.forced
        if not turn.forced:
            judgement = judge(turn, search, seeds, top, stop)
            if stop():  # the last search may be cut short
                break
            judgements.append(judgement)
        advance()
    return GameAnalysis(game.about, len(turns), forced, tuple(judgements))


def _seed_of(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def judge(
    turn: Turn, search: Searcher, seeds: Sequence[int], top: int, stop: Callable[[], bool] = lambda: False
) -> Judgement:
    """Searches a decision that was not forced; `seeds` are those of the three searches."""
    position, players = turn.position, turn.position.players
    found = search(position, seeds[POSITION], stop)
    notations = [candidate.notation for candidate in found.candidates]
    place = notations.index(turn.decision)
    after_best = _chances_after(position, found.best.action, search, seeds[AFTER_BEST], stop)
    action = ID_OF_NOTATION[turn.decision]
    after_played = _chances_after(position, action, search, seeds[AFTER_PLAYED], stop) if place else after_best
    return Judgement(
        number=turn.number,
        round=position.round,
        phase=position.phase,
        seat=turn.seat,
        legal=len(notations),
        simulations=found.simulations,
        values=_chances(found, players),
        best=tuple(
            _option(found.candidates[i])
            for i in range(min(top, len(notations)))
            if i == 0 or found.candidates[i].visits
        ),
        played=_option(found.candidates[place]),
        place=place + 1,
        after_best=after_best,
        after_played=after_played,
    )


def _chances_after(
    position: Position, action: int, search: Searcher, seed: int, stop: Callable[[], bool]
) -> tuple[float, ...]:
    """Chances after a decision: searched, or the result where it ends the game."""
    after = position.play(action)
    if after.over:
        return tuple(float(rank == 1) for rank in after.ranking)
    return _chances(search(after, seed, stop), position.players)


def _chances(found: SearchResult, players: int) -> tuple[float, ...]:
    return tuple(float(value) for value in found.values[:players])


def _option(candidate: Candidate) -> Option:
    value = float(candidate.value) if candidate.visits else None
    policy = candidate.policy if isinstance(candidate, NetworkCandidate) else None
    return Option(candidate.notation, candidate.visits, value, float(candidate.prior), policy)
