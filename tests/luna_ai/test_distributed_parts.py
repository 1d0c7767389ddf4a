"""The parts of a distributed training in one process, without starting Ray."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine_fast.position import load_game
from luna_ai.backend_guard import Verdict
from luna_ai.crew import LEARNER_KEY, Player
from luna_ai.distributed.measure import throughput
from luna_ai.distributed.parts import (
    Learning,
    Playing,
    Published,
    Remembering,
    Setting,
    chunk_size,
    network_of,
    published,
)
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.learner import Learned, Learner
from luna_ai.network import NetworkConfig, make_network
from luna_ai.replay import Replay
from luna_ai.search.evaluators import Batch, new_batch
from luna_ai.selfplay import Collected
from luna_ai.training_config import TrainingConfig

pytest.importorskip("ray")
from luna_ai.distributed import cluster
from luna_ai.distributed.crew import mean_of
from luna_ai.distributed.inference import Answer, Answering, RemoteEvaluator
from luna_ai.distributed.pool import Chunk, Slot, joined_chunks

TINY = TrainingConfig(
    steps=4, games=3, slots=3, sims=2, fast_sims=1, width=8, blocks=1, batch=16, past_share=0.5, workers=1, reuse=1.0,
    window=100, shares=(1.0, 0.0, 0.0),
)  # fmt: skip
GAME = load_game()
SETTING = Setting(TINY, GAME.sheet, GAME.ruleset)
NETWORK = make_network(NetworkConfig(width=8, blocks=1), seed=3).eval()


@pytest.fixture(scope="module")
def chunks() -> list[Collected]:
    """Games 0 to 2, 3 to 5 and 6 to 8 of worker 1."""
    playing = Playing(SETTING, 3)
    return [playing.play(1, first, 3, 7, published("a", NETWORK), None) for first in (0, 3, 6)]


class Nobody:
    """Stands where an actor is."""

    def __getattr__(self, name: str) -> Any:
        return self

    def remote(self) -> object:
        return object()


def test_games_do_not_depend_on_who_plays_them(chunks: list[Collected]):
    found = Player(TINY, GAME, 9).play(1, 0, 9, (NetworkEvaluator(NETWORK), None), 7)
    assert found is not None
    joined = joined_chunks(chunks)
    assert joined.games.equals(found.games)
    assert joined.num_games == 9
    assert (joined.decisions, joined.asked) == (found.decisions, found.asked)
    for name in joined.samples._fields:
        assert np.array_equal(getattr(joined.samples, name), getattr(found.samples, name))


def test_a_lost_chunk_is_played_again_and_counted_first(chunks: list[Collected]):
    slot = Slot(1, 0, Nobody())
    given = [slot.next_chunk(3) for _ in range(3)]
    assert given == [Chunk(0, 3), Chunk(3, 3), Chunk(6, 3)]
    assert slot.accept(given[1], chunks[1]) == []
    slot.lose([given[2], given[0]])
    assert slot.next_chunk(3) == given[0]
    assert [id(each) for each in slot.accept(given[0], chunks[0])] == [id(chunks[0]), id(chunks[1])]
    assert slot.next_chunk(3) == given[2]
    assert [id(each) for each in slot.accept(given[2], chunks[2])] == [id(chunks[2])]
    assert slot.next_chunk(3) == Chunk(9, 3)
    assert slot.counted == 9


def test_a_published_network_is_the_same_network(chunks: list[Collected]):
    batch, other = (new_batch(chunks[0].samples.state[:20].copy(), GAME.rules) for _ in range(2))
    NetworkEvaluator(NETWORK).evaluate(batch)
    NetworkEvaluator(network_of(published("a", NETWORK))).evaluate(other)
    assert np.array_equal(batch.logits, other.logits)
    assert np.array_equal(batch.values, other.values)


def test_requests_that_wait_together_are_one_batch(chunks: list[Collected], monkeypatch: pytest.MonkeyPatch):
    states = np.ascontiguousarray(chunks[0].samples.state[:24])
    whole, sizes = new_batch(states, GAME.rules), list[int]()
    NetworkEvaluator(NETWORK).evaluate(whole)
    real = NetworkEvaluator.evaluate

    def counted(self: NetworkEvaluator, batch: Batch) -> None:
        sizes.append(len(batch.states))
        real(self, batch)

    monkeypatch.setattr(NetworkEvaluator, "evaluate", counted)

    async def ask() -> list[Answer | None]:
        answering = Answering(GAME.sheet, GAME.ruleset, "torch")
        assert await answering.answer("a", states, whole.masks) is None
        await answering.publish(published("a", NETWORK))
        parts = [slice(0, 4), slice(4, 12), slice(12, 24)]
        return await asyncio.gather(*(answering.answer("a", states[part], whole.masks[part]) for part in parts))

    found = asyncio.run(ask())
    assert sum(sizes) == 24
    assert len(sizes) < 3
    values = np.concatenate([answer.values for answer in found if answer is not None])
    assert values == pytest.approx(whole.values, abs=1e-5)


def test_who_evaluates_for_all_compares_its_backend_with_float32(
    chunks: list[Collected], monkeypatch: pytest.MonkeyPatch
):
    states, found = np.ascontiguousarray(chunks[0].samples.state), published("a", NETWORK)
    asked = list[str]()
    evaluate = NetworkEvaluator.evaluate

    def noted(self: NetworkEvaluator, batch: Batch) -> None:
        asked.append(self.backend)
        evaluate(self, batch)

    async def judge_and_answer() -> Verdict:
        answering, batch = Answering(GAME.sheet, GAME.ruleset, "int8"), new_batch(states, GAME.rules)
        verdict = await answering.judge(found, states)
        monkeypatch.setattr(NetworkEvaluator, "evaluate", noted)
        for network in (found._replace(backend="torch"), found._replace(name="past")):
            await answering.publish(network)
            await answering.answer(network.name, states, batch.masks)
        return verdict

    verdict = asyncio.run(judge_and_answer())
    assert verdict.wanted == "int8"
    assert verdict.agreement is not None
    assert verdict.agreement.positions == len(states)
    assert asked == ["torch", "int8"]  # what was published with it, otherwise its own


def test_whoever_asks_about_an_unknown_network_sends_it():
    known = dict[str, Published]()
    batch = new_batch(Playing(SETTING, 1).play(1, 0, 1, 0, published("a", NETWORK), None).samples.state, GAME.rules)
    answer = Answer(np.ones_like(batch.logits), np.ones_like(batch.values))

    def ask(name: str, states: Any, masks: Any) -> Answer | None:
        return answer if name in known else None

    RemoteEvaluator(published("b", NETWORK), ask, lambda found: known.update({found.name: found})).evaluate(batch)
    assert list(known) == ["b"]
    assert (batch.logits == 1).all()


def test_the_learner_makes_the_same_updates_as_in_one_process(chunks: list[Collected], tmp_path: Path):
    remembering = Remembering(TINY, tmp_path / "far", None, ())
    remembering.add(chunks[0].samples)
    _, samples = remembering.draw(2, 0, 3)
    learning = Learning(SETTING, published("a", NETWORK), None)
    learned = learning.learn(samples, 3, 2)

    replay, network = Replay(TINY, tmp_path / "near"), network_of(published("a", NETWORK))
    replay.add(chunks[0].samples)
    learner = Learner(network, TINY, GAME.rules, TINY.steps)
    rng = np.random.default_rng(np.random.SeedSequence(TINY.seed, spawn_key=(LEARNER_KEY, 2, 0)))
    assert learner.learn(lambda count: replay.draw(count, rng), 3, 2) == learned
    far, near = learning.publish("b").weights, published("b", network).weights
    assert all(np.array_equal(far[name], near[name]) for name in near)


def test_a_replay_that_is_made_anew_keeps_what_an_older_checkpoint_names(chunks: list[Collected], tmp_path: Path):
    small = replace(TINY, window=1, window_growth=0.0)
    remembering = Remembering(small, tmp_path, None, ())
    saved = remembering.add(chunks[0].samples).counters["shards"]
    for chunk in chunks[1:]:
        counters = remembering.add(chunk.samples).counters
    assert not set(saved) & set(counters["shards"])
    again = Remembering(small, tmp_path, counters, saved)
    assert again.stand().counters == counters
    assert all((tmp_path / name).exists() for name in saved)
    again.forget()
    assert not any((tmp_path / name).exists() for name in saved)


def test_means_over_parts_and_sizes_of_chunks():
    one, two = Learned(1, *[3.0] * 7), Learned(3, *[7.0] * 7)
    assert mean_of([one, two]) == Learned(4, *[6.0] * 7)
    assert mean_of([one, Learned(0, *[float("nan")] * 7)]) == one
    assert np.isnan(mean_of([Learned(0, *[float("nan")] * 7)]).total)
    sizes = {(64, 64, 1): 64, (64, 64, 2): 32, (64, 64, 8): 16, (4, 4, 2): 4, (1024, 64, 4): 64}
    for (games, slots, workers), size in sizes.items():
        assert chunk_size(replace(TINY, games=games, slots=slots, workers=workers)) == size


def test_rates_are_those_of_whole_chunks(chunks: list[Collected]):
    one, other = zip((10.0, 12.0), chunks, strict=False), zip((0.0, 1.0, 3.0), chunks, strict=True)
    found = throughput(2, [list(one), list(other)])
    assert (found.games, found.games_per_second) == (9, 3 / 2 + 6 / 3)
    assert found.seconds == 2.5
    assert found.evaluations == 2 * chunks[1].asked + chunks[2].asked


@pytest.mark.parametrize(
    ("gpus", "keys", "each"),
    [(1.0, {"inference": "cuda"}, 1.0), (1.0, {"inference": "cuda", "device": "cuda"}, 0.5), (0.0, {}, 1.0),
     (2.0, {"inference": "cuda", "device": "cuda"}, 1.0)],
)  # fmt: skip
def test_who_wants_a_gpu_shares_the_only_one(
    gpus: float, keys: dict[str, Any], each: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ray.cluster_resources", lambda: {"CPU": 4.0} | ({"GPU": gpus} if gpus else {}))
    assert cluster.need_gpu(replace(TINY, **keys)) == each
    if not gpus:
        with pytest.raises(
            cluster.DistributedError, match="device cuda: no machine of the cluster has a GPU; allowed: cpu"
        ):
            cluster.need_gpu(replace(TINY, device="cuda"))
