"""Perft numbers of named positions, kept in `tests/data/perft`; the reference counts them again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine_fast.perft import perft
from tests.engine_fast.golden import ARRANGED, FOUND, PERFT, affordable_depth, engine_of, reference_perft

CASES = sorted(PERFT.glob("*.json"))
each_case = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


def test_every_named_position_is_kept():
    assert {path.stem for path in CASES} == {*FOUND, *ARRANGED}
    assert len(CASES) >= 12


@each_case
def test_perft(path: Path):
    case = json.loads(path.read_text())
    position = engine_of(case)
    before = position.state.tobytes()
    found = [perft(position.state, position.game.rules, depth + 1) for depth in range(len(case["perft"]))]
    assert found == case["perft"]
    assert position.state.tobytes() == before
    assert json.dumps(position.to_json()) == json.dumps(case["position"])


@each_case
def test_the_reference_counts_the_same(path: Path):
    case = json.loads(path.read_text())
    depth = affordable_depth(case["perft"], 300)
    assert reference_perft(case, depth) == case["perft"][depth - 1]


@pytest.mark.slow
@each_case
def test_the_reference_counts_the_same_deeper(path: Path):
    case = json.loads(path.read_text())
    depth = affordable_depth(case["perft"], 40_000)
    assert reference_perft(case, depth) == case["perft"][depth - 1]


def test_rows_that_end_early_are_not_counted():
    """Next to the end of the game some rows are short: fewer rows of two decisions than pairs would give."""
    position = engine_of(json.loads((PERFT / "last-token.json").read_text()))
    ends = [child for child in map(position.play, position.legal()) if child.over]
    assert ends
    assert all(perft(child.state, child.game.rules, 1) == 0 for child in ends)
    assert np.array_equal(ends[0].legal_mask(), np.zeros(10))
