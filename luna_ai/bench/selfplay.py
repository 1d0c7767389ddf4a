"""`luna bench selfplay`: games and positions a second, where the time goes, and how near it is to the bare network.

The *bare backend* evaluates batches that self-play put before it, again and again: the same positions, the same sizes.
The time inside self-play is taken apart by the wall clock: the evaluator's and the trees' as self-play itself reports
them; of the first, features are measured by writing them again, of the second, the engine's steps by making the nodes
of the last searches again. What is left is the bookkeeping of games and samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import STATE_WORDS
from engine_fast.position import load_game, new_ledger
from luna_ai.backend_guard import resolved
from luna_ai.bench.costs import time_work
from luna_ai.bench.kernels import leaves
from luna_ai.bench.measuring import Sample, Section, measure_sections, run_for, series
from luna_ai.bench.search_network import nodes_made
from luna_ai.checkpoint import read_checkpoint
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.features import NUM_FEATURES, write_features
from luna_ai.game_plans import plan_games
from luna_ai.learner import Learner
from luna_ai.network import Network, NetworkConfig, make_network
from luna_ai.samples import Samples, taken
from luna_ai.search.evaluators import Batch, Evaluator, new_batch
from luna_ai.selfplay import Collected, SelfPlay
from luna_ai.training_config import NetworkShape, TrainingConfig

PARTS = ("network", "features", "engine", "tree", "bookkeeping")
"""Parts of the time of self-play, in the order of tables."""
if TYPE_CHECKING:
    from luna_ai.distributed.measure import Throughput

RECORDED = 48
"""Batches, at least, that are kept to be evaluated again if there are so many."""
UPDATES = 8
"""Updates of the learner in one run, at least."""


@dataclass(frozen=True)
class SelfPlayBench:
    """What is measured and for how long.

    Attributes:
        training: games, searches, sizes of a new network, backend, learner.
        checkpoint: network that plays; None for a new one.
        seconds: of one run, at least; self-play ends its games.
        runs: of each figure; median and range are reported.
        jobs: most workers on Ray, where it is installed; 0: none.
    """

    training: TrainingConfig = field(default_factory=TrainingConfig)
    checkpoint: str | None = None
    seconds: float = 5.0
    runs: int = 3
    jobs: int = 0

    @property
    def steps(self) -> int:
        """How often `tick` is called in all."""
        return self.runs * (2 + (1 + self.jobs if ray_is_missing() is None else 0))

    @cached_property
    def network(self) -> Network:
        """The network that plays."""
        if self.checkpoint is not None:
            return read_checkpoint(Path(self.checkpoint)).network
        shape = {key: getattr(self.training, key) for key in NetworkShape.__dataclass_fields__}
        return make_network(NetworkConfig.from_plain(shape), seed=1)


class Recording:
    """An evaluator that counts its calls and keeps some of the batches, evenly over all calls.

    Early positions are quicker to evaluate than late ones, and batches shrink as games end.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        """Asks `evaluator`; keeps every batch, then of `2 * RECORDED` every second and so on."""
        self.evaluator, self._every = evaluator, 1
        self.calls, self.positions = 0, 0
        self.batches = list[Batch]()

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        self.evaluator.evaluate(batch)
        if self.calls % self._every == 0:
            self.batches.append(new_batch(batch.states.copy(), batch.rules))
        if len(self.batches) == 2 * RECORDED:
            self.batches, self._every = self.batches[::2], 2 * self._every
        self.calls, self.positions = self.calls + 1, self.positions + len(batch.states)


def measure_selfplay(bench: SelfPlayBench, tick: Callable[[], None], figures: dict[str, Any]) -> None:
    """Measures everything, section by section, into `figures`; a caller who is interrupted keeps what is finished.

    Args:
        bench: what and how long.
        tick: called `bench.steps` times.
        figures: filled; the keys are those of the JSON file.
    """
    measured, shape = Measured(bench), bench.network.config
    figures["network"] = f"{shape.kind} {shape.width} x {shape.blocks}, backend {measured.evaluator.backend}"
    found: list[Section] = [partial(measure_local, measured), partial(measure_learner, measured)]
    found.append(partial(measure_workers, bench))
    measure_sections(bench, found, tick, figures)


def ray_is_missing() -> str | None:
    """Why workers are not measured; None if they are."""
    return None if find_spec("ray") else "Workers are measured where Ray is installed: pip install 'luna-ai[train]'"


def measure_workers(bench: SelfPlayBench, tick: Callable[[], None]) -> dict[str, Any]:
    """Games and evaluations a second by the wall clock: in this process and with 1, 2, ... workers on Ray, in turn."""
    missing = ray_is_missing()
    if missing is not None:
        return {"workers": missing}
    from luna_ai.distributed.measure import play_for

    rows: dict[int, list[Throughput]] = {workers: [] for workers in range(bench.jobs + 1)}
    for _ in range(bench.runs):
        for workers, found in rows.items():
            config = replace(bench.training, workers=workers)
            found.append(play_for(config, bench.seconds, network=bench.network))
            tick()
    return {"workers": {str(workers): worker_figures(found, rows) for workers, found in rows.items()}}


