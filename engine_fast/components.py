"""Component sheets: the numbers printed on the components of Luna, as data, checked when loaded.

`docs/RULES.md` is the game, a sheet its components (sections 1 and 2); section 9 says how sheets extend each other and
how the SHA-256 of a sheet is made. Standard library and PyYAML only, so that a sheet can be read without the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from engine_fast.kinds import FIGURES, KINDS, NUM_TILES
from engine_fast.sheet_fields import SheetField
from engine_fast.sheet_yaml import SheetError, canonical_json, packaged_sheets, read_sheet, values_at, with_text_keys

__all__ = ["KINDS", "LIMITS", "NUM_TILES", "Sheet", "SheetError", "check_sheet", "load_sheet", "packaged_sheets"]

PLAYER_COUNTS = (2, 3, 4)
NUM_BOARDS = 4
SPACES_PER_BOARD = 7
KNOWN = ("rules", "source", "assumed")

LIMITS = {
    "starting_influence": (0, 1000),  # influence is kept in 16 bits; a handicap comes on top
    "novices": (9, 13),  # 8 on the isles and 1 in the Temple at the start; Council and Expulsion name at most 13
    "shrines": (1, 7),  # one is placed at the start; an isle holds one of a player
    "influence": (0, 100),  # guard_values, points, council, end_influence: six rounds of them stay within 16 bits
    "time_tokens": (1, 15),  # 4 bits
    "move": (0, 20),  # only the remainder by 7 matters
    "council": (2, 16),  # number of seats: 4 bits
    "space_xy": (-100, 100),  # also slot_shift
}
"""Smallest and largest value of every number of a sheet: what the fields of a position can hold."""

_STEPS = ((0, 2), (1, 1), (1, -1))
"""Neighbours in "doubled" hex coordinates, up to sign."""


@dataclass(frozen=True)
class MoonPriestess:
    """Her figure for a number of players: isles per move, influence of places 1, 2, 3."""

    move: int
    points: tuple[int, int, int]


@dataclass(frozen=True)
class MasterBuilder:
    """The figure: isles per move."""

    move: int


@dataclass(frozen=True)
class EndInfluence:
    """Influence at the end of the game, for each shrine on the isles and each unused favor token."""

    shrine: int
    favor: int


@dataclass(frozen=True)
class Tile:
    """A Temple tile and the space with its number."""

    tile: int
    symbol: str


@dataclass(frozen=True)
class Temple:
    """Geometry of a board in slot 0, the shift from slot to slot, and what lies on the spaces of each board."""

    space_xy: tuple[tuple[int, int], ...]
    slot_shift: tuple[int, int]
    boards: tuple[tuple[Tile, ...], ...]


@dataclass(frozen=True)
class PreselectedSeat:
    """A player's isles in the preselected set-up: the one of his shrine, four with two novices each."""

    shrine: str
    novices: tuple[str, str, str, str]


@dataclass(frozen=True)
class Preselected:
    """The preselected set-up: ring clockwise, isle of each figure, four lines of pieces."""

    ring: tuple[str, ...]
    figures: Mapping[str, str]
    seats: tuple[PreselectedSeat, ...]


