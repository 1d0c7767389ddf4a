"""Search of OpenSpiel beside ours, in the same run, in turns, one core.

*Python on Luna*: OpenSpiel's Python `MCTSBot` on Luna through `luna_ai.adapters.openspiel`, with its
`RandomRolloutEvaluator`, against our UCT with uniform playouts to the end: the same game, the same start position, the
same number of simulations, one random playout each. What the adapter's calls cost is measured too, since they are part
of the other side's time.

*C++ on its own games*: OpenSpiel's C++ `MCTSBot`, likewise with one random rollout a simulation, from the start of
games of similar length (without its solver, which would cost it time), against our UCT from the start of Luna.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine_fast.position import Position
from luna_ai.bench.measuring import Sample, run_for, series
from luna_ai.bench.peers import load_pyspiel
from luna_ai.bench.search_trees import options_of
from luna_ai.search.mcts import Search

CPP_GAMES = ("amazons", "chinese_checkers(players=4)", "go(board_size=9)")
PYTHON_SIMULATIONS, CPP_SIMULATIONS = 50, 400
EXPLORATION = 1.0
CALLS = ("legal_actions", "apply_action", "clone")
MEMORY_MB = 1000


def our_search(players: int, simulations: int, seed: int = 1) -> Callable[[int], int]:
    """UCT with uniform playouts from the start of a game, as a work for `run_for`: a unit is a simulation.

    The position is planted anew for every search: nothing is carried over.
    """
    options = options_of("uct", simulations)
    search = Search(options, seed)
    starts = [Position.new(players, seed=seed, start_player=seat) for seat in (0, 1)]
    for start in starts:
        search(start)

    def work(size: int) -> int:
        return sum(search(starts[number % 2]).played for number in range(size))

    return work


def luna_in_openspiel(players: int, seed: int = 1) -> Any:
    """The game `luna` of OpenSpiel: the deal of `our_search`."""
    pyspiel = load_pyspiel()
    import luna_ai.adapters.openspiel  # noqa: F401  # registers the game

    return pyspiel.load_game("luna", {"players": players, "seed": seed, "start_player": 0})


def python_search(players: int, simulations: int, seed: int = 1) -> Callable[[int], int]:
    """OpenSpiel's Python search on Luna, as a work for `run_for`: a unit is a simulation."""
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

    game = luna_in_openspiel(players, seed)
    evaluator = RandomRolloutEvaluator(1, np.random.RandomState(seed))
    bot = MCTSBot(game, EXPLORATION, simulations, evaluator, random_state=np.random.RandomState(seed))
    state = game.new_initial_state()

    def work(size: int) -> int:
        return sum(int(bot.mcts_search(state).explore_count) for _ in range(size))

    return work


def cpp_search(name: str, simulations: int, seed: int = 1) -> Callable[[int], int]:
    """OpenSpiel's C++ search on one of its games, as a work for `run_for`: a unit is a simulation."""
    pyspiel = load_pyspiel()
    game = pyspiel.load_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(game, evaluator, EXPLORATION, simulations, MEMORY_MB, False, seed, False)
    state = game.new_initial_state()

    def work(size: int) -> int:
        for _ in range(size):
            bot.step(state)
        return size * simulations

    return work


def adapter_works(players: int, seed: int = 1) -> dict[str, Callable[[int], int]]:
    """Calls of the adapter as OpenSpiel makes them, over the positions of a random game; a unit is a call."""
    chance = np.random.default_rng(seed)
    state, states, chosen = luna_in_openspiel(players, seed).new_initial_state(), list[Any](), list[int]()
    while not state.is_terminal():
        states.append(state.clone())
        chosen.append(int(chance.choice(state.legal_actions())))
        state.apply_action(chosen[-1])

    def legal(size: int) -> int:
        for _ in range(size):
            for state in states:
                state.legal_actions()
        return size * len(states)

    def play(size: int) -> int:
        for _ in range(size):
            state = states[0].clone()
            for action in chosen:
                state.apply_action(action)
        return size * len(states)

    def clone(size: int) -> int:
        for _ in range(size):
            for state in states:
                state.clone()
        return size * len(states)

    return dict(zip(CALLS, (legal, play, clone), strict=True))


def measure_python(players: tuple[int, ...], seconds: float, runs: int, tick: Callable[[], None]) -> dict[str, Any]:
    """Both searches on Luna and the adapter's calls, by number of players."""
    found: dict[str, Any] = {}
    for seats in players:
        works = {"ours": our_search(seats, PYTHON_SIMULATIONS), "theirs": python_search(seats, PYTHON_SIMULATIONS)}
        works |= adapter_works(seats)
        samples: dict[str, list[Sample]] = {name: [] for name in works}
        for _ in range(runs):
            for name, work in works.items():
                samples[name].append(run_for(seconds / 10 if name in CALLS else seconds, work))
                tick()
        ours, theirs = ([sample.rate for sample in samples[name]] for name in ("ours", "theirs"))
        found[str(seats)] = {
            "ours_per_second": series(ours),
            "theirs_per_second": series(theirs),
            "ratio": series([one / other for one, other in zip(ours, theirs, strict=True)]),
            "adapter_ns": {name: series([sample.nanoseconds for sample in samples[name]]) for name in CALLS},
        }
    return {"openspiel_python": {"simulations": PYTHON_SIMULATIONS, "players": found}}


def measure_cpp(
    players: tuple[int, ...],
    seconds: float,
    runs: int,
    tick: Callable[[], None],
    names: tuple[str, ...] = CPP_GAMES,
) -> dict[str, Any]:
    """OpenSpiel's C++ search on its games and ours on Luna; `ratio` is ours over theirs, by number of players."""
    works = {f"luna {seats}": our_search(seats, CPP_SIMULATIONS) for seats in players}
    works |= {name: cpp_search(name, CPP_SIMULATIONS) for name in names}
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            rates[name].append(run_for(seconds, work).rate)
            tick()
    ours = {str(seats): rates[f"luna {seats}"] for seats in players}
    games = {
        name: {
            "simulations_per_second": series(rates[name]),
            "ratio": {
                seats: series([one / other for one, other in zip(found, rates[name], strict=True)])
                for seats, found in ours.items()
            },
        }
        for name in names
    }
    luna = {seats: {"simulations_per_second": series(found)} for seats, found in ours.items()}
    return {"openspiel_cpp": {"simulations": CPP_SIMULATIONS, "luna": luna, "games": games}}
