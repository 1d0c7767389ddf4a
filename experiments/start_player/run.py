"""What are the seats worth to players of different strength? Makes every table and picture of this folder anew.

    python experiments/start_player/run.py

A run that was stopped goes on with the same command. Other players, sizes or sheets: copy study.yaml, change it and
name it with --study.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from luna_ai.cli import main as luna
from luna_ai.views.seats import compare_seats, plot_comparison

HERE = Path(__file__).parent


def main() -> None:
    options = read_options()
    study = yaml.safe_load(options.study.read_text(encoding="utf-8"))
    options.tables.mkdir(parents=True, exist_ok=True)
    network = options.network or trained_network(study["network"], options.out / "training")
    figures = {name: figures_of(name, study, network, options) for name in study["agents"]}
    save(figures, options.tables)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=HERE / "study.yaml", help="players, sizes, sheets, seed")
    parser.add_argument("--network", type=Path, help="checkpoint; without it one is trained")
    parser.add_argument("--out", type=Path, default=Path("results/start_player"), help="all games, and the training")
    parser.add_argument("--tables", type=Path, default=HERE / "results", help="tables and pictures")
    parser.add_argument("--jobs", type=int, default=1, help="processes; results do not depend on it")
    return parser.parse_args()


def run_luna(*arguments: object) -> None:
    """One command; what went wrong has been said when it fails."""
    if code := luna([str(argument) for argument in arguments]):
        sys.exit(code)


def trained_network(config: str, folder: Path) -> Path:
    run_luna("train", "--config", config, "--out", folder)
    return folder / "checkpoints" / "latest"


def figures_of(name: str, study: dict[str, Any], network: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Plays the study of one player, or takes up what is there."""
    plan, out = study["agents"][name], options.out / name
    command = ["seats", "--agents", plan["agent"].replace("NETWORK", str(network)), "--seed", study["seed"]]
    command += ["--players", *study["players"], "--components", *study["components"], "--deals", plan["deals"]]
    command += ["--verify-deals", plan.get("verify_deals", plan["deals"]), "--jobs", options.jobs, "--out", out]
    run_luna(*command)
    (options.tables / f"{name}.png").write_bytes((out / "shares.png").read_bytes())
    figures: dict[str, Any] = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    return figures


def save(figures: dict[str, dict[str, Any]], tables: Path) -> None:
    """One table and one picture of all players, and what the games depend on."""
    table = compare_seats(figures)
    table.write_csv(tables / "seats.csv", float_precision=4)
    plot_comparison(table).savefig(tables / "all.png", dpi=110)
    setting = {
        name: {key: found[key] for key in ("config", "versions", "games", "distinct_games")}
        for name, found in figures.items()
    }
    (tables / "settings.json").write_text(json.dumps(setting, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
