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
SLICE_SECONDS = 0.05


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
    """A tree search that keeps its tree between calls.

    Attributes:
        options: what it does.
        settings: the options as kernels get them.
        tree: the tree of the last search, to look into; the next one goes on in it or begins anew.
    """

    def __init__(self, options: SearchOptions, seed: int | None = None) -> None:
        """Reserves the memory of the tree; nothing is searched yet."""
        self.options = options
        self.settings = settings_of(options)
        self._generator = generator_of(seed)
        self._workspace, self._model = new_workspace(), load_model()
        self._scratch = Scratch(np.zeros(STATE_WORDS, dtype=np.uint64), new_ledger(), np.zeros(MAX_PLAYERS))
        self.tree = self._new_tree()
        self._spare = self._new_tree() if options.reuse else self.tree
        self._rules: NDArray[np.uint64] | None = None
        self._slice, self._played, self._began = 16, 0, time.monotonic()

    def _new_tree(self) -> Tree:
        nodes = self.options.nodes
        return new_tree(nodes, EDGES_PER_NODE * nodes, self.options.transpositions)

    def __call__(self, position: Position, stop: Callable[[], bool] = lambda: False) -> SearchResult:
        """Searches a position until the budget is spent, or until `stop` says so between two slices.

        A KeyboardInterrupt comes through within a slice; `result` has the answer until then.

        Raises:
            ValueError: the game is over.
        """
        if position.over:
            raise ValueError(f"{position!r}: the game is over, there is nothing to search")
        self._began, self._played = time.monotonic(), 0
        self._take_root(position)
        while not (self._played and stop()) and not self._spent():
            wanted = self._slice_size()
            if self._run(wanted, position) < wanted:
                break
        return self.result()

    def result(self) -> SearchResult:
        """What is known of the position that was searched last, also after an interrupted search."""
        tree = self.tree
        first, count = int(tree.first_edge[ROOT]), int(tree.num_edges[ROOT])
        return SearchResult(
            candidates=tuple(map(self._candidate, sorted(range(first, first + count), key=self._worth, reverse=True))),
            values=self._values(ROOT),
            simulations=int(tree.visits[ROOT]),
            played=self._played,
            nodes=int(tree.counters[NODES_USED]),
            seconds=self._seconds(),
            proven=bool(tree.proven[ROOT]),
        )

    def _take_root(self, position: Position) -> None:
        """Makes the position the root, with what the tree already knows of it."""
        state = position.state.copy()
        same_game = self._rules is position.game.rules
        node = find_node(self.tree, state) if self.options.reuse and same_game else -1
        if node > 0:
            transplant(self.tree, node, self._spare, self._scratch.value)
            self.tree, self._spare = self._spare, self.tree
        elif node < 0:
            plant(self.tree, state, self._scratch.value)
        self._rules = position.game.rules
        self._run(0, position)

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _spent(self) -> bool:
        seconds = self.options.seconds
        return self._played >= self.options.sims if seconds is None else self._seconds() >= seconds

    def _slice_size(self) -> int:
        """Simulations to run before Python looks up again: a slice, and no more than what is left of the budget."""
        seconds = self.options.seconds
        if seconds is None:
            return min(self._slice, self.options.sims - self._played)
        return max(1, min(self._slice, int(self._slice * (seconds - self._seconds()) / SLICE_SECONDS)))

    def _run(self, simulations: int, position: Position) -> int:
        """Runs simulations, and adapts the size of a slice to how long they took; returns how many were run."""
        began = time.monotonic()
        done = int(
            run_simulations(
                self.tree,
                simulations,
                self.settings,
                position.game.rules,
                self._generator,
                self._workspace,
                self._scratch,
                self._model,
            )
        )
        if done:
            fitting = int(done * SLICE_SECONDS / max(time.monotonic() - began, 1e-5))
            self._slice = max(1, min(fitting, 4 * self._slice))
        self._played += done
        return done

    def _worth(self, edge: int) -> tuple[int, int, float, float, int]:
        """What decisions are sorted by: proven win or loss, visits, value, prior; the lower id where all is equal."""
        tree, visits = self.tree, int(self.tree.edge_visits[edge])
        mean = float(tree.edge_value[edge]) / max(visits, 1)
        return int(tree.edge_proof[edge]), visits, mean, float(tree.prior[edge]), -int(tree.action[edge])

    def _candidate(self, edge: int) -> Candidate:
        tree, visits, proof = self.tree, int(self.tree.edge_visits[edge]), int(self.tree.edge_proof[edge])
        value = float(tree.edge_value[edge]) / visits if visits else float("nan")
        value = value if proof == OPEN else float(proof == WON)
        values = self._values(int(tree.child[edge]))
        return Candidate(int(tree.action[edge]), visits, value, float(tree.prior[edge]), values, proof)

    def _values(self, node: int) -> NDArray[np.float64]:
        """Chances to win in a node, `float64[4]`: proven, else the mean of its simulations, NaN if none."""
        tree, values = self.tree, np.full(MAX_PLAYERS, np.nan)
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
