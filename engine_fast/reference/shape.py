"""Whether a JSON value has the form of a position (rules, section 8): keys, types, ranges and the order of lists.

Each function yields problems, sentences for the user. Only when there is none can the value be read as a position and
`validity` ask what it means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from .model import (
    BOOK_KEYS,
    KINDS,
    PHASES,
    PLAYER_COUNTS,
    POSITION_KEYS,
    ROUNDS,
    SEAT_KEYS,
    SOURCES,
    VOYAGE_KEYS,
    in_kind_order,
)
from .notation import STEP_NUMBERS
from .sheet import Rules


def shape_problems(rules: Rules, data: Any) -> list[str]:
    """What is wrong with the form of `data`; empty when it can be read."""
    problems = list(key_problems("position", data, POSITION_KEYS))
    if not problems:
        problems = list(one_of("players", data["players"], PLAYER_COUNTS))
    if not problems:
        problems = [
            *turn_shape(rules, data), *isle_shape(data), *board_shape(rules, data), *council_shape(rules, data),
            *seats_shape(data),
        ]  # fmt: skip
    if not problems:
        problems = [*tiles_shape(rules, data), *pending_shape(data["pending"])]
    return problems


def is_int(value: Any) -> bool:
    """True for an integer; a boolean is none."""
    return type(value) is int


def key_problems(what: str, value: Any, keys: Collection[str]) -> Iterator[str]:
    """`value` must be a map with exactly these keys."""
    if not isinstance(value, dict):
        yield f"{what}: {value!r} is no map"
        return
    for key in keys:
        if key not in value:
            yield f"{what}: the key {key!r} is missing"
    for key in value:
        if key not in keys:
            yield f"{what}: unknown key {key!r}; the keys are {', '.join(keys)}"


def in_range(what: str, value: Any, low: int, high: int | None = None) -> Iterator[str]:
    """`value` must be an integer from `low` to `high` (no upper limit: None)."""
    if not is_int(value) or value < low or (high is not None and value > high):
        yield f"{what}: {value!r} is no integer {f'from {low} to {high}' if high is not None else f'of at least {low}'}"


def one_of(what: str, value: Any, allowed: Collection[Any]) -> Iterator[str]:
    """`value` must be one of these words or integers, of the same type."""
    if not any(type(value) is type(item) and value == item for item in allowed):
        yield f"{what}: {value!r} is none of {', '.join(str(item) for item in allowed)}"


def seven_counts(what: str, value: Any) -> Iterator[str]:
    """`value` must be a list of seven counts, one for each kind."""
    if not isinstance(value, list) or len(value) != len(KINDS):
        yield f"{what}: {value!r} is no list of {len(KINDS)} counts"
        return
    for kind, count in zip(KINDS, value, strict=True):
        yield from in_range(f"{what} on {kind}", count, 0)


def turn_shape(rules: Rules, data: dict[str, Any]) -> Iterator[str]:
    """Round, phase, players by seat, Time tokens, actions, `book_bonus`."""
    players = data["players"]
    yield from in_range("round", data["round"], 1, ROUNDS)
    yield from one_of("phase", data["phase"], PHASES)
    yield from in_range("start_player", data["start_player"], 0, players - 1)
    if data["to_move"] is not None:
        yield from in_range("to_move", data["to_move"], 0, players - 1)
    yield from in_range("time_tokens", data["time_tokens"], 0, rules.time_tokens(players))
    yield from in_range("actions", data["actions"], 0, rules.most_actions(players))
    yield from one_of("book_bonus", data["book_bonus"], (True, False))


def isle_shape(data: dict[str, Any]) -> Iterator[str]:
    """The ring, a permutation of the kinds, and the isles of the figures."""
    ring = data["ring"]
    if not isinstance(ring, list) or len(ring) != len(KINDS) or any(kind not in ring for kind in KINDS):
        yield f"ring: {ring!r} is no list of the seven kinds {', '.join(KINDS)}"
    for figure in ("priestess", "builder", "apostate"):
        yield from one_of(figure, data[figure], KINDS)


def board_shape(rules: Rules, data: dict[str, Any]) -> Iterator[str]:
    """Section 2: an ordered choice of N boards."""
    boards = data["boards"]
    if not isinstance(boards, list) or len(boards) != data["players"]:
        yield f"boards: {boards!r} is no list of one board a player"
        return
    for board in boards:
        yield from in_range("boards", board, 0, len(rules.sheet["temple"]["boards"]) - 1)
    if any(boards.count(board) > 1 for board in boards):
        yield f"boards: {boards!r} names a board twice"


def council_shape(rules: Rules, data: dict[str, Any]) -> Iterator[str]:
    """For each seat of the sheet a list of pieces; every player has one piece."""
    council = data["council"]
    seats = rules.last_council_seat() + 1
    if not isinstance(council, list) or len(council) != seats or not all(isinstance(stack, list) for stack in council):
        yield f"council: {council!r} is no list of {seats} lists of pieces, one for each seat of the sheet"
        return
    pieces = [piece for stack in council for piece in stack]
    players = list(range(data["players"]))
    if not all(is_int(piece) for piece in pieces) or sorted(pieces) != players:
        yield f"council: the pieces are {pieces!r}, but each of the players {players!r} has exactly one"


def seats_shape(data: dict[str, Any]) -> Iterator[str]:
    """One well-formed seat for each player."""
    seats = data["seats"]
    if not isinstance(seats, list) or len(seats) != data["players"]:
        yield "seats: must be a list of one map for each player"
        return
    for player, seat in enumerate(seats):
        problems = list(key_problems(f"seat {player}", seat, SEAT_KEYS))
        yield from problems or seat_shape(f"seat {player}", seat)


def seat_shape(what: str, seat: dict[str, Any]) -> Iterator[str]:
    """Influence (any integer), counts, and lists in kind order without repetition."""
    if not is_int(seat["influence"]):
        yield f"{what}, influence: {seat['influence']!r} is no integer"
    yield from seven_counts(f"{what}, active", seat["active"])
    yield from seven_counts(f"{what}, inactive", seat["inactive"])
    yield from in_range(f"{what}, landing", seat["landing"], 0)
    yield from in_range(f"{what}, supply", seat["supply"], 0)
    for key in ("shrines", "favors"):
        if not isinstance(seat[key], list) or seat[key] != in_kind_order(seat[key]):
            yield f"{what}, {key}: {seat[key]!r} is no list of different kinds in the order {', '.join(KINDS)}"


def tiles_shape(rules: Rules, data: dict[str, Any]) -> Iterator[str]:
    """Section 2.2: exactly the tiles of the chosen boards; `data` is well-formed otherwise."""
    expected = [str(tile) for tile in rules.temple(tuple(data["boards"])).tiles]
    tiles = data["tiles"]
    problems = list(key_problems("tiles", tiles, expected))
    yield from problems
    if problems:
        return
    for number in expected:
        yield from tile_shape(f"tile {number}", tiles[number], data["players"])


def tile_shape(what: str, tile: Any, players: int) -> Iterator[str]:
    """One of the three forms of section 8; `book` only where it is true."""
    at = tile.get("at") if isinstance(tile, dict) else None
    if at not in ("path", "claimed", "temple"):
        yield f"{what}: {tile!r} lies neither on 'path' nor is 'claimed' nor in the 'temple'"
        return
    keys = ["at"] if at == "path" else ["at", "owner"]
    required = {key: value for key, value in tile.items() if (at, key) != ("temple", "book")}
    problems = list(key_problems(what, required, keys))
    yield from problems
    if not problems and at != "path" and not (at == "temple" and tile["owner"] is None):
        yield from in_range(f"{what}, owner", tile["owner"], 0, players - 1)
    if at == "temple" and "book" in tile and tile["book"] is not True:
        yield f"{what}: book is {tile['book']!r}, but the key stands only where a Book lies, and is true"


def pending_shape(pending: Any) -> Iterator[str]:
    """null, a Book in hand, or a Journey or Tide."""
    if pending is None:
        return
    if not isinstance(pending, dict) or pending.get("action") not in ("book", "journey", "tide"):
        yield f"pending: {pending!r} is neither null nor a 'book', 'journey' or 'tide'"
        return
    problems = list(key_problems("pending", pending, BOOK_KEYS if pending["action"] == "book" else VOYAGE_KEYS))
    if problems:
        yield from problems
    elif pending["action"] == "book":
        yield from in_range("pending, from", pending["from"], 1)
    else:
        yield from voyage_shape(pending)


def voyage_shape(pending: dict[str, Any]) -> Iterator[str]:
    """The numbers of a Journey or Tide; `last` is a source when lifting, a kind when landing."""
    yield from one_of("pending, stage", pending["stage"], ("lift", "land"))
    yield from seven_counts("pending, lifted", pending["lifted"])
    yield from seven_counts("pending, landed", pending["landed"])
    yield from in_range("pending, landing_lifted", pending["landing_lifted"], 0)
    yield from in_range("pending, hand", pending["hand"], 1)
    any_source = pending["action"] == "tide" and pending["stage"] == "lift"
    yield from in_range("pending, last", pending["last"], 0, len(SOURCES if any_source else KINDS) - 1)
    yield from one_of("pending, last_n", pending["last_n"], STEP_NUMBERS)
