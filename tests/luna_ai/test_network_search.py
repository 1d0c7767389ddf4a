"""Lock-step search with an evaluator: against a slow twin, its formulas, proofs, independence, interruption, errors."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax as exact_softmax

from engine_fast import Position
from engine_fast.actions import NUM_ACTIONS
from engine_fast.layout import STATE_WORDS, columns
from luna_ai.players import make_player
from luna_ai.search.compiling import kernel
from luna_ai.search.evaluators import Batch, HashEvaluator, PlayoutEvaluator, UniformEvaluator
from luna_ai.search.lockstep.forest import EXACT, LOST, NO_NODE, UNPROVEN
from luna_ai.search.lockstep.gumbel import halving_schedule, mixed_value, sigma_scale
from luna_ai.search.lockstep.softmax import new_powers, softmax
from luna_ai.search.network_search import NetworkOptions, NetworkResult, NetworkSearch, NetworkSearchError
from tests.engine_fast.test_laws import rotated_seats
from tests.luna_ai.slow_search import improved_policy
from tests.luna_ai.slow_search import search as slow_search

RULES = ("gumbel", "puct")


@kernel
def softmax_kernel(numbers: Any, first: Any, count: Any, powers: Any) -> None:
    """The inlined function, for a call from Python."""
    softmax(numbers, first, count, powers)


def played_on(players: int, decisions: int, seed: int) -> Position:
    """A position after some random decisions, the last of which left a choice."""
    rng = np.random.default_rng(seed)
    position = Position.new(players, seed=seed)
    while decisions > 0 or len(position.legal_ids()) == 1:
        position, decisions = position.play(int(rng.choice(position.legal_ids()))), decisions - 1
    return position


def near_the_end(players: int, seed: int, token: int = 1) -> Position:
    """A position of round 6 with so many Time tokens left, in which there is a choice."""
    greedy, position = make_player("greedy", 0), Position.new(players, seed=seed)
    while not (position.round == 6 and position.phase == "action" and position.to_json()["time_tokens"] <= token):
        position = position.play(greedy.choose(position))
    return position if len(position.legal_ids()) > 1 else near_the_end(players, seed + 100, token)


def run(
    positions: list[Position], evaluator: Any = None, seed: int = 1, **options: Any
) -> tuple[NetworkSearch, NetworkResult]:
    """A search of some positions together."""
    search = NetworkSearch(NetworkOptions(**options), evaluator or HashEvaluator(), len(positions), seed)
    states = np.array([position.state for position in positions])
    return search, search(states, positions[0].game.rules)


def mixed_tables(count: int) -> list[Position]:
    """Positions of games with 2, 3 and 4 players at various times."""
    return [played_on(2 + index % 3, 9 + 11 * index, seed=index) for index in range(count)]


# --- formulas


def test_halving_schedule_by_hand() -> None:
    """4 considered, 8 simulations: 2 phases; one visit for each of 4, then two for each of the better 2."""
    assert halving_schedule(4, 8).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert halving_schedule(2, 5).tolist() == [0, 0, 1, 1, 2]
    assert halving_schedule(1, 3).tolist() == [0, 1, 2]
    assert halving_schedule(5, 3).tolist() == [0, 0, 0]
    assert halving_schedule(3, 12).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4]


def test_scale_and_mixed_value_by_hand() -> None:
    assert sigma_scale(4.0, 50.0, 1.5) == 81.0
    assert mixed_value(0.5, 0, 0.0, 0.0) == 0.5
    assert mixed_value(0.5, 3, 0.4, 0.1) == pytest.approx((0.5 + 3 * 0.25) / 4)


def test_softmax_is_as_exact_as_float32() -> None:
    rng = np.random.default_rng(3)
    for count in (1, 2, 31, 637):
        logits = rng.normal(0, 5, 700).astype(np.float32)
        given = logits.copy()
        softmax_kernel(given, 7, count, new_powers(637))
        assert np.array_equal(given[:7], logits[:7]) and np.array_equal(given[7 + count :], logits[7 + count :])
        exact = exact_softmax(logits[7 : 7 + count].astype(np.float64))
        np.testing.assert_allclose(given[7 : 7 + count], exact, rtol=1e-5)
    extreme = np.array([-1e30, 0.0, 500.0], dtype=np.float32)
    softmax_kernel(extreme, 0, 3, new_powers(3))
    assert extreme[2] == 1.0 and 0 < extreme[0] <= extreme[1] < 1e-30


# --- against the slow twin


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_visits_and_policy_are_those_of_the_slow_twin(rule: str, players: int) -> None:
    for seed in (1, 2):
        position = played_on(players, 15 * seed, seed)
        slow = slow_search(HashEvaluator(), position, rule, 48)
        _, found = run([position], rule=rule, sims=48, gumbel_scale=0.0)
        visits = {int(action): int(found.visits[0, action]) for action in np.flatnonzero(found.visits[0])}
        assert visits == {action: count for action, count in slow.visits.items() if count}
        for action, mean in slow.mean.items():
            assert found.values[0, action] == pytest.approx(mean, abs=1e-5)
        if rule == "gumbel":
            for action, share in improved_policy(slow).items():
                assert found.policy[0, action] == pytest.approx(share, abs=1e-4)


# --- laws


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("evaluator", [HashEvaluator(), UniformEvaluator(), PlayoutEvaluator(2)])
def test_visits_add_up_and_only_legal_decisions_get_any(rule: str, evaluator: Any) -> None:
    positions = mixed_tables(9)
    _, found = run(positions, evaluator, rule=rule, sims=40)
    for game, position in enumerate(positions):
        illegal = np.setdiff1d(np.arange(NUM_ACTIONS), position.legal_ids())
        assert not found.visits[game, illegal].any() and not found.policy[game, illegal].any()
        assert int(found.visits[game].sum()) == int(found.simulations[game]) == 40
        assert found.chosen[game] in position.legal_ids()
        assert found.policy[game].sum() == pytest.approx(1, abs=1e-4)
        assert found.root_values[game, : position.players].sum() == pytest.approx(1, abs=1e-4)
        assert not found.root_values[game, position.players :].any()
    assert np.array_equal(np.isnan(found.values), found.visits == 0)


@pytest.mark.parametrize("rule", RULES)
def test_neighbours_and_their_number_do_not_matter(rule: str) -> None:
    positions = mixed_tables(6)
    options: dict[str, Any] = {"rule": rule, "sims": 33, "noise": 0.25, "temperature": float(rule == "puct")}
    _, alone = run(positions[:1], **options)
    _, together = run(positions, **options)
    _, others = run([*positions[:4], positions[1], positions[0]], **options)
    assert np.array_equal(alone.visits[0], together.visits[0]) and alone.chosen[0] == together.chosen[0]
    assert np.array_equal(together.visits[:4], others.visits[:4])
    assert np.array_equal(together.policy[:4], others.policy[:4])
    assert np.array_equal(together.root_values[:4], others.root_values[:4])


@pytest.mark.parametrize("rule", RULES)
def test_same_seed_same_search_and_another_seed_another(rule: str) -> None:
    options: dict[str, Any] = {"rule": rule, "sims": 33, "noise": 0.5}
    first, again, other = (run(mixed_tables(4), seed=seed, **options)[1] for seed in (1, 1, 2))
    assert np.array_equal(first.visits, again.visits) and np.array_equal(first.chosen, again.chosen)
    assert not np.array_equal(first.visits, other.visits)


def test_a_second_search_knows_nothing_of_the_first() -> None:
    positions = mixed_tables(3)
    search, _ = run(positions, sims=20, gumbel_scale=0.0)
    states = np.array([position.state for position in reversed(positions)])
    found = search(states, positions[0].game.rules)
    _, fresh = run(list(reversed(positions)), sims=20, gumbel_scale=0.0)
    assert np.array_equal(found.visits, fresh.visits) and np.array_equal(found.policy, fresh.policy)


class RotatingEvaluator:
    """Answers that turn with the seats: chances from influence, priors from the decision alone."""

    def evaluate(self, batch: Batch) -> None:
        """See `Evaluator`."""
        influence, players = columns(batch.states, "influence"), columns(batch.states, "players")
        batch.logits[:] = (np.arange(NUM_ACTIONS) * 7919 % 101) / 40
        for row, (held, count) in enumerate(zip(influence, players, strict=True)):
            batch.values[row] = 0.0
            batch.values[row, :count] = exact_softmax(held[:count] / 8.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_turning_the_seats_turns_the_values(rule: str, players: int) -> None:
    position = played_on(players, 30, seed=players)
    turned = Position.from_json(rotated_seats(position.to_json(), 1))
    both = [run([each], RotatingEvaluator(), rule=rule, sims=64)[1] for each in (position, turned)]
    assert np.array_equal(both[0].visits, both[1].visits) and both[0].chosen == both[1].chosen
    assert np.array_equal(np.roll(both[0].root_values[0, :players], 1), both[1].root_values[0, :players])


# --- leaves in a step


@pytest.mark.parametrize("rule", RULES)
def test_several_leaves_of_one_game_go_to_the_evaluator_together(rule: str) -> None:
    position = played_on(3, 25, seed=4)
    search, found = run([position], rule=rule, sims=200, leaves=8)
    assert int(found.visits.sum()) == int(found.simulations[0]) == 200
    assert found.asked / found.steps > 4
    forest = search.forest
    used = int(forest.nodes_used[0])
    assert np.allclose(forest.value[:used].sum(axis=1), forest.visits[:used])
    opened = [
        edge
        for node in range(used)
        for edge in range(forest.first_edge[node], forest.first_edge[node] + forest.num_open[node])
    ]
    for edge in opened:
        if forest.child[edge] != NO_NODE and forest.first_edge[forest.child[edge]] >= 0:
            assert forest.edge_visits[edge] == forest.visits[forest.child[edge]]


# --- Gumbel and PUCT roots


def test_gumbel_considers_no_more_than_it_was_told_and_halves_them() -> None:
    _, found = run([played_on(2, 31, seed=1)], sims=64, considered=8)
    counts = sorted((int(count) for count in found.visits[0] if count), reverse=True)
    assert len(counts) == 8 and counts[0] - counts[1] <= 1 and counts[1] > 2 * counts[-1]


def test_without_gumbel_numbers_the_likeliest_are_considered() -> None:
    position = played_on(2, 31, seed=1)
    search, found = run([position], sims=16, considered=4, gumbel_scale=0.0)
    forest, first = search.forest, 0
    priors = {int(forest.action[e]): float(forest.prior[e]) for e in range(first, int(forest.num_edges[0]))}
    likeliest = sorted(priors, key=lambda action: -priors[action])[:4]
    assert set(np.flatnonzero(found.visits[0])) == set(likeliest)


def test_the_improved_policy_prefers_what_was_found_better() -> None:
    """Its expected value is not below that of the priors (the paper's theorem, here with completed values)."""
    for seed in range(6):
        search, found = run([played_on(3, 20 + seed, seed)], sims=64, seed=seed)
        forest, edges = search.forest, int(search.forest.num_edges[0])
        actions, priors = forest.action[:edges], forest.prior[:edges]
        values = np.nan_to_num(found.values[0, actions], nan=float(np.nanmean(found.values[0])))
        assert found.policy[0, actions] @ values >= priors @ values - 1e-6


def test_gumbel_numbers_draw_decisions_by_their_priors() -> None:
    """With one considered decision and one simulation, the Gumbel maximum is a draw from the priors."""
    position = played_on(2, 10, seed=5)
    games = 4000
    search, found = run([position] * games, sims=1, considered=1)
    edges = int(search.forest.num_edges[0])
    priors = np.zeros(NUM_ACTIONS)
    priors[search.forest.action[:edges]] = search.forest.prior[:edges]
    shares = np.bincount(found.chosen, minlength=NUM_ACTIONS) / games
    assert np.abs(shares - priors).max() < 4.5 * math.sqrt(priors.max() / games)


def test_noise_changes_the_priors_of_a_puct_root_only_and_temperature_draws() -> None:
    position = played_on(2, 31, seed=1)
    plain, noisy = (run([position], rule="puct", sims=50, noise=noise)[0].forest for noise in (0.0, 0.5))
    edges = int(plain.num_edges[0])
    order = [np.argsort(forest.action[:edges]) for forest in (plain, noisy)]
    assert not np.allclose(plain.prior[order[0]], noisy.prior[order[1]], atol=0.02)
    assert noisy.prior[:edges].sum() == pytest.approx(1, abs=1e-5)
    _, drawn = run([position] * 60, rule="puct", sims=50, temperature=1.0)
    _, fixed = run([position] * 60, rule="puct", sims=50)
    assert len(set(drawn.chosen.tolist())) > 3 and len(set(fixed.chosen.tolist())) == 1
    assert all(drawn.visits[game, action] > 0 for game, action in enumerate(drawn.chosen))


# --- proofs


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_win_that_can_be_reached_is_proven_and_played(rule: str, players: int) -> None:
    """Whoever can end the game as winner does so; the search stops there and knows the result."""
    proven = 0
    for seed in range(8):
        position = near_the_end(players, seed)
        mover = position.to_move
        winning = [a for a in position.legal_ids() if (after := position.play(a)).over and after.ranking[mover] == 1]
        search, found = run([position], UniformEvaluator(), rule=rule, sims=400, considered=64)
        if winning:
            assert position.play(int(found.chosen[0])).ranking[mover] == 1
            assert search.forest.proven[0] == EXACT and found.simulations[0] < 400
            proven += 1
    assert proven >= 2


def test_a_proven_win_is_played_whatever_the_temperature() -> None:
    for seed in (0, 3):
        position = near_the_end(2, seed)
        search, found = run([position] * 20, UniformEvaluator(), rule="puct", sims=400, temperature=5.0)
        assert search.forest.proven[0] == EXACT
        assert {position.play(int(action)).ranking[position.to_move] for action in found.chosen} == {1}


@pytest.mark.parametrize("rule", RULES)
def test_proofs_agree_with_playing_everything_out(rule: str) -> None:
    """Proven nodes of some end games, compared with a full search of what lies below them."""
    checked = {True: 0, False: 0}
    for players in (2, 3, 4):
        game = Position.new(players, seed=1).game
        for seed in range(4):
            search, _ = run([near_the_end(players, seed)], rule=rule, sims=3000, considered=64)
            forest = search.forest
            for node in range(int(forest.nodes_used[0])):
                if forest.proven[node] == UNPROVEN or forest.first_edge[node] < 0:
                    continue
                assert forest.raw[node].sum() == pytest.approx(1)
                seat = int(forest.mover[node])
                found = can_win(Position(forest.state[node].copy(), game), seat, [500])
                if found is not None:
                    wins = forest.proven[node] != LOST and forest.raw[node, seat] > 0.5
                    assert found == wins
                    checked[found] += 1
    assert min(checked.values()) >= 3


def can_win(position: Position, seat: int, budget: list[int]) -> bool | None:
    """Whether a seat can force a win, all others against it; None when the budget of positions is used up."""
    budget[0] -= 1
    if budget[0] < 0:
        return None
    if position.over:
        return bool(position.ranking[seat] == 1)
    mine, unknown = position.to_move == seat, False
    for after in sorted((position.play(action) for action in position.legal_ids()), key=lambda after: not after.over):
        found = can_win(after, seat, budget)
        if found is mine:
            return mine
        unknown = unknown or found is None
    return None if unknown else not mine


# --- budgets and errors


@pytest.mark.parametrize("rule", RULES)
def test_a_search_that_is_stopped_has_an_answer(rule: str) -> None:
    position = played_on(4, 40, seed=2)
    search = NetworkSearch(NetworkOptions(rule=rule, sims=5000), HashEvaluator(), 1, 1)
    for calls in (1, 3):
        answers = iter([False] * (calls - 1) + [True] * 10)
        found = search(position.state.reshape(1, -1).copy(), position.game.rules, answers.__next__)
        assert found.steps == calls and found.chosen[0] in position.legal_ids()
        assert int(found.visits.sum()) == int(found.simulations[0]) == calls - 1
    timed = NetworkSearch(NetworkOptions(rule=rule, sims=100_000, seconds=0.02), HashEvaluator(), 1, 1)
    found = timed(position.state.reshape(1, -1).copy(), position.game.rules)
    assert 0 < found.simulations[0] < 100_000


def test_a_single_legal_decision_costs_no_search() -> None:
    position = Position.new(2, seed=1)
    rng = np.random.default_rng(1)
    while len(position.legal_ids()) != 1:
        position = position.play(int(rng.choice(position.legal_ids())))
    _, found = run([position, played_on(2, 20, seed=1)], sims=10)
    assert found.chosen[0] == position.legal_ids()[0] and found.policy[0, found.chosen[0]] == 1
    assert found.simulations.tolist() == [0, 10] and np.isnan(found.root_values[0]).all()


def test_fewer_positions_than_places() -> None:
    """A search of some positions finds what it would find of each alone, whatever was searched before."""
    positions = mixed_tables(3)
    states, rules = np.array([position.state for position in positions]), positions[0].game.rules
    search = NetworkSearch(NetworkOptions(sims=20), HashEvaluator(), 5, seed=1)
    chance = np.array([7, 8, 9], dtype=np.uint64)
    search(np.repeat(states[:1], 5, axis=0), rules)
    found = search(states, rules, chance=chance)
    assert len(found.chosen) == len(found.policy) == len(found.root_values) == 3
    for place in range(3):
        own = np.array([7 + place], dtype=np.uint64)
        alone = search(states[place : place + 1], rules, chance=own)
        for name in ("chosen", "policy", "visits", "values", "root_values", "raw_values", "simulations"):
            assert np.array_equal(getattr(alone, name)[0], getattr(found, name)[place], equal_nan=True), name
        assert own[0] == chance[place] and chance[place] != 7 + place


@pytest.mark.parametrize("rule", RULES)
def test_each_game_may_have_its_own_number_of_simulations(rule: str) -> None:
    positions, sims = mixed_tables(3), np.array([4, 20, 9])
    states, rules = np.array([position.state for position in positions]), positions[0].game.rules
    search = NetworkSearch(NetworkOptions(rule=rule, sims=20), HashEvaluator(), 3, seed=1)
    chance = np.array([7, 8, 9], dtype=np.uint64)
    found = search(states, rules, chance=chance.copy(), sims=sims)
    assert found.simulations.tolist() == sims.tolist()
    for place, number in enumerate(sims.tolist()):
        own = NetworkSearch(NetworkOptions(rule=rule, sims=number), HashEvaluator(), 1, seed=1)
        alone = own(states[place : place + 1], rules, chance=chance[place : place + 1].copy())
        for name in ("chosen", "policy", "visits", "values", "root_values"):
            assert np.array_equal(getattr(alone, name)[0], getattr(found, name)[place], equal_nan=True), name
    for wrong in (0, 21):
        with pytest.raises(NetworkSearchError, match="allowed: whole numbers from 1 to 20"):
            search(states, rules, sims=np.array([4, wrong, 9]))


def test_positions_are_not_changed() -> None:
    positions = mixed_tables(4)
    states = np.array([position.state for position in positions])
    before = states.copy()
    NetworkSearch(NetworkOptions(), HashEvaluator(), 4, 1)(states, positions[0].game.rules)
    assert np.array_equal(states, before)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("rule", "uct"), ("sims", 0), ("sims", 2.5), ("sims", True), ("sims", "32"), ("leaves", 0), ("seconds", 0)],
        *[("considered", 638), ("noise", 1.5), ("c", -1), ("temperature", float("nan"))],
        ("temperature", 0.5),
    ],
)
def test_bad_options_are_named(option: str, value: Any) -> None:
    with pytest.raises(NetworkSearchError, match=option):
        NetworkOptions(**{option: value})


