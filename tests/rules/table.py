"""A game on the table: the same questions to the fast engine and to the reference, and exact differences.

``Table.step`` compares everything that changed with what the test says: a change that is not mentioned fails, and so
does a mentioned one that did not come. Paths name a field: ``actions``, ``0.influence`` (seat 0), ``1.active.tide``,
``0.favors.novice`` and ``0.shrines.book`` (True or False), ``council.3`` (bottom to top), ``tile.12`` (``path``,
``claimed 0``, ``temple 1``, ``temple 1 book``, ``temple -``), ``pending``. A value such as "+3" or "-1" is a
difference, any other value the field's new content.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml

from .builder import KINDS, Json

OFFICIAL: Json = {
    "name": "official",
    "virtual_alone": True,
    "virtual_promotion": True,
    "council_overshoot": False,
    "book_same_space": False,
    "same_isle_moves": False,
    "influence_floor": 0,
    "max_actions_per_player": 60,
}
FLAT_KEYS = {
    *("players", "round", "phase", "start_player", "to_move", "time_tokens", "actions", "ring"),
    *("priestess", "builder", "apostate", "boards", "book_bonus", "pending"),
}
POSITION_KEYS = FLAT_KEYS | {"council", "seats", "tiles"}


class Backend(Protocol):
    """What a program that plays Luna must answer."""

    def load(self, position: Json) -> Any: ...
    def legal(self, position: Any) -> list[str]: ...
    def play(self, position: Any, notation: str) -> Any: ...
    def dump(self, position: Any) -> Json: ...
    def result(self, position: Any) -> Json: ...
    def new(self, players: int, setup: str, seed: int) -> Any: ...
    def problems(self, position: Json) -> list[str]: ...


class EngineBackend:
    """The fast engine's Python-level class."""

    def __init__(self, sheet: str, ruleset: Json) -> None:
        import engine_fast

        self.position_class = engine_fast.Position
        self.arguments = {"components": sheet, "ruleset": engine_fast.RuleSet.from_json(ruleset)}

    def load(self, position: Json) -> Any:
        return self.position_class.from_json(position, **self.arguments)

    def legal(self, position: Any) -> list[str]:
        return list(position.legal())

    def play(self, position: Any, notation: str) -> Any:
        return position.play(notation)

    def dump(self, position: Any) -> Json:
        dumped: Json = position.to_json()
        assert position.to_move == dumped["to_move"]
        assert position.over == (dumped["phase"] == "over")
        assert [int(influence) for influence in position.influence] == [s["influence"] for s in dumped["seats"]]
        return dumped

    def result(self, position: Any) -> Json:
        return {"influence": [int(i) for i in position.influence], "rank": [int(r) for r in position.ranking]}

    def new(self, players: int, setup: str, seed: int) -> Any:
        return self.position_class.new(players, setup=setup, seed=seed, **self.arguments)

    def problems(self, position: Json) -> list[str]:
        try:
            self.load(position)
        except ValueError as error:
            return [str(error)]
        return []


class ReferenceBackend:
    """The slow twin; it gets the component sheet as the mapping that stands in the YAML file."""

    def __init__(self, sheet: str, ruleset: Json) -> None:
        from engine_fast.reference import Reference

        self.reference = Reference(resolved_sheet(sheet), ruleset)

    def load(self, position: Json) -> Any:
        return self.reference.load(position)

    def legal(self, position: Any) -> list[str]:
        return list(self.reference.legal(position))

    def play(self, position: Any, notation: str) -> Any:
        return self.reference.play(position, notation)

    def dump(self, position: Any) -> Json:
        dumped: Json = self.reference.dump(position)
        return dumped

    def result(self, position: Any) -> Json:
        result: Json = self.reference.result(position)
        return result

    def new(self, players: int, setup: str, seed: int) -> Any:
        return self.reference.new(random.Random(seed), players, setup)

    def problems(self, position: Json) -> list[str]:
        return list(self.reference.valid_setup(position))


BACKENDS: dict[str, Callable[[str, Json], Backend]] = {"engine": EngineBackend, "reference": ReferenceBackend}


def resolved_sheet(name: str) -> Json:
    """The packaged component sheet, with the sheet that it extends merged in (section 9)."""
    folder = Path(__file__).parents[2] / "engine_fast" / "sheets"
    sheet: Json = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    parent = resolved_sheet(sheet["extends"]) if "extends" in sheet else {}
    return {key: value for key, value in _merged(parent, sheet).items() if key not in ("known", "extends")}


