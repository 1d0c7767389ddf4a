"""The figures of `luna bench` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

MILLION = 1e6
Tables = Callable[[Mapping[str, Any]], Sequence[Table | str]]
"""The tables (or lines) of a section, made of all figures."""


def print_report(figures: Mapping[str, Any], console: Console, sections: Mapping[str, Tables]) -> None:
    """Machine, versions and load, and the tables of the sections that are there.

    Args:
        figures: as `luna_ai.bench.engine` or another bench leaves them.
        console: where to print.
        sections: the key that a section leaves in the figures, and its tables.
    """
    machine, settings = figures["machine"], figures["settings"]
    console.print(f"{machine['processor']} ({machine['kind']}), {machine['cores']} cores; {_versions(figures)}")
    console.print(f"median (min-max) of {settings['runs']} runs, processor time")
    for key, tables in sections.items():
        for table in tables(figures) if key in figures else ():
            console.print()
            console.print(table)
    console.print(f"\nload average before: {_load(figures, 'before')}, after: {_load(figures, 'after')}")


def _versions(figures: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in figures["versions"].items())


def _load(figures: Mapping[str, Any], when: str) -> str:
    load = figures["load_average"][when]
    return " ".join(f"{value:.2f}" for value in load) if load else "unknown"


def new_table(title: str, first: str, *columns: str) -> Table:
    """A table whose columns after the first are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def as_range(found: Mapping[str, Any], form: str, unit: float = 1.0) -> str:
    """`27.1 (26.8-27.5)`."""
    median, low, high = (format(found[key] / unit, form) for key in ("median", "min", "max"))
    return f"{median} ({low}-{high})"


def _playouts(figures: Mapping[str, Any]) -> list[Table]:
    speed = new_table(
        "Uniform random games, set-up and preliminary round included, one core",
        "players",
        "M decisions/s",
        "ns a decision",
        "games/s",
        "decisions a game",
        "mixed policy, M/s",
    )
    for seats, found in figures["one_core"].items():
        speed.add_row(
            seats,
            as_range(found["decisions_per_second"], ".1f", MILLION),
            as_range(found["nanoseconds_per_decision"], ".1f"),
            f"{found['games_per_second']['median']:,.0f}",
            f"{found['decisions_per_game']:.0f}",
            as_range(figures["mixed_policy"][seats]["decisions_per_second"], ".1f", MILLION),
        )
    return [speed, _all_cores(figures)]


def _all_cores(figures: Mapping[str, Any]) -> Table:
    jobs = figures["settings"]["jobs"]
    table = new_table(
        f"The same in {jobs} {'process' if jobs == 1 else 'processes'}",
        "players",
        "M decisions/s",
        "times one core",
        "by the wall clock, M/s",
        "times one core",
    )
    for seats, found in figures["all_cores"].items():
        table.add_row(
            seats,
            as_range(found["decisions_per_second"], ".1f", MILLION),
            as_range(found["speedup"], ".2f"),
            as_range(found["wall_decisions_per_second"], ".1f", MILLION),
            as_range(found["wall_speedup"], ".2f"),
        )
    return table


def _by_players(title: str, figures: Mapping[str, Mapping[str, Any]]) -> Table:
    """Rows are the parts, columns the numbers of players."""
    table = new_table(title, "ns", *(f"{seats} players" for seats in figures))
    for name in next(iter(figures.values())):
        row = [as_range(parts[name], ".1f") for parts in figures.values()]
        table.add_row(name.replace("_", " "), *row)
    return table


def _costs(figures: Mapping[str, Any]) -> list[Table]:
    return [
        _by_players("Cost of a call, for recorded positions in a row", figures["costs_ns"]),
        _by_players("Where a decision of a playout spends its time", figures["profile_ns"]),
    ]


def _python(figures: Mapping[str, Any]) -> list[Table]:
    slow = new_table("For comparison, decisions/s", "players", "Position", "reference", "playouts / reference")
    for seats, found in figures["reference_decisions_per_second"].items():
        slow.add_row(
            seats,
            as_range(figures["position_decisions_per_second"][seats], ",.0f"),
            as_range(found, ",.0f"),
            f"{figures['reference_ratio'][seats]:,.0f}",
        )
    methods = new_table("Calls from Python", "method", "µs")
    for name, found in figures["position_us"].items():
        methods.add_row(name, as_range(found, ".1f"))
    return [slow, methods]


def _memory(figures: Mapping[str, Any]) -> list[Table]:
    found = figures["memory"]
    table = new_table("Memory of a process that plays", "", "")
    table.add_row("decisions", f"{found['decisions']:,}")
    for key in ("resident_before", "resident_after", "growth", "peak"):
        size = "unknown" if found[key] is None else f"{found[key] / MILLION:.2f} MB"
        table.add_row(key.replace("_", " "), size)
    return [table]


def _peers(figures: Mapping[str, Any]) -> list[Table]:
    ours, games = figures["peers"]["luna"], figures["peers"]["games"]
    table = new_table(
        "Luna and random play of OpenSpiel's games (C++) in turns, one core",
        "game",
        "M decisions/s",
        "decisions a game",
        *(f"luna {seats} / game" for seats in ours),
    )
    for seats, found in ours.items():
        length = f"{figures['one_core'][seats]['decisions_per_game']:.0f}"
        table.add_row(f"luna, {seats} players", as_range(found["decisions_per_second"], ".2f", MILLION), length)
    for name, found in games.items():
        table.add_row(
            name,
            as_range(found["decisions_per_second"], ".2f", MILLION),
            f"{found['decisions_per_game']:.0f}",
            *(f"{ratio['median']:.1f}" for ratio in found["ratio"].values()),
        )
    return [table]


ENGINE_SECTIONS: dict[str, Tables] = {
    "one_core": _playouts,
    "costs_ns": _costs,
    "reference_ratio": _python,
    "memory": _memory,
    "peers": _peers,
}
"""The key that a section leaves in the figures, and its tables."""
