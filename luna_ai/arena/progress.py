"""Shows how far an arena is, and each verdict when it falls."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from luna_ai.arena.play import Progress
from luna_ai.arena.schedule import events_of
from luna_ai.arena.settings import Arena
from luna_ai.progress import Progress as Bar


class ArenaProgress:
    """Turns the reports of `run_arena` into progress on stderr; use it as a context manager."""

    def __init__(self, arena: Arena) -> None:
        """Shows nothing before `with`.

        Raises:
            InvalidArena: the groups cannot connect all players.
        """
        self._events = events_of(arena)
        sequential = any(event.test is not None for event in self._events)
        games = sum(event.first_game(event.blocks) for event in self._events)
        self._bar = Bar("playing", None if sequential else games, "games")
        self._games: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Shows the bar."""
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the last state on the screen."""
        self._bar.__exit__(kind, error, trace)

    def advance(self, games: int) -> None:
        """Some games are finished."""
        self._bar.advance(games)

    def report(self, progress: Progress) -> None:
        """A part is finished: counts what is kept (games found on disk too, none beyond a verdict)."""
        event, decision = progress.event, progress.decision
        self._games[event.slug] = progress.games
        self._bar.advance(sum(self._games.values()) - self._bar.done)
        if progress.finished and decision is not None:
            self._bar.say(
                f"against {event.opponent}, {event.players} players: {decision.verdict} after {decision.blocks:,} deals"
            )
