"""Features: every one of the table has a known value in a position made for it; seats have no names; bounds."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_fast import Position, RuleSet
from engine_fast.kinds import KINDS, NUM_TILES
from luna_ai.features import (
    FEATURE,
    FEATURE_VERSION,
    FEATURES,
    LIMIT,
    NUM_FEATURES,
    TABLE_HASH,
    block,
    features_of,
    from_seats,
    seat_order,
    to_seats,
    write_features,
)
from tests.engine_fast.test_laws import rotated_seats
from tests.luna_ai.walks import random_game, states_of
from tests.rules import builder

ROOT = Path(__file__).parents[2]
BOOK, BRIBERY, NOVICE, SAILBOAT, HERBS, SHRINE, TIDE = range(7)
NEVER = RuleSet(
    "online",
    virtual_alone=False,
    virtual_promotion=False,
    council_overshoot=True,
    book_same_space=True,
    same_isle_moves=True,
    influence_floor=None,
    max_actions_per_player=30,
)


def tiles(*numbers: int, value: float = 1) -> dict[Any, float]:
    return {tile - 1: value for tile in numbers}


def middle() -> Position:
    """Two players in round 2, seat 1 to move; boards 0 and 1: approved are tiles 5, 8, 11, 12, bribable 14, 15."""
    first = builder.seat({"tide": 2}, {"shrine": 1}, shrines=["book"], favors=["book"], influence=21)
    second = builder.seat(
        {"tide": 1, "sailboat": 3},
        {"tide": 1, "shrine": 2, "bribery": 1},
        landing=1,
        shrines=["tide", "novice"],
        favors=["bribery", "novice", "tide"],
        influence=12,
    )
    return Position.from_json(
        builder.position(
            2,
            round=2,
            to_move=1,
            time_tokens=2,
            seats=[first, second],
            temple={5: 1, 11: 0, 15: None},
            claimed={12: 1, 18: 0},
            council={3: [0], 5: [1]},
            book_bonus=False,
        )
    )


def voyage() -> Position:
    """Three players, a Tide: five novices of the sailboat's isle and one of the landing stage lifted, four landed."""
    sailor = builder.seat({"sailboat": 5}, landing=1, favors=["tide"])
    start = Position.from_json(builder.position(3, seats=[sailor], time_tokens=1))
    for decision in ("tide sailboat 4", "tide sailboat 1", "tide landing 1", "land book 4"):
        start = start.play(decision)
    return start


def lifting() -> Position:
    sailor = builder.seat({"sailboat": 5}, {"herbs": 2}, favors=["tide"])
    return Position.from_json(builder.position(3, seats=[sailor])).play("tide herbs~ 2")


def book() -> Position:
    reader = builder.seat(favors=["book"])
    start = builder.position(2, seats=[reader], temple={5: 0})
    return Position.from_json(start).play("take-book 2")


def setting_up() -> Position:
    return Position.new(4, seed=3, start_player=2)


def placing() -> Position:
    start = setting_up()
    for kind in ("book", "tide", "herbs", "shrine"):
        start = start.play(f"place-shrine {kind}")
    return start


def otherwise() -> Position:
    """The other sheet and the other side of every option; last round."""
    seats = [builder.seat({"herbs": 1}, favors=["novice", "bribery"]), builder.seat({"book": 2, "bribery": 2})]
    position = builder.position(2, round=6, seats=seats, sheet="rosette", council={7: [0], 9: [1]}, apostate="herbs")
    return Position.from_json(position, "rosette", NEVER)


MADE = {f.__name__: f for f in (middle, voyage, lifting, book, setting_up, placing, otherwise)}
Known = list[tuple[str, dict[Any, float]]]
PAIRS = [(a, b) for a in range(7) for b in range(a + 1, 7)]
RING = [KINDS.index(kind) for kind in builder.RING]

