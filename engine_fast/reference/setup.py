"""Random set-ups (rules, section 2): standard, before the preliminary round, and preselected.

Every draw comes from the generator that is passed in.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from .model import KINDS, PLAYER_COUNTS, START_TILES, Position, Seat, Tile, counts
from .sheet import Rules

SETUPS = ("standard", "preselected")


class Isles(NamedTuple):
    """The ring of isles and the isles of the three figures."""

    ring: tuple[str, ...]
    priestess: str
    builder: str
    apostate: str


def new(rules: Rules, rng: random.Random, players: int, setup: str) -> Position:
    """A set-up drawn at random.

    Raises:
        ValueError: no such number of players, no such set-up.
    """
    if players not in PLAYER_COUNTS:
        raise ValueError(f"{players!r} players: a game has one of {PLAYER_COUNTS}")
    if setup not in SETUPS:
        raise ValueError(f"set-up {setup!r}: there are {SETUPS}")
    if setup == "standard":
        seats = [seat_with(rules, [], []) for _ in range(players)]
        return assemble(rules, rng, "shrines", draw_isles(rng), seats)
    plan = rules.sheet["preselected"]
    seats = [seat_with(rules, [line["shrine"]], line["novices"]) for line in plan["seats"][:players]]
    return assemble(rules, rng, "action", Isles(tuple(plan["ring"]), **plan["figures"]), seats)


def draw_isles(rng: random.Random) -> Isles:
    """Section 2.8, standard: a random ring, the figures uniformly and independently."""
    ring = list(KINDS)
    rng.shuffle(ring)
    return Isles(tuple(ring), rng.choice(KINDS), rng.choice(KINDS), rng.choice(KINDS))


def seat_with(rules: Rules, shrines: list[str], novices: list[str]) -> Seat:
    """Section 2.1 and 2.8: a player with shrines and two novices on each named isle, one more in the Temple.

    Who has pieces on isles owns the favors of the isles where he has none.
    """
    sheet = rules.sheet
    active = {kind: 2 * (kind in novices) for kind in KINDS}
    supply = sheet["novices"] - 1 - sum(active.values())
    favors = set(KINDS) - set(shrines) - set(novices) if novices else set()
    return Seat(sheet["starting_influence"], active, counts(), 0, supply, set(shrines), favors)


def assemble(rules: Rules, rng: random.Random, phase: str, isles: Isles, seats: list[Seat]) -> Position:
    """Draws what both set-ups draw: boards and their slots, start tiles, start player."""
    players = len(seats)
    boards = tuple(rng.sample(range(len(rules.sheet["temple"]["boards"])), players))
    start_player = rng.randrange(players)
    return Position(
        players, 1, phase, start_player, start_player, rules.time_tokens(players), 0, *isles, boards,
        players == 2, first_council(rules, start_player, players), seats, draw_tiles(rules, rng, boards), None,
    )  # fmt: skip


def first_council(rules: Rules, start_player: int, players: int) -> list[list[int]]:
    """Section 2.6: beginning with the start player and clockwise, all pieces are stacked on seat 0."""
    stack = [(start_player + turn) % players for turn in range(players)]
    return [stack] + [[] for _ in range(rules.last_council_seat())]


def draw_tiles(rules: Rules, rng: random.Random, boards: tuple[int, ...]) -> dict[int, Tile]:
    """Section 2.2 and 2.3: each player gets one start tile at random, with a Book; the others lie on the path."""
    owners = rng.sample(range(len(boards)), len(boards))
    tiles = rules.temple(boards).tiles
    return {tile: Tile("temple", owners.pop(), True) if tile in START_TILES else Tile("path") for tile in tiles}
