"""Options of the verbs: how one is declared, and the groups that several verbs share.

A verb's `Config` is a frozen dataclass that inherits the groups it needs and adds fields of its own, each made with
`argument(...)`. A field is a flag of the same name (`board_order` is `--board-order`) and a key of `--config FILE`; a
tuple takes several values separated by spaces, a `bool` is a flag without value. `luna_ai.parsing` reads the fields.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from engine_fast.components import Sheet
    from engine_fast.ruleset import RuleSet

T = TypeVar("T")

Players = Literal[2, 3, 4]
Setup = Literal["standard", "preselected"]
RuleSetName = Literal["official", "online"]


class UserError(ValueError):
    """Input that a verb cannot use: one line that names it and the allowed values. `luna` exits with 2."""


def argument(
    default: T,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    positional: bool = False,
    writes: Literal["file", "folder"] | None = None,
    metavar: str | None = None,
) -> T:
    """A field of a verb's `Config`, to stand right of its annotation.

    Args:
        default: value where neither command line nor config file say one.
        help: one line for `--help`.
        low: smallest allowed number (of each element of a tuple).
        high: largest allowed number.
        positional: given by its place, without a flag; at most one of a verb.
        writes: the path is written to; that it can be is checked before the verb runs.
        metavar: what stands for the value in `--help`.
    """
    metadata = {"help": help, "low": low, "high": high, "positional": positional, "writes": writes, "metavar": metavar}
    made: T = field(default=default, metadata=metadata)
    return made


def required(help: str, metavar: str) -> Any:
    """A field of a verb's `Config` that must be given, by its place; `help` and `metavar` as in `argument`."""
    return argument(None, help, positional=True, metavar=metavar)


@dataclass(frozen=True)
class Seeded:
    """One number from which all chance is drawn."""

    seed: int = argument(0, "all chance is drawn from this number", low=0, high=2**63 - 1)


@dataclass(frozen=True)
class Parallel:
    """Use of the cores. The result never depends on it."""

    jobs: int | None = argument(
        None, "processes (null: one for each core); results do not depend on it", low=1, high=1024
    )

    def num_jobs(self) -> int:
        """Number of processes to start."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return self.jobs or cores or 1


@dataclass(frozen=True)
class WritesJson:
    """All printed figures as a file."""

    json: Path | None = argument(None, "also write all figures to this JSON file", writes="file", metavar="FILE")


@dataclass(frozen=True)
class OneTable:
    """How many players sit at the table."""

    players: Players = argument(3, "number of players")


@dataclass(frozen=True)
class TableOptions:
    """How a game begins."""

    setup: Setup = argument("standard", "set-up of RULES.md, section 2")
    handicap: tuple[int, ...] = argument(
        (), "influence added at the start, by turn position", low=-1000, high=1000, metavar="INFLUENCE"
    )


@dataclass(frozen=True)
class PlayedRules:
    """By which rules is played."""

    ruleset: RuleSetName = argument("official", "rule set")
    option: tuple[str, ...] = argument((), "rule choices that differ, see RULES.md", metavar="KEY=VALUE")
    components: str = argument("reconstructed", "component sheet: a packaged name or a YAML file", metavar="NAME|FILE")

    def rules(self) -> tuple[Sheet, RuleSet]:
        """The checked sheet and rule set.

        Raises:
            ValueError: SheetError, RuleSetError or UserError, one line.
        """
        return load_rules(self.components, self.ruleset, self.option)


@dataclass(frozen=True)
class RuleOptions(PlayedRules, TableOptions):
    """By which rules is played, and how a game begins."""


@dataclass(frozen=True)
class GameOptions(RuleOptions, OneTable):
    """What kind of game is played."""


@dataclass(frozen=True)
class StudyOptions:
    """Several kinds of games in one study: every combination is played."""

    players: tuple[Players, ...] = argument((2, 3, 4), "numbers of players")
    setup: tuple[Setup, ...] = argument(("standard",), "set-ups of RULES.md, section 2")
    ruleset: tuple[RuleSetName, ...] = argument(("official",), "rule sets")
    option: tuple[str, ...] = argument((), "rule choices that differ, see RULES.md", metavar="KEY=VALUE")
    components: tuple[str, ...] = argument(
        ("reconstructed",), "component sheets: packaged names or YAML files", metavar="NAME|FILE"
    )
    handicap: tuple[int, ...] = argument(
        (), "influence added at the start, by turn position", low=-1000, high=1000, metavar="INFLUENCE"
    )


def load_rules(components: str, ruleset: str, options: Sequence[str]) -> tuple[Sheet, RuleSet]:
    """The sheet and the rule set of the command line's words, checked one by one and together."""
    from engine_fast.components import load_sheet

    sheet, rules = load_sheet(components), parse_ruleset(ruleset, options)
    rules.check_floor(sheet.starting_influence)
    return sheet, rules


def parse_ruleset(name: str, options: Sequence[str]) -> RuleSet:
    """The rule set `name` with choices such as `virtual_alone=false` replaced.

    Raises:
        UserError: not KEY=VALUE, an unknown key, a key twice.
        RuleSetError: a value that the option does not take.
    """
    from engine_fast.ruleset import OPTIONS, RuleSet

    choices: dict[str, Any] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or key not in OPTIONS or key == "name":
            raise UserError(f"option {text!r} is not KEY=VALUE with a KEY of {', '.join(OPTIONS[1:])}")
        if key in choices:
            raise UserError(f"option {key} is given twice")
        choices[key] = _scalar(value)
    return RuleSet(name, **choices)


def fill_seats(agents: Sequence[str], players: int) -> list[str]:
    """The name of the player at each seat: one name fills all seats, otherwise there must be one for each.

    Raises:
        UserError: another number of names.
    """
    if len(agents) not in (1, players):
        raise UserError(f"{len(agents)} agents for {players} players; allowed: 1 or {players} names")
    return list(agents) * players if len(agents) == 1 else list(agents)


def _scalar(text: str) -> bool | int | str | None:
    words: dict[str, bool | None] = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 20 else text
