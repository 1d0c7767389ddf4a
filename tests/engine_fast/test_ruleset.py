"""Rule sets: the [choice] options of docs/RULES.md and the map in a record's header (section 9)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine_fast.ruleset import RuleSet, RuleSetError, load_ruleset

OFFICIAL = {
    "name": "official",
    "virtual_alone": True,
    "virtual_promotion": True,
    "council_overshoot": False,
    "book_same_space": False,
    "same_isle_moves": False,
    "influence_floor": 0,
    "max_actions_per_player": 60,
}


def test_the_defaults_are_those_of_the_rules():
    assert RuleSet().to_json() == OFFICIAL
    assert RuleSet.from_json(OFFICIAL) == RuleSet()
    assert load_ruleset("online") == RuleSet(name="online")
    assert load_ruleset(RuleSet(influence_floor=None)).influence_floor is None


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("name", "unofficial", "official, online"),
        ("virtual_alone", 1, "true or false"),
        ("same_isle_moves", None, "true or false"),
        ("influence_floor", -1, "0 to 1000"),
        ("influence_floor", False, "0 to 1000"),
        ("influence_floor", 0.0, "0 to 1000"),
        ("max_actions_per_player", 0, "1 to 250"),
        ("max_actions_per_player", 251, "1 to 250"),
        ("max_actions_per_player", None, "1 to 250"),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, allowed: str):
    with pytest.raises(RuleSetError, match=allowed) as caught:
        RuleSet.from_json({**OFFICIAL, option: value})
    assert option.replace("name", "rule set") in str(caught.value)


def test_a_record_names_exactly_the_options():
    with pytest.raises(RuleSetError, match="missing key 'name'"):
        RuleSet.from_json({key: value for key, value in OFFICIAL.items() if key != "name"})
    with pytest.raises(RuleSetError, match="unknown key 'speed'"):
        RuleSet.from_json({**OFFICIAL, "speed": 1})
    with pytest.raises(RuleSetError, match="is not a map"):
        RuleSet.from_json([])  # type: ignore[arg-type]


def test_a_floor_above_the_start():
    RuleSet(influence_floor=5).check_floor(5)
    RuleSet(influence_floor=None).check_floor(0)
    with pytest.raises(RuleSetError, match="allowed: 0 to 5"):
        RuleSet(influence_floor=6).check_floor(5)


def test_the_options_are_documented():
    text = (Path(__file__).parents[2] / "docs" / "components.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| [^|]+ \|$", text, re.MULTILINE)
    assert {"name": "official", **{key: yaml.safe_load(value) for key, value in rows}} == OFFICIAL
