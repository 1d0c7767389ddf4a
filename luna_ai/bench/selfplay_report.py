"""The figures of `luna bench selfplay` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from luna_ai.bench.report import Tables, as_range, new_table
from luna_ai.bench.selfplay import PARTS

THOUSAND = 1e3


def _self_play(figures: Mapping[str, Any]) -> list[Table]:
    found, settings = figures["self_play"], figures["settings"]
    training = settings["training"]
    title = f"Self-play in one process, {training['slots']} games side by side, network {figures['network']}"
    table = new_table(title, "of a processor second", "")
    table.add_row("games", as_range(found["games_per_second"], ".1f"))
    table.add_row("decisions, thousands", as_range(found["decisions_per_second"], ".2f", THOUSAND))
    table.add_row("evaluations, thousands", as_range(found["evaluations_per_second"], ".1f", THOUSAND))
    table.add_row("bare backend, thousands", as_range(found["bare_evaluations_per_second"], ".1f", THOUSAND))
    table.add_row("self-play / bare backend", as_range(found["ratio"], ".2f"))
    table.add_row("positions in a batch", as_range(found["mean_batch"], ".1f"))
    shares = new_table("Where its time goes", "part", "share")
    for part in PARTS:
        shares.add_row(part, f"{100 * found[f'share_{part}']['median']:.1f} %")
    return [table, shares]


def _learner(figures: Mapping[str, Any]) -> list[Table]:
    found, local = figures["learner"], figures["self_play"]["games_per_second"]["median"]
    table = new_table("Learner, one thread", "", "")
    table.add_row("samples/s, thousands", as_range(found["samples_per_second"], ".1f", THOUSAND))
    table.add_row("trained on for each game", f"{found['trained_on_per_game']:.0f}")
    learning = found["trained_on_per_game"] / found["samples_per_second"]["median"]
    table.add_row("share of a step, one process", f"{100 * learning / (learning + 1 / local):.0f} %")
    return [table]


def _workers(figures: Mapping[str, Any]) -> list[Table | str]:
    found = figures["workers"]
    if isinstance(found, str):
        return [found]
    table = new_table(
        "Workers on Ray, without a learner, by the wall clock",
        "workers",
        "games/s",
        "evaluations/s, thousands",
        "/ no Ray",
        "/ 1 worker",
    )
    for name, row in found.items():
        table.add_row(
            "no Ray" if name == "0" else name,
            as_range(row["games_per_second"], ".1f"),
            as_range(row["evaluations_per_second"], ".1f", THOUSAND),
            as_range(row["to_local"], ".2f"),
            as_range(row["to_one"], ".2f") if "to_one" in row else "",
        )
    return [table]


SELF_PLAY_SECTIONS: dict[str, Tables] = {"self_play": _self_play, "learner": _learner, "workers": _workers}
"""The key that a section leaves in the figures, and its tables."""
