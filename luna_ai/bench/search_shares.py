"""Where a simulation's time goes: engine, evaluator, tree; and what a node of a tree weighs.

A clock inside a simulation would cost more than what it measures. So the tree of every search is kept, and what the
search asked for is asked again, outside the tree: *engine* is a copied row and `apply` for each node made and a legal
mask for each node expanded, *evaluator* a playout from each node made (with the estimate where it is cut off) and the
greedy scores that make priors where the search has them. *Tree* is what is left of the simulation: selection, edges,
backing up, proofs, Python around the kernels. Asked in a row, the engine is somewhat faster than between other work,
so its share is a little too small and the tree's a little too large.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.layout import MAX_PLAYERS, STATE_WORDS
from engine_fast.position import generator_of, load_game, new_ledger
from luna_ai.bench.costs import time_work
from luna_ai.bench.kernels import leaves, recorded
from luna_ai.bench.measuring import series
from luna_ai.bench.search_trees import KINDS, Roots, options_of
from luna_ai.bots.workspace import new_workspace
from luna_ai.search.descent import Scratch
from luna_ai.search.estimate import load_model
from luna_ai.search.mcts import EDGES_PER_NODE, Search, settings_of
from luna_ai.search.options import SearchOptions
from luna_ai.search.tree import EDGES_USED, NODES_USED, UNEXPANDED, UNVISITED, Tree, bytes_per_node

PARTS = ("apply", "mask", "playout")
"""What is asked for again, run by run."""


@dataclass(frozen=True)
class Asked:
    """What searches asked for, in all roots.

    Attributes:
        parents: `uint64[C, STATE_WORDS]`, positions in which a node's decision was played.
        chosen: `uint16[C]`, the decisions.
        expanded: `uint64[E, STATE_WORDS]`, positions whose decisions were listed.
        leaves: `uint64[C, STATE_WORDS]`, the nodes below the roots: each was played on once, when it was new.
        simulations: played.
        nodes: made, roots included.
        edges: made.
        prior_seconds: processor seconds of the priors of all nodes, 0 where a search scores nothing.
    """

    parents: NDArray[np.uint64]
    chosen: NDArray[np.uint16]
    expanded: NDArray[np.uint64]
    leaves: NDArray[np.uint64]
    simulations: int
    nodes: int
    edges: int
    prior_seconds: float


def ask(options: SearchOptions, roots: Roots, seed: int) -> Asked:
    """Searches in every root and collects what was asked for."""
    search = Search(options, seed)
    totals, seconds = np.zeros(3, dtype=np.int64), 0.0
    rows: list[tuple[NDArray[Any], ...]] = []
    for position in roots.positions:
        made_now = search(position).played
        tree = search.tree
        count = int(tree.counters[NODES_USED])
        totals += (made_now, count, int(tree.counters[EDGES_USED]))
        open_nodes = np.flatnonzero(tree.first_edge[:count] != UNEXPANDED)
        nodes, made = made_by(tree, open_nodes)
        actions = tree.action[made].astype(np.uint16)
        rows.append((tree.state[nodes], actions, tree.state[open_nodes], tree.state[1:count].copy()))
        seconds += time_priors(tree, open_nodes, options, position.game.rules) if options.sharpness > 0 else 0.0
    parents, chosen, expanded, made_leaves = (np.concatenate(column) for column in zip(*rows, strict=True))
    played, used, edges = map(int, totals)
    return Asked(parents, chosen, expanded, made_leaves, played, used, edges, seconds)


def made_by(tree: Tree, expanded: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Parent and edge of every node below the root."""
    first, count = tree.first_edge[expanded], tree.num_edges[expanded]
    edges = np.concatenate([np.arange(start, start + number) for start, number in zip(first, count, strict=True)])
    visited = tree.child[edges] != UNVISITED
    return np.repeat(expanded, count)[visited], edges[visited]


