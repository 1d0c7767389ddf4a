"""THE feature table: what the network is told about a position, as one row of `NUM_FEATURES` numbers.

Each line is a block of numbers with its axes; offsets are running sums, and everything else (offsets and scales in the
kernel, tokens of the attention network, `docs/FEATURES.md`) is derived from it. The kernel writes raw values; the last
pass multiplies each by its block's scale and cuts it off at ±`LIMIT`, so that no sheet and no handicap can make an
input large.

Axes: `seat` is 0 for the seat to move, then clockwise, absent seats all 0; `kind` is the isle kind in the fixed order
of the rules; `tile` is tile - 1, path tile and Temple space; `ahead` counts rounds from this one on, 0 beyond the last
round. The seat index and the ring position are nowhere, so features do not change when the seats are rotated or the
ring is written down from another isle on.

A change of the table must raise `FEATURE_VERSION`; checkpoints hold it and `TABLE_HASH`, and refuse another one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

FEATURE_VERSION = 1
LIMIT = 3.0

AXES = {"seat": 4, "kind": 7, "tile": 28, "ahead": 6, "next": 3, "step": 7, "place": 3, "source": 15, "pair": 21}
AXES |= {"phase": 3, "pending": 6, "players": 3, "round": 6, "council": 16, "climb": 3}


@dataclass(frozen=True)
class Feature:
    """A block of features: numbers along `axes` (the last one fastest), raw value times `scale`."""

    name: str
    axes: tuple[str, ...]
    scale: float
    meaning: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis; () for a single number."""
        return tuple(AXES[axis] for axis in self.axes)

    @property
    def count(self) -> int:
        """Number of features."""
        return prod(self.shape)


def _f(name: str, axes: str, scale: float, meaning: str) -> Feature:
    return Feature(name, tuple(axes.split()), scale, meaning)


