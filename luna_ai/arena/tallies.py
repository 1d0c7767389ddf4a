"""Sums by block: who won, who was ahead of whom, in which turn position; all that figures and intervals need.

Of the games of one player count, with K players and tables of N:

- `wins_with`, `seats_with` ``[K, K]``: wins and seats of the row's player in games with the column's player; on the
  diagonal in all games. Their quotient is a win share per seat, 1/N among equals, copies or not.
- `ahead`, `pairs` ``[K, K]``: pairs of seats of row and column at one table; those in which the row was placed ahead.
- `wins_at`, `seats_at` ``[K, N]``: wins and seats by turn position.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from luna_ai.arena.play import ArenaResult, num_blocks
from luna_ai.ratings import Choices, read_choices

IntArray = NDArray[np.int64]

KINDS = ("wins_with", "seats_with", "ahead", "pairs", "wins_at", "seats_at")


@dataclass(frozen=True)
class Games:
    """All finished games of one player count as arrays by game and seat, ``int64[G, N]``.

    Attributes:
        names: players, in the order of the arena's settings.
        player: index into `names`.
        rank: final rank, 1 = winner.
        turn_position: turn position.
        block: ``int64[G]`` block of each game, counted on over events.
        table: ``int64[B]`` table of each block, counted on over events.
        rows: the tables that this was read from, joined; `game` and `block` counted on over events.
    """

    names: tuple[str, ...]
    player: IntArray
    rank: IntArray
    turn_position: IntArray
    block: IntArray
    table: IntArray
    rows: pl.DataFrame

    @property
    def players(self) -> int:
        """Number of seats N."""
        return int(self.player.shape[1])

    @property
    def num_blocks(self) -> int:
        """Number of blocks B."""
        return len(self.table)


def games_of(result: ArenaResult, players: int) -> Games | None:
    """The games of one player count; None if there is no finished block."""
    parts, tables, blocks, groups, before = [], list[IntArray](), 0, 0, 0
    for event, games in zip(result.events, result.games, strict=True):
        if event.players == players and len(games):
            own = num_blocks(games)
            parts.append(games.with_columns(block=pl.col("block") + blocks, game=pl.col("game") + before))
            tables.append(groups + np.arange(own) % len(event.tables))
            blocks, groups, before = blocks + own, groups + len(event.tables), before + event.first_game(own)
    return arrays_of(pl.concat(parts), np.concatenate(tables), result.arena.names, players) if parts else None


def arrays_of(rows: pl.DataFrame, table: IntArray, names: tuple[str, ...], players: int) -> Games:
    """Arrays of a table sorted by game and seat."""
    index = rows["player"].replace_strict(list(names), list(range(len(names))), return_dtype=pl.Int64)

    def column(series: pl.Series) -> IntArray:
        return series.cast(pl.Int64).to_numpy().reshape(-1, players)

    return Games(
        names=names,
        player=column(index),
        rank=column(rows["rank"]),
        turn_position=column(rows["turn_position"]),
        block=column(rows["block"])[:, 0],
        table=table,
        rows=rows,
    )


@dataclass(frozen=True)
class Tally:
    """Sums by block, side by side.

    Attributes:
        sums: sparse ``float64[B, Q]``.
        places: for each of KINDS and "choices", its columns.
        shapes: for each of KINDS, its shape.
        choices: what the ratings stand on.
    """

    sums: sparse.csr_array
    places: dict[str, slice]
    shapes: dict[str, tuple[int, int]]
    choices: Choices


def tally(games: Games) -> Tally:
    """All sums by block."""
    num, seats = len(games.names), games.players
    order = np.argsort(games.rank, axis=1)
    choices = read_choices([np.take_along_axis(games.player, order, axis=1)], [games.block], num, games.num_blocks)
    shapes = {kind: (num, seats) if kind.endswith("_at") else (num, num) for kind in KINDS}
    parts = pair_sums(games) | position_sums(games)
    ends = np.cumsum([0, *(part.shape[1] for part in parts.values()), choices.counts.shape[1]])
    places = {kind: slice(a, b) for kind, a, b in zip([*parts, "choices"], ends[:-1], ends[1:], strict=True)}
    return Tally(sparse.hstack([*parts.values(), choices.counts], format="csr"), places, shapes, choices)


def pair_sums(games: Games) -> dict[str, sparse.csr_array]:
    """`wins_with`, `seats_with`, `ahead` and `pairs` by block, ``[B, K * K]`` each."""
    num, seats = len(games.names), games.players
    found: dict[str, list[tuple[IntArray, NDArray[np.float64]]]] = {kind: [] for kind in KINDS[:4]}
    won = (games.rank == 1).astype(np.float64)
    copies = (games.player[:, :, None] == games.player[:, None, :]).sum(axis=2)
    for seat in range(seats):
        own = games.player[:, seat]
        alone = np.ones(len(own))
        found["wins_with"].append((own * num + own, won[:, seat]))
        found["seats_with"].append((own * num + own, alone))
        for other in range(seats):
            cell, differ = own * num + games.player[:, other], (own != games.player[:, other]).astype(np.float64)
            once = differ / copies[:, other]  # a player who sits there twice is met once
            found["wins_with"].append((cell, won[:, seat] * once))
            found["seats_with"].append((cell, once))
            found["ahead"].append((cell, differ * (games.rank[:, seat] < games.rank[:, other])))
            found["pairs"].append((cell, differ))
    return {kind: by_block(games, parts, num * num) for kind, parts in found.items()}


def position_sums(games: Games) -> dict[str, sparse.csr_array]:
    """`wins_at` and `seats_at` by block, ``[B, K * N]`` each."""
    cells = [games.player[:, seat] * games.players + games.turn_position[:, seat] for seat in range(games.players)]
    won = (games.rank == 1).astype(np.float64)
    wins = [(cell, won[:, seat]) for seat, cell in enumerate(cells)]
    seats = [(cell, np.ones(len(cell))) for cell in cells]
    size = len(games.names) * games.players
    return {"wins_at": by_block(games, wins, size), "seats_at": by_block(games, seats, size)}


def by_block(games: Games, parts: list[tuple[IntArray, NDArray[np.float64]]], size: int) -> sparse.csr_array:
    """Sums ``[B, size]`` of values at cells, one of each a game in every part."""
    cells = np.concatenate([cell for cell, _ in parts])
    values = np.concatenate([value for _, value in parts])
    rows = np.tile(games.block, len(parts))
    found = sparse.coo_array((values, (rows, cells)), shape=(games.num_blocks, size)).tocsr()
    found.eliminate_zeros()
    return found
