"""The PyPI package `gumbel-mcts` (https://github.com/olivkoch/gumbel-mcts) beside our lock-step search: the tree alone.

Both search two-player Luna from the same positions, `B` games in lock-step, the same number of simulations, with priors
and values from the same hash of the position. The package calls a game through two compiled functions, `fast_step` and
`get_valid_mask`; ours are Luna's `apply` and `legal_mask` on a board that is the packed row, as bytes. It takes it that
players alternate and values change sign with each decision. In Luna a player often decides several times in a row, so
its values are not Luna's; the hash has no meaning anyway, and the work it does is that of any game of this size.

Its evaluator is called with tensors of PyTorch. What the call costs is measured on both sides and taken away:
`without_evaluator` is descent, engine and backing up (and, on its side, making the tensors, a few per cent).

`pip install gumbel-mcts`; it needs numpy, numba and PyTorch (`pip install --no-deps gumbel-mcts` leaves out what its
demonstrations need besides: gymnasium, wandb, pymunk).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.actions import MASK_WORDS, NUM_ACTIONS
from engine_fast.apply import apply_into
from engine_fast.batch import legal_batch
from engine_fast.bounds import max_decisions
from engine_fast.layout import OVER, STATE_WORDS
from engine_fast.legal import legal_into
from engine_fast.position import load_game, new_ledger
from luna_ai.bench.measuring import Sample, run_for, series
from luna_ai.bench.search_network import Timed
from luna_ai.bench.search_trees import Roots
from luna_ai.search.evaluators import HashEvaluator, new_batch
from luna_ai.search.network_search import NetworkOptions, NetworkSearch

PLAYERS, SIMULATIONS = 2, 32
BYTES = 8 * STATE_WORDS
THEIRS = ("GumbelDense", "GumbelSparse", "PUCT")
OURS = ("gumbel", "puct")
MISSING = "gumbel-mcts: not installed (pip install gumbel-mcts)"
LEDGER_COLUMNS = new_ledger().shape[1]
njit: Any = numba.njit


def missing() -> str | None:
    """Why the package cannot be used, in a line; None if it can."""
    return None if find_spec("gumbel_mcts") is not None and find_spec("torch") is not None else MISSING


def game_functions() -> tuple[Any, Any]:
    """`fast_step` and `get_valid_mask` of Luna, as the package calls them."""
    rules = load_game().rules

    @njit  # type: ignore[untyped-decorator]
    def fast_step(board: Any, action: Any, player: Any) -> Any:
        state = board.reshape(-1).view(np.uint64)
        apply_into(state, action, rules, np.zeros((4, LEDGER_COLUMNS), dtype=np.int16))
        return 0.0, 0, layout.phase(state) == OVER, board

    @njit  # type: ignore[untyped-decorator]
    def get_valid_mask(board: Any, player: Any) -> Any:
        words = np.zeros(MASK_WORDS, dtype=np.uint64)
        legal_into(board.reshape(-1).view(np.uint64), rules, words)
        mask = np.zeros(NUM_ACTIONS, dtype=np.float32)
        for action in range(NUM_ACTIONS):
            if (words[action >> 6] >> np.uint64(action & 63)) & np.uint64(1):
                mask[action] = 1.0
        return mask

    return fast_step, get_valid_mask


class Luna:
    """Luna as the package's `GameLogic`; a board is the packed row as `int8[BYTES]`."""

    NUM_ACTIONS = NUM_ACTIONS
    BOARD_SHAPE = (BYTES,)
    NODE_STORAGE_WIDTH = NN_OBS_WIDTH = BYTES
    MAX_MOVES = max_decisions(PLAYERS)
    MAX_LEGAL_MOVES = NUM_ACTIONS
    PLAYER_1, PLAYER_2 = 1, 2
    USE_HISTORY = False

    def __init__(self) -> None:
        """Compiles nothing yet."""
        self.fast_step, self.get_valid_mask = game_functions()


