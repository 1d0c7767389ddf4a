"""The command line as a user meets it: run as a process; exit codes, one-line errors, what is imported.

A verb adds its bad input to `BAD_INPUT`; everything in the table exits with 2 and one line on stderr.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from luna_ai import __version__
from luna_ai.cli import VERBS

HEAVY = ("numba", "polars", "scipy", "matplotlib", "numpy", "rich", "torch", "ray")
"""Nobody waits for these to read a help text."""


def luna(*arguments: str, cwd: Path | None = None, **kwargs) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "luna_ai.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, **kwargs)


BAD_INPUT: list[tuple[list[str], str]] = [
    ([], f"no verb; allowed: {', '.join(VERBS)}"),
    (["simulator"], f"unknown verb 'simulator'; allowed: {', '.join(VERBS)}"),
    (["--verbose"], "unknown verb '--verbose'"),
    (["arena"], "say either --agents (round robin) or --challenger and --against (matches)"),
    (["arena", "--challenger", "greedy"], "say either --agents (round robin) or --challenger and --against"),
    (["arena", "--agents", "greedy", "random", "--challenger", "greedy", "--against", "random"], "say either --agents"),
    (["arena", "--agents", "greedy"], "agents must name 2 to 64 players, got 1"),
    (["arena", "--agents", "greedy", "greedy"], "agents names greedy twice; allowed: each player once"),
    (["arena", "--agents", "greedy", "nobody"], "player 'nobody' is unknown; allowed: random, greedy"),
    (["arena", "--challenger", "greedy", "--against", "greedy"], "challenger greedy stands among against"),
    (["arena", "--agents", "greedy", "random", "--players", "5"], "--players: '5' is not one of 2, 3, 4"),
    (["arena", "--agents", "greedy", "random", "--handicap", "1"], "handicap must be 2 numbers with 2 players"),
    (["arena", "--agents", "greedy", "random", "--max-groups", "0"], "--max-groups: '0' is not a whole number from 1"),
    (
        ["arena", "--agents", "random", "greedy", "strategy:temple", "--players", "2", "--max-groups", "1"],
        "max_groups = 1 leaves players uncompared; 3 players at tables of 2 need at least 2",
    ),
    (["arena", "--challenger", "greedy", "--against", "random", "--better-by", "2"], "--better-by: '2' is not"),
    (["bench", "training"], "WHAT: 'training' is not one of engine"),
    (["bench", "engine", "--players", "5"], "--players: '5' is not one of 2, 3, 4"),
    (["bench", "engine", "--players"], "--players: expected at least one argument"),
    (["bench", "engine", "--seconds", "-1"], "--seconds: '-1' is not a number from 0.001 to 3600"),
    (["bench", "engine", "--seconds", "nan"], "--seconds: 'nan' is not a number from 0.001 to 3600"),
    (["bench", "engine", "--runs", "0"], "--runs: '0' is not a whole number from 1 to 1000"),
    (["bench", "engine", "--jobs", "-2"], "--jobs: '-2' is not a whole number from 1 to 1024 or null"),
    (["bench", "engine", "--decisions", "-1"], "--decisions: '-1' is not a whole number from 0"),
    (["bench", "engine", "--json", "{tmp}/no/such/folder.json"], "cannot be written: No such file or directory"),
    (["components", "nonsuch"], "no component sheet 'nonsuch'; allowed: reconstructed, rosette"),
    (["components", "{tmp}"], "cannot be read"),
    (["components", "{tmp}/bad.yaml"], "component sheet 'bad': council[1]: 'x' is not a whole number from 0 to 100"),
    (["components", "{tmp}/broken.yaml"], "broken.yaml, line 2: "),
    (["components", "{tmp}/binary"], "not a text file"),
    (["components", ""], "NAME|FILE: '' is not a text"),
    (["components", "rosette", "rosette"], "unknown argument 'rosette'"),
    (["components", "--compare", "nonsuch"], "no component sheet 'nonsuch'"),
    (["components", "--compare"], "--compare: expected one argument"),
    (["components", "--board-order"], "--board-order: expected at least one argument"),
    (["components", "--board-order", "4"], "--board-order: '4' is not a whole number from 0 to 3"),
    (["components", "--board-order", "1", "1"], "--board-order: 1 1 names a board twice"),
    (["components", "--board", "1"], "unknown argument '--board'"),
    (["components", "--json", "{tmp}"], "--json: "),
    (["components", "--json", "{tmp}/no/such/folder.json"], "cannot be written: No such file or directory"),
    (["components", "--json", "/dev/full"], "No space left on device"),
    (["components", "--config", "{tmp}/none.yaml"], "--config: "),
    (["components", "--config", "{tmp}/broken.yaml"], "--config: "),
    (["components", "--config", "{tmp}/list.yaml"], "--config: "),
    (
        ["components", "--config", "{tmp}/unknown.yaml"],
        "unknown key 'boardorder'; allowed: sheet, board_order, compare",
    ),
    (["components", "--config", "{tmp}/scalar.yaml"], "--board-order: needs a list"),
    (["components", "--config", "{tmp}/wrong.yaml"], "--board-order: 9 is not a whole number from 0 to 3"),
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with every kind of broken file."""
    for name, text in {
        "bad.yaml": "name: bad\nextends: rosette\ncouncil: [0, x]\n",
        "broken.yaml": "name: [\n",
        "list.yaml": "- 1\n",
        "unknown.yaml": "boardorder: [1]\n",
        "scalar.yaml": "board_order: 1\n",
        "wrong.yaml": "board_order: [9]\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "binary").write_bytes(bytes(range(128, 256)))
    return tmp_path


@pytest.mark.parametrize(("arguments", "problem"), BAD_INPUT, ids=lambda value: " ".join(value) or "nothing")
def test_bad_input_is_one_line_and_exit_code_2(files: Path, arguments: list[str], problem: str):
    before = sorted(files.iterdir())
    done = luna(*(argument.replace("{tmp}", str(files)) for argument in arguments), cwd=files, env=environment())
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert re.match("luna( [a-z]+)?: error: ", line)
    assert problem in line
    assert sorted(files.iterdir()) == before


def environment() -> dict[str, str]:
    """The environment, with the package found from any folder."""
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}


