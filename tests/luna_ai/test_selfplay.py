"""Self-play: plans, games in step, samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.batch import legal_batch
from engine_fast.layout import INFLUENCE_BIAS, MAX_PLAYERS, NUM_SOURCES, columns
from engine_fast.position import load_game
from luna_ai.bots.games import play_batch
from luna_ai.bots.workspace import new_workspace
from luna_ai.game_plans import ABSENT, PAST, SELF, Plan, SelfPlayError, joined_plans, one_plan, plan_games
from luna_ai.game_results import final_standing, sample_weights, surprise_weights
from luna_ai.losses import unpack_masks
from luna_ai.players import CODES
from luna_ai.runner import ranks
from luna_ai.samples import Samples
from luna_ai.search.evaluators import HashEvaluator, new_batch
from luna_ai.search.network_search import NetworkOptions, NetworkSearch
from luna_ai.selfplay import Collected, SelfPlay, coins, only_decisions, surprises
from luna_ai.training_config import SelfPlayOptions

GAME = load_game()
QUICK = SelfPlayOptions(sims=4, fast_sims=2, bot_share=0.3, past_share=0.3, surprise_share=0.0)


def played(options: SelfPlayOptions, plan: Plan, slots: int = 4) -> Collected:
    found = SelfPlay(options, GAME, slots).play(plan, HashEvaluator(), HashEvaluator(), version=7)
    assert found is not None
    return found


def same(one: Samples, other: Samples) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in Samples._fields)


def table_of(codes: list[int], seed: int) -> Plan:
    words = np.random.SeedSequence(seed).generate_state(6, np.uint64).astype(np.uint64)
    return one_plan(GAME, seed, len(codes), "standard", -1, codes, words)


@pytest.fixture(scope="module")
def collected() -> Collected:
    return played(QUICK, plan_games(QUICK, GAME, seed=3, actor=0, first=0, count=12, past=True))


def test_games_do_not_depend_on_slots_or_neighbours(collected: Collected):
    for slots in (1, 5, 20):
        other = played(QUICK, plan_games(QUICK, GAME, 3, 0, 0, 12, past=True), slots)
        assert same(other.samples, collected.samples)
        assert other.games.equals(collected.games)
    halves = [played(QUICK, plan_games(QUICK, GAME, 3, 0, first, 6, past=True)) for first in (0, 6)]
    assert np.array_equal(np.concatenate([half.samples.state for half in halves]), collected.samples.state)


def test_a_plan_follows_from_seed_actor_and_number():
    plan = plan_games(QUICK, GAME, 3, 0, 5, 3)
    again = plan_games(QUICK, GAME, 3, 0, 0, 8)
    assert all(np.array_equal(a, b[5:]) for a, b in zip(plan, again, strict=True))
    for seed, actor in ((3, 1), (4, 0)):
        assert not np.isin(plan.deal, plan_games(QUICK, GAME, seed, actor, 0, 8).deal).any()


def test_shares_of_players_set_ups_and_opponents():
    options = replace(QUICK, shares=(1.0, 0.0, 3.0), preselected_share=0.5)
    plan = plan_games(options, GAME, 1, 0, 0, 400, past=True)
    assert set(plan.players.tolist()) == {2, 4}
    assert abs((plan.players == 4).mean() - 0.75) < 0.08
    kinds = [(plan.codes >= 0).any(axis=1), (plan.codes == PAST).any(axis=1)]
    assert all(abs(kind.mean() - 0.3) < 0.08 for kind in kinds)
    assert not (kinds[0] & kinds[1]).any()
    assert (plan.codes == SELF).any(axis=1).all()
    assert np.array_equal((plan.codes != ABSENT).sum(axis=1), plan.players)
    assert abs((columns(plan.state, "phase") == 2).mean() - 0.5) < 0.08
    assert not (plan_games(options, GAME, 1, 0, 0, 100).codes == PAST).any()


def test_samples_are_searched_decisions_with_legal_policies(collected: Collected):
    samples = collected.samples
    masks = np.zeros((len(samples.state), MASK_WORDS), dtype=np.uint64)
    legal_batch(samples.state, GAME.rules, masks)
    legal, policy = unpack_masks(masks), samples.dense_policy()
    assert (legal.sum(axis=1) > 1).all()
    assert not policy[~legal].any()
    has_policy = samples.policy_size > 0
    assert np.allclose(policy.sum(axis=1), has_policy, atol=1e-5)
    assert abs(has_policy.mean() - QUICK.full_share) < 0.05
    assert np.allclose(samples.root.sum(axis=1), 1, atol=1e-4)
    assert (samples.version == 7).all()
    assert collected.decisions == collected.kinds.sum()
    assert len(samples.state) < collected.searched <= collected.decisions - collected.forced


def test_targets_follow_from_the_influence_that_is_still_to_come(collected: Collected):
    samples = collected.samples
    now = columns(samples.state, "influence") - INFLUENCE_BIAS
    final = now + samples.sources.sum(axis=2)
    present = np.arange(MAX_PLAYERS) < columns(samples.state, "players")[:, np.newaxis]
    assert np.array_equal(samples.win.sum(axis=1), np.ones(len(final)))
    assert not samples.win[~present].any()
    assert not samples.margin[~present].any()
    assert not samples.sources[~present].any()
    for row in range(0, len(final), 97):
        seats = np.flatnonzero(present[row])
        for seat in seats:
            others = [final[row, other] for other in seats if other != seat]
            assert samples.margin[row, seat] == final[row, seat] - max(others)
        assert samples.margin[row, samples.win[row].argmax()] >= 0


def test_opponents_leave_no_samples():
    for other in (CODES["greedy"], PAST):
        samples = played(QUICK, table_of([other, SELF, other], 5)).samples
        assert len(samples.state) > 20
        assert (columns(samples.state, "to_move") == 1).all()


def test_all_or_no_decisions_in_full():
    plan = table_of([SELF, SELF], 1)
    assert (played(replace(QUICK, full_share=1.0), plan).samples.policy_size > 0).all()
    assert not played(replace(QUICK, full_share=0.0), plan).samples.policy_size.any()


def test_games_of_bots_are_those_of_the_kernel():
    plan = joined_plans([table_of([CODES["greedy"]] * players, players) for players in (2, 3, 4)])
    rows = played(QUICK, plan).games
    states, count = plan.state.copy(), len(plan.state)
    ledgers = np.zeros((count, MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)
    decisions, hashes = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.uint64)
    codes = np.where(plan.codes == ABSENT, 0, plan.codes)
    play_batch(states, codes, GAME.rules, plan.chance.copy(), ledgers, decisions, hashes, new_workspace())
    assert rows.group_by("index", maintain_order=True).first()["moves_hash"].to_list() == hashes.tolist()
    assert rows.group_by("index", maintain_order=True).first()["decisions"].to_list() == decisions.tolist()
    for place, players in enumerate((2, 3, 4)):
        game = rows.filter(index=players)
        assert game["rank"].to_list() == ranks(states[place : place + 1], players)[0].tolist()
        assert game["player"].to_list() == ["greedy"] * players
        assert (game["turn_position"] == (game["seat"] - game["start_player"]) % players).all()
        assert final_standing(states[place : place + 1])[0][0, :players].tolist() == game["rank"].to_list()
        gained = game.select("guard", "displacement", "books", "temple", "priestess", "apostate", "meditation")
        gained = gained.hstack(game.select("shrines", "favors", "council"))
        assert (gained.sum_horizontal() + game["start_influence"] == game["influence"]).all()


def test_every_action_of_a_game_weighs_the_same():
    game, action = np.array([0, 0, 0, 0, 1]), np.array([1, 1, 1, 2, 1])
    policy = np.array([True, True, True, True, False])
    options = replace(QUICK, action_power=1.0, value_weight=0.5)
    assert sample_weights(game, action, policy, options) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 0.5])
    options = replace(options, action_power=0.0)
    assert sample_weights(game, action, policy, options) == pytest.approx([1, 1, 1, 1, 0.5])


def test_the_only_decision_of_a_mask():
    ids = np.array([0, 63, 64, 200, NUM_ACTIONS - 1])
    masks = np.zeros((len(ids), MASK_WORDS), dtype=np.uint64)
    masks[np.arange(len(ids)), ids // 64] = np.uint64(1) << (ids % 64).astype(np.uint64)
    assert only_decisions(masks).tolist() == ids.tolist()


def test_coins_are_even():
    drawn = coins(np.repeat(np.arange(100, dtype=np.uint64), 100), np.tile(np.arange(100), 100))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.histogram(drawn, bins=10, range=(0, 1))[0] == pytest.approx(np.full(10, 1000), abs=120)


def test_what_cannot_be_played_is_refused():
    play = SelfPlay(QUICK, GAME, 2)
    with pytest.raises(SelfPlayError, match="none is given"):
        play.play(table_of([SELF, PAST], 1), HashEvaluator())
    with pytest.raises(SelfPlayError, match="0 games cannot be played"):
        plan_games(QUICK, GAME, 1, 0, 0, 0)
    assert play.play(table_of([SELF, SELF], 1), HashEvaluator(), stop=lambda: True) is None


def test_surprising_decisions_weigh_more_and_a_game_keeps_its_weight():
    game = np.array([0, 1, 0, 0, 1])
    weight = np.array([1.0, 1.0, 0.5, 0.25, 1.0], dtype=np.float32)
    surprise = np.array([0.3, 0.2, 0.6, 0.0, 0.2], dtype=np.float32)  # the fourth has no policy target
    found = surprise_weights(game, weight, surprise, 0.5)
    # game 0: policy weight 1.5; half of it by weight, half in proportion to 1 x 0.3 and 0.5 x 0.6, which are equal
    assert found == pytest.approx([0.5 + 0.375, 1.0, 0.25 + 0.375, 0.25, 1.0])
    assert surprise_weights(game, weight, surprise, 0.0) is weight


def test_surprise_is_the_divergence_of_the_improved_policy_from_the_prior():
    states = plan_games(QUICK, GAME, seed=8, actor=0, first=0, count=3).state
    search = NetworkSearch(NetworkOptions(rule="gumbel", sims=12), HashEvaluator(), games=3, seed=1)
    found = search(states, GAME.rules)
    trees = np.array([2, 0])
    batch = new_batch(states[trees], GAME.rules)
    HashEvaluator().evaluate(batch)
    expected = []
    for row, logits, mask in zip(found.policy[trees], batch.logits, unpack_masks(batch.masks), strict=True):
        prior = np.exp(logits[mask].astype(np.float64) - logits[mask].max())
        prior /= prior.sum()
        improved = row[mask][row[mask] > 0]
        expected.append((improved * np.log(improved / prior[row[mask] > 0])).sum())
    assert surprises(search, trees, found.policy[trees]) == pytest.approx(expected, rel=1e-4)
    assert min(expected) > 0.01


def test_surprise_weighting_changes_weights_alone(collected: Collected):
    options = replace(QUICK, surprise_share=0.5)
    other = played(options, plan_games(options, GAME, seed=3, actor=0, first=0, count=12, past=True))
    before, after = collected.samples, other.samples
    assert same(before._replace(weight=after.weight), after)
    asked = before.policy_size > 0
    assert np.array_equal(before.weight[~asked], after.weight[~asked])
    assert before.weight[asked].sum() == pytest.approx(after.weight[asked].sum(), rel=1e-5)
    assert not np.allclose(before.weight[asked], after.weight[asked])
