"""Workers and their games: who plays which, who takes over lost ones, and what has come back.

Every worker has a number, and its games count from 0 on. They are given out in chunks and are counted in order: a chunk
that was lost is played again under the same numbers, by whoever has the worker's number then, before later chunks of
that number count. So no game is counted twice and none is missing, and one number for each worker says how far it is.

Work in flight is bounded: two chunks a worker, one that is played and one that waits; and no more are given out while
the games of a step lie ready.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import ray
from ray.exceptions import ObjectLostError, RayActorError, RayError

from luna_ai.crew import WorkerHealth
from luna_ai.distributed.cluster import TRIES, DistributedError, kill, last_line, loss_of, never_begun, raised
from luna_ai.samples import joined
from luna_ai.selfplay import Collected

IN_FLIGHT = 2
"""Chunks given to a worker at a time."""


class Chunk(NamedTuple):
    """Consecutive games of a worker."""

    first: int
    games: int


class Order(NamedTuple):
    """With which networks is played from now on."""

    step: int
    network: Any  # reference of a Published
    past: Any | None  # likewise


class Slot:
    """A worker's number and the process that has it now."""

    def __init__(self, number: int, first: int, actor: Any) -> None:
        """Stands before game `first`."""
        self.number, self.given, self.counted = number, first, first
        self.lost = deque[Chunk]()
        self.done: dict[int, Collected] = {}  # by first game; waits for earlier ones
        self.flying: dict[Any, Chunk] = {}
        self.restarts = self.deaths = self.games = 0
        self.versions = list[int]()  # step of the network of every chunk that was taken since `health`
        self.heard = time.monotonic()
        self.begin(actor)

    def begin(self, actor: Any) -> None:
        """Gives the number to a new process."""
        self.actor, self.greeting = actor, actor.hello.remote()

    def next_chunk(self, size: int) -> Chunk:
        """What to play next."""
        if self.lost:
            return self.lost.popleft()
        chunk, self.given = Chunk(self.given, size), self.given + size
        return chunk

    def lose(self, chunks: Sequence[Chunk]) -> None:
        """Takes chunks back."""
        self.lost = deque(sorted([*self.lost, *chunks]))

    def accept(self, chunk: Chunk, found: Collected) -> list[Collected]:
        """Takes a result; returns what can be counted now."""
        self.done[chunk.first] = found
        self.heard, self.deaths, ready = time.monotonic(), 0, []
        while self.counted in self.done:
            ready.append(self.done.pop(self.counted))
            self.counted += ready[-1].num_games
        return ready


