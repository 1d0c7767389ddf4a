"""The scripted strategies: bots that play one recognisable plan.

Each is the greedy bot with other weights (`luna_ai.bots.columns`), no code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Strategy:
    """A bot by its plan.

    Attributes:
        name: `strategy:NAME` on the command line.
        plan: one sentence.
        source: the ledger column (`engine_fast.LEDGER_SOURCES`) in which it excels.
        weights: columns of the evaluation that differ from the greedy bot's.
    """

    name: str
    plan: str
    source: str
    weights: Mapping[str, float] = field(default_factory=dict)


STRATEGIES: tuple[Strategy, ...] = ()
"""All strategies; their order is their code."""