def time_priors(tree: Tree, expanded: NDArray[np.int64], options: SearchOptions, rules: NDArray[np.uint64]) -> float:
    """Processor seconds of writing the priors of nodes."""
    arguments = (tree, expanded, settings_of(options), rules, generator_of(1), new_workspace())
    leaves.write_priors_again(tree, expanded[:0], *arguments[2:])
    began = time.thread_time()
    leaves.write_priors_again(*arguments)
    return time.thread_time() - began


def part_works(asked: Asked, options: SearchOptions) -> Mapping[str, tuple[int, Callable[[], Any]]]:
    """By part: how often it was asked for in the array, and the call that asks for all of it again."""
    rules, ledger, state = load_game().rules, new_ledger(), np.zeros(STATE_WORDS, dtype=np.uint64)
    scratch = Scratch(state, ledger, np.zeros(MAX_PLAYERS))
    rolled = (settings_of(options), rules, generator_of(1), new_workspace(), scratch, load_model())
    return {
        "apply": (
            len(asked.chosen),
            lambda: recorded.copy_and_apply(asked.parents, asked.chosen, rules, state, ledger),
        ),
        "mask": (len(asked.expanded), lambda: recorded.make_masks(asked.expanded, rules)),
        "playout": (len(asked.leaves), lambda: leaves.roll_out_leaves(asked.leaves, *rolled)),
    }


def shares_of(
    asked: Asked, options: SearchOptions, whole: float, seconds: float, runs: int, tick: Callable[[], None]
) -> dict[str, Any]:
    """Nanoseconds of a simulation by part, of `whole` nanoseconds in all; `seconds` a run and part."""
    per_simulation = {
        "apply": len(asked.chosen) / asked.simulations,
        "mask": len(asked.expanded) / asked.simulations,
        "playout": len(asked.chosen) / asked.simulations,
    }
    found: dict[str, list[float]] = {name: [] for name in PARTS}
    works = part_works(asked, options)
    one = replace(asked, parents=asked.parents[:1], chosen=asked.chosen[:1], expanded=asked.expanded[:1])
    for _, call in part_works(replace(one, leaves=asked.leaves[:1]), options).values():
        call()  # compiled
    for _ in range(runs):
        for name, (units, call) in works.items():
            found[name].append(per_simulation[name] * time_work(seconds, units, call).nanoseconds)
            tick()
    priors = 1e9 * asked.prior_seconds / asked.simulations
    engine = [apply + mask for apply, mask in zip(found["apply"], found["mask"], strict=True)]
    evaluator = [playout + priors for playout in found["playout"]]
    parts = {
        "engine": engine,
        "evaluator": evaluator,
        "tree": [whole - one - other for one, other in zip(engine, evaluator, strict=True)],
    }
    return {"ns": {name: series(values) for name, values in parts.items()}, "whole_ns": whole} | {
        "share": {name: series([value / whole for value in values]) for name, values in parts.items()}
    }


def measure_shares(
    rates: Mapping[str, Mapping[str, Any]],
    roots: int,
    simulations: int,
    seconds: float,
    runs: int,
    tick: Callable[[], None],
) -> dict[str, Any]:
    """Shares of time and memory of a node, by kind and number of players.

    Args:
        rates: `simulations_per_second` of `measure_trees`, of the same roots and simulations.
        roots: positions to search in.
        simulations: of each search.
        seconds: processor seconds of a run of a part.
        runs: of each figure.
        tick: called after every run of a part.
    """
    shares: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    memory: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for kind, by_seats in rates.items():
        options = options_of(kind, simulations)
        for seats, rate in by_seats.items():
            asked = ask(options, Roots(int(seats), roots), seed=int(seats))
            shares[kind][seats] = shares_of(asked, options, 1e9 / rate["median"], seconds, runs, tick)
            memory[kind][seats] = memory_of(asked)
    return {"time_of_a_simulation": shares, "memory_per_node": memory}


def memory_of(asked: Asked) -> dict[str, float]:
    """Edges and bytes of a node: as the search used them, and as a node budget reserves them."""
    edges = asked.edges / asked.nodes
    return {
        "edges_per_node": edges,
        "bytes_used": bytes_per_node(edges),
        "bytes_reserved": bytes_per_node(EDGES_PER_NODE),
    }
