"""The 637 strings of section 7."""

from __future__ import annotations

from collections import Counter

import pytest

from engine_fast.reference import NotationError
from engine_fast.reference.notation import DECISIONS, Decision, all_decisions, parse, spell, write


def test_there_are_637_different_strings():
    assert len(list(all_decisions())) == len(DECISIONS) == 637


def test_numbers_by_verb():
    assert Counter(text.split()[0] for text in DECISIONS) == {
        "place-shrine": 7, "place-novices": 7, "favor": 14, "recruit": 14, "build": 2, "herbs": 14, "sail": 112,
        "journey": 28, "tide": 60, "land": 28, "promote": 56, "sanctify": 28, "take-book": 28, "give-book": 28,
        "council": 183, "expel": 27, "meditate": 1,
    }  # fmt: skip


def test_parse_and_write_are_inverse():
    for text in DECISIONS:
        assert write(parse(text)) == spell(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("favor tide +v", Decision("favor", kind="tide", virtual=True)),
        ("sail landing book 2", Decision("sail", "landing", "book", 2)),
        ("tide herbs~ 3", Decision("tide", "herbs~", number=3)),
        ("council +v", Decision("council", virtual=True)),
        ("council novice 13 +v", Decision("council", kind="novice", number=13, virtual=True)),
        ("promote 28 +v", Decision("promote", tile=28, virtual=True)),
    ],
)
def test_what_a_string_means(text, decision):
    assert parse(text) == decision


@pytest.mark.parametrize(
    "text", ["", "favor", "favor  tide", "favor tide +V", "herbs tide 3", "tide tide~~ 1", "council novice 0",
             "expel 14", "promote 29", "sanctify 5 +v", "meditate +v", "land landing 1", "journey tide~ 1", "build 1"]
)  # fmt: skip
def test_other_strings_are_refused_by_name(text):
    with pytest.raises(NotationError, match="is no decision"):
        parse(text)
