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
from luna_ai.search.descent import Scratch, Settings, find_node, plant, run_simulations, transplant
from luna_ai.search.estimate import load_model
from luna_ai.search.options import ROLLOUTS, RULES, SearchOptions
from luna_ai.search.tree import NODES_USED, ROOT, UNVISITED, Tree, new_tree

EDGES_PER_NODE = 48
SLICE_SECONDS = 0.05


@dataclass(frozen=True)
class Candidate:
    """A decision at the root of a search.

    Attributes:
        action: id.
        visits: simulations that began with it.
        value: mean chance to win of the seat that decides; NaN without a visit.
        prior: how likely it was held to be before the search.
        values: mean chances to win by seat, `float64[4]`; NaN without a visit.
    """

    action: int
    visits: int
    value: float
    prior: float
    values: NDArray[np.float64]

    @property
    def notation(self) -> str:
        """The decision in notation."""
        return NOTATIONS[self.action]


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        candidates: all legal decisions, best first.
        values: mean chances to win by seat, `float64[4]`.
        simulations: simulations in the tree, those carried over included.
        played: simulations of this search.
        nodes: nodes in the tree.
        seconds: wall time.
    """

    candidates: tuple[Candidate, ...]
    values: NDArray[np.float64]
    simulations: int
    played: int
    nodes: int
    seconds: float

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
        self._seat, self._slice = 0, 16

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
        while not (played and stop()) and not self._spent(played, time.monotonic() - began):
            wanted = self._slice_size(played)
            slice_began = time.monotonic()
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
            plant(self._tree, state, self._scratch)
        self._rules, self._seat = position.game.rules, int(position.to_move or 0)

    def _spent(self, played: int, seconds: float) -> bool:
        options = self.options
        if options.seconds is not None:
            return seconds >= options.seconds
        return played >= options.sims

    def _slice_size(self, played: int) -> int:
        return self._slice if self.options.seconds is not None else min(self._slice, self.options.sims - played)

    def _adapt(self, done: int, seconds: float) -> None:
        fitting = int(done * SLICE_SECONDS / max(seconds, 1e-5))
        self._slice = max(1, min(fitting, 4 * self._slice))

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
        visits = int(tree.visits[ROOT])
        values = tree.value[ROOT] / max(visits, 1)
        return SearchResult(tuple(candidates), values, visits, played, int(tree.counters[NODES_USED]), seconds)

    def _worth(self, edge: int) -> tuple[int, int, float, int]:
        """What decisions are sorted by: proven win or loss, visits, value; the lower id where all is equal."""
        tree, visits = self._tree, int(self._tree.edge_visits[edge])
        mean = float(tree.edge_value[edge]) / max(visits, 1)
        return self._proof(int(tree.child[edge])), visits, mean, -edge

    def _proof(self, child: int) -> int:
        """1 for a node that is proven to be won by the seat that decides, -1 for one proven lost, else 0."""
        if child == UNVISITED or not int(self._tree.proven[child]) >> self._seat & 1:
            return 0
        return 1 if self._tree.proven_value[child, self._seat] > 0.5 else -1

    def _candidate(self, edge: int) -> Candidate:
        tree, visits = self._tree, int(self._tree.edge_visits[edge])
        child = int(tree.child[edge])
        values = tree.value[child] / tree.visits[child] if child != UNVISITED and tree.visits[child] else _NO_VALUES
        value = float(tree.edge_value[edge]) / visits if visits else float("nan")
        return Candidate(int(tree.action[edge]), visits, value, float(tree.prior[edge]), values)


_NO_VALUES = np.full(MAX_PLAYERS, np.nan)


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
