"""The lines of a game record (docs/RULES.md, section 9): read with every check of their form, and written.

Reading streams: a file of any size is held one line at a time. Accepted beside what we write ourselves: any order of
keys, any white space between them, `\\r\\n`, a byte order mark at the beginning, blank lines (they count as lines), no
newline after the last line. Refused: a key twice, NaN and Infinity, anything but UTF-8, lines of more than 16 MiB.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from engine_fast.ruleset import RuleSet, RuleSetError
from luna_ai.records.form import form_problem, key_problem, position_problem, quoted

FORMAT = "luna-record/1"
HEADER_KEYS = ("format", "components", "components_sha256", "ruleset", "setup", "seats", "seed", "meta")
MAX_LINE_BYTES = 16 * 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RecordError(ValueError):
    """A file that is no game record, or a broken one; the message names file, line and what is wrong."""


@dataclass(frozen=True)
class Header:
    """Line 1 of a record.

    Attributes:
        components: name of the component sheet.
        components_sha256: of the sheet, 64 hexadecimal digits, read in any case.
        ruleset: rule set and options.
        setup: canonical position before the first decision; only its form is checked.
        seats: name of the player at each seat.
        seed: the writing program's own number.
        meta: whatever the writing program adds.
    """

    components: str
    components_sha256: str
    ruleset: RuleSet
    setup: dict[str, Any]
    seats: tuple[str, ...]
    seed: int | None
    meta: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The map of the line, keys in the order of section 9."""
        values = {"format": FORMAT, **vars(self), "ruleset": self.ruleset.to_json(), "seats": list(self.seats)}
        return {key: values[key] for key in HEADER_KEYS}


@dataclass(frozen=True)
class Decision:
    """A line `{"d": ...}`: notation, position after it and legal decisions before it where the record has them."""

    d: str
    p: dict[str, Any] | None = None
    legal: list[str] | None = None

    def to_json(self) -> dict[str, Any]:
        """The map of the line, without what the record does not have."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Result:
    """The last line of a finished record: final influence and rank by seat."""

    influence: list[int]
    rank: list[int]

    def to_json(self) -> dict[str, Any]:
        """The map of the line."""
        return {"result": dict(vars(self))}


RecordLine = Header | Decision | Result


def line_text(line: RecordLine) -> str:
    """The line as a file holds it, newline included: compact, ASCII."""
    return json.dumps(line.to_json(), separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n"


def read_lines(file: Path) -> Iterator[tuple[int, RecordLine]]:
    """The lines of a record file with their numbers, from 1.

    Which kind of line follows which is not checked, but for the first one, which is a header.

    Raises:
        RecordError: the file or a line does not have the form of section 9.
        OSError: the file cannot be read.
    """
    begun = False
    with file.open("rb") as stream:
        for number, raw in _raw_lines(file, stream):
            problem, line = _read_line(raw)
            if line is None or not (begun or isinstance(line, Header)):
                raise RecordError(_explain(file, number, raw, problem, begun))
            begun = True
            yield number, line
    if not begun:
        raise RecordError(f"{file}: empty, not a game record ({FORMAT})")


def _raw_lines(file: Path, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank."""
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise RecordError(f"{file}, line {number}: longer than {MAX_LINE_BYTES:,} bytes, no line of a game record")
        raw = raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw
        if raw.strip():
            yield number, raw


def _explain(file: Path, number: int, raw: bytes, problem: str, begun: bool) -> str:
    where = f"{file}, line {number}"
    if not raw.endswith(b"\n") and raw.lstrip().startswith(b"{") and problem.startswith("not "):
        return f"{where}: cut off in the middle, the file is truncated"
    if begun or problem.startswith("header"):
        return f"{where}: {problem}"
    return f"{where}: not the header of a game record ({FORMAT}){f': {problem}' if problem else ''}"


def _read_line(raw: bytes) -> tuple[str, RecordLine | None]:
    """The line, or what is wrong with it."""
    try:
        data = _JSON.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8 text", None
    except RecursionError:
        return "not JSON: nested too deeply", None
    except ValueError as error:
        return f"not JSON: {error}", None
    if not isinstance(data, dict):
        return f"{quoted(data)} is not a map", None
    if "format" in data or "setup" in data:
        return _read_header(data)
    return _read_result(data) if "result" in data else _read_decision(data)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} stands twice in a map")
    return made


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(f"{text} is no number of JSON, or too large")
    return number


_JSON = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_finite)


def _read_header(data: dict[str, Any]) -> tuple[str, Header | None]:
    if data.get("format") != FORMAT:
        return f"header: format: {quoted(data.get('format'))} is not {FORMAT!r}", None
    problem = key_problem("header", data, HEADER_KEYS) or _header_problem(data)
    if problem:
        return problem if problem.startswith("header") else f"header: {problem}", None
    try:
        ruleset = RuleSet.from_json(data["ruleset"])
    except RuleSetError as error:
        return f"header: {error}", None
    sha = data["components_sha256"].lower()
    values = {**data, "components_sha256": sha, "ruleset": ruleset, "seats": tuple(data["seats"])}
    return "", Header(**{key: value for key, value in values.items() if key != "format"})


def _header_problem(data: Mapping[str, Any]) -> str:
    sha, seats, setup = data["components_sha256"], data["seats"], data["setup"]
    forms: dict[str, Any] = {"components": str, "components_sha256": str, "ruleset": dict, "seats": [str], "meta": dict}
    problems = (form_problem(key, data[key], form) for key, form in forms.items())
    if problem := next(filter(None, problems), ""):
        return problem
    if len(sha) != 64 or set(sha.lower()) - set("0123456789abcdef"):
        return f"components_sha256: {quoted(sha)} is not 64 hexadecimal digits"
    if data["seed"] is not None and type(data["seed"]) is not int:
        return f"seed: {quoted(data['seed'])} is neither a whole number nor null"
    if problem := position_problem("setup", setup):
        return problem
    if setup["players"] in (2, 3, 4) and len(seats) != setup["players"]:
        return f"seats: {len(seats)} names of players, but the set-up has {setup['players']}"
    return ""


def _read_result(data: dict[str, Any]) -> tuple[str, Result | None]:
    form = {"result": {"influence": [int], "rank": [int]}}
    problem = form_problem("result line", data, form)
    return problem, None if problem else Result(**data["result"])


def _read_decision(data: dict[str, Any]) -> tuple[str, Decision | None]:
    problem = key_problem("decision", data, ["d"], optional=["p", "legal"])
    forms: dict[str, Any] = {"d": str, "p": dict, "legal": [str]}
    for key, form in forms.items():
        if not problem and key in data:
            problem = form_problem(key, data[key], form)
    return problem, None if problem else Decision(**data)
