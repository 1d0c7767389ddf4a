"""`Position`: the checked, immutable view of the game for people and scripts.

>>> position = Position.new(players=3, seed=7)
>>> position = position.play("place-shrine book")
>>> "place-shrine book" in position.legal()
False
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import canonical, notation, reading
from engine_fast.actions import MASK_WORDS
from engine_fast.apply import apply_into
from engine_fast.batch import hash_batch
from engine_fast.check import field_value, field_values
from engine_fast.components import Sheet, load_sheet
from engine_fast.drawing import draw
from engine_fast.layout import (
    INFLUENCE_BIAS,
    LEDGER_SOURCES,
    MAX_PLAYERS,
    MAX_START_INFLUENCE,
    NUM_SOURCES,
    STATE_WORDS,
)
from engine_fast.legal import legal_into
from engine_fast.ruleset import RuleSet, load_ruleset
from engine_fast.setup import SETUPS, add_handicaps, set_up_into
from engine_fast.tables import build_rules


class IllegalDecision(ValueError):
    """A decision that exists but is not legal in this position."""


class SetupError(ValueError):
    """A set-up that cannot be made: number of players, set-up name, seed, seat or handicap."""


@dataclass(frozen=True)
class Game:
    """A component sheet, a rule set and the table that kernels get for both."""

    sheet: Sheet
    ruleset: RuleSet
    rules: NDArray[np.uint64]


def load_game(components: str | Path | Sheet = "reconstructed", ruleset: str | RuleSet = "official") -> Game:
    """The game of a sheet (name, YAML file or `Sheet`) and a rule set (name or `RuleSet`).

    A YAML file is read at every call, so that its changes count; who needs one game often keeps it.

    Raises:
        SheetError, RuleSetError: there is no such sheet or rule set, or it holds a value that is not allowed.
    """
    sheet, chosen = load_sheet(components), load_ruleset(ruleset)
    chosen.check_floor(sheet.starting_influence)
    return Game(sheet, chosen, _rules_of(sheet, chosen))


@lru_cache(maxsize=64)
def _rules_of(sheet: Sheet, ruleset: RuleSet) -> NDArray[np.uint64]:
    """One table for equal sheets and rule sets."""
    rules = build_rules(sheet, ruleset)
    rules.setflags(write=True)  # Kernels are compiled for writable arrays only; nobody writes here.
    return rules


def generator_of(seed: int | None) -> NDArray[np.uint64]:
    """A kernel's generator, `uint64[1]`, from a seed (None: from the operating system's entropy).

    Raises:
        SetupError: the seed is not a whole number from 0.
    """
    if seed is not None and not (_is_whole(seed) and seed >= 0):
        raise SetupError(f"seed: {seed!r} is not a whole number from 0, or None")
    return np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.uint64)


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_players(players: int) -> int:
    """The number of players, if Luna can be played by so many.

    Raises:
        SetupError: it is not 2, 3 or 4.
    """
    if not _is_whole(players) or players not in (2, 3, 4):
        raise SetupError(f"players: {players!r} cannot play; allowed: 2, 3, 4")
    return int(players)


def check_handicap(handicap: Sequence[int] | None, players: int) -> NDArray[np.int64]:
    """Influence added at the start by turn position, `int64[players]`; None adds nothing.

    Raises:
        SetupError: not one number for each player, or too large for the state.
    """
    values = [0] * players if handicap is None else list(handicap)
    limit = MAX_START_INFLUENCE // 2
    whole = all(_is_whole(v) and abs(v) <= limit for v in values)
    if len(values) != players or not whole:
        raise SetupError(f"handicap: {values!r} is not {players} whole numbers from {-limit} to {limit}")
    return np.array(values, dtype=np.int64)


class Position:
    """One position of a game. Immutable: `play` returns the next one.

    Attributes:
        state: the words, `uint64[STATE_WORDS]`, not writable.
        game: sheet, rule set and rules table.
    """

    __slots__ = ("game", "state")

    def __init__(self, state: NDArray[np.uint64], game: Game) -> None:
        """Wraps words that the engine made; use `new` or `from_json` to make a position."""
        self.state = state
        self.state.setflags(write=False)
        self.game = game

    @classmethod
    def new(
        cls,
        players: int,
        setup: str = "standard",
        seed: int | None = None,
        components: str | Path | Sheet = "reconstructed",
        ruleset: str | RuleSet = "official",
        handicap: Sequence[int] | None = None,
        start_player: int | None = None,
    ) -> Position:
        """A random set-up position (RULES.md section 2).

        Args:
            players: 2, 3 or 4.
            setup: `standard` or `preselected`.
            seed: of the random draws; None for another deal every time.
            components: name of a packaged sheet, a YAML file or a `Sheet`.
            ruleset: `official`, `online` or a `RuleSet`.
            handicap: influence added at the start, by turn position.
            start_player: seat; drawn if None. The same seed gives the same deal for every start player.

        Raises:
            SetupError, SheetError, RuleSetError: an argument is not allowed.
        """
        game = load_game(components, ruleset)
        seats = check_players(players)
        if setup not in SETUPS:
            raise SetupError(f"setup: {setup!r} is unknown; allowed: {', '.join(SETUPS)}")
        if start_player is not None and not (_is_whole(start_player) and start_player in range(seats)):
            raise SetupError(f"start_player: {start_player!r} is not a seat; allowed: 0 to {seats - 1}")
        added = check_handicap(handicap, seats)
        state = np.zeros(STATE_WORDS, dtype=np.uint64)
        starter = -1 if start_player is None else int(start_player)
        set_up_into(state, seats, SETUPS.index(setup), starter, generator_of(seed), game.rules)
        add_handicaps(state.reshape(1, -1), added.reshape(1, -1))
        return cls(state, game)

    @classmethod
    def from_json(
        cls,
        position: Mapping[str, Any],
        components: str | Path | Sheet = "reconstructed",
        ruleset: str | RuleSet = "official",
    ) -> Position:
        """The position of a canonical JSON map (RULES.md section 8).

        Raises:
            InvalidPosition: it is not consistent with RULES.md sections 2, 3 and 8.
        """
        game = load_game(components, ruleset)
        made = cls(reading.from_json(position, game.sheet, game.ruleset), game)
        if not made.over and not made.legal_mask().any():
            raise reading.InvalidPosition("pending: the unfinished action cannot be completed")
        return made

    def to_json(self) -> dict[str, Any]:
        """The canonical JSON map (RULES.md section 8)."""
        return canonical.to_json(self.state, self.game.rules)

    def legal_mask(self) -> NDArray[np.uint64]:
        """The legal decisions as a packed mask, `uint64[MASK_WORDS]`; all 0 when the game is over."""
        mask = np.zeros(MASK_WORDS, dtype=np.uint64)
        legal_into(self._writable(), self.game.rules, mask)
        return mask

    def legal_ids(self) -> list[int]:
        """Ids of the legal decisions, ascending."""
        return notation.ids_of_mask(self.legal_mask())

    def legal(self) -> list[str]:
        """Notations of the legal decisions, sorted by code point."""
        return notation.notations_of_mask(self.legal_mask())

    def play(self, decision: str | int, ledger: NDArray[np.int16] | None = None) -> Position:
        """The position after a decision.

        Args:
            decision: a notation or an id.
            ledger: `int16[4, SOURCES]`, to which the influence gained and lost is added, if given.

        Raises:
            NotationError: there is no such decision.
            IllegalDecision: it is not legal here, or neither a text nor a whole number.
        """
        if not (isinstance(decision, str) or _is_whole(decision)):
            raise IllegalDecision(f"{decision!r} is not a decision; allowed: a notation or its id, a whole number")
        action = notation.parse(decision) if isinstance(decision, str) else int(decision)
        written = notation.notation_of(action)
        if not int(self.legal_mask()[action // 64]) >> action % 64 & 1:
            reason = "the game is over" if self.over else f"{len(self.legal_ids())} decisions are legal, see legal()"
            raise IllegalDecision(f"{written!r} is not legal here; {reason}")
        state = self._writable()
        apply_into(state, action, self.game.rules, new_ledger() if ledger is None else ledger)
        return Position(state, self.game)

    def _writable(self) -> NDArray[np.uint64]:
        return self.state.copy()

    @property
    def players(self) -> int:
        """Number of players."""
        return field_value(self.state, "players")

    @property
    def phase(self) -> str:
        """`shrines`, `novices`, `action` or `over`."""
        return canonical.PHASES[field_value(self.state, "phase")]

    @property
    def round(self) -> int:
        """1 to 6."""
        return field_value(self.state, "round")

    @property
    def start_player(self) -> int:
        """Seat of the round's start player."""
        return field_value(self.state, "start_player")

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == "over"

    @property
    def to_move(self) -> int | None:
        """Seat that decides next; None when the game is over."""
        return None if self.over else field_value(self.state, "to_move")

    @property
    def influence(self) -> list[int]:
        """Influence by seat."""
        return [value - INFLUENCE_BIAS for value in field_values(self.state, "influence")[: self.players]]

    @property
    def running_total(self) -> list[int]:
        """Influence with shrines and Council seats counted already, as the online edition shows it (section 6)."""
        numbers = self.game.sheet.resolved
        if self.over:
            return self.influence
        shrines, at = field_values(self.state, "shrines"), field_values(self.state, "council_seat")
        worth, council = int(numbers["end_influence"]["shrine"]), numbers["council"]
        return [v + worth * shrines[s].bit_count() + council[at[s]] for s, v in enumerate(self.influence)]

    @property
    def ranking(self) -> list[int]:
        """Rank by seat, 1 = most influence, ties by Council precedence (strict). Final once the game is over."""
        rank = field_values(self.state, "council_rank")
        order = sorted(range(self.players), key=lambda seat: (-self.influence[seat], rank[seat]))
        return [order.index(seat) + 1 for seat in range(self.players)]

    def __eq__(self, other: object) -> bool:
        """Equal words under an equal sheet and rule set."""
        if not isinstance(other, Position):
            return NotImplemented
        same_game = (self.game.sheet, self.game.ruleset) == (other.game.sheet, other.game.ruleset)
        return same_game and bool(np.array_equal(self.state, other.state))

    def __hash__(self) -> int:
        """The kernels' hash of the words."""
        out = np.zeros(1, dtype=np.uint64)
        hash_batch(self._writable().reshape(1, -1), out)
        return int(out[0])

    def __str__(self) -> str:
        """The board as text."""
        return draw(self.to_json())

    def __repr__(self) -> str:
        """Short: players, round, phase, who decides."""
        return f"<Position: {self.players} players, round {self.round}, {self.phase}, to move {self.to_move}>"


def new_ledger() -> NDArray[np.int16]:
    """An empty ledger of influence sources, `int16[4, SOURCES]`; columns as in `LEDGER_SOURCES`."""
    return np.zeros((MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)


assert len(LEDGER_SOURCES) == NUM_SOURCES
