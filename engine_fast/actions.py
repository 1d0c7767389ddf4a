"""THE action table: the 637 decisions of RULES.md section 7 as flat ids.

Ids are running sums over `BLOCKS`, 64 to a mask word. The order of the blocks is chosen so that no family that a
position offers often lies across two mask words: seven words are filled exactly, the Council (number-major, so that
the limit of steps is a cut) takes the last three. A golden file freezes id -> notation; a change of the table must
raise `ACTION_VERSION`, and everything that stores ids (checkpoints, replay data) refuses another version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_fast.kinds import KINDS, NUM_KINDS, NUM_TILES
from engine_fast.layout import INACTIVE, LANDING

ACTION_VERSION = 1
MAX_STEPS = 13
MAX_LIFT = 4
NUM_SOURCES_OF_LIFT = 15

SOURCE_NAMES = (*KINDS, *(f"{kind}~" for kind in KINDS), "landing")


@dataclass(frozen=True)
class Block:
    """A run of ids: `count` decisions of one kind; index -> arguments as `order` says, first axis slowest."""

    name: str
    notation: str
    order: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of ids."""
        return int(np.prod([AXES[axis] for axis in self.order], dtype=int))


AXES = {"kind": NUM_KINDS, "from": NUM_KINDS, "source": NUM_SOURCES_OF_LIFT, "tile": NUM_TILES}
AXES |= {"steps": MAX_STEPS, "lift": MAX_LIFT, "pair": 2}

# fmt: off
BLOCKS = (
    Block("tide",           "tide {source} {lift}",      ("source", "lift")),          # mask word 0
    Block("expel",          "expel {steps}",             ("steps",)),
    Block("expel_virtual",  "expel {steps} +v",          ("steps",)),                   # mask word 1, with 9 of expel
    Block("favor",          "favor {kind}",              ("kind",)),
    Block("favor_virtual",  "favor {kind} +v",           ("kind",)),
    Block("herbs",          "herbs {kind} {pair}",       ("pair", "kind")),
    Block("sail_landing",   "sail landing {kind} {pair}", ("pair", "kind")),
    Block("journey",        "journey {kind} {lift}",     ("kind", "lift")),            # mask word 2
    Block("land",           "land {kind} {lift}",        ("kind", "lift")),
    Block("place_shrine",   "place-shrine {kind}",       ("kind",)),
    Block("meditate",       "meditate",                  ()),
    Block("promote",        "promote {tile}",            ("tile",)),                    # mask word 3
    Block("promote_virtual", "promote {tile} +v",        ("tile",)),
    Block("recruit",        "recruit {kind}",            ("kind",)),
    Block("build",          "build",                     ()),
    Block("sanctify",       "sanctify {tile}",           ("tile",)),                    # mask word 4
    Block("take_book",      "take-book {tile}",          ("tile",)),
    Block("recruit_virtual", "recruit {kind} +v",        ("kind",)),
    Block("build_virtual",  "build +v",                  ()),
    Block("sail",           "sail {from} {kind} {pair}", ("pair", "from", "kind")),     # mask words 5 and 6
    Block("give_book",      "give-book {tile}",          ("tile",)),
    Block("council_alone",  "council +v",                ()),
    Block("expel_alone",    "expel +v",                  ()),
    Block("council",        "council {kind} {steps}",    ("steps", "kind")),            # mask words 7 to 9
    Block("council_virtual", "council {kind} {steps} +v", ("steps", "kind")),
    Block("place_novices",  "place-novices {kind}",      ("kind",)),
)
# fmt: on

NUM_BLOCKS = len(BLOCKS)
BLOCK_INDEX = {block.name: index for index, block in enumerate(BLOCKS)}
_ENDS = np.cumsum([block.count for block in BLOCKS])
OFFSET = {block.name: int(end) - block.count for block, end in zip(BLOCKS, _ENDS, strict=True)}
"""First id of each block."""
NUM_ACTIONS = int(_ENDS[-1])
MASK_WORDS = -(-NUM_ACTIONS // 64)


@dataclass(frozen=True)
class Action:
    """One decision taken apart: the block, and the arguments that the block has (0 where it has none).

    `kind` is an isle kind, `source` a source of a lift or a Sailboat's isle (14 = landing stage), `tile` 1 to 28,
    `count` novices lifted, landed, moved or used as steps.
    """

    id: int
    block: Block
    kind: int = 0
    source: int = 0
    tile: int = 0
    count: int = 0


def _arguments(block: Block, index: int) -> dict[str, int]:
    """Position along each axis of `block` for its decision number `index`."""
    if not block.order:
        return {}
    places = np.unravel_index(index, [AXES[axis] for axis in block.order])
    return {axis: int(place) for axis, place in zip(block.order, places, strict=True)}


def _action(block: Block, index: int) -> Action:
    at = _arguments(block, index)
    count = next((at[axis] + 1 for axis in ("steps", "lift", "pair") if axis in at), 0)
    source = LANDING if block.name == "sail_landing" else at.get("source", at.get("from", 0))
    if block.name == "journey":
        source = at["kind"]
    tile = at["tile"] + 1 if "tile" in at else 0
    return Action(OFFSET[block.name] + index, block, at.get("kind", 0), source, tile, count)


ACTIONS = tuple(_action(block, index) for block in BLOCKS for index in range(block.count))
"""Every decision, by id."""


def _notation(action: Action) -> str:
    return action.block.notation.format(
        kind=KINDS[action.kind],
        source=SOURCE_NAMES[action.source],
        **{"from": SOURCE_NAMES[action.source]},
        tile=action.tile,
        steps=action.count,
        lift=action.count,
        pair=action.count,
    )


NOTATIONS = tuple(_notation(action) for action in ACTIONS)
"""The notation of each id (RULES.md section 7)."""
ID_OF_NOTATION = {notation: index for index, notation in enumerate(NOTATIONS)}


# Decoding in kernels: one word an id. Bits 0-4 block, 5-7 kind, 8-11 source, 12-16 tile - 1, 17-20 count.
CODES: NDArray[np.uint64] = np.array(
    [
        BLOCK_INDEX[a.block.name] | a.kind << 5 | a.source << 8 | max(a.tile - 1, 0) << 12 | a.count << 17
        for a in ACTIONS
    ],
    dtype=np.uint64,
)


def _block_masks() -> NDArray[np.uint64]:
    masks = np.zeros((NUM_BLOCKS, MASK_WORDS), dtype=np.uint64)
    for action in ACTIONS:
        masks[BLOCK_INDEX[action.block.name], action.id // 64] |= np.uint64(1 << action.id % 64)
    return masks


BLOCK_MASKS = _block_masks()
"""`uint64[NUM_BLOCKS, MASK_WORDS]`: the ids of each block as a packed mask."""

assert INACTIVE == NUM_KINDS and SOURCE_NAMES[LANDING] == "landing"
