"""Shows and saves the result of a seat study: a table for the terminal, JSON, parquet and a plot."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from luna_ai.run_folder import write_text, write_whole
from luna_ai.seats.figures import BY_PLAYER, BY_POSITION, BY_SEAT, MEASURES
from luna_ai.seats.study import StudyResult

ORDINALS = ("first", "second", "third", "fourth")
DECIMALS = {"win_share": (100, 1), "mean_rank": (1, 2), "mean_influence": (1, 1)}
"""How a measure is printed: factor (shares in %) and decimals."""

HEADINGS = {"win_share": "win share %", "mean_rank": "mean rank", "mean_influence": "mean influence"}


def save_study(result: StudyResult, folder: Path) -> list[Path]:
    """Writes figures.json, schedule.parquet, summary.parquet and shares.png; returns their paths.

    The games themselves lie in the study's own folder as `games/*.parquet`.
    """
    from luna_ai.plots import plot_shares

    paths = [folder / name for name in ("figures.json", "schedule.parquet", "summary.parquet", "shares.png")]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(paths[0], json.dumps(result.figures, indent=1, allow_nan=False) + "\n")
    write_whole(paths[1], result.schedule.write_parquet)
    write_whole(paths[2], summary_table(result.figures).write_parquet)
    write_whole(paths[3], lambda temporary: plot_shares(result.figures, temporary))
    return paths


def summary_table(figures: dict[str, Any]) -> pl.DataFrame:
    """One row for each stage, variant, group and measure, with mean and interval."""
    rows = []
    for variant in figures["variants"]:
        for stage, found in (("study", variant), ("verification", variant["verification"])):
            rows += stage_rows(stage, variant, found) if found else []
    return pl.DataFrame(rows, schema=SUMMARY_SCHEMA, orient="row")


SUMMARY_SCHEMA = {
    "stage": pl.String,
    "players": pl.Int8,
    "setup": pl.String,
    "ruleset": pl.String,
    "components": pl.String,
    "blocks": pl.Int64,
    "games": pl.Int64,
    "by": pl.String,
    "group": pl.String,
    "measure": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def stage_rows(stage: str, variant: dict[str, Any], found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Rows of the summary of one stage."""
    head = (stage, *(variant[key] for key in ("players", "setup", "ruleset", "components")))
    size = (found["blocks"], found["games"])
    return [
        (*head, *size, by, str(group), measure, mean, low, high)
        for by in (BY_POSITION, BY_SEAT, BY_PLAYER)
        if f"by_{by}" in found
        for measure in MEASURES
        for group, mean, low, high in zip(found[f"by_{by}"][by], *ends(found[f"by_{by}"][measure]), strict=True)
    ]


