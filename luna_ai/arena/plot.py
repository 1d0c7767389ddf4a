"""The picture of an arena: ratings and cross table of a round robin, shares and tests of matches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

from luna_ai.plots import COLOURS, GREY

Figures = dict[str, Any]

WORSE_BETTER = LinearSegmentedColormap.from_list("worse_better", ["#D55E00", "#f7f7f7", "#0072B2"])
MOST_WRITTEN = 14
"""Up to so many players the cells of a cross table hold their numbers."""

LINE_HEIGHT = 0.34


def plot_arena(figures: Figures, path: Path) -> None:
    """Draws an arena.

    Args:
        figures: of an arena with at least one finished block (`luna_ai.arena.figures.figures_of`).
        path: the PNG to write, whatever its suffix.
    """
    sheet = draw_matches(figures) if figures["matches"] else draw_round_robin(figures)
    sheet.savefig(path, format="png", dpi=160)


def new_sheet(width: float, height: float, title: str, facts: str) -> Figure:
    """An empty sheet with a title and a line of facts below it."""
    sheet = Figure(figsize=(width, height), facecolor="white")
    top = 1 - 0.66 / height
    sheet.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, rect=(0, 0, 1, top)))
    sheet.suptitle(title, fontsize=15, fontweight="bold", y=1 - 0.1 / height)
    sheet.text(0.5, 1 - 0.54 / height, facts, ha="center", fontsize=10, color=GREY)
    return sheet


def clean(axis: Axes) -> None:
    """Grid and frame of a panel."""
    axis.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)


def signed(number: float) -> str:
    """A whole number with its sign, the minus as in the axes."""
    return f"{number:+.0f}".replace("-", "−")


# --- round robin ---------------------------------------------------------------------------------------------------


def draw_round_robin(figures: Figures) -> Figure:
    """A column for each player count: ratings above, cross table below, in the same order of players."""
    tables = figures["tables"]
    names = max(len(found["agents"]) for found in tables)
    label = 0.085 * max(len(name) for found in tables for name in found["agents"])
    upper, lower = 1.1 + LINE_HEIGHT * names, 0.9 + max(0.42 * names, 1.2)
    width = max(6.4, len(tables) * (label + 1.0 + max(0.62 * names, 2.6)))
    state = "" if figures["complete"] else ", interrupted"
    facts = f"{figures['games']:,} games · bars are 95 % intervals by deals{state}"
    sheet = new_sheet(width, upper + lower + 0.9, "Luna: round robin", facts)
    axes = sheet.subplots(2, len(tables), squeeze=False, height_ratios=[upper, lower])
    for column, found in enumerate(tables):
        draw_ratings(axes[0, column], found)
        draw_cross(axes[1, column], found)
    span = [limit for axis in axes[0] for limit in axis.get_xlim()]
    for axis in axes[0]:
        axis.set_xlim(min(span), max(span))
    return sheet


def draw_ratings(axis: Axes, found: Figures) -> None:
    """Ratings with intervals, best on top; hollow where only the prior says how far."""
    clean(axis)
    axis.axvline(0, color=GREY, linestyle=(0, (5, 4)), linewidth=1.1, zorder=1)
    for place, rating in enumerate(found["ratings"]):
        bar = [[0.0], [0.0]]
        if rating["low"] is not None:
            bar = [[rating["rating"] - rating["low"]], [rating["high"] - rating["rating"]]]
        colour, face = COLOURS[0], COLOURS[0] if rating["low"] is not None else "white"
        axis.errorbar(
            rating["rating"], place, xerr=bar, fmt="o", color=colour, markerfacecolor=face, markersize=7, capsize=3,
            elinewidth=1.8, zorder=3,
        )  # fmt: skip
        axis.annotate(
            signed(rating["rating"]), (rating["rating"], place), xytext=(0, 7), textcoords="offset points",
            ha="center", fontsize=8, color=GREY,
        )  # fmt: skip
    axis.set_yticks(range(len(found["ratings"])), [rating["player"] for rating in found["ratings"]])
    axis.set_ylim(len(found["ratings"]) - 0.5, -0.8)
    axis.margins(x=0.12)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_xlabel("rating (400 points: odds of 10 to 1)")
    axis.set_title(f"{found['players']} players\n", fontsize=12, fontweight="bold")
    size = f"{found['games']:,} games in {found['blocks']:,} deals"
    axis.text(0.5, 1.03, size, transform=axis.transAxes, ha="center", fontsize=9, color=GREY)


def draw_cross(axis: Axes, found: Figures) -> None:
    """Win share of the row in games with the column; white is the equal share."""
    names, equal = found["agents"], found["equal_share"]
    order = [names.index(rating["player"]) for rating in found["ratings"]]
    shares = np.array(found["cross"]["win_share"]["mean"], dtype=float)[np.ix_(order, order)]
    np.fill_diagonal(shares, np.nan)
    axis.imshow(shares, cmap=WORSE_BETTER, norm=TwoSlopeNorm(equal, 0, 1), aspect="auto")
    axis.set_xticks(range(len(names)), [str(number) for number in range(1, len(names) + 1)])
    axis.set_yticks(range(len(names)), [f"{names[who]}  {number}" for number, who in enumerate(order, 1)])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    axis.set_xticks(np.arange(-0.5, len(names)), minor=True)
    axis.set_yticks(np.arange(-0.5, len(names)), minor=True)
    axis.grid(which="minor", color="white", linewidth=2)
    axis.tick_params(which="minor", length=0)
    axis.set_xlabel(f"win share % of the row in games with the column\n(white: 1/{found['players']})")
    if len(names) <= MOST_WRITTEN:
        write_cells(axis, shares, equal)


def write_cells(axis: Axes, shares: np.ndarray[Any, Any], equal: float) -> None:
    """Writes each share into its cell, white on dark."""
    for (row, column), share in np.ndenumerate(shares):
        if not np.isnan(share):
            far = (share - equal) / ((1 - equal) if share > equal else equal)
            colour = "white" if abs(far) > 0.6 else "black"
            axis.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=9, color=colour)


# --- matches -------------------------------------------------------------------------------------------------------


def draw_matches(figures: Figures) -> Figure:
    """Left: win share less 1/N of both ways around, right: the sequential tests on their way."""
    matches, config = figures["matches"], figures["config"]
    height = 2.9 + max(1.6, 0.62 * len(matches))
    state = "" if figures["complete"] else ", interrupted"
    facts = f"{figures['games']:,} games · bars are 95 % intervals by deals{state}"
    sheet = new_sheet(11.5, height, f"Luna: {config['challenger']} as challenger", facts)
    axes = sheet.subplots(1, 2, width_ratios=[1.15, 1])
    draw_shares(axes[0], matches)
    draw_tests(axes[1], matches, config["min_deals"])
    return sheet


def draw_shares(axis: Axes, matches: list[Figures]) -> None:
    """Distance of each win share from the equal share, in points of a hundred."""
    clean(axis)
    axis.axvline(0, color=GREY, linestyle=(0, (5, 4)), linewidth=1.1, zorder=1)
    axis.axvline(100 * matches[0]["better_by"], color=COLOURS[2], linestyle=(0, (2, 2)), linewidth=1.3, zorder=1)
    labels = []
    for place, match in enumerate(matches):
        colour = COLOURS[place % len(COLOURS)]
        draw_share(axis, match["share"], match["equal_share"], place - 0.13, colour, filled=True)
        if match["reverse"]:
            draw_share(axis, match["reverse"]["share"], match["equal_share"], place + 0.17, colour, filled=False)
        labels.append(f"{match['opponent']}\n{match['players']} players")
    axis.set_yticks(range(len(matches)), labels)
    for text, place in zip(axis.get_yticklabels(), range(len(matches)), strict=True):
        text.set_color(COLOURS[place % len(COLOURS)])
    axis.set_ylim(len(matches) - 0.5, -0.6)
    above = 100 * matches[0]["better_by"]
    axis.annotate(
        f" +{above:g}", (above, 0.01), xycoords=axis.get_xaxis_transform(), color=COLOURS[2], fontsize=9, va="bottom"
    )
    axis.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10]))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda points, _: signed(points) if points else "1/N"))
    axis.set_xlabel("win share, points above the equal share 1/N")
    axis.set_title("filled: the challenger among copies · hollow: the opponent among copies", fontsize=9, color=GREY)


def draw_share(axis: Axes, share: Figures, equal: float, place: float, colour: str, *, filled: bool) -> None:
    """One share with its interval."""
    low, high = share["low"], share["high"]
    bar = None if low is None else [[100 * (share["mean"] - low)], [100 * (high - share["mean"])]]
    face = colour if filled else "white"
    size, line = (7, 1.8) if filled else (5.5, 1.2)
    axis.errorbar(
        100 * (share["mean"] - equal), place, xerr=bar, fmt="o", color=colour, markerfacecolor=face,
        markersize=size, elinewidth=line, capsize=3, zorder=3,
    )  # fmt: skip


def draw_tests(axis: Axes, matches: list[Figures], first: int) -> None:
    """Log-likelihood ratio of each match after each deal between the bounds; grey before the first look."""
    upper, lower = matches[0]["upper"], matches[0]["lower"]
    axis.axhspan(upper, upper + 2, color="#e8f3ec", zorder=0)
    axis.axhspan(lower - 2, lower, color="#fbeee6", zorder=0)
    axis.axvspan(0, first, color="#f2f2f2", zorder=0.5)
    axis.axhline(0, color="#d0d0d0", linewidth=0.8, zorder=1)
    for place, match in enumerate(matches):
        label = f"{match['opponent']}, {match['players']} players"
        axis.plot(match["curve"]["blocks"], match["curve"]["llr"], color=COLOURS[place % len(COLOURS)], label=label)
        end = (match["curve"]["blocks"][-1], match["curve"]["llr"][-1])
        axis.plot(*end, marker="o", color=COLOURS[place % len(COLOURS)], markersize=4)
    axis.set_ylim(lower - 2, upper + 2)
    middle = axis.get_yaxis_transform()
    axis.text(0.98, upper + 1, "better", ha="right", va="center", color=COLOURS[2], transform=middle)
    axis.text(0.98, lower - 1, "not better", ha="right", va="center", color=COLOURS[1], transform=middle)
    axis.set_xlabel(f"deals (grey: before the first look at {first})")
    axis.set_ylabel("log-likelihood ratio")
    axis.set_xlim(left=0)
    axis.spines[["top", "right"]].set_visible(False)
