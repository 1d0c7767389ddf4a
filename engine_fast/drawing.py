"""A position as plain text: isles in ring order, seats, Temple, path and Council."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine_fast.kinds import FIGURES, KINDS

FIGURE_NAMES = dict(zip(FIGURES, ("Moon Priestess", "Master Builder", "Apostate"), strict=True))


def draw(position: Mapping[str, Any]) -> str:
    """The board of a canonical position (RULES.md section 8) as lines of text.

    A seat's pieces on an isle are written `active+inactive`, with `S` for a shrine: `2+1S`.
    """
    lines = [_headline(position), "", *_isles(position), "", *_seats(position), "", *_temple(position)]
    if position["pending"]:
        lines += ["", "unfinished: " + ", ".join(f"{key} {value}" for key, value in position["pending"].items())]
    return "\n".join(lines)


def _headline(position: Mapping[str, Any]) -> str:
    turn = "game over" if position["to_move"] is None else f"seat {position['to_move']} to decide"
    tokens = f"{position['time_tokens']} Time tokens left"
    return f"Luna, {position['players']} players, round {position['round']}, {position['phase']}: {turn}, {tokens}"


def _pieces(seat: Mapping[str, Any], kind: str) -> str:
    index = KINDS.index(kind)
    active, inactive = seat["active"][index], seat["inactive"][index]
    novices = f"{active}+{inactive}" if active or inactive else ""
    return novices + ("S" if kind in seat["shrines"] else "") or "."


def _isles(position: Mapping[str, Any]) -> list[str]:
    seats = position["seats"]
    lines = ["isle      " + "".join(f"seat {seat:<5}" for seat in range(len(seats)))]
    for kind in position["ring"]:
        here = [name for figure, name in FIGURE_NAMES.items() if position[figure] == kind]
        cells = "".join(f"{_pieces(seat, kind):<10}" for seat in seats)
        lines.append(f"{kind:<10}{cells}{', '.join(here)}".rstrip())
    return lines


def _seats(position: Mapping[str, Any]) -> list[str]:
    lines = []
    for index, seat in enumerate(position["seats"]):
        favors = ", ".join(seat["favors"]) or "none"
        start = " (start player)" if index == position["start_player"] else ""
        stock = f"{seat['supply']} in supply, {seat['landing']} on the landing stage"
        lines.append(f"seat {index}{start}: {seat['influence']} influence, {stock}, favors: {favors}")
    council = [f"{at}: {' '.join(map(str, stack))}" for at, stack in enumerate(position["council"]) if stack]
    return [*lines, "Council (seat: pieces bottom to top): " + "; ".join(council)]


def _temple(position: Mapping[str, Any]) -> list[str]:
    tiles = position["tiles"]
    path = [tile for tile, entry in tiles.items() if entry["at"] == "path"]
    claimed = [f"{tile} by {entry['owner']}" for tile, entry in tiles.items() if entry["at"] == "claimed"]
    temple = [_space(tile, entry) for tile, entry in tiles.items() if entry["at"] == "temple"]
    return [
        "path: " + (" ".join(path) or "empty"),
        "claimed: " + (", ".join(claimed) or "none"),
        "Temple: " + (", ".join(temple) or "empty"),
    ]


def _space(tile: str, entry: Mapping[str, Any]) -> str:
    owner = "" if entry["owner"] is None else f" of {entry['owner']}"
    return tile + owner + (" with Book" if "book" in entry else "")
