"""Seat studies side by side."""

from __future__ import annotations

import pytest

from luna_ai.seats import SeatStudy, run_study
from luna_ai.views.seats import compare_seats, plot_comparison
from luna_ai.views.sheet import NothingToShow
from tests.luna_ai.seat_games import FakeGames

STUDY = SeatStudy(players=(2, 4), deals=200, sheets=("reconstructed", "rosette"))


def test_the_table_says_what_the_figures_say():
    strong = run_study(STUDY, FakeGames((3.0, 0.0, -2.0, 1.0))).figures
    flat = run_study(SeatStudy(players=(2,), deals=1, verify_deals=0), FakeGames((0.0, 0.0, 0.0, 0.0))).figures
    table = compare_seats({"strong": strong, "flat": flat})
    assert len(table) == 2 * (2 + 4) + 2
    last = next(variant for variant in reversed(strong["variants"]) if variant["fair_handicap"]["identified"])
    players, components = last["players"], last["components"]
    rows = table.filter(name="strong", players=players, components=components)
    found = last["by_turn_position"]
    assert rows["position"].to_list() == list(range(1, players + 1))
    assert rows["win_share"].to_list() == found["win_share"]["mean"]
    assert rows["low"].to_list() == found["win_share"]["low"]
    assert rows["influence"].to_list() == found["mean_influence"]["mean"]
    assert rows["handicap"].to_list() == last["fair_handicap"]["handicap"]
    assert rows["handicap_high"].to_list() == last["fair_handicap"]["high"]
    assert rows["with_handicap"].to_list() == last["verification"]["by_turn_position"]["win_share"]["mean"]
    assert set(rows["p_holm"].to_list()) == {found["all_equal"]["win_share"]["p_value_holm"]}
    assert table.filter(name="flat")["with_handicap"].to_list() == [None, None]


def test_the_picture_has_a_panel_for_each_sheet_and_count_and_a_series_for_each_player():
    figures = run_study(STUDY, FakeGames((3.0, 0.0, -2.0, 1.0))).figures
    table = compare_seats({"a": figures, "b": figures})
    picture = plot_comparison(table)
    assert [axis.get_title() for axis in picture.axes] == [
        f"{players} players, {sheet}" for sheet in ("reconstructed", "rosette") for players in (2, 4)
    ]
    for axis in picture.axes:
        lines = {container.get_label(): container[0].get_ydata() for container in axis.containers}
        assert list(lines) == ["a", "b"]
        assert len(lines["a"]) == int(axis.get_title()[0])


def test_an_empty_table_is_refused():
    with pytest.raises(NothingToShow, match="no seat study"):
        plot_comparison(compare_seats({}))
