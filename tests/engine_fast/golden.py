"""Frozen facts: the table of ids, whole games, perft numbers of named positions; and the command that freezes them.

    python -m tests.engine_fast.golden

writes everything below `tests/data/golden` and `tests/data/perft` anew. Do that only after a change that is meant: the
files are what tells a change that is not. Perft numbers are counted with the reference before they are written, as
deep as that is affordable.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine_fast import NOTATIONS, Position, RuleSet, new_ledger
from engine_fast.actions import ACTION_VERSION, ID_OF_NOTATION
from engine_fast.perft import perft
from engine_fast.reference import Reference
from tests.engine_fast import policies
from tests.engine_fast.arranged import Json, Plan, arranged_position
from tests.engine_fast.schedule import sheet_of
from tests.reference.games import DATA, OFFICIAL

GOLDEN, PERFT = DATA / "golden", DATA / "perft"
UNUSUAL = {
    "name": "online",
    "virtual_alone": False,
    "virtual_promotion": False,
    "council_overshoot": True,
    "book_same_space": True,
    "same_isle_moves": True,
    "influence_floor": None,
    "max_actions_per_player": 9,
}
MOST_ROWS = 3_000_000
"""Perft numbers are written down to the last depth with fewer rows."""


def twin_of(case: Json) -> Reference:
    """The reference for the sheet and the rule set of a frozen game or position."""
    return Reference(sheet_of(case["components"]), case["ruleset"])


def engine_of(case: Json) -> Position:
    """The first position of a frozen game, or a frozen position."""
    ruleset = RuleSet.from_json(case["ruleset"])
    return Position.from_json(case["position"], components=case["components"], ruleset=ruleset)


# --- ids -----------------------------------------------------------------------------------------------------------


def id_table() -> str:
    """Version, then one notation a line, by id."""
    return "\n".join([f"ACTION_VERSION {ACTION_VERSION}", *NOTATIONS]) + "\n"


# --- games ---------------------------------------------------------------------------------------------------------

GAMES: dict[str, tuple[int, str, str, dict[str, Any]]] = {
    "two-official": (2, "standard", "reconstructed", {}),
    "three-online": (3, "standard", "rosette", {"name": "online"}),
    "four-preselected": (4, "preselected", "reconstructed", {}),
    "two-unusual": (2, "preselected", "rosette", UNUSUAL),
    "four-unusual": (4, "standard", "reconstructed", UNUSUAL | {"influence_floor": 5, "name": "official"}),
}


def play_golden(name: str) -> Json:
    """A whole game with a mood for each seat, driven by the reference."""
    players, setup, components, options = GAMES[name]
    rng, ruleset = random.Random(name), OFFICIAL | options
    twin = Reference(sheet_of(components), ruleset)
    words = twin.new(rng, players, setup)
    game: Json = {"components": components, "ruleset": ruleset, "position": twin.dump(words), "ids": []}
    moods = rng.sample([mood for mood in policies.NAMES if mood != "idle"], players)
    while legal := twin.legal(words):
        decision = policies.choose(rng, legal, moods[words.mover])
        game["ids"].append(ID_OF_NOTATION[decision])
        words = twin.play(words, decision)
    return game | final_facts(game)


def final_facts(game: Json) -> Json:
    """The end of a game in the engine: words in hexadecimal digits, ledger, influence and ranks."""
    position, ledger = engine_of(game), new_ledger()
    for action in game["ids"]:
        position = position.play(action, ledger)
    return {
        "words": [f"{int(word):016x}" for word in position.state],
        "ledger": ledger[: position.players].tolist(),
        "influence": position.influence,
        "rank": position.ranking,
    }


# --- perft ---------------------------------------------------------------------------------------------------------


def game_positions(players: int, setup: str, components: str, ruleset: Json, seed: int) -> Iterator[Json]:
    """All positions of random games of one kind, drawn by verb."""
    rng, twin = random.Random(seed), Reference(sheet_of(components), ruleset)
    while True:
        words = twin.new(rng, players, setup)
        while legal := twin.legal(words):
            yield twin.dump(words)
            words = twin.play(words, policies.choose(rng, legal, rng.choice(("mixed", "tide", "books", "temple"))))
        yield twin.dump(words)


def step(action: str, stage: str | None = None) -> Callable[[Json], bool]:
    """Whether a position is in the middle of such an action, with something left to choose."""

    def wanted(p: Json) -> bool:
        pending = p["pending"]
        if not pending or pending["action"] != action:
            return False
        return stage is None or (pending["stage"] == stage and pending["hand"] >= 3)

    return wanted


def begins(round_: int) -> Callable[[Json], bool]:
    return lambda p: p["phase"] == "action" and p["round"] == round_ and not p["pending"] and p["actions"] == 5


def near_the_end(p: Json) -> bool:
    return p["phase"] == "action" and p["round"] == 6 and p["time_tokens"] == 1 and not p["pending"]


FOUND: dict[str, tuple[int, str, str, dict[str, Any], Callable[[Json], bool]]] = {
    "set-up-2": (2, "standard", "reconstructed", {}, lambda p: True),
    "set-up-3": (3, "standard", "rosette", {"name": "online"}, lambda p: True),
    "set-up-4": (4, "standard", "reconstructed", {}, lambda p: True),
    "last-placings-3": (3, "standard", "reconstructed", {}, lambda p: sum(s["supply"] for s in p["seats"]) == 16),
    "preselected-2": (2, "preselected", "reconstructed", {}, lambda p: True),
    "preselected-4": (4, "preselected", "rosette", {}, lambda p: True),
    "round-3-of-3": (3, "standard", "reconstructed", {}, begins(3)),
    "round-5-of-4": (4, "standard", "rosette", UNUSUAL, begins(5)),
    "book-in-the-air": (2, "standard", "reconstructed", {}, step("book")),
    "journey-lifting": (3, "preselected", "reconstructed", {}, step("journey", "lift")),
    "tide-lifting": (4, "standard", "reconstructed", {}, step("tide", "lift")),
    "tide-landing": (2, "standard", "rosette", {"same_isle_moves": True}, step("tide", "land")),
    "last-token": (2, "standard", "reconstructed", {}, near_the_end),
    "over": (3, "standard", "reconstructed", {}, lambda p: p["phase"] == "over"),
}
ARRANGED: dict[str, tuple[int, str, str, dict[str, Any]]] = {
    "crowd-on-one-isle": (3, "one isle", "reconstructed", {"council_overshoot": True}),
    "nobody-on-an-isle": (2, "nobody", "reconstructed", {"influence_floor": None}),
    "cap-of-one-action": (4, "spread", "rosette", {"max_actions_per_player": 1}),
}


def perft_case(name: str) -> Json:
    """A named position with its sheet and rule set."""
    if name in FOUND:
        players, setup, components, options, wanted = FOUND[name]
        positions = game_positions(players, setup, components, OFFICIAL | options, seed=len(name))
        position = next(p for p in positions if wanted(p))
    else:
        players, crowd, components, options = ARRANGED[name]
        cap = int((OFFICIAL | options)["max_actions_per_player"])
        position = arranged_position(random.Random(name), sheet_of(components), Plan(players, cap, crowd, "tide"))
    return {"components": components, "ruleset": OFFICIAL | options, "position": position}


def counted(case: Json) -> list[int]:
    """Perft of depth 1, 2, ... as long as there are not too many rows; at least 3 numbers."""
    position, numbers = engine_of(case), [1]
    while len(numbers) <= 3 or (numbers[-1] * 60 < MOST_ROWS and len(numbers) <= 6):
        numbers.append(perft(position.state, position.game.rules, len(numbers)))
    return numbers[1:]


def reference_perft(case: Json, depth: int) -> int:
    """Perft of the reference, position by position."""
    twin = twin_of(case)
    row = [twin.load(case["position"])]
    for _ in range(depth - 1):
        row = [twin.play(words, text) for words in row for text in twin.legal(words)]
    return sum(len(twin.legal(words)) for words in row)


def affordable_depth(numbers: list[int], most: int) -> int:
    """The greatest depth for which the reference makes at most so many positions."""
    return max((depth for depth in range(1, len(numbers) + 1) if ([1, *numbers])[depth - 1] <= most), default=1)


def write(path: Path, value: Json) -> None:
    lines = [f" {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    (GOLDEN / "ids.txt").write_text(id_table())
    for name in GAMES:
        write(GOLDEN / f"{name}.json", play_golden(name))
    for name in (*FOUND, *ARRANGED):
        case = perft_case(name)
        numbers = counted(case)
        depth = affordable_depth(numbers, 3000)
        assert reference_perft(case, depth) == numbers[depth - 1], name
        print(f"{name}: {numbers}, the reference agrees at depth {depth}")
        write(PERFT / f"{name}.json", {"name": name, **case, "perft": numbers})


if __name__ == "__main__":
    main()