KNOWN: dict[str, Known] = {
    # name: positions and all raw values there that are not 0, by index
    "present": [("middle", {0: 1, 1: 1}), ("setting_up", {0: 1, 1: 1, 2: 1, 3: 1})],
    "active": [("middle", {(0, TIDE): 1, (0, SAILBOAT): 3, (1, TIDE): 2})],
    "inactive": [("middle", {(0, TIDE): 1, (0, SHRINE): 2, (0, BRIBERY): 1, (1, SHRINE): 1})],
    "has_one": [("middle", {(0, TIDE): 1, (0, SAILBOAT): 1, (1, TIDE): 1})],
    "has_two": [("middle", {(0, SAILBOAT): 1, (1, TIDE): 1})],
    "landing": [("middle", {0: 1})],
    "supply": [("middle", {0: 1, 1: 7}), ("setting_up", dict.fromkeys(range(4), 12))],
    "num_claimed": [("middle", {0: 1, 1: 1})],
    "num_temple": [("middle", {0: 2, 1: 2}), ("setting_up", dict.fromkeys(range(4), 1))],
    "shrine": [("middle", {(0, TIDE): 1, (0, NOVICE): 1, (1, BOOK): 1})],
    "num_shrines": [("middle", {0: 2, 1: 1})],
    "shrine_supply": [("middle", {0: 4, 1: 5}), ("setting_up", dict.fromkeys(range(4), 6))],
    "favor": [("middle", {(0, BRIBERY): 1, (0, NOVICE): 1, (0, TIDE): 1, (1, BOOK): 1})],
    "num_favors": [("middle", {0: 3, 1: 1})],
    "num_book": [("middle", {0: 1, 1: 1}), ("book", {0: 1})],
    "influence": [("middle", {0: 12, 1: 21})],
    "projected": [("middle", {0: 12 + 8 + 3 + 5, 1: 21 + 4 + 1 + 3})],
    "lead": [("middle", {1: 1})],
    "place_now": [("middle", {0: 1}), ("setting_up", {0: 3, 1: 2, 2: 1})],
    "floor_room": [("middle", {0: 12, 1: 21}), ("otherwise", {0: 30, 1: 30})],
    "council_seat": [("middle", {0: 5, 1: 3}), ("otherwise", {0: 7, 1: 9})],
    "council_left": [("middle", {0: 7, 1: 9}), ("otherwise", {0: 2})],
    "council_rank": [("middle", {1: 1}), ("otherwise", {0: 1})],
    "council_value": [("middle", {0: 5, 1: 3}), ("otherwise", {0: 8, 1: 12})],
    "climb_gain": [
        ("middle", {(p, c): c + 1 for p in range(2) for c in range(3)}),
        ("otherwise", {(0, 0): 2, (0, 1): 4, (0, 2): 4}),
    ],
    "priestess_gain": [("middle", {0: 5, 1: 2})],
    "apostate_loss": [("middle", {0: 3, 1: 2})],
    "priestess_count": [("middle", {(0, 0): 2, (0, 1): 1, (1, 0): 2})],
    "builder_count": [("middle", {(0, 1): 1, (0, 2): 3})],
    "builder_shrine": [("middle", {(0, 0): 1})],
    "order": [("middle", {0: 1}), ("setting_up", {1: 1, 2: 2, 3: 3})],
    "starter": [("middle", {1: 1}), ("setting_up", {0: 1})],
    "next_starter": [("middle", {0: 1}), ("book", {1: 1}), ("setting_up", {}), ("otherwise", {})],
    "priestess_at": [
        ("middle", {(0, TIDE): 1, (1, BRIBERY): 1, (2, HERBS): 1, (3, NOVICE): 1, (4, SHRINE): 1}),
        ("otherwise", {(0, TIDE): 1}),
    ],
    "builder_at": [("middle", {(0, NOVICE): 1, (1, BRIBERY): 1, (2, SAILBOAT): 1, (3, SHRINE): 1, (4, HERBS): 1})],
    "apostate_at": [
        (
            "middle",
            dict.fromkeys(enumerate((SHRINE, TIDE, NOVICE, SAILBOAT, HERBS, BOOK, BRIBERY)), 1.0),
        )
    ],
    "apostate_next": [("middle", {TIDE: 1}), ("lifting", {SAILBOAT: 1}), ("otherwise", {})],
    "distance": [("middle", {i: (RING.index(b) - RING.index(a)) % 7 for i, (a, b) in enumerate(PAIRS)})],
    "open_approved": [("middle", {SAILBOAT: 1})],
    "open_bribable": [("middle", {NOVICE: 1}), ("otherwise", {})],
    "open_later": [("middle", dict.fromkeys((BRIBERY, SAILBOAT, HERBS, SHRINE, TIDE), 1))],
    "in_play": [("middle", tiles(1, 17, 8, 24, 11, 27, 14, 12, 28, 15, 2, 18, 5, 21))],
    "path": [("middle", tiles(8, 14, 17, 21, 24, 27, 28))],
    "claimed": [("middle", {(0, 12 - 1): 1, (1, 18 - 1): 1})],
    "temple": [("middle", {(0, 2 - 1): 1, (0, 5 - 1): 1, (1, 1 - 1): 1, (1, 11 - 1): 1})],
    "vacated": [("middle", tiles(15))],
    "book": [("middle", tiles(1, 2)), ("book", tiles(1))],
    "approved": [("middle", tiles(8, 12))],
    "bribable": [("middle", tiles(14)), ("otherwise", {})],
    "approved_in": [("middle", tiles(14) | tiles(17, 18, value=2) | tiles(21, 24, value=3) | tiles(27, 28, value=4))],
    "can_promote": [("middle", tiles(8)), ("otherwise", {})],
    "displaces": [("middle", tiles(12, 18, 17, 24, 27, 28)), ("otherwise", {})],
    "threatens": [("middle", {(0, 11 - 1): 1, (1, 5 - 1): 0.5})],
    "exposed": [("middle", tiles(5, 11))],
    "num_promote": [("middle", {0: 1}), ("otherwise", {1: 3})],
    "num_sanctify": [("middle", {0: 1})],
    "num_threatened": [("middle", {0: 1, 1: 1})],
    "num_exposed": [("middle", {0: 1, 1: 1})],
    "players": [("middle", {0: 1}), ("voyage", {1: 1}), ("setting_up", {2: 1})],
    "round": [("middle", {1: 1}), ("otherwise", {5: 1})],
    "rounds_left": [("middle", {(): 4}), ("otherwise", {})],
    "guard": [("middle", {0: 5, 1: 4, 2: 3, 3: 2, 4: 2}), ("otherwise", {0: 2})],
    "time_tokens": [("middle", {(): 2}), ("setting_up", {(): 4})],
    "last_token": [("middle", {}), ("voyage", {(): 1})],
    "two_tokens": [("middle", {(): 1}), ("voyage", {})],
    "actions": [("middle", {(): 0.5}), ("voyage", {(): 1})],
    "cap_left": [("middle", {(): 59.5}), ("otherwise", {(): 30})],
    "book_bonus": [("middle", {}), ("book", {(): 1})],
    "phase": [("middle", {2: 1}), ("setting_up", {0: 1}), ("placing", {1: 1})],
    "pending": [("middle", {0: 1}), ("book", {1: 1}), ("lifting", {4: 1}), ("voyage", {5: 1})],
    "last_source": [("middle", {}), ("lifting", {7 + HERBS: 1}), ("voyage", {BOOK: 1})],
    "last_count": [("lifting", {(): 2}), ("voyage", {(): 4})],
    "last_full": [("lifting", {}), ("voyage", {(): 1})],
    "lifted": [("middle", {}), ("lifting", {HERBS: 2}), ("voyage", {SAILBOAT: 5})],
    "lifted_landing": [("lifting", {}), ("voyage", {(): 1})],
    "landed": [("lifting", {}), ("voyage", {BOOK: 4})],
    "hand": [("lifting", {(): 2}), ("voyage", {(): 2}), ("middle", {})],
    "book_from": [("middle", {}), ("book", tiles(2))],
    "priestess_points": [
        ("middle", {0: 5, 1: 2, 2: 1}),
        ("setting_up", {0: 6, 1: 3, 2: 1}),
        ("otherwise", {0: 5, 1: 3, 2: 1}),
    ],
    "priestess_move": [("middle", {(): 5}), ("setting_up", {(): 6})],
    "builder_move": [("middle", {(): 4})],
    "council_values": [
        ("middle", {seat: seat for seat in range(1, 13)}),
        ("otherwise", {2: 1, 3: 2, 4: 3, 5: 4, 6: 6, 7: 8, 8: 10, 9: 12}),
    ],
    "council_last": [("middle", {(): 12}), ("otherwise", {(): 9})],
    "shrine_value": [("middle", {(): 4})],
    "favor_value": [("middle", {(): 1})],
    "has_floor": [("middle", {(): 1}), ("otherwise", {})],
    "virtual_alone": [("middle", {(): 1}), ("otherwise", {})],
    "virtual_promotion": [("middle", {(): 1}), ("otherwise", {})],
    "council_overshoot": [("middle", {}), ("otherwise", {(): 1})],
    "book_same_space": [("middle", {}), ("otherwise", {(): 1})],
    "same_isle_moves": [("middle", {}), ("otherwise", {(): 1})],
    "online_start": [("middle", {}), ("otherwise", {(): 1})],
}


