"""What `luna record` and `luna replay` say about games: lines and tables for people, plain data for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from luna_ai import __version__
from luna_ai.records.verification import GameEnd, Report
from luna_ai.records.writing import PlayedGame, Recording


def recorded(recording: Recording, played: Sequence[PlayedGame], requested: int) -> dict[str, Any]:
    """All figures of recorded games; `games` holds one map a game, lists in it are by seat."""
    return {
        "version": __version__,
        "seed": recording.seed,
        "setup": recording.setup,
        "components": recording.sheet.name,
        "components_sha256": recording.sheet.sha256,
        "ruleset": recording.ruleset.to_json(),
        "handicap": list(recording.handicap),
        "seats": list(recording.agents),
        "requested": requested,
        "finished": len(played),
        "games": [asdict(game) for game in played],
    }


def recorded_table(recording: Recording, played: Sequence[PlayedGame]) -> Table:
    """Wins, mean influence and mean rank of each seat. A few games prove nothing: no intervals."""
    decisions = sum(game.decisions for game in played)
    table = Table(title=f"{_number(len(played), 'game')}, {_number(decisions, 'decision')}", title_justify="left")
    for name in ("seat", "player", "wins", "mean influence", "mean rank"):
        table.add_column(name, justify="left" if name == "player" else "right")
    for seat, name in enumerate(recording.agents):
        ranks, influence = [game.rank[seat] for game in played], [game.influence[seat] for game in played]
        means = (f"{_mean(influence):.1f}", f"{_mean(ranks):.2f}")
        table.add_row(str(seat), name, str(ranks.count(1)), *means)
    return table


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def kept(file: Path, played: Sequence[PlayedGame]) -> str:
    """What an interrupted run leaves behind, in words."""
    if not played:
        return f"no game was finished, {file} is not written"
    return f"{_number(len(played), 'finished game')} kept in {file}"


def replayed_line(end: GameEnd) -> str:
    """What became of one record, in a line."""
    text = f"game {end.game}: {len(end.header.seats)} players, {_number(end.decisions, 'decision')}, verified"
    if end.sheet.sha256 != end.header.components_sha256:
        text += f" by another component sheet, {end.sheet.name}"
    if end.result is None:
        return f"{text} so far, but unfinished in round {end.round}"
    return f"{text}; influence {_by_seat(end.result.influence)}, rank {_by_seat(end.result.rank)} by seat"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _by_seat(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def replayed_game(end: GameEnd) -> dict[str, Any]:
    """The figures of one record."""
    return {
        "game": end.game,
        "seats": list(end.header.seats),
        "seed": end.header.seed,
        "components": end.sheet.name,
        "same_components": end.sheet.sha256 == end.header.components_sha256,
        "ruleset": end.header.ruleset.to_json(),
        "decisions": end.decisions,
        "round": end.round,
        "finished": end.result is not None,
        **({} if end.result is None else end.result.to_json()["result"]),
    }


def replayed(report: Report, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All figures of a replayed file; `records` holds `replayed_game` of every game that was replayed to its end."""
    problem = report.problem
    where = None if problem is None else {key: getattr(problem, key) for key in ("line", "game", "expected", "found")}
    return {
        "version": __version__,
        "file": str(report.file),
        "verified": report.verified,
        "games": report.games,
        "decisions": report.decisions,
        "unfinished": report.unfinished,
        "problem": where,
        "records": list(records),
    }
