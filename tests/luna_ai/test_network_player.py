"""`net:PATH,...` at the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from engine_fast import Position
from luna_ai import checkpoint, runner
from luna_ai.checkpoint import CheckpointError, write_checkpoint
from luna_ai.cli import main
from luna_ai.evaluator import EvaluatorError, NetworkEvaluator
from luna_ai.network import NetworkConfig, make_network
from luna_ai.network_options import NetOptionError, NetOptions
from luna_ai.network_player import evaluator_of
from luna_ai.players import SEARCH, UnknownPlayer, make_player, parse_player
from luna_ai.runner import PLAYING_FILES, PLAYING_FOLDERS, sources_of_kernels
from luna_ai.search.evaluators import new_batch
from luna_ai.slow_games import play_slowly
from tests.luna_ai.walks import random_game

ROOT = Path(__file__).parents[2]


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A checkpoint whose policy is not flat."""
    network = make_network(NetworkConfig(width=64, blocks=1), seed=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    write_checkpoint(tmp_path / "a.pt", network)
    return tmp_path / "a.pt"


def test_a_name_prints_back_in_full(net: Path):
    for written, full in (
        (f"net:{net}", f"net:{net},sims=64"),
        (f"net:{net},sims=0", f"net:{net},sims=0"),
        (
            f"net:{net},backend=torch,leaves=8,sims=16,seconds=0.5,considered=4",
            f"net:{net},sims=16,seconds=0.5,leaves=8,considered=4,backend=torch",
        ),
    ):
        spec = parse_player(written)
        assert str(spec) == spec.name == full
        assert parse_player(full) == spec
        assert spec.code == SEARCH
        assert spec.search is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("sims=-1", "net: sims=-1 is not a whole number from 0 to 1e+06"),
        ("sims=many", "net: sims=many is not a whole number"),
        ("leaves=0", "net: leaves=0 is not a whole number from 1 to 1024"),
        ("seconds=0", "net: seconds=0 is not a number from 0.001 to 3600"),
        ("backend=onnx", "net: backend=onnx is not one of auto, numba, int8, torch, cuda"),
        ("depth=3", "net: 'depth=3' is not KEY=VALUE with a KEY of sims, seconds, leaves, considered, backend"),
        ("sims", "net: 'sims' is not KEY=VALUE"),
        ("sims=1,sims=2", "net: sims is given twice"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(options: str, said: str, net: Path):
    with pytest.raises(NetOptionError) as refused:
        parse_player(f"net:{net},{options}")
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_missing_path_are_refused(tmp_path: Path):
    with pytest.raises(NetOptionError, match=r"is no file; allowed: net:PATH,sims=64"):
        parse_player(f"net:{tmp_path / 'none.pt'},sims=4")
    for name in ("net", "net:"):
        with pytest.raises(UnknownPlayer, match=r"net:PATH,sims=64"):
            parse_player(name)


def test_without_simulations_the_likeliest_decision_is_played(net: Path):
    player, evaluator = make_player(f"net:{net},sims=0"), NetworkEvaluator(net, "torch")
    different = 0
    for position in random_game(Position.new(3, seed=1), 1)[::5]:
        batch = new_batch(position.state.reshape(1, -1).copy(), position.game.rules)
        evaluator.evaluate(batch)
        legal = position.legal_ids()
        best = max(legal, key=lambda action: batch.logits[0, action])
        assert player.choose(position) == best
        different += best != legal[0]
    assert different > 5


@pytest.mark.parametrize(
    "options", ["sims=24", "sims=24,leaves=4", "sims=5,backend=torch", "sims=5,backend=int8", "sims=9,seconds=10"]
)
def test_a_search_chooses_legal_decisions_and_the_same_again(options: str, net: Path):
    positions = random_game(Position.new(4, seed=2), 2)[::29]
    chosen = [[make_player(f"net:{net},{options}", seed).choose(position) for position in positions] for seed in (1, 2)]
    assert chosen[0] == chosen[1], "without noise the seed does not matter"
    assert all(action in position.legal_ids() for action, position in zip(chosen[0], positions, strict=True))


def test_it_plays_a_game_to_its_end_and_chooses_nothing_after(net: Path):
    specs = [parse_player(f"net:{net},sims=0"), parse_player("random"), parse_player(f"net:{net},sims=2")]
    played = play_slowly(Position.new(3, seed=5), specs, seed=1)
    assert played is not None
    assert played.position.over
    assert (played.seat_decisions[:3] > 0).all()
    with pytest.raises(ValueError, match="the game is over"):
        make_player(specs[0]).choose(played.position)


def test_a_network_is_read_once_until_its_file_changes(net: Path):
    options = NetOptions(str(net))
    first = evaluator_of(options)
    assert evaluator_of(options) is first
    write_checkpoint(net, make_network(NetworkConfig(width=128, blocks=1), seed=2))
    assert evaluator_of(options) is not first


def test_a_network_that_cannot_be_used_is_refused_when_the_player_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(checkpoint.VERSIONS, "action version", 99)
    write_checkpoint(tmp_path / "old.pt", make_network(NetworkConfig(width=64, blocks=0), seed=0))
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match="has action version 99"):
        make_player(f"net:{tmp_path / 'old.pt'}")
    write_checkpoint(tmp_path / "tokens.pt", make_network(NetworkConfig("attention", 32, 1), seed=0))
    make_player(f"net:{tmp_path / 'tokens.pt'}")
    with pytest.raises(EvaluatorError, match="allowed for attention: torch"):
        make_player(f"net:{tmp_path / 'tokens.pt'},backend=numba")


def test_it_is_simulated_and_recorded(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out, name = tmp_path / "out", f"net:{net},sims=0"
    assert main(["simulate", "--players", "2", "--games", "2", "--agents", name, "random", "--out", str(out)]) == 0
    tables = [pl.read_parquet(file) for file in out.rglob("*.parquet")]
    assert {name, "random"} in [set(table["player"]) for table in tables if "player" in table.columns]
    records = tmp_path / "games.jsonl"
    assert main(["record", "--players", "2", "--games", "1", "--agents", name, "--out", str(records)]) == 0
    assert json.loads(records.read_text().splitlines()[0])["seats"] == [name, name]
    assert main(["replay", str(records)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_bad_networks_are_one_line_on_the_command_line(jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "bad.pt").write_text("no network")
    for name, said in ((f"net:{tmp_path}/none.pt", "is no file"), (f"net:{tmp_path}/bad.pt", "is no checkpoint")):
        arguments = ["simulate", "--players", "2", "--games", "4", "--jobs", jobs, "--agents", name]
        assert main([*arguments, "--out", str(tmp_path / f"out{len(said)}")]) == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert lines[-1].startswith("luna simulate: error: ")
        assert said in lines[-1]
        assert not any("Traceback" in line for line in lines)


def test_whatever_decides_what_a_player_does_is_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names = {folder.name for folder in PLAYING_FOLDERS}
    assert names == {"engine_fast", "bots", "search", "lockstep", "learning"}
    assert all((ROOT / "luna_ai" / name).is_file() for name in PLAYING_FILES)
    before = sources_of_kernels()
    for name in PLAYING_FILES:
        (tmp_path / name).write_text("another")
    monkeypatch.setattr(runner, "HERE", tmp_path)
    assert sources_of_kernels() != before


WITHOUT_TORCH = """
import importlib, pkgutil, sys

class NoTorch:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
import luna_ai
failed = []
for module in pkgutil.walk_packages(luna_ai.__path__, "luna_ai."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        failed.append((module.name, error.name))
print(sorted(name for name, missing in failed if missing == "torch"))
from luna_ai.network_options import NetOptionError
from luna_ai.players import make_player
try:
    make_player("net:PATH")
except NetOptionError as error:
    print(error)
"""


def test_only_the_learner_needs_torch(net: Path):
    code = WITHOUT_TORCH.replace("PATH", str(net))
    environment: dict[str, Any] = dict(os.environ)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    without, refused = done.stdout.strip().splitlines()[-2:]
    learners = {"backend_guard", "checkpoint", "crew", "evaluator", "learner", "losses", "metrics", "network", "train"}
    learners |= {"bench.selfplay", "bench.selfplay_report", "training_folder", "views.training"}
    learners |= {f"distributed.{name}" for name in ("cluster", "crew", "inference", "measure", "parts", "pool")}
    assert without == str(sorted(f"luna_ai.{name}" for name in learners))
    assert refused == "net: networks need PyTorch; allowed after: pip install 'luna-ai[train]'"


def test_names_are_checked_without_torch_and_numba(net: Path):
    code = f"import sys; from luna_ai.players import parse_player; parse_player('net:{net}'); "
    code += "sys.exit(bool({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
