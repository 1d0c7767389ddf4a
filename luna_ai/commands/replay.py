"""Replays a file of game records with the reference and the engine, and names the first line that is wrong.

Exit codes: 0 verified; 1 a line does not verify; 2 no record, or a broken one; 3 verified, but a game has no result.

Examples:
    luna replay games.jsonl
    luna replay games.jsonl --draw --game 2 --from 10 --to 20 --delay 1
    luna replay games.jsonl --positions --legal --out complete.jsonl
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from luna_ai.config import UserError, WritesJson, argument, required

if TYPE_CHECKING:
    from luna_ai.records.verification import Watcher
    from luna_ai.records.watching import Rewriter


@dataclass(frozen=True)
class Config(WritesJson):
    """Options of `luna replay`."""

    file: Path = required("file of records", "FILE")
    draw: bool = argument(False, "draw the game step by step")
    game: int | None = argument(None, "draw only this game of the file, from 1", low=1)
    from_: int | None = argument(None, "first step to draw; 0 is the set-up", low=0)
    to: int | None = argument(None, "last step to draw", low=0)
    delay: float = argument(0.0, "seconds between the drawn steps", low=0, high=3600)
    components: str | None = argument(None, "sheet of the records, where it is not a packaged one", metavar="NAME|FILE")
    any_components: bool = argument(False, "replay also with a sheet that differs from the record's")
    out: Path | None = argument(None, "write the verified records to this file", writes="file", metavar="FILE")
    positions: bool = argument(False, "in --out, each decision states the position after it")
    legal: bool = argument(False, "in --out, each decision states the legal decisions before it")

    def check(self) -> None:
        """Refuses options that mean nothing together.

        Raises:
            UserError: one line that names them.
        """
        drawn = {"--game": self.game, "--from": self.from_, "--to": self.to, "--delay": self.delay or None}
        lonely = [flag for flag, value in drawn.items() if value is not None and not self.draw]
        if lonely:
            raise UserError(f"{lonely[0]}: only together with --draw")
        if self.from_ is not None and self.to is not None and self.from_ > self.to:
            raise UserError(f"--to: {self.to} comes before --from {self.from_}")
        if self.out is None and (self.positions or self.legal):
            raise UserError(f"--{'positions' if self.positions else 'legal'}: only together with --out FILE")


def run(config: Config) -> int:
    """Replays, draws, writes, and prints a line for each game."""
    from luna_ai.records import summary, verify
    from luna_ai.records.watching import Account, Film
    from luna_ai.terminal import console

    config.check()
    account = Account(print)
    film = Film(console(), config.game, config.from_ or 0, config.to, config.delay) if config.draw else None
    with ExitStack() as stack:
        watchers: list[Watcher] = [*([film] if film is not None else []), *_rewriters(config, stack), account]
        report = verify(config.file, config.components, config.any_components, watchers)
    if report.problem is not None:
        print(f"luna replay: does not verify: {report.problem}", file=sys.stderr)
    if config.json is not None:
        config.json.write_text(json.dumps(summary.replayed(report, account.records), indent=2) + "\n")
    if film is not None and not film.drawn and report.verified:
        found = f"games in the file: {report.games}, decisions in the longest: {account.longest()}"
        raise UserError(f"--draw: no step was chosen; {found}")
    return report.exit_code


def _rewriters(config: Config, stack: ExitStack) -> list[Rewriter]:
    from luna_ai.records.watching import Rewriter

    if config.out is None:
        return []
    return [stack.enter_context(Rewriter(config.out, config.positions, config.legal))]
