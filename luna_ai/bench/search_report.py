"""The figures of `luna bench search` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from luna_ai.bench.report import Tables, as_range, new_table
from luna_ai.bench.search_gumbel import MISSING

THOUSAND = 1e3


def _name(kind: str) -> str:
    return kind.replace("_", " ")


def _trees(figures: Mapping[str, Any]) -> list[Table]:
    rates, settings = figures["simulations_per_second"], figures["settings"]
    seats = list(figures["uct_ratio"])
    columns = [f"{count} players" for count in seats]
    speed = new_table(f"Thousand simulations/s, {settings['simulations']} a search, one core", "search", *columns)
    for kind, found in rates.items():
        speed.add_row(_name(kind), *(as_range(found[count], ".1f", THOUSAND) for count in seats))
    bare = figures["bare_playouts_per_second"]
    speed.add_section()
    speed.add_row("bare uniform playouts", *(as_range(bare[count], ".1f", THOUSAND) for count in seats))
    speed.add_row("uct / bare playouts", *(as_range(figures["uct_ratio"][count], ".2f") for count in seats))
    return [speed]


def _shares(figures: Mapping[str, Any]) -> list[Table]:
    table = new_table(
        "Where a simulation's time goes, and what a node weighs",
        "search",
        "players",
        "ns",
        "engine",
        "evaluator",
        "tree",
        "edges a node",
        "bytes a node, used",
        "reserved",
    )
    for kind, by_seats in figures["time_of_a_simulation"].items():
        for seats, found in by_seats.items():
            memory = figures["memory_per_node"][kind][seats]
            table.add_row(
                _name(kind),
                seats,
                f"{found['whole_ns']:,.0f}",
                *_percentages(found["share"]),
                f"{memory['edges_per_node']:.1f}",
                f"{memory['bytes_used']:.0f}",
                f"{memory['bytes_reserved']:.0f}",
            )
    return [table]


def _percentages(shares: Mapping[str, Any]) -> list[str]:
    """Shares; what is left for a tree beside a slow evaluator can be measured as a little less than nothing."""
    return [f"{100 * max(0.0, shares[part]['median']):.1f} %" for part in ("engine", "evaluator", "tree")]


def _network(figures: Mapping[str, Any]) -> list[Table]:
    """`depth` is the mean depth at which simulations end, `expansion` a part of `tree`."""
    network = figures["network"]
    table = new_table(
        f"{network['games']} games in lock-step, {network['simulations']} simulations each, free evaluators",
        "search",
        "players",
        "thousand/s",
        "depth",
        "ns",
        "engine",
        "evaluator",
        "tree",
        "expansion",
        "bytes a node",
    )
    for kind, by_seats in network["kinds"].items():
        for seats, found in by_seats.items():
            table.add_row(
                _name(kind),
                seats,
                as_range(found["simulations_per_second"], ".0f", THOUSAND),
                f"{found['mean_depth']['median']:.2f}",
                f"{found['whole_ns']['median']:,.0f}",
                *_percentages(found["share"]),
                f"{100 * found['expansion_share']['median']:.1f} %",
                f"{found['bytes_per_node']:.0f}",
            )
    return [table]


def _python(figures: Mapping[str, Any]) -> list[Table]:
    found = figures["openspiel_python"]
    table = new_table(
        f"OpenSpiel's Python MCTS on Luna and ours, {found['simulations']} simulations, one random playout each",
        "players",
        "ours, thousand/s",
        "theirs/s",
        "ours / theirs",
        "adapter: legal, µs",
        "apply, µs",
        "clone, µs",
    )
    for seats, row in found["players"].items():
        table.add_row(
            seats,
            as_range(row["ours_per_second"], ".1f", THOUSAND),
            as_range(row["theirs_per_second"], ".0f"),
            as_range(row["ratio"], ",.0f"),
            *(f"{cost['median'] / 1000:.1f}" for cost in row["adapter_ns"].values()),
        )
    return [table]


def _cpp(figures: Mapping[str, Any]) -> list[Table]:
    found = figures["openspiel_cpp"]
    table = new_table(
        f"OpenSpiel's C++ MCTS on its games and ours on Luna, {found['simulations']} simulations from the start",
        "game",
        "thousand simulations/s",
        *(f"luna {seats} / game" for seats in found["luna"]),
    )
    for seats, row in found["luna"].items():
        table.add_row(f"luna, {seats} players", as_range(row["simulations_per_second"], ".1f", THOUSAND))
    for name, row in found["games"].items():
        ratios = (f"{ratio['median']:.1f}" for ratio in row["ratio"].values())
        table.add_row(name, as_range(row["simulations_per_second"], ".1f", THOUSAND), *ratios)
    return [table]


def _gumbel(figures: Mapping[str, Any]) -> list[Table | str]:
    found = figures["gumbel_mcts"]
    if found is None:
        return [MISSING]
    table = new_table(
        f"gumbel-mcts and ours, {found['players']} players, {found['games']} games",
        "search",
        "thousand simulations/s",
        "without the evaluator",
    )
    for name, row in found["kinds"].items():
        columns = (row["simulations_per_second"], row["without_evaluator"])
        table.add_row(name, *(as_range(figure, ".0f", THOUSAND) for figure in columns))
    return [table]


SEARCH_SECTIONS: dict[str, Tables] = {
    "uct_ratio": _trees,
    "time_of_a_simulation": _shares,
    "network": _network,
    "openspiel_python": _python,
    "openspiel_cpp": _cpp,
    "gumbel_mcts": _gumbel,
}
"""The key that a section leaves in the figures, and its tables."""
