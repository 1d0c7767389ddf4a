"""What a search holds for certain, computed by hand on trees of one or two levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine_fast import Position, layout
from engine_fast.position import generator_of, new_ledger
from luna_ai.bots.workspace import new_workspace
from luna_ai.search.descent import Scratch, run_simulations
from luna_ai.search.estimate import load_model
from luna_ai.search.mcts import settings_of
from luna_ai.search.options import SearchOptions
from luna_ai.search.proofs import ALL_SEATS, prove_from_child
from luna_ai.search.reuse import plant
from luna_ai.search.tree import LOST, NODES_USED, OPEN, ROOT, WON, Tree, new_tree

FIRST_WINS, SECOND_WINS, THIRD_WINS = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)
ALL = int(ALL_SEATS)
Child = tuple[int, Sequence[float]]
"""Seats that are proven (bits) and the value of a node."""


def family(mover: int, children: Sequence[Child], untried: int = 0) -> Tree:
    """A root at which `mover` decides, its children as they are given, and what they prove told to it."""
    count = len(children)
    tree = new_tree(count + 1, count + untried)
    tree.state[ROOT] = Position.new(3, seed=1).state
    layout.set_to_move(tree.state[ROOT], np.uint64(mover))
    tree.num_edges[ROOT], tree.num_tried[ROOT] = count + untried, count
    for edge, (proven, value) in enumerate(children):
        tree.child[edge], tree.proven[edge + 1], tree.proven_value[edge + 1] = edge + 1, proven, value
    for edge, (proven, _) in enumerate(children):
        if proven and not tree.proven[ROOT]:
            prove_from_child(tree, ROOT, edge, edge + 1)
    return tree


def test_one_winning_decision_proves_a_win_whatever_the_others_are() -> None:
    tree = family(1, [(0, (0, 0, 0, 0)), (ALL, FIRST_WINS), (ALL, SECOND_WINS)], untried=5)
    assert tree.proven[ROOT] == ALL
    assert tree.proven_value[ROOT].tolist() == [0, 1, 0, 0]
    assert tree.edge_proof[:3].tolist() == [OPEN, LOST, WON]


def test_a_loss_needs_all_decisions() -> None:
    losing = [(ALL, FIRST_WINS), (ALL, THIRD_WINS)]
    assert family(1, losing, untried=1).proven[ROOT] == 0
    assert family(1, [*losing, (0, (0, 0, 0, 0))]).proven[ROOT] == 0
    assert family(1, losing).proven[ROOT] == 0b1010  # the loser, and the seat that nobody has


def test_after_a_loss_the_others_get_the_mean_of_the_tied_decisions_which_proves_nothing() -> None:
    tree = family(1, [(ALL, FIRST_WINS), (ALL, THIRD_WINS), (ALL, THIRD_WINS)])
    assert tree.proven_value[ROOT] == pytest.approx([1 / 3, 0, 2 / 3, 0])
    assert not tree.proven[ROOT] & 0b101


def test_what_all_losing_decisions_agree_on_is_proven() -> None:
    """Two players: who cannot avoid to lose makes the other win for certain."""
    tree = family(1, [(ALL, FIRST_WINS), (ALL, FIRST_WINS)])
    assert tree.proven[ROOT] == ALL and tree.proven_value[ROOT].tolist() == [1, 0, 0, 0]


def test_equal_means_that_are_not_certain_stay_so() -> None:
    either = (0b1010, (0.5, 0, 0.5, 0))
    tree = family(1, [either, either])
    assert tree.proven[ROOT] == 0b1010 and tree.proven_value[ROOT].tolist() == [0.5, 0, 0.5, 0]


def test_means_of_means() -> None:
    tree = family(1, [(0b1010, (0.5, 0, 0.5, 0)), (ALL, THIRD_WINS)])
    assert tree.proven_value[ROOT].tolist() == [0.25, 0, 0.75, 0] and tree.proven[ROOT] == 0b1010


def test_a_part_that_is_not_certain_proves_nothing_for_the_seat_that_decides_above() -> None:
    tree = family(0, [(0b1010, (0.5, 0, 0.5, 0)), (0b1010, (1, 0, 0, 0))])
    assert tree.proven[ROOT] == 0 and tree.edge_proof[:2].tolist() == [OPEN, OPEN]


def test_a_simulation_that_reaches_a_proven_loss_uses_its_value_and_goes_no_further() -> None:
    """All decisions of the root but one are marked lost for the seat that decides; the last is proven for others."""
    position = Position.new(3, seed=3)
    tree, value = new_tree(4000, 100_000), (0.25, 0.25, 0.5, 0.0)
    scratch = Scratch(position.state.copy(), new_ledger(), np.zeros(4))
    plant(tree, position.state.copy(), scratch.value)
    options = SearchOptions(rule="uct", rollout="uniform", rounds=0, sharpness=0)
    given = (settings_of(options), position.game.rules, generator_of(1), new_workspace(), scratch, load_model())
    run_simulations(tree, 2, *given)
    child = int(tree.child[0])
    other = (int(position.to_move or 0) + 1) % 3
    tree.proven[child], tree.proven_value[child] = 1 << other, value
    tree.num_edges[ROOT] = 1
    before, nodes = tree.value[child].copy(), int(tree.counters[NODES_USED])
    assert run_simulations(tree, 40, *given) == 40
    assert tree.visits[child] == 41 and tree.counters[NODES_USED] == nodes
    assert tree.value[child] - before == pytest.approx(40 * np.array(value))