def test_version_and_help():
    assert luna("--version").stdout == f"luna-ai {__version__}\n"
    text = luna("--help").stdout
    for verb, meaning in VERBS.items():
        assert re.search(f"{verb} +{re.escape(meaning)}", text)


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy_and_are_quick(flag: str):
    code = (
        "import sys, luna_ai.cli as cli\n"
        f"code = cli.main([{flag!r}])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
        "sys.exit(code)"
    )
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        seconds.append(time.perf_counter() - start)
        assert (done.returncode, done.stderr) == (0, "[]\n")
    assert min(seconds) < 0.5


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_shows_its_options_and_an_example(verb: str):
    done = luna(verb, "--help", env={**os.environ, "COLUMNS": "120"})
    assert done.returncode == 0
    assert f"usage: luna {verb}" in done.stdout
    assert re.search(rf"Examples?:\n    luna {verb}", done.stdout)
    assert "--config FILE" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("verb", VERBS)
def test_print_config_is_a_config_file(verb: str, tmp_path: Path):
    printed = luna(verb, "--print-config")
    assert printed.returncode == 0, printed.stderr
    file = tmp_path / "config.yaml"
    file.write_text(printed.stdout)
    assert luna(verb, "--config", str(file), "--print-config").stdout == printed.stdout


def test_command_line_goes_before_the_config_file(tmp_path: Path):
    config, figures = tmp_path / "config.yaml", tmp_path / "figures.json"
    config.write_text(f"sheet: rosette\ncompare: rosette\njson: {figures}\n")
    for arguments, names in [
        ([], ("rosette", "rosette")),
        (["--compare", "reconstructed"], ("rosette", "reconstructed")),
        (["reconstructed"], ("reconstructed", "rosette")),
    ]:
        for order in ([*arguments, "--config", str(config)], [f"--config={config}", *arguments]):
            assert luna("components", *order).returncode == 0
            report = json.loads(figures.read_text())
            assert (report["name"], report["compared_with"]) == names


def test_components_shows_values_how_known_and_the_boards(tmp_path: Path):
    figures = tmp_path / "figures.json"
    done = luna("components", "--json", str(figures))
    assert done.returncode == 0
    for text in ("moon_priestess.4.points", "6 3 1", "assumed", "0c8f66e97a98", "Temple Gate", "27 herbs"):
        assert text in done.stdout
    known = json.loads(figures.read_text())["known"]
    assert known["moon_priestess.2.move"] == "rules"
    assert known["temple.boards[0][0].tile"] == "assumed"