def test_bad_positions_are_refused() -> None:
    position = played_on(2, 20, seed=1)
    search = NetworkSearch(NetworkOptions(), HashEvaluator(), 2, 1)
    for states in (np.repeat(position.state[np.newaxis], 3, axis=0), np.zeros((0, STATE_WORDS), np.uint64)):
        with pytest.raises(NetworkSearchError, match=r"uint64\[T, 14\], T from 1 to 2"):
            search(states, position.game.rules)
    over = near_the_end(2, 1)
    while not over.over:
        over = over.play(over.legal_ids()[-1])
    with pytest.raises(NetworkSearchError, match="game 1 is over"):
        search(np.array([position.state, over.state]), position.game.rules)
    with pytest.raises(NetworkSearchError, match="0 games"):
        NetworkSearch(NetworkOptions(), HashEvaluator(), 0)


class BrokenEvaluator:
    """Answers with values that are no numbers, from the second batch on; a diverged network does so."""

    def __init__(self, value: float) -> None:
        self.value, self.batches = value, 0

    def evaluate(self, batch: Batch) -> None:
        UniformEvaluator().evaluate(batch)
        self.batches += 1
        if self.batches > 1:
            batch.values[-1] = self.value


@pytest.mark.parametrize("rule", ["gumbel", "puct"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_no_numbers_are_refused(rule: str, value: float) -> None:
    states = np.array([Position.new(3, seed=seed).state for seed in range(2)])
    search = NetworkSearch(NetworkOptions(rule=rule, sims=20), BrokenEvaluator(value), games=2, seed=1)
    with pytest.raises(NetworkSearchError, match="allowed: finite numbers"):
        search(states, Position.new(3, seed=0).game.rules)


def test_the_search_needs_no_torch() -> None:
    code = "import sys, luna_ai.search.network_search; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
