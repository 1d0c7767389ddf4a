"""Who does the work of a training: plays its games, remembers samples, learns, measures.

`luna_ai.train.Run` knows the state of a training and its folder, a crew has the hands. `LocalCrew` is this process and
nothing else; `luna_ai.distributed` has one of many processes. Whoever works, all chance follows from the seed of the
run and counters, and the games of an actor are counted in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from engine_fast.position import Game
from luna_ai.backend_guard import GuardedEvaluator, Verdict
from luna_ai.evaluation import AgainstAnchor, Evaluation
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.game_plans import plan_games
from luna_ai.learner import Learned, Learner
from luna_ai.metrics import Probe, probe
from luna_ai.network import Network
from luna_ai.replay import Replay
from luna_ai.samples import Samples
from luna_ai.selfplay import Collected, SelfPlay
from luna_ai.training_config import TrainingConfig

LEARNER_KEY = 4
LOCAL_ACTOR = 0
"""Number of the process that does everything, as a player of games; workers have the numbers from 1 on."""
Stop = Callable[[], bool]


@dataclass
class Start:
    """What a crew begins with.

    Attributes:
        config: of the run.
        game: sheet and rule set.
        network: as it is now; the crew keeps it up to date.
        learner: what `Learner.state` gave, None for a new run.
        replay: what `Replay.counters` gave, None for a new run.
        folder: of the shards of the replay.
        played: games that were counted, by actor.
    """

    config: TrainingConfig
    game: Game
    network: Network
    learner: dict[str, Any] | None
    replay: dict[str, Any] | None
    folder: Path
    played: Mapping[int, int]


class Window(NamedTuple):
    """How the replay window stands."""

    samples: int
    total: int
    nbytes: int
    mean_version: float


class WorkerHealth(NamedTuple):
    """How a process that plays games does."""

    number: int
    alive: bool  # it has answered since it was started
    games: float  # games a second: while it plays where it does more than that, otherwise since the step before
    silence: float  # seconds since its last result
    restarts: int  # times that it was started again in this session
    age: float  # mean age in steps of the network that played the games of this step; NaN without games


class Match(NamedTuple):
    """A network to be measured: its step, and the one that was measured before."""

    step: int
    network: Network
    previous: Network | None


class Crew(Protocol):
    """Does the work of one run; the methods are called in the order of a step."""

    def start(self, start: Start) -> None:
        """Takes up its work.

        Raises:
            ValueError: one line: it cannot.
        """

    def collect(self, past: Path | None, step: int, stop: Stop) -> Collected | None:
        """About `config.games` games, none of which was given before; None once `stop` says yes.

        Args:
            past: checkpoint of a past network for the games that have one.
            step: steps done.
            stop: asked now and then.

        Returns:
            What the games left; `games` has a column `actor` in front.
        """

    def store(self, samples: Samples) -> Probe:
        """Samples into the replay; what the network thinks of them before it learns."""

    def learn(self, step: int) -> Learned:
        """The updates that are due; `network` is the new one afterwards."""

    def measure(self, match: Match, stop: Stop) -> None:
        """Begins to measure a network, unless that one is measured already; one at a time."""

    def measured(self, wait: bool, stop: Stop) -> list[AgainstAnchor] | None:
        """What was found of the network that is measured; None while it is not finished, or once `stop` says yes."""

    @property
    def updates(self) -> int:
        """Updates so far."""

    @property
    def window(self) -> Window:
        """How the replay stands."""

    def health(self) -> list[WorkerHealth]:
        """Of every process that plays, since the last call."""

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint must hold of learner and replay."""

    @property
    def verdict(self) -> Verdict | None:
        """On the backend that evaluates the newest network in self-play; None before there is one."""

    def saved(self) -> None:
        """A checkpoint of the last `state` is on the disk."""

    def close(self) -> None:
        """Ends all work; may be called twice."""


