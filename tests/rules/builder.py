"""Positions in the canonical JSON of RULES.md section 8, written tersely.

``position()`` fills in whatever a test does not care about: start tiles in the Temple with their Books, the Council
stacked in turn order, all Time tokens, supplies such that every player has 13 novices. Nothing here knows a rule of
play; the boards are copied from the component sheet, the same in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

KINDS = ("book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide")
RING = ("tide", "novice", "sailboat", "herbs", "book", "bribery", "shrine")  # clockwise, unlike the order of KINDS
BOARDS = (
    (1, 17, 8, 24, 11, 27, 14),
    (12, 28, 15, 2, 18, 5, 21),
    (19, 6, 22, 9, 25, 16, 3),
    (26, 13, 4, 20, 7, 23, 10),
)
COUNCIL_SEATS = {"reconstructed": 13, "rosette": 10}
NOVICES = 13
ALL_KINDS_BUT = {kind: tuple(k for k in KINDS if k != kind) for kind in KINDS}


def time_tokens_of(players: int) -> int:
    """Section 2.5: 4, or 3 with two players."""
    return 3 if players == 2 else 4


def seat(
    active: Mapping[str, int] | None = None,
    inactive: Mapping[str, int] | None = None,
    *,
    landing: int = 0,
    supply: int | None = None,
    shrines: Iterable[str] = (),
    favors: Iterable[str] = (),
    influence: int = 5,
) -> Json:
    """One entry of ``seats``; a supply of None is filled up to 13 novices by ``position``."""
    return {
        "influence": influence,
        "active": _counts(active or {}),
        "inactive": _counts(inactive or {}),
        "landing": landing,
        "supply": supply,
        "shrines": _in_kind_order(shrines),
        "favors": _in_kind_order(favors),
    }


def position(
    players: int = 2,
    *,
    round: int = 1,
    phase: str = "action",
    start_player: int = 0,
    to_move: int | None = None,
    time_tokens: int | None = None,
    actions: int | None = None,
    ring: Sequence[str] = RING,
    priestess: str = "tide",
    builder: str = "novice",
    apostate: str = "shrine",
    boards: Sequence[int] | None = None,
    book_bonus: bool | None = None,
    council: Mapping[int, Sequence[int]] | None = None,
    seats: Sequence[Json] = (),
    temple: Mapping[int, int | None] | None = None,
    claimed: Mapping[int, int] | None = None,
    books: Sequence[int] | None = None,
    pending: Json | None = None,
    sheet: str = "reconstructed",
) -> Json:
    """A complete position.

    ``council`` maps a Council seat to its pieces bottom to top; ``temple`` adds to (or overrides) the start tiles, of
    which seat i owns the i-th lowest; ``books`` defaults to the start tiles. ``to_move`` and ``actions`` follow from
    each other: one action each, clockwise.
    """
    boards = list(range(players)) if boards is None else list(boards)
    tokens = time_tokens_of(players) if time_tokens is None else time_tokens
    actions = _actions(players, start_player, to_move, tokens, actions)
    tiles = _tiles(boards, temple or {}, claimed or {}, books, pending)
    chosen = list(seats) + [seat() for _ in range(players - len(seats))]
    return {
        "players": players,
        "round": round,
        "phase": phase,
        "start_player": start_player,
        "to_move": (start_player + actions) % players if to_move is None else to_move,
        "time_tokens": tokens,
        "actions": actions if phase == "action" else 0,
        "ring": list(ring),
        "priestess": priestess,
        "builder": builder,
        "apostate": apostate,
        "boards": boards,
        "book_bonus": players == 2 if book_bonus is None else book_bonus,
        "council": _council(players, start_player, council, COUNCIL_SEATS[sheet]),
        "seats": [_filled(chosen[i], _on_tiles(tiles, i)) for i in range(players)],
        "tiles": tiles,
        "pending": pending,
    }


def _counts(by_kind: Mapping[str, int]) -> list[int]:
    assert set(by_kind) <= set(KINDS), by_kind
    return [by_kind.get(kind, 0) for kind in KINDS]


def _in_kind_order(kinds: Iterable[str]) -> list[str]:
    return sorted(kinds, key=KINDS.index)


def _actions(players: int, start_player: int, to_move: int | None, tokens: int, actions: int | None) -> int:
    """The smallest number of actions that fits the tokens already turned and the player to move."""
    if actions is not None:
        return actions
    turned = time_tokens_of(players) - tokens
    if to_move is None:
        return turned if turned % players == 0 else turned + players - turned % players
    return turned + (to_move - start_player - turned) % players


def _tiles(
    boards: Sequence[int],
    temple: Mapping[int, int | None],
    claimed: Mapping[int, int],
    books: Sequence[int] | None,
    pending: Json | None,
) -> Json:
    numbers = sorted(tile for board in boards for tile in BOARDS[board])
    start_tiles = [tile for tile in numbers if tile <= 4]
    owners: dict[int, int | None] = {**{tile: i for i, tile in enumerate(start_tiles)}, **temple}
    books = start_tiles if books is None else books
    assert {*owners, *claimed, *books} <= set(numbers), "a tile that is not in play"
    assert len(books) == len(boards) - (pending is not None and pending["action"] == "book")
    tiles: Json = {}
    for tile in numbers:
        if tile in owners:
            tiles[str(tile)] = {"at": "temple", "owner": owners[tile]} | ({"book": True} if tile in books else {})
        elif tile in claimed:
            tiles[str(tile)] = {"at": "claimed", "owner": claimed[tile]}
        else:
            tiles[str(tile)] = {"at": "path"}
    return tiles


def _on_tiles(tiles: Json, player: int) -> int:
    return sum(tile.get("owner") == player for tile in tiles.values())


def _filled(given: Json, on_tiles: int) -> Json:
    elsewhere = sum(given["active"]) + sum(given["inactive"]) + given["landing"] + on_tiles
    supply = NOVICES - elsewhere if given["supply"] is None else given["supply"]
    assert supply >= 0, f"more than {NOVICES} novices"
    return given | {"supply": supply}


def _council(players: int, start_player: int, council: Mapping[int, Sequence[int]] | None, seats: int) -> list[Any]:
    stacks = {0: [(start_player + i) % players for i in range(players)]} if council is None else council
    assert sorted(piece for stack in stacks.values() for piece in stack) == list(range(players)), "one piece each"
    return [list(stacks.get(i, ())) for i in range(seats)]
