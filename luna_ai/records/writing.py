"""Plays games decision by decision and writes them as records.

Every game of a run has random streams of its own, drawn from `SeedSequence(seed, spawn_key=(game,))`: first the deal's,
then one for the player at each seat. The header holds the run's `seed`, its `meta` the game's index `game`; both
together, with the other options, make the same game again (`luna record --seed SEED --first-game GAME --games 1`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

import numpy as np

from engine_fast.actions import NOTATIONS
from engine_fast.components import Sheet
from engine_fast.position import Position
from engine_fast.ruleset import RuleSet
from luna_ai import __version__
from luna_ai.records.lines import Decision, Header, RecordLine, Result, line_text

PROGRAM = "luna-ai"


class Chooser(Protocol):
    """Whoever decides at a seat."""

    def choose(self, position: Position) -> int:
        """The id of a legal decision."""
        ...


@dataclass(frozen=True)
class Recording:
    """What is played, and what the records hold.

    Attributes:
        agents: name of the player at each seat; as many as there are players.
        setup: `standard` or `preselected`.
        sheet: component sheet.
        ruleset: rule set and options.
        handicap: influence added at the start by turn position; empty for none.
        seed: of the run.
        positions: whether decisions state the position after them.
        legal: whether decisions state the legal decisions before them.
    """

    agents: tuple[str, ...]
    setup: str
    sheet: Sheet
    ruleset: RuleSet
    handicap: tuple[int, ...] = ()
    seed: int = 0
    positions: bool = False
    legal: bool = False

    def deal(self, seed: int) -> Position:
        """The set-up that a seed draws."""
        players, handicap = len(self.agents), self.handicap or None
        return Position.new(players, self.setup, seed, self.sheet, self.ruleset, handicap)

    def check(self) -> None:
        """Refuses what cannot be dealt.

        Raises:
            SetupError: number of players, set-up or handicap; one line.
        """
        self.deal(0)

    def seeds(self, game: int) -> list[int]:
        """Seed of the deal, then of the player at each seat, for a game of the run."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(game,))
        return [int(word) for word in sequence.generate_state(1 + len(self.agents), np.uint64)]

    def header(self, game: int, position: Position) -> Header:
        """The header of a game that begins with a position."""
        meta: dict[str, Any] = {"program": PROGRAM, "version": __version__, "setup": self.setup, "game": game}
        meta |= {"handicap": list(self.handicap)} if any(self.handicap) else {}
        sheet = self.sheet
        return Header(sheet.name, sheet.sha256, self.ruleset, position.to_json(), self.agents, self.seed, meta)


@dataclass(frozen=True)
class PlayedGame:
    """What is known of a recorded game without opening its file; lists are by seat."""

    game: int
    start_player: int
    decisions: int
    influence: list[int]
    rank: list[int]


MakePlayer = Callable[[str, int], Chooser]
"""The player of a name, and of a seed for its own randomness; ValueError for an unknown name."""


def write_records(
    file: Path,
    recording: Recording,
    games: Iterable[int],
    make_player: MakePlayer,
    watch: Callable[[PlayedGame], None] = lambda played: None,
) -> list[PlayedGame]:
    """Plays games and writes their records, one after another; the file appears when all are written.

    Args:
        file: an older one is replaced.
        recording: what is played.
        games: indices of the games in the run.
        make_player: makes the players, anew for each game.
        watch: called with each game once its record is written.

    Raises:
        KeyboardInterrupt: as it came; the file then holds the games that were finished, if there are any.
        OSError: the file cannot be written; an older one stays.
        SetupError: see `Recording.check`.
    """
    recording.check()
    written = []
    with RecordFile(file) as out:
        for game in games:
            seeds = recording.seeds(game)
            start = recording.deal(seeds[0])
            players = [make_player(name, seed) for name, seed in zip(recording.agents, seeds[1:], strict=True)]
            header = recording.header(game, start)
            lines = list(play_lines(header, start, players, recording.positions, recording.legal))
            out.add(lines)
            written.append(_played_game(game, start, lines))
            watch(written[-1])
    return written


def _played_game(game: int, start: Position, lines: Sequence[RecordLine]) -> PlayedGame:
    result = lines[-1]
    assert isinstance(result, Result)
    return PlayedGame(game, start.start_player, len(lines) - 2, result.influence, result.rank)


def play_lines(
    header: Header, position: Position, players: Sequence[Chooser], positions: bool = False, legal: bool = False
) -> Iterator[RecordLine]:
    """Plays a game from any position to its end and yields the lines of its record.

    Args:
        header: the first line; its set-up is `position`.
        position: where the game begins.
        players: by seat.
        positions: whether decisions state the position after them.
        legal: whether decisions state the legal decisions before them.

    Raises:
        IllegalDecision: a player's decision is not legal.
    """
    yield header
    while (seat := position.to_move) is not None:
        decision = int(players[seat].choose(position))
        before, position = position, position.play(decision)
        after = position.to_json() if positions else None
        yield Decision(NOTATIONS[decision], after, before.legal() if legal else None)
    yield Result(position.influence, position.ranking)


class RecordFile:
    """A file of records that gets its name only when it holds whole games: when a `with` block is left.

    It is written under a temporary name in the same folder and then renamed. If the block is interrupted by Ctrl-C,
    the games added so far are kept; without any, and after every other exception, the name stays as it was. What is
    no regular file (`/dev/stdout`, a pipe) is written directly.
    """

    def __init__(self, file: Path) -> None:
        """Opens the temporary file.

        Raises:
            OSError: the folder or the file cannot be written.
        """
        direct = file.exists() and not file.is_file()
        self._file = file if direct else file.resolve()  # a link stays, what it points to is replaced
        self._temporary = None if direct else self._file.with_name(f".{self._file.name}.{os.getpid()}.tmp")
        self._stream: TextIO = (self._temporary or self._file).open("w", encoding="ascii", newline="\n")
        self._games, self._bytes, self._discarded = 0, 0, False

    def add(self, lines: Iterable[RecordLine]) -> None:
        """Appends a game."""
        text = "".join(map(line_text, lines))
        self._stream.write(text)
        self._stream.flush()
        self._bytes += len(text)
        self._games += 1

    def discard(self) -> None:
        """Decides that the file is not to get its name."""
        self._discarded = True

    def __enter__(self) -> Self:
        """The open file."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Gives the file its name, or removes it."""
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        keep = (kind is None or (interrupted and self._games > 0)) and not self._discarded
        try:
            if self._temporary is not None and keep:
                self._cut_to_whole_games()
        finally:
            self._stream.close()
        if self._temporary is not None:
            self._rename() if keep else self._temporary.unlink(missing_ok=True)

    def _cut_to_whole_games(self) -> None:
        self._stream.flush()
        self._stream.truncate(self._bytes)
        os.fsync(self._stream.fileno())

    def _rename(self) -> None:
        assert self._temporary is not None
        os.replace(self._temporary, self._file)