class Player:
    """Plays chunks of games, wherever it runs."""

    def __init__(self, config: TrainingConfig, game: Game, slots: int) -> None:
        """Reserves the memory of the searches."""
        self._config, self._game = config, game
        self._play = SelfPlay(config, game, slots)

    def play(
        self,
        actor: int,
        first: int,
        count: int,
        evaluators: tuple[Any, Any | None],
        step: int,
        stop: Stop = lambda: False,
    ) -> Collected | None:
        """Plays games `first` to `first + count - 1` of an actor.

        Args:
            actor: whose games.
            first: number of the first.
            count: how many.
            evaluators: of the network and of the past one, if there is one.
            step: of the network.
            stop: see `SelfPlay.play`.
        """
        own, past = evaluators
        plan = plan_games(self._config, self._game, self._config.seed, actor, first, count, past=past is not None)
        found = self._play.play(plan, own, past, step, stop)
        if found is None:
            return None
        return replace(found, games=found.games.select(pl.lit(actor).alias("actor"), pl.all()))


class LocalCrew:
    """This process does everything, one thing after the other."""

    def start(self, start: Start) -> None:
        """See `Crew`."""
        config = start.config
        self._config, self._game, self._network = config, start.game, start.network
        self._learner = Learner(start.network, config, start.game.rules, config.steps)
        if start.learner is not None:
            self._learner.restore(start.learner)
        self._replay = Replay(config, start.folder, start.replay)
        self._player = Player(config, start.game, min(config.slots, config.games))
        self._evaluation = Evaluation(config, start.game) if config.evaluate_every else None
        self._guard = GuardedEvaluator(config.backend, start.network, start.game.rules)
        self._evaluator = NetworkEvaluator(start.network)
        self._past: tuple[Path, NetworkEvaluator] | None = None
        self._next = start.played.get(LOCAL_ACTOR, 0)
        self._found: list[AgainstAnchor] | None = None
        self._speed = 0.0

    def collect(self, past: Path | None, step: int, stop: Stop) -> Collected | None:
        """See `Crew`."""
        self._evaluator = self._guard.publish(self._network, self._replay.samples.state)
        both, count = (self._evaluator, self._past_evaluator(past)), self._config.games
        found = self._player.play(LOCAL_ACTOR, self._next, count, both, step, stop)
        if found is not None:
            self._next, self._speed = self._next + count, count / found.seconds["all"]
        return found

    def _past_evaluator(self, past: Path | None) -> NetworkEvaluator | None:
        if past is None:
            return None
        if self._past is None or self._past[0] != past:
            self._past = (past, NetworkEvaluator(past))
        return self._past[1]

    def store(self, samples: Samples) -> Probe:
        """See `Crew`."""
        self._replay.add(samples)
        return probe(self._evaluator, samples, self._game.rules)

    def learn(self, step: int) -> Learned:
        """See `Crew`."""
        updates, rng = self._replay.updates_due(self._config.batch), draws_of(self._config.seed, step)
        return self._learner.learn(lambda count: self._replay.draw(count, rng), updates, step)

    def measure(self, match: Match, stop: Stop) -> None:
        """See `Crew`."""
        assert self._evaluation is not None, "nothing is measured where evaluate_every is 0"
        before = NetworkEvaluator(match.previous) if match.previous else None
        found = self._evaluation(NetworkEvaluator(match.network), before, stop)
        self._found = None if stop() else found

    def measured(self, wait: bool, stop: Stop) -> list[AgainstAnchor] | None:
        """See `Crew`."""
        return self._found

    @property
    def updates(self) -> int:
        """See `Crew`."""
        return self._learner.updates

    @property
    def window(self) -> Window:
        """See `Crew`."""
        return window_of(self._replay)

    def health(self) -> list[WorkerHealth]:
        """See `Crew`."""
        return [WorkerHealth(LOCAL_ACTOR, True, self._speed, 0.0, 0, 0.0)]

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `Crew`."""
        return self._learner.state(), self._replay.counters()

    @property
    def verdict(self) -> Verdict | None:
        """See `Crew`."""
        return self._guard.verdict

    def saved(self) -> None:
        """See `Crew`."""
        self._replay.forget()

    def close(self) -> None:
        """See `Crew`."""


def draws_of(seed: int, step: int) -> np.random.Generator:
    """Chance of the batches of a step."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(LEARNER_KEY, step)))


def window_of(replay: Replay) -> Window:
    """How a replay stands."""
    return Window(len(replay), replay.total, replay.nbytes, replay.mean_version())