def features(*positions: Position) -> NDArray[np.float32]:
    return features_of(states_of(list(positions)), positions[0].game.rules)


@cache
def made(name: str) -> Position:
    return MADE[name]()


@pytest.mark.parametrize("name", [feature.name for feature in FEATURES])
def test_each_feature_has_its_known_value(name: str):
    assert name in KNOWN, "a feature needs a position where its value is known"
    seen_something = False
    for position, values in KNOWN[name]:
        expected = np.zeros(FEATURE[name].shape, dtype=np.float32)
        for index, value in values.items():
            expected[index] = np.clip(value * FEATURE[name].scale, -LIMIT, LIMIT)
        found = block(features(made(position))[0], name)
        assert found == pytest.approx(expected, abs=1e-6), position
        seen_something |= bool(expected.any())
    assert seen_something, "a value other than 0 is needed"


def test_no_known_value_is_left_over():
    assert set(KNOWN) == set(FEATURE)


@cache
def many_games() -> tuple[Position, ...]:
    games = [
        random_game(Position.new(n, setup, n, sheet, ruleset), seed)
        for n in (2, 3, 4)
        for seed in (1, 2)
        for setup, sheet, ruleset in (
            ("standard", "reconstructed", "official"),
            ("preselected", "rosette", RuleSet("online")),
            ("standard", "rosette", NEVER),
        )
    ]
    return tuple(position for game in games for position in game)


