"""Leaves: a position is put before the evaluator, and its node gets edges with the priors of the answer.

A node holds a position with a choice: forced decisions are played at once when it is reached.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine_fast import actions, layout
from engine_fast.apply import apply
from engine_fast.bits import U0, U1, lowest_bit, popcount
from engine_fast.layout import MAX_PLAYERS, copy_position
from engine_fast.legal import legal_mask
from luna_ai.search.compiling import called
from luna_ai.search.lockstep.forest import (
    ASKED,
    EXACT,
    FINISHED,
    NO_NODE,
    NOT_EXPANDED,
    bring_likeliest,
    edges_of,
    nodes_per_tree,
    open_edge,
    swap_edges,
)
from luna_ai.search.lockstep.gumbel import gumbel_number
from luna_ai.search.lockstep.softmax import softmax
from luna_ai.search.rollout import final_values

GUMBEL, PUCT = 0, 1


class Numbers(NamedTuple):
    """Numbers of a lock-step search, the same for all trees."""

    rule: int  # GUMBEL or PUCT
    leaves: int  # leaves of one tree in a step
    considered: int  # Gumbel: most decisions considered at the root
    gumbel_scale: float  # Gumbel: factor of the noise, 0 for none
    visit_offset: float  # Gumbel: c_visit
    value_scale: float  # Gumbel: c_scale for two players, times N / 2 otherwise
    exploration: float  # PUCT: weight of exploration for two players, times 2 / N otherwise
    reduction: float  # PUCT: first-play reduction
    noise: float  # PUCT: share of noise in the priors of the root


class Scratch(NamedTuple):
    """Arrays that kernels work in."""

    ledger: Any  # int16[4, SOURCES]
    result: Any  # float64[4]
    powers: Any  # softmax.Powers of NUM_ACTIONS numbers
    weights: Any  # float64[NUM_ACTIONS]


@called
def write_legal(state: Any, rules: Any, row: Any) -> Any:
    """Writes the legal decisions into `uint64[MASK_WORDS]`; returns their number (uint64)."""
    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9] = legal_mask(state, rules)
    count = U0
    for word in range(actions.MASK_WORDS):
        count += popcount(row[word])
    return count


@called
def play_forced(state: Any, rules: Any, row: Any, ledger: Any) -> Any:
    """Plays decisions on while there is only one, in place; returns the number of legal ones (0: the game is over)."""
    count = write_legal(state, rules, row)
    while count == U1:
        word = 0
        while row[word] == U0:
            word += 1
        apply(state, np.uint64(64 * word) + lowest_bit(row[word]), rules, ledger)
        count = write_legal(state, rules, row)
    return count


@called
def finish(forest: Any, node: Any, scratch: Any) -> None:
    """Marks a node at which the game is over, with its result."""
    final_values(forest.state[node], scratch.result)
    forest.first_edge[node] = FINISHED
    forest.proven[node] = EXACT
    for seat in range(MAX_PLAYERS):
        forest.raw[node, seat] = np.float32(scratch.result[seat])


@called
def ask(forest: Any, node: Any, leaves: Any, place: Any, rules: Any, scratch: Any) -> Any:
    """Puts a node before the evaluator; returns False if its game is over, which needs none."""
    state = forest.state[node]
    if play_forced(state, rules, leaves.mask[place], scratch.ledger) == U0:
        finish(forest, node, scratch)
        return False
    forest.mover[node] = np.int8(layout.to_move(state))
    forest.first_edge[node] = ASKED
    leaves.node[place] = node
    copy_position(leaves.state[place], state)
    return True


@called
def write_edges(forest: Any, tree: Any, node: Any, leaves: Any, place: Any) -> Any:
    """Writes a node's edges, with logits in place of priors; returns their number, 0 if there is no room for them."""
    per_tree = forest.action.shape[0] // forest.played.shape[0]
    first, room = tree * per_tree + forest.edges_used[tree], per_tree - forest.edges_used[tree]
    count = np.int64(0)
    for word in range(actions.MASK_WORDS):
        bits = leaves.mask[place, word]
        while bits != U0:
            if count == room:
                forest.first_edge[node] = NOT_EXPANDED
                return np.int64(0)
            action = np.int64(64 * word) + np.int64(lowest_bit(bits))
            forest.action[first + count] = action
            forest.prior[first + count] = leaves.logits[place, action]
            bits &= bits - U1
            count += 1
    forest.edges_used[tree] += count
    forest.first_edge[node] = first
    forest.num_edges[node] = count
    forest.num_open[node] = 0
    return count


@called
def consider(forest: Any, tree: Any, root: Any, numbers: Any) -> None:
    """Opens the decisions that a Gumbel root considers: those with the highest sum of Gumbel number and logit."""
    first, _, count = edges_of(forest, root)
    scores = forest.noise[tree]
    for index in range(count):
        drawn = gumbel_number(forest.generator[tree]) if numbers.gumbel_scale > 0.0 else 0.0
        scores[index] = numbers.gumbel_scale * drawn + np.log(forest.prior[first + index])
    for place in range(min(numbers.considered, count)):
        best = place
        for index in range(place + 1, count):
            if scores[index] > scores[best]:
                best = index
        scores[place], scores[best] = scores[best], scores[place]
        swap_edges(forest, first + place, first + best)
        forest.gumbel[tree, place] = scores[place]
        open_edge(forest, root)


@called
def add_noise(forest: Any, tree: Any, root: Any, numbers: Any) -> None:
    """Mixes the noise of a tree (`forest.noise`, by id) into the priors of its root."""
    first, _, count = edges_of(forest, root)
    total = 0.0
    for edge in range(first, first + count):
        total += forest.noise[tree, forest.action[edge]]
    if total > 0.0:
        for edge in range(first, first + count):
            drawn = forest.noise[tree, forest.action[edge]] / total
            forest.prior[edge] = (1.0 - numbers.noise) * forest.prior[edge] + numbers.noise * drawn


@called
def expand(forest: Any, node: Any, leaves: Any, place: Any, numbers: Any, scratch: Any) -> None:
    """Gives a node its edges, with the evaluator's priors."""
    tree = np.int64(node) // nodes_per_tree(forest)
    count = write_edges(forest, tree, node, leaves, place)
    if count == 0:
        return
    softmax(forest.prior, np.int64(forest.first_edge[node]), count, scratch.powers)
    if forest.parent[node] == NO_NODE:
        if numbers.rule == GUMBEL:
            consider(forest, tree, node, numbers)
            return
        if numbers.noise > 0.0:
            add_noise(forest, tree, node, numbers)
    bring_likeliest(forest, node)
