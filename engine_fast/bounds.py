"""How long a game can be, proved from the rules (RULES.md section 4, "Length").

A *decision* is one step, an *action* takes one or several. Per player and game there are at most

* 1 + 4 decisions of the preliminary round,
* 6 rounds of at most `max_actions_per_player` (c) actions: players take turns, and a phase ends after c N actions.

An action of one decision is shorter than a Journey, which in turn is at most `steps(7) + steps(7)` long: in a row of
steps over s places a place is named again only after a step of 4 novices, so m novices take at most
`max(sum of ceil(m_i / 4))` steps, m_1 + ... + m_s = m. A Tide lifts from 15 places and so may be longer, but each
Tide but the first (with a token held at the set-up) needs a Priest's Favor before it, one decision instead of a
Journey: x Tides and x - 1 Favors are shorter than 2 x - 1 Journeys as soon as x > 1. So one Tide is counted.
"""

from __future__ import annotations

from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import NUM_ROUNDS
from engine_fast.ruleset import RuleSet

MAX_NOVICES = 13
TIDE_SOURCES = 15
PRELIMINARY_DECISIONS = 5


def max_steps(places: int, novices: int = MAX_NOVICES) -> int:
    """The longest row of lifts or landings of `novices` over `places`: one each, then every further 4 give one more."""
    first = min(places, novices)
    return first + (novices - first) // 4


JOURNEY_STEPS = max_steps(NUM_KINDS) + max_steps(NUM_KINDS)
TIDE_STEPS = max_steps(TIDE_SOURCES) + max_steps(NUM_KINDS)

# One Tide more and the Favor before it must not be longer than the two Journeys in their place.
assert TIDE_STEPS + 1 <= 2 * JOURNEY_STEPS


def max_decisions(players: int, ruleset: RuleSet | None = None) -> int:
    """`MAX_DECISIONS`: no game with this number of players and this rule set has more decisions."""
    actions = NUM_ROUNDS * (ruleset or RuleSet()).max_actions_per_player
    longest_actions = (actions - 1) * JOURNEY_STEPS + max(TIDE_STEPS, JOURNEY_STEPS)
    return players * (PRELIMINARY_DECISIONS + longest_actions)
