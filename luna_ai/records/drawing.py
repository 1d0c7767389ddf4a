"""A step of a game as it looks on the table, for the terminal (`rich`): isles, seats, Temple, path, Council, decision.

Every seat has a colour, and a number wherever seats could be mixed up, so that nothing is lost without colours. In the
console's encoding the signs are `●` active novice, `○` inactive novice, `▲` shrine, `■` Book, or ASCII stand-ins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from engine_fast.components import KINDS, Sheet
from luna_ai.records.verification import Step
from luna_ai.records.words import describe, voyage_words
from luna_ai.sheet_view import temple_rows

SEAT_STYLES = ("bright_red", "bright_cyan", "bright_green", "bright_yellow")
FIGURE_NAMES = {"priestess": "Priestess", "builder": "Builder", "apostate": "Apostate"}
START_TILES = 4
MOST_SIGNS = 4
"""More novices than these are a number and one sign."""
WIDE = 110
"""Console width from which on columns stand wide apart."""
PANEL = 4
"""Width of the frame and the space inside it."""
NAME, NARROW_NAME = 22, 13
"""Widths of the first column."""
CELL = 7
"""Width of a Temple space."""


@dataclass(frozen=True)
class Signs:
    """The characters of pieces."""

    active: str
    inactive: str
    shrine: str
    book: str
    token: str
    turned: str
    mover: str
    empty: str


UNICODE = Signs("●", "○", "▲", "■", "◆", "◇", "▶", "·")
ASCII = Signs("*", "o", "^", "#", "T", "-", ">", ".")


class StepDrawing:
    """A step as a renderable: `console.print(StepDrawing(step, before))`."""

    def __init__(self, step: Step, before: Mapping[str, Any] | None = None) -> None:
        """Takes the position before the step, if known, to show what was gained and lost."""
        self.step, self.before = step, before

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lays out the parts for the console's width and encoding."""
        signs = ASCII if options.ascii_only else UNICODE
        table = _Table(self.step, self.before, signs, gap=2 if options.max_width >= WIDE else 1)
        temple, path = table.temple(), table.path()
        side_by_side = _beside(temple, path)
        fits = Measurement.get(console, options, side_by_side).maximum + PANEL <= options.max_width
        lower = side_by_side if fits else Group(temple, Text(), path)
        parts: list[RenderableType] = [table.isles(), Text(), table.seats(), Text(), table.council(), Text(), lower]
        yield Panel(
            Group(table.decision(), Text(), *parts, table.legend()),
            title=table.title(),
            title_align="left",
            box=box.ASCII if options.ascii_only else box.ROUNDED,
        )


def _beside(left: RenderableType, right: RenderableType) -> Table:
    grid = Table.grid(padding=(0, 4))
    grid.add_row(left, right)
    return grid


def seat_name(names: Sequence[str], seat: int) -> Text:
    """Number and player of a seat in its colour."""
    name = names[seat] if names[seat].isprintable() else repr(names[seat])
    return Text(f"{seat} {name}", style=SEAT_STYLES[seat], no_wrap=True, overflow="ellipsis")


