"""Plays a seat study in blocks, resumes it, and gathers its figures.

The game runner is an argument, so the study knows nothing about engine or players. For each variant: play the deals
(or as many as the precision needs), find the fair handicap, play it on fresh deals. Whatever stops a study, the blocks
that were finished count, and the same call goes on from there.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import polars as pl

from luna_ai.run_folder import RunChanged
from luna_ai.seats.figures import (
    distinct_games,
    find_handicap,
    handicap_figures,
    played_handicap,
    stage_figures,
    widest_half_width,
)
from luna_ai.seats.handicap import FairHandicap
from luna_ai.seats.schedule import SeatStudy, Variant, build_schedule, next_check
from luna_ai.seats.store import FORMAT, GameStore, accept_games
from luna_ai.stats import holm

FIRST_BLOCKS = 16
MOST_BLOCKS = 8192
SECONDS_A_PART = 10.0
"""Blocks are handed to the runner in parts that grow to about this long; a Ctrl-C that the runner does not answer with
the games it has loses no more than that."""


class GameRunner(Protocol):
    """Plays the rows of a schedule (`luna_ai.seats.schedule.SCHEDULE_SCHEMA`).

    Returns a table with one row a game and seat, in any order. A runner that is interrupted may return the games it has
    (the study keeps the whole blocks among the first of them and stops) or let KeyboardInterrupt pass.
    """

    def __call__(self, schedule: pl.DataFrame, /) -> pl.DataFrame:
        """Plays all rows."""


@dataclass(frozen=True)
class Progress:
    """Where a study stands after a part.

    Attributes:
        variant: what is being played.
        stage: "study" or "verification".
        blocks: finished deals of this stage.
        goal: deals that are needed; with a precision, until the next check.
        half_width: with a precision, the widest half-width at the last check; otherwise None.
    """

    variant: Variant
    stage: str
    blocks: int
    goal: int
    half_width: float | None = None


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class StudyResult:
    """Outcome of a study.

    Attributes:
        study: its configuration.
        figures: all figures, ready for JSON.
        games: one row a game and seat of everything that was played; `stage` tells study and verification apart.
        schedule: one row a game, with `stage`.
        interrupted: whether it stopped early; the figures then stand on the blocks that were finished.
    """

    study: SeatStudy
    figures: dict[str, Any]
    games: pl.DataFrame
    schedule: pl.DataFrame
    interrupted: bool


def run_study(
    study: SeatStudy,
    play_games: GameRunner,
    *,
    versions: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> StudyResult:
    """Plays a study, or the rest of one that was stopped, and computes its figures.

    Args:
        study: what to study.
        play_games: plays a schedule; see GameRunner.
        versions: versions that the games depend on, by name; a study resumes only with the same.
        report: called after each part.

    Raises:
        RunChanged: if the study's folder holds another study.
        InvalidRun: if the folder cannot be used.
        RunnerError: if the runner's table does not fit its schedule.
    """
    store = GameStore(study, versions or {})
    play = StudyPlay(study, store, play_games, report or (lambda progress: None))
    interrupted = False
    try:
        for variant in study.variants:
            play.variant(variant)
    except KeyboardInterrupt:
        interrupted = True
    return gather(study, store, play.handicaps, interrupted)


class StudyPlay:
    """The playing half of a study: knows what is still missing and has it played."""

    def __init__(self, study: SeatStudy, store: GameStore, play_games: GameRunner, report: Report) -> None:
        """Nothing is played yet."""
        self.study = study
        self.store = store
        self.play_games = play_games
        self.report = report
        self.handicaps: dict[Variant, FairHandicap] = {}
        self._blocks = FIRST_BLOCKS

    def variant(self, variant: Variant) -> None:
        """Plays whatever a variant still needs; KeyboardInterrupt passes, what was finished is stored."""
        self._blocks = FIRST_BLOCKS
        self._play_study(variant)
        fair = find_handicap(self.study, variant, self.store.games("study", variant))
        self.handicaps[variant] = fair
        if fair.identified:
            played = self.store.num_blocks("study", variant)
            deals = played if self.study.verify_deals is None else self.study.verify_deals
            handicap = played_handicap(fair.rounded)
            if self.store.handicap("verification", variant) not in (None, handicap):
                raise RunChanged(f"{self.study.out} holds a verification with another handicap than {handicap}")
            self._play_until(Progress(variant, "verification", 0, deals), handicap)

    def _play_study(self, variant: Variant) -> None:
        """Plays a fixed number of deals, or looks at the precision after more and more of them."""
        study, goal = self.study, self.study.deals
        self._play_until(Progress(variant, "study", 0, goal), study.handicap)
        while study.precision is not None:
            width = widest_half_width(study, variant, self.store.games("study", variant).filter(pl.col("block") < goal))
            if width <= study.precision or goal >= study.max_deals:
                break
            goal = next_check(goal, width, study.precision, study.max_deals)
            self._play_until(Progress(variant, "study", 0, goal, width), study.handicap)

    def _play_until(self, goal: Progress, handicap: tuple[int, ...]) -> None:
        """Plays parts until a stage has as many blocks as the goal says."""
        while (blocks := self.store.num_blocks(goal.stage, goal.variant)) < goal.goal:
            last = min(goal.goal, blocks + self._blocks)
            self._play_part(goal, range(blocks, last), handicap)
            self.report(replace(goal, blocks=self.store.num_blocks(goal.stage, goal.variant)))

    def _play_part(self, goal: Progress, blocks: range, handicap: tuple[int, ...]) -> None:
        """Plays some blocks, stores those that are whole, and adapts the size of the next part to the time it took."""
        schedule = build_schedule(self.study, goal.variant, goal.stage, blocks, handicap)
        began = time.monotonic()
        games = accept_games(schedule, self.play_games(schedule), goal.stage)
        self.store.append(goal.stage, goal.variant, games)
        if len(games) < schedule["players"].sum():
            raise KeyboardInterrupt
        fitting = len(blocks) * SECONDS_A_PART / max(time.monotonic() - began, 1e-3)
        self._blocks = max(1, min(int(fitting), 4 * self._blocks, MOST_BLOCKS))


def gather(
    study: SeatStudy, store: GameStore, handicaps: Mapping[Variant, FairHandicap], interrupted: bool
) -> StudyResult:
    """Figures and tables of all that a store holds."""
    variants = [variant for variant in study.variants if store.num_blocks("study", variant)]
    figures = [variant_figures(study, store, variant, handicaps.get(variant)) for variant in variants]
    add_holm(figures)
    stages = [(stage, v) for v in variants for stage in ("study", "verification") if store.num_blocks(stage, v)]
    tables = [store.games(stage, variant) for stage, variant in stages]
    plans = [played_schedule(study, store, stage, variant) for stage, variant in stages]
    summary = {
        "format": FORMAT,
        "config": study.identity(),
        "versions": store.versions,
        "complete": not interrupted,
        "games": sum(map(len, plans)),
        "distinct_games": sum(map(distinct_games, tables)),
        "variants": figures,
    }
    return StudyResult(
        study=study,
        figures=summary,
        games=pl.concat(tables) if tables else pl.DataFrame(),
        schedule=pl.concat(plans) if plans else pl.DataFrame(),
        interrupted=interrupted,
    )


def variant_figures(study: SeatStudy, store: GameStore, variant: Variant, fair: FairHandicap | None) -> dict[str, Any]:
    """Figures of one variant: the study, the fair handicap and, where it was played, its verification."""
    games = store.games("study", variant)
    fair = fair or find_handicap(study, variant, games)
    figures: dict[str, Any] = {
        "players": variant.players,
        "setup": variant.setup,
        "ruleset": variant.ruleset,
        "components": variant.components,
        "agents": list(study.seating(variant.players)),
        "equal_share": 1 / variant.players,
        **stage_figures(study, variant, "study", games),
        "fair_handicap": handicap_figures(fair),
        "verification": None,
    }
    if study.precision is not None:
        width = widest_half_width(study, variant, games)
        figures["precision"] = {
            "wanted": study.precision,
            "half_width": None if math.isnan(width) else width,
            "reached": width <= study.precision,
        }
    if store.num_blocks("verification", variant):
        played = {"handicap": list(played_handicap(fair.rounded))}
        found = stage_figures(study, variant, "verification", store.games("verification", variant))
        figures["verification"] = played | found
    return figures


def add_holm(figures: list[dict[str, Any]]) -> None:
    """Adds to each variant's test of equal win shares the p-value corrected for the number of variants."""
    tests = [variant["by_turn_position"]["all_equal"]["win_share"] for variant in figures]
    p_values = [math.nan if test["p_value"] is None else test["p_value"] for test in tests]
    for test, corrected in zip(tests, holm(p_values), strict=True):
        test["p_value_holm"] = None if math.isnan(corrected) else corrected


def played_schedule(study: SeatStudy, store: GameStore, stage: str, variant: Variant) -> pl.DataFrame:
    """The schedule of the blocks that a stage has finished, with its stage as a column."""
    handicap = store.handicap(stage, variant) or ()
    plan = build_schedule(study, variant, stage, range(store.num_blocks(stage, variant)), handicap)
    return plan.select(pl.lit(stage).alias("stage"), pl.all())
