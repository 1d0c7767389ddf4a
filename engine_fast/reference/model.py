"""A position of Luna in words, and its canonical JSON.

Isles, favor tokens and Temple symbols are called by their rule-book names, pieces are counted in dicts by isle, shrines
and favor tokens are sets. The canonical JSON is the form in which programs compare positions (rules, section 8); here
it is only read and written, whether a position makes sense is the question of `validity`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

KINDS = ("book", "bribery", "novice", "sailboat", "herbs", "shrine", "tide")
"""The seven isle kinds in the order of section 1."""

INACTIVE = "~"
LANDING = "landing"
SOURCES = (*KINDS, *(kind + INACTIVE for kind in KINDS), LANDING)
"""Where a lift of a Journey or Tide can take novices from: active, inactive, landing stage (section 4)."""

PLAYER_COUNTS = (2, 3, 4)
ROUNDS = 6
START_TILES = (1, 2, 3, 4)
TILES = tuple(range(1, 29))
PHASES = ("shrines", "novices", "action", "over")

POSITION_KEYS = (
    "players", "round", "phase", "start_player", "to_move", "time_tokens", "actions", "ring", "priestess", "builder",
    "apostate", "boards", "book_bonus", "council", "seats", "tiles", "pending",
)  # fmt: skip
SEAT_KEYS = ("influence", "active", "inactive", "landing", "supply", "shrines", "favors")
BOOK_KEYS = ("action", "from")
VOYAGE_KEYS = ("action", "stage", "lifted", "landing_lifted", "hand", "landed", "last", "last_n")


class Tile(NamedTuple):
    """One Temple tile: on the path, claimed on the path, or on its Temple space (owner None when displaced)."""

    at: str
    owner: int | None = None
    book: bool = False


class BookInHand(NamedTuple):
    """A Book taken from a Temple space and not yet given (section 4, Book)."""

    source: int


@dataclass(slots=True)
class Voyage:
    """A Journey or Tide that has begun: what was lifted, what is in hand, what has landed (section 4)."""

    action: str
    stage: str
    lifted: dict[str, int]
    landing_lifted: int
    hand: int
    landed: dict[str, int]
    last: str
    last_n: int

    @property
    def total(self) -> int:
        """How many novices were lifted in all, the T of section 4."""
        return sum(self.lifted.values()) + self.landing_lifted

    def copy(self) -> Voyage:
        """An equal voyage that shares nothing with this one."""
        return Voyage(
            self.action, self.stage, dict(self.lifted), self.landing_lifted, self.hand, dict(self.landed), self.last,
            self.last_n,
        )  # fmt: skip


@dataclass(slots=True)
class Seat:
    """What one player has (section 3); what stands on tiles is found in the tiles."""

    influence: int
    active: dict[str, int]
    inactive: dict[str, int]
    landing: int
    supply: int
    shrines: set[str]
    favors: set[str]

    def copy(self) -> Seat:
        """An equal seat that shares nothing with this one."""
        return Seat(
            self.influence, dict(self.active), dict(self.inactive), self.landing, self.supply, set(self.shrines),
            set(self.favors),
        )  # fmt: skip


@dataclass(slots=True)
class Position:
    """A complete position; the fields are the keys of section 8."""

    players: int
    round: int
    phase: str
    start_player: int
    to_move: int | None
    time_tokens: int
    actions: int
    ring: tuple[str, ...]
    priestess: str
    builder: str
    apostate: str
    boards: tuple[int, ...]
    book_bonus: bool
    council: list[list[int]]
    seats: list[Seat]
    tiles: dict[int, Tile]
    pending: BookInHand | Voyage | None

    @property
    def mover(self) -> int:
        """The seat that has to decide; an error when the game is over."""
        if self.to_move is None:
            raise ValueError("the game is over: nobody is to move")
        return self.to_move

    def copy(self) -> Position:
        """An equal position that can be changed without touching this one."""
        pending = self.pending.copy() if isinstance(self.pending, Voyage) else self.pending
        return Position(
            self.players, self.round, self.phase, self.start_player, self.to_move, self.time_tokens, self.actions,
            self.ring, self.priestess, self.builder, self.apostate, self.boards, self.book_bonus,
            [list(stack) for stack in self.council], [seat.copy() for seat in self.seats], dict(self.tiles), pending,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """The canonical JSON of section 8, made of new lists and dicts."""
        return {
            "players": self.players, "round": self.round, "phase": self.phase, "start_player": self.start_player,
            "to_move": self.to_move, "time_tokens": self.time_tokens, "actions": self.actions, "ring": list(self.ring),
            "priestess": self.priestess, "builder": self.builder, "apostate": self.apostate,
            "boards": list(self.boards), "book_bonus": self.book_bonus,
            "council": [list(stack) for stack in self.council],
            "seats": [seat_to_json(seat) for seat in self.seats],
            "tiles": {str(number): tile_to_json(self.tiles[number]) for number in sorted(self.tiles)},
            "pending": pending_to_json(self.pending),
        }  # fmt: skip

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Position:
        """The position that `data` describes.

        Raises:
            ValueError: a key is missing or unknown. Nothing else is checked: ask `valid_setup` before.
        """
        require_keys(data, POSITION_KEYS, "position")
        return Position(
            data["players"], data["round"], data["phase"], data["start_player"], data["to_move"], data["time_tokens"],
            data["actions"], tuple(data["ring"]), data["priestess"], data["builder"], data["apostate"],
            tuple(data["boards"]), data["book_bonus"], [list(stack) for stack in data["council"]],
            [seat_from_json(seat) for seat in data["seats"]],
            {int(number): tile_from_json(tile) for number, tile in data["tiles"].items()},
            pending_from_json(data["pending"]),
        )  # fmt: skip


def require_keys(data: Mapping[str, Any], keys: Collection[str], what: str) -> None:
    """Raises ValueError unless `data` has exactly `keys`."""
    if set(data) != set(keys):
        raise ValueError(f"{what} has the keys {sorted(data)}, but must have exactly {sorted(keys)}")


def in_kind_order(kinds: Collection[str]) -> list[str]:
    """Shrines or favors as section 8 lists them."""
    return [kind for kind in KINDS if kind in kinds]


def counts(numbers: Iterable[int] = (0,) * len(KINDS)) -> dict[str, int]:
    """Seven numbers in the order of the kinds as a dict by kind."""
    return dict(zip(KINDS, numbers, strict=True))


def seat_to_json(seat: Seat) -> dict[str, Any]:
    """One entry of `seats` in section 8."""
    return {
        "influence": seat.influence, "active": [seat.active[kind] for kind in KINDS],
        "inactive": [seat.inactive[kind] for kind in KINDS], "landing": seat.landing, "supply": seat.supply,
        "shrines": in_kind_order(seat.shrines), "favors": in_kind_order(seat.favors),
    }  # fmt: skip


def seat_from_json(data: Mapping[str, Any]) -> Seat:
    """The seat that one entry of `seats` describes."""
    require_keys(data, SEAT_KEYS, "seat")
    return Seat(
        data["influence"], counts(data["active"]), counts(data["inactive"]), data["landing"], data["supply"],
        set(data["shrines"]), set(data["favors"]),
    )  # fmt: skip


def tile_to_json(tile: Tile) -> dict[str, Any]:
    """One entry of `tiles` in section 8."""
    if tile.at == "path":
        return {"at": "path"}
    entry: dict[str, Any] = {"at": tile.at, "owner": tile.owner}
    if tile.book:
        entry["book"] = True
    return entry


def tile_from_json(data: Mapping[str, Any]) -> Tile:
    """The tile that one entry of `tiles` describes."""
    keys = {"at"} if data.get("at") == "path" else {"at", "owner"} | ({"book"} & set(data))
    require_keys(data, keys, "tile")
    return Tile(data["at"], data.get("owner"), data.get("book", False))


def pending_to_json(pending: BookInHand | Voyage | None) -> dict[str, Any] | None:
    """The value of `pending` in section 8."""
    if pending is None:
        return None
    if isinstance(pending, BookInHand):
        return {"action": "book", "from": pending.source}
    return {
        "action": pending.action, "stage": pending.stage, "lifted": [pending.lifted[kind] for kind in KINDS],
        "landing_lifted": pending.landing_lifted, "hand": pending.hand,
        "landed": [pending.landed[kind] for kind in KINDS], "last": SOURCES.index(pending.last),
        "last_n": pending.last_n,
    }  # fmt: skip


def pending_from_json(data: Mapping[str, Any] | None) -> BookInHand | Voyage | None:
    """What the value of `pending` describes."""
    if data is None:
        return None
    if data.get("action") == "book":
        require_keys(data, BOOK_KEYS, "pending Book")
        return BookInHand(data["from"])
    require_keys(data, VOYAGE_KEYS, "pending Journey or Tide")
    return Voyage(
        data["action"], data["stage"], counts(data["lifted"]), data["landing_lifted"], data["hand"],
        counts(data["landed"]), SOURCES[data["last"]], data["last_n"],
    )  # fmt: skip
