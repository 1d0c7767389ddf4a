"""What a decision earns and from which source, worked out a third time from the rules (sections 4, 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tests.engine_fast.arranged import KINDS, Json, by_players

if TYPE_CHECKING:
    from tests.engine_fast.schedule import GameSpec

SOURCES = (
    *("guard", "displacement", "books", "temple", "priestess"),
    *("apostate", "meditation", "shrines", "favors", "council"),
)


def earned(spec: GameSpec, before: Json, decision: str, after: Json, unscored: Json | None) -> NDArray[np.int16]:
    """The change of the ledger, `int16[4, SOURCES]`, that a decision must make.

    `unscored` is the position after the decision if the cap on actions did not end the phase (None in the preliminary
    round); what the last Meditation scores is not in `before` either.
    """
    table = np.zeros((4, len(SOURCES)), dtype=np.int16)
    ended = before["phase"] == "action" and (after["phase"] == "over" or after["round"] != before["round"])
    seat, verb = before["to_move"], decision.split(" ")[0]
    last_meditation = verb == "meditate" and before["time_tokens"] == 1
    settled = before if last_meditation else unscored
    if verb == "sanctify":
        assert unscored is not None
        _sanctification(spec, table[seat], before, unscored)
    elif verb == "give-book":
        table[seat, SOURCES.index("books")] += 2 if before["book_bonus"] else 1
    elif last_meditation:
        table[seat, SOURCES.index("meditation")] += 1
    if ended:
        assert settled is not None
        _round_end(spec, table, settled, before)
        if after["phase"] == "over":
            _game_end(spec, table, settled)
    return table


def _sanctification(spec: GameSpec, row: NDArray[np.int16], before: Json, unscored: Json) -> None:
    """The Guard's value, and 1 for each space that lost its novice."""
    lost = [t for t, tile in before["tiles"].items() if tile.get("owner") != unscored["tiles"][t].get("owner")]
    row[SOURCES.index("guard")] += spec.sheet_numbers["guard_values"][before["round"] - 1]
    row[SOURCES.index("displacement")] += sum(unscored["tiles"][t]["owner"] is None for t in lost)


def precedence(position: Json) -> list[int]:
    """Seats by Council precedence: the highest seat first, the uppermost piece first."""
    return [piece for stack in position["council"][::-1] for piece in stack[::-1]]


def _round_end(spec: GameSpec, table: NDArray[np.int16], settled: Json, before: Json) -> None:
    """Section 5: `settled` is the position at the end of the action phase, `before` one decision earlier."""
    sheet, floor = spec.sheet_numbers, spec.ruleset["influence_floor"]
    priestess, apostate = KINDS.index(settled["priestess"]), KINDS.index(settled["apostate"])
    counts = [s["active"][priestess] + (settled["priestess"] in s["shrines"]) for s in settled["seats"]]
    order = sorted(precedence(settled), key=lambda seat: -counts[seat])
    points = by_players(sheet["moon_priestess"], spec.players)["points"]
    for place, seat in enumerate([seat for seat in order if counts[seat]][:3]):
        table[seat, SOURCES.index("priestess")] += points[place]
    for seat, entry in enumerate(settled["seats"]):
        held = before["seats"][seat]["influence"] + int(table[seat].sum())
        crowd = entry["active"][apostate] + entry["inactive"][apostate]
        table[seat, SOURCES.index("apostate")] -= loss(held, crowd + 1 if crowd else 0, floor)
        in_temple = [t for t in settled["tiles"].values() if t["at"] == "temple" and t["owner"] == seat]
        table[seat, SOURCES.index("temple")] += len(in_temple)


def loss(held: int, amount: int, floor: int | None) -> int:
    """What is really lost: nobody falls below the floor, and who is below it stays where he is."""
    return amount if floor is None else max(0, min(amount, held - floor))


def _game_end(spec: GameSpec, table: NDArray[np.int16], settled: Json) -> None:
    """Section 6."""
    worth: Mapping[str, Any] = spec.sheet_numbers["end_influence"]
    for seat, entry in enumerate(settled["seats"]):
        table[seat, SOURCES.index("shrines")] += worth["shrine"] * len(entry["shrines"])
        table[seat, SOURCES.index("favors")] += worth["favor"] * len(entry["favors"])
        at = next(index for index, stack in enumerate(settled["council"]) if seat in stack)
        table[seat, SOURCES.index("council")] += spec.sheet_numbers["council"][at]