def worker_figures(found: list[Throughput], rows: dict[int, list[Throughput]]) -> dict[str, Any]:
    """Rates of one number of workers, beside no Ray and beside one worker in the same run."""
    rates = [each.games_per_second for each in found]

    def beside(workers: int) -> dict[str, Any]:
        others = [each.games_per_second for each in rows[workers]]
        return series([rate / other for rate, other in zip(rates, others, strict=True)])

    figures = {
        "games_per_second": series(rates),
        "evaluations_per_second": series([each.evaluations_per_second for each in found]),
        "to_local": beside(0),
    }
    return figures | ({"to_one": beside(1)} if found[0].workers else {})


class Measured:
    """What the sections share: the game, the evaluator, what was collected."""

    def __init__(self, bench: SelfPlayBench) -> None:
        """Plays a few games, so that everything is compiled."""
        self.bench, self.game = bench, load_game(*bench.training.rules())
        self.evaluator = NetworkEvaluator(bench.network, resolved(bench.training.backend, bench.network))
        self.play = SelfPlay(bench.training, self.game, min(bench.training.slots, bench.training.games))
        self.next, self.samples = 0, list[Samples]()
        recording = Recording(self.evaluator)
        self.collect(recording, 4)
        features_seconds(recording.batches, 0.0)
        engine_seconds(self.play, self.game.rules, 0.0)

    def collect(self, evaluator: Evaluator, games: int) -> Collected:
        """Plays the next games."""
        options = self.bench.training
        plan = plan_games(options, self.game, options.seed, 0, self.next, games, past=False)
        found = self.play.play(plan, evaluator)
        assert found is not None
        self.next += games
        self.samples.append(found.samples)
        return found


def measure_local(measured: Measured, tick: Callable[[], None]) -> dict[str, Any]:
    """Self-play in this process beside the bare backend, in turn."""
    rows = []
    for _ in range(measured.bench.runs):
        rows.append(one_run(measured))
        tick()
    return {"self_play": {name: series([row[name] for row in rows]) for name in rows[0]}}


def one_run(measured: Measured) -> dict[str, float]:
    """Self-play, then its batches again by the bare backend; rates for each processor second."""
    bench, recording = measured.bench, Recording(measured.evaluator)
    collected = list[Collected]()

    def play(size: int) -> int:
        collected.append(measured.collect(recording, bench.training.games))
        return collected[-1].asked

    played = run_for(bench.seconds, play)
    bare = bare_speed(recording, bench.seconds / 2)
    rules, wall = measured.game.rules, sum(each.seconds["all"] for each in collected)
    writing = features_seconds(recording.batches, bench.seconds / 10) * played.units / wall
    making = engine_seconds(measured.play, rules, bench.seconds / 10) * played.units / wall
    evaluator, tree = (sum(each.seconds[part] for each in collected) / wall for part in ("evaluator", "tree"))
    games, decisions = sum(each.num_games for each in collected), sum(each.decisions for each in collected)
    return {
        "games_per_second": games / played.seconds,
        "decisions_per_second": decisions / played.seconds,
        "evaluations_per_second": played.rate,
        "bare_evaluations_per_second": bare.rate,
        "ratio": played.rate / bare.rate,
        "mean_batch": recording.positions / recording.calls,
        "share_network": evaluator - writing,
        "share_features": writing,
        "share_engine": making,
        "share_tree": tree - making,
        "share_bookkeeping": 1.0 - evaluator - tree,
    }


def bare_speed(recording: Recording, seconds: float) -> Sample:
    """Positions a second of the evaluator alone, on the recorded batches."""
    batches = recording.batches

    def work(size: int) -> int:
        for index in range(size):
            recording.evaluator.evaluate(batches[index % len(batches)])
        return sum(len(batches[index % len(batches)].states) for index in range(size))

    work(len(batches))
    return run_for(seconds, work)


def features_seconds(batches: list[Batch], seconds: float) -> float:
    """Processor time of a position's features."""
    out = np.zeros((max(len(batch.states) for batch in batches), NUM_FEATURES), dtype=np.float32)

    def work(size: int) -> int:
        for _ in range(size):
            for batch in batches:
                write_features(batch.states, batch.rules, out[: len(batch.states)])
        return size * sum(len(batch.states) for batch in batches)

    return run_for(seconds, work).nanoseconds * 1e-9


def engine_seconds(play: SelfPlay, rules: NDArray[np.uint64], seconds: float) -> float:
    """Processor time of making a node: the decision played, the legal mask listed."""
    parents, chosen = nodes_made(play.search.forest, play.slots)
    if not len(chosen):
        return 0.0
    state, ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
    sample = time_work(seconds, len(chosen), lambda: leaves.make_nodes(parents, chosen, rules, state, ledger))
    return sample.nanoseconds * 1e-9


def measure_learner(measured: Measured, tick: Callable[[], None]) -> dict[str, Any]:
    """Samples that the learner trains on in a second, and what part of a step that is beside self-play."""
    bench, rng = measured.bench, np.random.default_rng(1)
    options, samples = bench.training, measured.samples[-1]
    learner = Learner(deepcopy(bench.network), options, measured.game.rules, options.steps)

    def draw(count: int) -> Samples:
        return taken(samples, rng.integers(len(samples.state), size=count))

    rates = []
    for _ in range(bench.runs):
        began, updates = time.perf_counter(), 0
        while updates == 0 or time.perf_counter() - began < bench.seconds / 2:
            learner.learn(draw, UPDATES, 0)
            updates += UPDATES
        rates.append(updates * options.batch / (time.perf_counter() - began))
        tick()
    weight = float(samples.weight.sum(dtype=np.float64)) / bench.training.games
    return {"learner": {"samples_per_second": series(rates), "trained_on_per_game": options.reuse * weight}}