def test_features_are_bounded_and_the_same_in_a_batch_and_alone():
    positions = many_games()
    assert len(positions) > 1500
    for game in {id(position.game.rules): position.game for position in positions}.values():
        own = [position for position in positions if position.game is game or position.game.rules is game.rules]
        together = features(*own)
        assert np.isfinite(together).all()
        assert np.abs(together).max() <= LIMIT
        for index in range(0, len(own), 37):
            assert (features(own[index])[0] == together[index]).all()


def test_few_features_are_ever_cut_off():
    """The scales fit the game: only influence and what is without a limit reaches the end of the range."""
    positions = [position for position in many_games() if position.game.ruleset.name == "official"]
    rows = features(*positions)
    cut = {f.name for f in FEATURES if (np.abs(block(rows, f.name)) >= LIMIT).mean() > 0.002}
    assert cut <= {"lead", "floor_room"}


def test_extreme_influence_is_cut_off():
    start = Position.new(3, seed=1, handicap=[5000, -5000, 0])
    row = features(start)[0]
    assert np.abs(row).max() == LIMIT
    assert block(row, "influence")[:3].tolist() == pytest.approx([LIMIT, -LIMIT, 5 / 40])


def test_the_mover_sees_the_same_when_the_seats_are_rotated():
    for position in many_games()[::7]:
        game, row = position.game, features(position)[0]
        for by in range(1, position.players):
            other = Position.from_json(rotated_seats(position.to_json(), by), game.sheet, game.ruleset)
            assert (features(other)[0] == row).all()


