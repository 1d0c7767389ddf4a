"""Plays an arena in blocks, stops matches when they are decided, and goes on where it was stopped.

The game runner is an argument, so this knows nothing about engine or players. Blocks are played in the order of the
schedule and the sequential test looks at them in this order; what a runner played beyond the deciding block is dropped.
So the result depends neither on the number of processes nor on the size of parts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from luna_ai.arena.schedule import Event, build_schedule, events_of
from luna_ai.arena.sequential import Decision
from luna_ai.arena.settings import Arena
from luna_ai.arena.store import ArenaStore, accept_games
from luna_ai.seats.study import GameRunner
from luna_ai.stats import FloatArray

FIRST_GAMES, MOST_GAMES = 64, 65_536
SECONDS_A_PART = 10.0
"""Parts grow to about this long; whatever stops an arena, no more than one part is lost."""


@dataclass(frozen=True)
class Progress:
    """Where an arena stands.

    Attributes:
        event: what is being played.
        games: finished games of the event.
        decision: where its match stands; None in a round robin.
        finished: whether the event has ended.
    """

    event: Event
    games: int
    decision: Decision | None
    finished: bool


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class ArenaResult:
    """All finished blocks of an arena.

    Attributes:
        arena: its settings.
        events: what there was to play.
        games: of each event, one row a game and seat, whole blocks sorted by game; without columns if there are none.
        versions: versions that the games depend on, by name.
        interrupted: whether it was stopped before its end.
    """

    arena: Arena
    events: list[Event]
    games: list[pl.DataFrame]
    versions: dict[str, str]
    interrupted: bool

    def schedule(self) -> pl.DataFrame:
        """The schedule of all finished blocks, with the event as a column."""
        plans = [
            build_schedule(self.arena, event, range(num_blocks(games))).select(
                pl.lit(event.slug).alias("event"), pl.all()
            )
            for event, games in zip(self.events, self.games, strict=True)
        ]
        return pl.concat(plans)


def run_arena(
    arena: Arena,
    play_games: GameRunner,
    out: Path | None = None,
    *,
    versions: Mapping[str, str] | None = None,
    report: Report = lambda progress: None,
) -> ArenaResult:
    """Plays an arena, or the rest of one that was stopped.

    Args:
        arena: what to play.
        play_games: plays a schedule; see GameRunner.
        out: folder for the games; None to keep them in memory only.
        versions: versions that the games depend on, by name; an arena goes on only with the same.
        report: called at the start of each event, after each part, and at its end.

    Raises:
        InvalidArena: the groups cannot connect all players.
        RunChanged: the folder holds another arena.
        InvalidRun: the folder cannot be used.
        RunnerError: the runner's table does not fit its schedule.
    """
    events, interrupted = events_of(arena), False
    store = ArenaStore(arena, versions or {}, out)
    try:
        for event in events:
            play_event(arena, event, store, play_games, report)
    except KeyboardInterrupt:
        interrupted = True
    return ArenaResult(arena, events, [store.games(event) for event in events], dict(versions or {}), interrupted)


def play_event(arena: Arena, event: Event, store: ArenaStore, play_games: GameRunner, report: Report) -> None:
    """Plays whatever an event still needs; KeyboardInterrupt passes, what was finished is stored."""
    size = FIRST_GAMES
    while not (state := state_of(event, store.games(event))).finished:
        report(state)
        blocks = next_blocks(event, store.num_blocks(event), size)
        schedule = build_schedule(arena, event, blocks)
        began = time.monotonic()
        played = accept_games(schedule, play_games(schedule))
        store.append(event, within_match(event, store.games(event), played))
        if len(played) < schedule["players"].sum():
            raise KeyboardInterrupt
        fitting = len(schedule) * SECONDS_A_PART / max(time.monotonic() - began, 1e-3)
        size = max(1, min(int(fitting), 4 * size, MOST_GAMES))
    report(state)


def next_blocks(event: Event, first: int, games: int) -> range:
    """Blocks from `first` on with about so many games, at least one block."""
    fair = max(1, round(games * len(event.tables) / event.games_a_round))
    return range(first, min(first + fair, event.blocks))


def state_of(event: Event, games: pl.DataFrame) -> Progress:
    """Where an event stands with these games."""
    blocks = num_blocks(games)
    decision = None if event.test is None else event.test.decide(challenger_scores(event, games))
    ended = decision is not None and decision.ended and blocks >= blocks_until(event, decision)
    return Progress(event, event.first_game(blocks), decision, ended or blocks >= event.blocks)


def within_match(event: Event, before: pl.DataFrame, played: pl.DataFrame) -> pl.DataFrame:
    """The part of newly played blocks that comes before the end of the match; all of them in a round robin."""
    if event.test is None or not len(played):
        return played
    decision = event.test.decide(challenger_scores(event, pl.concat([before, played]) if len(before) else played))
    return played.filter(pl.col("block") < blocks_until(event, decision)) if decision.ended else played


def blocks_until(event: Event, decision: Decision) -> int:
    """Blocks of an event up to the decision: the other table of a match plays as many as the one that decides."""
    return decision.blocks * len(event.tables)


def challenger_scores(event: Event, games: pl.DataFrame) -> FloatArray:
    """Win share of the one among copies in each block of a match's first table, ``float64[B]``."""
    return lone_scores(event, games, 0)


def lone_scores(event: Event, games: pl.DataFrame, table: int) -> FloatArray:
    """Win share of the first player of a match's table, the one among copies, in each of its blocks, ``float64[B]``."""
    if not len(games):
        return np.empty(0)
    mine = lone_rows(event, games, table).group_by("block", maintain_order=True)
    return mine.agg((pl.col("rank") == 1).mean())["rank"].to_numpy().astype(np.float64)


def lone_rows(event: Event, games: pl.DataFrame, table: int) -> pl.DataFrame:
    """The rows of the one among copies in the blocks of a match's table."""
    return games.filter(pl.col("player") == event.tables[table][0], pl.col("block") % len(event.tables) == table)


def num_blocks(games: pl.DataFrame) -> int:
    """Number of blocks of an event's games."""
    return int(games["block"][-1]) + 1 if len(games) else 0
