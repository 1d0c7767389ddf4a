"""Uniform random games as fast as the engine plays them: in this process, and in several at once."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

import numpy as np

from engine_fast.batch import set_up_batch
from engine_fast.layout import STATE_WORDS
from engine_fast.playout import MIXED, UNIFORM, playout_batch, random_games
from engine_fast.position import generator_of, load_game, new_ledger
from engine_fast.setup import STANDARD
from luna_ai.bench.measuring import Sample, run_for

BATCH = 256
"""Positions of a batch: small enough for the second-level cache."""


@dataclass(frozen=True)
class Playouts:
    """A run of random games, whole ones, set-up and preliminary round included."""

    decisions: Sample
    games: int


def play_for(seconds: float, players: int, seed: int) -> Playouts:
    """Plays uniform random games one after another in this process."""
    rules, generator = load_game().rules, generator_of(seed)
    state, ledger, games = np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger(), 0

    def work(size: int) -> int:
        nonlocal games
        games += size
        return int(random_games(players, size, rules, generator, state, ledger))

    return Playouts(run_for(seconds, work), games)


def play_batches_for(seconds: float, players: int, policy: int, seed: int) -> Playouts:
    """The same with the batch verbs: `BATCH` set-ups, then their playouts by a policy (UNIFORM or MIXED)."""
    rules, played = load_game().rules, 0
    states = np.zeros((BATCH, STATE_WORDS), dtype=np.uint64)
    generators = np.random.SeedSequence(seed).generate_state(BATCH, np.uint64).reshape(-1, 1)
    ledgers = np.zeros((BATCH, *new_ledger().shape), dtype=np.int16)
    starters, decisions = np.full(BATCH, -1, dtype=np.int64), np.zeros(BATCH, dtype=np.int32)

    def work(size: int) -> int:
        nonlocal played
        played, total = played + size, 0
        for first in range(0, size, BATCH):
            rows = min(BATCH, size - first)
            set_up_batch(states[:rows], players, STANDARD, starters[:rows], generators[:rows], rules)
            playout_batch(states[:rows], policy, rules, generators[:rows], ledgers[:rows], decisions[:rows])
            total += int(decisions[:rows].sum())
        return total

    return Playouts(run_for(seconds, work), played)


def warm_up() -> None:
    """Compiles what this module calls, or loads it from disk."""
    play_for(0, 2, seed=0)
    for policy in (UNIFORM, MIXED):
        play_batches_for(0, 2, policy, seed=0)


class Workers:
    """Processes that play at the same time; use it as a context manager.

    They are started afresh (spawn) and warmed before anything is timed, and they wait for their next order without
    using the processor.
    """

    def __init__(self, jobs: int) -> None:
        """Starts nothing yet."""
        self.jobs = jobs
        self._workers: list[tuple[Any, Connection]] = []

    def __enter__(self) -> Self:
        """Starts the processes and waits until all are warm."""
        warm_up()  # here first, so that they find the compiled kernels on disk
        context = multiprocessing.get_context("spawn")
        for _ in range(self.jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._workers.append((process, ours))
        for _, connection in self._workers:
            connection.recv()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the processes."""
        for process, connection in self._workers:
            connection.close()
            process.join(timeout=2 if kind is None else 0.2)
            if process.is_alive():
                process.terminate()
        self._workers = []

    def play_for(self, seconds: float, players: int, seeds: Sequence[int]) -> list[Playouts]:
        """Plays in as many processes at once as there are seeds, each for so many of its own processor seconds."""
        busy = [connection for _, connection in self._workers[: len(seeds)]]
        for connection, seed in zip(busy, seeds, strict=True):
            connection.send((seconds, players, seed))
        return [connection.recv() for connection in busy]


def _serve(connection: Connection) -> None:
    """The life of a worker: gets ready, plays what it is told, ends when nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()
    answer: Callable[[Any], None] = connection.send
    try:
        answer("ready")
        while True:
            answer(play_for(*connection.recv()))
    except (EOFError, OSError):
        return
