"""The engine against its independent reference, at every decision of games that are driven to the rare things.

Each chunk of games covers 2, 3 and 4 players, all set-ups, both rule sets, every option, both component sheets (and
two of our own at the limits of what a sheet may say), handicaps and arranged beginnings. At every decision the two
programs agree on the canonical position, the legal decisions and the seat to move, at the end on influence and ranks;
the ledger of sources agrees with a third reading of the rules. A chunk that has not met every rare event fails.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.engine_fast import policies, schedule
from tests.engine_fast.schedule import game_spec
from tests.engine_fast.twins import play_game
from tests.engine_fast.witness import EXPECTED, missing

GAMES = 200
LONG_PROOF = range(1, 12)


@pytest.mark.parametrize("chunk", [0, *(pytest.param(chunk, marks=pytest.mark.slow) for chunk in LONG_PROOF)])
def test_two_programs_agree_at_every_decision(chunk: int, record_property):
    seen: Counter[str] = Counter()
    decisions = 0
    for index in range(GAMES):
        game = play_game(game_spec(chunk, index))
        seen += game.seen
        decisions += len(game.played)
    record_property("decisions", decisions)
    record_property("seen", dict(seen))
    assert missing(seen) == []
    assert decisions > 50 * GAMES


@pytest.mark.parametrize("chunk", [0, *LONG_PROOF])
def test_the_schedule_covers_what_it_claims(chunk: int):
    """Every value of every option, every sheet, number of players, beginning, crowd and mood, in each chunk."""
    specs = [game_spec(chunk, index) for index in range(GAMES)]
    assert len({spec.key for spec in specs}) == GAMES
    assert {spec.players for spec in specs} == {2, 3, 4}
    assert {spec.sheet for spec in specs} == set(schedule.SHEETS)
    assert {spec.beginning for spec in specs} == {"standard", "preselected", "arranged", "finale"}
    assert {mood for spec in specs for mood in spec.moods} == set(policies.NAMES)
    assert {spec.ruleset["name"] for spec in specs} == {"official", "online"}
    assert {spec.cap for spec in specs} == set(schedule.CAPS)
    assert {spec.ruleset["influence_floor"] for spec in specs} == set(schedule.FLOORS)
    for flag in schedule.FLAGS:
        assert {spec.ruleset[flag] for spec in specs} == {True, False}
    assert {1, -1} <= {(value > 0) - (value < 0) for spec in specs for value in spec.handicap}
    assert any(spec.never_meditate for spec in specs)


def test_a_missing_event_is_noticed():
    seen = dict.fromkeys(EXPECTED, 1)
    assert missing(seen) == []
    assert missing(seen | {"bribed Sanctification": 0}) == ["bribed Sanctification"]
    assert len(set(EXPECTED)) == len(EXPECTED)
