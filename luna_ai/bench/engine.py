"""`luna bench engine`: all figures of the engine, section by section, as they stand in the JSON file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from engine_fast.playout import MIXED
from luna_ai.bench.costs import Recorded, measure_costs
from luna_ai.bench.measuring import Section, measure_sections, series
from luna_ai.bench.memory import measure_memory
from luna_ai.bench.peers import GAMES, load_pyspiel, measure_peers
from luna_ai.bench.playouts import Playouts, Workers, play_batches_for
from luna_ai.bench.slow import measure_players, measure_positions

PARTS, METHODS = 10, 4  # timed in `costs` and of `Position`


@dataclass(frozen=True)
class EngineBench:
    """What is measured and for how long.

    Attributes:
        players: numbers of players.
        seconds: processor seconds of one run of a playout figure; the small parts get a tenth.
        runs: of each figure; median and range are reported.
        jobs: processes for "all cores".
        decisions: that the memory check plays; 0 leaves it out.
        peers: whether games of OpenSpiel are played too.
    """

    players: tuple[int, ...] = (2, 3, 4)
    seconds: float = 1.0
    runs: int = 5
    jobs: int = 1
    decisions: int = 100_000_000
    peers: bool = False

    @property
    def part_seconds(self) -> float:
        """Processor seconds of one run of a small part."""
        return self.seconds / 10

    @property
    def steps(self) -> int:
        """How often `tick` is called in all."""
        counts = len(self.players)
        playouts, mixed, costs, slow = 2 * counts, counts, PARTS * counts, 2 * counts + METHODS
        peers = counts + len(GAMES) if self.peers else 0
        return self.runs * (playouts + mixed + costs + slow + peers) + bool(self.decisions)


def measure_engine(bench: EngineBench, tick: Callable[[], None], figures: dict[str, Any]) -> None:
    """Measures everything, section by section, into `figures`; a caller who is interrupted keeps what is finished.

    Args:
        bench: what and how long.
        tick: called `bench.steps` times.
        figures: filled; the keys are those of the JSON file.

    Raises:
        NoPeers: peers are wanted and OpenSpiel is not installed.
    """
    if bench.peers:
        load_pyspiel()
    measure_sections(bench, sections(bench, figures), tick, figures)


def sections(bench: EngineBench, figures: dict[str, Any]) -> list[Section]:
    """The sections that are wanted, in order; the ratio is made of the `figures` before it."""
    found: list[Section] = [
        partial(measure_playouts, bench),
        partial(measure_parts, bench),
        partial(measure_slow, bench),
        lambda _: {"reference_ratio": ratios(figures)},
    ]
    if bench.decisions:
        found.append(lambda tick: {"memory": measure_memory(bench.players, bench.decisions, tick)})
    if bench.peers:
        found.append(lambda tick: {"peers": measure_peers(bench.players, bench.seconds, bench.runs, tick)})
    return found


def measure_playouts(bench: EngineBench, tick: Callable[[], None]) -> dict[str, Any]:
    """Uniform random games on one core and on all, in turns; then the mixed policy on one core."""
    one: dict[int, list[Playouts]] = {seats: [] for seats in bench.players}
    every: dict[int, list[list[Playouts]]] = {seats: [] for seats in bench.players}
    mixed: dict[int, list[Playouts]] = {seats: [] for seats in bench.players}
    with Workers(bench.jobs) as workers:
        for run in range(bench.runs):
            for seats in bench.players:
                one[seats] += workers.play_for(bench.seconds, seats, [run])
                tick()
                seeds = [bench.runs + run * bench.jobs + job for job in range(bench.jobs)]
                every[seats].append(workers.play_for(bench.seconds, seats, seeds))
                tick()
    for run in range(bench.runs):
        for seats in bench.players:
            mixed[seats].append(play_batches_for(bench.seconds, seats, MIXED, seed=run))
            tick()
    return playout_figures(one, every, mixed)


def playout_figures(
    one: dict[int, list[Playouts]], every: dict[int, list[list[Playouts]]], mixed: dict[int, list[Playouts]]
) -> dict[str, Any]:
    """The figures of `measure_playouts`, by number of players (a text, as JSON has it)."""
    one_core = {str(seats): speed(runs) for seats, runs in one.items()}
    all_cores = {str(seats): speed_of_all(runs, one[seats]) for seats, runs in every.items()}
    return {
        "decisions_per_second": {seats: found["decisions_per_second"]["median"] for seats, found in one_core.items()},
        "all_cores_decisions_per_second": {
            seats: found["decisions_per_second"]["median"] for seats, found in all_cores.items()
        },
        "one_core": one_core,
        "all_cores": all_cores,
        "mixed_policy": {str(seats): speed(runs) for seats, runs in mixed.items()},
    }


def speed(runs: list[Playouts]) -> dict[str, Any]:
    """Decisions, games and nanoseconds of one core."""
    return {
        "decisions_per_second": series([run.decisions.rate for run in runs]),
        "games_per_second": series([run.games / run.decisions.seconds for run in runs]),
        "decisions_per_game": sum(run.decisions.units for run in runs) / sum(run.games for run in runs),
        "nanoseconds_per_decision": series([run.decisions.nanoseconds for run in runs]),
    }


def speed_of_all(runs: list[list[Playouts]], alone: list[Playouts]) -> dict[str, Any]:
    """Decisions of all processes, by processor time and by the clock on the wall, and how many times one core's."""
    sums = [sum(each.decisions.rate for each in run) for run in runs]
    walls = [sum(each.decisions.units / each.decisions.wall for each in run) for run in runs]
    return {
        "decisions_per_second": series(sums),
        "speedup": series([all_ / one.decisions.rate for all_, one in zip(sums, alone, strict=True)]),
        "wall_decisions_per_second": series(walls),
        "wall_speedup": series(
            [wall * one.decisions.wall / one.decisions.units for wall, one in zip(walls, alone, strict=True)]
        ),
    }


def measure_parts(bench: EngineBench, tick: Callable[[], None]) -> dict[str, Any]:
    """Cost of the parts and profile of a playout, by number of players."""
    found = {
        str(seats): measure_costs(Recorded(seats, seed=seats), bench.part_seconds, bench.runs, tick)
        for seats in bench.players
    }
    return {key: {seats: parts[key] for seats, parts in found.items()} for key in ("costs_ns", "profile_ns")}


def measure_slow(bench: EngineBench, tick: Callable[[], None]) -> dict[str, Any]:
    """Decisions a second of `Position` and of the reference, and microseconds of the methods of `Position`."""
    played = measure_players(bench.players, bench.part_seconds, bench.runs, tick)
    return {
        "position_decisions_per_second": played["position"],
        "reference_decisions_per_second": played["reference"],
        "position_us": measure_positions(bench.part_seconds, bench.runs, tick),
    }


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    """How many times as fast as the reference the playouts are, by number of players."""
    slow = figures["reference_decisions_per_second"]
    return {seats: rate / median(slow[seats]["runs"]) for seats, rate in figures["decisions_per_second"].items()}
