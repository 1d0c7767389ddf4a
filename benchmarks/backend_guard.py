"""How near `int8` comes to float32 on the networks of a training: what `luna_ai.backend_guard` would decide of each.

Every checkpoint is compared on the positions that the newest shards of the run's replay hold, chosen as the guard
chooses them.

Example:
    python benchmarks/backend_guard.py runs/release
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from engine_fast.position import load_game
from luna_ai.backend_guard import AUTO, CHOICES, RECENT, GuardedEvaluator
from luna_ai.checkpoint import read_checkpoint
from luna_ai.config import load_rules
from luna_ai.samples import read_samples


def main() -> None:
    """Compares and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a training")
    parser.add_argument("--backend", choices=CHOICES, default=AUTO)
    options = parser.parse_args()
    states = np.zeros((0, 0), dtype=np.uint64)
    for shard in sorted((options.run / "replay").glob("shard-*.npz"), reverse=True):
        found = read_samples(shard).state
        states = np.concatenate([found, states]) if len(states) else found
        if len(states) >= RECENT:
            break
    checkpoints = sorted((options.run / "checkpoints").glob("step-*.pt"), key=lambda path: int(path.stem[5:]))
    for path in checkpoints:
        checkpoint = read_checkpoint(path)
        played = (checkpoint.training["config"][key] for key in ("components", "ruleset", "option"))
        guard = GuardedEvaluator(options.backend, checkpoint.network, load_game(*load_rules(*played)).rules)
        guard.publish(checkpoint.network, states)
        assert guard.verdict is not None
        print(f"{path.stem:>10}  {guard.verdict.used:>6}  {guard.verdict.agreement or 'nothing to compare'}")


if __name__ == "__main__":
    main()
