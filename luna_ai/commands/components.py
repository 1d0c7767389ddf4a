"""Shows a component sheet: its values, how each is known, and its Temple boards. A sheet of your own is checked.

A sheet of your own is a YAML file that says what it changes in another one:

    name: mine
    extends: reconstructed
    council: [0, 1, 2, 4, 6, 9, 12]

Examples:
    luna components rosette --board-order 2 0 1
    luna components mine.yaml --compare reconstructed
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from luna_ai.config import UserError, WritesJson, argument


@dataclass(frozen=True)
class Config(WritesJson):
    """Options of `luna components`."""

    sheet: str = argument("reconstructed", "packaged name or YAML file", positional=True, metavar="NAME|FILE")
    board_order: tuple[int, ...] = argument((0, 1, 2, 3), "Temple boards to draw, by slot", low=0, high=3)
    compare: str | None = argument(None, "show only the differences to this sheet", metavar="NAME|FILE")


def run(config: Config) -> int:
    """Prints the sheet, or its differences to another one."""
    from engine_fast.components import load_sheet
    from luna_ai import sheet_view
    from luna_ai.terminal import console

    if len(set(config.board_order)) != len(config.board_order):
        raise UserError(f"--board-order: {' '.join(map(str, config.board_order))} names a board twice")
    sheet = load_sheet(config.sheet)
    other = load_sheet(config.compare) if config.compare is not None else None
    screen = console()
    if other is not None:
        screen.print(sheet_view.differences_table(sheet, other))
    else:
        screen.print(sheet_view.sheet_table(sheet), sheet_view.draw_boards(sheet, config.board_order), sep="\n")
    if config.json is not None:
        config.json.write_text(json.dumps(sheet_view.report(sheet, other), indent=2) + "\n")
    return 0
