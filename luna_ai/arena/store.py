"""Games of an arena on disk: parts that appear whole or not at all, found again by an arena that goes on.

    OUT/arena.json                        settings and versions that the games depend on
    OUT/games/EVENT-FIRSTBLOCK.parquet    some consecutive blocks, one row a game and seat

Reading takes the longest run of parts without a gap from block 0 on, so nothing is lost or counted twice whenever an
arena is stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from luna_ai.arena.schedule import Event
from luna_ai.arena.settings import Arena
from luna_ai.run_folder import GAMES_FOLDER, claim_folder, read_table, write_whole
from luna_ai.seats.store import RunnerError, check_rows, finished_games

FORMAT = "luna-arena/1"
SETTINGS_FILE = "arena.json"


def accept_games(schedule: pl.DataFrame, games: pl.DataFrame) -> pl.DataFrame:
    """The longest prefix of whole blocks of a schedule that a runner has played, checked and sorted.

    Args:
        schedule: the rows that were to be played, sorted by game.
        games: one row a game and seat, in any order; may lack the end of the schedule.

    Raises:
        RunnerError: the table does not belong to the schedule.
    """
    if not len(games):
        return pl.DataFrame()
    if games.select("game", "seat").is_duplicated().any():
        raise RunnerError("the game table holds a seat of a game twice")
    plan = schedule.head(finished_games(schedule, games))
    kept = games.join(plan.select("game"), on="game", how="semi").sort("game", "seat")
    if len(plan):
        check_rows(plan, kept)
        if kept["player"].to_list() != plan["agents"].explode().to_list():
            raise RunnerError("the game table disagrees with its schedule about who sat where")
    return kept


class ArenaStore:
    """Finished blocks of each event, in memory and, with a folder, on disk."""

    def __init__(self, arena: Arena, versions: Mapping[str, str], out: Path | None) -> None:
        """Opens the arena's folder, if it has one, and reads nothing yet.

        Raises:
            RunChanged: the folder holds an arena with other settings or versions.
            InvalidRun: the folder cannot be used.
        """
        self.versions, self._out = dict(versions), out
        self._tables: dict[str, list[pl.DataFrame]] = {}
        if out is not None:
            known = {f"version of {name}": version for name, version in sorted(versions.items())}
            claim_folder(out, SETTINGS_FILE, {"format": FORMAT} | arena.identity() | known)

    def games(self, event: Event) -> pl.DataFrame:
        """All finished blocks, one row a game and seat, sorted by game; without columns if there are none."""
        tables = self._parts(event)
        if len(tables) > 1:
            tables[:] = [pl.concat(tables)]
        return tables[0] if tables else pl.DataFrame()

    def num_blocks(self, event: Event) -> int:
        """Number of finished blocks."""
        tables = self._parts(event)
        return int(tables[-1]["block"][-1]) + 1 if tables else 0

    def append(self, event: Event, games: pl.DataFrame) -> None:
        """Adds the blocks that follow; an empty table adds nothing."""
        if not len(games):
            return
        first = int(games["block"][0])
        if first != self.num_blocks(event):
            raise RunnerError(f"block {first} does not follow block {self.num_blocks(event) - 1}")
        if self._out is not None:
            path = self._out / GAMES_FOLDER / f"{event.slug}-{first:08d}.parquet"
            note = {"luna": json.dumps({"format": FORMAT, "versions": self.versions})}
            write_whole(path, lambda temporary: games.write_parquet(temporary, metadata=note))
        self._parts(event).append(games)

    def _parts(self, event: Event) -> list[pl.DataFrame]:
        if event.slug not in self._tables:
            self._tables[event.slug] = [] if self._out is None else read_parts(self._out, event)
        return self._tables[event.slug]


def read_parts(folder: Path, event: Event) -> list[pl.DataFrame]:
    """Parts of an event without a gap from block 0 on; blocks that the event does not want are left out."""
    parts: list[pl.DataFrame] = []
    expected = 0
    for path in sorted((folder / GAMES_FOLDER).glob(f"{event.slug}-[0-9]*.parquet")):
        part = read_table(path)
        if part["block"][0] == expected < event.blocks:
            parts.append(part.filter(pl.col("block") < event.blocks))
            expected = int(part["block"][-1]) + 1
    return parts
