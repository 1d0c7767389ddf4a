"""Frozen facts must not change by accident; the records of an independent program are reproduced exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine_fast import NOTATIONS, Position, RuleSet
from engine_fast.actions import ACTION_VERSION
from tests.engine_fast.golden import GAMES, GOLDEN, final_facts, id_table, twin_of
from tests.reference.games import EXAMPLES

FROZEN_GAMES = sorted(GOLDEN.glob("*.json"))


def test_ids_mean_what_they_meant():
    """Another table of ids needs another ACTION_VERSION: checkpoints and replay data store ids."""
    version, *frozen = (GOLDEN / "ids.txt").read_text().splitlines()
    if version == f"ACTION_VERSION {ACTION_VERSION}":
        assert frozen == list(NOTATIONS), "the table changed: raise ACTION_VERSION, then freeze it anew"
    assert (GOLDEN / "ids.txt").read_text() == id_table()


def test_every_frozen_game_is_there():
    assert {path.stem for path in FROZEN_GAMES} == set(GAMES)


@pytest.mark.parametrize("path", FROZEN_GAMES, ids=lambda path: path.stem)
def test_frozen_games_end_as_they_did(path: Path):
    game = json.loads(path.read_text())
    assert final_facts(game) == {key: game[key] for key in ("words", "ledger", "influence", "rank")}


@pytest.mark.parametrize("path", FROZEN_GAMES, ids=lambda path: path.stem)
def test_frozen_games_end_so_in_the_reference(path: Path):
    game = json.loads(path.read_text())
    twin = twin_of(game)
    words = twin.load(game["position"])
    for action in game["ids"]:
        words = twin.play(words, NOTATIONS[action])
    assert twin.result(words) == {"influence": game["influence"], "rank": game["rank"]}
    start = [seat["influence"] for seat in game["position"]["seats"]]
    assert [a + sum(row) for a, row in zip(start, game["ledger"], strict=True)] == game["influence"]


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_records_are_reproduced(path: Path):
    header, *steps, result = lines_of(path)
    ruleset = RuleSet.from_json(header["ruleset"])
    position = Position.from_json(header["setup"], components=header["components"], ruleset=ruleset)
    assert position.game.sheet.sha256 == header["components_sha256"]
    for number, step in enumerate(steps):
        assert position.legal() == step["legal"], number
        position = position.play(step["d"])
        assert json.dumps(position.to_json()) == json.dumps(step["p"]), number
        assert Position.from_json(step["p"], header["components"], ruleset) == position
    assert position.over
    assert {"influence": position.influence, "rank": position.ranking} == result["result"]


def test_the_examples_are_long_enough_to_tell():
    assert len(EXAMPLES) == 3
    assert sum(len(lines_of(path)) - 2 for path in EXAMPLES) > 400
    assert {lines_of(path)[0]["setup"]["players"] for path in EXAMPLES} == {2, 3, 4}
