"""Pictures of results, drawn by matplotlib without a display.

Colours are Okabe and Ito's palette, which people of all kinds of colour vision tell apart
(https://jfly.uni-koeln.de/color/).
"""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#6b6b6b"
POSITIONS = ("1st", "2nd", "3rd", "4th")
MOST_DODGE, DODGE_ROOM = 0.2, 0.8
"""Distance between two points at one turn position, and the room for all of them, in positions."""

WIDTH_OF_LABEL = 3.4
"""Inches that an entry of the legend may need."""

Figures = dict[str, Any]


def plot_shares(figures: Figures, path: Path) -> None:
    """Draws a seat study: win share and mean influence by turn position, a column for each player count.

    Points are means with their 95 % intervals, hollow points the games with the fair handicap, the dashed line is the
    equal share. All panels of a row span the same range, so effects can be compared by eye.

    Args:
        figures: `StudyResult.figures`.
        path: the PNG to write, whatever its suffix.
    """
    counts = list(dict.fromkeys(variant["players"] for variant in figures["variants"]))
    sheet = Figure(figsize=(max(6.4, 1.2 + 3.4 * len(counts)), 7.6), facecolor="white")
    sheet.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1, rect=(0, 0, 1, 0.922)))
    axes = sheet.subplots(2, max(1, len(counts)), squeeze=False)
    for column, players in enumerate(counts):
        variants = [variant for variant in figures["variants"] if variant["players"] == players]
        draw_column(axes[:, column], variants, settings_of(figures))
    for row, measure in enumerate(("win_share", "mean_influence")):
        same_span([axes[row, column] for column in range(len(counts))], measure)
    label_sheet(sheet, axes, figures)
    sheet.savefig(path, format="png", dpi=160)


def settings_of(figures: Figures) -> list[tuple[str, str, str]]:
    """The different combinations of set-up, rule set and sheet, each of which has its colour."""
    return list(dict.fromkeys(settings(variant) for variant in figures["variants"]))


def settings(variant: Figures) -> tuple[str, str, str]:
    """Set-up, rule set and sheet of a variant."""
    return variant["setup"], variant["ruleset"], Path(variant["components"]).stem


def draw_column(axes: Any, variants: list[Figures], all_settings: list[tuple[str, str, str]]) -> None:
    """Draws both panels of one player count."""
    players = variants[0]["players"]
    for axis, measure in zip(axes, ("win_share", "mean_influence"), strict=True):
        prepare_axis(axis, players, measure)
        for variant in variants:
            index = all_settings.index(settings(variant))
            draw_variant(axis, variant, measure, index, len(all_settings))
    axes[0].axhline(1 / players, color=GREY, linestyle=(0, (5, 4)), linewidth=1.1, zorder=1)
    place = axes[0].get_yaxis_transform()  # x in parts of the panel, y in win share
    axes[0].text(1.01, 1 / players, f"1/{players}", transform=place, va="center", fontsize=9, color=GREY)
    axes[0].set_title(f"{players} players\n", fontsize=12, fontweight="bold")
    axes[0].text(0.5, 1.03, size_of(variants), transform=axes[0].transAxes, ha="center", fontsize=9, color=GREY)


def size_of(variants: list[Figures]) -> str:
    """Games and deals of the variants of a column."""
    games, blocks = (sum(variant[key] for variant in variants) for key in ("games", "blocks"))
    return f"{games:,} games in {blocks:,} deals"


def prepare_axis(axis: Axes, players: int, measure: str) -> None:
    """Ticks, grid and frame of one panel."""
    axis.set_xlim(-0.75, players - 0.4)
    axis.set_xticks(range(players), POSITIONS[:players])
    axis.set_xlabel("turn position")
    axis.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    if measure == "win_share":
        axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}"))


