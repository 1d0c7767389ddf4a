"""Positions from canonical JSON (RULES.md section 8), with every check that the words cannot carry themselves.

`from_json` and `canonical.to_json` are exact inverses on positions of the game. Accepted is any position that is
consistent with sections 2, 3 and 8, also one that no game would reach; the first thing that is wrong is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.canonical import KEYS, PHASES, SEAT_KEYS, STEP_KEYS, STEPS
from engine_fast.check import field_value, field_values, nibbles_of
from engine_fast.components import LIMITS, Sheet
from engine_fast.kinds import FIGURES, KINDS, NUM_KINDS, NUM_TILES
from engine_fast.layout import BOARD_ORDERS, FIELD, INFLUENCE_BIAS, MAX_START_INFLUENCE, NUM_ROUNDS, STATE_WORDS
from engine_fast.ruleset import MAX_ACTIONS, RuleSet

NUM_LIFT_SOURCES = 15

# What one seat's influence can have changed by since the set-up, on any sheet. Each count in a position that goes with
# such an amount grows by at least 1 whenever the influence changes, so a game never leaves what can be read.
MAX_VALUE = LIMITS["influence"][1]
MAX_OF_TILE = MAX_VALUE + 6
"""Sanctification: the Guard's value and 1 for each novice displaced from the six adjacent spaces; once a tile."""
MAX_OF_ACTION = 2
"""Any other action: a Book gains 2 at most, the last Meditation 1."""
MAX_NOVICES, MAX_SHRINES = LIMITS["novices"][1], LIMITS["shrines"][1]
MAX_OF_ROUND = MAX_VALUE + MAX_NOVICES
"""Section 5: a place on the Moon Priestess's isle and 1 for each novice in the Temple."""
MAX_OF_END = MAX_VALUE * (MAX_SHRINES + NUM_KINDS + 1)
"""Section 6: shrines, favors, Council seat."""
MAX_LOSS_OF_ROUND = MAX_NOVICES + 1
"""Section 5.2: the novices on the Apostate's isle + 1."""

# The whole game fits the field.
_ALL_ACTIONS = NUM_ROUNDS * 4 * MAX_ACTIONS
_MOST = MAX_OF_TILE * NUM_TILES + MAX_OF_ACTION * _ALL_ACTIONS + MAX_OF_ROUND * NUM_ROUNDS + MAX_OF_END
assert MAX_START_INFLUENCE + max(_MOST, MAX_LOSS_OF_ROUND * NUM_ROUNDS) < INFLUENCE_BIAS


class InvalidPosition(ValueError):
    """A position that contradicts RULES.md sections 2, 3 or 8; the message names the field."""


def from_json(position: Any, sheet: Sheet, ruleset: RuleSet) -> NDArray[np.uint64]:
    """The words of a canonical position.

    Raises:
        InvalidPosition: the position is not of the form of section 8 or contradicts sections 2, 3 or 8.
    """
    reader = _Reader(position, sheet, ruleset)
    reader.read()
    state: NDArray[np.uint64] = np.array(reader.words, dtype=np.uint64)
    return state


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidPosition(message)


def _keys(value: Any, keys: Sequence[str], where: str) -> Mapping[str, Any]:
    _require(isinstance(value, Mapping), f"{where}: {value!r} is not a map")
    wrong = sorted(set(map(str, value)) ^ set(keys))
    _require(not wrong, f"{where}: key {wrong[0] if wrong else ''!r} is missing or unknown; allowed: {', '.join(keys)}")
    return value  # type: ignore[no-any-return]


def _whole(value: Any, low: int, high: int, where: str) -> int:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    _require(is_int and low <= value <= high, f"{where}: {value!r} is not a whole number from {low} to {high}")
    return int(value)


def _kind(value: Any, where: str) -> int:
    known = isinstance(value, str) and value in KINDS
    _require(known, f"{where}: {value!r} is not one of {', '.join(KINDS)}")
    return KINDS.index(value)


