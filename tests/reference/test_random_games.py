"""Laws of sections 2 and 3 along random games, under both rule sets and every option."""

from __future__ import annotations

import random

import pytest

from engine_fast.reference import IllegalDecision, Position
from engine_fast.reference.model import KINDS, BookInHand, Voyage
from engine_fast.reference.notation import DECISIONS
from tests.reference.games import random_game, reference

RULE_SETS = {
    "official": {},
    "online": {"name": "online"},
    "unusual": {
        "virtual_alone": False,
        "virtual_promotion": False,
        "council_overshoot": True,
        "book_same_space": True,
        "same_isle_moves": True,
        "influence_floor": None,
        "max_actions_per_player": 9,
    },
    "short": {"max_actions_per_player": 1, "influence_floor": 3},
}
CASES = [
    pytest.param(players, setup, sheet, options, id=f"{players}-{setup}-{sheet}-{name}")
    for players in (2, 3, 4)
    for setup in ("standard", "preselected")
    for sheet in ("reconstructed", "rosette")
    for name, options in RULE_SETS.items()
]


def assert_laws(position: Position) -> None:
    for player, seat in enumerate(position.seats):
        hand = position.pending.hand if isinstance(position.pending, Voyage) and player == position.to_move else 0
        on_tiles = sum(tile.owner == player for tile in position.tiles.values())
        on_isles = sum(seat.active.values()) + sum(seat.inactive.values())
        assert on_isles + seat.landing + seat.supply + on_tiles + hand == 13
        assert len(seat.shrines) <= 6
        assert min([*seat.active.values(), *seat.inactive.values(), seat.landing, seat.supply]) >= 0
    books = sum(tile.book for tile in position.tiles.values()) + isinstance(position.pending, BookInHand)
    assert books == position.players
    assert all(tile.owner is not None for tile in position.tiles.values() if tile.book)
    for kind in KINDS:
        assert sum(kind in seat.favors for seat in position.seats) <= position.players
    assert sorted(piece for stack in position.council for piece in stack) == list(range(position.players))


@pytest.mark.parametrize(("players", "setup", "sheet", "options"), CASES)
def test_laws_hold_and_every_position_is_a_valid_set_up(players, setup, sheet, options):
    twin = reference(sheet, **options)
    for seed in range(3):
        for position, _ in random_game(twin, random.Random(seed), players, setup):
            assert_laws(position)
            data = twin.dump(position)
            assert twin.valid_setup(data) == []
            assert twin.load(data) == position


@pytest.mark.parametrize("players", [2, 3, 4])
def test_legal_lists_are_sorted_and_complete(players):
    """What is not in the legal list cannot be played, and asking and playing change nothing."""
    twin, rng = reference(), random.Random(players)
    for position, decision in random_game(twin, rng, players, "standard"):
        before = twin.dump(position)
        legal = twin.legal(position)
        assert legal == sorted(set(legal))
        if decision:
            twin.play(position, decision)
        for text in rng.sample(sorted(DECISIONS), 5):
            if text not in legal:
                with pytest.raises(IllegalDecision, match="is illegal here"):
                    twin.play(position, text)
        assert twin.dump(position) == before


@pytest.mark.parametrize("players", [2, 3, 4])
def test_after_the_preliminary_round(players):
    """Section 2: 8 active novices, 1 shrine, 2 favors, 1 novice in the Temple, 4 in supply."""
    twin = reference()
    for setup in ("standard", "preselected"):
        game = random_game(twin, random.Random(5), players, setup)
        position = next(position for position, _ in game if position.phase == "action")
        for player, seat in enumerate(position.seats):
            assert sorted(seat.active.values()) == [0, 0, 0, 2, 2, 2, 2]
            assert (len(seat.shrines), len(seat.favors), seat.supply, seat.influence) == (1, 2, 4, 5)
            assert not seat.favors & seat.shrines
            assert not any(seat.active[kind] for kind in seat.favors)
            assert sum(tile.owner == player for tile in position.tiles.values()) == 1
        assert position.to_move == position.start_player


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ranks_are_strict(players):
    twin = reference()
    for seed in range(10):
        *_, (last, _) = random_game(twin, random.Random(seed), players, "preselected")
        result = twin.result(last)
        assert sorted(result["rank"]) == list(range(1, players + 1))
        by_rank = sorted(range(players), key=lambda seat: result["rank"][seat])
        influence = [result["influence"][seat] for seat in by_rank]
        assert influence == sorted(influence, reverse=True)
