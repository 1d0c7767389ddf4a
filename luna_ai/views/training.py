"""A training's folder: its learning curves, how strong its networks were, and whether its chances can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engine_fast.layout import MAX_PLAYERS, columns
from luna_ai.metrics import BINS, anchor_tag
from luna_ai.plots import COLOURS, GREY
from luna_ai.samples import joined, read_samples
from luna_ai.views.sheet import PERCENT, NothingToShow, draw_level, new_sheet

FEW_POINTS = 5
"""A curve with fewer points is drawn as it is."""

CURVES = {"tag": pl.String, "step": pl.Int64, "value": pl.Float64}


def read_curves(folder: Path) -> pl.DataFrame:
    """All scalars of a run: one row a tag and step, in order; steps that a later session made again count once.

    Args:
        folder: of the run; the event files lie in its `tensorboard/`.

    Raises:
        NothingToShow: there are none, or the package `tensorboard` is not installed.
    """
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ModuleNotFoundError as problem:
        raise NothingToShow(
            "event files are read by tensorboard; allowed after: pip install 'luna-ai[notebooks]'"
        ) from problem
    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    if (folder / "tensorboard").is_dir():
        events.Reload()
    tags = events.Tags()["scalars"]
    if not tags:
        raise NothingToShow(f"{folder} holds no learning curves; allowed: the folder of a training")
    rows = [(tag, event.step, event.value) for tag in tags for event in events.Scalars(tag)]
    return pl.DataFrame(rows, schema=CURVES, orient="row").unique(["tag", "step"], keep="last").sort("tag", "step")


def plot_curves(curves: pl.DataFrame, panels: Mapping[str, Sequence[str]], smooth: int = 1, across: int = 3) -> Figure:
    """Learning curves, several to a panel.

    Args:
        curves: of `read_curves`.
        panels: title -> tags; those that the run has not are left out.
        smooth: steps whose mean is drawn, above the curve itself in a light colour; short curves are left as they are.
        across: panels in a row.
    """
    rows = -(-len(panels) // across)
    sheet, axes = new_sheet(min(across, len(panels)), rows, height=2.9)
    for axis, (title, tags) in zip(axes.flat, panels.items(), strict=False):
        for index, tag in enumerate(tags):
            _draw_curve(axis, curves.filter(tag=tag), COLOURS[index % len(COLOURS)], _own_part(tag, tags), smooth)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("step")
        axis.legend(frameon=False, fontsize=8)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    return sheet


def _own_part(tag: str, tags: Sequence[str]) -> str:
    """What tells a tag from the others of its panel; the last part of a tag that is alone."""
    columns_of_parts = zip(*(each.split("/") for each in tags), strict=False)
    differ = [len(set(parts)) > 1 for parts in columns_of_parts]
    own = [part for part, differs in zip(tag.split("/"), differ, strict=False) if differs]
    return "/".join(own) or tag.rpartition("/")[2]


def _draw_curve(axis: Axes, curve: pl.DataFrame, colour: str, label: str, smooth: int) -> None:
    short = len(curve) < FEW_POINTS
    if smooth > 1 and not short:
        axis.plot(curve["step"], curve["value"], color=colour, alpha=0.25, lw=0.8)
    means = curve["value"] if short else curve["value"].rolling_mean(smooth, min_samples=1)
    axis.plot(curve["step"], means, color=colour, label=label, marker="." if short else None)


def plot_strength(curves: pl.DataFrame, anchors: Sequence[str]) -> Figure:
    """Games that the network won against bots over the steps, with 95 % intervals by deals; a panel a player count."""
    sheet, axes = new_sheet(3)
    for axis, players in zip(axes[0], (2, 3, 4), strict=True):
        draw_level(axis, 1 / players)
        for index, anchor in enumerate(anchors):
            tag = f"anchor/{anchor_tag(anchor)}/{players}p"
            ends = [curves.filter(tag=f"{tag}/{end}") for end in ("win_rate", "low", "high")]
            colour = COLOURS[index % len(COLOURS)]
            axis.fill_between(ends[1]["step"], ends[1]["value"], ends[2]["value"], color=colour, alpha=0.15)
            axis.plot(ends[0]["step"], ends[0]["value"], color=colour, marker=".", label=f"against {anchor}")
        axis.set_title(f"{players} players", fontsize=10)
        axis.set_xlabel("step")
        axis.set_ylim(0, 1.02)
        axis.yaxis.set_major_formatter(PERCENT)
    axes[0, 0].set_ylabel("games won (%)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return sheet


def read_calibration(folder: Path, shards: int = 20) -> pl.DataFrame:
    """Whether the search's chances came true: ten bins of win probability over the newest samples of a run.

    Args:
        folder: of the run.
        shards: newest files of its replay to read.

    Returns:
        `said` (mean probability), `came` (share of wins), `seats` (how many) of each bin that is not empty.

    Raises:
        NothingToShow: the run has no samples.
    """
    files = sorted((folder / "replay").glob("shard-*.npz"))[-shards:]
    if not files:
        raise NothingToShow(f"{folder} holds no samples; allowed: the folder of a training")
    samples = joined([read_samples(file) for file in files])
    present = np.arange(MAX_PLAYERS) < columns(samples.state, "players")[:, np.newaxis]
    said, came = samples.root[present].astype(np.float64), samples.win[present].astype(np.float64)
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    found = pl.DataFrame({"bin": place, "said": said, "came": came}).group_by("bin")
    return found.agg(pl.col("said", "came").mean(), pl.len().alias("seats")).sort("bin").drop("bin")


def plot_calibration(found: pl.DataFrame) -> Figure:
    """Share of wins over win probability; points on the diagonal came true, their size shows how many there are."""
    sheet, axes = new_sheet(1, width=4.2, height=3.8)
    axis = axes[0, 0]
    axis.plot((0, 1), (0, 1), color=GREY, linestyle=(0, (5, 4)), lw=1.1)
    sizes = 15 + 250 * found["seats"] / found["seats"].max()
    axis.scatter(found["said"], found["came"], s=sizes.to_list(), color=COLOURS[0], zorder=3)
    for take, name in ((axis.set_xlabel, "chance to win, said by the search (%)"), (axis.set_ylabel, "games won (%)")):
        take(name)
    axis.xaxis.set_major_formatter(PERCENT)
    axis.yaxis.set_major_formatter(PERCENT)
    return sheet
