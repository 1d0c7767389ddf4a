"""What a search asks of the engine and of its evaluator, asked again without a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine_fast.apply import apply
from engine_fast.bits import U0, U1
from engine_fast.jit import compiler
from engine_fast.layout import copy_position
from engine_fast.legal import legal_mask
from engine_fast.playout import prefix_counts, select_decision
from luna_ai.search.descent import write_priors
from luna_ai.search.lockstep.expansion import expand
from luna_ai.search.rollout import roll_out

LUNA_AI = Path(__file__).resolve().parents[2]
SEARCH = LUNA_AI / "search"
kernel, _, _ = compiler(LUNA_AI / "bots", SEARCH, SEARCH / "lockstep", Path(__file__).resolve().parent)


@kernel
def roll_out_leaves(
    leaves: Any, settings: Any, rules: Any, generator: Any, workspace: Any, scratch: Any, model: Any
) -> Any:
    """Plays each leaf on, as a simulation does that ends there.

    Args:
        leaves: `uint64[L, STATE_WORDS]`, not changed.
        settings: `descent.Settings`.
        rules: the rules table.
        generator: `uint64[1]`, moved on.
        workspace: scratch of the bots.
        scratch: `descent.Scratch`.
        model: coefficients of the estimate.

    Returns:
        Sum of the first seat's values, float64.
    """
    total = 0.0
    for leaf in range(leaves.shape[0]):
        copy_position(scratch.state, leaves[leaf])
        roll_out(
            scratch.state,
            settings.rollout,
            settings.rounds,
            settings.noise,
            rules,
            generator,
            workspace,
            scratch.ledger,
            model,
            scratch.value,
        )
        total += scratch.value[0]
    return total


@kernel
def write_priors_again(tree: Any, nodes: Any, settings: Any, rules: Any, generator: Any, workspace: Any) -> Any:
    """Writes the priors of expanded nodes, `int64[M]`, once more; returns the words of their states, xor-ed."""
    folded = U0
    for index in range(nodes.shape[0]):
        node = nodes[index]
        state = tree.state[node]
        write_priors(tree, tree.first_edge[node], tree.num_edges[node], state, settings, rules, generator, workspace)
        folded ^= state[0]
    return folded


@kernel
def make_nodes(parents: Any, chosen: Any, rules: Any, state: Any, ledger: Any) -> Any:
    """Makes the nodes of a lock-step search again: the decision, forced ones after it, then the legal mask.

    Args:
        parents: `uint64[M, STATE_WORDS]`, not changed.
        chosen: `uint16[M]`, the decision of each node.
        rules: the rules table.
        state: scratch, `uint64[STATE_WORDS]`.
        ledger: scratch, `int16[4, SOURCES]`.

    Returns:
        Legal decisions of all nodes, uint64.
    """
    legal = U0
    for index in range(parents.shape[0]):
        copy_position(state, parents[index])
        apply(state, np.uint64(chosen[index]), rules, ledger)
        words = legal_mask(state, rules)
        counts = prefix_counts(words)
        while counts[9] == U1:
            apply(state, select_decision(words, counts, U0), rules, ledger)
            words = legal_mask(state, rules)
            counts = prefix_counts(words)
        legal += counts[9]
    return legal


@kernel
def expand_again(forest: Any, nodes: Any, leaves: Any, numbers: Any, scratch: Any) -> Any:
    """Gives nodes, `int64[M]`, edges and priors once more, from the evaluator's answers in the first M places.

    Args:
        forest: trees with room for the edges.
        nodes: below the roots.
        leaves: masks and logits of the nodes.
        numbers: `expansion.Numbers`.
        scratch: `expansion.Scratch`.

    Returns:
        Edges of all trees, int64.
    """
    for place in range(nodes.shape[0]):
        expand(forest, nodes[place], leaves, place, numbers, scratch)
    return forest.edges_used.sum()
