"""Simulations per second of search with an evaluator: many games in lock-step, one core.

The evaluators cost next to nothing and know nothing. `hash` draws priors and values from a hash of the position, so
trees grow as deep and as uneven as with a network; with `uniform` they grow evenly. Writing features is the network's
business and not done here; the engine's steps and legal masks are.

The evaluator's time is taken at every batch. The engine's is measured as in `search_shares`: the
nodes that a search left behind are made again, in a row. The rest is the tree's. Of it, *expansion* is measured by
giving these nodes their edges again, from the evaluator's answers: listing the decisions and making priors of their
logits; what remains is selection, backing up, and Python between the batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.batch import legal_batch
from engine_fast.layout import STATE_WORDS
from engine_fast.position import load_game, new_ledger
from luna_ai.bench.costs import time_work
from luna_ai.bench.kernels import leaves
from luna_ai.bench.measuring import Sample, run_for, series
from luna_ai.bench.search_trees import Roots
from luna_ai.search.evaluators import Batch, Evaluator, HashEvaluator, UniformEvaluator
from luna_ai.search.network_search import RULES, NetworkOptions, NetworkSearch

EVALUATORS: dict[str, Callable[[], Evaluator]] = {"hash": HashEvaluator, "uniform": UniformEvaluator}
KINDS = tuple(product(RULES, EVALUATORS))
SIMULATIONS = 32
BATCHES = 4
"""Batches of roots, searched in turn."""


class Timed:
    """An evaluator that adds up the processor time of its calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Asks `evaluator`."""
        self.evaluator, self.seconds = evaluator, 0.0

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        began = time.thread_time()
        self.evaluator.evaluate(batch)
        self.seconds += time.thread_time() - began


class Batches:
    """Searches batches of games, one after another; `depths` collects the mean depths that the searches report."""

    def __init__(self, rule: str, evaluator: str, roots: Roots, games: int, seed: int = 1) -> None:
        """Measures once, so that everything is compiled."""
        options = NetworkOptions(rule=rule, sims=SIMULATIONS)
        self.evaluator = Timed(EVALUATORS[evaluator]())
        self.search = NetworkSearch(options, self.evaluator, games=games, seed=seed)
        self.batches = [np.ascontiguousarray(batch) for batch in roots.states.reshape(-1, games, STATE_WORDS)]
        self.rules, self.depths = load_game().rules, list[float]()
        self._next = 0
        engine_nanoseconds(self, seconds=0)
        expansion_nanoseconds(self)

    def work(self, size: int) -> int:
        """Searches `size` batches; a unit is a simulation."""
        return sum(self._search_batch() for _ in range(size))

    def _search_batch(self) -> int:
        self._next = (self._next + 1) % len(self.batches)
        result = self.search(self.batches[self._next], self.rules)
        self.depths.append(result.mean_depth)
        return int(result.simulations.sum())

    @property
    def bytes_per_node(self) -> float:
        """Memory reserved for a node with its edges, the trees' other arrays included."""
        return self.search.memory / (self.search.games * (SIMULATIONS + 1))


def nodes_made(forest: Any, games: int) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """Position and decision behind every node below the roots."""
    per_game = len(forest.visits) // games
    used = np.concatenate([game * per_game + np.arange(forest.nodes_used[game]) for game in range(games)])
    below = used[forest.parent[used] >= 0]
    return forest.state[forest.parent[below]], forest.action[forest.parent_edge[below]].astype(np.uint16)


def engine_nanoseconds(batches: Batches, seconds: float) -> float:
    """Processor time of the engine for a simulation: its nodes made again."""
    played = batches.work(1)
    parents, chosen = nodes_made(batches.search.forest, batches.search.games)
    state, ledger = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger()
    sample = time_work(seconds, len(chosen), lambda: leaves.make_nodes(parents, chosen, batches.rules, state, ledger))
    return sample.nanoseconds * len(chosen) / played


def expansion_nanoseconds(batches: Batches) -> float:
    """Processor time of giving a node its edges, for a simulation: done again in batches, into emptied trees."""
    played, search = batches.work(1), batches.search
    forest, places, seconds = search.forest, search.leaves, 0.0
    nodes = np.flatnonzero((forest.first_edge >= 0) & (forest.parent >= 0) & (forest.visits > 0))
    forest.edges_used[:] = 0
    for first in range(0, len(nodes), search.games):
        some = nodes[first : first + search.games]
        batch = places.batch(len(some), batches.rules)
        batch.states[:] = forest.state[some]
        legal_batch(batch.states, batches.rules, batch.masks)
        search.evaluator.evaluate(batch)
        began = time.thread_time()
        leaves.expand_again(forest, some, places, search.numbers, search.scratch)
        seconds += time.thread_time() - began
    return 1e9 * seconds / played


def measure_network(
    players: tuple[int, ...], games: int, seconds: float, runs: int, tick: Callable[[], None]
) -> dict[str, Any]:
    """By rule and evaluator, then by number of players: simulations a second, their depth, shares of time."""
    found: dict[str, dict[str, Any]] = {f"{rule}_{evaluator}": {} for rule, evaluator in KINDS}
    for seats in players:
        roots = Roots(seats, BATCHES * games)
        works = {f"{rule}_{evaluator}": Batches(rule, evaluator, roots, games) for rule, evaluator in KINDS}
        measured: dict[str, list[Run]] = {name: [] for name in works}
        for _ in range(runs):
            for name, batches in works.items():
                measured[name].append(measure_run(batches, seconds))
                tick()
        for name, rows in measured.items():
            found[name][str(seats)] = network_figures(rows) | {"bytes_per_node": works[name].bytes_per_node}
    return {"network": {"games": games, "simulations": SIMULATIONS, "kinds": found}}


@dataclass(frozen=True)
class Run:
    """One run of a kind: simulations, their mean depth, and shares of the time."""

    sample: Sample
    depth: float
    evaluator: float
    engine: float
    expansion: float


def measure_run(batches: Batches, seconds: float) -> Run:
    """Searches for so many processor seconds, then measures the parts."""
    batches.depths, before = [], batches.evaluator.seconds
    sample = run_for(seconds, batches.work)
    depth, evaluator = fmean(batches.depths), (batches.evaluator.seconds - before) / sample.seconds
    engine = engine_nanoseconds(batches, seconds / 10) / sample.nanoseconds
    expansion = median(expansion_nanoseconds(batches) for _ in batches.batches) / sample.nanoseconds
    return Run(sample, depth, evaluator, engine, expansion)


def network_figures(runs: list[Run]) -> dict[str, Any]:
    """The figures of the runs of one kind."""
    return {
        "simulations_per_second": series([run.sample.rate for run in runs]),
        "mean_depth": series([run.depth for run in runs]),
        "whole_ns": series([run.sample.nanoseconds for run in runs]),
        "share": {
            "engine": series([run.engine for run in runs]),
            "evaluator": series([run.evaluator for run in runs]),
            "tree": series([1.0 - run.engine - run.evaluator for run in runs]),
        },
        "expansion_share": series([run.expansion for run in runs]),
    }
