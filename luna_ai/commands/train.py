"""Trains a network by self-play: collect games, store samples, train, evaluate, save.

The folder --out keeps everything: the same command goes on where it was stopped, however hard. Options that differ
from the run's are refused by name, unless --override names them. Curves: tensorboard --logdir FOLDER.

Examples:
    luna train --config configs/train/quick.yaml --out runs/quick
    luna train --config configs/train/quick.yaml --out runs/long --steps 2000 --width 256
    luna train --config configs/train/cluster.yaml --out runs/cluster --address 10.0.0.1:6379
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from luna_ai.config import argument
from luna_ai.training_config import TrainingConfig


@dataclass(frozen=True)
class Config(TrainingConfig):
    """Options of `luna train`."""

    out: Path = argument(
        Path("runs/train"), "folder of the run; a stopped one goes on there", writes="folder", metavar="FOLDER"
    )
    override: tuple[str, ...] = argument((), "options that may differ from those of the run there", metavar="OPTION")
    address: str | None = argument(
        None, "cluster that ray start made, with this machine in it; null: this machine alone", metavar="HOST:PORT|auto"
    )


def run(config: Config) -> int:
    """Trains and says where the result is."""
    config.check()
    from luna_ai.distributed import crew_of
    from luna_ai.interrupt import Interrupts
    from luna_ai.progress import Progress
    from luna_ai.train import train

    crew = crew_of(config, config.address)
    override = [name.replace("-", "_") for name in config.override]
    with Interrupts() as interrupts, Progress("training", config.steps, "steps") as progress:
        done = train(
            config,
            config.out,
            override=override,
            stop=lambda: interrupts.seen,
            say=progress.say,
            advance=progress.advance,
            crew=crew,
        )
    print(f"{done.step} steps, {done.games:,} games in {done.seconds:,.0f} s; newest network of {config.out}:")
    print(f"  {done.folder.checkpoints / 'latest'}")
    print(f"  luna evaluate {done.folder.checkpoints / 'latest'}")
    print(f"  tensorboard --logdir {done.folder.tensorboard}")
    return 130 if interrupts.seen and not done.finished else 0
