"""Games on disk: checked, written in parts that appear whole or not at all, and found again by a resumed study.

    OUT/study.json                           settings and versions that the figures depend on
    OUT/games/STAGE-VARIANT-FIRSTBLOCK.parquet  some consecutive blocks, one row a game and seat

Parts are written under a temporary name and renamed. Reading takes the longest run of parts without a gap from
block 0 on, so nothing is lost or counted twice whenever a study is stopped.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from luna_ai.run_folder import GAMES_FOLDER, claim_folder, read_table, write_whole
from luna_ai.seats.schedule import SeatStudy, Variant

FORMAT = "luna-seats/1"
SETTINGS_FILE = "study.json"
REQUIRED = ("game", "block", "deal", "seed", "start_player", "seat", "turn_position", "player", "influence", "rank")


class RunnerError(ValueError):
    """A game runner returned a table that does not belong to its schedule."""


def accept_games(schedule: pl.DataFrame, games: pl.DataFrame, stage: str) -> pl.DataFrame:
    """The longest prefix of whole blocks of a schedule that a runner has played, checked and sorted.

    Args:
        schedule: the rows that were to be played, sorted by game.
        games: what the runner returned, one row a game and seat, in any order; may lack the end of the schedule.
        stage: stage of the study, added as a column together with the start `handicap` of each row's position.

    Raises:
        RunnerError: if a column is missing, a game is foreign or double, or a row disagrees with the schedule.
    """
    missing = [name for name in REQUIRED if name not in games.columns]
    if missing:
        raise RunnerError(f"the game table lacks the columns {missing}")
    if games.select("game", "seat").is_duplicated().any():
        raise RunnerError("the game table holds a seat of a game twice")
    if not games["game"].is_in(schedule["game"].implode()).all():
        raise RunnerError("the game table holds games that are not in the schedule")
    plan = schedule.head(finished_games(schedule, games))
    if not len(plan):
        return games.clear()
    kept = games.filter(pl.col("game") <= plan["game"][-1]).sort("game", "seat")
    check_rows(plan, kept)
    handicap = np.array(plan["handicap"].to_list(), dtype=np.int16)
    points = handicap[np.arange(len(kept)) // handicap.shape[1], kept["turn_position"].to_numpy()]
    return kept.with_columns(stage=pl.lit(stage), handicap=pl.Series(points, dtype=pl.Int16))


def finished_games(schedule: pl.DataFrame, games: pl.DataFrame) -> int:
    """Number of games in the longest prefix of whole blocks of which all seats are there."""
    seats = games.group_by("game").len("seats")
    found = schedule.join(seats, on="game", how="left", maintain_order="left")
    whole = (found["seats"].fill_null(0) == found["players"]).to_numpy()
    first_gap = int(np.argmin(whole)) if not whole.all() else len(whole)
    blocks = schedule["block"].to_numpy()
    return first_gap if first_gap == len(blocks) else int(np.searchsorted(blocks, blocks[first_gap]))


def check_rows(plan: pl.DataFrame, games: pl.DataFrame) -> None:
    """Raises RunnerError unless sorted games agree with their schedule and have possible seats and ranks."""
    players = int(plan["players"][0])
    table = {name: games[name].to_numpy().reshape(-1, players) for name in REQUIRED if name != "player"}
    for name in ("game", "block", "deal", "seed", "start_player"):
        if (table[name] != plan[name].to_numpy()[:, None]).any():
            raise RunnerError(f"the game table disagrees with its schedule in column {name!r}")
    seats = np.arange(players)
    positions = (seats - plan["start_player"].to_numpy().astype(np.int64)[:, None]) % players
    if (table["seat"] != seats).any() or (table["turn_position"] != positions).any():
        raise RunnerError("turn_position must be (seat - start_player) mod players")
    if (np.sort(table["rank"], axis=1) != seats + 1).any():
        raise RunnerError(f"ranks of a game must be 1 to {players}, each once")


class GameStore:
    """Finished blocks of each stage and variant, in memory and, with a folder, on disk."""

    def __init__(self, study: SeatStudy, versions: Mapping[str, str]) -> None:
        """Opens the study's folder, if it has one, and reads nothing yet.

        Raises:
            RunChanged: if the folder holds a study with other settings or versions.
            InvalidRun: if the folder cannot be used.
        """
        self.study = study
        self.versions = dict(versions)
        self._tables: dict[tuple[str, Variant], list[pl.DataFrame]] = {}
        if study.out is not None:
            known = {f"version of {name}": version for name, version in sorted(versions.items())}
            claim_folder(study.out, SETTINGS_FILE, {"format": FORMAT} | study.identity() | known)

    def games(self, stage: str, variant: Variant) -> pl.DataFrame:
        """All finished blocks, one row a game and seat, sorted by game; without columns if there are none."""
        tables = self._parts(stage, variant)
        if len(tables) > 1:
            tables[:] = [pl.concat(tables)]
        return tables[0] if tables else pl.DataFrame()

    def num_blocks(self, stage: str, variant: Variant) -> int:
        """Number of finished blocks."""
        tables = self._parts(stage, variant)
        return int(tables[-1]["block"][-1]) + 1 if tables else 0

    def handicap(self, stage: str, variant: Variant) -> tuple[int, ...] | None:
        """Influence by turn position with which the finished blocks were played; None if there are none."""
        if not self.num_blocks(stage, variant):
            return None
        first = self.games(stage, variant).head(variant.players).sort("turn_position")
        return tuple(first["handicap"].to_list())

    def append(self, stage: str, variant: Variant, games: pl.DataFrame) -> None:
        """Adds the blocks that follow; an empty table adds nothing."""
        if not len(games):
            return
        first = int(games["block"][0])
        if first != self.num_blocks(stage, variant):
            raise RunnerError(f"block {first} does not follow block {self.num_blocks(stage, variant) - 1}")
        if self.study.out is not None:
            path = self.study.out / GAMES_FOLDER / f"{stage}-{variant.slug}-{first:08d}.parquet"
            note = {"luna": json.dumps({"format": FORMAT, "versions": self.versions})}
            write_whole(path, lambda temporary: games.write_parquet(temporary, metadata=note))
        self._parts(stage, variant).append(games)

    def _parts(self, stage: str, variant: Variant) -> list[pl.DataFrame]:
        if (stage, variant) not in self._tables:
            folder = self.study.out
            self._tables[stage, variant] = [] if folder is None else read_parts(folder, stage, variant)
        return self._tables[stage, variant]


def read_parts(folder: Path, stage: str, variant: Variant) -> list[pl.DataFrame]:
    """Parts of a variant without a gap from block 0 on."""
    parts: list[pl.DataFrame] = []
    expected = 0
    for path in sorted((folder / GAMES_FOLDER).glob(f"{stage}-{variant.slug}-*.parquet")):
        part = read_table(path)
        if part["block"][0] == expected:
            parts.append(part)
            expected = int(part["block"][-1]) + 1
    return parts
