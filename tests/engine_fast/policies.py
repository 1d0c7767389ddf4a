"""How random games are driven: a uniform choice is a poor diet, since nearly half of all decisions belong to Journeys.

A *mood* says how much a player likes each kind of decision (the words of its notation without isle and number) and
whether he likes large numbers. Kinds that a mood does not name have weight 1. Everything is drawn from the generator
that is passed in.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.engine_fast.arranged import KINDS

SOURCES = (*KINDS, *(kind + "~" for kind in KINDS), "landing")
RAREST_FIRST = (
    *("give-book", "take-book", "sanctify", "build +v", "build", "promote +v", "sail landing", "council +v"),
    *("expel +v", "tide", "promote", "recruit +v", "favor +v", "herbs", "sail", "recruit", "council", "expel"),
    *("favor", "land"),
)
"""Kinds of decision, the ones that random games see least before the others."""


@dataclass(frozen=True)
class Mood:
    """What a player likes.

    Attributes:
        weights: weight of a kind of decision.
        favors: favor tokens that he asks for first.
        patient: probability to lift from the first source, or to land on the first isle, that may follow.
        large: probability of the largest number, where a kind comes in several numbers.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    favors: tuple[str, ...] = ()
    large: float = 0.0
    patient: float = 0.0


MOODS = {
    "mixed": Mood(),
    "large": Mood({"meditate": 0.3}, large=0.9),
    "temple": Mood(
        {"sanctify": 60, "promote": 30, "promote +v": 30, "journey": 3, "favor": 3, "meditate": 0.3},
        ("bribery", "novice"),
    ),
    "bribes": Mood(
        {"sanctify": 60, "promote +v": 60, "promote": 20, "favor": 6, "meditate": 0.2}, ("bribery", "novice")
    ),
    "books": Mood(
        {"take-book": 60, "sanctify": 40, "promote": 20, "favor": 8, "favor +v": 8, "meditate": 0.3},
        ("book", "bribery"),
    ),
    "tide": Mood({"tide": 40, "favor": 15, "recruit": 3, "meditate": 0.5, "land": 1}, ("tide",), large=0.5),
    "landing": Mood({"tide": 8, "sail landing": 8, "favor": 10, "promote": 8}, ("sailboat", "tide")),
    "shrines": Mood({"build": 40, "build +v": 40, "favor": 8, "journey": 3, "meditate": 0.3}, ("shrine", "novice")),
    "virtual": Mood(
        dict.fromkeys(("favor +v", "recruit +v", "build +v", "council +v", "expel +v", "promote +v"), 12)
        | {"favor": 8, "meditate": 0.5},
        ("novice", "shrine"),
    ),
    "council": Mood({"council": 12, "council +v": 12, "journey": 3, "recruit": 4}, ("novice",), large=0.5),
    "recruit": Mood({"recruit": 30, "recruit +v": 10, "favor": 3, "meditate": 0.3}, ("novice", "herbs")),
    "gather": Mood({"journey": 8, "expel": 3, "expel +v": 3, "council": 3, "meditate": 0.3}, ("novice", "tide"), 0.95),
    "expel": Mood({"expel": 30, "expel +v": 30, "meditate": 0.5}, ("novice",), large=0.9),
    "idle": Mood({"meditate": 30}),
    "long hand": Mood({"tide": 60, "journey": 20, "favor": 4, "land": 1}, ("tide",), 0.7, 0.8),
}
"""The moods by name; `uniform` and `rarest` are ways of choosing without weights."""

NAMES = ("uniform", "rarest", *MOODS)


def kind_of(decision: str) -> str:
    """`favor tide +v` -> `favor +v`, `sail landing tide 2` -> `sail landing`, `land tide 1` -> `land`."""
    words = decision.split(" ")
    kind = "sail landing" if words[:2] == ["sail", "landing"] else words[0]
    return kind + " +v" if words[-1] == "+v" else kind


def number_of(decision: str) -> int:
    """The number in a notation that is not a tile, 0 where there is none."""
    words = decision.removesuffix(" +v").split(" ")
    has_number = words[-1].isdigit() and words[0] in ("journey", "tide", "land", "council", "expel", "sail", "herbs")
    return int(words[-1]) if has_number else 0


def place_of(decision: str) -> int:
    """The order of the source of a lift or the isle of a landing; -1 where places have no order."""
    words = decision.split(" ")
    return SOURCES.index(words[1]) if words[0] in ("journey", "tide", "land") else -1


def by_kind(legal: Sequence[str]) -> dict[str, list[str]]:
    """The legal decisions of each kind."""
    groups: dict[str, list[str]] = defaultdict(list)
    for decision in legal:
        groups[kind_of(decision)].append(decision)
    return groups


def choose(rng: random.Random, legal: Sequence[str], mood: str, never_meditate: bool = False) -> str:
    """A decision of a player of this mood; with `never_meditate`, a Meditation only if nothing else is legal."""
    allowed = [decision for decision in legal if decision != "meditate"] if never_meditate else legal
    allowed = allowed or legal
    if mood == "uniform":
        return rng.choice(allowed)
    groups = by_kind(allowed)
    if mood == "rarest":
        known = [kind for kind in RAREST_FIRST if kind in groups]
        kind = known[0] if known and rng.random() < 0.6 else rng.choice(sorted(groups))
        return rng.choice(groups[kind])
    liking = MOODS[mood]
    kinds = sorted(groups)
    kind = rng.choices(kinds, [liking.weights.get(kind, 1) for kind in kinds])[0]
    return choose_within(rng, groups[kind], liking)


def choose_within(rng: random.Random, group: Sequence[str], liking: Mood) -> str:
    """One decision of a kind, by the favors and the numbers that the player likes."""
    favors = tuple(f"favor {kind}" for kind in liking.favors)
    wanted = [decision for decision in group if decision.startswith(favors)]
    if wanted and rng.random() < 0.8:
        return rng.choice(wanted)
    if rng.random() < liking.patient:
        first = min(map(place_of, group))
        group = [decision for decision in group if place_of(decision) == first]
    if rng.random() < liking.large:
        largest = max(map(number_of, group))
        return rng.choice([decision for decision in group if number_of(decision) == largest])
    return rng.choice(group)
