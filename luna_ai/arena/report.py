"""Shows and saves the result of an arena: tables for the terminal, JSON, parquet and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from luna_ai.arena.play import ArenaResult
from luna_ai.run_folder import write_text, write_whole

ORDINALS = ("1st", "2nd", "3rd", "4th")
MOST_WITH_INTERVALS = 6
"""Up to so many players the printed cross table has intervals."""

Figures = dict[str, Any]

RATINGS_SCHEMA = {
    "players": pl.Int8,
    "group": pl.Int64,
    "player": pl.String,
    "rating": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "prior_spread": pl.Float64,
    "reason": pl.String,
}
CROSS_SCHEMA = {
    "players": pl.Int8,
    "row": pl.String,
    "column": pl.String,
    "measure": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def save_arena(result: ArenaResult, figures: Figures, folder: Path) -> list[Path]:
    """Writes figures.json, schedule.parquet, ratings.parquet, cross.parquet and arena.png; returns their paths.

    The games themselves lie in the arena's own folder as `games/*.parquet`.
    """
    from luna_ai.arena.plot import plot_arena

    names = ("figures.json", "schedule.parquet", "ratings.parquet", "cross.parquet", "arena.png")
    paths = [folder / name for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(paths[0], json.dumps(figures, indent=1, allow_nan=False) + "\n")
    write_whole(paths[1], result.schedule().write_parquet)
    write_whole(paths[2], ratings_table(figures).write_parquet)
    write_whole(paths[3], cross_table(figures).write_parquet)
    if figures["tables"]:
        write_whole(paths[4], lambda temporary: plot_arena(figures, temporary))
    return [path for path in paths if path.exists()]


def ratings_table(figures: Figures) -> pl.DataFrame:
    """One row a player count and player."""
    rows = [{"players": found["players"], **rating} for found in figures["tables"] for rating in found["ratings"]]
    return pl.DataFrame(rows, schema=RATINGS_SCHEMA)


def cross_table(figures: Figures) -> pl.DataFrame:
    """One row a player count, row, column and measure (`win_share`, `ahead`); row = column: against all."""
    rows = [
        (found["players"], row, column, measure, *(values[i][j] for values in ends(found["cross"][measure])))
        for found in figures["tables"]
        for measure in found["cross"]
        for i, row in enumerate(found["agents"])
        for j, column in enumerate(found["agents"])
        if found["cross"][measure]["mean"][i][j] is not None
    ]
    return pl.DataFrame(rows, schema=CROSS_SCHEMA, orient="row")


# --- for the terminal ----------------------------------------------------------------------------------------------


def print_arena(figures: Figures, console: Console) -> None:
    """Prints the matches, or players and cross table of each player count of a round robin."""
    if figures["matches"]:
        console.print(match_table(figures), "", position_table(figures), "")
    for found in [] if figures["matches"] else figures["tables"]:
        console.print(player_table(found))
        for remark in remarks(found):
            console.print(f"  {remark}")
        console.print(cross_view(found), "")
    state = "" if figures["complete"] else ", interrupted: finished deals only"
    console.print(f"{figures['games']:,} games, {figures['distinct_games']:,} of them distinct{state}")


def match_table(figures: Figures) -> Table:
    """Verdict and win shares of each match."""
    config, first = figures["config"], figures["matches"][0]
    asked = f"better by {first['better_by']:g}: win share 1/N + {first['better_by']:g} among copies, against 1/N"
    caption = (
        "win share % with 95 % intervals by deals; in a match that stopped early it leans to the side of the verdict.\n"
        f"Sequential test: alpha {config['alpha']:g} over all matches, beta {config['beta']:g} in each; p is Holm's"
    )
    title = f"{config['challenger']}: {asked}"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for heading in ("against", "players", "equal", "one among copies", "reverse", "verdict", "deals", "games", "p"):
        table.add_column(heading, justify="left" if heading in ("against", "verdict") else "right")
    for match in figures["matches"]:
        table.add_row(*match_row(match))
    return table


def match_row(match: Figures) -> list[str]:
    """A row of `match_table`."""
    reverse = match["reverse"]
    games = match["games"] + (reverse["games"] if reverse else 0)
    without = "the same" if match["players"] == 2 else "not played"
    return [
        match["opponent"],
        str(match["players"]),
        f"{100 * match['equal_share']:.1f}",
        with_interval(*ends(match["share"])),
        with_interval(*ends(reverse["share"])) if reverse else without,
        verdict_of(match),
        f"{match['blocks']:,}",
        f"{games:,}",
        p_text(match["p_value_holm"]),
    ]


def position_table(figures: Figures) -> Table:
    """Win shares by turn position of the one among copies, both ways around."""
    title = "win share % of the one among copies by turn position"
    table = Table(title=title, title_justify="left")
    most = max(match["players"] for match in figures["matches"])
    for heading in ("one", "copies of", "players", *ORDINALS[:most]):
        table.add_column(heading, justify="left" if heading in ("one", "copies of") else "right")
    for match in figures["matches"]:
        for found, copied in ((match, match["opponent"]), (match["reverse"], match["challenger"])):
            if found is not None:
                places = [with_half_width(*each) for each in zip(*ends(found["by_turn_position"]), strict=True)]
                table.add_row(found["player"], copied, str(match["players"]), *places)
    return table


def p_text(p_value: float | None) -> str:
    """A p-value with as many digits as it deserves."""
    if p_value is None:
        return ""
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def verdict_of(match: Figures) -> str:
    """The verdict in words."""
    if match["verdict"] == "undecided":
        return "undecided" if match["ended"] else "unfinished"
    return str(match["verdict"])


def ends(shares: Figures) -> tuple[Any, Any, Any]:
    """Mean, low and high."""
    return shares["mean"], shares["low"], shares["high"]


def with_interval(mean: float | None, low: float | None, high: float | None) -> str:
    """A share in %, its interval in brackets."""
    if mean is None:
        return "–"
    return f"{100 * mean:.1f}" + ("" if low is None or high is None else f" ({100 * low:.1f}–{100 * high:.1f})")


def with_half_width(mean: float | None, low: float | None, high: float | None) -> str:
    """A share in %, with half of its interval's width."""
    if mean is None:
        return "–"
    return f"{100 * mean:.1f}" + ("" if low is None or high is None else f" ±{50 * (high - low):.1f}")


