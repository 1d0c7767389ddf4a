"""Recorded decisions as positions: the verified games of a file, and which of their decisions are meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_fast.components import Sheet
from engine_fast.position import Position
from luna_ai.records import GameEnd, replay
from luna_ai.records.summary import replayed_game


class NoSuchDecision(ValueError):
    """A choice of games or decisions that a file does not have; one line that says what it has."""


@dataclass(frozen=True)
class Turn:
    """A recorded decision.

    Attributes:
        number: as `luna replay` counts, from 1.
        position: before it.
        decision: the notation.
    """

    number: int
    position: Position
    decision: str

    @property
    def seat(self) -> int:
        """Who decided."""
        assert self.position.to_move is not None  # a verified decision stands in a game that goes on
        return self.position.to_move

    @property
    def forced(self) -> bool:
        """Whether no other decision was legal."""
        return len(self.position.legal_ids()) == 1


@dataclass(frozen=True)
class RecordedGame:
    """A verified game of a file.

    Attributes:
        about: as `luna_ai.records.summary.replayed_game`: `game` (number in the file, from 1), `seats`, `finished`, ...
        turns: its decisions.
    """

    about: dict[str, Any]
    turns: list[Turn]


@dataclass(frozen=True)
class Choice:
    """Which decisions are analysed: numbers from `first` to `last` (None: to the end), of one seat (None: of all)."""

    first: int = 1
    last: int | None = None
    seat: int | None = None

    def of(self, game: RecordedGame) -> list[Turn]:
        """The chosen decisions of a game."""
        numbered = [t for t in game.turns if self.first <= t.number and (self.last is None or t.number <= self.last)]
        return [turn for turn in numbered if self.seat in (None, turn.seat)]


def read_games(
    file: Path, components: str | Path | Sheet | None = None, any_components: bool = False, game: int | None = None
) -> Iterator[RecordedGame]:
    """The games of a file, verified; with `game` that one alone, and what follows it is not read.

    Raises:
        NoSuchDecision: there is no such game.
        Mismatch, RecordError, SheetError, OSError: as `luna_ai.records.replay`.
    """
    turns: list[Turn] = []
    games = 0
    for event in replay(file, components, any_components):
        games = event.game
        if game not in (None, games):
            continue
        if isinstance(event, GameEnd):
            yield RecordedGame(replayed_game(event), turns)
            if game is not None:
                return
        elif event.decision is None:
            position, turns = Position.from_json(event.position, event.sheet, event.header.ruleset), []
        else:
            turns.append(Turn(event.number, position, event.decision))
            position = position.play(event.decision)
    if game is not None:
        raise NoSuchDecision(f"game {game} is not in {file}; allowed: 1 to {games}")


def check_chosen(games: Sequence[RecordedGame], choice: Choice) -> int:
    """How many decisions of the games are chosen.

    Raises:
        NoSuchDecision: none.
    """
    chosen = sum(len(choice.of(game)) for game in games)
    if not chosen:
        longest = max((len(game.turns) for game in games), default=0)
        seats = max((len(game.about["seats"]) for game in games), default=0)
        raise NoSuchDecision(f"no decision was chosen; allowed: decisions 1 to {longest}, seats 0 to {seats - 1}")
    return chosen
