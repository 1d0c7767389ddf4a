"""The scripted strategies: bots that play one recognisable plan.

Each is the greedy bot with other weights (`luna_ai.bots.columns`), no code of its own. `docs/BOTS.md` has what they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """A bot by its plan.

    Attributes:
        name: `strategy:NAME` on the command line.
        plan: one sentence.
        source: the ledger column (`engine_fast.LEDGER_SOURCES`) in which it excels.
        margin: influence by which its mean in that column is above every other bot's in mixed games (tested).
        weights: columns of the evaluation that differ from the greedy bot's.
    """

    name: str
    plan: str
    source: str
    margin: float
    weights: Mapping[str, float]


STRATEGIES: tuple[Strategy, ...] = (
    Strategy(
        "temple",
        "Claims tiles early, keeps its novices in the Temple and shelters them with Books.",
        "temple",
        3.0,
        {
            "temple": 2.0,
            "guard": 2.0,
            "books": 2.0,
            "token_book": 2.5,
            "risk_claimed": 0.9,
            "risk_path": 0.5,
            "council": 0.1,
            "unit": 0.2,
            "priestess": 0.2,
            "priestess_next": 0.1,
            "shrines": 0.3,
        },
    ),
    Strategy(
        "shrines",
        "Fetches shrine favors and goes where the Master Builder stands or goes next.",
        "shrines",
        3.5,
        {
            "shrines": 8.0,
            "build": 2.5,
            "token_shrine": 8.0,
            "shrine_use": 1.0,
            "council": 0.2,
            "unit": 0.2,
            "priestess": 0.3,
            "favors": 0.5,
        },
    ),
    Strategy(
        "council",
        "Turns novices into Council seats until the last seat is reached.",
        "council",
        1.5,
        {"council": 4.0, "unit": 3.0, "unit_top": 0.3, "guard": 0.6, "temple": 0.5},
    ),
    Strategy(
        "priestess",
        "Stands with the most novices before the Moon Priestess, this round and the next, and precedes in the Council.",
        "priestess",
        6.0,
        {"priestess": 5.0, "priestess_next": 3.0, "council_ahead": 2.0, "council": 0.1, "unit": 0.3},
    ),
    Strategy(
        "favors",
        "Collects one favor of each isle and keeps them to the end.",
        "favors",
        2.0,
        {"favors": 8.0, "council": 0.1, "unit": 0.2, "priestess": 0.3},
    ),
    Strategy(
        "books",
        "Fetches the book favor again and again and uses it at once.",
        "books",
        3.0,
        {"books": 12.0, "token_book": 10.0, "council": 0.1},
    ),
    Strategy(
        "displacer",
        "Takes the spaces next to rivals' novices, and the Books from under them.",
        "displacement",
        1.0,
        {
            "displacement": 30.0,
            "hurt": 3.0,
            "temple": 0.2,
            "guard": 0.5,
            "token_book": 3.0,
            "council": 0.1,
            "priestess": 0.3,
            "shrines": 0.3,
        },
    ),
    Strategy(
        "rusher",
        "Lives fast: recruits, leaves the first Time tokens to others and turns the last one whenever it can.",
        "meditation",
        0.7,
        {
            "meditation": 30.0,
            "meditate": -3.0,
            "again_free": 0.3,
            "later": 1.5,
            "council": 0.2,
            "unit": 0.2,
            "guard": 0.6,
            "shrines": 0.5,
        },
    ),
)
"""All strategies; their order is their code."""