class Pool:
    """The workers of a run."""

    def __init__(
        self, make: Callable[[int], Any], numbers: Sequence[int], played: Mapping[int, int], chunk: int, enough: int
    ) -> None:
        """Starts the workers; they play once there is an order.

        Args:
            make: a new process for a worker's number.
            numbers: of the workers.
            played: games that were counted before, by number.
            chunk: games of a call.
            enough: games that may lie ready.
        """
        self._make, self._chunk, self._enough = make, chunk, enough
        self._slots = [Slot(number, played.get(number, 0), make(number)) for number in numbers]
        self._ready = deque[tuple[Slot, Collected]]()
        self._looked = time.monotonic()
        self.order: Order | None = None

    @property
    def num_ready(self) -> int:
        """Games that lie ready."""
        return sum(found.num_games for _, found in self._ready)

    def fill(self) -> None:
        """Gives out chunks."""
        if self.order is None:
            return
        for slot in self._slots:
            while len(slot.flying) < IN_FLIGHT and (slot.lost or self.num_ready < self._enough):
                chunk, (step, network, past) = slot.next_chunk(self._chunk), self.order
                slot.flying[slot.actor.play.remote(slot.number, *chunk, step, network, past)] = chunk

    def wait(self, others: Sequence[Any], seconds: float | None) -> list[Any]:
        """Waits until something has come, of the workers or of `others`; returns what is ready of the latter.

        Args:
            others: references.
            seconds: at most; None for no end.
        """
        self.fill()
        flying = {ref: slot for slot in self._slots for ref in slot.flying}
        greetings = {slot.greeting: slot for slot in self._slots if slot.greeting is not None}
        everything = [*others, *greetings, *flying]
        found, _ = ray.wait(everything, num_returns=1, timeout=seconds)
        while found:
            for ref in found:
                if ref in flying:
                    self._receive(flying[ref], ref)
                elif ref in greetings:
                    self._greet(greetings[ref], ref)
            if any(ref in others for ref in found):
                break
            everything = [ref for ref in everything if ref not in found]
            found, _ = ray.wait(everything, num_returns=1, timeout=0) if everything else ([], [])
        self.fill()
        return [ref for ref in found if ref in others]

    def _greet(self, slot: Slot, ref: Any) -> None:
        if ref != slot.greeting:
            return
        try:
            ray.get(ref)
            slot.greeting = None
        except RayError as problem:
            self._replace(slot, problem)

    def _receive(self, slot: Slot, ref: Any) -> None:
        if ref not in slot.flying:
            return
        try:
            found = ray.get(ref)
        except RayError as problem:
            if isinstance(problem, RayActorError):
                self._replace(slot, problem)
            else:
                self._lose(slot, ref, problem)
            return
        self._ready.extend((slot, each) for each in slot.accept(slot.flying.pop(ref), found))

    def _lose(self, slot: Slot, ref: Any, problem: RayError) -> None:
        """The worker lives, but a result, or what it needed, died with another process."""
        if loss_of(problem) is None:
            raise raised(problem) from problem
        slot.lose([slot.flying.pop(ref)])
        if not isinstance(problem, ObjectLostError):
            self._count_death(slot, problem)

    def _replace(self, slot: Slot, problem: RayError) -> None:
        if never_begun(problem):
            raise raised(problem) from problem
        self._count_death(slot, problem)
        slot.lose(list(slot.flying.values()))
        slot.flying.clear()
        kill(slot.actor)
        slot.restarts += 1
        slot.begin(self._make(slot.number))

    def _count_death(self, slot: Slot, problem: RayError) -> None:
        slot.deaths += 1
        if slot.deaths == TRIES:
            died = f"worker {slot.number} died {slot.deaths} times in a row"
            raise DistributedError(f"{died}: {last_line(problem)}") from problem

    def take(self, games: int) -> list[Collected]:
        """Chunks that lie ready, until they have so many games."""
        taken, count = list[Collected](), 0
        while count < games and self._ready:
            slot, found = self._ready.popleft()
            count += found.num_games
            slot.games += found.num_games
            slot.versions.append(int(found.samples.version[0]) if len(found.samples.version) else -1)
            taken.append(found)
        return taken

    def health(self, step: int) -> list[WorkerHealth]:
        """Of every worker since the last call.

        Args:
            step: steps done before the games that were taken last.
        """
        now = time.monotonic()
        seconds, self._looked = max(now - self._looked, 1e-9), now
        found = []
        for slot in self._slots:
            age = float(np.mean([step - version for version in slot.versions])) if slot.versions else float("nan")
            alive = slot.greeting is None
            row = (slot.number, alive, slot.games / seconds, now - slot.heard, slot.restarts, age)
            found.append(WorkerHealth(*row))
            slot.games, slot.versions = 0, []
        return found

    def pids(self) -> dict[int, int]:
        """The processes of the workers that answer, by number."""
        return {slot.number: ray.get(slot.actor.hello.remote()) for slot in self._slots if slot.greeting is None}

    def close(self) -> None:
        """Ends the workers."""
        for slot in self._slots:
            kill(slot.actor)


def joined_chunks(parts: Sequence[Collected]) -> Collected:
    """What all chunks left, as if one process had played them."""
    return Collected(
        samples=joined([part.samples for part in parts]),
        games=pl.concat([part.games for part in parts]),
        kinds=np.sum([part.kinds for part in parts], axis=0),
        decisions=sum(part.decisions for part in parts),
        forced=sum(part.forced for part in parts),
        searched=sum(part.searched for part in parts),
        asked=sum(part.asked for part in parts),
        seconds={name: sum(part.seconds[name] for part in parts) for name in parts[0].seconds},
    )
