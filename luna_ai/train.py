"""The training: collect, store, train, evaluate, log, save.

>>> train(TrainingConfig(steps=10), Path("runs/a"))

One process does everything. All chance follows from the seed of the run and counters (actor, game, step), so a
checkpoint needs no random states, and a run that was killed at any moment ends as an undisturbed one does, to the last
bit. Who collects games elsewhere (other processes, other machines) gives `train` a `Collector` of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from engine_fast.position import Game, load_game
from luna_ai.checkpoint import CheckpointError
from luna_ai.evaluation import AgainstAnchor, Evaluation
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.events import EventFile
from luna_ai.game_plans import plan_games
from luna_ai.learner import Learned, Learner
from luna_ai.metrics import Probe, layout_of, probe, scalars_of
from luna_ai.network import Network, NetworkConfig, make_network
from luna_ai.rating_curve import Rating, RatingCurve
from luna_ai.replay import Replay
from luna_ai.selfplay import Collected, SelfPlay
from luna_ai.training_config import NetworkShape, TrainingConfig
from luna_ai.training_folder import TrainingFolder, alone_in

LEARNER_KEY, PAST_KEY, NETWORK_KEY = 4, 5, 6
Stop = Callable[[], bool]


class TrainingError(ValueError):
    """A training that cannot go on."""


class Collector(Protocol):
    """Who plays the games of a step."""

    def collect(self, network: Network, past: Path | None, step: int, first: int, stop: Stop) -> Collected | None:
        """Plays about `config.games` games with a network.

        Args:
            network: as it is now; not changed.
            past: checkpoint of a past network for the games that have one.
            step: of the training.
            first: number of games that were collected before.
            stop: asked now and then; once it says yes, None may be returned.

        Returns:
            What the games left; `games` has a column `actor` in front.
        """


class LocalCollector:
    """Plays games in this process, as actor 0."""

    def __init__(self, config: TrainingConfig, game: Game) -> None:
        """Reserves the memory of the searches."""
        self._config, self._game = config, game
        self._play = SelfPlay(config, game, min(config.slots, config.games))
        self._evaluator: NetworkEvaluator | None = None
        self._past: tuple[Path, NetworkEvaluator] | None = None

    def collect(self, network: Network, past: Path | None, step: int, first: int, stop: Stop) -> Collected | None:
        """See `Collector`."""
        plan = plan_games(
            self._config, self._game, self._config.seed, 0, first, self._config.games, past=past is not None
        )
        found = self._play.play(plan, self._current(network), self._past_evaluator(past), step, stop)
        if found is None:
            return None
        return replace(found, games=found.games.select(pl.lit(0).alias("actor"), pl.all()))

    def _current(self, network: Network) -> NetworkEvaluator:
        if self._evaluator is None:
            self._evaluator = NetworkEvaluator(network)
        else:
            self._evaluator.update(network)
        return self._evaluator

    def _past_evaluator(self, past: Path | None) -> NetworkEvaluator | None:
        if past is None:
            return None
        if self._past is None or self._past[0] != past:
            self._past = (past, NetworkEvaluator(past))
        return self._past[1]


@dataclass
class Step:
    """What happened in one step."""

    number: int
    collected: Collected
    probed: Probe
    learned: Learned
    evaluated: list[AgainstAnchor]
    rated: dict[str, Rating]
    seconds: dict[str, float] = field(default_factory=dict)


class Run:
    """A training between two steps: everything that a checkpoint holds.

    Attributes:
        step: steps done.
        games: games collected.
        seconds: wall time of all sessions.
    """

    def __init__(
        self,
        config: TrainingConfig,
        folder: Path,
        override: Sequence[str] = (),
        collector: Collector | None = None,
    ) -> None:
        """Begins a run, or takes it up where its newest checkpoint stands.

        Raises:
            ValueError: one line: the folder holds another run, a checkpoint or the replay cannot be read.
        """
        config.check()
        sheet, rules = config.rules()
        self.config, self.game = config, load_game(sheet, rules)
        self.folder = TrainingFolder(folder, config.to_plain(), override)
        self.step, self.games, self.seconds = 0, 0, 0.0
        self.name = sha256(repr(config.to_plain()).encode()).hexdigest()[:12]
        self._rows: list[pl.DataFrame] = []
        self._spent: dict[str, float] = {}
        self.ratings = RatingCurve(config.anchors, config.seed)
        self._previous: tuple[int, Network] | None = None  # the network of the evaluation before, and its step
        counters = self._restore()
        self.replay = Replay(config, self.folder.replay, counters)
        self.saved = self.step
        self.folder.drop_games_after(self.step)
        self.folder.prune(self.step, config.keep_checkpoints, config.save_every)
        self.collector = collector or LocalCollector(config, self.game)
        self._evaluation = Evaluation(config, self.game) if config.evaluate_every else None
        self._began = time.monotonic()

    def _restore(self) -> dict[str, Any] | None:
        """Network and learner, new or from the newest checkpoint; the replay's counters."""
        checkpoint = self.folder.read_latest()
        if checkpoint is None:
            shape = {key: getattr(self.config, key) for key in NetworkShape.__dataclass_fields__}
            words = np.random.SeedSequence(self.config.seed, spawn_key=(NETWORK_KEY,)).generate_state(1)
            self.network = make_network(NetworkConfig.from_plain(shape), int(words[0]))
        else:
            self.network = checkpoint.network
        self.learner = Learner(self.network, self.config, self.game.rules, self.config.steps)
        if checkpoint is None:
            return None
        training = checkpoint.training
        if training.get("sheet") != self.game.sheet.sha256:
            raise TrainingError(
                f"components: {self.config.components} has changed since this run began; use another folder"
            )
        try:
            self.step, self.games, self.seconds = training["step"], training["games"], training["seconds"]
            self.name = training["run"]
            self.learner.restore(training["learner"])
            self._restore_ratings(training["ratings"])
            counters: dict[str, Any] = training["replay"]
        except KeyError as missing:
            raise CheckpointError(f"{self.folder.checkpoints}: the checkpoint lacks {missing}") from missing
        return counters

    def _restore_ratings(self, state: dict[str, Any]) -> None:
        self.ratings = RatingCurve(self.config.anchors, self.config.seed, state["met"])
        if state["previous"] is not None:
            network = make_network(self.network.config, 0)
            network.load_state_dict(state["weights"])
            self._previous = (state["previous"], network)

    @property
    def finished(self) -> bool:
        """Whether all steps are done or the time is up."""
        minutes = self.config.minutes
        late = minutes is not None and self.seconds + time.monotonic() - self._began >= 60.0 * minutes
        return self.step >= self.config.steps or late

    @contextmanager
    def _timed(self, part: str) -> Any:
        began = time.monotonic()
        yield
        self._spent[part] = time.monotonic() - began

    def collect(self, stop: Stop) -> Collected | None:
        """The games of a step."""
        past = self.folder.past(self.step, self.config.keep_checkpoints, self.config.save_every)
        rng = np.random.default_rng(np.random.SeedSequence(self.config.seed, spawn_key=(PAST_KEY, self.step)))
        chosen = past[rng.integers(len(past))] if past else None
        with self._timed("collect"):
            return self.collector.collect(self.network, chosen, self.step, self.games, stop)

    def store(self, collected: Collected) -> Probe:
        """Samples into the replay, games into the next part; what the network thinks of them before it learns."""
        with self._timed("store"):
            self.replay.add(collected.samples)
            probed = probe(NetworkEvaluator(self.network), collected.samples, self.game.rules)
        self.games += collected.num_games
        which = (pl.lit(self.name).alias("run"), pl.lit(self.step).alias("step"))
        self._rows.append(collected.games.select(*which, pl.all()))
        return probed

    def learn(self) -> Learned:
        """The updates that are due."""
        updates = self.replay.updates_due(self.config.batch)
        rng = np.random.default_rng(np.random.SeedSequence(self.config.seed, spawn_key=(LEARNER_KEY, self.step)))
        with self._timed("learn"):
            return self.learner.learn(lambda count: self.replay.draw(count, rng), updates, self.step)

    def evaluate(self, stop: Stop) -> list[AgainstAnchor]:
        """Games against the anchors, where they are due after this step."""
        every = self.config.evaluate_every
        if self._evaluation is None or ((self.step + 1) % every and self.step + 1 < self.config.steps):
            return []
        with self._timed("evaluate"):
            before = NetworkEvaluator(self._previous[1]) if self._previous else None
            return self._evaluation(NetworkEvaluator(self.network), before, stop)

    def rate(self, evaluated: list[AgainstAnchor]) -> dict[str, Rating]:
        """Ratings of the network after an evaluation; it is the one that the next plays against."""
        if not evaluated:
            return {}
        rated = self.ratings.add(self.step + 1, evaluated, self._previous[0] if self._previous else None)
        self._previous = (self.step + 1, deepcopy(self.network))
        return rated

    def advance(self, collected: Collected, probed: Probe, learned: Learned, evaluated: list[AgainstAnchor]) -> Step:
        """Counts the step as done."""
        rated = self.rate(evaluated)
        self.step += 1
        done = Step(self.step, collected, probed, learned, evaluated, rated, dict(self._spent))
        self._spent.clear()
        return done

    def save(self) -> None:
        """Writes games and checkpoint, unless this step's are written already.

        Raises:
            OSError: the disk is full; the checkpoint before is whole.
        """
        if self.saved == self.step:
            return
        with self._timed("save"):
            self._save()

    def _save(self) -> None:
        now = time.monotonic()
        self.seconds, self._began = self.seconds + now - self._began, now
        if self._rows:
            self.folder.write_games(self.step, pl.concat(self._rows))
        self.folder.save(self.step, self.network, self.state(), self.config.keep_checkpoints, self.config.save_every)
        self.replay.forget()
        self._rows, self.saved = [], self.step

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds beside the network."""
        return {
            "step": self.step,
            "games": self.games,
            "seconds": self.seconds,
            "run": self.name,
            "sheet": self.game.sheet.sha256,
            "config": self.config.to_plain(),
            "learner": self.learner.state(),
            "replay": self.replay.counters(),
            "ratings": {
                "met": self.ratings.to_plain(),
                "previous": self._previous[0] if self._previous else None,
                "weights": self._previous[1].state_dict() if self._previous else {},
            },
        }


def train(
    config: TrainingConfig,
    folder: Path,
    *,
    override: Sequence[str] = (),
    stop: Stop = lambda: False,
    say: Callable[[str], None] = lambda line: None,
    advance: Callable[[int], None] = lambda steps: None,
    collector: Collector | None = None,
) -> Run:
    """Trains until all steps are done, the time is up or `stop` says so; what is done is saved.

    Args:
        config: what to train.
        folder: of the run; an existing one goes on.
        override: keys of the config that may differ from those of the existing run.
        stop: asked often; the step that is being collected is lost.
        say: is told what happens, line by line.
        advance: is called with the number of steps each time some are done, those of earlier sessions too.
        collector: who plays the games; None for this process.

    Raises:
        ValueError: one line: see `Run`; TrainingError for a full disk, InvalidRun if somebody else trains there.
    """
    config.check()
    with alone_in(folder):
        run = Run(config, folder, override, collector)
        try:
            _loop(run, stop, say, advance)
        except OSError as problem:
            kept = f"checkpoint {run.saved} is kept" if run.saved else "there is no checkpoint yet"
            what = f"step {run.step} cannot be written: {problem.strerror or problem}; {kept}"
            raise TrainingError(what) from problem
    return run


def _loop(run: Run, stop: Stop, say: Callable[[str], None], advance: Callable[[int], None]) -> None:
    report(run, say, f"run {run.name} goes on after step {run.step}" if run.step else f"run {run.name} begins")
    advance(run.step)
    with EventFile(run.folder.tensorboard, run.step + 1, layout_of(run.config)) as curves:
        while not run.finished and not stop():
            if (collected := run.collect(stop)) is None:
                break
            step = run.advance(collected, run.store(collected), run.learn(), run.evaluate(stop))
            curves.add(step.number, scalars_of(run, step))
            report(run, say, line_of(run, step))
            advance(1)
            if run.step % run.config.save_every == 0:
                run.save()
        run.save()


def report(run: Run, say: Callable[[str], None], line: str) -> None:
    """Says a line and writes it into the log."""
    run.folder.log(line)
    say(line)


def line_of(run: Run, step: Step) -> str:
    """A step in one line."""
    learned, seconds = step.learned, step.seconds["collect"]
    played = step.collected.num_games
    loss = f"loss {learned.total:.3f} (policy {learned.policy:.3f}, win {learned.win:.3f})"
    anchors = "".join(f", {a.anchor} {a.players}p {a.share:.0%}" for a in step.evaluated)
    return (
        f"step {step.number}/{run.config.steps}: {run.games:,} games, {played / seconds:.1f} a second, "
        f"{run.replay.total:,} samples, {loss}{anchors}"
    )
