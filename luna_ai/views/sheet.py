"""What all pictures have in common: a white sheet of panels, quiet axes, a colour for each series."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from luna_ai.plots import COLOURS, GREY, MARKERS

SCREEN_DPI = 66
"""Coarse, so that notebooks are kept small; what is saved to a file may choose another."""

PERCENT = FuncFormatter(lambda share, _: f"{100 * share:g}")


class NothingToShow(ValueError):
    """A table without the rows that a picture needs."""


def new_sheet(columns: int, rows: int = 1, width: float = 3.6, height: float = 3.2) -> tuple[Figure, Any]:
    """A sheet of panels and the panels, `[rows, columns]`; width and height of one panel in inches."""
    sheet = Figure(figsize=(width * columns, height * rows), facecolor="white", layout="constrained", dpi=SCREEN_DPI)
    axes = sheet.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return sheet, axes


def style_of(index: int) -> dict[str, Any]:
    """Colour and marker of a series."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def draw_level(axis: Axes, share: float) -> None:
    """A dashed line at a share that a series is compared with."""
    axis.axhline(share, color=GREY, linestyle=(0, (5, 4)), linewidth=1.1, zorder=1)
