"""The folder of a training, and what may be trusted in it after the process was killed.

    config.yaml                  the resolved config, with every key
    checkpoints/step-N.pt        after N steps; `latest` is a link to the newest
    replay/shard-N.npz           samples (`luna_ai.replay`)
    games/part-N.parquet         games of the steps up to N, one row a game and seat
    tensorboard/                 learning curves (`luna_ai.metrics`)
    log.txt                      one line a step

`latest` is moved last, so a run goes on from the step it names: whatever belongs to later steps is removed when the
folder is opened, and made again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from luna_ai.checkpoint import Checkpoint, flush_folder, read_checkpoint, write_checkpoint
from luna_ai.config import UserError
from luna_ai.network import Network
from luna_ai.run_folder import InvalidRun, RunChanged, write_text, write_whole

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

CONFIG, LATEST = "config.yaml", "latest"
FIXED = ("kind", "width", "blocks", "hidden", "heads", "ruleset", "option", "components")
"""Keys that a run keeps for ever: its weights or its samples would mean something else."""


class TrainingFolder:
    """Reads and writes the files of one run, each whole or not at all."""

    def __init__(self, path: Path, config: Mapping[str, Any], override: Sequence[str] = ()) -> None:
        """Makes the folder, or checks that it holds a run of this config.

        Args:
            path: the folder.
            config: plain data, all keys.
            override: keys that may differ from the run's.

        Raises:
            RunChanged: a key differs that is not named in `override`, or cannot be.
            InvalidRun: the folder cannot be used.
            UserError: `override` names no key.
        """
        self.path = path
        self.checkpoints, self.games, self.replay = path / "checkpoints", path / "games", path / "replay"
        self.tensorboard = path / "tensorboard"
        for key in override:
            if key not in config:
                raise UserError(f"override: {key!r} is no key; allowed: {', '.join(config)}")
        try:
            self._claim(config, override)
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
            raise InvalidRun(f"cannot use the folder {path}: {problem}") from problem

    def _claim(self, config: Mapping[str, Any], override: Sequence[str]) -> None:
        for folder in (self.checkpoints, self.games, self.replay, self.tensorboard):
            folder.mkdir(parents=True, exist_ok=True)
        file = self.path / CONFIG
        if file.exists():
            found = yaml.safe_load(file.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise InvalidRun(f"{file} is no config of a training")
            self._check_same(found, config, override)
            if found == dict(config):
                return
        elif os.path.lexists(self.checkpoints / LATEST):
            raise InvalidRun(f"{self.path} holds checkpoints but no {CONFIG}; choose another folder")
        write_text(file, yaml.safe_dump(dict(config), sort_keys=False))

    def _check_same(self, found: Mapping[str, Any], config: Mapping[str, Any], override: Sequence[str]) -> None:
        for key in [*config, *(key for key in found if key not in config)]:
            if found.get(key) == config.get(key):
                continue
            said = f"{self.path} holds a run with {key} = {found.get(key)}, not {config.get(key)}"
            if key in FIXED:
                raise RunChanged(f"{said}; {key} cannot change, use another folder")
            if key not in override:
                raise RunChanged(f"{said}; use the same value, --override {key} or another folder")

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def read_latest(self) -> Checkpoint | None:
        """The newest checkpoint, None before the first.

        Raises:
            CheckpointError: it cannot be read.
        """
        latest = self.checkpoints / LATEST
        return read_checkpoint(latest) if os.path.lexists(latest) else None

    def save(self, step: int, network: Network, training: Mapping[str, Any], keep: int, every: int) -> None:
        """Writes the checkpoint of a step and makes it the newest; old ones beyond `keep` go.

        Raises:
            OSError: it cannot be written; the newest is the one before.
        """
        write_checkpoint(self.checkpoints / name_of(step), network, training)
        link = self.checkpoints / f".{LATEST}.{os.getpid()}.tmp"
        link.unlink(missing_ok=True)
        link.symlink_to(name_of(step))
        os.replace(link, self.checkpoints / LATEST)
        flush_folder(self.checkpoints)
        self.prune(step, keep, every)

    def prune(self, step: int, keep: int, every: int) -> None:
        """Removes checkpoints: later ones, those between (`every` steps are regular), and too many.

        What is left depends on the arguments alone, so that a run that was killed has the same past as another.
        """
        kept = {name_of(each) for each in kept_steps(step, keep, every)} | {name_of(step)}
        for path in (*self.checkpoints.glob("step-*.pt"), *self.checkpoints.glob(".*.tmp")):
            if path.name not in kept:
                path.unlink()

    def past(self, step: int, keep: int, every: int) -> list[Path]:
        """Checkpoints that a network after `step` steps can play against, oldest first."""
        found = [self.checkpoints / name_of(each) for each in kept_steps(step, keep, every)]
        return [path for path in found if path.exists()]  # none is missing unless `keep` or `every` were overridden

    # --- games and log ---------------------------------------------------------------------------------------------

    def write_games(self, step: int, rows: pl.DataFrame) -> None:
        """Writes the games since the last part.

        Raises:
            OSError: they cannot be written.
        """
        write_whole(self.games / f"part-{step:09d}.parquet", rows.write_parquet)

    def drop_games_after(self, step: int) -> None:
        """Removes parts that are later than a step."""
        for path in (*self.games.glob("part-*.parquet"), *self.games.glob(".*.tmp")):
            number = re.fullmatch(r"part-(\d+)\.parquet", path.name)
            if number is None or int(number[1]) > step:
                path.unlink()

    def log(self, line: str) -> None:
        """Adds a line to `log.txt`.

        Raises:
            OSError: it cannot be written.
        """
        with (self.path / "log.txt").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps other processes from training in a folder; the system lets go however this process ends.

    Raises:
        InvalidRun: another process trains there, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as problem:
        raise InvalidRun(f"cannot use the folder {folder}: {problem}") from problem
    with lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                raise InvalidRun(f"another process trains in {folder}; wait for it or use another folder") from problem
        yield


def name_of(step: int) -> str:
    """File of a checkpoint."""
    return f"step-{step}.pt"


def kept_steps(step: int, keep: int, every: int) -> list[int]:
    """Steps whose checkpoints a run keeps after `step` steps: at most `keep` regular ones, about evenly spaced.

    Regular are multiples of `every`. Where there are too many, every second one goes, counted from the first; so they
    are the multiples of `every` x 2^n for the smallest n that leaves at most `keep`, and one that has gone is never
    missed later.
    """
    while step // every > keep:
        every *= 2
    return list(range(every, step + 1, every))


def read_games(folder: Path) -> pl.DataFrame:
    """All games of a run, each once: rows of `games/part-*.parquet` under a run's folder.

    Raises:
        InvalidRun: there are none.
    """
    parts = sorted((folder / "games").glob("part-*.parquet"))
    if not parts:
        raise InvalidRun(f"{folder} holds no games; allowed: the folder of a training")
    rows = pl.concat([pl.read_parquet(part) for part in parts], how="diagonal")  # older parts have no `version`
    return rows.unique(subset=["run", "actor", "index", "seat"], keep="first", maintain_order=True)
