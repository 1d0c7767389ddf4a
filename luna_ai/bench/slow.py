"""What is not meant to be fast, for comparison: the checked Python class, and the readable reference."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from engine_fast.layout import MAX_PLAYERS
from engine_fast.position import Position, load_game
from engine_fast.reference import Reference
from luna_ai.bench.measuring import run_for, series

POSITIONS = 500


def reference_player(players: int, seed: int) -> Callable[[int], int]:
    """Plays uniform random games with the reference, as a work for `run_for`: a unit is a decision.

    The legal decisions are listed before each decision and every game is dealt anew, as in the engine's playouts.
    """
    game, chance = load_game(), random.Random(seed)
    reference = Reference(game.sheet.resolved, game.ruleset.to_json())
    position = reference.new(chance, players)

    def work(size: int) -> int:
        nonlocal position
        for _ in range(size):
            legal = reference.legal(position)
            if not legal:
                position = reference.new(chance, players)
                legal = reference.legal(position)
            position = reference.play(position, chance.choice(legal))
        return size

    return work


def position_player(players: int, seed: int) -> Callable[[int], int]:
    """Plays uniform random games with `Position`, notations and all, as a work for `run_for`."""
    chance = random.Random(seed)
    position = Position.new(players, seed=chance.getrandbits(32))

    def work(size: int) -> int:
        nonlocal position
        for _ in range(size):
            if position.over:
                position = Position.new(players, seed=chance.getrandbits(32))
            position = position.play(chance.choice(position.legal()))
        return size

    return work


def visited(players: int, seed: int, count: int = POSITIONS) -> list[tuple[Position, str]]:
    """Positions of random games and the decision taken in each."""
    chance, found = random.Random(seed), list[tuple[Position, str]]()
    position = Position.new(players, seed=seed)
    while len(found) < count:
        decision = chance.choice(position.legal())
        found.append((position, decision))
        position = position.play(decision)
        if position.over:
            position = Position.new(players, seed=len(found))
    return found


def position_works(pairs: list[tuple[Position, str]]) -> dict[str, Callable[[int], int]]:
    """The methods of `Position`, as works for `run_for`: a unit is a call."""
    calls: dict[str, Callable[[Position, str], Any]] = {
        "Position.legal": lambda position, _: position.legal(),
        "Position.legal_mask": lambda position, _: position.legal_mask(),
        "Position.play": lambda position, decision: position.play(decision),
        "Position.to_json": lambda position, _: position.to_json(),
    }

    def work_of(call: Callable[[Position, str], Any]) -> Callable[[int], int]:
        def work(size: int) -> int:
            for number in range(size):
                call(*pairs[number % len(pairs)])
            return size

        return work

    return {name: work_of(call) for name, call in calls.items()}


def measure_positions(seconds: float, runs: int, tick: Callable[[], None]) -> dict[str, Any]:
    """Microseconds of the methods of `Position`, in positions of four-player games."""
    samples: dict[str, list[float]] = {}
    works = position_works(visited(MAX_PLAYERS, seed=1))
    for _ in range(runs):
        for name, work in works.items():
            samples.setdefault(name, []).append(run_for(seconds, work).nanoseconds / 1000)
            tick()
    return {name: series(values) for name, values in samples.items()}


def measure_players(
    players: tuple[int, ...], seconds: float, runs: int, tick: Callable[[], None]
) -> dict[str, dict[str, Any]]:
    """Decisions for each processor second of `Position` and of the reference, by number of players."""
    makers = {"position": position_player, "reference": reference_player}
    for make in makers.values():
        make(players[0], 0)(1)  # loads what is compiled
    found: dict[str, dict[str, list[float]]] = {name: {} for name in makers}
    for run in range(runs):
        for seats in players:
            for name, make in makers.items():
                sample = run_for(seconds, make(seats, run))
                found[name].setdefault(str(seats), []).append(sample.rate)
                tick()
    return {name: {seats: series(rates) for seats, rates in by_seats.items()} for name, by_seats in found.items()}
