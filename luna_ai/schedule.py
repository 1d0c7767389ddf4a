"""The table in which games are asked for: one row a game, and all that the game depends on.

`luna_ai.runner` plays such a table; simulations, matches and seat studies write one.
"""

import polars as pl

SCHEDULE_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "game": pl.Int64,
    "block": pl.Int64,
    "deal": pl.UInt64,
    "seed": pl.UInt64,
    "players": pl.Int8,
    "setup": pl.String,
    "components": pl.String,
    "ruleset": pl.String,
    "start_player": pl.Int8,
    "agents": pl.List(pl.String),
    "handicap": pl.List(pl.Int16),
}
"""Columns of a schedule. `game` counts the games and `block` the deals from 0; `deal` seeds the set-up and `seed` the
players' chance; `ruleset` is a label as `luna_ai.runner.ruleset_label` writes it, `agents` are player names by seat,
`handicap` is influence added at the start by turn position."""
