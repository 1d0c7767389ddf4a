"""A search with a budget, and the player `mcts:...` that decides by it.

The budget is a number of simulations or of seconds. Kernels run in slices, so a search can be stopped at any time and
always has an answer. The tree is kept between decisions: inside a Journey, a Tide or a Book, and across the moves of
others, the part below the new position is carried over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import NOTATIONS
from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from engine_fast.position import Position, generator_of, new_ledger
from luna_ai.bots.workspace import new_workspace
from luna_ai.search.descent import Scratch, Settings, run_simulations
from luna_ai.search.estimate import load_model
from luna_ai.search.options import ROLLOUTS, RULES, SearchOptions
from luna_ai.search.reuse import find_node, plant, transplant
from luna_ai.search.tree import NODES_USED, OPEN, ROOT, UNVISITED, WON, Tree, new_tree

EDGES_PER_NODE = 48
SLICE_SECONDS, SLICE_SHARE = 0.05, 0.8
"""Longest slice, and the share of the time left that a slice may take: the estimate of speed is not exact."""


@dataclass(frozen=True)
class Candidate:
    """A decision at the root of a search.

    Attributes:
        action: id.
        visits: simulations that began with it.
        value: mean chance to win of the seat that decides, the exact one if it is proven; NaN without a visit.
        prior: how likely it was held to be before the search.
        values: mean chances to win by seat, `float64[4]`, the exact ones if they are proven; NaN without a visit.
        proof: 1 if the seat that decides wins by it for certain, -1 if it loses, else 0.
    """

    action: int
    visits: int
    value: float
    prior: float
    values: NDArray[np.float64]
    proof: int = 0

    @property
    def notation(self) -> str:
        """The decision in notation."""
        return NOTATIONS[self.action]


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        candidates: all legal decisions, best first.
        values: mean chances to win by seat, `float64[4]`, the exact ones if the position is proven.
        simulations: simulations in the tree, those carried over included.
        played: simulations of this search.
        nodes: nodes in the tree.
        seconds: wall time.
        proven: whether `values` is certain: the seat that decides can force a win, or loses whatever it does.
    """

    candidates: tuple[Candidate, ...]
    values: NDArray[np.float64]
    simulations: int
    played: int
    nodes: int
    seconds: float
    proven: bool = False

    @property
    def best(self) -> Candidate:
        """The decision to play: most visits, then the higher value."""
        return self.candidates[0]


class Search:
    """A tree search that keeps its tree between calls."""

    def __init__(self, options: SearchOptions, seed: int | None = None) -> None:
        """Reserves the memory of the tree; nothing is searched yet."""
        self.options = options
        self.settings = settings_of(options)
        self._generator = generator_of(seed)
        self._workspace, self._model = new_workspace(), load_model()
        self._scratch = Scratch(np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger(), np.zeros(MAX_PLAYERS))
        self._tree = self._new_tree()
        self._spare = self._new_tree() if options.reuse else self._tree
        self._rules: NDArray[np.uint64] | None = None
        self._per_second = 1000.0

    def _new_tree(self) -> Tree:
        return new_tree(self.options.nodes, EDGES_PER_NODE * self.options.nodes)

    def __call__(self, position: Position, stop: Callable[[], bool] = lambda: False) -> SearchResult:
        """Searches a position until the budget is spent, or until `stop` says so between two slices.

        Raises:
            ValueError: the game is over.
        """
        if position.over:
            raise ValueError(f"{position!r}: the game is over, there is nothing to search")
        began = time.monotonic()
        self._take_root(position)
        played = 0
        while not (played and stop()):
            slice_began = time.monotonic()
            wanted = self._slice_size(played, slice_began - began)
            if wanted < 1:
                break
            done = self._run(wanted, position)
            played += done
            self._adapt(done, time.monotonic() - slice_began)
            if done < wanted:
                break
        return self._result(played, time.monotonic() - began)

    def _take_root(self, position: Position) -> None:
        """Makes the position the root, with what the tree already knows of it."""
        state = position.state.copy()
        same_game = self._rules is position.game.rules
        node = find_node(self._tree, state) if self.options.reuse and same_game else -1
        if node > 0:
            transplant(self._tree, node, self._spare)
            self._tree, self._spare = self._spare, self._tree
        elif node < 0:
            plant(self._tree, state, self._scratch.value)
        self._rules = position.game.rules

    def _slice_size(self, played: int, seconds: float) -> int:
        """How many simulations to run before looking at the clock again; at least one in all, 0 when it is time."""
        options, slice_seconds = self.options, SLICE_SECONDS
        if options.seconds is None:
            return min(max(1, int(self._per_second * slice_seconds)), options.sims - played)
        left = min(slice_seconds, (options.seconds - seconds) * SLICE_SHARE)
        return max(1 if left > 0 or not played else 0, int(self._per_second * left))

    def _adapt(self, done: int, seconds: float) -> None:
        """Learns how fast simulations are, carefully: a first slice may be interrupted or very short."""
        self._per_second = min(max(done, 1) / max(seconds, 1e-5), 4.0 * self._per_second)

    def _run(self, simulations: int, position: Position) -> int:
        return int(
            run_simulations(
                self._tree,
                simulations,
                self.settings,
                position.game.rules,
                self._generator,
                self._workspace,
                self._scratch,
                self._model,
            )
        )

    def _result(self, played: int, seconds: float) -> SearchResult:
        tree = self._tree
        first, count = int(tree.first_edge[ROOT]), int(tree.num_edges[ROOT])
        edges = sorted(range(first, first + count), key=self._worth, reverse=True)
        candidates = [self._candidate(edge) for edge in edges]
        visits, nodes, proven = int(tree.visits[ROOT]), int(tree.counters[NODES_USED]), bool(tree.proven[ROOT])
        return SearchResult(tuple(candidates), self._values(ROOT), visits, played, nodes, seconds, proven)

    def _worth(self, edge: int) -> tuple[int, int, float, float, int]:
        """What decisions are sorted by: proven win or loss, visits, value, prior; the lower id where all is equal."""
        tree, visits = self._tree, int(self._tree.edge_visits[edge])
        mean = float(tree.edge_value[edge]) / max(visits, 1)
        return int(tree.edge_proof[edge]), visits, mean, float(tree.prior[edge]), -int(tree.action[edge])

    def _candidate(self, edge: int) -> Candidate:
        tree, visits, proof = self._tree, int(self._tree.edge_visits[edge]), int(self._tree.edge_proof[edge])
        value = float(tree.edge_value[edge]) / visits if visits else float("nan")
        value = value if proof == OPEN else float(proof == WON)
        values = self._values(int(tree.child[edge]))
        return Candidate(int(tree.action[edge]), visits, value, float(tree.prior[edge]), values, proof)

    def _values(self, node: int) -> NDArray[np.float64]:
        """Chances to win in a node, `float64[4]`: proven, else the mean of its simulations, NaN if none."""
        tree, values = self._tree, np.full(MAX_PLAYERS, np.nan)
        if node != UNVISITED and tree.visits[node]:
            values[:] = tree.proven_value[node] if tree.proven[node] else tree.value[node] / tree.visits[node]
        return values


def settings_of(options: SearchOptions) -> Settings:
    """The numbers that kernels get."""
    return Settings(
        rule=RULES.index(options.rule),
        exploration=float(options.c),
        bias=float(options.bias),
        reduction=float(options.fpu),
        sharpness=float(options.sharpness),
        spread=float(options.spread),
        rollout=ROLLOUTS.index(options.rollout),
        rounds=int(options.rounds),
        noise=float(options.noise),
    )
