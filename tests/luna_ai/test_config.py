"""Options: what the shared groups make of the command line's words, and how values are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine_fast.ruleset import RuleSet, RuleSetError
from luna_ai.config import (
    GameOptions,
    Parallel,
    Seeded,
    StudyOptions,
    UserError,
    argument,
    fill_seats,
    parse_ruleset,
    required,
)
from luna_ai.parsing import parse


@dataclass(frozen=True)
class Config(GameOptions, Seeded, Parallel):
    file: Path = required("a file", "FILE")
    games: int = argument(1000, "games", low=1)
    precision: float | None = argument(None, "half-width", low=0, high=1)
    positions: bool = argument(False, "with positions")


@dataclass(frozen=True)
class Study(StudyOptions):
    pass


def read(*arguments: str) -> Config:
    return parse(Config, ["f", *arguments], "luna test", "")


def test_defaults_are_those_of_the_dataclass():
    assert read() == Config(file=Path("f"))
    assert parse(Study, [], "luna test", "") == Study()


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--players", "4"], "players", 4),
        (["--games", "100_000"], "games", 100_000),
        (["--precision", "1e-2"], "precision", 0.01),
        (["--precision", "null"], "precision", None),
        (["--positions"], "positions", True),
        (["--handicap", "0", "-1", "2"], "handicap", (0, -1, 2)),
        (
            ["--option", "virtual_alone=false", "influence_floor=null"],
            "option",
            ("virtual_alone=false", "influence_floor=null"),
        ),
        (["--option"], "option", ()),
        (["--jobs", "3", "--jobs", "2"], "jobs", 2),
        (["--seed", str(2**63 - 1)], "seed", 2**63 - 1),
    ],
)
def test_values(arguments: list[str], name: str, value: Any):
    assert getattr(read(*arguments), name) == value


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--players", "5"], "--players: '5' is not one of 2, 3, 4"),
        (["--players", "2", "3"], "unknown argument '3'"),
        (["--games", "0"], "--games: '0' is not a whole number from 1"),
        (["--games", "-5"], "--games: '-5' is not a whole number from 1"),
        (["--games", "1.0"], "--games: '1.0' is not a whole number from 1"),
        (["--games", "9" * 5000], "--games: '9999"),
        (["--precision", "nan"], "--precision: 'nan' is not a number from 0 to 1 or null"),
        (["--precision", "1.5"], "--precision: '1.5' is not a number from 0 to 1 or null"),
        (["--setup", "chess"], "--setup: 'chess' is not one of standard, preselected"),
        (["--ruleset", ""], "--ruleset: '' is not one of official, online"),
        (["--positions=yes"], "--positions: "),
        (["--seed.x", "1"], "unknown argument '--seed.x'"),
        (["--gamse", "1"], "unknown argument '--gamse', perhaps --games; allowed: --help"),
        (["--jobs", "0"], "--jobs: '0' is not a whole number from 1 to 1024 or null"),
        (["--handicap", "1001"], "--handicap: '1001' is not a whole number from -1000 to 1000"),
    ],
)
def test_wrong_values_are_named_with_what_is_allowed(arguments: list[str], problem: str):
    with pytest.raises(UserError) as caught:
        read(*arguments)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("games: null", "--games: missing"),
        ("games: true", "--games: True is not a whole number from 1"),
        ("games: 1e3", "--games: 1000.0 is not a whole number from 1"),
        ("positions: 1", "--positions: 1 is not true or false"),
        ("option: a=b", "--option: needs a list"),
        ("option: 5", "--option: needs a list"),
        ("option: null", "--option: missing"),
        ("option: [5]", "--option: 5 is not a text"),
        ("option: {a: b}", "--config: a map stands where a list is needed"),
        ("players: [2]", "--players: [2] is not one of 2, 3, 4"),
        ("gamse: 5", "--config: unknown key 'gamse'; allowed: file, games, precision"),
        ("games.x: 5", "--games: "),
        ("- 1", "--config: "),
        ("games: [", "--config: "),
    ],
)
def test_wrong_values_of_a_config_file(tmp_path: Path, text: str, problem: str):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read("--config", str(file))
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


def test_a_required_argument():
    with pytest.raises(UserError, match=r"^FILE: missing$"):
        parse(Config, [], "luna test", "")
    assert parse(Config, ["--config", '{"file": "f"}'], "luna test", "").file == Path("f")


def test_rule_set_from_words():
    assert parse_ruleset(
        "online", ["virtual_alone=false", "influence_floor=null", "max_actions_per_player=9"]
    ) == RuleSet("online", virtual_alone=False, influence_floor=None, max_actions_per_player=9)
    for words, problem in [
        (["virtual_alone"], "is not KEY=VALUE with a KEY of virtual_alone, "),
        (["name=online"], "is not KEY=VALUE"),
        (["speed=1"], "is not KEY=VALUE"),
        (["virtual_alone=true", "virtual_alone=true"], "virtual_alone is given twice"),
    ]:
        with pytest.raises(UserError, match=problem):
            parse_ruleset("official", words)
    for word in ("virtual_alone=1", "virtual_alone=yes", "influence_floor=", "max_actions_per_player=251"):
        with pytest.raises(RuleSetError, match=word.partition("=")[0]):
            parse_ruleset("official", [word])


def test_sheet_and_rule_set_are_checked_together():
    sheet, rules = Config(components="rosette").rules()
    assert (sheet.name, rules) == ("rosette", RuleSet())
    with pytest.raises(RuleSetError, match="allowed: 0 to 5"):
        Config(option=("influence_floor=6",)).rules()


def test_agents_fill_the_seats():
    assert fill_seats(["random"], 3) == ["random"] * 3
    assert fill_seats(["a", "b"], 2) == ["a", "b"]
    with pytest.raises(UserError, match="2 agents for 3 players; allowed: 1 or 3 names"):
        fill_seats(["a", "b"], 3)


def test_number_of_processes():
    assert Parallel(jobs=3).num_jobs() == 3
    assert Parallel().num_jobs() >= 1
