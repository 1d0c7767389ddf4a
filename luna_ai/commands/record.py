"""Plays games decision by decision and writes them to a file of records (docs/RULES.md, section 9).

Every game is drawn from --seed and its index alone; --first-game GAME --games 1 makes one of them again. The file gets
its name when all games are written; Ctrl-C keeps those that are finished.

Example:
    luna record --players 3 --games 10 --seed 7 --agents random greedy random --positions --legal --out games.jsonl
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from luna_ai.config import GameOptions, Seeded, WritesJson, argument, fill_seats

if TYPE_CHECKING:
    from luna_ai.records import PlayedGame, Recording


@dataclass(frozen=True)
class Config(GameOptions, Seeded, WritesJson):
    """Options of `luna record`."""

    agents: tuple[str, ...] = argument(("random",), "player at each seat; one name fills all seats", metavar="NAME")
    games: int = argument(1, "number of games", low=1)
    first_game: int = argument(0, "index of the first game in the run of this seed", low=0, high=2**32 - 1)
    positions: bool = argument(False, "each decision states the position after it")
    legal: bool = argument(False, "each decision states the legal decisions before it")
    out: Path = argument(cast(Any, None), "file of records to write; an older one is replaced", writes="file")

    def recording(self) -> Recording:
        """What is played, checked.

        Raises:
            ValueError: a player, the sheet, the rule set or the handicap is not allowed; one line.
        """
        from luna_ai.players import parse_player
        from luna_ai.records import Recording

        names = tuple(parse_player(name).name for name in fill_seats(self.agents, self.players))
        sheet, ruleset = self.rules()
        options = (self.handicap, self.seed, self.positions, self.legal)
        return Recording(names, self.setup, sheet, ruleset, *options)


def run(config: Config) -> int:
    """Writes the records and prints who won how often."""
    from luna_ai.cli import INTERRUPTED
    from luna_ai.players import make_player
    from luna_ai.progress import Progress
    from luna_ai.records import summary, write_records
    from luna_ai.terminal import console

    recording = config.recording()
    played: list[PlayedGame] = []
    code = 0
    with Progress("recording", config.games, "games") as progress:

        def finished(game: PlayedGame) -> None:
            played.append(game)
            progress.advance()

        games = range(config.first_game, config.first_game + config.games)
        try:
            write_records(config.out, recording, games, make_player, finished)
        except KeyboardInterrupt:
            code = INTERRUPTED
    console().print(summary.recorded_table(recording, played))
    if code == INTERRUPTED:
        print(f"luna record: interrupted, {summary.kept(config.out, played)}", file=sys.stderr)
    if config.json is not None:
        config.json.write_text(json.dumps(summary.recorded(recording, played, config.games), indent=2) + "\n")
    return code
