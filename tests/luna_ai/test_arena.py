"""Arenas on simulated games: figures, stopping, resuming, saving."""

import io
import json
import struct
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from scipy import sparse

from luna_ai.arena import Challenge, RoundRobin, figures_of, print_arena, run_arena, save_arena
from luna_ai.arena.report import match_row
from luna_ai.arena.resampling import block_weights, degrees_of, resampled_sums, shares_of, strata_of
from luna_ai.arena.scalars import scalars_of, write_scalars
from luna_ai.config import UserError
from luna_ai.run_folder import InvalidRun, RunChanged
from luna_ai.seats.store import RunnerError
from tests.luna_ai.seat_games import FakeGames

pytestmark = pytest.mark.filterwarnings("error")

SKILL = (("a", 9.0), ("b", 3.0), ("d", -4.0))
ROBIN = RoundRobin(agents=("a", "b", "c", "d"), deals=6, players=(2, 3), seed=3)
MATCH = Challenge(challenger="a", against=("b", "c"), better_by=0.08, max_deals=120, players=(2, 3), seed=4)


def games(**changes):
    return FakeGames(skill=SKILL, hashes=True, **changes)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of some dozen games, so that small arenas have several."""
    monkeypatch.setattr("luna_ai.arena.play.FIRST_GAMES", 24)
    monkeypatch.setattr("luna_ai.arena.play.MOST_GAMES", 40)


def text_of(result):
    return json.dumps(figures_of(result), indent=1, allow_nan=False)


def same_games(first, second):
    return all(one.equals(other) for one, other in zip(first.games, second.games, strict=True))


@pytest.fixture(scope="module")
def robin():
    return run_arena(ROBIN, games())


@pytest.fixture(scope="module")
def matches():
    return run_arena(MATCH, games())


class TestFigures:
    def test_cross_table_is_what_the_games_say(self, robin):
        found = figures_of(robin)["tables"][1]
        rows = robin.games[1]
        assert found["games"] == rows["game"].n_unique() == 6 * 4 * 18
        with_c = rows.filter(pl.col("player").is_in(["a", "c"]).sum().over("game") == 2)
        a_with_c = with_c.filter(player="a")
        assert found["cross"]["win_share"]["mean"][0][2] == pytest.approx((a_with_c["rank"] == 1).mean())
        ranks = with_c.filter(pl.col("player").is_in(["a", "c"])).sort("game", "player")["rank"].to_numpy()
        ahead = (ranks[0::2] < ranks[1::2]).mean()
        assert found["cross"]["ahead"]["mean"][0][2] == pytest.approx(ahead)
        assert found["cross"]["ahead"]["mean"][2][0] == pytest.approx(1 - ahead)

    def test_win_shares_by_turn_position(self, robin):
        found, rows = figures_of(robin)["tables"][1], robin.games[1]
        for place in range(3):
            at = rows.filter(turn_position=place)
            assert found["by_turn_position"]["mean"][place] == pytest.approx((at["rank"] == 1).mean())
            mine = at.filter(player="b")
            assert found["by_player_and_turn_position"]["mean"][1][place] == pytest.approx((mine["rank"] == 1).mean())

    def test_ratings_order_the_planted_skills(self, robin):
        for found in figures_of(robin)["tables"]:
            assert (found["ratings"][0]["player"], found["ratings"][-1]["player"]) == ("a", "d")
            assert all(rating["low"] < rating["rating"] < rating["high"] for rating in found["ratings"])
            assert sum(rating["rating"] for rating in found["ratings"]) == pytest.approx(0, abs=1e-6)

    def test_every_interval_holds_its_mean(self, robin):
        for found in figures_of(robin)["tables"]:
            for shares in (*found["cross"].values(), found["by_turn_position"]):
                values = [np.array(shares[key], dtype=float) for key in ("low", "mean", "high")]
                known = ~np.isnan(values[1])
                assert (values[0] <= values[1])[known].all()
                assert (values[1] <= values[2])[known].all()

    def test_copies_count_by_seat(self):
        arena = RoundRobin(agents=("a", "b"), deals=4, players=(4,))
        found = figures_of(run_arena(arena, games()))["tables"][0]
        shares = found["cross"]["win_share"]["mean"]
        assert found["groups"] == 3
        assert shares[0][1] == pytest.approx(shares[0][0])
        assert shares[0][1] > 0.25 > shares[1][0]

    def test_seconds_per_decision_where_the_table_has_them(self, robin):
        def timed(schedule):
            table = games()(schedule)
            slow = pl.when(pl.col("player") == "a").then(3.0).otherwise(0.5)
            return table.with_columns(slow.alias("seconds"), pl.lit(10).alias("seat_decisions"))

        found = figures_of(run_arena(replace(ROBIN, players=(2,), deals=2), timed))
        seconds = found["tables"][0]["seconds_per_decision"]
        assert seconds == pytest.approx({"a": 0.3, "b": 0.05, "c": 0.05, "d": 0.05})
        assert set(figures_of(robin)["tables"][0]["seconds_per_decision"].values()) == {None}
        assert "s/decision" in printed(found)

    def test_few_blocks_give_no_intervals_and_unconnected_players_groups(self):
        stopped = run_arena(replace(ROBIN, players=(2,)), games(fail_at=1))
        found = figures_of(replace(stopped, games=[stopped.games[0].filter(pl.col("block") < 1)]))["tables"][0]
        assert found["ratings"][0]["group"] == 0
        assert found["ratings"][-1]["group"] == 2
        assert found["by_turn_position"]["low"] == [None, None]
        assert "3 groups of players unconnected" in printed(
            figures_of(replace(stopped, games=[stopped.games[0].filter(pl.col("block") < 1)]))
        )


def test_shares_of_stratified_blocks_cover():
    """Tables with different shares: intervals cover 95 %, no more though tables differ much."""
    rng, inside = np.random.default_rng(1), []
    strata = np.arange(24) % 6
    share = np.linspace(0.1, 0.9, 6)[strata]
    for _ in range(400):
        weight = 1 / 0.1 - 1
        wins = rng.binomial(12, rng.beta(share * weight, (1 - share) * weight))
        sums = sparse.csr_array(np.column_stack([wins, np.full(24, 12.0)]))
        drawn = resampled_sums(sums, strata, rng, 200)
        total = np.asarray(sums.sum(axis=0)).ravel()
        found = shares_of((total[:1], total[1:]), (drawn[:, :1], drawn[:, 1:]), degrees_of(strata), np.array([24]))
        inside.append(found.low[0] <= 0.5 <= found.high[0])
    assert 0.92 <= np.mean(inside) <= 0.98


def test_resampled_blocks_keep_the_size_of_tables_and_the_variance_of_means():
    strata = np.array([0, 0, 1, 1, 1])
    weights = np.concatenate(list(block_weights(strata, np.random.default_rng(2), 20_000)))
    assert weights[:, :2].sum(axis=1) == pytest.approx(2)
    assert weights[:, 2:].sum(axis=1) == pytest.approx(3)
    values = np.array([0.0, 1.0, 0.2, 0.4, 0.9])
    expected = 2 * values[:2].var(ddof=1) + 3 * values[2:].var(ddof=1)
    assert (weights @ values).var() == pytest.approx(expected, rel=0.03)
    assert strata_of(np.array([0, 0, 1])).tolist() == [0, 0, 0]


class TestMatches:
    def test_verdicts_shares_and_reverse(self, matches):
        found = figures_of(matches)["matches"]
        assert [(match["opponent"], match["players"]) for match in found] == [("b", 2), ("c", 2), ("b", 3), ("c", 3)]
        better = [match for match in found if match["verdict"] == "better"]
        assert len(better) >= 3
        for match in found:
            event = matches.events[found.index(match)]
            rows = matches.games[found.index(match)]
            alone = rows.filter(pl.col("player") == "a", pl.col("block") % len(event.tables) == 0)
            assert match["share"]["mean"] == pytest.approx((alone["rank"] == 1).mean())
            assert match["share"]["low"] < match["share"]["mean"] < match["share"]["high"]
            assert match["corrected"]["low"] < match["share"]["low"]
            assert np.mean(match["by_turn_position"]["mean"]) == pytest.approx(match["share"]["mean"])
            assert match["curve"]["llr"][-1] == pytest.approx(match["llr"])
        assert found[0]["reverse"] is None
        assert found[2]["reverse"]["share"]["mean"] < 1 / 3
        assert found[2]["reverse"]["blocks"] == found[2]["blocks"]

    def test_one_sided_matches_play_the_first_table_only(self, matches):
        arena = replace(MATCH, one_sided=True, players=(3,))
        found = figures_of(run_arena(arena, games()))
        assert [match["reverse"] for match in found["matches"]] == [None, None]
        assert found["games"] == sum(match["games"] for match in found["matches"])
        assert match_row(found["matches"][0])[4] == "not played"

    def test_what_is_better_is_so_after_holms_correction(self, matches):
        for match in figures_of(matches)["matches"]:
            assert match["p_value_holm"] <= 0.05 or match["verdict"] != "better"

    def test_a_match_ends_at_its_deciding_block_whatever_the_parts(self, matches, monkeypatch):
        monkeypatch.setattr("luna_ai.arena.play.FIRST_GAMES", 1000)
        monkeypatch.setattr("luna_ai.arena.play.MOST_GAMES", 5000)
        again = run_arena(MATCH, games())
        assert same_games(again, matches)
        assert text_of(again) == text_of(matches)

    def test_equal_players_are_not_better(self):
        arena = Challenge(challenger="x", against=("y",), better_by=0.1, players=(4,))
        (match,) = figures_of(run_arena(arena, games()))["matches"]
        assert (match["verdict"], match["ended"]) == ("not better", True)

    def test_an_undecided_match_goes_on_with_a_larger_maximum(self, tmp_path):
        arena = Challenge(challenger="x", against=("y",), better_by=0.03, players=(3,), max_deals=30)
        (short,) = figures_of(run_arena(arena, games(), tmp_path))["matches"]
        assert (short["verdict"], short["ended"], short["blocks"]) == ("undecided", True, 30)
        longer = replace(arena, max_deals=60)
        assert text_of(run_arena(longer, games(), tmp_path)) == text_of(run_arena(longer, games()))


class TestResume:
    """Whatever stops an arena, the same call goes on and ends with the figures of an undisturbed one."""

    @pytest.mark.parametrize("arena", [ROBIN, MATCH], ids=["robin", "match"])
    @pytest.mark.parametrize("fail_at", [0, 1, 3, 6, 9])
    def test_killed_by_an_error(self, tmp_path, arena, fail_at, robin, matches):
        with pytest.raises(OSError, match="disk"):
            run_arena(arena, games(fail_at=fail_at, failure=OSError("disk")), tmp_path)
        (tmp_path / "games" / ".p2-00000000.parquet.1.tmp").write_bytes(b"half a par")
        resumed = run_arena(arena, games(), tmp_path)
        undisturbed = robin if arena is ROBIN else matches
        assert same_games(resumed, undisturbed)
        assert text_of(resumed) == text_of(undisturbed)
        assert not list((tmp_path / "games").glob(".*"))

    @pytest.mark.parametrize("arena", [ROBIN, MATCH], ids=["robin", "match"])
    @pytest.mark.parametrize("rows", [0, 1, 7, 13, 50])
    def test_interrupted_keeps_the_longest_run_of_whole_blocks(self, tmp_path, arena, rows, robin, matches):
        stopped = run_arena(arena, games(fail_at=2, rows_at_failure=rows), tmp_path)
        assert stopped.interrupted
        undisturbed = robin if arena is ROBIN else matches
        for part, whole in zip(stopped.games, undisturbed.games, strict=True):
            assert part.equals(whole.head(len(part))) if len(part) else True
        found = figures_of(stopped)
        assert not found["complete"]
        assert "interrupted" in printed(found)
        save_arena(stopped, found, tmp_path)
        assert text_of(run_arena(arena, games(), tmp_path)) == text_of(undisturbed)

    def test_interrupted_before_the_first_block(self, tmp_path):
        stopped = run_arena(ROBIN, games(fail_at=0), tmp_path)
        found = figures_of(stopped)
        assert (found["games"], found["tables"]) == (0, [])
        assert "0 games" in printed(found)
        save_arena(stopped, found, tmp_path)

    def test_a_finished_arena_is_not_played_again(self, tmp_path, robin):
        run_arena(ROBIN, games(), tmp_path)
        runner = games()
        assert text_of(run_arena(ROBIN, runner, tmp_path)) == text_of(robin)
        assert runner.calls == 0

    def test_more_deals_add_to_it_and_fewer_leave_out(self, tmp_path, robin):
        run_arena(replace(ROBIN, deals=3), games(), tmp_path)
        assert text_of(run_arena(ROBIN, games(), tmp_path)) == text_of(robin)
        less = run_arena(replace(ROBIN, deals=3), games(), tmp_path)
        assert text_of(less) == text_of(run_arena(replace(ROBIN, deals=3), games()))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"seed": 6}, "seed = 3, not 6"),
            ({"agents": ("a", "b", "c")}, "agents = "),
            ({"max_groups": 4}, "max_groups = 60, not 4"),
        ],
    )
    def test_changed_settings_are_refused_by_name(self, tmp_path, change, message):
        run_arena(replace(ROBIN, deals=1), games(), tmp_path)
        with pytest.raises(RunChanged, match=message):
            run_arena(replace(ROBIN, **change), games(), tmp_path)

    def test_another_version_another_mode_and_foreign_folders_are_refused(self, tmp_path):
        run_arena(replace(ROBIN, deals=1), games(), tmp_path, versions={"engine": "1"})
        with pytest.raises(RunChanged, match=r'version of engine = "1", not "2"'):
            run_arena(ROBIN, games(), tmp_path, versions={"engine": "2"})
        with pytest.raises(RunChanged, match='mode = "round robin", not "challenger"'):
            run_arena(MATCH, games(), tmp_path)
        (tmp_path / "file").touch()
        with pytest.raises(InvalidRun, match="cannot use the folder"):
            run_arena(ROBIN, games(), tmp_path / "file")

    def test_a_damaged_table_is_named(self, tmp_path):
        run_arena(replace(ROBIN, deals=1), games(), tmp_path)
        part = min((tmp_path / "games").iterdir())
        part.write_bytes(part.read_bytes()[:500])
        with pytest.raises(InvalidRun, match=rf"{part.name} is no table of games, or a damaged one; delete it"):
            run_arena(ROBIN, games(), tmp_path)
        part.unlink()
        assert len(run_arena(ROBIN, games(), tmp_path).games[0])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda table: pl.concat([table, table]), "twice"),
        (lambda table: table.with_columns(deal=pl.col("deal") + 1), "'deal'"),
        (lambda table: table.with_columns(player=pl.lit("b")), "who sat where"),
        (lambda table: table.with_columns(rank=pl.lit(1)), "ranks of a game"),
    ],
)
def test_a_runner_that_plays_something_else_is_found_out(spoil, message):
    with pytest.raises(RunnerError, match=message):
        run_arena(ROBIN, lambda schedule: spoil(games()(schedule)))


def printed(figures):
    file = io.StringIO()
    print_arena(figures, Console(file=file, width=120))
    return file.getvalue()


def test_printed_tables(robin, matches):
    text = printed(figures_of(robin))
    for part in ("2 players, 6 groups", "3 players, 4 groups", "win share % of the row", "prior normal", "distinct"):
        assert part in text
    text = printed(figures_of(matches))
    for part in ("a: better by 0.08", "one among copies", "reverse", "by turn position"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_part_of_the_groups_is_said_to_be_one():
    arena = RoundRobin(agents=tuple("abcdefgh"), players=(4,), deals=1, max_groups=6, seatings="rotations")
    assert "6 of 70 groups (a balanced random part)" in printed(figures_of(run_arena(arena, games())))


def test_saved_files(tmp_path, robin, matches):
    for name, result in {"robin": robin, "matches": matches}.items():
        figures, folder = figures_of(result), tmp_path / name
        save_arena(result, figures, folder)
        assert json.loads((folder / "figures.json").read_text()) == figures
        plan = pl.read_parquet(folder / "schedule.parquet")
        assert len(plan) == figures["games"] == sum(part["game"].n_unique() for part in result.games)
        assert len(pl.read_parquet(folder / "ratings.parquet")) == sum(len(t["ratings"]) for t in figures["tables"])
        cross = pl.read_parquet(folder / "cross.parquet")
        assert set(cross["measure"]) == {"win_share", "ahead"}
        assert (folder / "arena.png").read_bytes().startswith(b"\x89PNG")


def test_the_distinct_games_are_counted():
    def copies(schedule):
        return games()(schedule).with_columns(moves_hash=pl.lit(7, pl.UInt64))

    found = figures_of(run_arena(replace(ROBIN, players=(2,), deals=1), copies))
    assert (found["games"], found["distinct_games"], found["tables"][0]["distinct_games"]) == (24, 1, 1)


def test_scalars_for_tensorboard(tmp_path, matches):
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    figures = figures_of(matches)
    write_scalars(figures, tmp_path)
    (file,) = tmp_path.iterdir()
    data, place, found = file.read_bytes(), 0, []
    while place < len(data):  # length, its checksum, event, its checksum
        (length,) = struct.unpack_from("<Q", data, place)
        event = Event.FromString(data[place + 12 : place + 12 + length])
        found += [(value.tag, value.simple_value, event.step) for value in event.summary.value]
        place += 16 + length
    expected = scalars_of(figures)
    assert [(tag, step) for tag, _, step in found] == [(tag, step) for tag, _, step in expected]
    assert [value for _, value, _ in found] == pytest.approx([value for _, value, _ in expected], rel=1e-6)


def test_without_tensorboardx_one_line_says_how_to_get_it(tmp_path, monkeypatch, robin):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(UserError, match=r"luna-ai\[tensorboard\]"):
        write_scalars(figures_of(robin), tmp_path)