def test_the_ring_has_no_beginning():
    for position in many_games()[::31]:
        json = position.to_json()
        turned = json | {"ring": json["ring"][3:] + json["ring"][:3]}
        other = Position.from_json(turned, position.game.sheet, position.game.ruleset)
        assert (features(other)[0] == features(position)[0]).all()


def test_numbers_are_turned_to_seats_and_back():
    for players in (2, 3, 4):
        start = Position.new(players, seed=1, start_player=players - 1)
        states = states_of([start, start.play(start.legal_ids()[0])])
        numbers = np.arange(8, dtype=np.float32).reshape(2, 4)
        assert seat_order(states)[0, :players].tolist() == [(players - 1 + p) % players for p in range(players)]
        by_seat = to_seats(states, numbers)
        assert by_seat[0, players - 1] == numbers[0, 0]
        assert (by_seat[1] == numbers[1]).all()
        assert (from_seats(states, by_seat) == numbers).all()


GOLDEN = (1, "cf73f89c60e42070", "6e78eb946bb9edeb")


def test_what_is_written_changes_with_the_version_only():
    """If this fails, features have changed: raise `FEATURE_VERSION`, and write the new hash here."""
    digest = hashlib.sha256()
    for position in many_games()[::5]:
        digest.update(np.round(features(position)[0] * 1e4).astype(np.int32).tobytes())
    assert (FEATURE_VERSION, TABLE_HASH, digest.hexdigest()[:16]) == GOLDEN


def test_the_kernel_has_one_signature():
    states = states_of(list(many_games()[:3]))
    rules = many_games()[0].game.rules
    features_of(states[::-1], rules)
    write_features(states, rules, np.zeros((3, NUM_FEATURES), np.float32))
    assert len(getattr(write_features, "signatures", [0])) == 1


CHECKED = """
import numpy as np
from engine_fast import Position
from luna_ai.features import features_of
from tests.luna_ai.walks import random_game, states_of
for players in (2, 3, 4):
    walk = random_game(Position.new(players, seed=players), 1)[:: {step}]
    rows = features_of(states_of(walk), walk[0].game.rules)
    print(np.round(rows * 1e4).astype(np.int64).sum())
"""


def run(step: int, **flags: str) -> list[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    command = [sys.executable, "-W", "ignore", "-c", CHECKED.format(step=step)]
    done = subprocess.run(command, cwd=ROOT, env=inherited | flags, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_indexes_are_in_range_and_plain_python_agrees():
    compiled = run(20)
    assert run(20, NUMBA_BOUNDSCHECK="1") == compiled
    assert run(20, NUMBA_DISABLE_JIT="1") == compiled


def shown() -> str:
    """The table as the page shows it."""
    lines = ["| feature | axes | numbers | raw value, times | meaning |", "|---|---|---|---|---|"]
    for feature in FEATURES:
        times = f"1/{round(1 / feature.scale)}" if feature.scale != 1 else "1"
        lines.append(
            f"| `{feature.name}` | {' × '.join(feature.axes) or '–'} | {feature.count} | {times} | {feature.meaning} |"
        )
    return "\n".join(lines)


def test_the_page_shows_the_table():
    page = (ROOT / "docs" / "FEATURES.md").read_text()
    assert shown() in page
    assert f"version {FEATURE_VERSION}, {NUM_FEATURES} numbers" in page
    assert NUM_TILES == 28
