"""Resident memory while the engine plays: it must not grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from luna_ai.bench.measuring import peak_bytes, resident_bytes
from luna_ai.bench.playouts import play_for

SECONDS_BETWEEN_LOOKS = 0.05


def measure_memory(players: Sequence[int], decisions: int, tick: Callable[[], None]) -> dict[str, Any]:
    """Plays so many decisions in this process, the player counts in turn, and looks at its memory on the way.

    Returns:
        Decisions played; resident bytes before and after (None where the system does not say); `growth`, the most seen
        on the way minus before; `peak`, the most that the process has ever had, compiling included.
    """
    for seats in players:
        play_for(0, seats, seed=0)
    before, played, most = resident_bytes(), 0, 0
    for turn, seats in enumerate(cycle(players)):
        if played >= decisions:
            break
        played += play_for(SECONDS_BETWEEN_LOOKS, seats, seed=turn).decisions.units
        most = max(most, resident_bytes() or 0)
    tick()
    return {
        "decisions": played,
        "resident_before": before,
        "resident_after": resident_bytes(),
        "growth": None if before is None else max(0, most - before),
        "peak": max(filter(None, [peak_bytes(), most]), default=None),
    }