# fmt: off
FEATURES = (
    # The player's pieces.
    _f("present", "seat", 1, "the seat plays"),
    _f("active", "seat kind", 1 / 5, "active novices"),
    _f("inactive", "seat kind", 1 / 5, "inactive novices"),
    _f("has_one", "seat kind", 1, "at least one active novice"),
    _f("has_two", "seat kind", 1, "at least two active novices"),
    _f("landing", "seat", 1 / 5, "novices on the landing stage"),
    _f("supply", "seat", 1 / 5, "novices in supply"),
    _f("num_claimed", "seat", 1 / 5, "novices on claimed tiles"),
    _f("num_temple", "seat", 1 / 5, "novices in the Temple: influence in every scoring"),
    _f("shrine", "seat kind", 1, "a shrine on the isle"),
    _f("num_shrines", "seat", 1 / 4, "shrines on isles"),
    _f("shrine_supply", "seat", 1 / 4, "shrines in supply"),
    _f("favor", "seat kind", 1, "owns the favor token"),
    _f("num_favors", "seat", 1 / 4, "favor tokens"),
    _f("num_book", "seat", 1 / 2, "novices in the Temple with a Book"),
    # Influence and Council.
    _f("influence", "seat", 1 / 40, "influence"),
    _f("projected", "seat", 1 / 40,
       "influence if the game ended now without a scoring: shrines, favors, Council seat added"),
    _f("lead", "seat", 1 / 10, "projected minus that of the seat to move"),
    _f("place_now", "seat", 1 / 3, "seats ahead by projected influence, ties by Council precedence"),
    _f("floor_room", "seat", 1 / 10,
       "influence above the floor: the most that the Apostate can take; the limit if there is no floor"),
    _f("council_seat", "seat", 1 / 12, "Council seat"),
    _f("council_left", "seat", 1 / 12, "Council seats above"),
    _f("council_rank", "seat", 1 / 3, "pieces that precede it"),
    _f("council_value", "seat", 1 / 12, "influence of the Council seat at the end"),
    _f("climb_gain", "seat climb", 1 / 3,
       "influence at the end gained by climbing 1, 2, 3 seats (as far as there are)"),
    # The scoring if the round ended now, and what the seat has where the figures will stand.
    _f("priestess_gain", "seat", 1 / 6, "influence gained at the Moon Priestess"),
    _f("apostate_loss", "seat", 1 / 5, "influence that the Apostate takes (the floor left aside)"),
    _f("priestess_count", "seat next", 1 / 5,
       "pieces that count on her isle now (active, shrine), and in 1, 2 rounds (all novices, shrine)"),
    _f("builder_count", "seat next", 1 / 5,
       "novices on his isle that can be used now (active), and in 1, 2 rounds (all)"),
    _f("builder_shrine", "seat next", 1, "a shrine stands on his isle already: now, in 1, 2 rounds"),
    # Order of play.
    _f("order", "seat", 1 / 3, "seats from the start player of the round to the seat"),
    _f("starter", "seat", 1, "start player of the round"),
    _f("next_starter", "seat", 1,
       "known start player of the next round (two players, official rule set, before round 6)"),
    # Isles and figures; d steps clockwise of a figure.
    _f("priestess_at", "ahead kind", 1, "the Moon Priestess's isle in this and the coming rounds"),
    _f("builder_at", "ahead kind", 1, "the Master Builder's isle in this and the coming rounds"),
    _f("apostate_at", "step kind", 1, "the isle so many steps from the Apostate (0: his own)"),
    _f("apostate_next", "kind", 1, "his isle in the next round if no novice left or reached an isle (before round 6)"),
    _f("distance", "pair", 1 / 6,
       "clockwise steps on the ring from kind a to kind b, a < b: (0, 1), (0, 2), ... (5, 6)"),
    _f("open_approved", "kind", 1 / 2, "unclaimed approved tiles of the symbol"),
    _f("open_bribable", "kind", 1 / 2, "unclaimed bribable tiles of the symbol"),
    _f("open_later", "kind", 1 / 2, "unclaimed tiles of the symbol in later batches"),
    # Tiles and Temple spaces.
    _f("in_play", "tile", 1, "the tile is in the game"),
    _f("path", "tile", 1, "lies unclaimed on the path"),
    _f("claimed", "seat tile", 1, "claimed by the seat"),
    _f("temple", "seat tile", 1, "a novice of the seat in the Temple"),
    _f("vacated", "tile", 1, "in the Temple, its novice displaced"),
    _f("book", "tile", 1, "a Book lies there"),
    _f("approved", "tile", 1, "on the path and approved"),
    _f("bribable", "tile", 1, "on the path and bribable"),
    _f("approved_in", "tile", 1 / 5, "on the path: rounds until it is approved"),
    _f("can_promote", "tile", 1,
       "the seat to move could claim it with his novices, shrine and tokens (bribery, virtual novice)"),
    _f("displaces", "tile", 1 / 3,
       "on the path: novices of others that its Sanctification would displace; by its owner, or by the seat "
       "to move"),
    _f("threatens", "seat tile", 1,
       "another's novice on this space would be displaced by tiles that the seat has claimed: 1 by one "
       "usable now, 1/2 by later ones only"),
    _f("exposed", "tile", 1,
       "a novice without a Book next to a higher space whose tile is on the path and not his own: it may be "
       "displaced"),
    _f("num_promote", "seat", 1 / 6, "tiles that the seat could claim now, if it were its turn"),
    _f("num_sanctify", "seat", 1 / 4, "claimed tiles that the seat could sanctify now"),
    _f("num_threatened", "seat", 1 / 3, "novices of the seat that another's claimed tile would displace"),
    _f("num_exposed", "seat", 1 / 4, "novices of the seat that may be displaced"),
    # The clock.
    _f("players", "players", 1, "2, 3, 4 players"),
    _f("round", "round", 1, "number of the round"),
    _f("rounds_left", "", 1 / 5, "rounds after this one"),
    _f("guard", "ahead", 1 / 6, "value of the Guard tile in this and the coming rounds"),
    _f("time_tokens", "", 1 / 4, "Time tokens to be turned"),
    _f("last_token", "", 1, "one Time token is left: Meditation ends the action phase"),
    _f("two_tokens", "", 1, "two Time tokens are left"),
    _f("actions", "", 1 / 5, "actions completed in the round, for each player"),
    _f("cap_left", "", 1 / 60, "actions left before the cap, for each player"),
    _f("book_bonus", "", 1, "two players: the first use of a Book in the round is to come"),
    # The unfinished action.
    _f("phase", "phase", 1, "placing shrines, placing novices, actions"),
    _f("pending", "pending", 1,
       "step of an unfinished action: none, give-book, journey lift, journey land, tide lift, tide land"),
    _f("last_source", "source", 1, "source of the last lift or kind of the last landing, in a Journey or Tide"),
    _f("last_count", "", 1 / 4, "its number"),
    _f("last_full", "", 1, "its number is 4: the same source or kind may follow"),
    _f("lifted", "kind", 1 / 5, "novices lifted from the isle"),
    _f("lifted_landing", "", 1 / 5, "novices lifted from the landing stage"),
    _f("landed", "kind", 1 / 5, "novices landed on the isle"),
    _f("hand", "", 1 / 5, "novices lifted and not yet landed"),
    _f("book_from", "tile", 1, "space whose Book is in the air"),
    # Numbers of the component sheet and options of the rule set.
    _f("priestess_points", "place", 1 / 6, "places 1, 2, 3 at the Moon Priestess, for this number of players"),
    _f("priestess_move", "", 1 / 6, "isles that she moves"),
    _f("builder_move", "", 1 / 6, "isles that the Master Builder moves"),
    _f("council_values", "council", 1 / 12, "influence of Council seat 0, 1, ... at the end; 0 where there is none"),
    _f("council_last", "", 1 / 12, "index of the last Council seat"),
    _f("shrine_value", "", 1 / 4, "influence of a shrine at the end"),
    _f("favor_value", "", 1, "influence of a favor token at the end"),
    _f("has_floor", "", 1, "option: influence has a floor"),
    _f("virtual_alone", "", 1, "option of the rule set"),
    _f("virtual_promotion", "", 1, "option of the rule set"),
    _f("council_overshoot", "", 1, "option of the rule set"),
    _f("book_same_space", "", 1, "option of the rule set"),
    _f("same_isle_moves", "", 1, "option of the rule set"),
    _f("online_start", "", 1, "rule set online: with two players too, the last token decides who starts"),
)
# fmt: on

FEATURE = {feature.name: feature for feature in FEATURES}
OFFSET = {feature.name: sum(before.count for before in FEATURES[:index]) for index, feature in enumerate(FEATURES)}
"""First index of each block."""
NUM_FEATURES = sum(feature.count for feature in FEATURES)
SCALES: NDArray[np.float32] = np.concatenate(
    [np.full(feature.count, feature.scale, dtype=np.float32) for feature in FEATURES]
)
"""`float32[F]`: factor of each raw value."""


def table_hash() -> str:
    """Hexadecimal hash of version, limit and table, the wording of the meanings apart."""
    rows = [(f.name, f.axes, f.shape, f.scale) for f in FEATURES]
    return hashlib.sha256(repr((FEATURE_VERSION, LIMIT, rows)).encode()).hexdigest()[:16]


TABLE_HASH = table_hash()


def block(row: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """A block of one row or of many, `float32[..., F]`, as a view in its own shape, `[..., *shape]`."""
    feature = FEATURE[name]
    start = OFFSET[name]
    return row[..., start : start + feature.count].reshape((*row.shape[:-1], *feature.shape))
