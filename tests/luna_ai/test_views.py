"""Tables and pictures of games, searches and trainings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine_fast import LEDGER_SOURCES, Position
from engine_fast.layout import STATE_WORDS
from luna_ai.analysis import GameAnalysis, analyse_games, searcher_of
from luna_ai.events import EventFile
from luna_ai.players import parse_player
from luna_ai.runner import Runner
from luna_ai.samples import no_samples, write_samples
from luna_ai.search.mcts import Search
from luna_ai.search.options import SearchOptions
from luna_ai.simulate import Simulation, simulate
from luna_ai.turns import Choice, read_games
from luna_ai.views import games as views
from luna_ai.views.searches import plot_candidates, plot_chances, plot_growth, plot_tree, watch_search
from luna_ai.views.sheet import NothingToShow
from luna_ai.views.training import plot_calibration, plot_curves, plot_strength, read_calibration, read_curves

RECORD = sorted((Path(__file__).parents[1] / "data" / "examples").glob("*.jsonl"))[1]
OPTIONS = SearchOptions(nodes=512)


def data_of(line: Any, axis: str) -> list[float]:
    """Numbers of a line."""
    return [float(number) for number in line.get_data()["xy".index(axis)]]


@pytest.fixture(scope="module")
def played() -> pl.DataFrame:
    with Runner() as runner:
        return simulate(Simulation(3, ("greedy", "random", "random"), games=40, seed=3), runner).games


@pytest.fixture(scope="module")
def position() -> Position:
    return Position.new(3, seed=4)


# --- games ---------------------------------------------------------------------------------------------------------


def test_win_shares_by_turn_position(played: pl.DataFrame):
    shares = views.win_shares(played)
    assert shares["position"].to_list() == [1, 2, 3]
    assert shares["win_share"].sum() == pytest.approx(1)
    first = played.filter(turn_position=0)
    assert shares["win_share"][0] == pytest.approx((first["rank"] == 1).sum() / 40)
    assert (shares["low"] < shares["win_share"]).all()
    assert (shares["win_share"] < shares["high"]).all()
    drawn: Any = views.plot_win_shares(shares).axes[0].containers[0]
    assert data_of(drawn[0], "y") == shares["win_share"].to_list()


def test_lengths_are_drawn_once_a_game(played: pl.DataFrame):
    axis: Any = views.plot_lengths(played).axes[0]
    heights = [patch.get_height() * patch.get_width() for patch in axis.patches]
    assert sum(heights) == pytest.approx(1)
    mean = float(np.mean(played.filter(seat=0)["decisions"].to_numpy()))
    assert axis.get_legend_handles_labels()[1] == [f"3 players, mean {mean:.0f}"]


def test_bars_of_sources_add_up_to_what_a_seat_gained(played: pl.DataFrame):
    means = views.mean_sources({"all": played, "greedy": played.filter(player="greedy")})
    assert means["name"].to_list() == ["all", "greedy"]
    for source in LEDGER_SOURCES:
        assert means[source][0] == pytest.approx(played[source].mean())
    patches: list[Any] = list(views.plot_sources(means).axes[0].patches)
    widths = np.array([patch.get_width() for patch in patches]).reshape(len(LEDGER_SOURCES), 2)
    for row in (0, 1):
        assert widths[:, row].sum() == pytest.approx(sum(means[source][row] for source in LEDGER_SOURCES))


def test_without_games_there_is_nothing_to_show(played: pl.DataFrame):
    with pytest.raises(NothingToShow, match="no games"):
        views.plot_win_shares(views.win_shares(played.clear()))
    with pytest.raises(NothingToShow, match="no games"):
        views.plot_lengths(played.clear())
    with pytest.raises(NothingToShow, match="no games"):
        views.mean_sources({})


# --- searches ------------------------------------------------------------------------------------------------------


def test_watching_a_search_says_what_searches_of_these_budgets_say(position: Position):
    watched = watch_search(position, OPTIONS, (4, 32), seed=7)
    found = Search(SearchOptions(nodes=512, sims=32, reuse=False), seed=7)(position)
    rows = watched.filter(simulations=32)
    assert rows["decision"].to_list() == [candidate.notation for candidate in found.candidates]
    assert rows["visits"].to_list() == [candidate.visits for candidate in found.candidates]
    assert rows["share"].sum() == pytest.approx(1)
    axes = plot_growth(watched, top=2).axes
    assert [line.get_label() for line in axes[0].lines] == rows["decision"].to_list()[:2]
    assert data_of(axes[0].lines[0], "x") == [4, 32]


def test_candidates_and_tree_are_drawn(position: Position):
    search = Search(OPTIONS, seed=1)
    found = search(position)
    axis = plot_candidates(found, top=3).axes[0]
    assert [label.get_text().split("  ")[0] for label in axis.get_yticklabels()] == [
        candidate.notation for candidate in found.candidates[:3]
    ]
    texts = [text.get_text() for text in plot_tree(search.tree, depth=2, width=2).axes[0].texts]
    best = found.best
    assert f"{best.notation}\n{best.visits} visits, {100 * best.value:.0f} %" in texts
    assert len(texts) == 1 + 2 + 4


def test_chances_and_losses_of_a_game_are_drawn():
    games = list(read_games(RECORD))
    player = searcher_of(parse_player("mcts:sims=8,nodes=64"))
    analysis = analyse_games(RECORD, games, Choice(40, 50, None), player).games[0]
    axes: list[Any] = list(plot_chances(analysis).axes)
    upper, lower = axes
    for seat, line in enumerate(upper.lines):
        assert data_of(line, "y") == [judgement.values[seat] for judgement in analysis.judgements]
    drawn = sum(len(lines.get_segments()) for lines in lower.collections)
    assert drawn == len(analysis.judgements)
    with pytest.raises(NothingToShow, match="no decision"):
        plot_chances(GameAnalysis(analysis.about, 0, 0, ()))


# --- trainings -----------------------------------------------------------------------------------------------------


def test_curves_of_two_sessions_are_one(tmp_path: Path):
    folder = tmp_path / "tensorboard"
    folder.mkdir()
    for first, value in ((1, 5.0), (3, 7.0)):
        with EventFile(folder, first, {}) as events:
            for step in range(first, first + 4):
                events.add(step, {"loss/total": value, "loss/win": value / 2})
    curves = read_curves(tmp_path)
    total = curves.filter(tag="loss/total")
    assert total["step"].to_list() == [1, 2, 3, 4, 5, 6]
    assert total["value"].to_list() == [5, 5, 7, 7, 7, 7]
    axes = plot_curves(curves, {"losses": ["loss/total", "loss/win"], "none": ["loss/policy"]}, smooth=2).axes
    assert axes[0].get_legend_handles_labels()[1] == ["total", "win"]
    assert data_of(axes[0].lines[1], "y") == [5, 5, 6, 7, 7, 7]


def test_a_legend_says_what_tells_curves_apart_and_short_curves_stay_as_they_are():
    tags = ["rating/2p/points", "rating/all/points"]
    rows = [(tag, step, float(step)) for tag in tags for step in (1, 2, 3)]
    curves = pl.DataFrame(rows, schema=["tag", "step", "value"], orient="row")
    axis = plot_curves(curves, {"rating": tags}, smooth=3).axes[0]
    assert axis.get_legend_handles_labels()[1] == ["2p", "all"]
    assert data_of(axis.lines[0], "y") == [1, 2, 3]


def test_strength_is_drawn_for_each_anchor_and_count(tmp_path: Path):
    rows = [
        (f"anchor/strategy_temple/{n}p/{end}", step, share)
        for n in (2, 3, 4)
        for step in (1, 2)
        for end, share in (("win_rate", 0.5), ("low", 0.4), ("high", 0.6))
    ]
    axes = plot_strength(pl.DataFrame(rows, schema=["tag", "step", "value"], orient="row"), ["strategy:temple"]).axes
    for axis in axes:
        assert data_of(axis.lines[1], "y") == [0.5, 0.5]


def test_a_folder_without_curves_or_samples_is_refused(tmp_path: Path):
    with pytest.raises(NothingToShow, match="no learning curves"):
        read_curves(tmp_path)
    with pytest.raises(NothingToShow, match="no samples"):
        read_calibration(tmp_path)


def test_calibration_counts_present_seats_of_the_newest_samples(tmp_path: Path):
    (tmp_path / "replay").mkdir()
    state = np.array([Position.new(2, seed=1).state, Position.new(2, seed=2).state]).reshape(2, STATE_WORDS)
    win = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], dtype=np.float32)
    old = no_samples()._replace(state=state, win=win, root=np.full((2, 4), 0.99, dtype=np.float32))
    root = np.array([[0.72, 0.28, 0, 0], [1.0, 0.0, 0, 0]], dtype=np.float32)
    write_samples(tmp_path / "replay" / "shard-000000001.npz", old)
    write_samples(tmp_path / "replay" / "shard-000000002.npz", old._replace(root=root))
    found = read_calibration(tmp_path, shards=1)
    assert found["seats"].to_list() == [1, 1, 1, 1]
    assert found["said"].to_list() == pytest.approx([0, 0.28, 0.72, 1])
    assert found["came"].to_list() == [1, 0, 1, 0]
    assert len(plot_calibration(found).axes[0].collections) == 1
