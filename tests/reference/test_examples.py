"""The example records, written by an independent program, are replayed exactly."""

from __future__ import annotations

import json

import pytest

from tests.reference.games import EXAMPLES, read_record


def test_there_are_three_examples():
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_replay_gives_every_position_legal_list_and_the_result(path):
    record = read_record(path)
    position = record.twin.load(record.setup)
    for step in record.steps:
        assert record.twin.legal(position) == step["legal"], step["d"]
        position = record.twin.play(position, step["d"])
        assert record.twin.dump(position) == step["p"], step["d"]
    assert record.twin.legal(position) == []
    assert record.twin.result(position) == record.result


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_positions_keep_their_bytes_through_load_and_dump(path):
    record = read_record(path)
    for data in record.positions:
        assert json.dumps(record.twin.dump(record.twin.load(data))) == json.dumps(data)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_position_is_a_valid_set_up(path):
    record = read_record(path)
    for data in record.positions:
        assert record.twin.valid_setup(data) == []


def test_the_examples_contain_every_verb():
    verbs = {step["d"].split()[0] for path in EXAMPLES for step in read_record(path).steps}
    assert verbs == {
        "place-shrine", "place-novices", "favor", "recruit", "build", "herbs", "sail", "journey", "tide", "land",
        "promote", "sanctify", "take-book", "give-book", "council", "expel", "meditate",
    }  # fmt: skip
