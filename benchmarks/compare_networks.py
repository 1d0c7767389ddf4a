"""Which network learns most from the same games, and what does its evaluation cost?

Every candidate is trained on the same samples of a training's replay window in the same order; the newest shards are
kept aside, and losses are those on them. Beside it stands the time of an evaluation by the fastest backend, so that
candidates of equal cost can be compared.

    python benchmarks/compare_networks.py runs/release --samples 400000
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from engine_fast.position import load_game
from luna_ai.checkpoint import write_checkpoint
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.learner import Learner, batch_of
from luna_ai.losses import LossWeights, losses
from luna_ai.network import Network, NetworkConfig, make_network, num_parameters
from luna_ai.samples import Samples, joined, read_samples, taken
from luna_ai.search.evaluators import new_batch
from luna_ai.training_config import LearnerOptions

CANDIDATES = {
    "residual 128 x 3": NetworkConfig(width=128, blocks=3),
    "residual 256 x 4": NetworkConfig(width=256, blocks=4),
    "residual 512 x 4": NetworkConfig(width=512, blocks=4),
    "attention 32 x 1": NetworkConfig(kind="attention", width=32, blocks=1),
    "attention 64 x 2": NetworkConfig(kind="attention", width=64, blocks=2),
}
KEPT_ASIDE = 0.1
CHUNK = 1024
SHOWN = 100
"""Updates between two looks at the learning rate's schedule, as steps of a training."""


def read_window(folder: Path) -> tuple[Samples, Samples]:
    """Samples to learn from, and those of the newest shards, which no game shares with the others."""
    shards = [read_samples(path) for path in sorted((folder / "replay").glob("shard-*.npz"))]
    last = max(1, round(KEPT_ASIDE * len(shards)))
    return joined(shards[:-last]), joined(shards[-last:])


def whole_steps(count: int, options: LearnerOptions) -> int:
    """Steps of `SHOWN` updates that need at most `count` samples; at least one."""
    return max(1, count // (options.batch * SHOWN))


def train_one(network: Network, samples: Samples, count: int, options: LearnerOptions) -> float:
    """Trains on up to `count` samples drawn by weight, in whole steps; returns samples a second."""
    rng, summed = np.random.default_rng(1), np.cumsum(samples.weight, dtype=np.float64)
    starts = np.cumsum(samples.policy_size, dtype=np.int64) - samples.policy_size
    steps = whole_steps(count, options)
    learner = Learner(network, options, load_game().rules, steps)

    def draw(size: int) -> Samples:
        rows = np.searchsorted(summed, rng.random(size) * summed[-1], side="right")
        return taken(samples, np.minimum(rows, len(summed) - 1), starts)

    began = time.process_time()
    for step in range(steps):
        learner.learn(draw, SHOWN, step)
    return steps * SHOWN * options.batch / (time.process_time() - began)


def measured_losses(network: Network, samples: Samples) -> tuple[float, float]:
    """Losses of policy and winner on samples kept aside; the winner alone is the target here."""
    rng = np.random.default_rng(2)
    some = taken(samples, rng.choice(len(samples.state), size=min(20_000, len(samples.state)), replace=False))
    found, weights = [], []
    for first in range(0, len(some.state), CHUNK):
        batch = batch_of(taken(some, np.arange(first, min(first + CHUNK, len(some.state)))), load_game().rules)
        with torch.inference_mode():
            said = losses(network(batch.features), batch.targets, LossWeights())
        found.append((float(said.policy), float(said.win)))
        weights.append((float(batch.targets.policy_weight.sum()), len(batch.features)))
    policy, win = (np.average(np.array(found), axis=0, weights=np.array(weights))).tolist()
    return policy, win


def microseconds(network: Network, samples: Samples, rows: int = 32) -> float:
    """Processor time of evaluating a position in batches of `rows`, by the fastest backend."""
    batch = new_batch(samples.state[:rows].copy(), load_game().rules)
    evaluator = NetworkEvaluator(network)
    evaluator.evaluate(batch)
    times = []
    for _ in range(5):
        began, done = time.process_time(), 0
        while time.process_time() - began < 0.2:
            evaluator.evaluate(batch)
            done += rows
        times.append(1e6 * (time.process_time() - began) / done)
    return float(np.median(times))


def main() -> None:
    """Prints a row of a Markdown table a candidate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a training")
    parser.add_argument("--samples", type=int, default=400_000, help="that each candidate is trained on, at most")
    parser.add_argument("--only", nargs="+", default=list(CANDIDATES), choices=list(CANDIDATES), help="candidates")
    parser.add_argument("--out", type=Path, help="folder for the trained candidates")
    given = parser.parse_args()
    torch.set_num_threads(1)
    learned, aside = read_window(given.run)
    options = replace(LearnerOptions(), warmup=1)
    drawn = whole_steps(given.samples, options) * SHOWN * options.batch
    print(f"{len(learned.state):,} samples, {len(aside.state):,} kept aside, {drawn:,} trained on")
    print("| network | weights | µs an evaluation | samples/s in training | policy loss | win loss |")
    print("|---|---|---|---|---|---|")
    for name in given.only:
        network = make_network(CANDIDATES[name], seed=1)
        speed = train_one(network, learned, given.samples, options)
        policy, win = measured_losses(network.eval(), aside)
        cost = microseconds(network, aside)
        row = (name, f"{num_parameters(network):,}", f"{cost:.1f}", f"{speed:,.0f}", f"{policy:.3f}", f"{win:.3f}")
        print(f"| {' | '.join(row)} |", flush=True)
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            write_checkpoint(given.out / f"{name.replace(' ', '')}.pt", network)


if __name__ == "__main__":
    main()
