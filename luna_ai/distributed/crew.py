"""The crew of a run on Ray. This process only coordinates: who asks whom for what, and who is made anew.

    workers    play chunks of games with the newest network, also while others work
    replay     holds the window; on the driver's machine, where its shards are
    learner    holds network and optimizer
    evaluator  measures a network while training goes on
    inference  evaluates for all workers, if the config says so

Whatever dies is made anew from what the driver and the disk hold: a worker from the numbers of its games; the replay
from its shards and counters; the learner from the newest checkpoint, and it trains again as often as since then, on the
window as it is now; the evaluator from the two networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import RayError

from luna_ai.backend_guard import GuardedEvaluator, Verdict
from luna_ai.checkpoint import read_checkpoint
from luna_ai.crew import Match, Player, Start, Stop, Window, WorkerHealth
from luna_ai.distributed.cluster import (
    TRIES,
    DistributedError,
    again,
    begin,
    end,
    kill,
    last_line,
    loss_of,
    make_actor,
    need_gpu,
    never_begun,
    raised,
)
from luna_ai.distributed.inference import Answering, RemoteEvaluator
from luna_ai.distributed.parts import (
    Evaluators,
    Learning,
    Measuring,
    Playing,
    Published,
    Remembered,
    Remembering,
    Setting,
    chunk_size,
    load_weights,
    published,
)
from luna_ai.distributed.pool import Order, Pool, joined_chunks
from luna_ai.evaluation import AgainstAnchor
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.learner import Learned, batch_of
from luna_ai.metrics import Probe
from luna_ai.samples import Samples
from luna_ai.selfplay import Collected

BATCHES = 32
"""Most updates of one call of the learner."""
LOOK = 0.2
"""Seconds between two looks at whether to stop."""


class Due(NamedTuple):
    """A part of the updates of a step."""

    step: int
    part: int
    updates: int


class RayCrew:
    """Many processes; see `luna_ai.crew.Crew`."""

    def __init__(self, address: str | None = None) -> None:
        """Nothing begins before `start`.

        Args:
            address: of a cluster; None for this machine alone.
        """
        self._address, self._began = address, False

    def start(self, start: Start) -> None:
        """See `Crew`."""
        config, game = start.config, start.game
        self._config, self._network, self._folder = config, start.network, start.folder
        self._setting = Setting(config, game.sheet, game.ruleset)
        warm(start)
        begin(self._address)
        self._began = True
        self._gpus = need_gpu(config)
        self._base = (published("base", start.network), start.learner)
        self._verdict: Verdict | None = None
        on_gpu = config.inference == "cuda"  # this machine may have none
        self._guard = None if on_gpu else GuardedEvaluator(config.backend, start.network, game.rules)
        self._since, self._done = list[tuple[Due, Learned | None]](), 0
        self._updates = start.learner["updates"] if start.learner else 0
        self._counters, self._saved_shards = start.replay, list((start.replay or {}).get("shards", ()))
        self._state: Any = None
        self._past: tuple[Path, Any] | None = None
        self._measures: tuple[int, Any, tuple[Any, Any]] | None = None
        self._evaluator: Any = None
        self._window = Window(0, 0, 0, float("nan"))
        self._inference = self._new_inference()
        numbers = range(1, config.workers + 1)
        self._pool = Pool(self._new_worker, numbers, start.played, chunk_size(config), config.games)
        self._new_replay()
        self._new_learner()
        self._ask_replay("stand")
        self._publish(0, start.network)

    # --- who works -------------------------------------------------------------------------------------------------

    def _new_worker(self, number: int) -> Any:
        slots = min(self._config.slots, chunk_size(self._config))
        return make_actor(Playing, self._setting, slots, evaluators_of(self._inference), cpus=1.0)

    def _new_inference(self) -> Any:
        device = self._config.inference
        if device == "none":
            return None
        more: dict[str, Any] = {"max_restarts": -1, "max_task_retries": -1, "max_concurrency": 1000}
        backend = "cuda" if device == "cuda" else None
        given = (self._setting.sheet, self._setting.ruleset, backend)
        return make_actor(Answering, *given, gpus=self._gpus * (device == "cuda"), **more)

    def _new_replay(self) -> None:
        given = (self._config, self._folder.resolve(), self._counters, self._saved_shards)
        self._replay = self._renewed("_replay", Remembering, *given, here=True)

    def _new_learner(self) -> None:
        given, gpus = (self._setting, *self._base), self._gpus * (self._config.device == "cuda")
        self._learner, self._done = self._renewed("_learner", Learning, *given, here=None, gpus=gpus), 0

    def _renewed(self, name: str, part: type, *given: Any, here: bool | None = False, gpus: float = 0.0) -> Any:
        if (old := getattr(self, name, None)) is not None:
            kill(old)
        return make_actor(part, *given, here=here, gpus=gpus)

    def _wait(self, ref: Any) -> Any:
        """An answer; workers are kept busy while it is made."""
        while not self._pool.wait([ref], None):
            pass
        return ray.get(ref)

    def _ask_replay(self, method: str, *given: Any) -> Any:
        found = again("replay", lambda: self._wait(getattr(self._replay, method).remote(*given)), self._new_replay)
        stand = found[1] if isinstance(found, tuple) and not isinstance(found, Remembered) else found
        if isinstance(stand, Remembered):
            self._counters, self._window = stand
        return found

    def _ask_learner(self, method: str, *given: Any) -> Any:
        """An answer of the learner as it stands after all updates."""

        def ask() -> Any:
            self._catch_up()
            return self._wait(getattr(self._learner, method).remote(*given))

        return again("learner", ask, self._new_learner)

    def _catch_up(self) -> None:
        """Makes the updates that this learner has not made yet: the newest ones, or all since the last checkpoint."""
        while self._done < len(self._since):
            due, _ = self._since[self._done]
            learned = self._wait(self._learner.learn.remote(self._drawn(due), due.updates, due.step))
            self._since[self._done] = (due, learned)
            self._done += 1

    def _drawn(self, due: Due) -> Any:
        """Reference of the batches; they go from the replay to the learner."""
        found: list[Any] = []

        def ask() -> None:
            ready, samples = self._replay.draw.options(num_returns=2).remote(*due)
            self._wait(ready)
            found.append(samples)

        again("replay", ask, self._new_replay)
        return found[-1]

    # --- a step ----------------------------------------------------------------------------------------------------

    def collect(self, past: Path | None, step: int, stop: Stop) -> Collected | None:
        """See `Crew`."""
        network = self._pool.order.network if self._pool.order else None
        self._pool.order = Order(step, network, self._past_network(past))
        self._step = step
        while self._pool.num_ready < self._config.games:
            if stop():
                return None
            self._pool.wait([], LOOK)
        return joined_chunks(self._pool.take(self._config.games))

    def _past_network(self, past: Path | None) -> Any | None:
        if past is None:
            return None
        if self._past is None or self._past[0] != past:
            self._past = (past, ray.put(published(past.name, read_checkpoint(past).network)))
        return self._past[1]

    def store(self, samples: Samples) -> Probe:
        """See `Crew`."""
        ref = ray.put(samples)
        self._ask_replay("add", ref)
        probed: Probe = self._ask_learner("probe", ref)
        return probed

    def learn(self, step: int) -> Learned:
        """See `Crew`."""
        updates, _ = self._ask_replay("updates_due")
        first = len(self._since)
        parts = [min(BATCHES, updates - done) for done in range(0, updates, BATCHES)]
        self._since += [(Due(step, part, size), None) for part, size in enumerate(parts or [0])]
        found = self._ask_learner("publish", f"step {step + 1}")
        self._updates += updates
        load_weights(self._network, found)
        self._publish(step + 1, found)
        return mean_of([learned for _, learned in self._since[first:] if learned is not None])

    def _publish(self, step: int, network: Any) -> None:
        """From now on is played with this network."""
        found = network if isinstance(network, Published) else published(f"begun {step}", network)
        verdict = self._judged(found, self._ask_replay("positions"))
        self._verdict, ref = verdict, ray.put(found._replace(backend=verdict.used))
        self._pool.order = Order(step, ref, self._past[1] if self._past else None)

    def _judged(self, found: Published, states: NDArray[np.uint64]) -> Verdict:
        """What evaluates a version; a GPU is asked where it is."""
        if self._guard is None:
            verdict: Verdict = self._wait(self._inference.judge.remote(found, states))
            return verdict
        self._guard.publish(self._network, states)
        assert self._guard.verdict is not None
        return self._guard.verdict

    # --- measuring -------------------------------------------------------------------------------------------------

    def measure(self, match: Match, stop: Stop) -> None:
        """See `Crew`."""
        if self._measures is not None and self._measures[0] == match.step:
            return
        before = None if match.previous is None else ray.put(published("before", match.previous))
        networks = (ray.put(published(f"step {match.step}", match.network)), before)
        if self._evaluator is None:
            self._new_evaluator()
        self._deaths = 0
        self._measures = (match.step, self._evaluator.measure.remote(*networks), networks)

    def _new_evaluator(self) -> None:
        self._evaluator = self._renewed("_evaluator", Measuring, self._setting)

    def measured(self, wait: bool, stop: Stop) -> list[AgainstAnchor] | None:
        """See `Crew`."""
        while self._measures is not None:
            step, ref, networks = self._measures
            if not self._pool.wait([ref], LOOK if wait else 0.0):
                if stop() or not wait:
                    return None
                continue
            try:
                found: list[AgainstAnchor] = ray.get(ref)
            except RayError as problem:
                self._measure_again(step, networks, problem)
                continue
            self._measures = None
            return found
        return None

    def _measure_again(self, step: int, networks: tuple[Any, Any], problem: RayError) -> None:
        self._deaths += 1
        if (loss := loss_of(problem)) is None or never_begun(loss):
            raise raised(problem) from problem
        if self._deaths == TRIES:
            raise DistributedError(f"the evaluator died {TRIES} times in a row: {last_line(loss)}") from problem
        self._new_evaluator()
        self._measures = (step, self._evaluator.measure.remote(*networks), networks)

    # --- how it stands ---------------------------------------------------------------------------------------------

    @property
    def updates(self) -> int:
        """See `Crew`."""
        return int(self._updates)

    @property
    def window(self) -> Window:
        """See `Crew`."""
        return self._window

    def health(self) -> list[WorkerHealth]:
        """See `Crew`."""
        return self._pool.health(self._step)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `Crew`."""
        learner = self._ask_learner("state")
        assert self._counters is not None
        self._state = (published("base", self._network), learner)
        return learner, self._counters

    @property
    def verdict(self) -> Verdict | None:
        """See `Crew`."""
        return self._verdict

    def saved(self) -> None:
        """See `Crew`."""
        assert self._counters is not None
        self._base, self._since, self._done = self._state, [], 0
        self._saved_shards = list(self._counters["shards"])
        self._ask_replay("forget")

    def close(self) -> None:
        """See `Crew`."""
        if self._began:
            self._began = False
            for name in ("_learner", "_replay", "_evaluator", "_inference"):
                if (actor := getattr(self, name, None)) is not None:  # some are missing where `start` failed
                    kill(actor)
            if hasattr(self, "_pool"):
                self._pool.close()
            end()


