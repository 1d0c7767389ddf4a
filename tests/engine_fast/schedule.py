"""The games that the differential test plays: sheets, rule sets, beginnings, moods; all from the number of a game."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.engine_fast import policies
from tests.engine_fast.arranged import CROWDS, Json, Plan, arranged_position
from tests.reference.games import OFFICIAL, load_sheet, merge

FLAGS = ("virtual_alone", "virtual_promotion", "council_overshoot", "book_same_space", "same_isle_moves")
FLOORS = (0, 0, None, None, 5)
CAPS = (60, 60, 60, 12, 5, 2, 1, 250)
SHEETS = ("reconstructed", "rosette", "reconstructed", "rosette", "reconstructed", "narrow", "rosette", "wide")

FAMILIES = (
    ("finale", "nobody", "idle", ""),
    ("arranged", "landing", "long hand", "tide"),
    ("arranged", "same isle", "idle", ""),
    ("arranged", "same isle", "expel", "novice"),
    ("arranged", "same isle", "shrines", "shrine"),
    ("finale", "landing", "idle", ""),
    ("arranged", "nobody", "idle", ""),
    ("arranged", "spread", "bribes", "bribery"),
)
"""Beginning, crowd, mood and a favor token for everybody: games that are played for what is rarest elsewhere."""

OWN_SHEETS: dict[str, dict[str, Any]] = {
    "narrow": {
        "starting_influence": 5,
        "novices": 9,
        "shrines": 1,
        "guard_values": [0, 100, 1, 0, 9, 0],
        "council": [3, 1],
        "time_tokens": {2: 1, 3: 1, 4: 2},
        "master_builder": {"move": 0},
        "moon_priestess": {2: {"move": 0, "points": [0, 1, 2]}, 3: {"move": 7, "points": [1, 1, 1]}},
    },
    "wide": {
        "starting_influence": 1000,
        "shrines": 7,
        "guard_values": [100, 99, 50, 7, 3, 100],
        "council": [100, *range(15)],
        "time_tokens": {2: 15, 3: 14, 4: 15},
        "master_builder": {"move": 20},
        "moon_priestess": {2: {"move": 19, "points": [100, 50, 7]}, 4: {"move": 1, "points": [9, 99, 100]}},
        "end_influence": {"shrine": 100, "favor": 17},
    },
}
"""Sheets of our own at the limits of what a sheet may say, as differences from `reconstructed`."""


@cache
def sheet_of(name: str) -> Mapping[str, Any]:
    """A sheet as a plain mapping, `extends` resolved."""
    if name in OWN_SHEETS:
        return merge(dict(load_sheet("reconstructed")), OWN_SHEETS[name] | {"name": name})
    return load_sheet(name)


@dataclass(frozen=True)
class GameSpec:
    """One game of the schedule, complete: the same number gives the same game.

    Attributes:
        key: `CHUNK-INDEX`, also the seed of everything random.
        beginning: `standard`, `preselected`, `arranged`, or `finale`: arranged shortly before the end.
        crowd: of an arranged beginning.
        token: favor that everybody has in an arranged beginning.
        moods: policy of each seat.
        never_meditate: nobody meditates before nothing else is legal.
    """

    key: str
    players: int
    sheet: str
    options: tuple[tuple[str, Any], ...]
    beginning: str
    crowd: str
    token: str
    moods: tuple[str, ...]
    never_meditate: bool
    handicap: tuple[int, ...]

    @property
    def ruleset(self) -> dict[str, Any]:
        """The rule set as a record's header holds it."""
        return OFFICIAL | dict(self.options)

    @property
    def sheet_numbers(self) -> Mapping[str, Any]:
        """The component sheet."""
        return sheet_of(self.sheet)

    @property
    def cap(self) -> int:
        """`max_actions_per_player`."""
        return int(self.ruleset["max_actions_per_player"])

    def arranged(self, rng: random.Random) -> Json:
        """The position that an arranged game begins with."""
        plan = Plan(self.players, self.cap, self.crowd, self.token, self.beginning == "finale")
        return arranged_position(rng, sheet_of(self.sheet), plan)


def game_spec(chunk: int, index: int) -> GameSpec:
    """Game `index` of a chunk."""
    rng = random.Random(f"{chunk}-{index}")
    players, sheet = 2 + index % 3, SHEETS[index // 3 % len(SHEETS)]
    options = _options(rng)
    beginning = rng.choice(("standard", "standard", "preselected", "arranged", "arranged", "arranged"))
    never_meditate = rng.random() < 0.3 and (options["max_actions_per_player"] <= 5 or beginning == "arranged")
    if never_meditate and beginning == "standard":
        options["max_actions_per_player"] = min(options["max_actions_per_player"], 5)
    crowd, moods, token = rng.choice(CROWDS), _moods(rng, players), ""
    if index % 4 == 0:
        beginning, crowd, mood, token = FAMILIES[index // 4 % len(FAMILIES)]
        moods, never_meditate = (mood,) * players, False
    return GameSpec(
        key=f"{chunk}-{index}",
        players=players,
        sheet=sheet,
        options=tuple(options.items()),
        beginning=beginning,
        crowd=crowd,
        token=token,
        moods=moods,
        never_meditate=never_meditate,
        handicap=tuple(_handicap(rng) for _ in range(players)),
    )


def _options(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"name": rng.choice(("official", "online"))}
    usual = rng.random() < 0.25
    for flag in FLAGS:
        options[flag] = OFFICIAL[flag] if usual else rng.random() < 0.5
    options["influence_floor"] = rng.choice(FLOORS)
    options["max_actions_per_player"] = rng.choice(CAPS)
    return options


def _handicap(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, rng.randint(-20, 5), rng.choice((-5000, 5000))))


def _moods(rng: random.Random, players: int) -> tuple[str, ...]:
    """One mood for all or another for each seat."""
    if rng.random() < 0.4:
        return (rng.choice(policies.NAMES),) * players
    return tuple(rng.choice(policies.NAMES) for _ in range(players))
