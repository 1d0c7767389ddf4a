"""`net:PATH,...`: a trained network at the table, alone or with a Gumbel search without noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from luna_ai.network_options import NET, NetOptionError, NetOptions
from luna_ai.search.evaluators import Evaluator, new_batch
from luna_ai.search.network_search import NetworkOptions, NetworkSearch

if TYPE_CHECKING:
    from engine_fast.position import Position
    from luna_ai.players import PlayerSpec


class NetworkPlayer:
    """A network; a decision that is the only legal one is not put before it."""

    def __init__(
        self, spec: PlayerSpec, options: NetOptions, seed: int | None, stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Reads the network, once a process. Once `stop` says yes, decisions are made with what the search has.

        Raises:
            NetOptionError: PyTorch is not installed.
            CheckpointError: the file is no checkpoint of this program.
            EvaluatorError: the backend cannot evaluate this network.
        """
        self.spec, self._stop = spec, stop
        self._evaluator = evaluator_of(options)
        self._search = search_of(options, self._evaluator, seed) if options.sims else None

    def choose(self, position: Position) -> int:
        """The id of the decision: the search's, or the likeliest of the policy.

        Raises:
            ValueError: the game is over.
        """
        if position.over:
            raise ValueError(f"{position!r}: the game is over, there is nothing to choose")
        legal = position.legal_ids()
        if len(legal) == 1:
            return legal[0]
        states = position.state.reshape(1, -1).copy()
        if self._search is not None:
            return int(self._search(states, position.game.rules, self._stop).chosen[0])
        batch = new_batch(states, position.game.rules)
        self._evaluator.evaluate(batch)
        return legal[int(np.argmax(batch.logits[0, legal]))]


def search_of(options: NetOptions, evaluator: Evaluator, seed: int | None) -> NetworkSearch:
    """Gumbel search of one game without noise."""
    chosen = NetworkOptions(
        rule="gumbel",
        sims=options.sims,
        seconds=options.seconds,
        leaves=options.leaves,
        considered=options.considered,
        gumbel_scale=0.0,
    )
    return NetworkSearch(chosen, evaluator, games=1, seed=seed)


def evaluator_of(options: NetOptions) -> Evaluator:
    """The evaluator of a checkpoint; one for all players of this process as long as the file is the same.

    Raises:
        NetOptionError, CheckpointError, EvaluatorError: see `NetworkPlayer`.
    """
    path = Path(options.path)
    try:
        stamp = path.stat()
    except OSError as problem:
        raise NetOptionError(f"{NET}: {options.path!r} cannot be read: {problem.strerror}") from problem
    return _evaluator(path, options.backend, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=8)
def _evaluator(path: Path, backend: str, changed: int, size: int) -> Evaluator:
    try:
        from luna_ai.evaluator import NetworkEvaluator
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise
        raise NetOptionError(f"{NET}: networks need PyTorch; allowed after: pip install 'luna-ai[train]'") from problem
    return NetworkEvaluator(path, None if backend == "auto" else backend)
