"""What is printed on the components, and the named options of the rules, as the reference reads them.

The component sheet comes as a plain mapping (the YAML with `extends` resolved); maps by player count may have integers
or decimal strings as keys. The rule-set map is the one of a record's header (rules, section 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .model import START_TILES, require_keys


def by_players(table: Mapping[Any, Any], players: int) -> Any:
    """The entry of `table` for a number of players, whose keys are integers or decimal strings."""
    return table[players] if players in table else table[str(players)]


@dataclass(frozen=True)
class Options:
    """The rule set: its name and every [choice] of the rules."""

    name: str
    virtual_alone: bool
    virtual_promotion: bool
    council_overshoot: bool
    book_same_space: bool
    same_isle_moves: bool
    influence_floor: int | None
    max_actions_per_player: int

    @staticmethod
    def of(ruleset: Mapping[str, Any]) -> Options:
        """The options that a record's `ruleset` map states; ValueError when a key is missing or unknown."""
        require_keys(ruleset, [item.name for item in fields(Options)], "ruleset")
        if ruleset["name"] not in ("official", "online"):
            raise ValueError(f"ruleset name {ruleset['name']!r} is neither 'official' nor 'online'")
        return Options(**ruleset)


@dataclass(frozen=True)
class Temple:
    """The tiles of the chosen boards: their symbols, their batches and which Temple spaces touch."""

    tiles: tuple[int, ...]
    symbol: Mapping[int, str]
    batch: Mapping[int, int]
    neighbours: Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Rules:
    """Everything a game needs besides its position: the component sheet and the options."""

    sheet: Mapping[str, Any]
    options: Options
    temples: dict[tuple[int, ...], Temple] = field(default_factory=dict)

    def time_tokens(self, players: int) -> int:
        """Section 2.5: the Time tokens of a round."""
        return int(by_players(self.sheet["time_tokens"], players))

    def priestess(self, players: int) -> Mapping[str, Any]:
        """Section 5: `move` and `points` of the Moon Priestess figure for this number of players."""
        figure: Mapping[str, Any] = by_players(self.sheet["moon_priestess"], players)
        return figure

    def last_council_seat(self) -> int:
        """The index of the highest seat of the Council of Priests."""
        return len(self.sheet["council"]) - 1

    def most_actions(self, players: int) -> int:
        """Section 4, Length: so many actions end an action phase."""
        return self.options.max_actions_per_player * players

    def temple(self, boards: tuple[int, ...]) -> Temple:
        """The Temple that these boards make, in slot order."""
        if boards not in self.temples:
            self.temples[boards] = lay_out(self.sheet["temple"], boards)
        return self.temples[boards]


def lay_out(temple: Mapping[str, Any], boards: tuple[int, ...]) -> Temple:
    """Puts the boards into their slots (a board in slot s is shifted by s times `slot_shift`)."""
    symbol: dict[int, str] = {}
    place: dict[int, tuple[int, int]] = {}
    shift_x, shift_y = temple["slot_shift"]
    for slot, board in enumerate(boards):
        for (x, y), space in zip(temple["space_xy"], temple["boards"][board], strict=True):
            symbol[space["tile"]] = space["symbol"]
            place[space["tile"]] = (x + slot * shift_x, y + slot * shift_y)
    neighbours = {tile: frozenset(other for other in place if adjacent(place[tile], place[other])) for tile in place}
    return Temple(tuple(sorted(symbol)), symbol, batches(sorted(symbol), len(boards)), neighbours)


def adjacent(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Doubled hex coordinates: two spaces touch when they differ by (0, 2), (1, 1) or (1, -1) up to sign."""
    return (abs(one[0] - other[0]), abs(one[1] - other[1])) in ((0, 2), (1, 1))


def batches(tiles: list[int], players: int) -> dict[int, int]:
    """Section 2.3: the tiles that are no start tiles, ascending, in batches of N from the landing stage on."""
    path = [tile for tile in tiles if tile not in START_TILES]
    return {tile: place // players for place, tile in enumerate(path)}
