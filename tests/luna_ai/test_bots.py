"""The bots: decisions legal, from any position; games repeatable; voyages the best there are; strategies differ."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from benchmarks import bots
from engine_fast import LEDGER_SOURCES, Position, RuleSet, load_game, new_ledger
from engine_fast.check import problems
from luna_ai.bots.choosing import choose_into
from luna_ai.bots.columns import COLUMNS, INDEX
from luna_ai.bots.games import play_batch
from luna_ai.bots.greedy import plan_into
from luna_ai.bots.workspace import new_workspace, weight_table
from luna_ai.players import CODES, GREEDY, RANDOM
from luna_ai.strategies import STRATEGIES

SEED = 20240611
SCRIPTED = list(bots.SCRIPTED.values())
OPTIONS = {
    "official": RuleSet(),
    "online": RuleSet("online"),
    "all-turned": RuleSet(
        virtual_alone=False,
        virtual_promotion=False,
        council_overshoot=True,
        book_same_space=True,
        same_isle_moves=True,
        influence_floor=None,
    ),
    "short": RuleSet(max_actions_per_player=2, book_same_space=True),
}


@pytest.fixture(scope="module")
def workspace():
    return new_workspace()


@pytest.fixture
def generator():
    return np.array([SEED], dtype=np.uint64)


def mixed_codes(players: int, games: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(len(CODES), size=(games, players))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("players", "setup"), list(product((2, 3, 4), ("standard", "preselected"))))
def test_every_decision_of_every_bot_is_legal(players, setup, options, workspace):
    """4,800 games; `play_game` checks each decision and returns a negative number if one is not legal."""
    for sheet in ("reconstructed", "rosette"):
        rules = load_game(sheet, OPTIONS[options]).rules
        found = bots.play(mixed_codes(players, 100, SEED), SEED, workspace, setup, rules)
        assert (found.decisions > 0).all()
        assert len(set(found.hashes.tolist())) > 90


def test_an_illegal_decision_is_noticed():
    """Scores that are not numbers leave whatever id was best before: the game must stop there."""
    broken = new_workspace(np.full((1, len(COLUMNS)), np.nan))
    state, game = Position.new(2, seed=1).state.copy(), load_game()
    decisions = np.zeros(1, dtype=np.int32)
    rows = np.ones((1, 1), dtype=np.uint64), new_ledger()[None], decisions, np.zeros(1, dtype=np.uint64)
    play_batch(state[None], np.full((1, 4), GREEDY), game.rules, *rows, broken)
    assert decisions[0] == -1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_bots_can_decide_in_any_position(players, workspace, generator):
    """Along uniform random games: preliminary round, the middle of Journeys, Tides and Books that others began."""
    seen = set()
    for seed in range(12):
        position = Position.new(players, seed=seed)
        while not position.over:
            pending = position.to_json()["pending"]
            seen.add(position.phase if pending is None else (pending["action"], pending.get("stage")))
            legal = set(position.legal_ids())
            for code in SCRIPTED:
                state = position.state.copy()
                assert choose_into(code, state, position.game.rules, generator, workspace) in legal
                assert np.array_equal(state, position.state)
            uniform = choose_into(RANDOM, position.state.copy(), position.game.rules, generator, workspace)
            position = position.play(uniform)
    journey_and_tide = set(product(("journey", "tide"), ("lift", "land")))
    assert seen >= {"shrines", "novices", "action", ("book", None)} | journey_and_tide


def test_positions_between_bots_obey_the_laws(workspace, generator):
    position, ledger = Position.new(3, seed=4), new_ledger()
    while not position.over:
        code = SCRIPTED[position.to_move or 0]
        chosen = choose_into(code, position.state.copy(), position.game.rules, generator, workspace)
        position = position.play(chosen, ledger)
        assert problems(position.state, position.game.rules) == []
    assert [5 + int(row) for row in ledger.sum(axis=1)[:3]] == position.influence


def test_the_same_seeds_give_the_same_games_however_they_are_cut(workspace):
    codes = mixed_codes(4, 40, SEED)
    whole, again = bots.play(codes, SEED, workspace), bots.play(codes, SEED, new_workspace())
    assert np.array_equal(whole.hashes, again.hashes)
    assert np.array_equal(whole.ledgers, again.ledgers)
    size, bots.SLICE = bots.SLICE, 7
    try:
        assert np.array_equal(bots.play(codes, SEED, workspace).hashes, whole.hashes)
    finally:
        bots.SLICE = size


def test_kernels_are_compiled_once():
    assert len(play_batch.signatures) == len(choose_into.signatures) == 1


@pytest.mark.parametrize("kind", ["journey", "tide"])
def test_no_voyage_is_better_than_the_bot_s(kind, workspace):
    """Against all Journeys and Tides of up to four novices; the tolerance is the price that breaks ties."""
    gaps = bots.gaps(kind, 40, SEED, workspace)
    assert max(gaps) < 2e-5
    assert min(gaps) > -1e-9


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_voyage_is_finished_as_it_was_planned(players, workspace, generator):
    """Decided anew at each step, the steps of a Journey or Tide add up to what the first one promised."""
    found = 0
    for seed in range(20):
        position = Position.new(players, seed=seed)
        while not position.over:
            before, seat = position, position.to_move
            assert seat is not None
            decision = choose_into(GREEDY, position.state.copy(), position.game.rules, generator, workspace)
            position = position.play(decision)
            pending = position.to_json()["pending"]
            if pending is not None and pending["action"] != "book":
                tide, state = pending["action"] == "tide", before.state.copy()
                planned = plan_into(GREEDY, tide, state, before.game.rules, workspace)
                here = bots.worth(before, seat, workspace)
                after = follow(position, generator, new_workspace())
                assert bots.worth(after, seat, workspace) - here == pytest.approx(planned, abs=1e-4)
                found, position = found + 1, after
    assert found > 100


def follow(position: Position, generator, workspace) -> Position:
    """The position after the voyage that has begun."""
    while position.to_json()["pending"] is not None:
        chosen = choose_into(GREEDY, position.state.copy(), position.game.rules, generator, workspace)
        position = position.play(chosen)
    return position


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", bots.SCRIPTED)
def test_every_bot_beats_random_players_clearly(name, players, workspace):
    """One of it among random players: the lower end of the 95 % interval is above 0.95; an equal share is 1 / N."""
    found = bots.against_random(CODES[name], players, 200, SEED, workspace)
    assert found["interval"][0] > 0.95
    assert found["distinct"] == 200


@pytest.mark.parametrize("players", [2, 3, 4])
def test_greedy_is_far_above_random_players(players, workspace):
    found = bots.against_random(GREEDY, players, 300, SEED, workspace)
    assert found["share"] >= 0.99
    assert found["influence"] > 95


def test_each_strategy_excels_in_its_source(workspace):
    """In mixed games the mean of its ledger column is above that of every other bot, by the margin it states."""
    rows = bots.sources(SCRIPTED, 400, SEED, workspace)
    for strategy in STRATEGIES:
        found = bots.margin(rows, CODES[f"strategy:{strategy.name}"], strategy.source)
        assert found["own"] - found["second"] > strategy.margin + 1.96 * found["error"], strategy.name


def test_strategies_have_a_source_each():
    sources = [strategy.source for strategy in STRATEGIES]
    assert len(STRATEGIES) >= 6
    assert len(set(sources)) == len(sources)
    assert set(sources) <= set(LEDGER_SOURCES)


def test_any_two_bots_agree_on_at_most_seven_decisions_in_ten(workspace):
    chosen = bots.unforced(SCRIPTED, 12, SEED, workspace)
    among = bots.agreement(chosen)
    assert len(chosen) > 1500
    assert among[~np.eye(len(SCRIPTED), dtype=bool)].max() <= 0.70


def test_rows_of_weights_are_the_greedy_bot_s_but_for_named_columns():
    table = weight_table()
    assert table.shape == (1 + len(STRATEGIES), len(COLUMNS))
    for row, strategy in zip(table[1:], STRATEGIES, strict=True):
        assert set(strategy.weights) <= set(INDEX)
        changed = {COLUMNS[i].name for i in np.flatnonzero(row != table[0])}
        assert changed <= set(strategy.weights)


PLAIN_PYTHON = """
from engine_fast import Position
from luna_ai.players import make_player
greedy, other = make_player("greedy"), make_player("random", seed=1)
position = Position.new(2, seed=3)
while not position.over:
    position = position.play((greedy if position.to_move == 0 else other).choose(position))
print(position.influence)
"""


@pytest.mark.slow
def test_the_bots_run_without_compiling_too():
    printed = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run([sys.executable, "-c", PLAIN_PYTHON], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
