"""`luna record` and `luna replay` as a user meets them: exit codes, one-line errors, files, drawing, Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from engine_fast import NOTATIONS, load_sheet
from luna_ai.cli import main
from luna_ai.records import Step, replay, verify
from luna_ai.records.drawing import StepDrawing, result_table
from luna_ai.records.words import describe

EXAMPLES = sorted((Path(__file__).parents[1] / "data" / "examples").glob("*.jsonl"))
TWO_PLAYERS, THREE_PLAYERS, FOUR_PLAYERS = map(str, EXAMPLES)


def luna(*arguments: str | Path) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with every kind of file that is no verified, finished record."""
    monkeypatch.chdir(tmp_path)
    lines = Path(TWO_PLAYERS).read_text().splitlines(keepends=True)
    for name, text in {
        "unfinished": "".join(lines[:-1]),
        "illegal": "".join([*lines[:9], '{"d":"build"}\n', *lines[10:]]),
        "truncated": "".join(lines)[:-20],
        "empty": "",
        "table.csv": "game,seat\n0,1\n",
        "foreign.json": '{"format": "chess"}\n',
        "sheet": lines[0].replace("0c8f", "0000"),
        "unknown": lines[0].replace('"reconstructed"', '"mine"'),
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "folder").mkdir()
    return tmp_path


BAD_INPUT: list[tuple[str, str]] = [
    ("record", "--out: "),
    ("record --out no/such/folder.jsonl", "--out: 'no/such/folder.jsonl' cannot be written"),
    ("record --out folder", "--out: 'folder' cannot be written: Is a directory"),
    ("record --out x --json x", "--json: 'x' is the path of --out too"),
    ("record --out x --agents nobody", "player 'nobody' is unknown; allowed: random, greedy"),
    ("record --out x --agents random greedy", "2 agents for 3 players; allowed: 1 or 3 names"),
    ("record --out x --players 5", "--players: '5' is not one of 2, 3, 4"),
    ("record --out x --games -1", "--games: '-1' is not a whole number from 1"),
    ("record --out x --games 0", "--games: '0' is not a whole number from 1"),
    ("record --out x --first-game -1", "--first-game: '-1' is not a whole number from 0"),
    ("record --out x --seed -1", "--seed: '-1'"),
    ("record --out x --setup mine", "--setup: 'mine' is not one of standard, preselected"),
    ("record --out x --handicap 1 2", "handicap: [1, 2] is not 3 whole numbers"),
    ("record --out x --ruleset house", "--ruleset: 'house' is not one of official, online"),
    ("record --out x --option virtual_alone", "option 'virtual_alone' is not KEY=VALUE"),
    ("record --out x --option influence_floor=9", "influence_floor: 9 is above the starting influence"),
    ("record --out x --components nonsuch", "no component sheet 'nonsuch'; allowed: reconstructed, rosette"),
    ("record --out /dev/full", "No space left on device"),
    ("replay", "FILE: missing"),
    ("replay missing", "missing: No such file or directory"),
    ("replay folder", "folder: Is a directory"),
    ("replay empty", "empty: empty, not a game record"),
    ("replay image.png", "image.png, line 1: not the header of a game record"),
    ("replay table.csv", "table.csv, line 1: not the header of a game record"),
    ("replay foreign.json", "format: 'chess' is not 'luna-record/1'"),
    ("replay truncated", "truncated, line 132: cut off in the middle, the file is truncated"),
    ("replay truncated --out x", "cut off in the middle"),
    ("replay sheet", "component sheet 'reconstructed' differs from the record's 'reconstructed'"),
    ("replay unknown", "component sheet 'mine' is not packaged (reconstructed, rosette); name its file"),
    ("replay unknown --any-components", "is not packaged"),
    ("replay unfinished --components nonsuch", "no component sheet 'nonsuch'"),
    ("replay unfinished --positions", "--positions: only together with --out FILE"),
    ("replay unfinished --legal", "--legal: only together with --out FILE"),
    ("replay unfinished --out unfinished", "--out: 'unfinished' is the file that is read"),
    ("replay unfinished --from 3", "--from: only together with --draw"),
    ("replay unfinished --game 1", "--game: only together with --draw"),
    ("replay unfinished --draw --from 5 --to 4", "--to: 4 comes before --from 5"),
    ("replay unfinished --draw --from -1", "--from: '-1' is not a whole number from 0"),
    ("replay unfinished --draw --game 0", "--game: '0' is not a whole number from 1"),
    ("replay unfinished --draw --game 2", "no step was chosen; games in the file: 1, decisions in the longest: 130"),
    ("replay unfinished --draw --from 500", "--draw: no step was chosen"),
    ("replay unfinished --draw --delay -1", "--delay: '-1' is not a number from 0"),
    ("replay unfinished --out no/such/x", "--out: 'no/such/x' cannot be written"),
    ("replay unfinished --from_ 3", "unknown argument '--from_'"),
]


