"""Random positions that are consistent (rules, sections 2, 3 and 8) but that few games reach.

They are arranged piece by piece from the rules alone: crowds on one isle, nobody on any isle, a full Temple, everybody
near the last Council seat, the last action before the cap, influence far below the floor, now and then what no game
can reach (somebody else's turn, a tile claimed too early). A game may start in any of them (section 9), so both
programs must agree on all that follows.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

KEYS = (
    *("players", "round", "phase", "start_player", "to_move", "time_tokens", "actions", "ring", "priestess", "builder"),
    *("apostate", "boards", "book_bonus", "council", "seats", "tiles", "pending"),
)
KINDS = ("book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide")
CROWDS = ("spread", "spread", "few isles", "one isle", "one isle", "same isle", "landing", "landing", "nobody")
"""Where the novices are: all over, on two isles, on one isle each, all on one and the same; some or all of them on the
landing stage."""


def by_players(table: Mapping[Any, Any], players: int) -> Any:
    return table[players] if players in table else table[str(players)]


@dataclass(frozen=True)
class Plan:
    """What is wanted of a position.

    Attributes:
        cap: `max_actions_per_player`.
        crowd: one of `CROWDS`.
        token: favor token that everybody holds; of `shrine`, everybody is one shrine short of all.
        finale: in round 6, with few Time tokens left and nobody far ahead.
    """

    players: int
    cap: int
    crowd: str
    token: str = ""
    finale: bool = False


def arranged_position(rng: random.Random, sheet: Mapping[str, Any], plan: Plan) -> Json:
    """A random consistent position at the beginning of an action."""
    players, isle = plan.players, rng.choice(KINDS)
    position: Json = {
        "players": players,
        "round": 6 if plan.finale else rng.choice((1, 2, 3, 4, 5, 6, 6)),
        "phase": "action",
        "start_player": rng.randrange(players),
        "ring": rng.sample(KINDS, 7),
        **dict(zip(("priestess", "builder", "apostate"), _figures(rng, isle, plan), strict=True)),
        "boards": rng.sample(range(4), players),
        "council": _council(rng, players, len(sheet["council"])),
        "pending": None,
    }
    position |= _clock(rng, plan, position["start_player"], by_players(sheet["time_tokens"], players))
    position["tiles"] = _tiles(rng, players, sheet, position["boards"], position["round"])
    position["seats"] = [_seat(rng, seat, position, sheet, plan, isle) for seat in range(players)]
    if plan.finale or rng.random() < 0.2:
        _equalise(rng, position, sheet)
    return {key: position[key] for key in KEYS}


def _figures(rng: random.Random, isle: str, plan: Plan) -> list[str]:
    """Often on one isle, and there where the novices are."""
    often = 1.0 if plan.token == "shrine" else 0.5
    return [isle if rng.random() < often else rng.choice(KINDS) for _ in range(3)]


def _clock(rng: random.Random, plan: Plan, start_player: int, tokens: int) -> Json:
    """Tokens, actions and what follows from them; often just before the end of the action phase."""
    players, most = plan.players, plan.cap * plan.players - 1
    turned = rng.randint(0, min(tokens - 1, most))
    if plan.finale or rng.random() < 0.4:
        turned = min(tokens - 1, most)
    actions = rng.choice((turned, min(most, turned + rng.randint(0, 12)), max(turned, most - rng.randint(0, 3))))
    out_of_turn = rng.choice((0, 0, 0, 1))
    return {
        "to_move": (start_player + actions + out_of_turn) % players,
        "time_tokens": tokens - turned,
        "actions": actions,
        "book_bonus": players == 2 and (actions == turned or rng.random() < 0.5),
    }


def _council(rng: random.Random, players: int, seats: int) -> list[list[int]]:
    """All over, or near the top, or all on the last seat."""
    lowest = rng.choice((0, max(0, seats - 4), max(0, seats - 2), seats - 1))
    stacks: list[list[int]] = [[] for _ in range(seats)]
    for piece in rng.sample(range(players), players):
        stacks[rng.randint(lowest, seats - 1)].append(piece)
    return stacks


def _tiles(rng: random.Random, players: int, sheet: Mapping[str, Any], boards: list[int], round_: int) -> Json:
    """Start tiles in the Temple, batches up to that of the round (or all) anywhere, N Books under novices."""
    numbers = sorted(space["tile"] for board in boards for space in sheet["temple"]["boards"][board])
    start, path = numbers[:players], numbers[players:]
    owners = rng.sample(range(players), players)
    tiles: Json = {str(tile): {"at": "temple", "owner": owners[i]} for i, tile in enumerate(start)}
    in_temple, last_batch = rng.choice((0.2, 0.5, 0.8)), rng.choice((round_, round_, round_, 6))
    for place, tile in enumerate(path):
        reachable = place // players <= last_batch
        tiles[str(tile)] = _tile(rng, players, in_temple) if reachable else {"at": "path"}
    _limit_novices(tiles, players, sheet["novices"] - 4)
    occupied = [tile for tile in tiles.values() if tile["at"] == "temple" and tile["owner"] is not None]
    for tile in rng.sample(occupied, players):
        tile["book"] = True
    empty = [tile for tile in tiles.values() if tile["at"] == "temple" and "book" not in tile]
    for tile in empty:
        tile["owner"] = None if rng.random() < 0.2 else tile["owner"]
    return tiles


def _tile(rng: random.Random, players: int, in_temple: float) -> Json:
    if rng.random() < in_temple:
        return {"at": "temple", "owner": rng.choice([None, *range(players), *range(players)])}
    if rng.random() < 0.5:
        return {"at": "claimed", "owner": rng.randrange(players)}
    return {"at": "path"}


def _limit_novices(tiles: Json, players: int, most: int) -> None:
    """Nobody has more novices on tiles than leave some for the isles."""
    for player in range(players):
        own = [tile for tile in tiles.values() if tile.get("owner") == player]
        for tile in own[most:]:
            tile.clear()
            tile["at"] = "path"


def _equalise(rng: random.Random, position: Json, sheet: Mapping[str, Any]) -> None:
    """Influence such that all would be about equal if the next Meditation ended the game: ties become likely."""
    end, total = sheet["end_influence"], rng.randint(0, 80)
    for index, seat in enumerate(position["seats"]):
        at = next(place for place, stack in enumerate(position["council"]) if index in stack)
        worth = end["shrine"] * len(seat["shrines"]) + end["favor"] * len(seat["favors"]) + sheet["council"][at]
        in_temple = sum(t["at"] == "temple" and t["owner"] == index for t in position["tiles"].values())
        meditates = index == position["to_move"]
        seat["influence"] = total - worth - in_temple - meditates - (rng.random() < 0.1)


def _seat(rng: random.Random, seat: int, position: Json, sheet: Mapping[str, Any], plan: Plan, isle: str) -> Json:
    novices = int(sheet["novices"]) - sum(tile.get("owner") == seat for tile in position["tiles"].values())
    supply = min(novices, rng.randint(0, int(sheet["novices"]) - 9), rng.choice((0, 4)))
    novices -= supply
    landing = _landing(rng, novices, plan.crowd)
    active, inactive = _isles(rng, novices - landing, plan.crowd, isle)
    favors = _some(rng, KINDS, rng.choice((0, 2, 4, 6, 7)))
    return {
        "influence": _influence(rng),
        "active": active,
        "inactive": inactive,
        "landing": landing,
        "supply": supply,
        "shrines": _shrines(rng, position, min(7, int(sheet["shrines"])), plan),
        "favors": [kind for kind in KINDS if kind in favors or kind == plan.token],
    }


def _shrines(rng: random.Random, position: Json, most: int, plan: Plan) -> list[str]:
    """One to all; with equals at the end, where the Moon Priestess does not count them."""
    builder, priestess = position["builder"], position["priestess"]
    if plan.token == "shrine":
        return _some(rng, [kind for kind in KINDS if kind != builder], max(1, most - 1))
    number = rng.choice((1, 2, most - 1 or 1, most))
    isles = [kind for kind in KINDS if not plan.finale or kind != priestess]
    return _some(rng, isles, min(number, most))


def _landing(rng: random.Random, novices: int, crowd: str) -> int:
    if crowd in ("landing", "nobody"):
        return novices if crowd == "nobody" else rng.randint(0, novices // 2)
    return min(novices, rng.choice((0, 0, 0, 1, 2)))


def _isles(rng: random.Random, novices: int, crowd: str, isle: str) -> tuple[list[int], list[int]]:
    """Active and inactive novices by kind."""
    isles = rng.sample(KINDS, {"few isles": 2, "one isle": 1}.get(crowd, 7))
    if crowd == "same isle":
        isles = [isle]
    awake = rng.choice((0.0, 0.5, 0.8, 1.0, 1.0))
    counts = {True: [0] * 7, False: [0] * 7}
    for _ in range(novices):
        counts[rng.random() < awake][KINDS.index(rng.choice(isles))] += 1
    return counts[True], counts[False]


def _influence(rng: random.Random) -> int:
    """About zero, as in a game, or at the ends of what may be."""
    low, high = rng.choice(((0, 6), (0, 6), (0, 6), (-8, 8), (5, 60), (-9000, 9000)))
    return rng.randint(low, high)


def _some(rng: random.Random, kinds: Sequence[str], number: int) -> list[str]:
    """So many of the kinds, all if there are fewer, in kind order."""
    return sorted(rng.sample(kinds, min(number, len(kinds))), key=KINDS.index)
