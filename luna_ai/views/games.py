"""Tables of games: who won from where, how long games were, where influence came from.

The tables have one row a game and seat, as `luna_ai.simulate`, `luna_ai.seats` and the games of a training have.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from engine_fast.layout import LEDGER_SOURCES
from luna_ai.plots import COLOURS, POSITIONS
from luna_ai.stats import wilson_interval
from luna_ai.views.sheet import PERCENT, NothingToShow, draw_level, new_sheet, style_of

SOURCE_COLOURS = (*COLOURS, "#999999", "#8C564B", "#BCBD22")
"""A colour for each source of influence."""


def win_shares(games: pl.DataFrame) -> pl.DataFrame:
    """Games won by turn position: one row a number of players and position (1 = start player).

    Args:
        games: `players`, `turn_position`, `rank`; games that are independent of each other (Wilson's 95 % intervals).
    """
    wins = (pl.col("rank") == 1).sum().alias("wins")
    rows = games.group_by("players", "turn_position").agg(pl.len().alias("games"), wins)
    ends = [wilson_interval(row["wins"], row["games"]) for row in rows.iter_rows(named=True)]
    return rows.select(
        pl.col("players").cast(pl.Int64),
        (pl.col("turn_position").cast(pl.Int64) + 1).alias("position"),
        "games",
        (pl.col("wins") / pl.col("games")).alias("win_share"),
        pl.Series("low", [low for low, _ in ends], dtype=pl.Float64),
        pl.Series("high", [high for _, high in ends], dtype=pl.Float64),
    ).sort("players", "position")


def plot_win_shares(shares: pl.DataFrame) -> Figure:
    """Win share by turn position with intervals, a panel for each number of players.

    Args:
        shares: of `win_shares`.

    Raises:
        NothingToShow: there are none.
    """
    counts = shares["players"].unique(maintain_order=True).to_list()
    _check(bool(counts), "games")
    sheet, axes = new_sheet(len(counts))
    for axis, players in zip(axes[0], counts, strict=True):
        rows = shares.filter(players=players)
        below, above = (rows["win_share"] - rows["low"]).to_list(), (rows["high"] - rows["win_share"]).to_list()
        draw_level(axis, 1 / players)
        axis.errorbar(range(players), rows["win_share"].to_list(), [below, above], ls="none", capsize=3, **style_of(0))
        axis.set_xticks(range(players), POSITIONS[:players])
        axis.set_xlim(-0.6, players - 0.4)
        axis.yaxis.set_major_formatter(PERCENT)
        axis.set_title(f"{players} players, {rows['games'][0]:,} games", fontsize=10)
    axes[0, 0].set_ylabel("win share (%)")
    return sheet


def plot_lengths(games: pl.DataFrame) -> Figure:
    """How many decisions games have, a histogram for each number of players.

    Args:
        games: `players`, `turn_position`, `decisions`.

    Raises:
        NothingToShow: there are none.
    """
    each = games.filter(turn_position=0)
    counts = sorted(each["players"].unique().to_list())
    _check(bool(counts), "games")
    sheet, axes = new_sheet(1, width=7.0)
    for index, players in enumerate(counts):
        lengths = each.filter(players=players)["decisions"].to_numpy()
        label = f"{players} players, mean {lengths.mean():.0f}"
        axes[0, 0].hist(lengths, bins=_bins(lengths), alpha=0.7, color=COLOURS[index], label=label, density=True)
    axes[0, 0].set_xlabel("decisions in a game")
    axes[0, 0].set_ylabel("share of games per decision")
    axes[0, 0].legend(frameon=False)
    return sheet


def _bins(lengths: np.ndarray) -> list[int]:
    step = max(1, int(np.ptp(lengths)) // 30)
    return list(range(int(lengths.min()), int(lengths.max()) + step + 1, step))


def mean_sources(games: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Mean influence of a seat from each source: one row a table of games, in order.

    Args:
        games: a name -> games with the columns of `LEDGER_SOURCES`.
    """
    means = [table.select(pl.lit(name).alias("name"), pl.col(LEDGER_SOURCES).mean()) for name, table in games.items()]
    _check(bool(means), "games")
    return pl.concat(means)


def plot_sources(sources: pl.DataFrame) -> Figure:
    """Where influence came from: a bar for each row, gains to the right of 0 and losses to the left.

    Args:
        sources: of `mean_sources`.
    """
    names = sources["name"].to_list()
    sheet, axes = new_sheet(1, width=8.5, height=1.6 + 0.42 * len(names))
    axis, gained, lost = axes[0, 0], np.zeros(len(names)), np.zeros(len(names))
    for source, colour in zip(LEDGER_SOURCES, SOURCE_COLOURS, strict=True):
        amounts = sources[source].to_numpy()
        starts = np.where(amounts >= 0, gained, lost)
        axis.barh(range(len(names)), amounts, left=starts, color=colour, label=source, height=0.7)
        gained, lost = gained + np.maximum(amounts, 0), lost + np.minimum(amounts, 0)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel("mean influence of a seat, by source")
    sheet.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return sheet


def _check(there: bool, what: str) -> None:
    if not there:
        raise NothingToShow(f"no {what} to show; allowed: a table with at least one row")