@dataclass(frozen=True, eq=False)
class Sheet:
    """A checked component sheet; made by `load_sheet` or `check_sheet`. Equal are sheets with the same SHA-256.

    The attributes are the keys of the YAML file. `time_tokens` and `moon_priestess` are by number of players.
    `known` tells for a path such as `moon_priestess.move` whether the value is stated in the `rules`, by one
    independent `source`, or `assumed`.
    """

    name: str
    starting_influence: int
    novices: int
    shrines: int
    guard_values: tuple[int, ...]
    time_tokens: Mapping[int, int]
    moon_priestess: Mapping[int, MoonPriestess]
    master_builder: MasterBuilder
    council: tuple[int, ...]
    end_influence: EndInfluence
    temple: Temple
    preselected: Preselected
    known: Mapping[str, str] = field(repr=False)
    canonical: str = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        """Hex digest that identifies the numbers of the sheet (section 9)."""
        return hashlib.sha256(self.canonical.encode("ascii")).hexdigest()

    @property
    def resolved(self) -> dict[str, Any]:
        """A fresh plain mapping of the sheet, all keys text, without `known` and `extends`."""
        mapping: dict[str, Any] = json.loads(self.canonical)
        return mapping

    def __eq__(self, other: object) -> bool:
        """Whether the other sheet has the same numbers and name."""
        return self.canonical == other.canonical if isinstance(other, Sheet) else NotImplemented

    def __hash__(self) -> int:
        """Hash of the numbers and the name."""
        return hash(self.canonical)

    def how_known(self, path: str) -> str | None:
        """How the value at a path such as `council` is known; None where the sheet does not say."""
        while path and path not in self.known:
            path = path.rpartition(".")[0]
        return self.known.get(path)

    def coordinates(self, order: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Doubled hex coordinates of each tile when the boards of `order` lie in slots 0, 1, ...

        Raises:
            ValueError: `order` is not 1 to 4 different board indices.
        """
        if len(set(order)) != len(order) or not order or not set(order) <= set(range(NUM_BOARDS)):
            raise ValueError(f"board order {list(order)} is not 1 to 4 different numbers from 0 to 3")
        return {
            space.tile: xy
            for slot, board in enumerate(order)
            for space, xy in zip(self.temple.boards[board], _shifted(self.temple, slot), strict=True)
        }

    def neighbours(self, order: Sequence[int]) -> dict[int, frozenset[int]]:
        """The adjacent tiles of each tile when the boards of `order` lie in slots 0, 1, ... (errors as above)."""
        places = self.coordinates(order)
        tile_at = {xy: tile for tile, xy in places.items()}
        steps = [(sign * dx, sign * dy) for dx, dy in _STEPS for sign in (1, -1)]
        return {
            tile: frozenset(tile_at[x + dx, y + dy] for dx, dy in steps if (x + dx, y + dy) in tile_at)
            for tile, (x, y) in places.items()
        }


def load_sheet(components: str | Path | Sheet) -> Sheet:
    """The sheet of a packaged name or of the path of a YAML file, read anew; a `Sheet` is returned as it is.

    Raises:
        SheetError: the file cannot be read, or a value is not allowed; one line that names it.
    """
    if isinstance(components, Sheet):
        return components
    name = str(components)
    return _packaged_sheet(name) if name in packaged_sheets() else check_sheet(read_sheet(name))


@lru_cache
def _packaged_sheet(name: str) -> Sheet:
    return check_sheet(read_sheet(name))


def check_sheet(mapping: Mapping[Any, Any]) -> Sheet:
    """The sheet of a mapping without `extends`; keys may be numbers or their decimal text.

    Raises:
        SheetError: a key is missing or unknown, a value is not allowed, or values contradict each other.
    """
    mapping = with_text_keys(mapping, "component sheet")
    name = _name(SheetField("?", "name", mapping.get("name")))
    keys = ["name", *_READERS]
    fields = SheetField(name, "", mapping).entries(keys, optional=["known"])
    values = {key: read(fields[key]) for key, read in _READERS.items()}
    known = _known(fields.get("known", SheetField(name, "known", {})), mapping)
    return Sheet(name=name, known=known, canonical=canonical_json(mapping), **values)


def _name(name: SheetField) -> str:
    if not isinstance(name.value, str) or not name.value.strip() or not name.value.isprintable():
        name.fail(f"{name.value!r} is not a printable text")
    return name.value


def _starting_influence(amount: SheetField) -> int:
    return amount.integer(*LIMITS["starting_influence"])


def _novices(count: SheetField) -> int:
    return count.integer(*LIMITS["novices"])


def _shrines(count: SheetField) -> int:
    return count.integer(*LIMITS["shrines"])


def _guard_values(values: SheetField) -> tuple[int, ...]:
    return values.integers(*LIMITS["influence"], count=6)


def _by_players(field_: SheetField) -> dict[int, SheetField]:
    entries = field_.entries([str(players) for players in PLAYER_COUNTS])
    return {players: entries[str(players)] for players in PLAYER_COUNTS}


def _time_tokens(tokens: SheetField) -> dict[int, int]:
    return {players: count.integer(*LIMITS["time_tokens"]) for players, count in _by_players(tokens).items()}


def _moon_priestess(figures: SheetField) -> dict[int, MoonPriestess]:
    return {players: _moon_priestess_figure(figure) for players, figure in _by_players(figures).items()}


def _moon_priestess_figure(figure: SheetField) -> MoonPriestess:
    entries = figure.entries(["move", "points"])
    first, second, third = entries["points"].integers(*LIMITS["influence"], count=3)
    return MoonPriestess(entries["move"].integer(*LIMITS["move"]), (first, second, third))


def _master_builder(figure: SheetField) -> MasterBuilder:
    return MasterBuilder(figure.entries(["move"])["move"].integer(*LIMITS["move"]))


def _council(values: SheetField) -> tuple[int, ...]:
    fewest, most = LIMITS["council"]
    return values.integers(*LIMITS["influence"], count=fewest, most=most)


def _end_influence(values: SheetField) -> EndInfluence:
    entries = values.entries(["shrine", "favor"])
    return EndInfluence(**{key: entries[key].integer(*LIMITS["influence"]) for key in ("shrine", "favor")})


def _temple(temple: SheetField) -> Temple:
    entries = temple.entries(["space_xy", "slot_shift", "boards"])
    spaces = tuple(_pair(space) for space in entries["space_xy"].items(SPACES_PER_BOARD))
    checked = Temple(spaces, _pair(entries["slot_shift"]), _boards(entries["boards"]))
    _check_grid(entries, checked)
    _check_places(entries, checked)
    return checked


def _pair(pair: SheetField) -> tuple[int, int]:
    x, y = pair.integers(*LIMITS["space_xy"], count=2)
    return x, y


def _boards(boards: SheetField) -> tuple[tuple[Tile, ...], ...]:
    checked = tuple(_board(board) for board in boards.items(NUM_BOARDS))
    _check_tiles(boards, checked)
    for board, tiles in zip(boards.items(NUM_BOARDS), checked, strict=True):
        low = [tile.tile for tile in tiles if tile.tile <= NUM_BOARDS]
        if len(low) != 1:
            board.fail(f"holds {len(low)} of the tiles 1 to 4; allowed: exactly one of them on each board")
    return checked


def _check_tiles(boards: SheetField, checked: tuple[tuple[Tile, ...], ...]) -> None:
    """Each tile once; with as many spaces as tiles, a tile is missing only where another lies twice."""
    missing = sorted(set(range(1, NUM_TILES + 1)) - {tile.tile for board in checked for tile in board})
    seen: dict[int, str] = {}
    for board, tiles in zip(boards.items(NUM_BOARDS), checked, strict=True):
        for space, tile in zip(board.items(SPACES_PER_BOARD), tiles, strict=True):
            if tile.tile in seen:
                twice = f"tile {tile.tile} lies on {seen[tile.tile]} too, tile {missing[0]} nowhere"
                space.entry("tile").fail(f"{twice}; allowed: each of 1 to {NUM_TILES} once")
            seen[tile.tile] = space.path


def _board(board: SheetField) -> tuple[Tile, ...]:
    spaces = [space.entries(["tile", "symbol"]) for space in board.items(SPACES_PER_BOARD)]
    return tuple(Tile(space["tile"].integer(1, NUM_TILES), space["symbol"].choice(KINDS)) for space in spaces)


def _check_grid(entries: Mapping[str, SheetField], temple: Temple) -> None:
    """In doubled coordinates all spaces of a grid have the same parity of x + y."""
    parity = sum(temple.space_xy[0]) % 2
    for space in entries["space_xy"].items(SPACES_PER_BOARD):
        if sum(space.value) % 2 != parity:
            space.fail(f"{space.value} is not on the grid of the first space: x + y must be {('even', 'odd')[parity]}")
    if temple.slot_shift == (0, 0) or sum(temple.slot_shift) % 2:
        entries["slot_shift"].fail(
            f"{list(temple.slot_shift)} is not a shift on the grid: x + y must be even, not both 0"
        )


def _check_places(entries: Mapping[str, SheetField], temple: Temple) -> None:
    """No two spaces of one or of different slots lie at the same place."""
    spaces = [(slot, i, xy) for slot in range(NUM_BOARDS) for i, xy in enumerate(_shifted(temple, slot))]
    for (slot, i, place), (other_slot, j, other_place) in combinations(spaces, 2):
        if place == other_place:
            at_fault = entries["space_xy"] if slot == other_slot else entries["slot_shift"]
            at_fault.fail(
                f"two spaces at one place {list(place)}: space {i} of slot {slot} and space {j} of slot {other_slot}"
            )


def _shifted(temple: Temple, slot: int) -> list[tuple[int, int]]:
    dx, dy = temple.slot_shift
    return [(x + slot * dx, y + slot * dy) for x, y in temple.space_xy]


def _preselected(setup: SheetField) -> Preselected:
    entries = setup.entries(["ring", "figures", "seats"])
    ring = tuple(isle.choice(KINDS) for isle in entries["ring"].items(len(KINDS)))
    if set(ring) != set(KINDS):
        missing = [kind for kind in KINDS if kind not in ring]
        entries["ring"].fail(f"not every kind of isle once; missing: {', '.join(missing)}")
    figures = {name: isle.choice(KINDS) for name, isle in entries["figures"].entries(FIGURES).items()}
    return Preselected(ring, figures, _preselected_seats(entries["seats"]))


def _preselected_seats(seats: SheetField) -> tuple[PreselectedSeat, ...]:
    checked = []
    shrines: list[str] = []
    for seat in seats.items(4):
        entries = seat.entries(["shrine", "novices"])
        shrine = entries["shrine"].choice([kind for kind in KINDS if kind not in shrines])  # one shrine on an isle
        shrines.append(shrine)
        free = [kind for kind in KINDS if kind != shrine]
        isles = []
        for isle in entries["novices"].items(4):
            isles.append(isle.choice(free))
            free.remove(isles[-1])
        checked.append(PreselectedSeat(shrine, (isles[0], isles[1], isles[2], isles[3])))
    return tuple(checked)


def _known(known: SheetField, mapping: Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(known.value, Mapping):
        known.fail(f"{known.value!r} is not a map from fields to {', '.join(KNOWN)}")
    for path in known.value:
        if not values_at(mapping, path) or path.split(".")[0] not in _READERS:
            known.entry(path).fail(f"no such field; allowed: {', '.join(_READERS)}, and the keys below them")
    return {path: known.entry(path).choice(KNOWN) for path in known.value}


_READERS: dict[str, Callable[[SheetField], Any]] = {
    "starting_influence": _starting_influence,
    "novices": _novices,
    "shrines": _shrines,
    "guard_values": _guard_values,
    "time_tokens": _time_tokens,
    "moon_priestess": _moon_priestess,
    "master_builder": _master_builder,
    "council": _council,
    "end_influence": _end_influence,
    "temple": _temple,
    "preselected": _preselected,
}
"""The fields of a sheet besides `name` and `known`, and what reads them."""
