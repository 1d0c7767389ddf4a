"""One process that evaluates for many: requests of several workers that wait together become one batch.

While one batch is evaluated the next one gathers, so a slow device gets large batches by itself and nobody waits for a
clock. Networks are known by name; a worker that names an unknown one is told so and sends it. So the process holds
nothing that could be lost.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import NUM_ACTIONS
from engine_fast.components import Sheet
from engine_fast.layout import MAX_PLAYERS
from engine_fast.position import load_game
from engine_fast.ruleset import RuleSet
from luna_ai.backend_guard import GuardedEvaluator, Verdict
from luna_ai.distributed.parts import Published, network_of, settle
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.search.evaluators import Batch

KEPT = 8
"""Networks that are known at a time: versions that games in flight are played with, and past ones."""


class Answer(NamedTuple):
    """What the network says of n positions."""

    logits: NDArray[np.float32]  # [n, NUM_ACTIONS]
    values: NDArray[np.float32]  # [n, 4]


class Request(NamedTuple):
    """Positions that wait."""

    states: NDArray[np.uint64]  # [n, STATE_WORDS]
    masks: NDArray[np.uint64]  # [n, MASK_WORDS]
    answer: asyncio.Future[Answer]


class Answering:
    """Evaluates what workers ask. An asynchronous actor: many calls wait inside at a time."""

    def __init__(self, sheet: Sheet, ruleset: RuleSet, backend: str | None) -> None:
        """Knows no network yet.

        Args:
            sheet, ruleset: of the run.
            backend: for networks that are published without one; None: the fastest in float32.
        """
        settle()
        self._rules, self._backend = load_game(sheet, ruleset).rules, backend
        self._networks = OrderedDict[str, NetworkEvaluator]()
        self._waiting = OrderedDict[str, list[Request]]()
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._work: asyncio.Task[None] | None = None

    async def publish(self, published: Published) -> None:
        """Gets to know a network; the one that was not used for longest is forgotten."""
        if published.name not in self._networks:
            self._networks[published.name] = NetworkEvaluator(network_of(published), published.backend or self._backend)
            while len(self._networks) > KEPT:
                self._networks.popitem(last=False)

    async def judge(self, published: Published, states: NDArray[np.uint64]) -> Verdict:
        """Compares the backend of this process with float32, see `luna_ai.backend_guard`.

        Args:
            published: a new version of the network.
            states: positions of recent self-play.
        """
        network = network_of(published)
        guard = GuardedEvaluator(self._backend or "auto", network, self._rules)
        await asyncio.get_running_loop().run_in_executor(self._thread, guard.publish, network, states)
        assert guard.verdict is not None
        return guard.verdict

    async def answer(self, name: str, states: NDArray[np.uint64], masks: NDArray[np.uint64]) -> Answer | None:
        """Evaluates positions together with others that wait; None if the network is not known."""
        if name not in self._networks:
            return None
        self._networks.move_to_end(name)
        request = Request(states, masks, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(name, []).append(request)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._evaluate_all())
        return await request.answer

    async def _evaluate_all(self) -> None:
        while self._waiting:
            name, requests = self._waiting.popitem(last=False)
            work = asyncio.get_running_loop().run_in_executor(self._thread, self._evaluate, name, requests)
            try:
                for request, answer in zip(requests, await work, strict=True):
                    request.answer.set_result(answer)
            except Exception as problem:  # whoever asked is told, whatever it is
                for request in requests:
                    if not request.answer.done():
                        request.answer.set_exception(problem)

    def _evaluate(self, name: str, requests: list[Request]) -> list[Answer]:
        states = np.concatenate([request.states for request in requests])
        masks = np.concatenate([request.masks for request in requests])
        logits = np.zeros((len(states), NUM_ACTIONS), dtype=np.float32)
        values = np.zeros((len(states), MAX_PLAYERS), dtype=np.float32)
        self._networks[name].evaluate(Batch(states, masks, self._rules, logits, values))
        ends = np.cumsum([len(request.states) for request in requests])[:-1]
        return [Answer(*parts) for parts in zip(np.split(logits, ends), np.split(values, ends), strict=True)]


class RemoteEvaluator:
    """Asks somebody else; keeps to `luna_ai.search.evaluators.Evaluator`."""

    name = "network"

    def __init__(
        self, published: Published, ask: Callable[[str, Any, Any], Answer | None], publish: Callable[[Published], None]
    ) -> None:
        """Prepares to ask.

        Args:
            published: the network.
            ask: puts states and masks before the network of a name.
            publish: makes a network known there.
        """
        self._published, self._ask, self._publish = published, ask, publish

    def evaluate(self, batch: Batch) -> None:
        """See `luna_ai.search.evaluators.Evaluator`."""
        while (answer := self._ask(self._published.name, batch.states, batch.masks)) is None:
            self._publish(self._published)
        batch.logits[:], batch.values[:] = answer
