"""Measures speed on this machine.

`engine`: random games a second on one core and on all, what the legal mask, playing a decision and other parts cost
inside kernels, where a playout's time goes, Python and the reference beside it, and memory over many decisions.
Figures are processor time, medians of several runs; the load average before and after belongs to them. --peers plays
games of OpenSpiel in the same run, where it is installed (pip install open_spiel). docs/SPEED.md explains all.

Examples:
    luna bench engine
    luna bench engine --players 4 --seconds 0.2 --runs 3 --peers --json speed.json
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from luna_ai.config import Parallel, Players, WritesJson, argument


@dataclass(frozen=True)
class Config(Parallel, WritesJson):
    """Options of `luna bench`."""

    what: Literal["engine"] = argument("engine", "what is measured", positional=True, metavar="WHAT")
    players: tuple[Players, ...] = argument((2, 3, 4), "numbers of players")
    seconds: float = argument(1.0, "processor seconds of a run; small parts get a tenth", low=0.001, high=3600)
    runs: int = argument(5, "runs of each figure", low=1, high=1000)
    jobs: int | None = argument(None, 'processes for "all cores" (null: one for each core)', low=1, high=1024)
    decisions: int = argument(
        100_000_000, "decisions over which memory is watched; 0: none", low=0, high=1_000_000_000_000
    )
    peers: bool = argument(False, "also random play of OpenSpiel's games, if it is installed")


def run(config: Config) -> int:
    """Measures, prints the tables, and writes the figures; interrupted, those of the finished sections."""
    from luna_ai.bench.engine import EngineBench, measure_engine
    from luna_ai.bench.report import print_report
    from luna_ai.progress import Progress
    from luna_ai.terminal import console

    bench = EngineBench(
        players=tuple(dict.fromkeys(config.players)),
        seconds=config.seconds,
        runs=config.runs,
        jobs=config.num_jobs(),
        decisions=config.decisions,
        peers=config.peers,
    )
    figures, code = dict[str, Any](), 0
    with Progress("measuring", bench.steps, "runs") as progress:
        try:
            measure_engine(bench, progress.advance, figures)
        except KeyboardInterrupt:
            code = 130
    print_report(figures, console())
    if config.json is not None:
        config.json.write_text(json.dumps(figures, indent=1) + "\n")
    return code
