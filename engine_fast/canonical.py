"""Positions as canonical JSON (RULES.md section 8). The way back, with its checks, is `reading.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout, tables
from engine_fast.check import field_value, field_values, nibbles_of
from engine_fast.kinds import FIGURES, KINDS, NUM_KINDS, NUM_TILES
from engine_fast.layout import BOARD_ORDERS, FIELD, INFLUENCE_BIAS

PHASES = ("shrines", "novices", "action", "over")
TURN_KEYS = ("players", "round", "phase", "start_player", "to_move", "time_tokens", "actions")
BOARD_KEYS = ("ring", *FIGURES, "boards", "book_bonus", "council", "seats", "tiles", "pending")
KEYS = TURN_KEYS + BOARD_KEYS
SEAT_KEYS = ("influence", "active", "inactive", "landing", "supply", "shrines", "favors")
STEP_KEYS = ("action", "stage", "lifted", "landing_lifted", "hand", "landed", "last", "last_n")
STEPS = {("journey", "lift"): 2, ("journey", "land"): 3, ("tide", "lift"): 4, ("tide", "land"): 5}
STEP_NAMES = {code: names for names, code in STEPS.items()}


def kinds_of(kinds: int) -> list[str]:
    """Names of a set of isle kinds, in kind order."""
    return [name for kind, name in enumerate(KINDS) if kinds >> kind & 1]


def to_json(state: NDArray[np.uint64], rules: NDArray[np.uint64]) -> dict[str, Any]:
    """The canonical JSON of a position `uint64[STATE_WORDS]`."""
    one = {name: field_value(state, name) for name, field in FIELD.items() if field.count == 1}
    ring = [KINDS[kind] for kind in field_values(state, "ring")]
    seats = one["players"]
    return {
        "players": seats,
        "round": one["round"],
        "phase": PHASES[one["phase"]],
        "start_player": one["start_player"],
        "to_move": None if PHASES[one["phase"]] == "over" else one["to_move"],
        "time_tokens": one["time_tokens"],
        "actions": one["actions"],
        "ring": ring,
        **{figure: ring[one[figure]] for figure in FIGURES},
        "boards": list(BOARD_ORDERS[one["board_order"]]),
        "book_bonus": bool(one["book_bonus"]),
        "council": _council_json(state, int(rules[tables.OFFSET["council_last"]]) + 1),
        "seats": [_seat_json(state, seat) for seat in range(seats)],
        "tiles": _tiles_json(state, int(rules[tables.OFFSET["tiles_in_play"] + one["board_order"]])),
        "pending": _pending_json(state, one["pending"]),
    }


def _council_json(state: NDArray[np.uint64], length: int) -> list[list[int]]:
    stacks: list[list[int]] = [[] for _ in range(length)]
    rank, at = field_values(state, "council_rank"), field_values(state, "council_seat")
    seats = range(field_value(state, "players"))
    for seat in sorted(seats, key=lambda s: -rank[s]):
        stacks[at[seat]].append(seat)
    return stacks


def _seat_json(state: NDArray[np.uint64], seat: int) -> dict[str, Any]:
    novices = nibbles_of(field_values(state, "novices")[seat])
    return {
        "influence": field_values(state, "influence")[seat] - INFLUENCE_BIAS,
        "active": novices[:7],
        "inactive": novices[7:14],
        "landing": novices[layout.LANDING],
        "supply": novices[layout.SUPPLY],
        "shrines": kinds_of(field_values(state, "shrines")[seat]),
        "favors": kinds_of(field_values(state, "favors")[seat]),
    }


def _tiles_json(state: NDArray[np.uint64], in_play: int) -> dict[str, dict[str, Any]]:
    path, books = field_value(state, "path"), field_value(state, "books")
    claimed, temple = field_values(state, "claimed"), field_values(state, "temple")
    tiles: dict[str, dict[str, Any]] = {}
    for bit in (i for i in range(NUM_TILES) if in_play >> i & 1):
        claimers = [seat for seat, mask in enumerate(claimed) if mask >> bit & 1]
        owners = [seat for seat, mask in enumerate(temple) if mask >> bit & 1]
        if path >> bit & 1:
            tile: dict[str, Any] = {"at": "path"}
        elif claimers:
            tile = {"at": "claimed", "owner": claimers[0]}
        else:
            tile = {"at": "temple", "owner": owners[0] if owners else None}
        tiles[str(bit + 1)] = tile | ({"book": True} if books >> bit & 1 else {})
    return tiles


def _pending_json(state: NDArray[np.uint64], step: int) -> dict[str, Any] | None:
    if step == int(layout.NONE):
        return None
    if step == int(layout.GIVE_BOOK):
        return {"action": "book", "from": field_value(state, "book_from") + 1}
    carried, (action, stage) = nibbles_of(field_value(state, "carried")), STEP_NAMES[step]
    return {
        "action": action,
        "stage": stage,
        "lifted": carried[:7],
        "landing_lifted": carried[layout.LIFTED_LANDING],
        "hand": carried[layout.HAND],
        "landed": carried[layout.LANDED : layout.LANDED + NUM_KINDS],
        "last": field_value(state, "last"),
        "last_n": field_value(state, "last_count"),
    }
