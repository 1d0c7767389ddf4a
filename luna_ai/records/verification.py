"""Replays game records with the reference and the engine at once and stops at the first line that is wrong.

Every line is held against both programs: the set-up (`Reference.valid_setup`, `Position.from_json`), each decision,
the positions and legal decisions that the record states, and the result. What they say must also agree with each other.

What a file can be, and the exit code that `luna replay` makes of it:

* verified to the end (0), or verified but without a result line (3);
* not verified (1): a `Mismatch`. The form is right, but the set-up contradicts the rules, a decision is illegal or
  comes after the end, a position, legal list or result differs from the rules', a result stands in an unfinished game;
* no record or a broken one (2): a `RecordError`. Not JSON, truncated, a key missing or unknown, a value of the wrong
  type, options that do not exist, a component sheet that is unknown or has other numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine_fast.components import Sheet, load_sheet, packaged_sheets
from engine_fast.position import Position
from engine_fast.reading import InvalidPosition
from engine_fast.reference import Reference
from engine_fast.ruleset import RuleSet, RuleSetError
from luna_ai.records.form import quoted
from luna_ai.records.lines import Decision, Header, RecordError, RecordLine, Result, read_lines

CONSISTENT = "a set-up that is consistent with the rules"
OF_ENGINE = "says the engine, where the reference says the former"
MAX_NAMED = 6
"""So many legal decisions are named when another one was taken."""


class Mismatch(ValueError):
    """A record that does not verify.

    Attributes:
        file: the record file.
        line: number of the bad line, from 1.
        game: number of the game in the file, from 1.
        expected: what the rules say, in words.
        found: what the line says, in words.
    """

    def __init__(self, file: Path, line: int, game: int, expected: str, found: str) -> None:
        """The message names everything."""
        super().__init__(f"{file}, line {line} (game {game}): expected {expected}; found {found}")
        self.file, self.line, self.game, self.expected, self.found = file, line, game, expected, found


class _Bad(Exception):
    """What is wrong with a line, before it is known which one it is."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found


@dataclass(frozen=True)
class Step:
    """A verified position and the decision that led to it.

    Attributes:
        game: number of the game in the file, from 1.
        number: decisions taken so far; 0 is the set-up.
        header: of the record.
        sheet: component sheet by which the record was replayed.
        mover: seat that took the decision; None at the set-up.
        decision: the notation; None at the set-up.
        legal: the decisions that were legal before, sorted by code point; empty at the set-up.
        position: canonical JSON of the position after the decision.
    """

    game: int
    number: int
    header: Header
    sheet: Sheet
    mover: int | None
    decision: str | None
    legal: list[str]
    position: dict[str, Any]


@dataclass(frozen=True)
class GameEnd:
    """The end of a verified record.

    Attributes:
        game: number of the game in the file, from 1.
        header: of the record.
        sheet: component sheet by which the record was replayed.
        decisions: how many it holds.
        round: round in which it ends.
        result: final influence and rank; None if the record is unfinished.
    """

    game: int
    header: Header
    sheet: Sheet
    decisions: int
    round: int
    result: Result | None


Event = Step | GameEnd | Mismatch
Watcher = Callable[[Event], None]


@dataclass
class Report:
    """What `verify` found in a file.

    Attributes:
        file: the record file.
        games: number of records, unfinished ones and the one that does not verify included.
        decisions: number of verified decisions.
        unfinished: numbers of the unfinished games, from 1.
        problem: the first line that does not verify; None if all do.
    """

    file: Path
    games: int = 0
    decisions: int = 0
    unfinished: list[int] = field(default_factory=list)
    problem: Mismatch | None = None

    def add(self, event: Event) -> None:
        """Counts what `replay` yields, or takes down why it does not go on."""
        self.games = event.game
        if isinstance(event, Mismatch):
            self.problem = event
        elif isinstance(event, GameEnd):
            self.unfinished += [event.game] if event.result is None else []
        else:
            self.decisions += event.decision is not None

    @property
    def verified(self) -> bool:
        """Whether no line is wrong."""
        return self.problem is None

    @property
    def exit_code(self) -> int:
        """0 verified, 1 not verified, 3 verified but unfinished."""
        return 1 if self.problem is not None else 3 if self.unfinished else 0


