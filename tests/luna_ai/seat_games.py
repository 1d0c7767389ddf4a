"""A game runner for tests: influence by turn position with a planted effect, dependent within a deal; small studies."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from luna_ai.seats import SeatStudy, Variant

EFFECT = (6.0, 0.0, -4.0, 2.0)
SMALL = SeatStudy(players=(2, 3), deals=30, seed=5)
THREE = Variant(3, "standard", "official", "reconstructed")
COPIED = ("game", "block", "deal", "seed", "players", "setup", "components", "ruleset")


@dataclass
class FakeGames:
    """Plays a schedule by drawing influences.

    `effect` is added by turn position, `skill` by player name; `deal_spread` is the spread of what the deal gives each
    seat. Raises `failure` in call number `fail_at` (from 0), or returns only `rows_at_failure` rows if that is set.
    """

    effect: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    skill: tuple[tuple[str, float], ...] = ()
    deal_spread: float = 8.0
    noise: float = 12.0
    hashes: bool = False
    fail_at: int | None = None
    failure: type[BaseException] | BaseException = KeyboardInterrupt
    rows_at_failure: int | None = None
    calls: int = 0

    def __call__(self, schedule: pl.DataFrame) -> pl.DataFrame:
        self.calls += 1
        rows = [row for game in schedule.iter_rows(named=True) for row in self.game(game)]
        table = pl.DataFrame(rows, schema_overrides={"deal": pl.UInt64, "seed": pl.UInt64, "moves_hash": pl.UInt64})
        if self.fail_at is not None and self.calls > self.fail_at:
            if self.rows_at_failure is None:
                raise self.failure
            return table.head(self.rows_at_failure)
        return table.sample(fraction=1.0, shuffle=True, seed=self.calls)

    def game(self, game):
        players, start = game["players"], game["start_player"]
        deal = np.random.default_rng(game["deal"]).normal(0, self.deal_spread, players)
        drawn = np.random.default_rng(game["seed"]).normal(50, self.noise, players)
        position = (np.arange(players) - start) % players
        skill = np.array([dict(self.skill).get(name, 0.0) for name in game["agents"]])
        handicap = np.array(game["handicap"])[position]
        influence = np.rint(drawn + deal + np.array(self.effect)[position] + skill).astype(int) + handicap
        rank = np.empty(players, dtype=int)
        rank[np.lexsort((position, -influence))] = np.arange(1, players + 1)
        for seat in range(players):
            yield {
                **{key: game[key] for key in COPIED},
                "start_player": start,
                "seat": seat,
                "turn_position": int(position[seat]),
                "player": game["agents"][seat],
                "influence": int(influence[seat]),
                "rank": int(rank[seat]),
                "start_influence": 5 + int(handicap[seat]),
                "guard": int(influence[seat]) - 5 - int(handicap[seat]),
                "decisions": 200,
                **({"moves_hash": game["seed"]} if self.hashes else {}),
            }
