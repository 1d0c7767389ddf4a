"""Many games at one table of bots: the schedule, the games in parts on disk, and what they say.

    OUT/simulation.json          settings and versions that the games depend on
    OUT/games/part-N.parquet     some consecutive games, one row a game and seat
    OUT/schedule.parquet         one row a game: deal, seed, start player, who sits where

Parts appear whole or not at all, in the order of the schedule; so a simulation that was stopped, however hard, goes on
with the same command, and nothing is lost or counted twice.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from engine_fast.components import load_sheet
from engine_fast.layout import LEDGER_SOURCES
from luna_ai.run_folder import claim_folder, read_table, write_whole
from luna_ai.runner import Runner, versions
from luna_ai.schedule import SCHEDULE_SCHEMA

FORMAT = "luna-simulation/1"
SETTINGS_FILE = "simulation.json"
SECONDS_A_PART = 10.0
FIRST_PART, LARGEST_PART = 256, 65_536


@dataclass(frozen=True)
class Simulation:
    """What is simulated.

    Attributes:
        players: 2, 3 or 4.
        agents: player names by seat, one for each.
        games: number of games.
        seed: of all chance.
        setup: `standard` or `preselected`.
        components: sheet, a name or a file.
        ruleset: label of a rule set (`luna_ai.runner.ruleset_label`).
        handicap: influence added at the start by turn position; empty for none.
    """

    players: int
    agents: tuple[str, ...]
    games: int
    seed: int = 0
    setup: str = "standard"
    components: str = "reconstructed"
    ruleset: str = "official"
    handicap: tuple[int, ...] = ()

    def schedule(self, first: int, count: int) -> pl.DataFrame:
        """`count` rows of the schedule from game `first` on; a row depends on the seed and its number alone."""
        rows = [self._row(game) for game in range(first, first + count)]
        return pl.DataFrame(rows, schema=SCHEDULE_SCHEMA, orient="row")

    def _row(self, game: int) -> tuple[Any, ...]:
        words = np.random.SeedSequence(self.seed, spawn_key=(self.players, game)).generate_state(3, np.uint64)
        deal, seed, draw = (int(word) for word in words)
        kind = (self.players, self.setup, self.components, self.ruleset)
        return (game, game, deal, seed, *kind, draw % self.players, list(self.agents), self._handicap())

    def _handicap(self) -> list[int]:
        return list(self.handicap) or [0] * self.players


@dataclass(frozen=True)
class Outcome:
    """Games of a simulation: one row a game and seat, and whether it was stopped before its end."""

    games: pl.DataFrame
    interrupted: bool


def simulate(simulation: Simulation, runner: Runner, out: Path | None = None) -> Outcome:
    """Plays a simulation, or the rest of one that was stopped.

    Args:
        simulation: what to play.
        runner: who plays it.
        out: folder for the games; None to keep them in memory only.

    Raises:
        InvalidRun: the folder cannot be used, or holds another simulation.
    """
    parts = _Parts(simulation, out)
    runner.advance(parts.games)
    size = FIRST_PART
    while parts.games < simulation.games:
        schedule = simulation.schedule(parts.games, min(size, simulation.games - parts.games))
        began = time.monotonic()
        try:
            played = runner(schedule)
        except KeyboardInterrupt:
            return parts.outcome(interrupted=True)
        parts.append(played)
        if len(played) < len(schedule) * simulation.players:
            return parts.outcome(interrupted=True)
        fitting = len(schedule) * SECONDS_A_PART / max(time.monotonic() - began, 1e-3)
        size = max(FIRST_PART, min(int(fitting), 4 * size, LARGEST_PART))
    return parts.outcome(interrupted=False)


class _Parts:
    """The finished games of a simulation, in memory and, with a folder, on disk."""

    def __init__(self, simulation: Simulation, out: Path | None) -> None:
        self._simulation, self._out = simulation, out
        self._tables: list[pl.DataFrame] = []
        if out is not None:
            settings = {key: value for key, value in vars(simulation).items() if key != "games"}
            settings["components_sha256"] = load_sheet(simulation.components).sha256
            claim_folder(out, SETTINGS_FILE, {"format": FORMAT, **settings, "versions": versions()})
            self._tables = self._found(out)

    @property
    def games(self) -> int:
        """Number of finished games."""
        return sum(len(table) for table in self._tables) // self._simulation.players

    def _found(self, out: Path) -> list[pl.DataFrame]:
        tables, games = [], 0
        for path in sorted((out / "games").glob("part-*.parquet")):
            table = read_table(path)
            if table["game"][0] == games and games < self._simulation.games:
                wanted = table.filter(pl.col("game") < self._simulation.games)
                tables.append(wanted)
                games += len(wanted) // self._simulation.players
        return tables

    def append(self, played: pl.DataFrame) -> None:
        """Adds the games that follow."""
        if self._out is not None:
            path = self._out / "games" / f"part-{self.games:09d}.parquet"
            note = {"luna": json.dumps({"format": FORMAT, "versions": versions()})}
            write_whole(path, lambda temporary: played.write_parquet(temporary, metadata=note))
        self._tables.append(played)

    def outcome(self, interrupted: bool) -> Outcome:
        """All finished games; their schedule goes to disk beside them."""
        if self._out is not None:
            schedule = self._simulation.schedule(0, self.games)
            write_whole(self._out / "schedule.parquet", schedule.write_parquet)
        return Outcome(pl.concat(self._tables) if self._tables else pl.DataFrame(), interrupted)


# --- figures -------------------------------------------------------------------------------------------------------


def figures(simulation: Simulation, outcome: Outcome) -> dict[str, Any]:
    """All figures of a simulation, ready for JSON."""
    games = outcome.games
    return {
        "format": FORMAT,
        "config": vars(simulation),
        "versions": versions(),
        "complete": not outcome.interrupted,
        "games": games["game"].n_unique() if len(games) else 0,
        "distinct_games": games["moves_hash"].n_unique() if len(games) else 0,
        "by_turn_position": summary(games, "turn_position"),
        "by_seat": summary(games, "seat"),
        "by_player": summary(games, "player"),
    }


def summary(games: pl.DataFrame, by: str) -> list[dict[str, Any]]:
    """Win share with a 95 % interval, mean rank, mean influence and its sources, for each value of a column.

    The interval is Wilson's for a turn position or a seat, of which each game has one; players of a name may share a
    game, so theirs has none.
    """
    if not len(games):
        return []
    won = pl.col("rank") == 1
    means = [pl.col(name).mean() for name in ("rank", "influence", *LEDGER_SOURCES, "decisions")]
    rows = games.group_by(by).agg(pl.len().alias("rows"), won.sum().alias("wins"), *means).sort(by)
    return [_summary_row(row, by) for row in rows.to_dicts()]


def _summary_row(row: dict[str, Any], by: str) -> dict[str, Any]:
    from luna_ai.stats import wilson_interval

    interval = None if by == "player" else list(wilson_interval(row["wins"], row["rows"]))
    return {by: row.pop(by), "win_share": row["wins"] / row["rows"], "interval": interval, **row}
