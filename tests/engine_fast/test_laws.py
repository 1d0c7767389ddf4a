"""Laws that hold in every position of every game, on games that hypothesis makes up."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_fast import NUM_ACTIONS, Position, RuleSet, max_decisions, new_ledger
from engine_fast.actions import BLOCK_MASKS, MASK_WORDS
from engine_fast.batch import apply_batch, hash_batch, legal_batch, over_batch
from engine_fast.check import problems
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, STATE_WORDS
from engine_fast.notation import ids_of_mask
from engine_fast.perft import perft
from tests.engine_fast.arranged import KINDS, Json
from tests.rules import builder

laws = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
rulesets = st.builds(
    RuleSet,
    name=st.sampled_from(["official", "online"]),
    virtual_alone=st.booleans(),
    virtual_promotion=st.booleans(),
    council_overshoot=st.booleans(),
    book_same_space=st.booleans(),
    same_isle_moves=st.booleans(),
    influence_floor=st.sampled_from([None, 0, 3, 5]),
    max_actions_per_player=st.sampled_from([1, 2, 5, 60]),
)


@st.composite
def starts(draw: st.DrawFn) -> Position:
    """A set-up position with any number of players, set-up, sheet, rule set and handicap."""
    players = draw(st.integers(2, 4))
    return Position.new(
        players,
        draw(st.sampled_from(["standard", "preselected"])),
        draw(st.integers(0, 2**32)),
        draw(st.sampled_from(["reconstructed", "rosette"])),
        draw(rulesets),
        draw(st.lists(st.integers(-30, 30), min_size=players, max_size=players)),
    )


def random_choice(position: Position, rng: random.Random) -> int:
    """An id: first a block of the action table, then a decision of it."""
    of_blocks = BLOCK_MASKS & position.legal_mask()
    return rng.choice(ids_of_mask(of_blocks[rng.choice(np.flatnonzero(of_blocks.any(axis=1)).tolist())]))


def random_walk(position: Position, rng: random.Random, steps: int = 10**6, ledger: Any = None) -> list[Position]:
    """The positions of a random game, the first one included."""
    walk = [position]
    while not walk[-1].over and len(walk) <= steps:
        walk.append(walk[-1].play(random_choice(walk[-1], rng), ledger))
    return walk


@laws
@given(starts(), st.randoms(use_true_random=False))
def test_a_game_obeys_the_laws_and_ends(start: Position, rng: random.Random):
    ledger = new_ledger()
    walk = random_walk(start, rng, ledger=ledger)
    assert walk[-1].over
    assert len(walk) - 1 <= max_decisions(start.players, start.game.ruleset)
    for position in walk:
        assert problems(position.state, position.game.rules) == []
        legal = position.legal_ids()
        assert legal == sorted(set(legal))
        assert all(0 <= action < NUM_ACTIONS for action in legal)
        assert bool(legal) != position.over
        assert perft(position.state, position.game.rules, 1) == len(legal)
    gained = [int(row.sum()) for row in ledger]
    assert [a + b for a, b in zip(start.influence, gained, strict=False)] == walk[-1].influence
    assert sorted(walk[-1].ranking) == list(range(1, start.players + 1))
    assert not ledger[start.players :].any()


@laws
@given(starts(), st.randoms(use_true_random=False), st.integers(0, 150))
def test_perft_adds_up(start: Position, rng: random.Random, steps: int):
    position = random_walk(start, rng, steps)[-1]
    state, rules = position.state, position.game.rules
    children = [position.play(action) for action in position.legal_ids()]
    assert perft(state, rules, 0) == 1
    assert perft(state, rules, 2) == sum(perft(child.state, rules, 1) for child in children)
    assert not position.over or perft(state, rules, 1) == 0


@laws
@given(starts(), st.randoms(use_true_random=False))
def test_batch_verbs_are_single_verbs(start: Position, rng: random.Random):
    """A batch of the positions of a game, rows with a negative id among them."""
    walk = random_walk(start, rng)
    rules, count = start.game.rules, len(walk)
    states = np.array([position.state for position in walk])
    masks, hashes, over = (
        np.zeros((count, MASK_WORDS), np.uint64),
        np.zeros(count, np.uint64),
        np.zeros(count, np.bool_),
    )
    legal_batch(states, rules, masks)
    hash_batch(states, hashes)
    over_batch(states, over)
    assert all((mask == position.legal_mask()).all() for mask, position in zip(masks, walk, strict=True))
    assert hashes.tolist() == [position.__hash__() for position in walk]
    assert over.tolist() == [position.over for position in walk]
    chosen = [-1 if p.over or rng.random() < 0.3 else random_choice(p, rng) for p in walk]
    ledgers, expected = (np.zeros((count, MAX_PLAYERS, NUM_SOURCES), np.int16) for _ in range(2))
    after = [p if a < 0 else p.play(a, row) for p, a, row in zip(walk, chosen, expected, strict=True)]
    apply_batch(states, np.array(chosen, np.int64), rules, ledgers)
    assert (states == np.array([position.state for position in after])).all()
    assert (ledgers == expected).all()


def test_a_batch_plays_the_first_id_and_leaves_negative_ones():
    start = Position.from_json(builder.position(2, seats=[builder.seat({"book": 1}, favors=["tide"])]))
    assert start.legal_ids()[0] == 0
    states = np.array([start.state, start.state])
    ledgers = np.zeros((2, MAX_PLAYERS, NUM_SOURCES), np.int16)
    apply_batch(states, np.array([0, -1], np.int64), start.game.rules, ledgers)
    assert (states == np.array([start.play(0).state, start.state])).all()


@laws
@given(starts(), st.randoms(use_true_random=False), st.integers(0, 100))
def test_copies_do_not_alias(start: Position, rng: random.Random, steps: int):
    position = random_walk(start, rng, steps)[-1]
    before, text = position.state.tobytes(), str(position)
    children = [position.play(action) for action in position.legal_ids()]
    states = np.array([child.state for child in children]).reshape(-1, STATE_WORDS)
    states[:] = 0
    position.legal_mask()[:] = 0
    assert position.state.tobytes() == before
    assert str(position) == text
    assert all(child.state.any() and not np.shares_memory(child.state, position.state) for child in children)
    with pytest.raises(ValueError, match="read-only"):
        position.state[0] = 1


@laws
@given(starts(), st.randoms(use_true_random=False))
def test_hashes_tell_positions_apart(start: Position, rng: random.Random):
    positions = {position.state.tobytes(): position for _ in range(3) for position in random_walk(start, rng)}
    assert len({hash(position) for position in positions.values()}) == len(positions) > 3
    assert len(set(positions.values())) == len(positions)


# --- other names for the same thing --------------------------------------------------------------------------------


def rotated_seats(position: Json, by: int) -> Json:
    """The same position with every seat number raised by `by`."""
    count = position["players"]

    def seat(number: int | None) -> int | None:
        return None if number is None else (number + by) % count

    return position | {
        "start_player": seat(position["start_player"]),
        "to_move": seat(position["to_move"]),
        "council": [[seat(piece) for piece in stack] for stack in position["council"]],
        "seats": [position["seats"][(number - by) % count] for number in range(count)],
        "tiles": {
            name: tile | ({"owner": seat(tile["owner"])} if "owner" in tile else {})
            for name, tile in position["tiles"].items()
        },
    }


@laws
@given(starts(), st.randoms(use_true_random=False), st.integers(1, 3))
def test_seats_have_no_names(start: Position, rng: random.Random, by: int):
    """The same game with all seats moved on: the same decisions, everything moved on."""
    game = start.game
    other = Position.from_json(rotated_seats(start.to_json(), by), game.sheet, game.ruleset)
    position = start
    while not position.over:
        assert other.legal_ids() == position.legal_ids()
        action = random_choice(position, rng)
        position, other = position.play(action), other.play(action)
        assert other.to_json() == rotated_seats(position.to_json(), by)
    count = position.players
    assert [other.ranking[(seat + by) % count] for seat in range(count)] == position.ranking


@laws
@given(starts(), st.randoms(use_true_random=False), st.integers(1, 6))
def test_the_ring_has_no_beginning(start: Position, rng: random.Random, by: int):
    """The same game with the ring written down from another isle on."""
    game = start.game

    def turned(position: Json) -> Json:
        ring = position["ring"]
        return position | {"ring": ring[by:] + ring[:by]}

    other = Position.from_json(turned(start.to_json()), game.sheet, game.ruleset)
    position = start
    while not position.over:
        assert other.legal_ids() == position.legal_ids()
        action = random_choice(position, rng)
        position, other = position.play(action), other.play(action)
        assert other.to_json() == turned(position.to_json())
    assert sorted(KINDS) == sorted(position.to_json()["ring"])
