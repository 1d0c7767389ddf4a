"""Endings of random games with at most 100,000 positions, found by going back from their ends, and solved.

`tests/data/endings.json` holds for each: where it comes from, the number of positions that can be reached, its exact
value by seat, whether that value is the same however ties are broken, and the position.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from engine_fast import Position


@dataclass(frozen=True)
class Ending:
    source: str
    positions: int
    value: list[float]
    certain: bool
    position: Position


def load_endings() -> list[Ending]:
    path = Path(__file__).parents[1] / "data" / "endings.json"
    return [Ending(**row | {"position": Position.from_json(row["position"])}) for row in json.loads(path.read_text())]


ENDINGS = load_endings()
