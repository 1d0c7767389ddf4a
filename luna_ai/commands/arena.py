"""The arena: who is better, and by how much, at tables of two, three and four.

Round robin (--agents): groups of players meet on deals of their own, each deal in all seatings times every start
player; ends with ratings, a cross table and win shares by turn position.

Challenger (--challenger A --against B C): one A among N-1 copies of B, and one B among copies of A, for each player
count; a match stops as soon as "A wins 1/N + x of its games" (--better-by x) or "no more than 1/N" is decided.

The folder --out keeps every finished deal: the same command goes on where it was stopped, more deals add to it.

Examples:
    luna arena --agents random greedy strategy:temple strategy:council --players 3 4 --deals 20 --out results/robin
    luna arena --challenger greedy --against strategy:temple random --better-by 0.05 --out results/greedy
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from luna_ai.config import Parallel, Players, RuleOptions, Seeded, UserError, WritesJson, argument


@dataclass(frozen=True)
class Config(RuleOptions, Seeded, Parallel, WritesJson):
    """Options of `luna arena`."""

    agents: tuple[str, ...] = argument((), "round robin: the players", metavar="NAME")
    challenger: str | None = argument(None, "match: who is measured", metavar="NAME")
    against: tuple[str, ...] = argument((), "match: one or more opponents", metavar="NAME")
    players: tuple[Players, ...] = argument((2, 3, 4), "numbers of players, each reported by itself")
    better_by: float = argument(0.02, "match: win share above 1/N to decide on", low=0.001, high=0.5)
    min_deals: int = argument(30, "match: deals before the first look at the test", low=2, high=10_000_000)
    one_sided: bool = argument(False, "match: leave the reverse out (one opponent among copies of the challenger)")
    max_deals: int = argument(3000, "match: deals at which it ends undecided", low=2, high=10_000_000)
    deals: int = argument(50, "round robin: deals for each group of players", low=1, high=10_000_000)
    max_groups: int = argument(
        60, "round robin: with more groups, a balanced random part of so many plays", low=1, high=10_000
    )
    seatings: Literal["all", "rotations"] = argument("all", "orders around the table in which a deal is played")
    out: Path | None = argument(
        None, "folder for games, figures and plot; a stopped arena goes on there", writes="folder", metavar="FOLDER"
    )
    tensorboard: Path | None = argument(
        None, "also write TensorBoard scalars into this folder", writes="folder", metavar="FOLDER"
    )


def run(config: Config) -> int:
    """Plays the arena and shows it."""
    from luna_ai.arena import figures_of, print_arena, run_arena, save_arena
    from luna_ai.arena.progress import ArenaProgress
    from luna_ai.arena.scalars import check_writer, write_scalars
    from luna_ai.runner import Runner, versions
    from luna_ai.terminal import console

    arena = _arena(config)
    if config.tensorboard is not None:
        check_writer()
    with ArenaProgress(arena) as progress, Runner(config.num_jobs(), progress.advance) as runner:
        result = run_arena(arena, runner, config.out, versions=versions(), report=progress.report)
    figures = figures_of(result)
    print_arena(figures, console())
    if config.out is not None:
        save_arena(result, figures, config.out)
    if config.json is not None:
        config.json.write_text(json.dumps(figures, indent=1) + "\n")
    if config.tensorboard is not None:
        write_scalars(figures, config.tensorboard)
    return 130 if result.interrupted else 0


def _arena(config: Config):  # type: ignore[no-untyped-def]  # luna_ai.arena is imported late
    """The settings of the round robin or of the matches; names as the players print them."""
    from luna_ai.arena import Challenge, RoundRobin
    from luna_ai.players import parse_player
    from luna_ai.runner import ruleset_label

    common = {key: getattr(config, key) for key in ("players", "seatings", "seed", "setup", "components", "handicap")}
    common["ruleset"] = ruleset_label(config.rules()[1])
    agents, against = (tuple(parse_player(name).name for name in names) for names in (config.agents, config.against))
    if bool(agents) == (config.challenger is not None) or bool(against) != (config.challenger is not None):
        raise UserError("say either --agents (round robin) or --challenger and --against (matches)")
    if config.challenger is None:
        return RoundRobin(agents=agents, deals=config.deals, max_groups=config.max_groups, **common)
    sizes = {key: getattr(config, key) for key in ("better_by", "min_deals", "max_deals", "one_sided")}
    return Challenge(challenger=parse_player(config.challenger).name, against=against, **sizes, **common)
