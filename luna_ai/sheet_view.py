"""What a person sees of a component sheet: its values, how each is known, the Temple boards, a comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from rich.table import Table
from rich.text import Text

from engine_fast.components import Sheet

BOARD_STYLES = ("cyan", "yellow", "green", "magenta")
CELL_WIDTH = 13
DRAWN = "temple.boards"
"""Drawn rather than listed."""


def flat_values(sheet: Sheet) -> dict[str, Any]:
    """Every value of the sheet except its name by its path, such as `temple.boards[0][3].tile`; plain lists whole."""
    values = sheet.resolved
    return {
        path: value
        for field in fields(Sheet)
        if field.name in values and field.name != "name"
        for path, value in _leaves(values[field.name], field.name)
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list) and path.startswith((DRAWN, "preselected.seats")) and not isinstance(value[0], str):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value


def how_known(sheet: Sheet, path: str) -> str:
    """How the value at a path of `flat_values` is known, `not said` where the sheet is silent."""
    return sheet.how_known(re.sub(r"\.\d+|\[\d+\]", "", path)) or "not said"


def sheet_table(sheet: Sheet) -> Table:
    """Value and source of knowledge of each field."""
    table = Table(title=f"component sheet {sheet.name}", caption=f"sha256 {sheet.sha256}")
    table.add_column("field", no_wrap=True)
    table.add_column("value")
    table.add_column("known", no_wrap=True)
    for path, value in flat_values(sheet).items():
        if not path.startswith(DRAWN):
            table.add_row(path, value_text(value), how_known(sheet, path))
    return table


def differences(one: Sheet, other: Sheet) -> dict[str, tuple[Any, Any]]:
    """The values in which two sheets differ, by path; None for a value that a sheet does not have."""
    left, right = flat_values(one), flat_values(other)
    paths = [*left, *(path for path in right if path not in left)]
    return {path: (left.get(path), right.get(path)) for path in paths if left.get(path) != right.get(path)}


def differences_table(one: Sheet, other: Sheet) -> Table:
    """`differences` side by side."""
    table = Table("field", one.name, other.name, title=f"{one.name} against {other.name}")
    for path, (left, right) in differences(one, other).items():
        table.add_row(path, value_text(left), value_text(right))
    return table


def value_text(value: Any) -> str:
    """A value of a sheet in a line."""
    if isinstance(value, list):
        pairs = any(isinstance(item, list) for item in value)
        return ("; " if pairs else " ").join(value_text(item) for item in value)
    return str(value)


def draw_boards(sheet: Sheet, order: Sequence[int]) -> Text:
    """The Temple boards of `order`, slot 0 (next to the Temple Gate) first: tile number and symbol of each space.

    A row holds the spaces with one first coordinate; neighbours stand side by side or half a cell apart in the next
    row. Stretches without a space are shortened.

    Raises:
        ValueError: `order` is not 1 to 4 different board indices.
    """
    drawing = Text("Temple Gate\n", style="bold")
    for cells in temple_rows(sheet, order):
        drawing.append(_row(sheet, order, cells))
        drawing.append("\n")
    for slot, board in enumerate(order):
        drawing.append(f"slot {slot}: board {board}   ", style=BOARD_STYLES[board])
    return drawing


def temple_rows(sheet: Sheet, order: Sequence[int]) -> list[list[tuple[int, int]]]:
    """The spaces of the boards as `draw_boards` places them: for each row its (column in half cells, tile), ascending.

    Raises:
        ValueError: `order` is not 1 to 4 different board indices.
    """
    places = sheet.coordinates(order)
    rows = _close_gaps({x for x, _ in places.values()}, most=2)
    columns = _close_gaps({y for _, y in places.values()}, most=3)
    return [
        sorted((columns[y], tile) for tile, (x, y) in places.items() if rows[x] == row)
        for row in range(max(rows.values()) + 1)
    ]


def _row(sheet: Sheet, order: Sequence[int], cells: Sequence[tuple[int, int]]) -> Text:
    """A line of (column, tile) cells."""
    on = {space.tile: (board, space.symbol) for board in order for space in sheet.temple.boards[board]}
    line = Text()
    for column, tile in cells:
        board, symbol = on[tile]
        line.append(" " * (column * CELL_WIDTH // 2 - len(line)))
        line.append(f"{tile:>2} {symbol}".ljust(CELL_WIDTH - 1), style=BOARD_STYLES[board])
    return line


def _close_gaps(values: set[int], most: int) -> dict[int, int]:
    """New places for the values from 0 on, in their order, neighbours at most `most` apart."""
    places: dict[int, int] = {}
    last, at = min(values), 0
    for value in sorted(values):
        at += min(value - last, most)
        places[value], last = at, value
    return places


def report(sheet: Sheet, other: Sheet | None = None) -> dict[str, Any]:
    """All that is shown of a sheet, and its differences to another, as plain data."""
    shown = {
        "name": sheet.name,
        "sha256": sheet.sha256,
        "known": {path: how_known(sheet, path) for path in flat_values(sheet)},
        "sheet": sheet.resolved,
    }
    if other is None:
        return shown
    changes = {path: {"this": this, "other": that} for path, (this, that) in differences(sheet, other).items()}
    return {**shown, "compared_with": other.name, "differences": changes}