def verify(
    file: Path,
    components: str | Path | Sheet | None = None,
    any_components: bool = False,
    watchers: Sequence[Watcher] = (),
) -> Report:
    """Replays all records of a file and counts; `watchers` are called with every event.

    Other arguments and errors as of `replay`, but a mismatch is the last event and part of the report.
    """
    report = Report(file)
    try:
        for event in replay(file, components, any_components):
            for take in (report.add, *watchers):
                take(event)
    except Mismatch as problem:
        for take in (report.add, *watchers):
            take(problem)
    return report


def replay(
    file: Path, components: str | Path | Sheet | None = None, any_components: bool = False
) -> Iterator[Step | GameEnd]:
    """Every verified position of a file, the set-ups included, and the end of each game. Memory does not grow.

    Args:
        file: JSON lines, one or several records.
        components: sheet for records whose sheet is not packaged (name, YAML file or `Sheet`).
        any_components: also replay with a sheet that has other numbers than the record's.

    Raises:
        Mismatch: a line does not verify; what was yielded before does.
        RecordError: the file is no record, broken, or its sheet is not known.
        SheetError: `components` is no sheet.
        OSError: the file cannot be read.
    """
    sheets = _Sheets(None if components is None else load_sheet(components), any_components)
    game: _Game | None = None
    number = 0
    for line_number, line in read_lines(file):
        begins = isinstance(line, Header)
        if begins and game is not None and not game.finished:
            yield game.end()
        number += begins
        try:
            if isinstance(line, Header):
                game = _begin(number, line, sheets, f"{file}, line {line_number}")
                yield game.step(None, None, [])
            else:
                assert game is not None  # the first line is a header
                yield game.go_on(line)
        except _Bad as bad:
            raise Mismatch(file, line_number, number, bad.expected, bad.found) from None
    if game is not None and not game.finished:
        yield game.end()


@dataclass(frozen=True)
class _Sheets:
    """Finds the sheet of a record."""

    given: Sheet | None
    any_components: bool

    def find(self, header: Header) -> Sheet:
        """The sheet with the record's numbers; if any will do, the given one or the packaged one of that name."""
        packaged = [load_sheet(header.components)] if header.components in packaged_sheets() else []
        candidates = [*([self.given] if self.given is not None else []), *packaged]
        same = [sheet for sheet in candidates if sheet.sha256 == header.components_sha256]
        if same:
            return same[0]
        if not candidates:
            known = ", ".join(packaged_sheets())
            problem = f"{quoted(header.components)} is not packaged ({known}); name its file with --components"
            raise RecordError(f"component sheet {problem}")
        if not self.any_components:
            sheet, shas = candidates[0], [sha[:16] + "..." for sha in (candidates[0].sha256, header.components_sha256)]
            problem = f"differs from the record's {quoted(header.components)} (sha256 {shas[0]}, not {shas[1]})"
            advice = "name another sheet with --components, or replay by this one with --any-components"
            raise RecordError(f"component sheet {sheet.name!r} {problem}; {advice}")
        return candidates[0]


@lru_cache(maxsize=64)
def _twin(sheet: Sheet, ruleset: RuleSet) -> Reference:
    return Reference(sheet.resolved, ruleset.to_json())


def _begin(number: int, header: Header, sheets: _Sheets, where: str) -> _Game:
    """The game of a header, its set-up verified."""
    try:
        sheet = sheets.find(header)
        header.ruleset.check_floor(sheet.starting_influence)
    except (RecordError, RuleSetError) as error:
        raise RecordError(f"{where}: header: {error}") from None
    return _Game(number, header, sheet)


