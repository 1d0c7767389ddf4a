"""Search with an evaluator: many games in lock-step, by Gumbel or PUCT.

Leaves of all games go to the evaluator as one batch. For self-play, many games with one leaf each in a step; for play
and analysis, one game with several leaves in a step (virtual loss). See `lockstep` for the kernels, `evaluators` for
what an evaluator is, `lockstep.gumbel` for the source of the formulas.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import NUM_ACTIONS
from engine_fast.layout import MAX_PLAYERS, OVER, STATE_WORDS, columns
from engine_fast.position import new_ledger
from luna_ai.search.evaluators import Evaluator
from luna_ai.search.lockstep.expansion import Numbers, Scratch
from luna_ai.search.lockstep.forest import UNPROVEN, forest_bytes, new_forest, new_leaves
from luna_ai.search.lockstep.gumbel import halving_tables
from luna_ai.search.lockstep.softmax import new_powers
from luna_ai.search.lockstep.steps import advance, plant
from luna_ai.search.lockstep.verdict import read_roots

RULES = ("gumbel", "puct")
EDGES_PER_NODE = 64


class NetworkSearchError(ValueError):
    """An option that is not allowed, or positions that cannot be searched."""


@dataclass(frozen=True)
class NetworkOptions:
    """What a search does with each position.

    Attributes:
        rule: `gumbel` or `puct`.
        sims: simulations of each game; the evaluation of the root is not counted.
        seconds: time for all games together; the search ends when it or `sims` is spent. None: no limit.
        leaves: leaves of one game in a step.
        considered: Gumbel: most decisions considered at the root.
        gumbel_scale: Gumbel: factor of the noise at the root, 1 in self-play, 0 in evaluation.
        c_visit: Gumbel: visits added to the most visited decision's in the scale of values.
        c_scale: Gumbel: scale of values with two players; times N / 2 with N, since the equal share is 1 / N.
        c: PUCT: weight of exploration with two players; times 2 / N with N.
        fpu: PUCT: how much less a decision without visits is worth than its node.
        noise: PUCT: share of Dirichlet noise in the priors of the root, 0.25 in self-play, 0 in evaluation.
        alpha: PUCT: concentration of that noise, for 10 legal decisions; in proportion less for more.
        temperature: PUCT: 0 plays the most visited decision, 1 draws by visits.
    """

    rule: str = "gumbel"
    sims: int = 32
    seconds: float | None = None
    leaves: int = 1
    considered: int = 16
    gumbel_scale: float = 1.0
    c_visit: float = 50.0
    c_scale: float = 1.0
    c: float = 1.25
    fpu: float = 0.2
    noise: float = 0.0
    alpha: float = 1.0
    temperature: float = 0.0

    def __post_init__(self) -> None:
        """Checks all values.

        Raises:
            NetworkSearchError: a value that is not allowed; the message names the option and what is.
        """
        if self.rule not in RULES:
            raise NetworkSearchError(f"rule {self.rule!r} is unknown; allowed: {', '.join(RULES)}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            whole = name in WHOLE
            fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
            if not (fits or (name == "seconds" and value is None)) or (whole and int(value) != value):
                kind = "whole number" if whole else "number"
                raise NetworkSearchError(f"{name} {value!r} is not a {kind} from {low:g} to {high:g}")
        if self.rule == "gumbel" and self.temperature > 0.0:
            raise NetworkSearchError(f"temperature {self.temperature:g} is for rule puct; allowed with gumbel: 0")


RANGES: dict[str, tuple[float, float]] = {
    "sims": (1, 1_000_000),
    "seconds": (0.001, 3600),
    "leaves": (1, 1024),
    "considered": (1, NUM_ACTIONS),
    "gumbel_scale": (0, 10),
    "c_visit": (0, 1e6),
    "c_scale": (0, 1e3),
    "c": (0, 100),
    "fpu": (0, 10),
    "noise": (0, 1),
    "alpha": (0.001, 1000),
    "temperature": (0, 100),
}
WHOLE = ("sims", "leaves", "considered")


@dataclass(frozen=True)
class NetworkResult:
    """What the searches of T games found.

    Attributes:
        chosen: `int64[T]`, decision to play.
        policy: `float32[T, NUM_ACTIONS]`, target for training: the improved policy (Gumbel), shares of visits (PUCT).
        visits: `int32[T, NUM_ACTIONS]`, visits of each decision.
        values: `float32[T, NUM_ACTIONS]`, mean value of each decision for the seat that decides; NaN without visits.
        root_values: `float32[T, 4]`, mean win probabilities by absolute seat; NaN for a game that was not searched
            because it had only one legal decision.
        raw_values: `float32[T, 4]`, what the evaluator said of the root; NaN likewise.
        simulations: `int64[T]`, simulations of this search.
        mean_depth: mean depth at which they ended; 0 without any.
        asked: positions put before the evaluator.
        steps: batches that they came in.
        seconds: wall time of the parts: `tree` (with the engine's steps) and `evaluator`.
    """

    chosen: NDArray[np.int64]
    policy: NDArray[np.float32]
    visits: NDArray[np.int32]
    values: NDArray[np.float32]
    root_values: NDArray[np.float32]
    raw_values: NDArray[np.float32]
    simulations: NDArray[np.int64]
    mean_depth: float
    asked: int
    steps: int
    seconds: dict[str, float]


class NetworkSearch:
    """Searches the positions of many games at once, each in a tree of its own.

    Attributes:
        forest: the trees of the last search, to look into; the next one overwrites them.
        leaves: the positions before the evaluator and its answers.
        numbers: the options as kernels get them.
        scratch: arrays for the kernels to work in.
    """

    def __init__(self, options: NetworkOptions, evaluator: Evaluator, games: int = 1, seed: int | None = None) -> None:
        """Reserves the memory of all trees.

        Args:
            options: what to do with each position.
            evaluator: who is asked about leaves.
            games: most positions searched together, at least 1.
            seed: where the chance of all games comes from; None: another one every time.

        Raises:
            NetworkSearchError: fewer than one game.
        """
        if games < 1:
            raise NetworkSearchError(f"{games} games cannot be searched; allowed: 1 and more")
        self.options, self.evaluator, self.games = options, evaluator, games
        nodes = options.sims + 1
        edges = max(2 * NUM_ACTIONS, EDGES_PER_NODE * nodes)
        self.forest = new_forest(games, nodes, edges, options.considered)
        self.leaves = new_leaves(games * options.leaves)
        self._schedules: dict[tuple[int, ...], NDArray[np.int32]] = {}  # by the numbers of simulations
        self.scratch = new_scratch()
        self.numbers = numbers_of(options)
        sequence = np.random.SeedSequence(seed)
        self.forest.generator[:, 0] = sequence.generate_state(games, np.uint64)
        self._noise = [np.random.default_rng(own) for own in sequence.spawn(games)]

    @property
    def memory(self) -> int:
        """Bytes of the trees."""
        return forest_bytes(self.forest)

    def __call__(
        self,
        states: NDArray[np.uint64],
        rules: NDArray[np.uint64],
        stop: Callable[[], bool] = lambda: False,
        chance: NDArray[np.uint64] | None = None,
        sims: NDArray[np.int64] | None = None,
    ) -> NetworkResult:
        """Searches the positions of T games, until the budget is spent or `stop` says so between two steps.

        Args:
            states: `uint64[T, STATE_WORDS]`, at most as many as `games`; none may be over. The numbers of players may
                differ.
            rules: the rules table of all games.
            stop: asked after every step.
            chance: `uint64[T]`, generators of the games' Gumbel numbers, moved on; None: each place has its own.
            sims: `int64[T]`, simulations of each game, from 1 to the option's; None: as many as the option says.

        Raises:
            NetworkSearchError: another shape, a game is over, or the evaluator answers with values that are no numbers.
        """
        self._check(states)
        trees = len(states)
        if self.options.noise > 0.0:
            self._draw_noise(trees)
        if chance is not None:
            self.forest.generator[:trees, 0] = chance
        schedule = self._plan(np.full(trees, self.options.sims) if sims is None else sims)
        clock = {"tree": 0.0, "evaluator": 0.0}
        began = time.perf_counter()
        roots = plant(self.forest, self.leaves, np.ascontiguousarray(states), self.numbers, rules, self.scratch)
        clock["tree"] += time.perf_counter() - began
        asked, steps = self._run(trees, roots, schedule, rules, stop, clock, began)
        if chance is not None:
            chance[:] = self.forest.generator[:trees, 0]
        return self._result(trees, asked, steps, clock)

    def _run(
        self,
        trees: int,
        filled: int,
        schedule: NDArray[np.int32],
        rules: NDArray[np.uint64],
        stop: Callable[[], bool],
        clock: dict[str, float],
        began: float,
    ) -> tuple[int, int]:
        """Steps until there is nothing left to ask; positions asked and steps. Leaves on their way are answered."""
        asked, steps, leaves = 0, 0, self.leaves
        while filled:
            start = time.perf_counter()
            self.evaluator.evaluate(leaves.batch(filled, rules))
            answered = time.perf_counter()
            asked, steps = asked + filled, steps + 1
            if stop() or (self.options.seconds is not None and answered - began >= self.options.seconds):
                self.forest.budget[:trees] = 0
            filled = advance(self.forest, trees, leaves, filled, self.numbers, schedule, rules, self.scratch)
            if filled < 0:
                said = leaves.value[-1 - filled].tolist()
                raise NetworkSearchError(f"the evaluator's values of a position are {said}; allowed: finite numbers")
            clock["evaluator"] += answered - start
            clock["tree"] += time.perf_counter() - answered
        return asked, steps

    def _check(self, states: NDArray[np.uint64]) -> None:
        few = states.ndim == 2 and 1 <= len(states) <= self.games
        if not few or states.shape[1] != STATE_WORDS or states.dtype != np.uint64:
            wanted = f"uint64[T, {STATE_WORDS}], T from 1 to {self.games}"
            raise NetworkSearchError(f"positions are {states.dtype}{list(states.shape)}; allowed: {wanted}")
        over = np.flatnonzero(columns(states, "phase") == int(OVER))
        if over.size:
            raise NetworkSearchError(f"game {over[0]} is over, there is nothing to search")

    def _plan(self, sims: NDArray[np.int64]) -> NDArray[np.int32]:
        """Notes how many simulations each game gets; returns the schedules of these numbers."""
        if sims.min() < 1 or sims.max() > self.options.sims:
            raise NetworkSearchError(f"sims of the games: allowed: whole numbers from 1 to {self.options.sims}")
        numbers, plan = np.unique(sims, return_inverse=True)
        self.forest.budget[: len(sims)], self.forest.plan[: len(sims)] = sims, plan
        key = tuple(numbers.tolist())
        if key not in self._schedules:
            self._schedules[key] = halving_tables(self.options.considered, key)
        return self._schedules[key]

    def _draw_noise(self, trees: int) -> None:
        """Draws Gamma numbers for every decision: normalised over the legal ones, they are Dirichlet noise."""
        for row, generator in zip(self.forest.noise[:trees], self._noise, strict=False):
            row[:] = generator.standard_gamma(self.options.alpha * 10.0 / EDGES_PER_NODE, NUM_ACTIONS)

    def _result(self, trees: int, asked: int, steps: int, clock: dict[str, float]) -> NetworkResult:
        forest = self.forest
        chosen = np.zeros(trees, dtype=np.int64)
        policy = np.zeros((trees, NUM_ACTIONS), dtype=np.float32)
        visits = np.zeros((trees, NUM_ACTIONS), dtype=np.int32)
        values = np.full((trees, NUM_ACTIONS), np.nan, dtype=np.float32)
        read_roots(forest, self.numbers, chosen, policy, visits, values)
        self._draw_decisions(chosen, visits)
        roots = np.arange(trees) * (len(forest.visits) // self.games)
        searched = forest.num_edges[roots] > 1
        played = np.where(searched, forest.played[:trees], 0)
        counts = np.where(searched, forest.visits[roots], 1)[:, np.newaxis]
        means = np.where(searched[:, np.newaxis], forest.value[roots] / counts, np.nan).astype(np.float32)
        raw = np.where(searched[:, np.newaxis], forest.raw[roots], np.nan).astype(np.float32)
        depth = float(forest.depth_sum[:trees].sum() / max(1, played.sum()))
        return NetworkResult(chosen, policy, visits, values, means, raw, played, depth, asked, steps, clock)

    def _draw_decisions(self, chosen: NDArray[np.int64], visits: NDArray[np.int32]) -> None:
        """With a temperature, draws each decision by its visits, unless it is proven which one is best."""
        if self.options.rule != "puct" or self.options.temperature == 0.0:
            return
        nodes = len(self.forest.visits) // self.games
        for game, row in enumerate(visits):
            if row.any() and self.forest.proven[game * nodes] == UNPROVEN:
                weights = (row / row.max()) ** (1.0 / self.options.temperature)
                chosen[game] = self._noise[game].choice(NUM_ACTIONS, p=weights / weights.sum())


def new_scratch() -> Scratch:
    """Arrays for the kernels to work in."""
    return Scratch(new_ledger(), np.zeros(MAX_PLAYERS), new_powers(NUM_ACTIONS), np.zeros(NUM_ACTIONS))


def numbers_of(options: NetworkOptions) -> Numbers:
    """The numbers that kernels get."""
    return Numbers(
        rule=RULES.index(options.rule),
        leaves=int(options.leaves),
        considered=int(options.considered),
        gumbel_scale=float(options.gumbel_scale),
        visit_offset=float(options.c_visit),
        value_scale=float(options.c_scale),
        exploration=float(options.c),
        reduction=float(options.fpu),
        noise=float(options.noise),
    )
