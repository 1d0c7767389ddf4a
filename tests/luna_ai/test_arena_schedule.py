"""Who meets whom, and the explicit table of games."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest

from luna_ai.arena import Challenge, InvalidArena, RoundRobin, build_schedule, events_of
from luna_ai.arena.groups import groups_of, num_possible

NAMES = tuple("abcdefghij")


def groups(names, seats, limit=10**6, seed=0):
    return groups_of(names, seats, limit, np.random.default_rng(seed))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_all_groups_play_where_there_are_few(seats):
    assert groups(NAMES[:6], seats) == tuple(itertools.combinations(NAMES[:6], seats))
    assert num_possible(6, seats) == len(groups(NAMES[:6], seats))


def test_with_fewer_players_than_seats_some_sit_there_twice():
    assert groups("ab", 4) == (tuple("aaab"), tuple("aabb"), tuple("abbb"))
    assert groups("abc", 4) == (tuple("aabc"), tuple("abbc"), tuple("abcc"))
    assert (num_possible(2, 4), num_possible(3, 4)) == (3, 3)


@pytest.mark.parametrize(("seats", "limit"), [(2, 15), (2, 20), (3, 20), (4, 20), (4, 25)])
def test_a_part_of_the_groups_is_balanced(seats, limit):
    chosen = groups(NAMES, seats, limit)
    assert len(set(chosen)) == limit
    sat = Counter(name for group in chosen for name in group)
    met = Counter(pair for group in chosen for pair in itertools.combinations(group, 2))
    assert max(sat.values()) - min(sat.values()) <= 2
    assert max(met.values()) <= -(-limit * seats * (seats - 1) // 90) + 1
    assert chosen == groups(NAMES, seats, limit)
    assert chosen != groups(NAMES, seats, limit, seed=1)


def test_too_few_groups_to_compare_all_players_are_refused():
    with pytest.raises(InvalidArena, match="max_groups = 2 leaves players uncompared; 10 players at tables of 4"):
        groups(NAMES, 4, 2)


def blocks_of(arena, event):
    return build_schedule(arena, event, range(event.blocks)).partition_by("block", maintain_order=True)


@pytest.mark.parametrize(("players", "games"), [(2, 4), (3, 18), (4, 96)])
def test_a_block_is_one_deal_in_all_seatings_times_every_start_player(players, games):
    arena = RoundRobin(agents=NAMES[:5], deals=2, players=(players,))
    (event,) = events_of(arena)
    for block in blocks_of(arena, event):
        assert len(block) == games
        assert block["deal"].n_unique() == 1
        assert block["seed"].n_unique() == games
        assert block.select(pl.struct("agents", "start_player")).n_unique() == games
        places = Counter(
            (name, seat, (seat - row["start_player"]) % players)
            for row in block.iter_rows(named=True)
            for seat, name in enumerate(row["agents"])
        )
        assert set(places.values()) == {games // players**2}
        assert len(places) == players**3


def test_rotations_are_fewer():
    arena = RoundRobin(agents=NAMES[:4], deals=1, players=(4,), seatings="rotations")
    (event,) = events_of(arena)
    assert [len(block) for block in blocks_of(arena, event)] == [16]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_match_seats_one_among_copies_both_ways_around(players):
    arena = Challenge(challenger="a", against=("b", "c"), players=(players,), max_deals=40)
    first, second = events_of(arena)
    assert (first.slug, second.slug) == (f"p{players}-match00", f"p{players}-match01")
    tables = [Counter(table) for table in second.tables]
    assert tables == [{"a": 1, "c": players - 1}, {"c": 1, "a": players - 1}][: 1 if players == 2 else 2]
    for block in blocks_of(arena, first)[:2]:
        assert len(block) == (4 if players == 2 else players * players)
    assert first.test is not None
    assert first.test.alpha == pytest.approx(0.025)


def test_games_are_counted_on_and_rows_depend_on_their_block_alone():
    arena = RoundRobin(agents=("a", "b"), deals=3, players=(4,))  # blocks of 16 and of 24 games
    (event,) = events_of(arena)
    whole = build_schedule(arena, event, range(event.blocks))
    assert whole["game"].to_list() == list(range(3 * (16 + 24 + 16)))
    assert [event.first_game(block) for block in range(4)] == [0, 16, 40, 56]
    part = build_schedule(arena, event, range(4, 7))
    assert part.equals(whole.filter(pl.col("block").is_between(4, 6)))


def test_no_two_blocks_share_a_deal_or_a_seed():
    arena = Challenge(challenger="a", against=("b", "c"), max_deals=30)
    plans = [build_schedule(arena, event, range(event.blocks)) for event in events_of(arena)]
    assert sum(plan["deal"].n_unique() for plan in plans) == pl.concat(plans)["deal"].n_unique()
    assert pl.concat(plans)["seed"].n_unique() == sum(map(len, plans))
    assert sum(plan["block"].n_unique() for plan in plans) == pl.concat(plans)["deal"].n_unique()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"agents": ("a",)}, "agents must name 2 to 64 players, got 1"),
        ({"agents": ("a", "b", "a")}, "agents names a twice; allowed: each player once"),
        ({"players": (5,)}, "players must be some of 2, 3, 4, none twice"),
        ({"players": (2, 2)}, "players must be some of 2, 3, 4, none twice"),
        ({"handicap": (0, 1)}, "handicap must be 3 numbers with 3 players"),
        ({"deals": 0}, "deals must be at least 1, got 0"),
        ({"seatings": "some"}, "seatings must be some of all, rotations"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_impossible_round_robins_are_refused(change, message):
    with pytest.raises(InvalidArena, match=message):
        RoundRobin(**({"agents": ("a", "b"), "players": (3,)} | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"against": ()}, "against must name 1 to 64 players, got 0"),
        ({"against": ("a",)}, "challenger a stands among against"),
        ({"better_by": 0.0}, "better_by must be above 0"),
        ({"better_by": 0.5}, "leave 1/N \\+ better_by below 1"),
        ({"max_deals": 20}, "max_deals must be at least 30, got 20"),
        ({"min_deals": 1}, "min_deals must be at least 2"),
    ],
)
def test_impossible_matches_are_refused(change, message):
    with pytest.raises(InvalidArena, match=message):
        Challenge(**({"challenger": "a", "against": ("b",)} | change))
