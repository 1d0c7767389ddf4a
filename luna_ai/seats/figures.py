"""What the games of a seat study say, as plain numbers.

All figures come from block means (`luna_ai.stats`): of each block's games, the mean by turn position, by seat index (a
control that must be flat: seats differ in nothing but turn position) and, with different players, by player.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from luna_ai.seats.handicap import FairHandicap, fair_handicap
from luna_ai.seats.schedule import STAGES, SeatStudy, Variant, games_per_block
from luna_ai.stats import EqualityTest, FloatArray, Intervals, equality_test, mean_intervals

MEASURES = ("win_share", "mean_rank", "mean_influence")
SOURCES = (
    *("guard", "displacement", "books", "temple", "priestess"),
    *("apostate", "meditation", "shrines", "favors", "council"),
)
"""Columns of the ledger: where influence came from."""

OUTCOME_COLUMNS = ("start_player", "influence", "rank", *SOURCES, "decisions", "rounds")
"""What tells games apart in a table without a hash of their moves."""

BY_POSITION, BY_SEAT, BY_PLAYER = "turn_position", "seat", "player"
PURPOSES = ("intervals", "tests", "handicap")
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """Games of one stage of one variant as arrays by block, game of the block and seat, ``[B, G, N]``.

    Attributes:
        rank: ``int64`` final rank, 1 = winner.
        influence: ``float64`` final influence.
        turn_position: ``int64``.
        handicap: ``float64`` influence that was added at the start.
        player: ``int64`` index into `names`.
        names: different player names in order of first appearance.
        sources: influence by source, for those columns that the table has.
    """

    rank: IntArray
    influence: FloatArray
    turn_position: IntArray
    handicap: FloatArray
    player: IntArray
    names: tuple[str, ...]
    sources: dict[str, FloatArray]

    @property
    def num_blocks(self) -> int:
        """Number of blocks B."""
        return len(self.rank)


def read_outcomes(games: pl.DataFrame, per_block: int, players: int) -> Outcomes:
    """Arrays of a table of whole blocks, sorted by game and seat."""

    def column(name: str, dtype: type[np.generic]) -> NDArray[Any]:
        return games[name].to_numpy().astype(dtype).reshape(-1, per_block, players)

    names = games["player"].unique(maintain_order=True).to_list()
    index_of_player = games["player"].replace_strict(names, list(range(len(names))), return_dtype=pl.Int64)
    return Outcomes(
        rank=column("rank", np.int64),
        influence=column("influence", np.float64),
        turn_position=column("turn_position", np.int64),
        handicap=column("handicap", np.float64),
        player=index_of_player.to_numpy().reshape(-1, per_block, players),
        names=tuple(names),
        sources={name: column(name, np.float64) for name in SOURCES if name in games.columns},
    )


def block_means(values: NDArray[Any], groups: IntArray, num_groups: int) -> FloatArray:
    """Mean of ``values[B, G, N]`` by group in each block, ``float64[B, num_groups]``; each block has all groups."""
    members = [groups == group for group in range(num_groups)]
    return np.stack([np.where(mine, values, 0).sum(axis=(1, 2)) / mine.sum(axis=(1, 2)) for mine in members], axis=1)


def measured(outcomes: Outcomes) -> dict[str, NDArray[Any]]:
    """The value of each measure in each game and seat."""
    return {
        "win_share": outcomes.rank == 1,
        "mean_rank": outcomes.rank,
        "mean_influence": outcomes.influence,
    }


def groupings(outcomes: Outcomes) -> dict[str, tuple[IntArray, list[Any]]]:
    """For each way to group: the group of each row, and the groups' names."""
    players = outcomes.rank.shape[2]
    seats = np.broadcast_to(np.arange(players), outcomes.rank.shape)
    found: dict[str, tuple[IntArray, list[Any]]] = {
        BY_POSITION: (outcomes.turn_position, list(range(players))),
        BY_SEAT: (seats, list(range(players))),
    }
    if len(outcomes.names) > 1:
        found[BY_PLAYER] = (outcomes.player, list(outcomes.names))
    return found


def all_block_means(outcomes: Outcomes) -> dict[tuple[str, str], FloatArray]:
    """Block means ``float64[B, K]`` by (grouping, measure); the sources of influence by turn position only."""
    values = measured(outcomes)
    means = {
        (group, measure): block_means(values[measure], index, len(names))
        for group, (index, names) in groupings(outcomes).items()
        for measure in MEASURES
    }
    players = outcomes.rank.shape[2]
    for source, amounts in outcomes.sources.items():
        means[BY_POSITION, source] = block_means(amounts, outcomes.turn_position, players)
    return means


def analysis_rng(study: SeatStudy, variant: Variant, stage: str, purpose: str) -> np.random.Generator:
    """Generator for one purpose: figures do not depend on the order in which they are computed."""
    key = (len(STAGES) + STAGES.index(stage), variant.players, PURPOSES.index(purpose))
    return np.random.default_rng(np.random.SeedSequence(study.seed, spawn_key=key))


