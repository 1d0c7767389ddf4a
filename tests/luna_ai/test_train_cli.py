"""`luna train` and `luna evaluate`."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import yaml

from luna_ai.checkpoint import read_checkpoint
from luna_ai.cli import main
from luna_ai.commands.train import Config
from luna_ai.config import parse_ruleset
from luna_ai.parsing import parse
from luna_ai.runner import ruleset_label
from luna_ai.training_config import TrainingConfig
from luna_ai.training_folder import read_games

ROOT = Path(__file__).parents[2]
TINY = {
    "steps": 4, "save_every": 2, "games": 2, "slots": 2, "sims": 2, "fast_sims": 1, "width": 8, "blocks": 1,
    "batch": 32, "evaluate_every": 4, "evaluate_deals": 2, "evaluate_sims": 1, "reuse": 1.0, "shares": [1.0, 1.0, 0.0],
}  # fmt: skip


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A config file of a training that takes a second."""
    file = tmp_path / "tiny.yaml"
    file.write_text(yaml.safe_dump(TINY))
    return file


def luna(*words: object) -> list[str]:
    return [sys.executable, "-m", "luna_ai.cli", *map(str, words)]


def test_train_then_evaluate(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = tmp_path / "run"
    assert main(["train", "--config", str(tiny), "--out", str(run), "--seed", "5"]) == 0
    said = capsys.readouterr()
    assert "step 4/4: 8 games" in said.err
    assert f"luna evaluate {run / 'checkpoints' / 'latest'}" in said.out
    resolved = yaml.safe_load((run / "config.yaml").read_text())
    assert resolved == TrainingConfig().to_plain() | TINY | {"seed": 5}
    figures = tmp_path / "found.json"
    words = ["--deals", "2", "--sims", "2", "--players", "2", "--against", "random", "--jobs", "1", "--json"]
    assert main(["evaluate", str(run), *words, str(figures)]) == 0
    (match,) = json.loads(figures.read_text())["matches"]
    assert (match["opponent"], match["players"]) == ("random", 2)
    assert match["games"] == 2 * 2 * 2
    assert f"net:{run / 'checkpoints' / 'step-4.pt'},sims=2" in figures.read_text()


def test_networks_are_measured_against_somebody(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "nobody.yaml"
    file.write_text("anchors: []\n")
    assert main(["train", "--config", str(file), "--out", str(tmp_path / "run")]) == 2
    said = "luna train: error: anchors: none, but networks are measured; allowed: some bots, or evaluate_every 0\n"
    assert capsys.readouterr().err == said


def test_evaluated_is_by_the_rules_of_the_training(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run, sheet = tmp_path / "run", tmp_path / "own.yaml"
    sheet.write_text((ROOT / "engine_fast" / "sheets" / "reconstructed.yaml").read_text())
    rules = ["--components", str(sheet), "--ruleset", "online", "--option", "virtual_alone=false"]
    assert main(["train", "--config", str(tiny), "--evaluate-every", "0", "--out", str(run), *rules]) == 0

    def evaluated(*words: str) -> tuple[int, dict[str, str]]:
        out = tmp_path / f"found{len(list(tmp_path.iterdir()))}"
        quick = ["--deals", "2", "--sims", "0", "--players", "2", "--against", "random", "--jobs", "1"]
        code = main(["evaluate", str(run), *quick, *words, "--out", str(out)])
        file = out / "arena.json"
        return code, json.loads(file.read_text()) if file.exists() else {}

    code, trained = evaluated()
    assert (code, trained["components"]) == (0, str(sheet))
    assert trained["ruleset"] == ruleset_label(parse_ruleset("online", ["virtual_alone=false"]))
    code, other = evaluated("--components", "reconstructed", "--ruleset", "official")
    assert (code, other["components"], other["ruleset"]) == (0, "reconstructed", "official")
    sheet.write_text(sheet.read_text().replace("\nstarting_influence: 5", "\nstarting_influence: 6"))
    capsys.readouterr()
    assert evaluated()[0] == 2
    assert "has changed since this network was trained; give --components" in capsys.readouterr().err


def test_the_resolved_config_is_a_config_file(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = tmp_path / "run"
    assert main(["train", "--config", str(tiny), "--out", str(run)]) == 0
    assert main(["train", "--config", str(run / "config.yaml"), "--out", str(run)]) == 0
    assert "4 steps, 8 games" in capsys.readouterr().out
    assert len(read_games(run).filter(seat=0)) == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--batch", "none"], "--batch: 'none' is not a whole number from 1 to 1000000"),
        (["--kind", "transformer"], "--kind: 'transformer' is not one of residual, attention"),
        (["--shares", "1", "1"], "shares [1.0, 1.0] is not three numbers, for 2, 3 and 4 players"),
        (["--rate", "1"], "unknown argument '--rate'"),
        (["--workers", "1", "--inference", "cuda", "--backend", "int8"], "backend int8: inference cuda evaluates in"),
        (["--bots", "somebody"], "bots: 'somebody' is unknown; allowed: random, greedy, strategy:"),
        (["--workers", "5000"], "--workers: '5000' is not a whole number from 0 to 4096"),
        (["--override", "colour"], "override: 'colour' is no key; allowed: seed, "),
        (["--components", "nowhere"], "nowhere"),
    ],
)
def test_bad_options_are_one_line(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["train", "--out", str(tmp_path / "run"), *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("luna train: error: ")
    assert said in error
    assert error.count("\n") == 1


def test_an_unknown_key_of_a_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "wrong.yaml").write_text("stepps: 3\n")
    assert main(["train", "--config", str(tmp_path / "wrong.yaml"), "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("luna train: error: --config: unknown key 'stepps'; allowed: ")
    assert "steps" in error
    assert error.count("\n") == 1


def test_a_changed_option_is_refused_by_name(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["train", "--config", str(tiny), "--out", str(tmp_path / "run")]
    assert main([*words, "--steps", "1"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert "holds a run with steps = 1, not 4; use the same value, --override steps or" in capsys.readouterr().err
    assert main([*words, "--save-every", "3", "--override", "steps", "save-every"]) == 0
    assert "4 steps, 8 games" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["none.pt", "text.pt"])
def test_what_is_no_checkpoint_is_one_line(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "text.pt").write_text("no checkpoint")
    assert main(["evaluate", str(tmp_path / path), "--jobs", "1"]) == 2
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("luna evaluate: error: ")
    assert path in error.splitlines()[-1]


@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "train").glob("*.yaml")), ids=lambda file: file.name)
def test_the_files_in_configs_can_be_used(file: Path):
    parse(Config, ["--config", str(file)], "luna train", "").check()
    lines = file.read_text().splitlines()
    assert all("#" in line for line in lines if line.strip())  # a reason on every line


def test_ctrl_c_saves_and_the_run_goes_on(tiny: Path, tmp_path: Path):
    run = tmp_path / "run"
    words = luna("train", "--config", tiny, "--out", run, "--steps", 100_000, "--save-every", 1000)
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step 3/"):
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
    assert process.returncode == 130
    step = read_checkpoint(run / "checkpoints" / "latest").training["step"]
    assert 3 <= step < 1000
    assert len(read_games(run).filter(seat=0)) == 2 * step


@pytest.mark.slow
def test_kill_9_at_random_moments_changes_nothing(tiny: Path, tmp_path: Path):
    """Sessions are killed after random times until one ends by itself."""
    steps, rng, kills = 60, random.Random(1), 0
    words = ["train", "--config", str(tiny), "--steps", str(steps), "--evaluate-every", "0", "--out"]
    assert main([*words, str(tmp_path / "whole")]) == 0
    run = tmp_path / "killed"
    while True:
        with subprocess.Popen(luna(*words, run), stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stderr is not None
            process.stderr.readline()
            time.sleep(rng.uniform(0.0, 0.5))
            if process.poll() is None and kills < 10:
                process.send_signal(signal.SIGKILL)
                kills += 1
                continue
            process.stderr.read()
        break
    assert process.returncode == 0
    assert kills == 10
    found, wanted = (read_checkpoint(each / "checkpoints" / "latest") for each in (run, tmp_path / "whole"))
    assert found.training["step"] == wanted.training["step"] == steps
    weights = wanted.network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in found.network.state_dict().items())
    assert found.training["replay"] == wanted.training["replay"]
    games = read_games(run)
    assert games.equals(read_games(tmp_path / "whole"))
    assert games.filter(seat=0)["index"].to_list() == list(range(2 * steps))
    assert sorted(os.listdir(run / "checkpoints")) == sorted(os.listdir(tmp_path / "whole" / "checkpoints"))
