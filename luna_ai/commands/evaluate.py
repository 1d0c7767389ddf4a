"""Measures a trained network: one seat of it among N - 1 copies of a bot, for each bot and number of players.

Every deal is played in every seating with every start player, so no seat or deal favours anybody; intervals are made
from deals. CHECKPOINT is a file, or the folder of a training for its newest. Played is by the rules and the component
sheet that the network was trained by, unless others are given.

Examples:
    luna evaluate runs/quick
    luna evaluate runs/quick/checkpoints/step-40.pt --sims 0 --against greedy --players 3 --deals 100
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from luna_ai.config import (
    Parallel,
    Players,
    RuleSetName,
    Seeded,
    TableOptions,
    UserError,
    WritesJson,
    argument,
    load_rules,
    required,
)

if TYPE_CHECKING:
    from engine_fast.ruleset import RuleSet


@dataclass(frozen=True)
class Config(TableOptions, Seeded, Parallel, WritesJson):
    """Options of `luna evaluate`."""

    checkpoint: Path = required("a checkpoint, or the folder of a training", metavar="CHECKPOINT")
    ruleset: RuleSetName | None = argument(None, "rule set (null: with its options as in the training)")
    option: tuple[str, ...] = argument((), "rule choices that differ, see RULES.md", metavar="KEY=VALUE")
    components: str | None = argument(
        None, "component sheet: a packaged name or a YAML file (null: as in the training)", metavar="NAME|FILE"
    )
    sims: int = argument(32, "simulations of each decision; 0: the policy alone", low=0, high=1_000_000)
    against: tuple[str, ...] = argument(("random", "greedy"), "bots that it is measured against", metavar="NAME")
    players: tuple[Players, ...] = argument((2, 3, 4), "numbers of players, each reported by itself")
    deals: int = argument(20, "deals for each bot and number of players", low=2, high=10_000_000)
    better_by: float = argument(0.02, "win share above 1/N that is tested for", low=0.001, high=0.5)
    out: Path | None = argument(
        None,
        "folder for games, figures and plot; a stopped evaluation goes on there",
        writes="folder",
        metavar="FOLDER",
    )


def run(config: Config) -> int:
    """Plays the matches and shows them."""
    from luna_ai.arena import figures_of, print_arena, run_arena, save_arena
    from luna_ai.arena.progress import ArenaProgress
    from luna_ai.runner import Runner, versions
    from luna_ai.terminal import console

    arena = _matches(config)
    with ArenaProgress(arena) as progress, Runner(config.num_jobs(), progress.advance) as runner:
        result = run_arena(arena, runner, config.out, versions=versions(), report=progress.report)
    figures = figures_of(result)
    print_arena(figures, console())
    if config.out is not None:
        save_arena(result, figures, config.out)
    if config.json is not None:
        config.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 130 if result.interrupted else 0


def _matches(config: Config) -> Any:
    """One match against each bot, on a fixed number of deals."""
    from luna_ai.arena import Challenge
    from luna_ai.players import parse_player
    from luna_ai.runner import ruleset_label

    path = config.checkpoint
    file = (path / "checkpoints" / "latest").resolve() if path.is_dir() else path
    sheet, ruleset = rules_of(config, file)
    return Challenge(
        challenger=parse_player(f"net:{file},sims={config.sims}").name,
        against=tuple(parse_player(name).name for name in config.against),
        better_by=config.better_by,
        min_deals=config.deals,
        max_deals=config.deals,
        one_sided=True,
        players=config.players,
        seatings="rotations",
        seed=config.seed,
        setup=config.setup,
        components=sheet,
        handicap=config.handicap,
        ruleset=ruleset_label(ruleset),
    )


def rules_of(config: Config, file: Path) -> tuple[str, RuleSet]:
    """The component sheet, as it is named, and the rule set: as given, otherwise those of the training.

    Raises:
        ValueError: one line: no such rules, the file is no checkpoint, or the sheet of the training has changed.
    """
    from luna_ai.checkpoint import read_checkpoint

    training = read_checkpoint(file).training
    trained = training.get("config", {})
    components = config.components or trained.get("components", "reconstructed")
    ruleset, option = config.ruleset, config.option
    if ruleset is None and not option:
        ruleset, option = trained.get("ruleset"), tuple(trained.get("option", ()))
    sheet, rules = load_rules(components, ruleset or "official", option)
    if config.components is None and training.get("sheet", sheet.sha256) != sheet.sha256:
        raise UserError(f"components: {components} has changed since this network was trained; give --components")
    return components, rules
