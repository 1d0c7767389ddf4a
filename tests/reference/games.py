"""Sheets, rule sets, example records and random games for the tests of the reference twin."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from engine_fast.reference import Position, Reference

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = sorted((DATA / "examples").glob("*.jsonl"))

OFFICIAL: dict[str, Any] = {
    "name": "official",
    "virtual_alone": True,
    "virtual_promotion": True,
    "council_overshoot": False,
    "book_same_space": False,
    "same_isle_moves": False,
    "influence_floor": 0,
    "max_actions_per_player": 60,
}


def merge(base: dict[Any, Any], changes: dict[Any, Any]) -> dict[Any, Any]:
    """Maps merge recursively, lists and scalars replace (the `extends` of section 9)."""
    merged = dict(base)
    for key, value in changes.items():
        both_maps = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both_maps else value
    return merged


@cache
def load_sheet(name: str) -> dict[Any, Any]:
    """The sheet with this name, `extends` resolved."""
    for path in sorted((DATA / "sheets").glob("*.yaml")):
        sheet: dict[Any, Any] = yaml.safe_load(path.read_text())
        if sheet["name"] == name:
            return merge(load_sheet(sheet["extends"]), sheet) if "extends" in sheet else sheet
    raise LookupError(name)


def reference(sheet: str = "reconstructed", **options: Any) -> Reference:
    """The twin with the official rules, but for the named options."""
    return Reference(load_sheet(sheet), OFFICIAL | options)


@dataclass
class Record:
    """An example record as it stands in its file."""

    twin: Reference
    setup: dict[str, Any]
    steps: list[dict[str, Any]]
    result: dict[str, list[int]]

    @property
    def positions(self) -> list[dict[str, Any]]:
        """Every position of the game, the set-up first."""
        return [self.setup, *(step["p"] for step in self.steps)]


@cache
def read_record(path: Path) -> Record:
    """The one record of an example file."""
    header, *steps, last = (json.loads(line) for line in path.read_text().splitlines())
    twin = Reference(load_sheet(header["components"]), header["ruleset"])
    return Record(twin, header["setup"], steps, last["result"])


def random_game(twin: Reference, rng: random.Random, players: int, setup: str) -> Iterator[tuple[Position, str]]:
    """Every position of a random game with the decision taken there ("" at the end).

    The verb is drawn first, so that rare decisions are taken often.
    """
    position = twin.new(rng, players, setup)
    while legal := twin.legal(position):
        verb = rng.choice(sorted({text.split()[0] for text in legal}))
        decision = rng.choice([text for text in legal if text.split()[0] == verb])
        yield position, decision
        position = twin.play(position, decision)
    yield position, ""


def start(twin: Reference, players: int = 3, start_player: int = 0) -> Position:
    """A preselected set-up with boards 0, 1, ... in order, start tile i + 1 for seat i, and this start player.

    The ring is tide, novice, sailboat, herbs, book, bribery, shrine; a test changes what it needs.
    """
    position = twin.new(random.Random(1), players, "preselected")
    data = twin.dump(position)
    tiles = sorted(space["tile"] for board in twin.rules.sheet["temple"]["boards"][:players] for space in board)
    owners = [{"at": "temple", "owner": seat, "book": True} for seat in range(players)]
    data |= {"start_player": start_player, "to_move": start_player, "boards": list(range(players))}
    data["council"][0] = [(start_player + turn) % players for turn in range(players)]
    data["tiles"] = {str(tile): owners.pop(0) if tile <= 4 else {"at": "path"} for tile in tiles}
    assert twin.valid_setup(data) == []
    return twin.load(data)
