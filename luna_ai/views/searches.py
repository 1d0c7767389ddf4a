"""How a search decides: visits and values while it grows, its tree, and the chances of a game that it looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engine_fast.actions import NOTATIONS
from engine_fast.position import Position
from luna_ai.analysis import GameAnalysis
from luna_ai.plots import COLOURS, GREY
from luna_ai.search.mcts import Search, SearchResult
from luna_ai.search.options import SearchOptions
from luna_ai.search.tree import ROOT, UNVISITED, Tree
from luna_ai.views.sheet import PERCENT, NothingToShow, new_sheet

BOX = {"facecolor": "white", "edgecolor": GREY, "pad": 1.5, "linewidth": 0.5}
"""Frame of a text in a tree."""


def watch_search(position: Position, options: SearchOptions, budgets: Sequence[int], seed: int = 0) -> pl.DataFrame:
    """What a search thinks of each decision after so many simulations: one row a budget and decision, best first.

    Every budget is a search of its own with the same seed and an empty tree.

    Returns:
        `simulations`, `decision`, `visits`, `share` of all visits, `value` (chance to win of the seat that decides;
        null without a visit), `prior`.
    """
    rows = []
    for budget in budgets:
        found = Search(replace(options, sims=budget, reuse=False), seed)(position)
        total = sum(candidate.visits for candidate in found.candidates)
        for each in found.candidates:
            value = float(each.value) if each.visits else None
            rows.append((budget, each.notation, each.visits, each.visits / max(1, total), value, float(each.prior)))
    names = ("simulations", "decision", "visits", "share", "value", "prior")
    return pl.DataFrame(rows, schema=names, orient="row")


def plot_growth(watched: pl.DataFrame, top: int = 5) -> Figure:
    """Shares of visits and values of the best decisions over the number of simulations.

    Args:
        watched: of `watch_search`.
        top: decisions with a line, the best of the largest budget.
    """
    sheet, axes = new_sheet(2, width=4.6)
    most = watched["simulations"].max()
    best = watched.filter(simulations=most)["decision"].to_list()[:top]
    for index, decision in enumerate(best):
        rows = watched.filter(decision=decision).sort("simulations")
        for axis, column in zip(axes[0], ("share", "value"), strict=True):
            axis.plot(
                rows["simulations"], rows[column], color=COLOURS[index % len(COLOURS)], marker=".", label=decision
            )
    for axis, title in zip(axes[0], ("share of visits (%)", "chance to win (%)"), strict=True):
        axis.set_xscale("log", base=2)
        axis.set_xlabel("simulations")
        axis.set_title(title, fontsize=10)
        axis.yaxis.set_major_formatter(PERCENT)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    sheet.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return sheet


def plot_candidates(found: SearchResult, top: int = 8) -> Figure:
    """The best decisions of a search: what it was told before (prior), where it looked (visits)."""
    shown = found.candidates[:top]
    total = max(1, sum(candidate.visits for candidate in found.candidates))
    sheet, axes = new_sheet(1, width=7.5, height=0.9 + 0.42 * len(shown))
    axis, places = axes[0, 0], np.arange(len(shown))
    axis.barh(places - 0.19, [each.prior for each in shown], 0.36, color=COLOURS[5], label="prior")
    shares = [each.visits / total for each in shown]
    axis.barh(places + 0.19, shares, 0.36, color=COLOURS[0], label="share of visits")
    labels = [f"{each.notation}  {100 * each.value:.0f} %" if each.visits else each.notation for each in shown]
    axis.set_yticks(places, labels)
    axis.invert_yaxis()
    axis.xaxis.set_major_formatter(PERCENT)
    axis.set_xlabel("percent; beside each decision its chance to win")
    axis.legend(frameon=False, loc="lower right")
    return sheet


def plot_tree(tree: Tree, depth: int = 3, width: int = 3) -> Figure:
    """The most visited part of a tree, from left to right: at each node its `width` most visited decisions.

    Args:
        tree: of a `Search` that has searched.
        depth: plies to show.
        width: decisions to show of each node.
    """
    sheet, axes = new_sheet(1, width=3.0 * depth + 1.2, height=0.6 + 0.31 * width**depth)
    axis = axes[0, 0]
    axis.set_axis_off()
    _draw_node(axis, tree, ROOT, 0, depth, width, 0.0)
    axis.set_xlim(-0.15, depth + 0.85)
    axis.invert_yaxis()
    return sheet


def _draw_node(axis: Axes, tree: Tree, node: int, ply: int, depth: int, width: int, row: float) -> tuple[float, float]:
    """Draws what is below a node, from a row on; the node's own row, and the first free one."""
    edges = _most_visited(tree, node, width) if ply < depth else []
    if not edges:
        return row, row + 1.0
    rows = []
    for edge in edges:
        own, row = _draw_node(axis, tree, int(tree.child[edge]), ply + 1, depth, width, row)
        rows.append(own)
    middle = sum(rows) / len(rows)
    for edge, own in zip(edges, rows, strict=True):
        visits = int(tree.edge_visits[edge])
        part = visits / max(1, int(tree.visits[node]))
        axis.plot((ply, ply + 1), (middle, own), color=COLOURS[0], lw=0.6 + 4.0 * part, alpha=0.6, zorder=1)
        chance = 100 * float(tree.edge_value[edge]) / visits
        text = f"{NOTATIONS[int(tree.action[edge])]}\n{visits} visits, {chance:.0f} %"
        axis.text(ply + 1, own, text, fontsize=7.5, va="center", ha="center", bbox=BOX, zorder=2)
    if node == ROOT:
        text = f"{int(tree.visits[ROOT])}\nsimulations"
        axis.text(0, middle, text, fontsize=8, va="center", ha="center", bbox=BOX, zorder=2)
    return middle, row


def _most_visited(tree: Tree, node: int, width: int) -> list[int]:
    first, count = int(tree.first_edge[node]), int(tree.num_edges[node])
    tried = [e for e in range(first, first + count) if tree.edge_visits[e] and tree.child[e] != UNVISITED]
    return sorted(tried, key=lambda edge: -int(tree.edge_visits[edge]))[:width]


def plot_chances(analysis: GameAnalysis) -> Figure:
    """A game as the search sees it: chances to win by seat before each decision, and below what decisions lost.

    Raises:
        NothingToShow: no decision was searched.
    """
    if not analysis.judgements:
        raise NothingToShow("no decision was searched; allowed: an analysis of at least one")
    sheet, axes = new_sheet(1, rows=2, width=8.5, height=2.4)
    numbers = [judgement.number for judgement in analysis.judgements]
    for seat, player in enumerate(map(str, analysis.about["seats"])):
        colour, name = COLOURS[seat], f"seat {seat}, {player}"
        axes[0, 0].plot(numbers, [each.values[seat] for each in analysis.judgements], color=colour, label=name)
        own = [(each.number, each.loss) for each in analysis.judgements if each.seat == seat]
        axes[1, 0].vlines([number for number, _ in own], 0, [loss for _, loss in own], color=colour)
    for axis, title in zip(axes[:, 0], ("chance to win (%)", "loss of each decision (points)"), strict=True):
        axis.set_ylabel(title)
        axis.yaxis.set_major_formatter(PERCENT)
    axes[1, 0].set_xlabel("decision")
    axes[0, 0].legend(frameon=False, ncols=4, fontsize=9)
    return sheet
