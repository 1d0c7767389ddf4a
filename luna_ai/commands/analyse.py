"""Says what a search thinks of each decision of recorded games, and which of them were the largest mistakes.

Each decision is searched three times with the budget of --player: its position, the position after the best decision
and that after the played one. docs/ANALYSE.md explains the figures. Ctrl-C keeps what is finished.

Exit codes: 0 done; 1 a line does not verify; 2 no record, or a broken one; 3 done, but a game has no result;
130 interrupted.

Examples:
    luna analyse games.jsonl
    luna analyse games.jsonl --game 2 --seat 0 --from 40 --player mcts:sims=2000 --json analysis.json
    luna analyse games.jsonl --player net:runs/quick/checkpoints/latest,sims=64
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from luna_ai.config import Seeded, UserError, WritesJson, argument, required


@dataclass(frozen=True)
class Config(Seeded, WritesJson):
    """Options of `luna analyse`."""

    file: Path = required("file of records", "RECORD")
    player: str = argument("mcts:sims=400", "who searches: mcts:KEY=VALUE,... or net:PATH,sims=64", metavar="NAME")
    top: int = argument(3, "best decisions to show of each position", low=1, high=637)
    mistakes: int = argument(5, "largest mistakes to show of each game", low=0, high=10_000)
    game: int | None = argument(None, "only this game of the file, from 1", low=1)
    from_: int = argument(1, "first decision, counted from 1 as luna replay does", low=1)
    to: int | None = argument(None, "last decision", low=1)
    seat: int | None = argument(None, "only decisions of this seat", low=0, high=3)
    components: str | None = argument(None, "sheet of the records, where it is not a packaged one", metavar="NAME|FILE")
    any_components: bool = argument(False, "also with a sheet that differs from the record's")

    def check(self) -> None:
        """Refuses options that mean nothing together.

        Raises:
            UserError: one line that names them.
        """
        if self.to is not None and self.from_ > self.to:
            raise UserError(f"--to: {self.to} comes before --from {self.from_}")


def run(config: Config) -> int:
    """Searches, shows and writes."""
    from luna_ai.analysis import analyse_games, searcher_of
    from luna_ai.analysis_view import analysis_view
    from luna_ai.interrupt import Interrupts
    from luna_ai.players import parse_player
    from luna_ai.progress import Progress
    from luna_ai.records import Mismatch
    from luna_ai.terminal import console
    from luna_ai.turns import Choice, check_chosen, read_games

    config.check()
    player = searcher_of(parse_player(config.player))
    try:
        games = list(read_games(config.file, config.components, config.any_components, config.game))
    except Mismatch as problem:
        print(f"luna analyse: does not verify: {problem}", file=sys.stderr)
        return 1
    choice = Choice(config.from_, config.to, config.seat)
    with Progress("analysing", check_chosen(games, choice), "decisions") as progress, Interrupts() as interrupts:
        settings = (player, config.seed, config.top, lambda: interrupts.seen, progress.advance)
        analysis = analyse_games(config.file, games, choice, *settings)
    console().print(analysis_view(analysis, config.mistakes))
    if config.json is not None:
        config.json.write_text(json.dumps(analysis.to_json(config.mistakes), indent=1, allow_nan=False) + "\n")
    if analysis.interrupted:
        print("luna analyse: interrupted, the decisions above are kept", file=sys.stderr)
    return analysis.exit_code
