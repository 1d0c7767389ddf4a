"""Seat studies of several players side by side: one table, one picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from luna_ai.plots import POSITIONS, Figures
from luna_ai.views.sheet import PERCENT, NothingToShow, draw_level, new_sheet, style_of

SCHEMA = {
    "name": pl.String,
    "players": pl.Int64,
    "components": pl.String,
    "position": pl.Int64,
    "deals": pl.Int64,
    "games": pl.Int64,
    "win_share": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "influence": pl.Float64,
    "handicap": pl.Float64,
    "handicap_low": pl.Float64,
    "handicap_high": pl.Float64,
    "with_handicap": pl.Float64,
    "p_equal": pl.Float64,
    "p_holm": pl.Float64,
}
ROOM = 0.6
"""Width of all series at one turn position, in positions."""


def compare_seats(studies: Mapping[str, Figures]) -> pl.DataFrame:
    """One row a study, player count, sheet and turn position.

    Args:
        studies: a name -> `StudyResult.figures` (or its JSON).

    Returns:
        `position` 1 = start player; `win_share` with the ends `low` and `high` of its 95 % interval by deals; mean
        final `influence`; fair `handicap` in influence with its interval, null where there is none; `with_handicap`:
        win share in the verification; `p_equal`: test of "all positions equal" of the study's player count and sheet,
        `p_holm` corrected within the study.
    """
    rows = [
        row for name, figures in studies.items() for variant in figures["variants"] for row in _rows_of(name, variant)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _rows_of(name: str, variant: Figures) -> list[dict[str, Any]]:
    found, fair, played = variant["by_turn_position"], variant["fair_handicap"], variant["verification"]
    share, test = found["win_share"], found["all_equal"]["win_share"]
    return [
        {
            "name": name,
            "players": variant["players"],
            "components": Path(variant["components"]).stem,
            "position": k + 1,
            "deals": variant["blocks"],
            "games": variant["games"],
            **{column: share[end][k] for column, end in (("win_share", "mean"), ("low", "low"), ("high", "high"))},
            "influence": found["mean_influence"]["mean"][k],
            **{f"handicap{end and '_'}{end}": _handicap(fair, end or "handicap", k) for end in ("", "low", "high")},
            "with_handicap": played["by_turn_position"]["win_share"]["mean"][k] if played else None,
            "p_equal": test["p_value"],
            "p_holm": test.get("p_value_holm"),
        }
        for k in range(variant["players"])
    ]


def _handicap(fair: Figures, key: str, position: int) -> float | None:
    value = fair[key][position] if fair["identified"] else None
    return None if value is None else float(value)


def plot_comparison(table: pl.DataFrame) -> Figure:
    """Win share by turn position: a row of panels for each sheet, a column for each player count, a colour a player.

    Args:
        table: of `compare_seats`.

    Raises:
        NothingToShow: the table is empty.
    """
    if not len(table):
        raise NothingToShow("no seat study to show; allowed: at least one")
    counts, sheets = (table[key].unique(maintain_order=True).to_list() for key in ("players", "components"))
    names = table["name"].unique(maintain_order=True).to_list()
    sheet, axes = new_sheet(len(counts), len(sheets))
    for row, components in enumerate(sheets):
        for column, players in enumerate(counts):
            axis, here = axes[row, column], table.filter(players=players, components=components)
            _draw_panel(axis, here, names, players)
            axis.set_title(f"{players} players, {components}", fontsize=10)
        axes[row, 0].set_ylabel("win share (%)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return sheet


def _draw_panel(axis: Axes, table: pl.DataFrame, names: list[str], players: int) -> None:
    draw_level(axis, 1 / players)
    axis.set_xticks(range(players), POSITIONS[:players])
    axis.set_xlim(-0.6, players - 0.4)
    axis.yaxis.set_major_formatter(PERCENT)
    for index, name in enumerate(names):
        shares = table.filter(name=name).sort("position")
        shift = ROOM * ((index + 0.5) / len(names) - 0.5)
        places = [position - 1 + shift for position in shares["position"].to_list()]
        below, above = (shares["win_share"] - shares["low"]), (shares["high"] - shares["win_share"])
        ends = [below.fill_null(0).to_list(), above.fill_null(0).to_list()]
        axis.errorbar(
            places, shares["win_share"].to_list(), ends, linestyle="none", capsize=2.5, label=name, **style_of(index)
        )
