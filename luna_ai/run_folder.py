"""A folder that a long run owns: its settings are written down, its files appear whole or not at all.

Every long verb works in such a folder. The settings file says what the run's results depend on; the same command in
the same folder goes on, another one is refused by the first setting that differs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

GAMES_FOLDER = "games"


class InvalidRun(ValueError):
    """A run folder that cannot be used."""


class RunChanged(InvalidRun):
    """The folder holds a run with other settings."""


def claim_folder(folder: Path, settings_file: str, settings: Mapping[str, Any]) -> None:
    """Makes a run's folder with its `games` inside, or checks that it holds the same run.

    Leftovers of writes that were broken off are removed.

    Raises:
        RunChanged: it holds another run; names the first setting that differs, with both values.
        InvalidRun: it cannot be written, or holds games of an unknown run.
    """
    path = folder / settings_file
    try:
        (folder / GAMES_FOLDER).mkdir(parents=True, exist_ok=True)
        for stale in (*folder.glob(".*.tmp"), *(folder / GAMES_FOLDER).glob(".*.tmp")):
            stale.unlink()
        if path.exists():
            check_same(folder, json.loads(path.read_text(encoding="utf-8")), settings)
        elif any((folder / GAMES_FOLDER).iterdir()):
            raise InvalidRun(f"{folder} holds games but no {settings_file}; choose another folder")
        else:
            write_text(path, json.dumps(dict(settings), indent=1) + "\n")
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidRun(f"cannot use the folder {folder}: {error}") from error


def read_table(path: Path) -> pl.DataFrame:
    """A table of games of a run.

    Raises:
        InvalidRun: it cannot be read; says what to do.
    """
    try:
        table = pl.read_parquet(path)
    except pl.exceptions.PolarsError:
        table = pl.DataFrame()
    if "game" not in table.columns:
        raise InvalidRun(f"{path} is no table of games, or a damaged one; delete it to play its games again")
    return table


def check_same(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuses settings that differ from those of the folder.

    Raises:
        RunChanged: names the first setting that differs, with both values.
    """
    plain = json.loads(json.dumps(dict(wanted)))
    for key in [*plain, *(key for key in found if key not in plain)]:
        if found.get(key) != plain.get(key):
            raise RunChanged(
                f"{folder} holds a run with {key} = {json.dumps(found.get(key))}, "
                f"not {json.dumps(plain.get(key))}; use the same settings or another folder"
            )


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a temporary file beside `path`, makes it durable and renames it to `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
