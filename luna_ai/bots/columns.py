"""THE weight table: what the evaluation of the bots weighs, one named column each. A bot is a row of weights.

The unit is influence at the end of the game. `docs/BOTS.md` states the evaluation; the numbers of the greedy bot were
found by matches against itself (`benchmarks/tune_bots.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One weight: its name, the greedy bot's value and what it multiplies."""

    name: str
    greedy: float
    meaning: str


# fmt: off
COLUMNS = (
    # Sources of influence: 1 is what the rules give.
    Column("guard",            1.00, "value of the Guard tile, for a Sanctification"),
    Column("displacement",     1.00, "each novice displaced"),
    Column("books",            1.00, "influence for the use of a Book"),
    Column("temple",           1.00, "each scoring that a novice in the Temple will see"),
    Column("priestess",        0.70, "points of the Moon Priestess at the present standing"),
    Column("priestess_next",   0.50, "points of the Moon Priestess in the next round at the standing to come"),
    Column("apostate",         0.90, "loss to the Apostate where he stands"),
    Column("apostate_next",    0.50, "loss to the Apostate where he goes next"),
    Column("meditation",       1.00, "influence for the last Time token"),
    Column("shrines",          1.00, "end value of a shrine"),
    Column("favors",           1.00, "end value of a favor token"),
    Column("council",          1.00, "end value of Council seats climbed"),
    # What the future holds.
    Column("council_ahead",    0.20, "each rival piece passed in the Council"),
    Column("unit",             0.70, "an active novice without a better use"),
    Column("next",             0.60, "uses of novices in the next round"),
    Column("later",            0.50, "a novice, for each round after the next"),
    Column("claim",            0.90, "value of a claimed tile, until it is sanctified"),
    Column("tile_next",        0.60, "value of a tile that can be promoted in the next round"),
    Column("recruit",          1.00, "value of a novice that can be recruited"),
    Column("build",            0.80, "value of a shrine that can be built"),
    Column("shrine_use",       0.40, "a shrine, for each round to come: actions there are cheaper"),
    Column("risk_claimed",     0.40, "chance that a rival who waits at a higher neighbour displaces a novice"),
    Column("risk_path",        0.15, "chance that a tile still on the path does"),
    Column("hurt",             0.20, "each scoring that a displaced novice of a rival will not see"),
    Column("expel_rivals",     0.20, "loss of rivals to the Apostate"),
    # What a favor token is worth beyond its end value while there is time to use it.
    Column("token_book",       0.50, "Book"),
    Column("token_bribery",    0.80, "Bribery"),
    Column("token_novice",     0.60, "Novice"),
    Column("token_sailboat",   0.50, "Sailboat"),
    Column("token_herbs",      0.70, "Herbs"),
    Column("token_shrine",     1.20, "Shrine"),
    Column("token_tide",       0.50, "Tide"),
    # Time: chance of a further action in this round.
    Column("again_0",          0.10, "idle rivals can end the round before the next turn"),
    Column("again_1",          0.50, "idle rivals leave one turn"),
    Column("again_2",          0.75, "idle rivals leave two turns"),
    Column("again_3",          0.85, "idle rivals leave three turns or more"),
    Column("again_free",       0.95, "no rival is idle"),
    Column("meditate",         0.00, "a Meditation, whatever it changes"),
    Column("end_rivals",       0.10, "each active novice that rivals cannot use when the round ends"),
    # The preliminary round.
    Column("place_token",      1.00, "shrine: value of the isle's favor token"),
    Column("place_tile",       0.50, "shrine: value of the tiles with the isle's symbol"),
    Column("place_left_out",   1.00, "novices: value of the favor token that an isle left out gives"),
)
# fmt: on

INDEX = {column.name: index for index, column in enumerate(COLUMNS)}
NUM_COLUMNS = len(COLUMNS)