class _Game:
    """One record on its way through both programs."""

    def __init__(self, number: int, header: Header, sheet: Sheet) -> None:
        """Begins at the set-up, once both programs have accepted it."""
        self.number, self.header, self.sheet = number, header, sheet
        self.decisions, self.finished = 0, False
        self.twin = _twin(sheet, header.ruleset)
        if problems := self.twin.valid_setup(header.setup):
            raise _Bad(CONSISTENT, problems[0])
        self.twin_position = self.twin.load(header.setup)
        try:
            self.position = Position.from_json(header.setup, sheet, header.ruleset)
        except InvalidPosition as error:
            raise _Bad(CONSISTENT, f"{error} (says the engine)") from None
        self.canonical = self._agreed_position()
        _compare("setup", self.canonical, header.setup)

    def go_on(self, line: RecordLine) -> Step | GameEnd:
        """Verifies the next line."""
        if self.finished:
            raise _Bad("the header of another game, or the end of the file", f"a line after the result: {_brief(line)}")
        return self._decide(line) if isinstance(line, Decision) else self._conclude(line)

    def _decide(self, line: Decision) -> Step:
        legal = self._agreed_legal()
        if line.d not in legal:
            raise _Bad(_allowed(legal, line.d), f"the decision {quoted(line.d)}")
        if line.legal is not None and line.legal != legal:
            raise _Bad(*_list_difference(legal, line.legal))
        mover = self.position.to_move
        self.twin_position = self.twin.play(self.twin_position, line.d)
        self.position = self.position.play(line.d)
        self.canonical = self._agreed_position()
        if line.p is not None:
            _compare("p", self.canonical, line.p)
        self.decisions += 1
        return self.step(mover, line.d, legal)

    def _conclude(self, line: RecordLine) -> GameEnd:
        assert isinstance(line, Result)
        if not self.position.over:
            seat, round_ = self.position.to_move, self.position.round
            raise _Bad(f"a decision of seat {seat}, for the game goes on in round {round_}", "a result")
        result = {"influence": self.position.influence, "rank": self.position.ranking}
        _compare("result", self.twin.result(self.twin_position), result, OF_ENGINE)
        _compare("result", result, vars(line))
        self.finished = True
        return self.end()

    def step(self, mover: int | None, decision: str | None, legal: list[str]) -> Step:
        """The position that was reached."""
        return Step(self.number, self.decisions, self.header, self.sheet, mover, decision, legal, self.canonical)

    def end(self) -> GameEnd:
        """The end that was reached."""
        result = Result(self.position.influence, self.position.ranking) if self.finished else None
        return GameEnd(self.number, self.header, self.sheet, self.decisions, self.position.round, result)

    def _agreed_position(self) -> dict[str, Any]:
        canonical = self.position.to_json()
        _compare("position", self.twin.dump(self.twin_position), canonical, OF_ENGINE)
        return canonical

    def _agreed_legal(self) -> list[str]:
        legal, by_twin = self.position.legal(), self.twin.legal(self.twin_position)
        if legal != by_twin:
            expected, found = _list_difference(by_twin, legal)
            raise _Bad(f"{expected} (says the reference)", f"{found} (says the engine)")
        return legal


def _compare(what: str, expected: Any, found: Any, whose: str = "") -> None:
    """Raises `_Bad` with the first place where two JSON values differ; 1, 1.0 and true are three values."""
    if json.dumps(expected, sort_keys=True) == json.dumps(found, sort_keys=True):
        return
    path, one, other = _first_difference(what, expected, found)
    raise _Bad(f"{path} = {one}", f"{other}{f' ({whose})' if whose else ''}")


def _first_difference(path: str, expected: Any, found: Any) -> tuple[str, str, str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in [*expected, *found]:
            if key not in found or key not in expected:
                there, missing = f"the key {quoted(key)}", f"no key {quoted(key)}"
                return f"{path}.keys", *((missing, there) if key in found else (there, missing))
            if not _same(expected[key], found[key]):
                return _first_difference(f"{path}.{key}", expected[key], found[key])
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            if not _same(one, other):
                return _first_difference(f"{path}[{index}]", one, other)
    return path, quoted(expected), quoted(found)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _list_difference(expected: list[str], found: list[str]) -> tuple[str, str]:
    """Expected and found in words, for two different lists of legal decisions."""
    missing, extra = set(expected) - set(found), set(found) - set(expected)
    if missing:
        return f"{quoted(min(missing))} among the legal decisions", "it missing"
    if extra:
        return f"{len(expected)} legal decisions", f"{quoted(min(extra))} among them, which is illegal"
    if len(found) != len(set(found)):
        return f"{len(expected)} legal decisions", "one of them twice"
    return "the legal decisions sorted by code point", "another order"


def _allowed(legal: list[str], decision: str) -> str:
    """The legal decisions in words, those like the one that was taken first."""
    if not legal:
        return "the result, for the game is over"
    verb = decision.split(" ")[0]
    named = sorted(legal, key=lambda each: each.split(" ")[0] != verb)[:MAX_NAMED]
    count = "the only legal decision" if len(legal) == 1 else f"one of {len(legal)} legal decisions"
    return f"{count} ({', '.join(named)}{', ...' if len(legal) > MAX_NAMED else ''})"


def _brief(line: RecordLine) -> str:
    return f"the decision {quoted(line.d)}" if isinstance(line, Decision) else "a second result"