def evaluators_of(inference: Any) -> Evaluators | None:
    """Evaluators that ask the process that evaluates for all; None if there is none."""
    if inference is None:
        return None

    def evaluator(found: Published) -> RemoteEvaluator:
        def ask(*asked: Any) -> Any:
            return ray.get(inference.answer.remote(*asked))

        return RemoteEvaluator(found, ask, lambda network: ray.get(inference.publish.remote(network)))

    return evaluator


def warm(start: Start) -> None:
    """Compiles every kernel once, before many processes want to."""
    config = replace(start.config, sims=2, fast_sims=1, full_share=0.5)
    evaluator = NetworkEvaluator(start.network)
    found = Player(config, start.game, 1).play(0, 0, 1, (evaluator, None), 0)
    assert found is not None
    if config.inference != "cuda":
        GuardedEvaluator(config.backend, start.network, start.game.rules).publish(start.network, found.samples.state)
    batch_of(found.samples, start.game.rules)


def mean_of(parts: Sequence[Learned]) -> Learned:
    """The means over all updates of a step from those of its parts."""
    made = [part for part in parts if part.updates] or list(parts[-1:])
    updates = [part.updates for part in made]
    shares = np.array(updates) / max(sum(updates), 1) if sum(updates) else np.ones(1)
    means = (shares[:, np.newaxis] * np.array([part[1:] for part in made])).sum(axis=0).tolist()
    return Learned(sum(updates), *means)
