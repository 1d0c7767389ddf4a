"""Measures a trained network: one seat of it among N - 1 copies of a bot, for each bot and number of players.

Every deal is played in every seating with every start player, so no seat or deal favours anybody; intervals are made
from deals. CHECKPOINT is a file, or the folder of a training for its newest.

Examples:
    luna evaluate runs/quick
    luna evaluate runs/quick/checkpoints/step-40.pt --sims 0 --against greedy --players 3 --deals 100
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from luna_ai.config import Parallel, Players, RuleOptions, Seeded, WritesJson, argument, required


@dataclass(frozen=True)
class Config(RuleOptions, Seeded, Parallel, WritesJson):
    """Options of `luna evaluate`."""

    checkpoint: Path = required("a checkpoint, or the folder of a training", metavar="CHECKPOINT")
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
        components=config.components,
        handicap=config.handicap,
        ruleset=ruleset_label(config.rules()[1]),
    )
