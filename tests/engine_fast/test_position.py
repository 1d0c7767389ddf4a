"""`Position`, the checked view of the game: what it tells, what it refuses and with which words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine_fast
from engine_fast import (
    LEDGER_SOURCES,
    NOTATIONS,
    IllegalDecision,
    NotationError,
    Position,
    RuleSet,
    RuleSetError,
    SetupError,
    SheetError,
    load_sheet,
    new_ledger,
)
from engine_fast.notation import describe
from tests.engine_fast.golden import PERFT, engine_of
from tests.rules.builder import position, seat


def played(position: Position, seed: int = 1, steps: int = 10**6) -> Position:
    rng = random.Random(seed)
    while not position.over and steps:
        position, steps = position.play(rng.choice(position.legal())), steps - 1
    return position


def named(name: str) -> Position:
    return engine_of(json.loads((PERFT / f"{name}.json").read_text()))


# --- what it tells -------------------------------------------------------------------------------------------------


def test_the_example_of_the_docstring():
    position = Position.new(players=3, seed=7)
    position = position.play("place-shrine book")
    assert "place-shrine book" not in position.legal()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_attributes_say_what_the_json_says(players: int):
    position = Position.new(players, seed=4)
    while not position.over:
        data = position.to_json()
        facts = (position.players, position.phase, position.round, position.start_player, position.to_move)
        assert facts == tuple(data[key] for key in ("players", "phase", "round", "start_player", "to_move"))
        assert position.influence == [entry["influence"] for entry in data["seats"]]
        assert sorted(position.ranking) == list(range(1, players + 1))
        position = played(position, seed=len(position.legal()), steps=7)
    assert position.to_move is None
    assert position.legal() == []
    assert not position.legal_mask().any()


def test_notation_and_id_are_the_same_decision():
    start = Position.new(2, "preselected", seed=1)
    ids, notations = start.legal_ids(), start.legal()
    assert notations == sorted(NOTATIONS[action] for action in ids)
    assert all(start.play(action) == start.play(NOTATIONS[action]) for action in ids)
    assert start.play(np.int64(ids[0])) == start.play(ids[0])


def test_playing_leaves_the_position_as_it_was():
    start = Position.new(2, "preselected", seed=1)
    before = start.to_json()
    children = {text: start.play(text) for text in start.legal()}
    assert start.to_json() == before
    assert len(set(children.values())) == len(children)
    assert start not in children.values()


def test_equality_asks_for_the_same_game():
    start = Position.new(2, seed=1)
    assert start == Position.from_json(start.to_json())
    assert start != Position.from_json(start.to_json(), ruleset="online")
    assert start != Position.from_json(start.to_json(), ruleset=RuleSet(max_actions_per_player=59))
    assert start != Position.new(2, seed=2)
    assert start != start.to_json()
    assert {start: 1}[Position.from_json(start.to_json())] == 1


def test_the_ledger_is_added_to():
    ledger = new_ledger()
    assert ledger.shape == (4, len(LEDGER_SOURCES))
    start = named("last-token")
    end = start.play("meditate", ledger)
    assert end.over
    gained = [after - before for before, after in zip(start.influence, end.influence, strict=True)]
    assert [int(row.sum()) for row in ledger[:2]] == gained
    assert ledger[start.to_move, LEDGER_SOURCES.index("meditation")] == 1
    start.play("meditate", ledger)
    assert [int(row.sum()) for row in ledger[:2]] == [2 * number for number in gained]


def test_running_total_counts_shrines_and_council_seats_already():
    """Section 6: the view of the online edition; 4 for each shrine on the isles and the value of the seat."""
    seats = [seat(shrines=["book", "tide"], influence=7), seat(shrines=[], influence=3)]
    start = Position.from_json(position(2, seats=seats, council={3: [0], 12: [1]}))
    assert start.influence == [7, 3]
    assert start.running_total == [7 + 8 + 3, 3 + 0 + 12]
    rosette = Position.from_json(position(2, seats=seats, council={3: [0], 9: [1]}, sheet="rosette"), "rosette")
    assert rosette.running_total == [7 + 8 + 2, 3 + 0 + 12]


def test_what_the_running_total_lacks_at_the_end():
    """All sources of the last scoring but shrines and council, which it has counted."""
    before, ledger = named("last-token"), new_ledger()
    after = before.play("meditate", ledger)
    assert after.running_total == after.influence
    counted = [LEDGER_SOURCES.index(source) for source in ("shrines", "council")]
    assert ledger[:, counted].any()
    ledger[:, counted] = 0
    assert [total + int(row.sum()) for total, row in zip(before.running_total, ledger, strict=False)] == after.influence


@pytest.mark.parametrize(
    ("influence", "council", "ranking"),
    [
        ([9, 5, 7], {0: [0, 1, 2]}, [1, 3, 2]),
        ([7, 7, 7], {0: [0, 1, 2]}, [3, 2, 1]),
        ([7, 7, 7], {5: [0], 3: [2, 1]}, [1, 2, 3]),
        ([-3, 7, -3], {12: [2, 1, 0]}, [2, 1, 3]),
    ],
)
def test_ranking(influence: list[int], council: dict[int, list[int]], ranking: list[int]):
    """Most influence first; ties by Council precedence: the higher seat, then the upper piece."""
    entries = [seat(influence=value) for value in influence]
    assert Position.from_json(position(3, seats=entries, council=council)).ranking == ranking


def test_str_draws_the_board():
    text = str(named("tide-lifting"))
    data = named("tide-lifting").to_json()
    assert all(kind in text for kind in data["ring"])
    assert all(figure in text for figure in ("Moon Priestess", "Master Builder", "Apostate", "Council"))
    assert "round" in text
    assert f"seat {data['to_move']} to decide" in text
    assert "unfinished: action tide, stage lift" in text
    assert len({line[:10] for line in text.splitlines()}) > 10
    assert "game over" in str(named("over"))
    assert str(Position.new(2, seed=1)) != str(Position.new(2, seed=2))


def test_repr_is_short():
    assert repr(named("over")) == "<Position: 3 players, round 6, over, to move None>"
    assert repr(named("set-up-2")).startswith("<Position: 2 players, round 1, shrines, to move ")


def test_describe_counts_decisions_by_kind():
    counts = describe(Position.new(3, seed=1).legal_mask())
    assert counts == {"place-shrine": 7}


# --- set-ups -------------------------------------------------------------------------------------------------------


def test_a_handicap_goes_by_turn_position():
    for starter in range(3):
        start = Position.new(3, seed=1, handicap=[10, 0, -7], start_player=starter)
        assert [start.influence[(starter + turn) % 3] for turn in range(3)] == [15, 5, -2]
        plain = Position.new(3, seed=1, start_player=starter).to_json()
        assert [entry | {"influence": 5} for entry in start.to_json()["seats"]] == plain["seats"]


@pytest.mark.parametrize("extreme", [5000, -5000])
def test_extreme_handicaps_do_not_touch_the_neighbours(extreme: int):
    for turn in range(4):
        handicap = [0] * 4
        handicap[turn] = extreme
        start = Position.new(4, seed=2, handicap=handicap, start_player=0)
        assert start.influence == [5 + value for value in handicap]
        end = played(start, steps=60)
        assert Position.from_json(end.to_json()) == end


def test_a_whole_game_at_the_limit_of_influence_can_be_read_back():
    """Positions of games that `Position.new` begins stay within what `from_json` reads."""
    start = Position.new(2, seed=5, handicap=[5000, -5000], ruleset=RuleSet(influence_floor=None))
    rng = random.Random(5)
    while not start.over:
        start = start.play(rng.choice(start.legal()))
        assert Position.from_json(start.to_json(), ruleset=start.game.ruleset) == start
    assert max(start.influence) > 4900 > -4900 > min(start.influence)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"players": 1}, SetupError, "players: 1 cannot play; allowed: 2, 3, 4"),
        ({"players": 5}, SetupError, "players: 5"),
        ({"players": "3"}, SetupError, "players: '3'"),
        ({"players": None}, SetupError, "players: None"),
        ({"players": 3, "setup": "random"}, SetupError, "setup: 'random' is unknown; allowed: standard, preselected"),
        ({"players": 3, "start_player": 3}, SetupError, "start_player: 3 is not a seat; allowed: 0 to 2"),
        ({"players": 3, "start_player": -1}, SetupError, "start_player: -1"),
        ({"players": 3, "start_player": True}, SetupError, "start_player: True"),
        ({"players": 2.0}, SetupError, "players: 2.0"),
        ({"players": 2, "seed": -1}, SetupError, "seed: -1 is not a whole number from 0, or None"),
        ({"players": 2, "seed": 1.5}, SetupError, "seed: 1.5"),
        ({"players": 2, "seed": True}, SetupError, "seed: True"),
        ({"players": 2, "seed": "7"}, SetupError, "seed: '7'"),
        ({"players": 2, "seed": [1, 2]}, SetupError, "seed: [1, 2]"),
        ({"players": 3, "handicap": [1, 2]}, SetupError, "handicap: [1, 2] is not 3 whole numbers"),
        ({"players": 2, "handicap": [1, 2.5]}, SetupError, "handicap: [1, 2.5]"),
        ({"players": 2, "handicap": [0, 5001]}, SetupError, "from -5000 to 5000"),
        ({"players": 2, "handicap": [True, 0]}, SetupError, "handicap"),
        ({"players": 2, "components": "gold"}, SheetError, "gold"),
        ({"players": 2, "components": "/no/such/file.yaml"}, SheetError, "/no/such/file.yaml"),
        ({"players": 2, "ruleset": "strict"}, RuleSetError, "no rule set 'strict'; allowed: official, online"),
        ({"players": 2, "ruleset": RuleSet(influence_floor=6)}, RuleSetError, "influence_floor"),
    ],
)
def test_set_ups_that_cannot_be_made(arguments: dict[str, Any], error: type[ValueError], words: str):
    with pytest.raises(error) as caught:
        Position.new(**arguments)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert issubclass(error, ValueError)


def test_sheets_and_rule_sets_by_name_and_by_value():
    by_name = Position.new(2, seed=1, components="rosette", ruleset="online")
    assert by_name == Position.new(2, seed=1, components=load_sheet("rosette"), ruleset=RuleSet("online"))
    assert by_name.game.sheet.name == "rosette"
    assert by_name.play(by_name.legal()[0]).game is by_name.game


def test_a_sheet_that_was_edited_counts_at_once(tmp_path: Path):
    file = tmp_path / "own.yaml"
    starts = []
    for influence in (7, 8, 8):
        file.write_text(f"name: own\nextends: rosette\nstarting_influence: {influence}\n")
        starts.append(Position.new(2, seed=1, components=file))
        assert starts[-1].influence == [influence] * 2
    assert starts[0] != starts[1] == starts[2]
    assert starts[1].game.rules is starts[2].game.rules


# --- decisions that are refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ("", "'' is not a decision"),
        ("journey", "'journey' is not a decision"),
        ("journey book 5", "similar: "),
        ("Journey book 1", "similar: journey book 1"),
        ("journey book 1 ", "is not a decision"),
        ("council book 14", "is not a decision"),
        ("favor gold", "similar: favor"),
        (637, "no decision has the id 637; allowed: 0 to 636"),
        (-1, "no decision has the id -1"),
    ],
)
def test_what_is_no_decision(decision: str | int, words: str):
    start = Position.new(2, "preselected", seed=1)
    with pytest.raises(NotationError) as caught:
        start.play(decision)
    assert words in str(caught.value)


@pytest.mark.parametrize("decision", [3.5, 3.0, True, np.bool_(True), None, ("build",), np.float64(3)])
def test_what_is_neither_notation_nor_id(decision: Any):
    start = Position.new(2, "preselected", seed=1)
    with pytest.raises(IllegalDecision, match="is not a decision; allowed: a notation or its id, a whole number"):
        start.play(decision)


@pytest.mark.parametrize(
    "name", ["set-up-2", "last-placings-3", "preselected-2", "book-in-the-air", "tide-landing", "over"]
)
def test_every_illegal_decision_is_refused(name: str):
    position = named(name)
    legal, before = set(position.legal()), position.to_json()
    for action, notation in enumerate(NOTATIONS):
        if notation not in legal:
            for decision in (action, notation):
                with pytest.raises(IllegalDecision, match="is not legal here") as caught:
                    position.play(decision)
            assert repr(notation) in str(caught.value)
    assert position.to_json() == before


def test_a_refusal_says_why():
    with pytest.raises(IllegalDecision, match="the game is over"):
        named("over").play("meditate")
    with pytest.raises(IllegalDecision, match=r"28 decisions are legal, see legal\(\)"):
        named("preselected-2").play("place-shrine book")


def test_public_names():
    assert engine_fast.NUM_ACTIONS == 637
    assert all(getattr(engine_fast, name) is not None for name in engine_fast.__all__)
    assert dir(engine_fast) == engine_fast.__all__
    with pytest.raises(AttributeError, match="no attribute 'Positions'"):
        _ = engine_fast.Positions
