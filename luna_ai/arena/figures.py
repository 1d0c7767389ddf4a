"""What the games of an arena say, as plain data ready for JSON; all intervals come from blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from luna_ai.arena.groups import num_possible
from luna_ai.arena.play import ArenaResult, challenger_scores, lone_rows, lone_scores
from luna_ai.arena.resampling import Shares, degrees_of, resampled_sums, shares_of, strata_of
from luna_ai.arena.schedule import FIGURES, Event
from luna_ai.arena.settings import EXTENDABLE, Challenge
from luna_ai.arena.store import FORMAT
from luna_ai.arena.tallies import Games, Tally, games_of, tally
from luna_ai.ratings import PRIOR_SPREAD, Ratings, rate
from luna_ai.seats.figures import distinct_games
from luna_ai.stats import LEVEL, FloatArray, holm, mean_intervals

RATING_DRAWS, MATCH_DRAWS = 400, 5000
MOST_POINTS = 400
"""Points of a curve that are kept."""

SECONDS, SEAT_DECISIONS = "seconds", "seat_decisions"
"""Columns that a table of games may have: thinking time of the seat in the game, and its number of decisions."""


def figures_of(result: ArenaResult) -> dict[str, Any]:
    """All figures of an arena."""
    arena = result.arena
    sizes = {key: getattr(arena, key) for key in EXTENDABLE if hasattr(arena, key)}
    found = [(players, games_of(result, players)) for players in arena.players]
    played = [games for games in result.games if len(games)]
    matches = match_figures(result) if isinstance(arena, Challenge) else []
    return {
        "format": FORMAT,
        "config": arena.identity() | sizes,
        "versions": result.versions,
        "complete": not result.interrupted,
        "games": sum(games["game"].n_unique() for games in played),
        "distinct_games": sum(map(distinct_games, played)),
        "matches": matches,
        "tables": [table_figures(result, players, games) for players, games in found if games is not None],
    }


# --- one player count ----------------------------------------------------------------------------------------------


def table_figures(result: ArenaResult, players: int, games: Games) -> dict[str, Any]:
    """Cross table, turn positions and ratings of all games of one player count."""
    sums, strata = tally(games), strata_of(games.table)
    drawn = resampled_sums(sums.sums, strata, figures_rng(result, players, 0))
    degrees, events = degrees_of(strata), [event for event in result.events if event.players == players]
    size = {"blocks": games.num_blocks, "games": len(games.player), "distinct_games": distinct_games(games.rows)}
    groups = sum(len(event.tables) for event in events)
    possible = groups if events[0].opponent is not None else num_possible(len(games.names), players)
    return {
        "players": players,
        "equal_share": 1 / players,
        "agents": list(games.names),
        "groups": groups,
        "possible_groups": possible,
        **size,
        "cross": {
            "win_share": share_figures(quotient(sums, drawn, "wins_with", "seats_with", degrees)),
            "ahead": share_figures(quotient(sums, drawn, "ahead", "pairs", degrees)),
        },
        "by_turn_position": share_figures(of_all_players(sums, drawn, degrees)),
        "by_player_and_turn_position": share_figures(quotient(sums, drawn, "wins_at", "seats_at", degrees)),
        "ratings": rating_figures(
            rate(sums.choices, drawn[:RATING_DRAWS, sums.places["choices"]], degrees), games.names
        ),
        "seconds_per_decision": seconds_per_decision(games),
    }


def figures_rng(result: ArenaResult, *key: int) -> np.random.Generator:
    """Generator for one purpose: figures do not depend on the order in which they are computed."""
    return np.random.default_rng(np.random.SeedSequence(result.arena.seed, spawn_key=(FIGURES, *key)))


def quotient(sums: Tally, drawn: FloatArray, over: str, under: str, degrees: int) -> tuple[Shares, tuple[int, int]]:
    """Shares of two kinds of sums, and their shape."""
    numerator, denominator = sums.places[over], sums.places[under]
    total = np.asarray(sums.sums.sum(axis=0)).ravel()
    blocks = np.asarray((sums.sums[:, denominator] > 0).sum(axis=0)).ravel()
    pair = (total[numerator], total[denominator])
    return shares_of(pair, (drawn[:, numerator], drawn[:, denominator]), degrees, blocks), sums.shapes[over]


def of_all_players(sums: Tally, drawn: FloatArray, degrees: int) -> tuple[Shares, tuple[int, ...]]:
    """Win shares by turn position, whoever sat there."""
    num, seats = sums.shapes["wins_at"]
    total = np.asarray(sums.sums.sum(axis=0))

    def summed(values: NDArray[Any], kind: str) -> FloatArray:
        found: FloatArray = values[..., sums.places[kind]].reshape(*values.shape[:-1], num, seats).sum(axis=-2)
        return found

    pair = summed(total, "wins_at"), summed(total, "seats_at")
    blocks = np.full(seats, sums.sums.shape[0])
    return shares_of(pair, (summed(drawn, "wins_at"), summed(drawn, "seats_at")), degrees, blocks), (seats,)


def share_figures(found: tuple[Shares, tuple[int, ...]]) -> dict[str, Any]:
    """Shares as nested lists, missing numbers None."""
    shares, shape = found
    return {key: plain(getattr(shares, key).reshape(shape)) for key in ("mean", "low", "high")}


def rating_figures(ratings: Ratings, names: Sequence[str]) -> list[dict[str, Any]]:
    """Ratings, best first within groups."""
    order = sorted(range(len(names)), key=lambda who: (ratings.group[who], -ratings.points[who]))
    return [
        {
            "player": names[who],
            "rating": plain(ratings.points[who]),
            "low": plain(ratings.low[who]),
            "high": plain(ratings.high[who]),
            "group": int(ratings.group[who]),
            "reason": ratings.reasons[who],
            "prior_spread": PRIOR_SPREAD,
        }
        for who in order
    ]


def seconds_per_decision(games: Games) -> dict[str, float | None]:
    """Mean thinking time of each player, None where the table of games does not tell."""
    found: dict[str, float | None] = dict.fromkeys(games.names)
    if {SECONDS, SEAT_DECISIONS} <= set(games.rows.columns):
        sums = games.rows.group_by("player").agg(pl.col(SECONDS).sum(), pl.col(SEAT_DECISIONS).sum())
        found |= {name: seconds / number if number else None for name, seconds, number in sums.iter_rows()}
    return found


# --- matches -------------------------------------------------------------------------------------------------------


def match_figures(result: ArenaResult) -> list[dict[str, Any]]:
    """Every match that has at least one block, with p-values corrected for their number."""
    found = [one_match(result, index, event) for index, event in enumerate(result.events) if len(result.games[index])]
    p_values = holm([math.nan if each["p_value"] is None else each["p_value"] for each in found])
    return [each | {"p_value_holm": plain(p_value)} for each, p_value in zip(found, p_values, strict=True)]


def one_match(result: ArenaResult, index: int, event: Event) -> dict[str, Any]:
    """A match: verdict, share of the challenger among copies of the opponent, and the reverse."""
    arena, games = result.arena, result.games[index]
    assert isinstance(arena, Challenge)
    assert event.test is not None
    scores = challenger_scores(event, games)
    decision = event.test.decide(scores)
    return {
        "challenger": arena.challenger,
        "opponent": event.opponent,
        "players": event.players,
        "equal_share": event.test.equal,
        "better_by": event.test.better_by,
        "verdict": decision.verdict,
        "ended": decision.ended,
        **lone_figures(result, index, event, 0),
        "llr": plain(decision.ratio),
        "upper": event.test.upper,
        "lower": event.test.lower,
        "alpha": event.test.alpha,
        "p_value": plain(decision.p_value),
        "reverse": lone_figures(result, index, event, 1) if len(event.tables) > 1 else None,
        "curve": curve(event, scores),
    }


def lone_figures(result: ArenaResult, index: int, event: Event, table: int) -> dict[str, Any]:
    """Win share of the one among copies: 95 % interval, and one corrected for the number of matches (Bonferroni)."""
    shares, level = lone_shares(event, result.games[index], table), 1 - (1 - LEVEL) / len(result.events)
    bounds = np.tile([0.0, 1.0], (shares.shape[1], 1))
    key = (event.players, 1, index, table)
    one, wide = (
        mean_intervals(shares, figures_rng(result, *key), bounds=bounds, level=each, draws=MATCH_DRAWS)
        for each in (LEVEL, level)
    )
    ends = {"mean": one.mean, "low": one.low, "high": one.high}
    return {
        "player": event.tables[table][0],
        "blocks": len(shares),
        "games": len(shares) * event.games_of(table),
        "share": {key: plain(values[0]) for key, values in ends.items()},
        "by_turn_position": {key: plain(values[1:]) for key, values in ends.items()},
        "corrected": {"low": plain(wide.low[0]), "high": plain(wide.high[0]), "level": level},
    }


def lone_shares(event: Event, games: pl.DataFrame, table: int) -> FloatArray:
    """Win share of the one among copies in each block, overall and by turn position, ``float64[B, 1 + N]``."""
    scores = lone_scores(event, games, table)
    places = lone_rows(event, games, table).group_by("block", "turn_position").agg((pl.col("rank") == 1).mean())
    by_place = places.sort("block", "turn_position")["rank"].to_numpy().reshape(len(scores), event.players)
    return np.column_stack([scores, by_place])


def curve(event: Event, scores: FloatArray) -> dict[str, Any]:
    """Share and LLR after each block, thinned out."""
    assert event.test is not None
    blocks = np.arange(1, len(scores) + 1)
    kept = np.unique(np.linspace(0, len(scores) - 1, min(len(scores), MOST_POINTS)).round().astype(int))
    shares = np.cumsum(scores) / blocks
    return {
        "blocks": blocks[kept].tolist(),
        "share": plain(shares[kept]),
        "llr": plain(event.test.running(scores)[kept]),
    }


def plain(values: Any) -> Any:
    """Numbers for JSON, NaN as None; arrays become lists."""
    if isinstance(values, np.ndarray) and values.ndim:
        return [plain(value) for value in values]
    return None if math.isnan(values) else float(values)
