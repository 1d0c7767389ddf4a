"""Measures speed on this machine.

`engine`: random games a second on one core and on all, what the legal mask, playing a decision and other parts cost
inside kernels, where a playout's time goes, Python and the reference beside it, and memory over many decisions.
`search`: simulations a second of every kind of search, bare playouts beside them, where a simulation's time goes,
memory of a node, and many games in lock-step with evaluators that cost nothing.
`selfplay`: games and positions a second of self-play, where its time goes, how near it is to the bare network, the
learner, and what workers on Ray add.

Figures are processor time, medians of several runs; the load average before and after belongs to them. --peers runs
games and searches of OpenSpiel in the same run, where it is installed (pip install open_spiel), and the search of
gumbel-mcts (pip install gumbel-mcts). docs/SPEED.md explains all.

Examples:
    luna bench engine
    luna bench engine --players 4 --seconds 0.2 --runs 3 --peers --json speed.json
    luna bench search --players 3 --seconds 0.5
    luna bench selfplay --seconds 3 --training configs/train/release.yaml
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from luna_ai.config import Parallel, Players, WritesJson, argument
from luna_ai.training_config import BackendName

if TYPE_CHECKING:
    from luna_ai.bench.engine import EngineBench
    from luna_ai.bench.report import Tables
    from luna_ai.bench.search import SearchBench
    from luna_ai.bench.selfplay import SelfPlayBench


@dataclass(frozen=True)
class Config(Parallel, WritesJson):
    """Options of `luna bench`."""

    what: Literal["engine", "search", "selfplay"] = argument(
        "engine", "what is measured", positional=True, metavar="WHAT"
    )
    players: tuple[Players, ...] = argument((2, 3, 4), "engine, search: numbers of players")
    seconds: float = argument(1.0, "processor seconds of a run; small parts get a tenth", low=0.001, high=3600)
    runs: int = argument(5, "runs of each figure", low=1, high=1000)
    jobs: int | None = argument(
        None, 'engine: processes for "all cores", selfplay: most workers (null: one for each core)', low=1, high=1024
    )
    decisions: int = argument(
        100_000_000, "engine: decisions over which memory is watched; 0: none", low=0, high=1_000_000_000_000
    )
    training: Path | None = argument(None, "selfplay: options of the training, a file of luna train", metavar="FILE")
    checkpoint: Path | None = argument(None, "selfplay: network that plays (null: a new one)", metavar="FILE")
    backend: BackendName | None = argument(None, "selfplay: how the network is evaluated (null: as the training says)")
    peers: bool = argument(False, "engine, search: also OpenSpiel (search: and gumbel-mcts), if installed")


Measure = Callable[[Any, Callable[[], None], dict[str, Any]], None]


def run(config: Config) -> int:
    """Measures, prints the tables, and writes the figures; interrupted, those of the finished sections."""
    from luna_ai.bench.report import print_report
    from luna_ai.progress import Progress
    from luna_ai.terminal import console

    prepare: dict[str, Callable[[Config], tuple[Any, Measure, Mapping[str, Tables]]]] = {
        "engine": engine,
        "search": search,
        "selfplay": selfplay,
    }
    bench, measure, sections = prepare[config.what](config)
    figures, code = dict[str, Any](), 0
    with Progress("measuring", bench.steps, "runs") as progress:
        try:
            measure(bench, progress.advance, figures)
        except KeyboardInterrupt:
            code = 130
    print_report(figures, console(), sections)
    if config.json is not None:
        config.json.write_text(json.dumps(figures, indent=1) + "\n")
    return code


def engine(config: Config) -> tuple[EngineBench, Measure, Mapping[str, Tables]]:
    """What `luna bench engine` measures, how, and the tables of it."""
    from luna_ai.bench.engine import EngineBench, measure_engine
    from luna_ai.bench.report import ENGINE_SECTIONS

    bench = EngineBench(
        players=tuple(dict.fromkeys(config.players)),
        seconds=config.seconds,
        runs=config.runs,
        jobs=config.num_jobs(),
        decisions=config.decisions,
        peers=config.peers,
    )
    return bench, measure_engine, ENGINE_SECTIONS


def search(config: Config) -> tuple[SearchBench, Measure, Mapping[str, Tables]]:
    """What `luna bench search` measures, how, and the tables of it."""
    from luna_ai.bench.search import SearchBench, measure_search
    from luna_ai.bench.search_report import SEARCH_SECTIONS

    players = tuple(dict.fromkeys(config.players))
    bench = SearchBench(players=players, seconds=config.seconds, runs=config.runs, peers=config.peers)
    return bench, measure_search, SEARCH_SECTIONS


def selfplay(config: Config) -> tuple[SelfPlayBench, Measure, Mapping[str, Tables]]:
    """What `luna bench selfplay` measures, how, and the tables of it."""
    from luna_ai.bench.selfplay import SelfPlayBench, measure_selfplay
    from luna_ai.bench.selfplay_report import SELF_PLAY_SECTIONS
    from luna_ai.parsing import parse
    from luna_ai.training_config import TrainingConfig

    words = [] if config.training is None else ["--config", str(config.training)]
    training = parse(TrainingConfig, words, "luna bench: --training", "")
    training.check()
    if config.backend is not None:
        training = replace(training, backend=config.backend)
    bench = SelfPlayBench(
        training=training,
        checkpoint=None if config.checkpoint is None else str(config.checkpoint),
        seconds=config.seconds,
        runs=config.runs,
        jobs=config.num_jobs(),
    )
    return bench, measure_selfplay, SELF_PLAY_SECTIONS
