"""The start-player study: what it is worth to sit first, second, ... at the table.

Every deal is played with each seat as the first start player; win share, rank and influence are shown by turn
position with 95 % intervals on deals, with a test of "all positions equal" and the handicap that makes them equal.
The folder --out keeps every finished deal: the same command goes on where it was stopped.

Examples:
    luna seats --players 2 3 4 --agents greedy --deals 2000 --out results/greedy-seats
    luna seats --players 3 --agents greedy random random --precision 0.01
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from luna_ai.config import Parallel, Seeded, StudyOptions, WritesJson, argument


@dataclass(frozen=True)
class Config(StudyOptions, Seeded, Parallel, WritesJson):
    """Options of `luna seats`."""

    agents: tuple[str, ...] = argument(("greedy",), "players: one for all seats, or one for each", metavar="NAME")
    deals: int = argument(1000, "deals; with --precision, deals before the first look", low=1, high=10_000_000)
    precision: float | None = argument(
        None, "play until every 95 % interval of a win share is at most plus or minus this", low=0.0001, high=0.4
    )
    max_deals: int = argument(100_000, "with --precision, deals at which to stop anyway", low=1, high=10_000_000)
    verify_deals: int | None = argument(
        None, "deals to verify the fair handicap on (null: as many as were studied)", low=0, high=10_000_000
    )
    out: Path | None = argument(
        None, "folder for games, figures and plot; a stopped study goes on there", writes="folder", metavar="FOLDER"
    )


def run(config: Config) -> int:
    """Plays the study and shows it."""
    from luna_ai.config import load_rules
    from luna_ai.runner import Runner, check_names, ruleset_label, versions
    from luna_ai.seats import SeatStudy, print_study, run_study, save_study
    from luna_ai.seats.progress import StudyProgress
    from luna_ai.terminal import console

    check_names(config.agents)
    games = [load_rules(sheet, name, config.option) for name in config.ruleset for sheet in config.components]
    study = SeatStudy(
        players=config.players,
        agents=config.agents,
        deals=config.deals,
        seed=config.seed,
        setups=config.setup,
        rulesets=tuple(dict.fromkeys(ruleset_label(rules) for _, rules in games)),
        sheets=config.components,
        handicap=config.handicap,
        precision=config.precision,
        max_deals=max(config.max_deals, config.deals),
        verify_deals=config.verify_deals,
        jobs=config.num_jobs(),
        out=config.out,
    )
    with StudyProgress(study) as progress, Runner(study.jobs) as runner:
        result = run_study(study, runner, versions=versions(), report=progress.report)
    print_study(result.figures, console())
    if config.out is not None:
        save_study(result, config.out)
    if config.json is not None:
        config.json.write_text(json.dumps(result.figures, indent=1) + "\n")
    return 130 if result.interrupted else 0
