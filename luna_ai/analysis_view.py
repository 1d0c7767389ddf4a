"""Tables of an analysis for the terminal. Chances and losses are percent."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from luna_ai.analysis import Analysis, GameAnalysis, Judgement, Option
from luna_ai.records.drawing import SEAT_STYLES, seat_name

NO_VALUE = "–"


def analysis_view(analysis: Analysis, mistakes: int) -> RenderableType:
    """Everything about every game: decisions, seats, and so many of the largest mistakes."""
    parts: list[RenderableType] = []
    for game in analysis.games:
        parts += [Text(_headline(analysis, game), style="bold"), decision_table(game), seat_table(game)]
        parts += [mistake_table(game, mistakes)] if mistakes else []
    return Group(*parts)


def _headline(analysis: Analysis, game: GameAnalysis) -> str:
    about, looked_at = game.about, game.forced + len(game.judgements)
    state = "finished" if about["finished"] else f"unfinished in round {about['round']}"
    counts = f"{len(game.judgements)} analysed, {game.forced} forced"
    missing = "" if game.complete else f", {game.chosen - looked_at} not looked at"
    return f"game {about['game']}, {about['decisions']} decisions, {state}: {counts}{missing}, by {analysis.player}"


def decision_table(game: GameAnalysis) -> Table:
    """One row a decision: chances by seat before it, what was played, what the search holds best."""
    by_network = any(judgement.played.policy is not None for judgement in game.judgements)
    shown = "policy of the network → improved, visits, chance" if by_network else "visits, chance"
    table = Table(title=f"chances to win by seat, and the best decisions ({shown})", title_justify="left")
    for heading in ("no.", "round", "seat"):
        table.add_column(heading, justify="right")
    played_heading = "played (policy, visits, %)" if by_network else "played (visits, %)"
    for heading in ("chances %", played_heading, "loss", "best decisions"):
        table.add_column(heading, justify="right" if heading == "loss" else "left")
    for judgement in game.judgements:
        numbers = (str(judgement.number), str(judgement.round), Text(str(judgement.seat), style=_style(judgement)))
        best = "\n".join(map(_option, judgement.best))
        played = Text(_option(judgement.played), style="" if judgement.place == 1 else "bold")
        table.add_row(*numbers, _chances(judgement.values), played, _loss(judgement.loss), best)
    return table


def _option(option: Option) -> str:
    policy = "" if option.policy is None else f"{100 * option.prior:.0f}→{100 * option.policy:.0f}, "
    return f"{option.decision} ({policy}{option.visits}, {_percent(option.value, 0)})"


def _chances(values: Sequence[float]) -> str:
    return "  ".join(f"{100 * value:2.0f}" for value in values)


def _loss(loss: float) -> str:
    return f"{100 * loss:.1f}" if loss else NO_VALUE


def _style(judgement: Judgement) -> str:
    return SEAT_STYLES[judgement.seat]


def seat_table(game: GameAnalysis) -> Table:
    """How often each seat played the search's first choice, and what its decisions gave away in the mean."""
    table = Table(title="by seat", title_justify="left")
    for heading in ("seat", "decisions", "first choice %", "mean loss"):
        table.add_column(heading, justify="left" if heading == "seat" else "right")
    for row in game.by_seat():
        means = (_percent(row["first_choice"], 0), _percent(row["mean_loss"], 2))
        table.add_row(seat_name(game.about["seats"], row["seat"]), str(row["decisions"]), *means)
    return table


def _percent(share: float | None, digits: int) -> str:
    return NO_VALUE if share is None else f"{100 * share:.{digits}f}"


def mistake_table(game: GameAnalysis, most: int) -> Table:
    """The decisions that gave away most; chances are of the deciding seat, each from a search after the decision."""
    table = Table(title="largest mistakes", title_justify="left")
    for heading in ("no.", "seat", "played", "%", "best", "%", "loss"):
        table.add_column(heading, justify="right" if heading in ("no.", "%", "loss") else "left")
    for judgement in game.mistakes(most):
        played, best = (100 * chances[judgement.seat] for chances in (judgement.after_played, judgement.after_best))
        who = seat_name(game.about["seats"], judgement.seat)
        decisions = (judgement.played.decision, f"{played:.1f}", judgement.best[0].decision, f"{best:.1f}")
        table.add_row(str(judgement.number), who, *decisions, _loss(judgement.loss))
    return table