def test_components_draws_the_chosen_boards_in_their_slots():
    drawn = luna("components", "rosette", "--board-order", "1", "0").stdout.partition("Temple Gate")[2]
    assert drawn.split()[:4] == ["12", "bribery", "28", "tide"]
    assert "19 novice" not in drawn
    assert "slot 0: board 1   slot 1: board 0" in drawn


def test_components_compares(tmp_path: Path):
    figures = tmp_path / "figures.json"
    done = luna("components", "rosette", "--compare", "reconstructed", "--json", str(figures))
    assert "0 0 1 2 3 4 6 8 10 12" in done.stdout
    changed = json.loads(figures.read_text())["differences"]
    assert sorted(changed) == sorted(
        ["council", "temple.slot_shift", "temple.space_xy", *(f"moon_priestess.{n}.points" for n in (2, 3, 4))]
    )
    assert changed["moon_priestess.4.points"] == {"this": [6, 4, 2], "other": [6, 3, 1]}


def test_a_sheet_of_ones_own_is_checked_and_drawn_however_far_apart_its_boards(tmp_path: Path):
    sheet = tmp_path / "own.yaml"
    sheet.write_text("name: own\nextends: rosette\ntemple: {slot_shift: [60, 60]}\n")
    done = luna("components", str(sheet))
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 200
    assert done.stdout.count("\n") < 100


def run_in_python(code: str) -> subprocess.CompletedProcess[str]:
    prelude = "import sys, types, luna_ai.cli as cli\n"
    return subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=60)


FAKE_VERB = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Config: pass
def run(config):
    {body}
module = types.ModuleType("luna_ai.commands.fake", "Example: luna fake")
module.Config, module.run = Config, run
sys.modules[module.__name__] = module
cli.VERBS["fake"] = "for a test"
sys.exit(cli.main(["fake"]))
"""


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("return 3", 3, ""),
        ("raise KeyboardInterrupt", 130, "luna fake: interrupted\n"),
        ("raise BrokenPipeError", 141, ""),
        ("raise PermissionError(13, 'Permission denied', 'x.parquet')", 2, "error: x.parquet: Permission denied\n"),
        ("from luna_ai.config import UserError; raise UserError('a\\n b')", 2, "luna fake: error: a b\n"),
        ("raise ValueError('a bug')", 1, "Traceback"),
    ],
)
def test_what_a_verb_raises_becomes_an_exit_code(body: str, code: int, says: str):
    done = run_in_python(FAKE_VERB.format(body=body))
    assert done.returncode == code
    assert says in done.stderr
    assert ("Traceback" in done.stderr) == (says == "Traceback")


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_ctrl_c_while_a_verb_runs():
    code = "import sys, types, luna_ai.cli as cli\n" + FAKE_VERB.format(
        body="import time; print('ready', flush=True); time.sleep(30)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "luna fake: interrupted\n")


def test_a_reader_that_goes_away():
    code = FAKE_VERB.format(body="[print(number) for number in range(1_000_000)]")
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys, types, luna_ai.cli as cli\n" + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == 141


def test_an_output_is_tried_without_leaving_a_trace(tmp_path: Path):
    from luna_ai.config import UserError
    from luna_ai.parsing import check_outputs

    kept = tmp_path / "kept"
    kept.write_text("old")
    new = ("--out", tmp_path / "new" / "er", "folder")
    check_outputs([("--json", kept, "file"), new, ("--plot", tmp_path / "p", "file")])
    assert (kept.read_text(), [path.name for path in tmp_path.iterdir()]) == ("old", ["kept"])
    with pytest.raises(UserError, match="is the path of --json too"):
        check_outputs([("--json", kept, "file"), ("--out", tmp_path / "x" / ".." / "kept", "file")])
    with pytest.raises(UserError, match="is the file that is read"):
        check_outputs([("--json", kept, "file"), ("file", tmp_path / "x" / ".." / "kept", None)])
    assert kept.read_text() == "old"
    with pytest.raises(UserError, match=r"--out: .* cannot be written"):
        check_outputs([("--out", kept, "folder")])
