"""Tables of a simulation for the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from engine_fast.layout import LEDGER_SOURCES


def position_table(figures: dict[str, Any]) -> Table:
    """Win share with interval, rank and influence by turn position."""
    config = figures["config"]
    kind = f"{config['setup']}, {config['ruleset']}, {config['components']}"
    table = Table(title=f"{figures['games']:,} games, {config['players']} players ({kind})", title_justify="left")
    for heading in ("turn position", "win share %", "mean rank", "mean influence"):
        table.add_column(heading, justify="right")
    for row in figures["by_turn_position"]:
        low, high = (100 * end for end in row["interval"])
        share = f"{100 * row['win_share']:.1f} ({low:.1f}–{high:.1f})"
        table.add_row(str(row["turn_position"] + 1), share, f"{row['rank']:.2f}", f"{row['influence']:.1f}")
    return table


def player_table(figures: dict[str, Any]) -> Table:
    """Win share, influence and where it came from, by player."""
    table = Table(title="by player", title_justify="left")
    players = figures["by_player"]
    table.add_column("mean of a game")
    for row in players:
        table.add_column(row["player"], justify="right")
    table.add_row("win share %", *(f"{100 * row['win_share']:.1f}" for row in players))
    table.add_row("influence", *(f"{row['influence']:.1f}" for row in players), end_section=True)
    for source in LEDGER_SOURCES:
        table.add_row(f"  {source}", *(f"{row[source]:.1f}" for row in players))
    return table
