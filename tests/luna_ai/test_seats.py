"""The start-player study, played by a runner that draws influences with a planted effect."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from luna_ai.schedule import SCHEDULE_SCHEMA
from luna_ai.seats import (
    InvalidStudy,
    Progress,
    RunnerError,
    SeatStudy,
    Variant,
    build_schedule,
    print_study,
    run_study,
    save_study,
)
from luna_ai.seats.figures import played_handicap
from luna_ai.seats.schedule import next_check, rotations
from tests.luna_ai.seat_games import EFFECT, SMALL, THREE, FakeGames

pytestmark = [pytest.mark.usefixtures("parts_of_four_deals"), pytest.mark.filterwarnings("error")]

FROZEN_DEAL = 14934463995553021811
FROZEN_SEEDS = [13603360796063872972, 7337037741703691422, 441857353408504590]


def by_position(result, variant=0):
    return result.figures["variants"][variant]["by_turn_position"]


class TestSchedule:
    def test_block_is_one_deal_with_every_start_player(self):
        plan = build_schedule(SMALL, THREE, "study", range(2, 4))
        assert plan.schema == pl.Schema(SCHEDULE_SCHEMA)
        assert plan["game"].to_list() == list(range(6, 12))
        assert plan["block"].to_list() == [2, 2, 2, 3, 3, 3]
        assert plan["start_player"].to_list() == [0, 1, 2] * 2
        assert plan.group_by("block").agg(pl.col("deal").n_unique())["deal"].to_list() == [1, 1]
        assert plan["seed"].n_unique() == 6
        assert plan["agents"].to_list() == [["random"] * 3] * 6
        assert plan["handicap"].to_list() == [[0, 0, 0]] * 6

    def test_cutting_does_not_matter(self):
        whole = build_schedule(SMALL, THREE, "study", range(10))
        parts = [build_schedule(SMALL, THREE, "study", blocks) for blocks in (range(3), range(3, 10))]
        assert pl.concat(parts).equals(whole)

    def test_player_counts_stages_and_seeds_have_deals_of_their_own(self):
        two = Variant(2, "standard", "official", "reconstructed")
        plans = [
            build_schedule(SMALL, THREE, "study", range(50)),
            build_schedule(SMALL, two, "study", range(50)),
            build_schedule(SMALL, THREE, "verification", range(50)),
            build_schedule(replace(SMALL, seed=6), THREE, "study", range(50)),
        ]
        deals = pl.concat(plans)["deal"]
        assert deals.n_unique() == 200

    def test_rule_sets_and_sheets_share_deals(self):
        other = replace(THREE, ruleset="online", components="rosette", setup="preselected")
        plans = [build_schedule(SMALL, variant, "study", range(5)) for variant in (THREE, other)]
        assert plans[0]["deal"].equals(plans[1]["deal"])

    def test_frozen_seeds(self):
        """A change of these numbers is a change of every recorded study."""
        plan = build_schedule(SeatStudy(seed=7), THREE, "study", range(1))
        assert plan["deal"][0] == FROZEN_DEAL
        assert plan["seed"].to_list() == FROZEN_SEEDS

    def test_different_players_have_every_turn_position_equally_often(self):
        study = SeatStudy(players=(3,), agents=("a", "b", "c"), deals=1)
        plan = build_schedule(study, THREE, "study", range(1))
        assert len(plan) == 9
        seen = [
            (name, (seat - game["start_player"]) % 3)
            for game in plan.iter_rows(named=True)
            for seat, name in enumerate(game["agents"])
        ]
        assert {pair: seen.count(pair) for pair in seen} == {(name, p): 3 for name in "abc" for p in range(3)}

    def test_rotations_of_a_pattern_are_not_repeated(self):
        assert len(rotations(("a", "a", "a"))) == 1
        assert rotations(("a", "b", "a", "b")) == [("a", "b", "a", "b"), ("b", "a", "b", "a")]
        assert len(rotations(("a", "b", "b", "b"))) == 4

    def test_handicap_goes_into_the_schedule(self):
        plan = build_schedule(SMALL, THREE, "verification", range(1), (0, 2, 5))
        assert plan["handicap"].to_list() == [[0, 2, 5]] * 3

    def test_file_names_of_variants_are_plain_and_different(self):
        slugs = {Variant(2, "standard", "official", sheet).slug for sheet in ("my/sheet.yaml", "my_sheet_yaml", "ü")}
        assert len(slugs) == 3
        assert all(set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-") for slug in slugs)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"players": (5,)}, "players must be among .2, 3, 4., got 5"),
        ({"players": ()}, "players must name at least one"),
        ({"players": (2, 2)}, "none twice"),
        ({"deals": 0}, "deals must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"agents": ("a", "b", "c"), "players": (2, 3)}, "1 or 2 names with 2 players"),
        ({"agents": ()}, "agents must name"),
        ({"handicap": (0, 1), "players": (3,)}, "handicap must be 3 numbers"),
        ({"precision": 0.0}, "precision must be between 0 and 0.5, got 0.0"),
        ({"precision": 0.01, "max_deals": 10}, "max_deals must be at least deals = 1000, got 10"),
        ({"verify_deals": -1}, "verify_deals must be at least 0, got -1"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(InvalidStudy, match=message):
        SeatStudy(**settings)


class TestFigures:
    def test_planted_effect_is_measured_tested_and_corrected(self):
        result = run_study(SeatStudy(players=(3, 4), deals=400, seed=1), FakeGames(EFFECT))
        for variant, players in enumerate((3, 4)):
            found = by_position(result, variant)
            assert found["mean_influence"]["mean"] == pytest.approx(50 + np.array(EFFECT)[:players], abs=2)
            assert found["win_share"]["low"][0] > 1 / players > found["win_share"]["high"][2]
            assert sum(found["win_share"]["mean"]) == pytest.approx(1)
            assert sum(found["mean_rank"]["mean"]) == pytest.approx(players * (players + 1) / 2)
            assert found["all_equal"]["win_share"]["p_value"] < 0.001
            assert found["all_equal"]["win_share"]["p_value_holm"] < 0.002
            control = result.figures["variants"][variant]["by_seat"]
            assert control["all_equal"]["win_share"]["p_value"] > 0.01
            handicap = result.figures["variants"][variant]["fair_handicap"]
            assert handicap["identified"]
            assert handicap["handicap"] == pytest.approx(6 - np.array(EFFECT)[:players], abs=2.5)
            assert handicap["low"][2] < handicap["handicap"][2] < handicap["high"][2]
            played = result.figures["variants"][variant]["verification"]
            assert min(played["handicap"]) == 0
            assert played["by_turn_position"]["win_share"]["mean"] == pytest.approx([1 / players] * players, abs=0.05)

    def test_figures_agree_with_the_table(self):
        result = run_study(SMALL, FakeGames(EFFECT))
        games = result.games.filter(pl.col("stage") == "study", pl.col("players") == 3)
        shares = games.group_by("turn_position").agg((pl.col("rank") == 1).mean()).sort("turn_position")["rank"]
        assert by_position(result, 1)["win_share"]["mean"] == pytest.approx(shares.to_list())
        seats = games.group_by("seat").agg(pl.col("influence").mean()).sort("seat")["influence"]
        assert result.figures["variants"][1]["by_seat"]["mean_influence"]["mean"] == pytest.approx(seats.to_list())
        sources = by_position(result, 1)["sources"]
        assert list(sources) == ["guard"]
        assert sources["guard"]["mean"] == pytest.approx(np.array(by_position(result, 1)["mean_influence"]["mean"]) - 5)

    def test_different_players_are_reported_and_do_not_bend_positions(self):
        study = SeatStudy(players=(3,), agents=("strong", "weak", "weak"), deals=60, seed=2)
        result = run_study(study, FakeGames(skill=(("strong", 10.0),)))
        variant = result.figures["variants"][0]
        assert variant["games"] == 60 * 9
        found = variant["by_player"]
        assert found["player"] == ["strong", "weak"]
        share = dict(zip(found["player"], found["win_share"]["mean"], strict=True))
        assert share["strong"] > 0.45
        assert share["strong"] + 2 * share["weak"] == pytest.approx(1)
        assert found["all_equal"]["win_share"]["p_value"] < 0.001
        assert by_position(result)["all_equal"]["win_share"]["p_value"] > 0.01

    def test_one_sided_match_has_no_handicap_and_no_crash(self):
        study = SeatStudy(players=(2,), agents=("strong", "weak"), deals=12, seed=2)
        result = run_study(study, FakeGames(skill=(("strong", 500.0),)))
        variant = result.figures["variants"][0]
        assert variant["by_player"]["win_share"]["mean"] == [1.0, 0.0]
        assert variant["by_player"]["win_share"]["low"][0] == pytest.approx(0.05 ** (1 / 12))
        assert not variant["fair_handicap"]["identified"]
        assert variant["verification"] is None
        assert by_position(result)["all_equal"]["win_share"]["p_value"] == 1.0

    def test_one_deal_gives_an_answer(self):
        result = run_study(replace(SMALL, deals=1), FakeGames(EFFECT))
        assert by_position(result)["win_share"]["low"] == [None, None]
        assert result.figures["variants"][0]["fair_handicap"]["reason"] == "fewer than 10 blocks"
        json.dumps(result.figures, allow_nan=False)

    def test_copies_of_a_game_are_counted_once(self):
        class Copies(FakeGames):
            def game(self, game):
                yield from super().game({**game, "deal": 1, "seed": 1} | {"start_player": game["start_player"]})

        class CopiesWithTheirSeeds(Copies):
            def __call__(self, schedule):
                played = super().__call__(schedule)
                return played.drop("deal", "seed").join(schedule.select("game", "deal", "seed"), on="game")

        study = SeatStudy(players=(3,), deals=20, verify_deals=0)
        for hashes in (False, True):
            result = run_study(study, CopiesWithTheirSeeds(hashes=hashes))
            assert (result.figures["games"], result.figures["distinct_games"]) == (60, 1 if hashes else 3)
        assert run_study(study, FakeGames(hashes=True)).figures["distinct_games"] == 60

    def test_several_variants_in_one_call(self):
        study = SeatStudy(
            players=(2, 4),
            setups=("standard", "preselected"),
            rulesets=("official", "online"),
            deals=12,
            verify_deals=0,
        )
        result = run_study(study, FakeGames())
        assert len(result.figures["variants"]) == 8
        assert result.figures["games"] == 12 * (2 + 4) * 4 == len(result.schedule)

    def test_own_handicap_is_played_and_taken_out_of_the_fair_one(self):
        study = SeatStudy(players=(2,), deals=400, seed=3, handicap=(0, 6), verify_deals=0)
        result = run_study(study, FakeGames((6.0, 0.0)))
        assert by_position(result)["win_share"]["mean"] == pytest.approx([0.5, 0.5], abs=0.05)
        assert result.figures["variants"][0]["fair_handicap"]["handicap"][1] == pytest.approx(6, abs=2)

    def test_nobody_starts_with_less(self):
        assert played_handicap((0, -5, 3)) == (5, 0, 8)


class TestPrecision:
    def test_plays_until_the_widest_interval_is_narrow(self):
        study = SeatStudy(players=(3,), deals=50, seed=4, precision=0.04, verify_deals=0)
        result = run_study(study, FakeGames())
        variant = result.figures["variants"][0]
        assert variant["precision"]["reached"]
        shares = variant["by_turn_position"]["win_share"]
        widths = (np.array(shares["high"]) - np.array(shares["low"])) / 2
        assert widths.max() == pytest.approx(variant["precision"]["half_width"])
        assert 0.03 < widths.max() <= 0.04
        assert variant["blocks"] > 50

    def test_gives_up_at_the_maximum(self):
        study = SeatStudy(players=(3,), deals=10, seed=4, precision=0.01, max_deals=24, verify_deals=0)
        result = run_study(study, FakeGames())
        assert result.figures["variants"][0]["blocks"] == 24
        assert not result.figures["variants"][0]["precision"]["reached"]

    def test_next_check(self):
        assert next_check(100, 0.04, 0.02, 10_000) == 200
        assert next_check(100, 0.024, 0.02, 10_000) == 144
        assert next_check(100, 0.0201, 0.02, 10_000) == 111
        assert next_check(100, float("nan"), 0.02, 150) == 150


class TestRunnerIsChecked:
    def change(self, column, change):
        def play(schedule):
            return FakeGames()(schedule).with_columns(change.alias(column))

        return play

    @pytest.mark.parametrize(
        ("column", "change", "message"),
        [
            ("deal", pl.col("deal") ^ 1, "column 'deal'"),
            ("start_player", 1 - pl.col("start_player"), "column 'start_player'"),
            ("turn_position", pl.col("seat"), "turn_position must be"),
            ("rank", pl.lit(1), "ranks of a game must be 1 to 2"),
            ("game", pl.col("game") + 1000, "not in the schedule"),
            ("seat", pl.lit(0), "seat of a game twice"),
        ],
    )
    def test_wrong_tables_are_refused(self, column, change, message):
        with pytest.raises(RunnerError, match=message):
            run_study(SMALL, self.change(column, change))

    def test_missing_columns_are_named(self):
        with pytest.raises(RunnerError, match=r"lacks the columns .'rank'"):
            run_study(SMALL, lambda schedule: FakeGames()(schedule).drop("rank"))


class TestReport:
    result = run_study(SeatStudy(players=(2, 3), deals=40, seed=5), FakeGames(EFFECT))

    def test_table_shows_every_position_the_tests_and_the_number_of_games(self):
        console = Console(record=True, width=120, file=io.StringIO())
        print_study(self.result.figures, console)
        text = console.export_text()
        for expected in ("first", "third", "win share %", "fair handicap", "all positions equal: p", "control, seats"):
            assert expected in text
        assert "distinct) in 40 deals" in text
        assert "400 games" in text

    def test_saves_everything(self, tmp_path):
        paths = save_study(self.result, tmp_path)
        assert [path.name for path in paths] == ["figures.json", "schedule.parquet", "summary.parquet", "shares.png"]
        assert json.loads(paths[0].read_text()) == self.result.figures
        assert pl.read_parquet(paths[1]).equals(self.result.schedule)
        summary = pl.read_parquet(paths[2])
        rows = summary.filter(stage="study", players=3, by="turn_position", measure="win_share")
        assert rows["mean"].to_list() == by_position(self.result, 1)["win_share"]["mean"]
        assert paths[3].read_bytes().startswith(b"\x89PNG")

    def test_games_on_disk_are_one_table(self, tmp_path):
        study = replace(self.result.study, out=tmp_path)
        result = run_study(study, FakeGames(EFFECT), versions={"engine": "1"})
        files = sorted((tmp_path / "games").glob("*.parquet"))
        assert pl.read_parquet(files).height == result.games.height
        assert json.loads(pl.read_parquet_metadata(files[0])["luna"])["versions"] == {"engine": "1"}

    def test_progress_is_reported(self):
        seen: list[Progress] = []
        run_study(replace(SMALL, players=(3,), deals=10), FakeGames(EFFECT), report=seen.append)
        steps = [(step.stage, step.blocks, step.goal) for step in seen]
        assert steps[:3] == [("study", 4, 10), ("study", 8, 10), ("study", 10, 10)]
        assert steps[-1] == ("verification", 10, 10)

    def test_nothing_played_is_a_result_too(self, tmp_path):
        result = run_study(SMALL, FakeGames(fail_at=0))
        assert result.figures["variants"] == []
        print_study(result.figures, Console(file=io.StringIO()))
        save_study(result, Path(tmp_path))
