"""Plays many games between bots and writes a table: one row a game and seat, with every source of influence.

The same seed gives the same table however many processes run. The folder --out keeps what is finished: the same
command goes on where it was stopped, and more --games add to it.

Examples:
    luna simulate --players 4 --agents greedy --games 100000 --out results/greedy4
    luna simulate --players 3 --agents greedy random random --games 2000 --seed 7
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from luna_ai.config import GameOptions, Parallel, Seeded, WritesJson, argument


@dataclass(frozen=True)
class Config(GameOptions, Seeded, Parallel, WritesJson):
    """Options of `luna simulate`."""

    agents: tuple[str, ...] = argument(("greedy",), "players: one for all seats, or one for each", metavar="NAME")
    games: int = argument(1000, "number of games", low=1, high=100_000_000)
    out: Path | None = argument(
        None, "folder for the tables; a stopped simulation goes on there", writes="folder", metavar="FOLDER"
    )


def run(config: Config) -> int:
    """Plays the games and shows what they say."""
    from engine_fast.position import check_handicap
    from luna_ai.players import parse_table
    from luna_ai.progress import Progress
    from luna_ai.runner import Runner, ruleset_label
    from luna_ai.simulate import Simulation, figures, simulate
    from luna_ai.simulation_view import player_table, position_table
    from luna_ai.terminal import console

    agents = tuple(spec.name for spec in parse_table(config.agents, config.players))
    check_handicap(config.handicap or None, config.players)
    label = ruleset_label(config.rules()[1])
    kind = (config.setup, config.components, label, config.handicap)
    simulation = Simulation(config.players, agents, config.games, config.seed, *kind)
    with Progress("playing", config.games, "games") as progress, Runner(config.num_jobs(), progress.advance) as runner:
        outcome = simulate(simulation, runner, config.out)
    found = figures(simulation, outcome)
    console().print(position_table(found), player_table(found), f"{found['distinct_games']:,} distinct games")
    if config.json is not None:
        config.json.write_text(json.dumps(found, indent=1) + "\n")
    return 130 if outcome.interrupted else 0
