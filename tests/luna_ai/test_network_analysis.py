"""`luna analyse` with a network's search: policies before and after, visits, values; forced positions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from engine_fast import Position
from luna_ai.analysis import AnalysisError, searcher_of
from luna_ai.checkpoint import write_checkpoint
from luna_ai.cli import main
from luna_ai.network import NetworkConfig, make_network
from luna_ai.network_analysis import NetworkCandidate, NetworkSearcher
from luna_ai.network_options import NetOptions
from luna_ai.players import make_player, parse_player
from tests.luna_ai.walks import random_game

RECORD = sorted((Path(__file__).parents[1] / "data" / "examples").glob("*.jsonl"))[1]


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose policy is not flat."""
    network = make_network(NetworkConfig(width=64, blocks=1), seed=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    path = tmp_path_factory.mktemp("net") / "a.pt"
    write_checkpoint(path, network)
    return path


def test_the_best_decision_is_the_one_that_the_player_plays(net: Path):
    searcher, player = NetworkSearcher(NetOptions(str(net), sims=12)), make_player(f"net:{net},sims=12")
    for position in random_game(Position.new(3, seed=5), 5)[30:60:3]:
        found = searcher(position)
        assert found.best.action == player.choose(position)
        assert sorted(candidate.action for candidate in found.candidates) == position.legal_ids()


def test_policies_and_values_are_probabilities_and_visits_add_up(net: Path):
    position = Position.new(3, seed=4)
    found = NetworkSearcher(NetOptions(str(net), sims=20))(position)
    assert found.simulations == 20 == sum(candidate.visits for candidate in found.candidates)
    improved = [each.policy for each in found.candidates if isinstance(each, NetworkCandidate)]
    assert len(improved) == len(found.candidates) > 1
    assert sum(improved) == pytest.approx(1, abs=1e-5)
    assert sum(candidate.prior for candidate in found.candidates) == pytest.approx(1)
    assert len({candidate.prior for candidate in found.candidates}) > 1
    assert found.values.sum() == pytest.approx(1, abs=1e-5)
    assert found.values[3] == 0


def test_a_forced_position_is_worth_what_comes_after_it(net: Path):
    searcher = NetworkSearcher(NetOptions(str(net), sims=8))
    game = random_game(Position.new(2, seed=3), 3)
    forced = [position for position in game if not position.over and len(position.legal_ids()) == 1]
    assert forced
    for position in forced:
        found = searcher(position)
        assert [candidate.action for candidate in found.candidates] == position.legal_ids()
        after = position.play(position.legal_ids()[0])
        expected = searcher(after).values[:2] if not after.over else [rank == 1 for rank in after.ranking]
        assert np.allclose(found.values[:2], expected)


def test_a_network_that_does_not_search_is_refused(net: Path):
    with pytest.raises(AnalysisError, match=r"sims=0' does not search; allowed: mcts:sims=400, net:PATH,sims=64"):
        searcher_of(parse_player(f"net:{net},sims=0"))


def test_the_table_shows_policies_before_and_after(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figures = tmp_path / "found.json"
    arguments = ["analyse", str(RECORD), "--from", "40", "--to", "46", "--json", str(figures)]
    assert main([*arguments, "--player", f"net:{net},sims=8"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    found = json.loads(figures.read_text())
    first = found["games"][0]["judgements"][0]
    assert found["player"] == f"net:{net},sims=8"
    assert first["simulations"] == 8
    best = first["best"][0]
    assert f"({100 * best['prior']:.0f}→{100 * best['policy']:.0f}, {best['visits']}, " in shown
    assert sum(first["values"]) == pytest.approx(1, abs=1e-5)


def test_without_a_network_nothing_is_said_of_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figures = tmp_path / "found.json"
    arguments = ["analyse", str(RECORD), "--from", "40", "--to", "41", "--json", str(figures)]
    assert main([*arguments, "--player", "mcts:sims=8"]) == 0
    assert "→" not in capsys.readouterr().out
    assert json.loads(figures.read_text())["games"][0]["judgements"][0]["played"]["policy"] is None