def ends(measure: dict[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Mean, low and high of a measure's figures."""
    return measure["mean"], measure["low"], measure["high"]


def print_study(figures: dict[str, Any], console: Console) -> None:
    """Prints a table for each variant, with the tests below it."""
    for variant in figures["variants"]:
        console.print(variant_table(variant))
        for line in remarks(variant):
            console.print(f"  {line}", highlight=False)
        if f"by_{BY_PLAYER}" in variant:
            console.print(player_table(variant))
        console.print()
    state = "" if figures["complete"] else ", interrupted: finished deals only"
    console.print(f"{figures['games']:,} games, {figures['distinct_games']:,} of them distinct{state}", highlight=False)


def variant_table(variant: dict[str, Any]) -> Table:
    """Win share, rank and influence by turn position, the fair handicap, and win shares with it."""
    names = ", ".join(dict.fromkeys(variant["agents"]))
    title = f"{variant['players']} players, {names} ({variant['setup']}, {variant['ruleset']}, {variant['components']})"
    games = f"{variant['games']:,} games ({variant['distinct_games']:,} distinct) in {variant['blocks']:,} deals"
    caption = f"{games}; 95 % intervals by deals"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    columns = [[with_interval(variant["by_turn_position"][m], m, p) for p in positions(variant)] for m in MEASURES]
    columns.append([handicap_cell(variant["fair_handicap"], p) for p in positions(variant)])
    headings = [*HEADINGS.values(), "fair handicap"]
    if variant["verification"]:
        shares = variant["verification"]["by_turn_position"]["win_share"]
        columns.append([with_interval(shares, "win_share", p) for p in positions(variant)])
        headings.append(f"win share % with {signed(variant['verification']['handicap'])}")
    table.add_column("turn position")
    for heading in headings:
        table.add_column(heading, justify="right")
    for position in positions(variant):
        table.add_row(ORDINALS[position], *(column[position] for column in columns))
    return table


def positions(variant: dict[str, Any]) -> range:
    """Turn positions of a variant."""
    return range(variant["players"])


def with_interval(measure: dict[str, Any], name: str, index: int) -> str:
    """A mean with its interval in brackets."""
    factor, decimals = DECIMALS[name]
    mean, low, high = (values[index] for values in ends(measure))
    if low is None:
        return f"{factor * mean:.{decimals}f}"
    return f"{factor * mean:.{decimals}f} ({factor * low:.{decimals}f}–{factor * high:.{decimals}f})"


def handicap_cell(found: dict[str, Any], position: int) -> str:
    """The fair handicap of a position with its interval."""
    if not found["identified"]:
        return "not identified"
    if position == 0:
        return "0"
    value, low, high = (round(found[key][position], 1) + 0.0 for key in ("handicap", "low", "high"))
    return f"{value:+.1f} ({low:+.1f}…{high:+.1f})"


def signed(points: list[int]) -> str:
    """A handicap by turn position as it is written after --handicap."""
    return " ".join(f"{value}" for value in points)


def remarks(variant: dict[str, Any]) -> list[str]:
    """What the tests say, in words."""
    lines = [f"all positions equal: {verdict(variant['by_turn_position']['all_equal']['win_share'])}"]
    control = variant["by_seat"]
    shares = " ".join(f"{100 * share:.1f}" for share in control["win_share"]["mean"])
    flat = verdict(control["all_equal"]["win_share"])
    lines.append(f"control, seats 0 to {variant['players'] - 1}: {shares} %, {flat}")
    if not variant["fair_handicap"]["identified"]:
        lines.append(f"fair handicap not identified: {variant['fair_handicap']['reason']}")
    if variant["verification"]:
        test = variant["verification"]["by_turn_position"]["all_equal"]["win_share"]
        played, blocks = signed(variant["verification"]["handicap"]), variant["verification"]["blocks"]
        lines.append(f"with handicap {played} on {blocks:,} other deals: {verdict(test)}")
    if "precision" in variant and not variant["precision"]["reached"]:
        lines.append(f"precision {variant['precision']['wanted']} not reached")
    return lines


def verdict(test: dict[str, Any]) -> str:
    """A test in words."""
    if test["p_value"] is None:
        return f"no test ({test['reason']})"
    holm = test.get("p_value_holm")
    corrected = "" if holm is None else f", {p_text('Holm', holm)}"
    return p_text("p", test["p_value"]) + corrected + (" (permutation)" if test["method"] == "permutation" else "")


def p_text(name: str, p_value: float) -> str:
    """A p-value with as many digits as it deserves."""
    return f"{name} < 0.0001" if p_value < 0.0001 else f"{name} = {p_value:.4f}"


def player_table(variant: dict[str, Any]) -> Table:
    """Win share, rank and influence by player, for tables of different players."""
    found = variant[f"by_{BY_PLAYER}"]
    table = Table(title="by player, each in every turn position equally often", title_justify="left")
    table.add_column("player")
    for heading in HEADINGS.values():
        table.add_column(heading, justify="right")
    for index, name in enumerate(found[BY_PLAYER]):
        table.add_row(name, *(with_interval(found[measure], measure, index) for measure in MEASURES))
    return table
