"""THE rules table: everything that a component sheet and a rule set tell the kernels, as one `uint64[:]`.

Kernels hold no printed number and no option: they read them here, through accessors made from `ROWS`. Tables of tile
sets are worked out per ordered choice of Temple boards (`layout.BOARD_ORDERS`), so that a kernel finds what can be
approved, bribed or displaced with one look.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.components import Sheet
from engine_fast.jit import inline
from engine_fast.kinds import FIGURES, KINDS, NUM_KINDS, NUM_TILES
from engine_fast.layout import (
    BOARD_ORDERS,
    INFLUENCE_BIAS,
    MAX_PLAYERS,
    NUM_ROUNDS,
)
from engine_fast.ruleset import RuleSet

NUM_ORDERS = len(BOARD_ORDERS)
BY_PLAYERS = MAX_PLAYERS + 1
ALL = (1 << 64) - 1
START_TILES = range(1, 5)


@dataclass(frozen=True)
class Row:
    """A named block of the table with its shape (a scalar has the shape ())."""

    name: str
    shape: tuple[int, ...]
    meaning: str

    @property
    def size(self) -> int:
        """Number of words."""
        return int(np.prod(self.shape, dtype=int))


# fmt: off
ROWS = (
    Row("usable", (NUM_ORDERS, NUM_ROUNDS, 2), "tiles approved, or bribable too, by order, round - 1, bribery"),
    Row("lower_neighbours", (NUM_ORDERS, NUM_TILES), "spaces adjacent to tile - 1 that have a lower number"),
    Row("tiles_in_play", (NUM_ORDERS,), "all tiles of the chosen boards"),
    Row("symbol_tiles", (1 << NUM_KINDS,), "tiles whose symbol is in a set of isle kinds"),
    Row("tile_symbol", (NUM_TILES,), "isle kind of the symbol of tile - 1"),
    Row("guard_value", (NUM_ROUNDS,), "value of the Guard tile, by round - 1"),
    Row("time_tokens_of", (BY_PLAYERS,), "Time tokens by number of players"),
    Row("action_cap", (BY_PLAYERS,), "actions after which an action phase ends, by number of players"),
    Row("priestess_points", (BY_PLAYERS, 3), "places 1, 2, 3 on the Moon Priestess's isle, by number of players"),
    Row("priestess_move", (BY_PLAYERS,), "isles that the Moon Priestess moves, by number of players"),
    Row("builder_move", (), "isles that the Master Builder moves"),
    Row("council_value", (16,), "influence of a Council seat at the end"),
    Row("council_last", (), "index of the last Council seat"),
    Row("shrine_value", (), "influence of a shrine at the end"),
    Row("favor_value", (), "influence of a favor token at the end"),
    Row("start_influence", (), "influence at the start"),
    Row("start_novices", (), "novices of a player"),
    Row("start_shrines", (), "shrines of a player"),
    Row("floor", (), "INFLUENCE_BIAS + influence_floor; 0 where there is none"),
    Row("virtual_alone", (), "option, all bits 1 = allowed"),
    Row("virtual_promotion", (), "option, all bits 1 = allowed"),
    Row("council_overshoot", (), "option, all bits 1 = allowed"),
    Row("book_same_space", (), "option, all bits 1 = allowed"),
    Row("same_isle_moves", (), "option, all bits 1 = allowed"),
    Row("online_start", (), "rule set online: two players, the opponent of the one who turned the last token starts"),
    Row("preselected_ring", (NUM_KINDS,), "isle kinds clockwise"),
    Row("preselected_figure", (3,), "isle kinds of Moon Priestess, Master Builder, Apostate"),
    Row("preselected_shrine", (MAX_PLAYERS,), "isle kind of the shrine, by seat"),
    Row("preselected_novices", (MAX_PLAYERS,), "set of isle kinds with two novices, by seat"),
)
# fmt: on

OFFSET = {row.name: sum(before.size for before in ROWS[:index]) for index, row in enumerate(ROWS)}
TABLE_SIZE = sum(row.size for row in ROWS)
_ROW = {row.name: row for row in ROWS}


def reader(name: str) -> Any:
    """The generated accessor of a row: `read(rules, *indices)`, indices and result `uint64`."""
    shape, base = _ROW[name].shape, np.uint64(OFFSET[name])
    if len(shape) == 0:
        return inline(lambda rules: rules[base])
    if len(shape) == 1:
        return inline(lambda rules, i: rules[base + i])
    inner = np.uint64(shape[-1])
    if len(shape) == 2:
        return inline(lambda rules, i, j: rules[base + i * inner + j])
    middle = np.uint64(shape[1])
    return inline(lambda rules, i, j, k: rules[base + (i * middle + j) * inner + k])


usable = reader("usable")
lower_neighbours = reader("lower_neighbours")
tiles_in_play = reader("tiles_in_play")
symbol_tiles = reader("symbol_tiles")
tile_symbol = reader("tile_symbol")
guard_value = reader("guard_value")
time_tokens_of = reader("time_tokens_of")
action_cap = reader("action_cap")
priestess_points = reader("priestess_points")
priestess_move = reader("priestess_move")
builder_move = reader("builder_move")
council_value = reader("council_value")
council_last = reader("council_last")
shrine_value = reader("shrine_value")
favor_value = reader("favor_value")
start_influence = reader("start_influence")
start_novices = reader("start_novices")
start_shrines = reader("start_shrines")
floor = reader("floor")
virtual_alone = reader("virtual_alone")
virtual_promotion = reader("virtual_promotion")
council_overshoot = reader("council_overshoot")
book_same_space = reader("book_same_space")
same_isle_moves = reader("same_isle_moves")
online_start = reader("online_start")
preselected_ring = reader("preselected_ring")
preselected_figure = reader("preselected_figure")
preselected_shrine = reader("preselected_shrine")
preselected_novices = reader("preselected_novices")


def tile_mask(tiles: Any) -> int:
    """Bit set (bit tile - 1) of a collection of tile numbers."""
    return sum(1 << (tile - 1) for tile in tiles)


def batches(sheet: Sheet, order: tuple[int, ...]) -> list[list[int]]:
    """The six batches of path tiles for the chosen boards, from landing stage to Temple Gate (RULES.md section 2)."""
    boards = sheet.resolved["temple"]["boards"]
    tiles = sorted(space["tile"] for board in order for space in boards[board])
    on_path = [tile for tile in tiles if tile not in START_TILES]
    size = len(order)
    return [on_path[first : first + size] for first in range(0, len(on_path), size)]


def _usable(sheet: Sheet, order: tuple[int, ...]) -> list[list[int]]:
    """By round - 1: tiles of batches 0 ... r-1 (approved), and of batches 0 ... r (bribable too)."""
    masks = [tile_mask(batch) for batch in batches(sheet, order)]
    return [[sum(masks[: r + 1]), sum(masks[: r + 2])] for r in range(NUM_ROUNDS)]


def _lower_neighbours(sheet: Sheet, order: tuple[int, ...]) -> list[int]:
    neighbours = sheet.neighbours(order)
    return [tile_mask(other for other in neighbours.get(tile, ()) if other < tile) for tile in range(1, NUM_TILES + 1)]


def _symbol_tiles(sheet: Sheet) -> list[int]:
    spaces = [space for board in sheet.resolved["temple"]["boards"] for space in board]
    by_kind = [tile_mask(s["tile"] for s in spaces if s["symbol"] == kind) for kind in KINDS]
    return [sum(by_kind[k] for k in range(NUM_KINDS) if kinds >> k & 1) for kinds in range(1 << NUM_KINDS)]


def _tile_symbol(sheet: Sheet) -> list[int]:
    spaces = [space for board in sheet.resolved["temple"]["boards"] for space in board]
    return [KINDS.index(space["symbol"]) for space in sorted(spaces, key=lambda space: space["tile"])]


def _by_players(values: dict[int, Any], absent: Any) -> list[Any]:
    return [values.get(n, absent) for n in range(BY_PLAYERS)]


def _flag(value: bool) -> int:
    return ALL if value else 0


def _sheet_rows(sheet: Sheet) -> dict[str, Any]:
    numbers = sheet.resolved
    figures = {int(n): figure for n, figure in numbers["moon_priestess"].items()}
    council = numbers["council"]
    return {
        "usable": [_usable(sheet, order) for order in BOARD_ORDERS],
        "lower_neighbours": [_lower_neighbours(sheet, order) for order in BOARD_ORDERS],
        "tiles_in_play": [
            tile_mask(s["tile"] for b in order for s in numbers["temple"]["boards"][b]) for order in BOARD_ORDERS
        ],
        "symbol_tiles": _symbol_tiles(sheet),
        "tile_symbol": _tile_symbol(sheet),
        "guard_value": numbers["guard_values"],
        "time_tokens_of": _by_players({int(n): t for n, t in numbers["time_tokens"].items()}, 0),
        "priestess_points": _by_players({n: figure["points"] for n, figure in figures.items()}, [0, 0, 0]),
        "priestess_move": _by_players({n: figure["move"] for n, figure in figures.items()}, 0),
        "builder_move": numbers["master_builder"]["move"],
        "council_value": council + [0] * (16 - len(council)),
        "council_last": len(council) - 1,
        "shrine_value": numbers["end_influence"]["shrine"],
        "favor_value": numbers["end_influence"]["favor"],
        "start_influence": numbers["starting_influence"],
        "start_novices": numbers["novices"],
        "start_shrines": numbers["shrines"],
    }


def _preselected_rows(sheet: Sheet) -> dict[str, Any]:
    preselected = sheet.resolved["preselected"]
    seats = preselected["seats"]
    return {
        "preselected_ring": [KINDS.index(kind) for kind in preselected["ring"]],
        "preselected_figure": [KINDS.index(preselected["figures"][figure]) for figure in FIGURES],
        "preselected_shrine": [KINDS.index(seat["shrine"]) for seat in seats],
        "preselected_novices": [sum(1 << KINDS.index(kind) for kind in seat["novices"]) for seat in seats],
    }


def _option_rows(ruleset: RuleSet) -> dict[str, Any]:
    floor_value = ruleset.influence_floor
    return {
        "action_cap": [ruleset.max_actions_per_player * n for n in range(BY_PLAYERS)],
        "floor": 0 if floor_value is None else INFLUENCE_BIAS + floor_value,
        "virtual_alone": _flag(ruleset.virtual_alone),
        "virtual_promotion": _flag(ruleset.virtual_promotion),
        "council_overshoot": _flag(ruleset.council_overshoot),
        "book_same_space": _flag(ruleset.book_same_space),
        "same_isle_moves": _flag(ruleset.same_isle_moves),
        "online_start": _flag(ruleset.name == "online"),
    }


@lru_cache(maxsize=64)
def build_rules(sheet: Sheet, ruleset: RuleSet) -> NDArray[np.uint64]:
    """The rules table of a checked sheet and rule set: read-only `uint64[TABLE_SIZE]`."""
    values = _sheet_rows(sheet) | _preselected_rows(sheet) | _option_rows(ruleset)
    table = np.empty(TABLE_SIZE, dtype=np.uint64)
    for row in ROWS:
        block = np.array(values[row.name], dtype=np.uint64)
        assert block.shape == row.shape, row.name
        table[OFFSET[row.name] : OFFSET[row.name] + row.size] = block.ravel()
    return table