def player_table(found: Figures) -> Table:
    """Rating, win share, win shares by turn position and seconds per decision of each player."""
    games = f"{found['games']:,} games ({found['distinct_games']:,} distinct) in {found['blocks']:,} deals"
    caption = f"{games}; 95 % intervals by deals"
    table = Table(title=title_of(found), caption=caption, title_justify="left", caption_justify="left")
    timed = any(value is not None for value in found["seconds_per_decision"].values())
    for heading in ("player", "rating", "win share", *ORDINALS[: found["players"]], *(["s/decision"] * timed)):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    for rating in found["ratings"]:
        table.add_row(*player_row(found, rating, timed))
    everyone = [with_half_width(*each) for each in zip(*ends(found["by_turn_position"]), strict=True)]
    table.add_section()
    table.add_row("all", "", f"{100 * found['equal_share']:.1f}", *everyone)
    return table


def title_of(found: Figures) -> str:
    """Player count and groups."""
    if found["groups"] < found["possible_groups"]:
        part = f"{found['groups']} of {found['possible_groups']:,} groups (a balanced random part)"
    else:
        part = f"{found['groups']} groups"
    return f"{found['players']} players, {part}; win share % overall and by turn position"


def player_row(found: Figures, rating: Figures, timed: bool) -> list[str]:
    """A row of `player_table`."""
    who = found["agents"].index(rating["player"])
    overall, places = found["cross"]["win_share"], found["by_player_and_turn_position"]["mean"][who]
    seconds = found["seconds_per_decision"][rating["player"]]
    return [
        rating["player"],
        rating_cell(rating),
        with_interval(*(overall[key][who][who] for key in ("mean", "low", "high"))),
        *("–" if share is None else f"{100 * share:.1f}" for share in places),
        *(["–" if seconds is None else f"{seconds:.3g}"] * timed),
    ]


def rating_cell(rating: Figures) -> str:
    """A rating with its interval, marked where it has none."""
    if rating["low"] is None:
        return f"{rating['rating']:+.0f}*"
    return f"{rating['rating']:+.0f} ({rating['low']:+.0f}…{rating['high']:+.0f})"


def remarks(found: Figures) -> list[str]:
    """What a reader of ratings must know."""
    spread = found["ratings"][0]["prior_spread"]
    lines = [f"ratings: Plackett-Luce, 400 points are odds of 10 to 1, mean 0, prior normal with spread {spread:g}"]
    lines += [f"* {rating['player']}: {rating['reason']}" for rating in found["ratings"] if rating["reason"]]
    if (groups := 1 + max(rating["group"] for rating in found["ratings"])) > 1:
        lines.append(f"the games leave {groups} groups of players unconnected; ratings compare within a group only")
    return lines


def cross_view(found: Figures) -> Table:
    """Win shares of the row in games with the column."""
    names, shares = found["agents"], found["cross"]["win_share"]
    order = [names.index(rating["player"]) for rating in found["ratings"]]
    title = f"win share % of the row in games with the column (equal: {100 * found['equal_share']:.1f})"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for number, _ in enumerate(order, 1):
        table.add_column(str(number), justify="right")
    keys = ("mean", "low", "high") if len(names) <= MOST_WITH_INTERVALS else ("mean",)
    for number, row in enumerate(order, 1):
        cells = [[shares[key][row][column] for key in keys] for column in order]
        shown = [
            "" if row == column else with_interval(*cell, *[None] * (3 - len(keys)))
            for column, cell in zip(order, cells, strict=True)
        ]
        table.add_row(f"{number} {names[row]}", *shown)
    return table