def _merged(below: Any, above: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return below | {key: _merged(below.get(key), value) for key, value in above.items()}


class Game:
    """One of the two programs; calling it puts a position on the table."""

    def __init__(self, backend: str) -> None:
        self.name = backend

    def __call__(self, position: Json, sheet: str = "reconstructed", **choices: Any) -> Table:
        backend = self._backend(sheet, choices)
        table = Table(backend, backend.load(position))
        assert differences(table.json, position) == {}, "a position reads back as it was written"
        return table

    def new(self, players: int, setup: str = "standard", seed: int = 1, sheet: str = "reconstructed") -> Table:
        backend = self._backend(sheet, {})
        return Table(backend, backend.new(players, setup, seed))

    def problems(self, position: Json, sheet: str = "reconstructed") -> list[str]:
        return self._backend(sheet, {}).problems(position)

    def _backend(self, sheet: str, choices: Mapping[str, Any]) -> Backend:
        assert set(choices) <= set(OFFICIAL), choices
        return BACKENDS[self.name](sheet, OFFICIAL | dict(choices))


class Table:
    """A position in the hands of one program. Every look at it checks the conventions of section 8."""

    def __init__(self, backend: Backend, native: Any) -> None:
        self.backend = backend
        self.native = native
        self.json = backend.dump(native)
        assert_canonical(self.json)

    def legal(self, *verbs: str) -> set[str]:
        """The legal notations, or those that begin with one of the words."""
        notations = self.backend.legal(self.native)
        assert notations == sorted(set(notations)), "sorted by code point, each once"
        return {notation for notation in notations if not verbs or notation.split()[0] in verbs}

    def play(self, *decisions: str) -> Table:
        """The table after legal decisions, unchecked but for the conventions; a position reads back at each."""
        table = self
        for decision in decisions:
            assert decision in table.legal(), f"{decision} is illegal, legal are {sorted(table.legal())}"
            table = Table(self.backend, self.backend.play(table.native, decision))
            assert self.backend.dump(self.backend.load(table.json)) == table.json
            assert self.backend.legal(self.backend.load(table.json)) == self.backend.legal(table.native)
        return table

    def step(self, decision: str | Sequence[str], changes: Mapping[str, Any]) -> Table:
        """Plays, and checks that exactly these fields changed."""
        before = self.backend.dump(self.native)
        after = self.play(*([decision] if isinstance(decision, str) else decision))
        assert self.backend.dump(self.native) == before, "the position played from is untouched"
        assert differences(before, after.json) == expected(before, changes)
        return after

    def action(self, decision: str | Sequence[str], changes: Mapping[str, Any]) -> Table:
        """Plays a whole action within a round: one more action, the left neighbour to move, and these changes."""
        clockwise = (self.json["to_move"] + 1) % self.json["players"]
        return self.step(decision, {"actions": "+1", "to_move": clockwise, **changes})

    def gains(self, *decisions: str) -> list[int]:
        """By how much each seat's influence changed."""
        after = self.play(*decisions).json
        return [b["influence"] - a["influence"] for a, b in zip(self.json["seats"], after["seats"], strict=True)]

    def refuses(self, notation: str) -> None:
        """The decision is neither listed nor played."""
        assert notation not in self.legal()
        with pytest.raises(ValueError, match=r"."):
            self.backend.play(self.native, notation)

    @property
    def result(self) -> Json:
        return self.backend.result(self.native)


def fields(position: Json) -> Json:
    """The position as one flat map from path to content."""
    flat = {key: position[key] for key in FLAT_KEYS}
    for index, stack in enumerate(position["council"]):
        flat[f"council.{index}"] = stack
    for index, seat in enumerate(position["seats"]):
        flat |= {f"{index}.{key}": seat[key] for key in ("influence", "landing", "supply")}
        for i, kind in enumerate(KINDS):
            flat |= {f"{index}.{key}.{kind}": seat[key][i] for key in ("active", "inactive")}
            flat |= {f"{index}.{key}.{kind}": kind in seat[key] for key in ("shrines", "favors")}
    return flat | {f"tile.{number}": _tile_in_words(tile) for number, tile in position["tiles"].items()}


def _tile_in_words(tile: Json) -> str:
    if tile["at"] == "path":
        return "path"
    owner = "-" if tile["owner"] is None else str(tile["owner"])
    return f"{tile['at']} {owner}" + (" book" if tile.get("book") else "")


def differences(before: Json, after: Json) -> Json:
    """Path to new content of every field that differs."""
    old, new = fields(before), fields(after)
    return {path: new.get(path) for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path)}


def expected(before: Json, changes: Mapping[str, Any]) -> Json:
    """``changes`` with the differences ("+3") made absolute."""
    old = fields(before)
    assert set(changes) <= set(old), f"no such field: {set(changes) - set(old)}"

    def absolute(path: str, change: Any) -> Any:
        relative = isinstance(change, str) and re.fullmatch(r"[+-]\d+", change)
        return old[path] + int(change) if relative else change

    return {path: absolute(path, change) for path, change in sorted(changes.items())}


def assert_canonical(position: Json) -> None:
    """Sections 3 and 8: keys, orders, types and the sums that always hold."""
    assert json.loads(json.dumps(position)) == position, "plain JSON, tile numbers as strings"
    assert set(position) == POSITION_KEYS
    assert (position["to_move"] is None) == (position["phase"] == "over")
    assert position["book_bonus"] is False or position["players"] == 2
    assert sorted(piece for stack in position["council"] for piece in stack) == list(range(position["players"]))
    books = sum(tile.get("book", False) for tile in position["tiles"].values())
    assert books == position["players"] - ((position["pending"] or {}).get("action") == "book")
    for index, seat in enumerate(position["seats"]):
        _assert_canonical_seat(position, index, seat)
    for tile in position["tiles"].values():
        assert set(tile) - {"book"} == ({"at"} if tile["at"] == "path" else {"at", "owner"})
        assert tile.get("book", True) is True, "the key is there only where a Book lies"


def _assert_canonical_seat(position: Json, index: int, seat: Json) -> None:
    assert set(seat) == {"influence", "active", "inactive", "landing", "supply", "shrines", "favors"}
    for key in ("shrines", "favors"):
        assert seat[key] == [kind for kind in KINDS if kind in seat[key]], "lists in kind order"
    assert len(seat["active"]) == len(seat["inactive"]) == 7
    hand = (position["pending"] or {}).get("hand", 0) if index == position["to_move"] else 0
    on_tiles = sum(tile.get("owner") == index for tile in position["tiles"].values())
    total = sum(seat["active"]) + sum(seat["inactive"]) + seat["landing"] + seat["supply"] + on_tiles + hand
    assert total == 13
