"""A network's search as `luna_ai.analysis` asks for it: one position, its decisions best first, chances by seat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS
from engine_fast.position import Position
from luna_ai.network_options import NetOptions
from luna_ai.network_player import evaluator_of, search_of
from luna_ai.search.evaluators import Evaluator, new_batch
from luna_ai.search.mcts import Candidate, SearchResult
from luna_ai.search.network_search import NetworkResult


@dataclass(frozen=True)
class NetworkCandidate(Candidate):
    """A decision at the root of a network's search; `prior` is the network's policy, `values` are not known (NaN).

    Attributes:
        policy: how likely the improved policy makes it.
    """

    policy: float = 0.0


class NetworkSearcher:
    """Searches one position at a time, as the player of the same name does: no chance is drawn."""

    def __init__(self, options: NetOptions) -> None:
        """Reads the network and reserves the tree.

        Args:
            options: of the player; `sims` is at least 1.

        Raises:
            NetOptionError, CheckpointError, EvaluatorError: see `luna_ai.network_player.NetworkPlayer`.
        """
        self._evaluator: Evaluator = evaluator_of(options)
        self._search = search_of(options, self._evaluator, seed=0)

    def __call__(self, position: Position, seed: int = 0, stop: Callable[[], bool] = lambda: False) -> SearchResult:
        """What the network and its search think of a position that is not over; `seed` is not used.

        A position with one legal decision is worth what comes after it.
        """
        legal = position.legal_ids()
        if len(legal) == 1:
            return self._forced(position, legal[0], stop)
        states, rules = position.state.reshape(1, -1).copy(), position.game.rules
        batch = new_batch(states, rules)
        self._evaluator.evaluate(batch)
        return result_of(legal, softmax(batch.logits[0, legal]), self._search(states, rules, stop))

    def _forced(self, position: Position, action: int, stop: Callable[[], bool]) -> SearchResult:
        after = position.play(action)
        if after.over:
            values = np.zeros(MAX_PLAYERS)
            values[after.ranking.index(1)] = 1.0
            found = SearchResult((), values, 0, 0, 0, 0.0)
        else:
            found = self(after, 0, stop)
        own = float(found.values[position.to_move or 0])
        only = NetworkCandidate(action, found.simulations, own, 1.0, found.values, policy=1.0)
        return SearchResult((only,), found.values, found.simulations, found.played, found.nodes, found.seconds)


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities of logits, `float64[n]`."""
    powers: NDArray[np.float64] = np.exp(logits.astype(np.float64) - logits.max())
    powers /= powers.sum()
    return powers


def result_of(legal: list[int], priors: NDArray[np.float64], found: NetworkResult) -> SearchResult:
    """A search of one game, its decisions sorted: the chosen one, then by visits and improved policy.

    Args:
        legal: ids of the legal decisions, at least two.
        priors: the network's policy, in the order of `legal`.
        found: what the search says.
    """
    unknown = np.full(MAX_PLAYERS, np.nan)
    candidates = [
        NetworkCandidate(
            action,
            int(found.visits[0, action]),
            float(found.values[0, action]),
            float(prior),
            unknown,
            policy=float(found.policy[0, action]),
        )
        for action, prior in zip(legal, priors, strict=True)
    ]
    chosen = int(found.chosen[0])
    candidates.sort(key=lambda each: (each.action == chosen, each.visits, each.policy), reverse=True)
    simulations = int(found.simulations[0])
    values = found.root_values[0].astype(np.float64)
    return SearchResult(tuple(candidates), values, simulations, simulations, found.asked, sum(found.seconds.values()))
