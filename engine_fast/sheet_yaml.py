"""Reads the YAML of a component sheet: `extends` resolved, not yet checked (`components.py` checks).

Merging and canonical JSON are those of docs/RULES.md, section 9. Standard library and PyYAML only.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

SHEETS = Path(__file__).parent / "sheets"
MAX_BYTES = 1_000_000
MAX_DEPTH = 8
MAX_EXTENDS = 16


class SheetError(ValueError):
    """A component sheet that cannot be read or used; one line that names the file, the field and what is allowed."""


def packaged_sheets() -> list[str]:
    """Names of the sheets that come with the package, sorted."""
    return sorted(file.stem for file in SHEETS.glob("*.yaml"))


def read_sheet(name_or_path: str | Path) -> dict[str, Any]:
    """The mapping of a sheet with `extends` resolved; keys are strings, `known` is kept.

    A packaged name comes before a file of that name (write `./reconstructed` for the file). A value that a sheet
    changes is known as `assumed` unless that sheet says otherwise, even if the sheet it extends says `rules`.

    Raises:
        SheetError: no such sheet, not readable, not YAML, a key twice, `extends` in a circle.
    """
    where = _find(str(name_or_path))
    chain = [_read_mapping(where)]
    visited = [where]
    while "extends" in chain[-1]:
        where = _find_extended(chain[-1].pop("extends"), where)
        if where in visited or len(visited) == MAX_EXTENDS:
            raise SheetError(f"{where}: extends: in a circle, or more than {MAX_EXTENDS} sheets in a row")
        visited.append(where)
        chain.append(_read_mapping(where))
    sheet = chain.pop()
    while chain:
        sheet = _extend(sheet, chain.pop())
    return sheet


def canonical_json(sheet: Mapping[str, Any]) -> str:
    """The text whose SHA-256 identifies a sheet; without `known` and `extends` (docs/RULES.md, section 9)."""
    numbers = {key: value for key, value in sheet.items() if key not in ("known", "extends")}
    return json.dumps(numbers, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def with_text_keys(value: Any, where: str, depth: int = 0) -> Any:
    """A copy with integer keys turned into decimal strings; refuses other keys, a key twice and endless nesting."""
    if depth > MAX_DEPTH:
        raise SheetError(f"{where}: nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list | tuple):
        return [with_text_keys(item, where, depth + 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    copy: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise SheetError(f"{where}: key {key!r} is neither text nor a whole number")
        if str(key) in copy:
            raise SheetError(f"{where}: key {str(key)!r} stands twice")
        copy[str(key)] = with_text_keys(item, where, depth + 1)
    return copy


def _find(name: str, folder: Path = Path()) -> Path:
    """The file of a packaged name, or of a path that starts at `folder`."""
    if name in packaged_sheets():
        return SHEETS / f"{name}.yaml"
    path = folder / name
    if not name or not os.path.exists(path):  # unlike Path.exists never an exception
        raise SheetError(
            f"no component sheet {name!r}; allowed: {', '.join(packaged_sheets())}, or the path of a YAML file"
        )
    return path.resolve()


def _find_extended(name: object, sheet: Path) -> Path:
    try:
        return _find(name if isinstance(name, str) else repr(name), sheet.parent)
    except SheetError as error:
        raise SheetError(f"{sheet}: extends: {error}") from None


def _read_mapping(file: Path) -> dict[str, Any]:
    content = _parse(_read_text(file), file)
    if not isinstance(content, dict):
        raise SheetError(f"{file}: a sheet is a map of fields, not {type(content).__name__}")
    if "name" not in content:
        raise SheetError(f"{file}: name: missing; every sheet has its own, since tables and records quote it")
    mapping: dict[str, Any] = with_text_keys(content, str(file))
    return mapping


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise SheetError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SheetError(f"{file}: not a text file (UTF-8)") from None
    if len(data) > MAX_BYTES:
        raise SheetError(f"{file}: larger than {MAX_BYTES:,} bytes, not a component sheet")
    return text


def _parse(text: str, file: Path) -> object:
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise SheetError(f"{file}{line}: {' '.join(str(problem).split())}") from None
    except (RecursionError, ValueError) as error:  # nested without end; a date or number that Python refuses
        raise SheetError(f"{file}: not readable as YAML: {' '.join(str(error).split())}") from None


def _extend(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The sheet that `changes` makes of `base`, what it changes without a word about it known as assumed."""
    merged = _merge(base, changes)
    known, said = merged.get("known"), changes.get("known", {})
    if not isinstance(known, dict) or not isinstance(said, dict):
        return merged
    for path in known:
        if path not in said and values_at(base, path) != values_at(merged, path):
            known[path] = "assumed"
    return merged


def _merge(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def values_at(sheet: Mapping[str, Any], path: str) -> list[Any]:
    """All values under a path of `known`; maps by number of players are passed through (`moon_priestess.move`)."""
    values: list[Any] = [sheet]
    for key in path.split("."):
        maps = [value for value in values if isinstance(value, Mapping)]
        by_players = [item for value in maps for number, item in value.items() if number.isdecimal()]
        maps += [item for item in by_players if isinstance(item, Mapping)]
        values = [value[key] for value in maps if key in value]
    return values


class _Loader(yaml.SafeLoader):
    """SafeLoader that refuses a key that stands twice in a map, where YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """As SafeLoader, for maps whose keys differ."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    problem = f"key {key.value!r} stands twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