@pytest.mark.parametrize(("command", "problem"), BAD_INPUT, ids=[command for command, _ in BAD_INPUT])
def test_bad_input_is_one_line_and_exit_code_2(
    files: Path, capfd: pytest.CaptureFixture[str], command: str, problem: str
) -> None:
    before = sorted(files.rglob("*"))
    assert luna(*command.split()) == 2
    lines = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("compiling")]
    assert len(lines) == 1
    assert lines[0].startswith(f"luna {command.split()[0]}: error: ")
    assert problem in lines[0]
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_verify(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert luna("replay", file) == 0
    assert "decisions, verified; influence" in capsys.readouterr().out


def test_a_record_that_does_not_verify(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "older").write_text("kept")
    assert luna("replay", "illegal", "--json", "figures", "--out", "older") == 1
    caught = capsys.readouterr()
    (line,) = caught.err.splitlines()
    assert line.startswith("luna replay: does not verify: illegal, line 10 (game 1): expected one of ")
    assert line.endswith("found the decision 'build'")
    figures = json.loads((files / "figures").read_text())
    assert (figures["verified"], figures["problem"]["line"], figures["problem"]["game"]) == (False, 10, 1)
    assert (files / "older").read_text() == "kept"


def test_an_unfinished_record_is_verified_drawn_and_rewritten(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert luna("replay", "unfinished", "--draw", "--from", "130", "--json", "figures", "--out", "short") == 3
    caught = capsys.readouterr()
    assert caught.err == ""
    assert "game 1, step 130: round 6, game over" in caught.out
    assert "130 decisions, verified so far, but unfinished in round 6" in caught.out
    figures = json.loads((files / "figures").read_text())
    assert (figures["verified"], figures["unfinished"], figures["records"][0]["finished"]) == (True, [1], False)
    assert verify(files / "short").exit_code == 3


def test_record_and_replay(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--players", "3", "--games", "3", "--seed", "7", "--handicap", "0", "1", "2", "--agents"]
    options += ["random", "greedy", "random"]
    assert luna("record", *options, "--out", "a", "--json", "a.json") == 0
    assert luna("record", *options, "--out", "b", "--positions", "--legal") == 0
    assert luna("replay", "a", "--out", "c", "--positions", "--legal", "--json", "c.json") == 0
    assert luna("replay", "b", "--out", "d") == 0
    texts = [(files / name).read_text() for name in "abcd"]
    assert (texts[2], texts[3]) == (texts[1], texts[0])
    written, replayed = json.loads((files / "a.json").read_text()), json.loads((files / "c.json").read_text())
    assert written["seats"] == ["random", "greedy", "random"]
    for game, record in zip(written["games"], replayed["records"], strict=True):
        assert {key: game[key] for key in ("decisions", "influence", "rank")}.items() <= record.items()
    assert luna("record", *options, "--first-game", "1", "--games", "1", "--out", "e") == 0
    assert (files / "e").read_text() in texts[0]
    capsys.readouterr()


def test_other_rules_and_sheets(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "mine.yaml").write_text("name: mine\nextends: rosette\ncouncil: [0, 5, 9]\n")
    rules = ["--ruleset", "online", "--option", "council_overshoot=true", "influence_floor=null"]
    rules += ["--setup", "preselected", "--components", "mine.yaml"]
    assert luna("record", "--players", "2", *rules, "--out", "x") == 0
    assert luna("replay", "x") == 2
    assert luna("replay", "x", "--components", "mine.yaml") == 0
    header = json.loads((files / "x").read_text().splitlines()[0])
    assert header["ruleset"]["name"] == "online"
    assert (header["ruleset"]["council_overshoot"], header["ruleset"]["influence_floor"]) == (True, None)
    assert (header["components"], header["setup"]["phase"]) == ("mine", "action")
    capsys.readouterr()


# --- drawing -------------------------------------------------------------------------------------------------------


def drawn(step: Step, before: Step, width: int = 120, encoding: str = "utf-8", color: bool = False) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=out, width=width, force_terminal=color, color_system="truecolor" if color else None)
    console.print(StepDrawing(step, before.position))
    out.seek(0)
    return out.read()


@pytest.fixture(scope="module")
def games() -> list[list[Step]]:
    return [[event for event in replay(file) if isinstance(event, Step)] for file in EXAMPLES]


def test_a_drawing_shows_the_whole_position(games: list[list[Step]]) -> None:
    text = drawn(games[2][151], games[2][150])
    for words in (
        "game 1, step 151: round 5, action 16, Time tokens ◆◆◆◆",
        "1 rare: sanctify 22  Sanctification: tile 22 (shrine) and its novice move into the Temple  (1 of 17)",
        "isles →                 tide       novice     sailboat   herbs      book       bribery    shrine",
        "0 rare                  ·          ●●●○▲      ●○○○ ",
        "▶ 2 rare                   4         41       0        1   1 of 6  ·",
        "+3  10",
        "Council                 0   0   1   2   3   4   6   8   10  12",
        "1 1■  17 3",
        "19 x ",
        "2 Guard  21 ·           22 ·           23 book        24 bribery     approved",
    ):
        assert words in text, words


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_step_fits_the_console(games: list[list[Step]], width: int) -> None:
    for game in games:
        for before, step in list(pairwise(game))[::9]:
            text = drawn(step, before, width)
            assert max(map(len, text.splitlines())) == width
            assert "…" not in text
            for kind in step.position["ring"]:
                assert f" {kind} " in text


def test_ascii_and_colour(games: list[list[Step]]) -> None:
    before, step = games[1][99:101]
    assert drawn(step, before, encoding="ascii").isascii()
    assert "Journey under way: lifted 1 bribery, 1 herbs; landed 1 novice; in hand 1" in drawn(step, before)
    assert "\x1b[" in drawn(step, before, color=True)
    assert "\x1b[" not in drawn(step, before)


def test_names_of_other_programs_cannot_disturb_the_terminal(games: list[list[Step]]) -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(result_table(("[red]a\x1b[2J", "b\nc"), [1, 2], [2, 1]))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in text and "[red]a" in text
    assert len(text.splitlines()) == 4


def test_steps_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert luna("replay", TWO_PLAYERS, "--draw", "--from", "2", "--to", "4", "--game", "1") == 0
    text = capsys.readouterr().out
    assert [f"step {number}:" in text for number in range(1, 6)] == [False, True, True, True, False]
    assert "\x1b" not in text
    assert "rank  seat" not in text
    assert luna("replay", TWO_PLAYERS, "--draw", "--from", "130", "--delay", "0.01") == 0
    assert "rank  seat" in capsys.readouterr().out


def test_every_decision_has_words() -> None:
    symbols = {space.tile: space.symbol for board in load_sheet("reconstructed").temple.boards for space in board}
    words = {notation: describe(notation, symbols) for notation in NOTATIONS}
    assert len(set(words.values())) == len(words)
    assert all("{" not in text and "  " not in text for text in words.values())
    assert words["tide herbs~ 1"] == "Tide: lifts 1 inactive novice of herbs"
    assert words["sail landing tide 2"] == "Sailboat: 2 novices from the landing stage to tide"
    assert words["council book 3 +v"] == "Council: up 4 seats by 3 novices of book, with the virtual novice"


# --- Ctrl-C --------------------------------------------------------------------------------------------------------


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "LUNA_QUIET_COMPILE": "1"}
    command = [sys.executable, "-m", "luna_ai.cli", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_ctrl_c_before_the_first_game_is_finished(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str, seed: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("luna_ai.players.make_player", interrupted)
    assert luna("record", "--out", "none.jsonl") == 130
    assert capsys.readouterr().err == "luna record: interrupted, no game was finished, none.jsonl is not written\n"
    assert not list(files.glob("*none*"))


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_ctrl_c_keeps_the_finished_games(files: Path) -> None:
    process = start("record", "--games", "1000000", "--positions", "--out", "long.jsonl", "--json", "long.json")
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        partial = list(files.glob(".long.jsonl.*.tmp"))
        if partial and partial[0].stat().st_size > 3_000_000:
            break
        time.sleep(0.05)
    assert not (files / "long.jsonl").exists()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    report = verify(files / "long.jsonl")
    assert (report.exit_code, report.games > 3) == (0, True)
    assert f"luna record: interrupted, {report.games} finished games kept in long.jsonl" in errors
    assert "Traceback" not in errors
    assert json.loads((files / "long.json").read_text())["finished"] == report.games
    assert not list(files.glob(".long*"))
