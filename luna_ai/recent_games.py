"""Who won the newest games of self-play: win shares by turn position and by seat, over enough games to be read.

One step has a handful of games for each number of players, so its shares jump by tens of percent. Shares here are of
the newest steps that have `LEAST` games together: then their standard error is at most 1.6 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from engine_fast.layout import MAX_PLAYERS

LEAST = 1000
COUNTS = (2, 3, 4)


class Tally(NamedTuple):
    """Games of one step with N players, the network alone at the table."""

    games: int
    by_position: list[int]  # [4] games won by turn position
    by_seat: list[int]  # [4] by seat index


class RecentGames:
    """Tallies of the newest steps, for each number of players."""

    def __init__(self, plain: Sequence[Sequence[Any]] | None = None) -> None:
        """No games, or those of `to_plain`."""
        given = plain if plain is not None else [[] for _ in COUNTS]
        self._tallies = {n: [Tally(*row) for row in rows] for n, rows in zip(COUNTS, given, strict=True)}

    def to_plain(self) -> list[list[list[Any]]]:
        """Plain data, for a checkpoint."""
        return [[list(tally) for tally in self._tallies[n]] for n in COUNTS]

    def add(self, alone: pl.DataFrame) -> None:
        """Takes the games of a step.

        Args:
            alone: rows of games with the network at every seat: players, seat, turn_position, rank.
        """
        for players in COUNTS:
            rows, kept = alone.filter(pl.col("players") == players), self._tallies[players]
            if not len(rows):
                continue
            won = rows.filter(pl.col("rank") == 1)
            tallies = [[int((won[column] == at).sum()) for at in range(MAX_PLAYERS)] for column in PLACES]
            kept.append(Tally(len(won), *tallies))
            while sum(tally.games for tally in kept[1:]) >= LEAST:
                kept.pop(0)

    def shares(self, players: int) -> tuple[list[float], list[float]]:
        """Win shares by turn position and by seat, N each; empty without games."""
        kept = self._tallies[players]
        games = sum(tally.games for tally in kept)
        if not games:
            return [], []
        sums = ([sum(column) for column in zip(*(tally[at] for tally in kept), strict=True)] for at in (1, 2))
        positions, seats = ([won / games for won in each[:players]] for each in sums)
        return positions, seats


PLACES = ("turn_position", "seat")


def alone_at_table(games: pl.DataFrame) -> pl.DataFrame:
    """The rows of games with the network at every seat."""
    return games.filter((pl.col("player") == "self").all().over("actor", "index"))
