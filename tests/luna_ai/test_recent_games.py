"""Win shares over the newest games."""

from __future__ import annotations

import polars as pl
import pytest

from luna_ai.recent_games import LEAST, RecentGames, alone_at_table


def games(players: int, winners: list[int], start: int = 0) -> pl.DataFrame:
    """One game for each winning seat, with the same start player."""
    rows = [
        {"players": players, "seat": seat, "turn_position": (seat - start) % players, "rank": 1 if seat == won else 2}
        for won in winners
        for seat in range(players)
    ]
    return pl.DataFrame(rows)


def test_shares_by_turn_position_and_by_seat():
    recent = RecentGames()
    assert recent.shares(3) == ([], [])
    recent.add(games(3, [0, 0, 1, 2], start=1))
    recent.add(games(2, [1]))
    positions, seats = recent.shares(3)
    assert seats == pytest.approx([0.5, 0.25, 0.25])
    assert positions == pytest.approx([0.25, 0.25, 0.5])  # seat 1 is first, seat 2 second, seat 0 third
    assert recent.shares(2) == ([0.0, 1.0], [0.0, 1.0])


def test_old_games_go_once_there_are_enough_without_them():
    recent = RecentGames()
    recent.add(games(2, [0] * 600))
    recent.add(games(2, [1] * 600))
    assert recent.shares(2)[1] == [0.5, 0.5]  # without the first step there would be too few
    recent.add(games(2, [1] * (LEAST - 600)))
    assert recent.shares(2)[1] == [0.0, 1.0]


def test_it_goes_on_from_plain_data():
    recent = RecentGames()
    recent.add(games(4, [0, 3, 3]))
    again = RecentGames(recent.to_plain())
    for each in (recent, again):
        each.add(games(4, [1]))
    assert again.to_plain() == recent.to_plain()
    assert again.shares(4) == recent.shares(4)


def test_games_with_others_at_the_table_do_not_count():
    mixed = pl.DataFrame({"actor": [1, 1, 1, 1], "index": [7, 7, 8, 8], "player": ["self", "greedy", "self", "self"]})
    assert alone_at_table(mixed)["index"].to_list() == [8, 8]