def intervals_of(
    means: Mapping[tuple[str, str], FloatArray], players: int, rng: np.random.Generator
) -> dict[tuple[str, str], Intervals]:
    """Intervals of all block means from one set of bootstrap draws."""
    limits = {"win_share": (0.0, 1.0), "mean_rank": (1.0, float(players))}
    unknown = (math.nan, math.nan)
    bounds = [limits.get(measure, unknown) for (_, measure), block in means.items() for _ in range(block.shape[1])]
    joint = mean_intervals(np.concatenate(list(means.values()), axis=1), rng, bounds=np.array(bounds))
    ends = np.cumsum([block.shape[1] for block in means.values()])
    return {
        key: Intervals(joint.mean[a:b], joint.low[a:b], joint.high[a:b], joint.blocks, joint.reasons[a:b])
        for key, a, b in zip(means, [0, *ends[:-1]], ends, strict=True)
    }


def widest_half_width(study: SeatStudy, variant: Variant, games: pl.DataFrame) -> float:
    """Half-width of the widest interval of a win share by turn position in the study; NaN if one has no interval."""
    outcomes = read_outcomes(games, games_per_block(study, variant), variant.players)
    rng = analysis_rng(study, variant, "study", "intervals")
    intervals = intervals_of(all_block_means(outcomes), variant.players, rng)
    return float(intervals[BY_POSITION, "win_share"].half_width.max())


def find_handicap(study: SeatStudy, variant: Variant, games: pl.DataFrame) -> FairHandicap:
    """Fair handicap of a variant from the study's games; what they were played with is taken out first."""
    outcomes = read_outcomes(games, games_per_block(study, variant), variant.players)
    seat_of_position = np.argsort(outcomes.turn_position, axis=2)
    finals = np.take_along_axis(outcomes.influence - outcomes.handicap, seat_of_position, axis=2)
    return fair_handicap(finals, analysis_rng(study, variant, "study", "handicap"))


def played_handicap(rounded: tuple[int, ...]) -> tuple[int, ...]:
    """The rounded handicap as it is played: shifted so that nobody starts with less influence than the rules give.

    Only differences decide a game, and a negative start would meet the floor of influence at 0.
    """
    return tuple(points - min(rounded) for points in rounded)


def distinct_games(games: pl.DataFrame) -> int:
    """Number of different games: by `moves_hash` where the table has it, otherwise by everything in the final table.

    Games of one deal can be copies: set-ups with different start players differ in nothing but which start tile
    belongs to which turn position. They then count as one in intervals too, since those stand on deals.
    """
    if "moves_hash" in games.columns:
        return games.select("game", "moves_hash").unique("game")["moves_hash"].n_unique()
    names = [name for name in OUTCOME_COLUMNS if name in games.columns]
    values = games.select(pl.col(names).cast(pl.Int64)).to_numpy()
    return len(np.unique(values.reshape(games["game"].n_unique(), -1), axis=0))


def stage_figures(study: SeatStudy, variant: Variant, stage: str, games: pl.DataFrame) -> dict[str, Any]:
    """All figures of one stage of a variant that has at least one block, ready for JSON."""
    outcomes = read_outcomes(games, games_per_block(study, variant), variant.players)
    means = all_block_means(outcomes)
    intervals = intervals_of(means, variant.players, analysis_rng(study, variant, stage, "intervals"))
    tests = analysis_rng(study, variant, stage, "tests")
    found: dict[str, Any] = {
        "blocks": outcomes.num_blocks,
        "games": outcomes.num_blocks * outcomes.rank.shape[1],
        "distinct_games": distinct_games(games),
    }
    for group, (_, names) in groupings(outcomes).items():
        found[f"by_{group}"] = {
            group: names,
            **{measure: interval_figures(intervals[group, measure]) for measure in MEASURES},
            "all_equal": {
                measure: equality_figures(equality_test(means[group, measure], tests)) for measure in MEASURES
            },
        }
    found["by_turn_position"]["sources"] = {
        source: interval_figures(intervals[BY_POSITION, source]) for source in outcomes.sources
    }
    return found


def interval_figures(intervals: Intervals) -> dict[str, Any]:
    """Intervals as plain data; missing numbers are None."""
    return {
        "mean": plain(intervals.mean),
        "low": plain(intervals.low),
        "high": plain(intervals.high),
        "reasons": list(intervals.reasons),
    }


def equality_figures(test: EqualityTest) -> dict[str, Any]:
    """A test as plain data; missing numbers are None."""
    return {
        "method": test.method,
        "statistic": plain_number(test.statistic),
        "p_value": plain_number(test.p_value),
        "reason": test.reason,
    }


def handicap_figures(found: FairHandicap) -> dict[str, Any]:
    """A fair handicap as plain data; missing numbers are None."""
    return {
        "identified": found.identified,
        "reason": found.reason,
        "handicap": plain(found.handicap),
        "low": plain(found.low),
        "high": plain(found.high),
        "rounded": list(found.rounded),
        "win_share_of_recorded_finals": plain(found.shares),
    }


def plain(values: FloatArray) -> list[float | None]:
    """Numbers for JSON, NaN as None."""
    return [plain_number(value) for value in values]


def plain_number(value: float) -> float | None:
    """A number for JSON, NaN as None."""
    return None if math.isnan(value) else float(value)
