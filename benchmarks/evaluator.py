"""The network's evaluation measured: µs of processor time a position, by backend, network and batch size; one thread.

Positions come from random games of 2, 3 and 4 players; features are written, values turned to seats: all that a search
pays. The backends take turns, and the median of the rounds is shown. Where there is a graphics card, `cuda` too: its
time is wall time, since the processor waits.

Example:
    python benchmarks/evaluator.py --seconds 1 --json evaluator.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine_fast import Position
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.features import NUM_FEATURES, write_features
from luna_ai.network import NetworkConfig, make_network, num_parameters
from luna_ai.search.evaluators import Batch, new_batch

BATCHES = (1, 8, 32, 64, 512)
ROUNDS = 5
POSITIONS = 512
NETWORKS = {
    "residual": NetworkConfig(),
    "residual small": NetworkConfig(width=128, blocks=3),
    "attention": NetworkConfig("attention", width=64, blocks=2),
}


def random_positions(seed: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """States and the rules table."""
    rng, found = random.Random(seed), list[NDArray[np.uint64]]()
    for players in (2, 3, 4):
        position = Position.new(players, seed=seed)
        while not position.over:
            found.append(position.state)
            position = position.play(rng.choice(position.legal_ids()))
    return np.array(rng.sample(found, POSITIONS)), position.game.rules


class Work:
    """A backend at a batch size."""

    def __init__(self, evaluator: NetworkEvaluator, batch: int, states: NDArray[np.uint64], rules: Any) -> None:
        """Evaluates once, so that everything is compiled."""
        self.evaluator, self.all = evaluator, new_batch(states, rules)
        self.batches = [self._part(slice(at, at + batch)) for at in range(0, len(states), batch)]
        self.pass_over()

    def pass_over(self) -> int:
        """Evaluates every position once; their number."""
        for batch in self.batches:
            self.evaluator.evaluate(batch)
        return len(self.all.states)

    def _part(self, rows: slice) -> Batch:
        return Batch(*(array if name == "rules" else array[rows] for name, array in self.all._asdict().items()))

    def microseconds(self, seconds: float) -> float:
        """Processor time a position; wall time where a graphics card does the work."""
        clock = time.perf_counter if self.evaluator.backend == "cuda" else time.process_time
        began, count = clock(), 0
        while (spent := clock() - began) < seconds:
            count += self.pass_over()
        return spent / count * 1e6


def feature_nanoseconds(states: NDArray[np.uint64], rules: Any, seconds: float) -> float:
    """Processor time to write the features of a position."""
    out, count = np.zeros((len(states), NUM_FEATURES), dtype=np.float32), 0
    write_features(states, rules, out)
    began = time.process_time()
    while (spent := time.process_time() - began) < seconds:
        write_features(states, rules, out)
        count += len(states)
    return spent / count * 1e9


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time for each figure (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    states, rules = random_positions(options.seed)
    rows = []
    for name, config in NETWORKS.items():
        network = make_network(config, seed=options.seed)
        backends: tuple[str, ...] = ("numba", "int8", "torch") if config.kind == "residual" else ("torch",)
        backends += ("cuda",) if torch.cuda.is_available() else ()
        evaluators = {backend: NetworkEvaluator(network, backend) for backend in backends}
        for batch in BATCHES:
            works = {backend: Work(evaluator, batch, states, rules) for backend, evaluator in evaluators.items()}
            rounds = [
                {backend: work.microseconds(options.seconds / ROUNDS) for backend, work in works.items()}
                for _ in range(ROUNDS)
            ]
            shown = {backend: round(median(each[backend] for each in rounds), 2) for backend in backends}
            rows.append({"network": name, "parameters": num_parameters(network), "batch": batch, "microseconds": shown})
            print(
                f"{name:16} {num_parameters(network):9,} weights  batch {batch:3}  "
                + "  ".join(f"{backend} {value:7.2f} µs" for backend, value in shown.items())
            )
    nanoseconds = feature_nanoseconds(states, rules, options.seconds)
    load = os.getloadavg()[0]
    print(f"features alone {nanoseconds:.0f} ns a position; load average {load:.2f}")
    if options.json:
        content = {"evaluation": rows, "feature_nanoseconds": nanoseconds, "load_average": load}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