def _kind_set(value: Any, where: str) -> int:
    _require(isinstance(value, list), f"{where}: {value!r} is not a list of isle kinds")
    kinds = [_kind(kind, where) for kind in value]
    _require(kinds == sorted(set(kinds)), f"{where}: {value!r} is not in kind order without repetition")
    return sum(1 << kind for kind in kinds)


def _counts(value: Any, most: int, where: str) -> list[int]:
    _require(isinstance(value, list) and len(value) == NUM_KINDS, f"{where}: {value!r} is not a list of 7 numbers")
    return [_whole(count, 0, most, where) for count in value]


def _word(nibbles: Sequence[int]) -> int:
    return sum(count << 4 * index for index, count in enumerate(nibbles))


class _Reader:
    """Fills the words field by field; each method is one group of fields and their checks."""

    def __init__(self, position: Any, sheet: Sheet, ruleset: RuleSet) -> None:
        self.position = _keys(position, KEYS, "position")
        self.numbers, self.ruleset, self.sheet = sheet.resolved, ruleset, sheet
        self.words = [0] * STATE_WORDS
        self.players = _whole(self.position["players"], 2, 4, "players")

    def put(self, name: str, value: int, index: int = 0) -> None:
        word, shift = FIELD[name].place(index)
        self.words[word] |= value << shift

    def read(self) -> None:
        self.put("players", self.players)
        self.turn()
        self.isles()
        self.boards()
        self.council()
        for seat, entry in enumerate(self.seat_list()):
            self.seat(seat, entry)
        self.pending()
        self.tiles()
        self.influences()
        self.totals()
        if self.phase in ("shrines", "novices"):
            self.preliminary()

    def turn(self) -> None:
        at = self.position
        _require(at["phase"] in PHASES, f"phase: {at['phase']!r} is not one of {', '.join(PHASES)}")
        self.phase = str(at["phase"])
        over = self.phase == "over"
        self.put("phase", PHASES.index(self.phase))
        self.round = _whole(at["round"], 6 if over else 1, 1 if self.phase in PHASES[:2] else 6, "round")
        self.put("round", self.round)
        self.start_player = _whole(at["start_player"], 0, self.players - 1, "start_player")
        self.put("start_player", self.start_player)
        if over:
            _require(at["to_move"] is None, f"to_move: {at['to_move']!r} is not null although the game is over")
        self.to_move = 0 if over else _whole(at["to_move"], 0, self.players - 1, "to_move")
        self.put("to_move", self.to_move)
        self.clock()

    def clock(self) -> None:
        at, over, begun = self.position, self.phase == "over", self.phase in ("action", "over")
        times = {int(n): t for n, t in self.numbers["time_tokens"].items()}
        tokens, cap = times[self.players], self.ruleset.max_actions_per_player * self.players
        least = 0 if over else 1 if begun else tokens
        self.put("time_tokens", _whole(at["time_tokens"], least, tokens, "time_tokens"))
        self.put("actions", _whole(at["actions"], 0, cap - (not over) if begun else 0, "actions"))
        ended = not over or at["time_tokens"] == 0 or at["actions"] == cap
        _require(ended, f"time_tokens: {at['time_tokens']!r} are left and actions too, but the game is over")
        bonus = at["book_bonus"]
        _require(isinstance(bonus, bool), f"book_bonus: {bonus!r} is not true or false")
        allowed = {False} if self.players > 2 else {True, False} if begun else {True}
        _require(bonus in allowed, f"book_bonus: {bonus!r} is not possible with {self.players} players in this phase")
        self.put("book_bonus", int(bonus))

    def isles(self) -> None:
        ring = self.position["ring"]
        _require(isinstance(ring, list) and len(ring) == NUM_KINDS, f"ring: {ring!r} is not a list of the 7 isle kinds")
        kinds = [_kind(kind, "ring") for kind in ring]
        _require(len(set(kinds)) == NUM_KINDS, f"ring: {ring!r} does not hold every isle kind once")
        for index, kind in enumerate(kinds):
            self.put("ring", kind, index)
        for figure in FIGURES:
            self.put(figure, kinds.index(_kind(self.position[figure], figure)))

    def boards(self) -> None:
        boards = self.position["boards"]
        is_list = isinstance(boards, list) and all(type(board) is int for board in boards)
        known = is_list and len(boards) == self.players and tuple(boards) in BOARD_ORDERS
        _require(known, f"boards: {boards!r} is not {self.players} different numbers from 0 to 3")
        order = tuple(boards)
        self.put("board_order", BOARD_ORDERS.index(order))
        self.in_play = [s["tile"] for board in order for s in self.numbers["temple"]["boards"][board]]

    def council(self) -> None:
        stacks, length = self.position["council"], len(self.numbers["council"])
        is_list = isinstance(stacks, list) and all(isinstance(stack, list) for stack in stacks)
        _require(is_list and len(stacks) == length, f"council: not a list of {length} lists")
        pieces = [(at, seat) for at, stack in enumerate(stacks) for seat in stack]
        seats = [_whole(seat, 0, self.players - 1, "council") for _, seat in pieces]
        _require(sorted(seats) == list(range(self.players)), f"council: {stacks!r} does not hold every piece once")
        for behind, (at, seat) in enumerate(pieces):
            self.put("council_seat", at, seat)
            self.put("council_rank", self.players - 1 - behind, seat)

    def seat_list(self) -> list[Any]:
        seats = self.position["seats"]
        _require(isinstance(seats, list) and len(seats) == self.players, f"seats: not a list of {self.players} maps")
        return list(seats)

    def seat(self, seat: int, entry: Any) -> None:
        where, most = f"seats[{seat}]", int(self.numbers["novices"])
        entry = _keys(entry, SEAT_KEYS, where)
        isles = [count for name in ("active", "inactive") for count in _counts(entry[name], most, f"{where}.{name}")]
        waiting = [_whole(entry[name], 0, most, f"{where}.{name}") for name in ("landing", "supply")]
        self.put("novices", _word([*isles, *waiting]), seat)
        self.put("shrines", _kind_set(entry["shrines"], f"{where}.shrines"), seat)
        self.put("favors", _kind_set(entry["favors"], f"{where}.favors"), seat)
        built, limit = len(entry["shrines"]), int(self.numbers["shrines"])
        _require(built <= limit, f"{where}.shrines: {built} shrines, there are only {limit}")

    def tiles(self) -> None:
        tiles = _keys(self.position["tiles"], [str(tile) for tile in sorted(self.in_play)], "tiles")
        for name, entry in tiles.items():
            self.tile(int(name) - 1, entry, f"tiles[{name}]")
        words = np.array(self.words, dtype=np.uint64)
        owners = [entry["owner"] for name, entry in tiles.items() if int(name) <= 4 and entry["owner"] is not None]
        _require(len(set(owners)) == len(owners), f"tiles: start tiles of the seats {owners}, but each has only one")
        books = field_value(words, "books").bit_count() + (self.step == int(layout.GIVE_BOOK))
        _require(books == self.players, f"tiles: {books} Books are in the game, not {self.players}")

    def tile(self, bit: int, entry: Any, where: str) -> None:
        _require(isinstance(entry, Mapping) and "at" in entry, f"{where}: {entry!r} does not say where the tile is")
        at, has_book = entry["at"], "book" in entry
        _require(at in ("path", "claimed", "temple"), f"{where}.at: {at!r} is not path, claimed or temple")
        _keys(entry, ["at"] + ["owner"] * (at != "path") + ["book"] * has_book, where)
        _require(bit >= 4 or at == "temple", f"{where}: a start tile lies in the Temple from the set-up on")
        if at == "path":
            self.put("path", 1 << bit)
        elif at == "claimed" or entry["owner"] is not None:
            owner = _whole(entry["owner"], 0, self.players - 1, f"{where}.owner")
            self.put("claimed" if at == "claimed" else "temple", 1 << bit, owner)
        if has_book:
            under = entry["book"] is True and at == "temple" and entry["owner"] is not None
            _require(under, f"{where}.book: a Book lies only under a novice in the Temple, and is then true")
            self.put("books", 1 << bit)

    def pending(self) -> None:
        pending, self.step, self.hand = self.position["pending"], 0, 0
        if pending is None:
            return
        _require(self.phase == "action", "pending: an unfinished action outside the action phase")
        _require(isinstance(pending, Mapping), f"pending: {pending!r} is not a map or null")
        action = pending.get("action")
        if action == "book":
            self.pending_book(_keys(pending, ("action", "from"), "pending"))
        else:
            allowed = action in ("journey", "tide")
            _require(allowed, f"pending.action: {action!r} is not book, journey or tide")
            self.pending_steps(_keys(pending, STEP_KEYS, "pending"))
        self.put("pending", self.step)

    def pending_book(self, pending: Mapping[str, Any]) -> None:
        self.step = int(layout.GIVE_BOOK)
        tile = _whole(pending["from"], 1, NUM_TILES, "pending.from")
        space = self.position["tiles"].get(str(tile)) if isinstance(self.position["tiles"], Mapping) else None
        entry = space if isinstance(space, Mapping) else {}
        owned = entry.get("at") == "temple" and "book" not in entry and entry.get("owner") is not None
        _require(owned, f"pending.from: no Book can have been taken from space {tile}")
        holds = "book" in self.position["seats"][self.to_move]["favors"]
        _require(holds, "pending: the player to move has no book favor to return")
        self.put("book_from", tile - 1)

    def pending_steps(self, pending: Mapping[str, Any]) -> None:
        names = (pending["action"], pending["stage"])
        _require(names in STEPS, f"pending.stage: {pending['stage']!r} is not lift or land")
        self.step, most = STEPS[names], int(self.numbers["novices"])
        lifted, landed = (_counts(pending[name], most, f"pending.{name}") for name in ("lifted", "landed"))
        waiting = _whole(pending["landing_lifted"], 0, most, "pending.landing_lifted")
        self.hand = _whole(pending["hand"], 1, most, "pending.hand")
        agree = sum(lifted) + waiting - sum(landed) == self.hand
        _require(agree, "pending.hand: not the number of lifted novices that have not landed")
        returned = names[0] == "journey" or "tide" not in self.position["seats"][self.to_move]["favors"]
        _require(returned, "pending: a Tide has begun, but its favor token is not returned")
        self.put("carried", _word([*lifted, waiting, *landed, self.hand]))
        self.last_step(pending, names, lifted, waiting, landed)

    def last_step(
        self, pending: Mapping[str, Any], names: tuple[str, str], lifted: list[int], waiting: int, landed: list[int]
    ) -> None:
        journey, lifting = names[0] == "journey", names[1] == "lift"
        places = NUM_KINDS if journey or not lifting else NUM_LIFT_SOURCES
        at = _whole(pending["last"], 0, places - 1, "pending.last")
        count = _whole(pending["last_n"], 1, 4, "pending.last_n")
        _require(not (journey and waiting), "pending.landing_lifted: a Journey takes nobody from the landing stage")
        _require(lifting == (sum(landed) == 0), "pending.stage: landings and stage do not agree")
        row = [*lifted, *lifted, waiting] if lifting else landed
        _require(row[at] >= count, "pending.last_n: more than were lifted from, or landed on, the last place")
        fits = not waiting or not lifting or at == layout.LANDING
        _require(fits, "pending.last: novices of the landing stage are lifted last")
        inactive = self.position["seats"][self.to_move]["inactive"]
        there = all(n <= here for n, here in zip(landed, inactive, strict=True))
        _require(there, "pending.landed: more than are inactive on an isle")
        if not (lifting and NUM_KINDS <= at < layout.LANDING):  # of inactive ones, `lifted` also holds active ones
            _require(sum(row[at + 1 : 7]) == 0, "pending.last: a later place has been used already")
            _require(self.row_possible(row[at], count), "pending.last_n: no row of steps of 4 ends like this")
        limits = [self.hand + sum(landed) - own for own in lifted]
        fits = self.ruleset.same_isle_moves or all(n <= most for n, most in zip(landed, limits, strict=True))
        _require(fits, "pending.landed: more on an isle than were lifted elsewhere")
        self.put("last", at)
        self.put("last_count", count)

    @staticmethod
    def row_possible(total: int, count: int) -> bool:
        """Whether steps on one place that are 4 each but the last, which is `count`, can sum to `total`."""
        return total % 4 == count % 4

    def influences(self) -> None:
        """Within what a game can have reached here that began with at most MAX_START_INFLUENCE."""
        cap, at = self.ruleset.max_actions_per_player * self.players, self.position
        over, sanctified = self.phase == "over", sum(tile["at"] == "temple" for tile in at["tiles"].values())
        scored = NUM_ROUNDS if over else self.round - 1
        actions = (self.round - 1) * cap + at["actions"]
        most = MAX_OF_TILE * (sanctified - self.players) + MAX_OF_ACTION * actions + MAX_OF_ROUND * scored
        high = MAX_START_INFLUENCE + most + MAX_OF_END * over
        low = -MAX_START_INFLUENCE - MAX_LOSS_OF_ROUND * scored
        for seat, entry in enumerate(at["seats"]):
            influence = _whole(entry["influence"], low, high, f"seats[{seat}].influence")
            self.put("influence", INFLUENCE_BIAS + influence, seat)

    def totals(self) -> None:
        words, total = np.array(self.words, dtype=np.uint64), int(self.numbers["novices"])
        for seat in range(self.players):
            count = sum(nibbles_of(field_values(words, "novices")[seat]))
            count += sum(field_values(words, name)[seat].bit_count() for name in ("temple", "claimed"))
            count += self.hand if seat == self.to_move else 0
            _require(count == total, f"seats[{seat}]: {count} novices in all, not {total}")

    def preliminary(self) -> None:
        """Section 2: what lies where follows from whose turn it is."""
        entries, shrines = self.position["seats"], self.phase == "shrines"
        before = (self.to_move - self.start_player) % self.players
        placed = [entry["shrines"] for entry in entries]
        isles = [sum(count > 0 for count in entry["active"]) for entry in entries]
        rounds = 0 if shrines else isles[self.to_move]
        _require(rounds < 4, "phase: all novices are placed, the preliminary round is over")
        for seat, entry in enumerate(entries):
            done = (seat - self.start_player) % self.players < before
            where = f"seats[{seat}]"
            _require(len(placed[seat]) == (done or not shrines), f"{where}.shrines: not the turn's number of shrines")
            _require(isles[seat] == rounds + (done and not shrines), f"{where}.active: not the turn's number of isles")
            clean = not any(entry["inactive"]) and not entry["landing"] and not entry["favors"]
            _require(clean and set(entry["active"]) <= {0, 2}, f"{where}: not a position of the preliminary round")
            own = any(entry["active"][KINDS.index(kind)] for kind in placed[seat])
            _require(not own, f"{where}.active: novices beside an own shrine")
        stack = [(self.start_player + turn) % self.players for turn in range(self.players)]
        stacked = self.position["council"][0] == stack
        _require(stacked, "council: in the preliminary round all pieces are on seat 0, from the start player on")
        self.preliminary_isles([kind for kinds in placed for kind in kinds])

    def preliminary_isles(self, taken: list[str]) -> None:
        _require(len(set(taken)) == len(taken), "seats: two shrines on one isle in the preliminary round")
        _require(self.players > 2 or "herbs" not in taken, "seats: with two players no first shrine on herbs")
        tiles = self.position["tiles"]
        moved = [name for name, tile in tiles.items() if int(name) > 4 and tile["at"] != "path"]
        _require(not moved, f"tiles[{moved[0] if moved else ''}]: off the path in the preliminary round")
        owners = sorted(str(tile.get("owner")) for tile in tiles.values() if tile["at"] == "temple")
        booked = all("book" in tile for tile in tiles.values() if tile["at"] == "temple")
        each = owners == [str(seat) for seat in range(self.players)] and booked
        _require(each, "tiles: every player has one start tile with a Book in the preliminary round")