class HashModel:
    """The same evaluator as the package's `MCTSModel`."""

    def __init__(self, logic: Luna) -> None:
        """Answers for a game."""
        self.logic, self.seconds = logic, 0.0
        self._evaluator, self._rules = HashEvaluator(), load_game().rules

    def forward_for_mcts(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Priors `float32[B, NUM_ACTIONS]` and the mover's value in [-1, 1], `float32[B]`, as tensors."""
        import torch

        began = time.thread_time()
        states = batch["boards"].numpy().astype(np.int8).view(np.uint64)
        asked = new_batch(states, self._rules)
        self._evaluator.evaluate(asked)
        masks, logits, values = asked.masks, asked.logits, asked.values
        legal = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, :NUM_ACTIONS]
        weights = np.exp(logits) * legal.astype(np.float32)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.float32(1e-9))
        mine = 2.0 * values[np.arange(len(states)), layout.columns(states, "to_move")] - 1.0
        answer = {"policy": torch.from_numpy(weights), "value": torch.from_numpy(mine)}
        self.seconds += time.thread_time() - began
        return answer


def their_search(kind: str, states: NDArray[np.uint64], simulations: int) -> tuple[Callable[[int], int], HashModel]:
    """One of `THEIRS` in lock-step over the rows of `states`, as a work for `run_for`: a unit is a simulation."""
    import gumbel_mcts
    import torch

    torch.set_num_threads(1)
    games, logic = len(states), Luna()
    model = HashModel(logic)
    tree = getattr(gumbel_mcts, kind)(games, games * (simulations + 4), logic, device="cpu")
    boards, movers = states.view(np.int8).reshape(games, BYTES), np.ones(games, dtype=np.int8)
    active = list(range(games))

    def work(size: int) -> int:
        played = 0
        for _ in range(size):
            tree.reset()
            tree.initialize_roots(active, boards, movers)
            tree.run_simulation_batch(model, active, num_simulations=simulations)
            played += int(tree.storage.visit_counts[tree.storage.root_indices].sum()) - games
        return played

    return work, model


def our_search(rule: str, states: NDArray[np.uint64], simulations: int) -> tuple[Callable[[int], int], Timed]:
    """Our search by one of `OURS` in lock-step over the rows of `states`, likewise."""
    evaluator, rules = Timed(HashEvaluator()), load_game().rules
    search = NetworkSearch(NetworkOptions(rule=rule, sims=simulations), evaluator, games=len(states), seed=1)

    def work(size: int) -> int:
        return sum(int(search(states, rules).simulations.sum()) for _ in range(size))

    return work, evaluator


def measure_gumbel(games: int, seconds: float, runs: int, tick: Callable[[], None]) -> dict[str, Any]:
    """Simulations a second of both, with and without the evaluator's time; None where the package is missing."""
    if missing():
        return {"gumbel_mcts": None}
    states = with_a_choice(Roots(PLAYERS, 2 * games).states)[:games]
    searches: dict[str, tuple[Callable[[int], int], HashModel | Timed]] = {}
    searches |= {kind: their_search(kind, states, SIMULATIONS) for kind in THEIRS}
    searches |= {f"luna {rule}": our_search(rule, states, SIMULATIONS) for rule in OURS}
    samples: dict[str, list[tuple[Sample, float]]] = {name: [] for name in searches}
    for work, _ in searches.values():
        work(1)  # compiled and warm
    for _ in range(runs):
        for name, (work, evaluator) in searches.items():
            before = evaluator.seconds
            sample = run_for(seconds, work)
            samples[name].append((sample, evaluator.seconds - before))
            tick()
    kinds = {
        name: {
            "simulations_per_second": series([sample.rate for sample, _ in rows]),
            "without_evaluator": series([sample.units / (sample.seconds - asked) for sample, asked in rows]),
        }
        for name, rows in samples.items()
    }
    return {"gumbel_mcts": {"players": PLAYERS, "games": games, "simulations": SIMULATIONS, "kinds": kinds}}


def with_a_choice(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The positions in which more than one decision is legal: our search plays the others at once."""
    masks = np.zeros((len(states), MASK_WORDS), dtype=np.uint64)
    legal_batch(states, load_game().rules, masks)
    chosen: NDArray[np.uint64] = states[np.bitwise_count(masks).sum(axis=1) > 1]
    return chosen
