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
    Column("guard",            1.21, "value of the Guard tile, for a Sanctification"),
    Column("displacement",     1.54, "each novice displaced"),
    Column("books",            1.34, "influence for the use of a Book"),
    Column("temple",           0.97, "each scoring that a novice in the Temple will see"),
    Column("priestess",        0.95, "points of the Moon Priestess at the present standing"),
    Column("priestess_margin", 0.15, "chance that a rival gains one novice more on the Moon Priestess's isle"),
    Column("priestess_next",   0.26, "points of the Moon Priestess in the next round at the standing to come"),
    Column("apostate",         0.35, "loss to the Apostate where he stands"),
    Column("apostate_next",    0.13, "loss to the Apostate where he goes next"),
    Column("meditation",       1.00, "influence for the last Time token"),
    Column("shrines",          1.23, "end value of a shrine"),
    Column("favors",           0.92, "end value of a favor token"),
    Column("council",          0.62, "end value of Council seats climbed"),
    # What the future holds.
    Column("council_ahead",    0.16, "each rival piece passed in the Council"),
    Column("unit",             0.60, "an active novice without a better use"),
    Column("unit_top",         0.28, "... when the last Council seat is reached"),
    Column("next",             0.27, "uses of novices in the next round"),
    Column("later",            0.98, "a novice, for each round after the next"),
    Column("later_growth",     0.06, "... more for each of these rounds, the more there are"),
    Column("claim",            0.83, "value of a claimed tile, until it is sanctified"),
    Column("contest",          0.37, "chance that a tile is still on the path at the next turn"),
    Column("tile_next",        0.46, "value of a tile that can be promoted in the next round"),
    Column("recruit",          0.97, "value of a novice that can be recruited"),
    Column("build",            0.96, "value of a shrine that can be built"),
    Column("shrine_use",       0.49, "a shrine, for each round to come: actions there are cheaper"),
    Column("risk_claimed",     0.47, "chance that a rival who waits at a higher neighbour displaces a novice"),
    Column("risk_path",        0.26, "chance that a tile still on the path does"),
    Column("risk_rounds",      0.05, "... more for each round left"),
    Column("relief",           0.12, "each scoring of an own novice next to a tile that no rival can claim any more"),
    Column("hurt",             0.28, "each scoring that a displaced novice of a rival will not see"),
    Column("expel_rivals",     0.18, "loss of rivals to the Apostate"),
    # What a favor token is worth beyond its end value while there is time to use it.
    Column("token_book",       0.86, "Book"),
    Column("token_bribery",    0.17, "Bribery"),
    Column("token_novice",     0.45, "Novice"),
    Column("token_sailboat",   1.01, "Sailboat"),
    Column("token_herbs",      1.15, "Herbs"),
    Column("token_shrine",     0.78, "Shrine"),
    Column("token_tide",       0.71, "Tide"),
    # Time: chance of a further action in this round.
    Column("again_0",          0.08, "idle rivals can end the round before the next turn"),
    Column("again_1",          0.39, "idle rivals leave one turn"),
    Column("again_2",          0.44, "idle rivals leave two turns"),
    Column("again_3",          0.59, "idle rivals leave three turns or more"),
    Column("again_free",       0.66, "no rival is idle"),
    Column("meditate",         0.04, "a Meditation, whatever it changes"),
    Column("end_rivals",       0.09, "each active novice that rivals cannot use when the round ends"),
    # The preliminary round.
    Column("place_token",      1.02, "shrine: value of the isle's favor token"),
    Column("place_tile",       0.39, "shrine: value of the tiles with the isle's symbol"),
    Column("place_left_out",   0.89, "novices: value of the favor token that an isle left out gives"),
)
# fmt: on

INDEX = {column.name: index for index, column in enumerate(COLUMNS)}
