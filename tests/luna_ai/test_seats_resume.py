"""A study that was stopped, by whatever, goes on with the same call and ends with the same figures."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from luna_ai.run_folder import InvalidRun, RunChanged
from luna_ai.seats import SeatStudy, print_study, run_study, save_study
from tests.luna_ai.seat_games import EFFECT, SMALL, THREE, FakeGames

pytestmark = [pytest.mark.usefixtures("parts_of_four_deals"), pytest.mark.filterwarnings("error")]


def text_of(result):
    return json.dumps(result.figures, indent=1)


class TestResume:
    """Whatever stops a study, the same call goes on and ends with the figures of an undisturbed one."""

    undisturbed = run_study(SMALL, FakeGames(EFFECT))

    @pytest.mark.parametrize("fail_at", [0, 1, 7, 8, 15, 16, 24, 31])
    def test_killed_by_an_error(self, tmp_path, fail_at):
        study = replace(SMALL, out=tmp_path)
        with pytest.raises(OSError, match="disk"):
            run_study(study, FakeGames(EFFECT, fail_at=fail_at, failure=OSError("disk")))
        runner = FakeGames(EFFECT)
        resumed = run_study(study, runner)
        assert runner.calls + fail_at == total_calls()
        assert text_of(resumed) == text_of(self.undisturbed)
        assert resumed.games.equals(self.undisturbed.games)

    @pytest.mark.parametrize("fail_at", [0, 2, 9, 11, 20, 30])
    def test_interrupted_reports_on_whole_blocks_and_resumes(self, tmp_path, fail_at):
        study = replace(SMALL, out=tmp_path)
        stopped = run_study(study, FakeGames(EFFECT, fail_at=fail_at))
        assert stopped.interrupted
        assert not stopped.figures["complete"]
        assert len(stopped.schedule) == stopped.figures["games"]
        print_study(stopped.figures, Console(file=io.StringIO(), width=100))
        save_study(stopped, tmp_path)
        assert text_of(run_study(study, FakeGames(EFFECT))) == text_of(self.undisturbed)

    @pytest.mark.parametrize("rows", [0, 1, 5, 9, 14])
    def test_a_runner_may_return_what_it_has(self, tmp_path, rows):
        study = replace(SMALL, players=(3,), out=tmp_path)
        stopped = run_study(study, FakeGames(EFFECT, fail_at=2, rows_at_failure=rows))
        assert stopped.interrupted
        assert stopped.figures["variants"][0]["blocks"] == 8 + rows // 9
        resumed = run_study(study, FakeGames(EFFECT))
        assert text_of(resumed) == text_of(run_study(replace(study, out=None), FakeGames(EFFECT)))

    def test_precision_studies_resume_too(self, tmp_path):
        study = SeatStudy(players=(2,), deals=20, precision=0.1, out=tmp_path)
        whole = run_study(replace(study, out=None), FakeGames(EFFECT))
        run_study(study, FakeGames(EFFECT, fail_at=8))
        assert text_of(run_study(study, FakeGames(EFFECT))) == text_of(whole)

    def test_size_of_parts_does_not_matter(self, monkeypatch):
        monkeypatch.setattr("luna_ai.seats.study.MOST_BLOCKS", 1000)
        assert text_of(run_study(replace(SMALL, jobs=7), FakeGames(EFFECT))) == text_of(self.undisturbed)

    def test_finished_study_is_not_played_again(self, tmp_path):
        study = replace(SMALL, out=tmp_path)
        run_study(study, FakeGames(EFFECT))
        runner = FakeGames(EFFECT)
        assert text_of(run_study(study, runner)) == text_of(self.undisturbed)
        assert runner.calls == 0

    def test_parts_behind_a_gap_and_leftovers_do_not_count(self, tmp_path):
        study = replace(SMALL, out=tmp_path)
        run_study(study, FakeGames(EFFECT))
        folder = tmp_path / "games"
        (folder / f"study-{THREE.slug}-00000004.parquet").unlink()
        (folder / ".study-p2.parquet.1.tmp").write_bytes(b"half a par")
        assert text_of(run_study(study, FakeGames(EFFECT))) == text_of(self.undisturbed)
        assert not list(folder.glob(".*"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"seed": 6}, "seed = 5, not 6"),
            ({"deals": 31}, "deals = 30, not 31"),
            ({"agents": ("greedy",)}, r'agents = \["random"\], not \["greedy"\]'),
            ({"precision": 0.1}, "precision = null, not 0.1"),
        ],
    )
    def test_changed_settings_are_refused_by_name(self, tmp_path, change, message):
        run_study(replace(SMALL, out=tmp_path), FakeGames(fail_at=1))
        with pytest.raises(RunChanged, match=message):
            run_study(replace(SMALL, out=tmp_path, **change), FakeGames())

    def test_changed_version_and_sheet_file_are_refused(self, tmp_path):
        sheet = tmp_path / "mine.yaml"
        sheet.write_text("a: 1")
        study = replace(SMALL, out=tmp_path / "out", sheets=(str(sheet),))
        run_study(study, FakeGames(fail_at=1), versions={"engine": "1"})
        with pytest.raises(RunChanged, match=r'version of engine = "1", not "2"'):
            run_study(study, FakeGames(), versions={"engine": "2"})
        sheet.write_text("a: 2")
        with pytest.raises(RunChanged, match="sheet_files_sha256"):
            run_study(study, FakeGames(), versions={"engine": "1"})

    def test_processes_may_change(self, tmp_path):
        run_study(replace(SMALL, out=tmp_path), FakeGames(EFFECT, fail_at=3))
        assert text_of(run_study(replace(SMALL, out=tmp_path, jobs=2), FakeGames(EFFECT))) == text_of(self.undisturbed)

    def test_foreign_folders_are_refused(self, tmp_path):
        (tmp_path / "games").mkdir()
        (tmp_path / "games" / "study-x.parquet").touch()
        with pytest.raises(InvalidRun, match=r"games but no study\.json"):
            run_study(replace(SMALL, out=tmp_path), FakeGames())
        (tmp_path / "file").touch()
        with pytest.raises(InvalidRun, match="cannot use the folder"):
            run_study(replace(SMALL, out=tmp_path / "file"), FakeGames())


def total_calls():
    runner = FakeGames(EFFECT)
    run_study(SMALL, runner)
    return runner.calls