def draw_variant(axis: Axes, variant: Figures, measure: str, index: int, num_settings: int) -> None:
    """Points with intervals of one variant, and hollow ones of the games with its fair handicap."""
    hollow = variant["verification"] is not None and measure == "win_share"
    points = num_settings * (2 if hollow else 1)
    dodge = min(MOST_DODGE, DODGE_ROOM / points)
    shift = dodge * (index * points / num_settings - (points - 1) / 2)
    draw_points(axis, variant["by_turn_position"][measure], shift, index, filled=True)
    if num_settings == 1:
        write_means(axis, variant["by_turn_position"][measure]["mean"], shift, measure)
    if hollow:
        found = variant["verification"]["by_turn_position"][measure]
        draw_points(axis, found, shift + dodge, index, filled=False)


def draw_points(axis: Axes, measure: Figures, shift: float, index: int, *, filled: bool) -> None:
    """One series of means with intervals; missing ends are drawn as no interval."""
    means = measure["mean"]
    below = [0 if low is None else mean - low for mean, low in zip(means, measure["low"], strict=True)]
    above = [0 if high is None else high - mean for mean, high in zip(means, measure["high"], strict=True)]
    colour = COLOURS[index % len(COLOURS)]
    places = [position + shift for position in range(len(means))]
    axis.errorbar(
        places,
        means,
        yerr=[below, above],
        linestyle="none",
        markersize=7 if filled else 6,
        color=colour,
        marker=MARKERS[index % len(MARKERS)],
        markerfacecolor=colour if filled else "white",
        elinewidth=1.8 if filled else 1.2,
        capsize=3,
        zorder=3,
    )


def write_means(axis: Axes, means: list[float], shift: float, measure: str) -> None:
    """Writes each mean to the left of its point."""
    for position, mean in enumerate(means):
        text = f"{100 * mean if measure == 'win_share' else mean:.1f}"
        place = (position + shift, mean)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        style: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 9, "bbox": box, "zorder": 2}
        axis.annotate(text, place, xytext=(-7, 0), textcoords="offset points", **style)


def same_span(axes: list[Axes], measure: str) -> None:
    """Gives panels the same height in their unit, each around its own middle."""
    limits = [axis.get_ylim() for axis in axes]
    half = max([(high - low) / 2 for low, high in limits], default=1) * 1.08
    for axis, (low, high) in zip(axes, limits, strict=True):
        middle = (low + high) / 2
        bottom = max(0.0, middle - half) if measure == "win_share" else middle - half
        axis.set_ylim(bottom, bottom + 2 * half)


def label_sheet(sheet: Figure, axes: Any, figures: Figures) -> None:
    """Title, axis names and legend of the whole picture."""
    axes[0, 0].set_ylabel("win share (%)")
    axes[1, 0].set_ylabel("mean final influence (points)")
    names = list(dict.fromkeys(name for variant in figures["variants"] for name in variant["agents"]))
    state = "" if figures["complete"] else ", interrupted"
    sheet.suptitle("Luna: what each turn position is worth", fontsize=15, fontweight="bold", y=0.985)
    facts = f"players: {', '.join(names)} · bars are 95 % intervals by deals{state}"
    sheet.text(0.5, 0.928, facts, ha="center", fontsize=10, color=GREY)
    handles, labels = legend_entries(axes[0, 0], figures)
    columns = min(len(labels), max(1, int(sheet.get_figwidth() / WIDTH_OF_LABEL)))
    sheet.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def legend_entries(axis: Axes, figures: Figures) -> tuple[list[Any], list[str]]:
    """An entry for each combination of settings, and one for hollow points."""
    handles = axis.plot([], [], color=GREY, linestyle=(0, (5, 4)), linewidth=1.1)
    labels = ["equal share"]
    for index, names in enumerate(settings_of(figures)):
        style = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)], "linestyle": "none"}
        handles += axis.plot([], [], **style)  # type: ignore[arg-type]
        labels.append(", ".join(names))
    if any(variant["verification"] for variant in figures["variants"]):
        handles += axis.plot([], [], marker="o", color=GREY, markerfacecolor="white", linestyle="none")
        labels.append("the same with the fair handicap, on other deals")
    return handles, labels
