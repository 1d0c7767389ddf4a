"""The training: collect, store, train, evaluate, log, save.

>>> train(TrainingConfig(steps=10), Path("runs/a"))

All chance follows from the seed of the run and counters (actor, game, step), so a checkpoint needs no random states.
Who does the work is a *crew*: this process alone, the usual one, or many (`luna_ai.distributed`). Alone, a run that was
killed at any moment ends as an undisturbed one does, to the last bit.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from engine_fast.position import load_game
from luna_ai.backend_guard import Verdict
from luna_ai.checkpoint import CheckpointError
from luna_ai.crew import Crew, LocalCrew, Match, Start, Stop, WorkerHealth
from luna_ai.evaluation import AgainstAnchor
from luna_ai.events import EventFile
from luna_ai.learner import Learned
from luna_ai.metrics import Probe, layout_of, scalars_of, scalars_of_measured
from luna_ai.network import Network, NetworkConfig, make_network
from luna_ai.rating_curve import Rating, RatingCurve
from luna_ai.recent_games import RecentGames, alone_at_table
from luna_ai.selfplay import Collected
from luna_ai.training_config import NetworkShape, TrainingConfig
from luna_ai.training_folder import TrainingFolder, alone_in

PAST_KEY, NETWORK_KEY = 5, 6


class TrainingError(ValueError):
    """A training that cannot go on."""


@dataclass
class Step:
    """What happened in one step."""

    number: int
    collected: Collected
    probed: Probe
    learned: Learned
    workers: list[WorkerHealth]
    verdict: Verdict | None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def games_per_second(self) -> float:
        """Of all processes that play."""
        return sum(worker.games for worker in self.workers)


@dataclass
class Measured:
    """How strong the network of a step was found to be."""

    step: int
    evaluated: list[AgainstAnchor]
    rated: dict[str, Rating]


class Run:
    """A training between two steps: everything that a checkpoint holds.

    Attributes:
        step: steps done.
        played: games collected, by actor.
        seconds: wall time of all sessions.
        network: after the last step.
        ratings: of all networks that were measured.
        recent: who won the newest games.
    """

    def __init__(
        self, config: TrainingConfig, folder: Path, override: Sequence[str] = (), crew: Crew | None = None
    ) -> None:
        """Begins a run, or takes it up where its newest checkpoint stands.

        Raises:
            ValueError: one line: the folder holds another run, a checkpoint or the replay cannot be read.
        """
        config.check()
        sheet, rules = config.rules()
        self.config, self.game, self.crew = config, load_game(sheet, rules), crew or LocalCrew()
        self.folder = TrainingFolder(folder, config.to_plain(), override)
        self.step, self.seconds = 0, 0.0
        self.played: dict[int, int] = {}
        self.name = sha256(repr(config.to_plain()).encode()).hexdigest()[:12]
        self.ratings, self.recent = RatingCurve(config.anchors, config.seed), RecentGames()
        self._rows: list[pl.DataFrame] = []
        self._spent: dict[str, float] = {}
        self._verdict: Verdict | None = None  # on the network that played last
        self._previous: tuple[int, Network] | None = None  # the network that was measured last, and its step
        self._waiting = deque[tuple[int, Network]]()  # to be measured, the first one now
        learner, replay = self._restore()
        self.saved, self._unsaved = self.step, False
        self.folder.drop_games_after(self.step)
        self.folder.prune(self.step, config.keep_checkpoints, config.save_every)
        self._began = time.monotonic()
        self.crew.start(Start(config, self.game, self.network, learner, replay, self.folder.replay, self.played))

    def _restore(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """The network, new or from the newest checkpoint; states of learner and replay."""
        checkpoint = self.folder.read_latest()
        if checkpoint is None:
            shape = {key: getattr(self.config, key) for key in NetworkShape.__dataclass_fields__}
            words = np.random.SeedSequence(self.config.seed, spawn_key=(NETWORK_KEY,)).generate_state(1)
            self.network = make_network(NetworkConfig.from_plain(shape), int(words[0]))
            return None, None
        self.network, training = checkpoint.network, checkpoint.training
        if training.get("sheet") != self.game.sheet.sha256:
            raise TrainingError(
                f"components: {self.config.components} has changed since this run began; use another folder"
            )
        try:
            self.step, self.seconds = training["step"], training["seconds"]
            self.name, self.played = training["run"], dict(training["played"])
            self._restore_ratings(training["ratings"])
            self.recent = RecentGames(training["recent"])
            return training["learner"], training["replay"]
        except KeyError as missing:
            raise CheckpointError(f"{self.folder.checkpoints}: the checkpoint lacks {missing}") from missing

    def _restore_ratings(self, state: dict[str, Any]) -> None:
        self.ratings = RatingCurve(self.config.anchors, self.config.seed, state["met"])
        versions = []
        for step, weights in state["versions"]:
            network = make_network(self.network.config, 0)
            network.load_state_dict(weights)
            versions.append((step, network.eval()))
        self._previous = versions.pop(0) if state["measured"] else None
        self._waiting.extend(versions)

    @property
    def games(self) -> int:
        """Games collected."""
        return sum(self.played.values())

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
            found = self.crew.collect(chosen, self.step, stop)
        self._verdict = self.crew.verdict
        return found

    def store(self, collected: Collected) -> Probe:
        """Samples into the replay, games into the next part; what the network thinks of them before it learns."""
        with self._timed("store"):
            probed = self.crew.store(collected.samples)
        self.recent.add(alone_at_table(collected.games))
        for actor, last in collected.games.group_by("actor").agg(pl.col("index").max()).iter_rows():
            self.played[actor] = last + 1
        which = (pl.lit(self.name).alias("run"), pl.lit(self.step).alias("step"))
        self._rows.append(collected.games.select(*which, pl.all()))
        return probed

    def learn(self) -> Learned:
        """The updates that are due."""
        with self._timed("learn"):
            return self.crew.learn(self.step)

    def advance(self, collected: Collected, probed: Probe, learned: Learned) -> Step:
        """Counts the step as done; its network is measured where that is due."""
        self.step += 1
        every = self.config.evaluate_every
        if every and self.step % every == 0:
            self._waiting.append((self.step, deepcopy(self.network)))
        done = Step(self.step, collected, probed, learned, self.crew.health(), self._verdict, dict(self._spent))
        self._spent.clear()
        return done

    def end(self) -> None:
        """The last network is measured, whenever the steps or the time came to their end."""
        known = {step for step, _ in (*self._waiting, *([self._previous] if self._previous else []))}
        if self.finished and self.config.evaluate_every and self.step not in {0, *known}:
            self._waiting.append((self.step, deepcopy(self.network)))

    def measured(self, stop: Stop) -> Iterator[Measured]:
        """Whatever was found of networks that are measured; waits where a second one is due or the run is finished."""
        with self._timed("evaluate"):
            while self._waiting and not stop():
                step, network = self._waiting[0]
                self.crew.measure(Match(step, network, self._previous[1] if self._previous else None), stop)
                found = self.crew.measured(len(self._waiting) > 1 or self.finished, stop)
                if found is None:
                    break
                rated = self.ratings.add(step, found, self._previous[0] if self._previous else None)
                self._previous, self._unsaved = self._waiting.popleft(), True
                yield Measured(step, found, rated)

    def save(self) -> None:
        """Writes games and checkpoint, unless they are written already.

        Raises:
            OSError: the disk is full; the checkpoint before is whole.
        """
        if self.saved == self.step and not self._unsaved:
            return
        with self._timed("save"):
            self._save()

    def _save(self) -> None:
        now = time.monotonic()
        self.seconds, self._began = self.seconds + now - self._began, now
        if self._rows:
            self.folder.write_games(self.step, pl.concat(self._rows))
        self.folder.save(self.step, self.network, self.state(), self.config.keep_checkpoints, self.config.save_every)
        self.crew.saved()
        self._rows, self.saved, self._unsaved = [], self.step, False

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds beside the network."""
        learner, replay = self.crew.state()
        versions = [*([self._previous] if self._previous else []), *self._waiting]
        return {
            "step": self.step,
            "games": self.games,
            "played": dict(sorted(self.played.items())),
            "seconds": self.seconds,
            "run": self.name,
            "sheet": self.game.sheet.sha256,
            "config": self.config.to_plain(),
            "learner": learner,
            "replay": replay,
            "recent": self.recent.to_plain(),
            "ratings": {
                "met": self.ratings.to_plain(),
                "measured": self._previous is not None,
                "versions": [(step, network.state_dict()) for step, network in versions],
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
    crew: Crew | None = None,
) -> Run:
    """Trains until all steps are done, the time is up or `stop` says so; what is done is saved.

    Args:
        config: what to train.
        folder: of the run; an existing one goes on.
        override: keys of the config that may differ from those of the existing run.
        stop: asked often; the step that is being collected is lost.
        say: is told what happens, line by line.
        advance: is called with the number of steps each time some are done, those of earlier sessions too.
        crew: who does the work; None for this process. It is closed at the end.

    Raises:
        ValueError: one line: see `Run`; TrainingError for a full disk, InvalidRun if somebody else trains there.
    """
    config.check()
    with alone_in(folder), closing(crew or LocalCrew()) as workers:
        run = Run(config, folder, override, workers)
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
            step = run.advance(collected, run.store(collected), run.learn())
            curves.add(step.number, scalars_of(run, step))
            report(run, say, line_of(run, step))
            if step.verdict is not None and step.verdict.line:
                report(run, say, step.verdict.line)
            advance(1)
            _log_measured(run, curves, stop, say)
            if run.step % run.config.save_every == 0:
                run.save()
        run.end()
        _log_measured(run, curves, stop, say)
        run.save()


def _log_measured(run: Run, curves: EventFile, stop: Stop, say: Callable[[str], None]) -> None:
    for measured in run.measured(stop):
        curves.add(measured.step, scalars_of_measured(measured))
        found = ", ".join(f"{a.anchor} {a.players}p {a.share:.0%}" for a in measured.evaluated)
        report(run, say, f"network of step {measured.step} wins against {found}")


def report(run: Run, say: Callable[[str], None], line: str) -> None:
    """Says a line and writes it into the log."""
    run.folder.log(line)
    say(line)


def line_of(run: Run, step: Step) -> str:
    """A step in one line."""
    learned = step.learned
    loss = f"loss {learned.total:.3f} (policy {learned.policy:.3f}, win {learned.win:.3f})"
    return (
        f"step {step.number}/{run.config.steps}: {run.games:,} games, {step.games_per_second:.1f} a second, "
        f"{run.crew.window.total:,} samples, {loss}"
    )
