"""Pictures are drawn from any figures, also poor ones, without a display."""

import struct

import pytest
from matplotlib.figure import Figure

from luna_ai.plots import COLOURS, MARKERS, plot_shares, same_span
from luna_ai.seats import SeatStudy, run_study
from tests.luna_ai.seat_games import FakeGames


@pytest.mark.parametrize(
    "study",
    [
        SeatStudy(deals=12),
        SeatStudy(players=(2,), deals=1),
        SeatStudy(players=(3,), deals=12, agents=("a", "b", "b"), verify_deals=0),
        SeatStudy(players=(2, 4), deals=12, setups=("standard", "preselected"), rulesets=("official", "online")),
    ],
    ids=["three counts", "one deal", "different players", "several variants"],
)
def test_draws_a_png(tmp_path, study):
    plot_shares(run_study(study, FakeGames((3.0, 0.0, -2.0, 1.0))).figures, tmp_path / "shares.png")
    content = (tmp_path / "shares.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1000
    assert height >= 1000


def test_nothing_played_is_drawn_too(tmp_path):
    plot_shares(run_study(SeatStudy(deals=12), FakeGames(fail_at=0)).figures, tmp_path / "shares.png")
    assert (tmp_path / "shares.png").exists()


def test_panels_of_a_row_span_the_same_range():
    axes = list(Figure().subplots(1, 2))
    axes[0].set_ylim(0.4, 0.6)
    axes[1].set_ylim(0.2, 0.3)
    same_span(axes, "win_share")
    spans = [axis.get_ylim()[1] - axis.get_ylim()[0] for axis in axes]
    assert spans[0] == pytest.approx(spans[1])
    assert spans[0] >= 0.2


def test_series_differ_in_colour_and_in_marker():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(COLOURS) == len(MARKERS)
