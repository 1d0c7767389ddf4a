"""Who will win, from a position at the beginning of a round: estimated final influence, then a softmax.

The estimate of a seat is linear in what it has (`FEATURES`); its coefficients were fitted on games of the greedy bot,
for each number of players and round, by least squares on final influence. The chance to win is a softmax of the
estimates over the seats; its temperature was fitted by maximum likelihood on the winners of the same games.
`benchmarks/fit_estimate.py` makes `estimate.npz` and the calibration plot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine_fast import layout, tables
from engine_fast.bits import U0, popcount
from engine_fast.layout import INFLUENCE_BIAS, LANDING, MAX_PLAYERS, SUPPLY, nibble
from luna_ai.search.compiling import called, inline

FEATURES = ("one", "influence", "temple", "claimed", "shrines", "favors", "council", "novices", "landing", "supply")
NUM_FEATURES = len(FEATURES)
MODEL_FILE = Path(__file__).with_name("estimate.npz")
LANDING_AT, SUPPLY_AT = np.uint64(LANDING), np.uint64(SUPPLY)


class Model(NamedTuple):
    """The fitted numbers."""

    coefficients: NDArray[np.float64]  # [5, 8, NUM_FEATURES] by number of players and round
    temperature: NDArray[np.float64]  # [5, 8] influence, by number of players and round
    scratch: NDArray[np.float64]  # [NUM_FEATURES] for kernels


def load_model() -> Model:
    """The packaged model, with scratch of its own."""
    with np.load(MODEL_FILE) as stored:
        return Model(stored["coefficients"].copy(), stored["temperature"].copy(), np.zeros(NUM_FEATURES))


@inline
def write_features(state: Any, seat: Any, rules: Any, row: Any) -> None:
    """What a seat has, as `float64[NUM_FEATURES]`."""
    word = layout.novices(state, seat)
    row[0] = 1.0
    row[1] = np.float64(np.int64(layout.influence(state, seat)) - INFLUENCE_BIAS)
    row[2] = np.float64(popcount(layout.temple(state, seat)))
    row[3] = np.float64(popcount(layout.claimed(state, seat)))
    row[4] = np.float64(popcount(layout.shrines(state, seat)))
    row[5] = np.float64(popcount(layout.favors(state, seat)))
    row[6] = np.float64(tables.council_value(rules, layout.council_seat(state, seat)))
    on_isles = U0
    for place in range(LANDING):
        on_isles += nibble(word, np.uint64(place))
    row[7] = np.float64(on_isles)
    row[8] = np.float64(nibble(word, LANDING_AT))
    row[9] = np.float64(nibble(word, SUPPLY_AT))


@called
def estimate_influence(state: Any, rules: Any, model: Any, out: Any) -> None:
    """Writes the estimated final influence of each seat into `out`, `float64[4]`; absent seats 0."""
    players, round_number = layout.players(state), layout.round_number(state)
    row = model.scratch
    for index in range(MAX_PLAYERS):
        seat = np.uint64(index)
        out[index] = 0.0
        if seat < players:
            write_features(state, seat, rules, row)
            total = 0.0
            for feature in range(NUM_FEATURES):
                total += model.coefficients[players, round_number, feature] * row[feature]
            out[index] = total


@called
def estimate_win(state: Any, rules: Any, model: Any, out: Any) -> None:
    """Writes the estimated chance to win of each seat into `out`, `float64[4]`; absent seats 0, sum 1."""
    estimate_influence(state, rules, model, out)
    players, mover = np.int64(layout.players(state)), np.int64(layout.to_move(state))
    temperature = model.temperature[players, layout.round_number(state)]
    best = out[0]
    for seat in range(1, players):
        best = max(best, out[seat])
    total = 0.0
    for turn in range(players):  # in turn order: turning the seats turns the chances, to the last bit
        place = (mover + turn) % players
        out[place] = np.exp((out[place] - best) / temperature)
        total += out[place]
    for seat in range(players):
        out[seat] /= total
