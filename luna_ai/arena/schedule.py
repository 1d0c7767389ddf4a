"""The explicit table of games of an arena.

An *event* is what is played with one number of players by itself: the round robin, or the match against one opponent.
Its tables (groups of players) take turns: block b is one deal played by table ``b mod T``, in all seatings times every
start player. So every player of a table has every seat, turn position and order of neighbours equally often. No two
blocks share a deal, so blocks are independent. The seeds of a block depend on the arena's seed, the player count, the
event and b alone.

A match has two tables: one challenger among N-1 copies of the opponent, and one opponent among N-1 copies of the
challenger (with two players both are the same table).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from luna_ai.arena.groups import Group, groups_of
from luna_ai.arena.sequential import SequentialTest
from luna_ai.arena.settings import Arena, Challenge, RoundRobin
from luna_ai.schedule import SCHEDULE_SCHEMA
from luna_ai.seats.schedule import rotations

GAMES, GROUPS, FIGURES = 0, 1, 2
"""First word of the spawn key of each kind of chance."""


@dataclass(frozen=True)
class Event:
    """Games of one number of players that stand by themselves.

    Attributes:
        number: counts the events of one player count from 0.
        players: number of seats.
        tables: groups of player names that take turns, block after block.
        seatings: the orders in which each group sits in each of its blocks.
        blocks: number of blocks, in a match the largest number.
        opponent: name of the opponent in a match, None in a round robin.
        test: the sequential test of a match.
    """

    number: int
    players: int
    tables: tuple[Group, ...]
    seatings: tuple[tuple[Group, ...], ...]
    blocks: int
    opponent: str | None = None
    test: SequentialTest | None = None

    @property
    def slug(self) -> str:
        """The event as part of a file name."""
        return f"p{self.players}" if self.opponent is None else f"p{self.players}-match{self.number:02d}"

    def games_of(self, table: int) -> int:
        """Games of a block of a table."""
        return self.players * len(self.seatings[table])

    @property
    def games_a_round(self) -> int:
        """Games of one block of each table."""
        return sum(self.games_of(table) for table in range(len(self.tables)))

    def first_game(self, block: int) -> int:
        """Number of the first game of a block; of the block behind the last, the number of games."""
        rounds, rest = divmod(block, len(self.tables))
        return rounds * self.games_a_round + sum(self.games_of(table) for table in range(rest))


def events_of(arena: Arena) -> list[Event]:
    """All events of an arena, player counts outermost.

    Raises:
        InvalidArena: a part of the groups that cannot connect all players.
    """
    if isinstance(arena, RoundRobin):
        return [round_robin(arena, players) for players in arena.players]
    assert isinstance(arena, Challenge)
    return [match(arena, players, number) for players in arena.players for number in range(len(arena.against))]


def round_robin(arena: RoundRobin, players: int) -> Event:
    """The round robin of one player count."""
    rng = np.random.default_rng(np.random.SeedSequence(arena.seed, spawn_key=(GROUPS, players)))
    tables = groups_of(arena.agents, players, arena.max_groups, rng)
    seatings = tuple(seatings_of(table, arena.seatings) for table in tables)
    return Event(0, players, tables, seatings, arena.deals * len(tables))


def match(arena: Challenge, players: int, number: int) -> Event:
    """The match against one opponent at one player count; alpha is shared out evenly among all matches."""
    challenger, opponent, others = arena.challenger, arena.against[number], players - 1
    tables = [(challenger, *[opponent] * others), (opponent, *[challenger] * others)]
    if players == 2 or arena.one_sided:
        del tables[1:]  # with two players both are the same
    seatings = tuple(seatings_of(table, arena.seatings) for table in tables)
    test = SequentialTest(
        equal=1 / players,
        better_by=arena.better_by,
        games=players * len(seatings[0]),
        max_blocks=arena.max_deals,
        alpha=arena.alpha / (len(arena.against) * len(arena.players)),
        beta=arena.beta,
        min_blocks=arena.min_deals,
    )
    return Event(number, players, tuple(tables), seatings, arena.max_deals * len(tables), opponent, test)


def seatings_of(table: Group, kind: str) -> tuple[Group, ...]:
    """Different orders of a group around the table: `all`, or its `rotations`; copies are not told apart."""
    return tuple(dict.fromkeys(itertools.permutations(table) if kind == "all" else rotations(table)))


def build_schedule(arena: Arena, event: Event, blocks: range) -> pl.DataFrame:
    """Schedule of some consecutive blocks of an event, a table with SCHEDULE_SCHEMA, sorted by game."""
    rows = [row for block in blocks for row in block_rows(arena, event, block)]
    return pl.DataFrame(rows, schema=SCHEDULE_SCHEMA, orient="row")


def block_rows(arena: Arena, event: Event, block: int) -> Iterator[tuple[Any, ...]]:
    """Rows of one block: start players within seatings."""
    seatings = event.seatings[block % len(event.tables)]
    first, handicap = event.first_game(block), list(arena.handicap) or [0] * event.players
    deal, *seeds = block_seeds(arena, event, block)
    fixed = (event.players, arena.setup, arena.components, arena.ruleset)
    for index, (seating, start) in enumerate(itertools.product(seatings, range(event.players))):
        yield (first + index, block, deal, seeds[index], *fixed, start, list(seating), handicap)


def block_seeds(arena: Arena, event: Event, block: int) -> list[int]:
    """Seed of the deal, then one for each game of a block; 64 bits each."""
    games = event.games_of(block % len(event.tables))
    key = (GAMES, event.players, event.number, block)
    words = np.random.SeedSequence(arena.seed, spawn_key=key).generate_state(1 + games, np.uint64)
    return [int(word) for word in words]