class _Table:
    """The parts of the drawing of one position."""

    def __init__(self, step: Step, before: Mapping[str, Any] | None, signs: Signs, gap: int) -> None:
        self.step, self.at, self.before, self.signs, self.gap = step, step.position, before, signs, gap
        self.sheet: Sheet = step.sheet
        self.names = step.header.seats
        self.symbols = {
            space.tile: space.symbol for board in self.at["boards"] for space in self.sheet.temple.boards[board]
        }

    def _grid(self, *headers: str) -> Table:
        """A table without lines."""
        return Table(*headers, box=None, padding=(0, self.gap, 0, 0), header_style="dim")

    def _grid_by_name(self, header: str) -> Table:
        """A table whose first column is as wide as in the others."""
        table = self._grid()
        width = NAME if self.gap > 1 else NARROW_NAME
        table.add_column(header, width=width, no_wrap=True)
        return table

    # --- headline ---------------------------------------------------------------------------------------------------

    def title(self) -> str:
        """Game, step, round, phase, Time tokens."""
        at, signs = self.at, self.signs
        whole = self.sheet.time_tokens[at["players"]]
        tokens = signs.token * at["time_tokens"] + signs.turned * (whole - at["time_tokens"])
        phase = {"shrines": "preliminary round", "novices": "preliminary round", "over": "game over"}
        where = phase.get(at["phase"], f"action {at['actions'] + 1}")
        return f"game {self.step.game}, step {self.step.number}: round {at['round']}, {where}, Time tokens {tokens}"

    def decision(self) -> Text:
        """Who decided what, out of how many, and who is next."""
        step, line = self.step, Text()
        if step.decision is None or step.mover is None:
            line.append("set-up", style="bold")
        else:
            line.append_text(seat_name(self.names, step.mover)).append(": ")
            line.append(step.decision, style="bold")
            line.append(f"  {describe(step.decision, self.symbols)}")
            line.append(f"  (1 of {len(step.legal)})", style="dim")
        if self.at["pending"] is not None:
            line.append("\n").append(voyage_words(self.at["pending"], KINDS), style="italic")
        return line

    def legend(self) -> Text:
        """What the signs mean."""
        signs = self.signs
        meaning = {signs.active: "active", signs.inactive: "inactive", signs.shrine: "shrine", signs.book: "Book"}
        meaning |= {"x": "displaced", "2": "novice of seat 2"}
        return Text("  ".join(f"{sign} {words}" for sign, words in meaning.items()), style="dim")

    # --- isles and seats --------------------------------------------------------------------------------------------

    def isles(self) -> Table:
        """The ring clockwise from left to right; a row of figures and a row for each seat."""
        table = self._grid_by_name("isles \N{RIGHTWARDS ARROW}" if self.signs is UNICODE else "isles ->")
        for kind in self.at["ring"]:
            table.add_column(kind, min_width=9 if self.gap > 1 else None)
        here = [[name for figure, name in FIGURE_NAMES.items() if self.at[figure] == kind] for kind in self.at["ring"]]
        table.add_row("", *("\n".join(names) for names in here), style="magenta")
        for seat in range(self.at["players"]):
            cells = [self._pieces(seat, kind) for kind in self.at["ring"]]
            table.add_row(seat_name(self.names, seat), *cells)
        return table

    def _pieces(self, seat: int, kind: str) -> Text:
        """`●●○▲`; bold where the seat's pieces have changed."""
        own, index, signs = self.at["seats"][seat], KINDS.index(kind), self.signs
        text = _row_of(signs.active, own["active"][index]) + _row_of(signs.inactive, own["inactive"][index])
        text += signs.shrine if kind in own["shrines"] else ""
        before = None if self.before is None else self.before["seats"][seat]
        changed = before is not None and (
            any(before[key][index] != own[key][index] for key in ("active", "inactive"))
            or (kind in before["shrines"]) != (kind in own["shrines"])
        )
        if not text:
            return Text(signs.empty, style="dim")
        return Text().append(text, style=f"{SEAT_STYLES[seat]}{' bold reverse' if changed else ''}")

    def seats(self) -> Table:
        """What lies before each player: his turn in this round, influence, stock, favors."""
        table = self._grid_by_name("players")
        for name in ("turn", "influence", "supply", "landing", "shrines"):
            table.add_column(name, justify="right")
        table.add_column("favors")
        for seat, own in enumerate(self.at["seats"]):
            shrines = f"{len(own['shrines'])} of {self.sheet.shrines}"
            stock = (str(own["supply"]), str(own["landing"]), shrines)
            turn = (seat - self.at["start_player"]) % self.at["players"] + 1
            favors = " ".join(own["favors"]) or self.signs.empty
            table.add_row(self._marked(seat), str(turn), self._influence(seat), *stock, favors)
        return table

    def _marked(self, seat: int) -> Text:
        """A seat's name, marked when it is to decide."""
        mark = self.signs.mover if self.at["to_move"] == seat else " "
        return Text(f"{mark} ", no_wrap=True).append_text(seat_name(self.names, seat))

    def _influence(self, seat: int) -> Text:
        influence = self.at["seats"][seat]["influence"]
        change = 0 if self.before is None else influence - self.before["seats"][seat]["influence"]
        line = Text().append(f"{change:+d}  " if change else "", style="bold green" if change > 0 else "bold red")
        return line.append(str(influence), style="bold")

    # --- Council ----------------------------------------------------------------------------------------------------

    def council(self) -> Table:
        """The ladder from left to right: influence of each seat, pieces as they are stacked."""
        stacks = self.at["council"]
        table = self._grid_by_name("Council")
        for value in self.sheet.council:
            table.add_column(str(value), justify="center", min_width=2)
        for height in reversed(range(max(map(len, stacks)))):
            table.add_row("", *(self._piece(stack, height) for stack in stacks))
        return table

    def _piece(self, stack: Sequence[int], height: int) -> Text:
        if height >= len(stack):
            return Text(self.signs.empty if height == 0 else "", style="dim")
        return Text(str(stack[height]), style=f"{SEAT_STYLES[stack[height]]} bold")

    # --- Temple and path --------------------------------------------------------------------------------------------

    def temple(self) -> Text:
        """The boards from the Temple Gate on: number of each space, its novice's seat, its Book."""
        drawing = Text().append("Temple (Gate above)\n", style="dim")
        for row in temple_rows(self.sheet, self.at["boards"]):
            line = Text()
            for column, tile in row:
                line.append(" " * (column * CELL // 2 - len(line)))
                line.append_text(self._space(tile))
            drawing.append_text(line).append("\n")
        return drawing.append(f"boards by slot: {' '.join(map(str, self.at['boards']))}", style="dim")

    def _space(self, tile: int) -> Text:
        """`17 1■` with novice and Book, `17 x` where a novice was displaced, `17 ·` where the tile is on the path."""
        lies = self.at["tiles"][str(tile)]
        moved = self.before is not None and self.before["tiles"][str(tile)] != lies
        if lies["at"] != "temple":
            return Text(f"{tile:>2} {self.signs.empty}".ljust(CELL - 1), style="dim")
        owner = lies["owner"]
        sign = "x" if owner is None else f"{owner}{self.signs.book if 'book' in lies else ''}"
        style = "dim" if owner is None else f"{SEAT_STYLES[owner]} bold"
        return (
            Text(f"{tile:>2} ")
            .append(sign, style=f"{style}{' reverse' if moved else ''}")
            .append(" " * (CELL - 4 - len(sign)))
        )

    def path(self) -> Table:
        """The batches from the Temple Gate down to the landing stage; who has claimed what, where the Guard stands."""
        table = self._grid()
        for name in ("Guard", "path (Gate above)", ""):
            table.add_column(name, no_wrap=True)
        players, guard = self.at["players"], self.at["round"] - 1
        tiles = [tile for tile in sorted(self.symbols) if tile > START_TILES]
        for batch in reversed(range(len(tiles) // players)):
            row = Text(" " * self.gap).join(self._tile(tile) for tile in tiles[batch * players : (batch + 1) * players])
            value = Text(f"{self.sheet.guard_values[batch]}{' Guard' if batch == guard else ''}")
            value.stylize("bold magenta" if batch == guard else "dim")
            table.add_row(value, row, Text(_stands(batch, self.at["round"]), style="dim"))
        return table

    def _tile(self, tile: int) -> Text:
        """`17 shrine`, `17 shrine 2` with a novice of seat 2 on it; a point once it has moved into the Temple."""
        lies, text = self.at["tiles"][str(tile)], f"{tile:>2} {self.symbols[tile]}"
        if lies["at"] == "path":
            return Text(text.ljust(13))
        if lies["at"] == "claimed":
            return Text(f"{text} {lies['owner']}".ljust(13), style=f"{SEAT_STYLES[lies['owner']]} bold")
        return Text(f"{tile:>2} {self.signs.empty}".ljust(13), style="dim")


def _row_of(sign: str, number: int) -> str:
    return sign * number if number <= MOST_SIGNS else f"{number}{sign}"


def _stands(batch: int, round_: int) -> str:
    return "approved" if batch < round_ else "bribable" if batch == round_ else ""


def result_table(names: Sequence[str], influence: Sequence[int], rank: Sequence[int]) -> RenderableType:
    """The final ranking."""
    table = Table("rank", "seat", "influence", title="result", title_justify="left", box=None, header_style="dim")
    for seat in sorted(range(len(names)), key=lambda seat: rank[seat]):
        table.add_row(str(rank[seat]), seat_name(names, seat), str(influence[seat]))
    return Padding(table, (0, 2))
