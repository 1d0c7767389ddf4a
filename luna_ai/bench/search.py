"""`luna bench search`: all figures of the searches, section by section, as they stand in the JSON file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from luna_ai.bench.measuring import Section, measure_sections
from luna_ai.bench.peers import load_pyspiel
from luna_ai.bench.search_gumbel import OURS, THEIRS, measure_gumbel, missing
from luna_ai.bench.search_network import KINDS as NETWORK_KINDS
from luna_ai.bench.search_network import measure_network
from luna_ai.bench.search_peers import CALLS, CPP_GAMES, measure_cpp, measure_python
from luna_ai.bench.search_shares import PARTS, measure_shares
from luna_ai.bench.search_trees import KINDS, measure_trees


@dataclass(frozen=True)
class SearchBench:
    """What is measured and for how long.

    Attributes:
        players: numbers of players.
        seconds: processor seconds of one run of a search, at least; the small parts get a tenth.
        runs: of each figure; median and range are reported.
        peers: whether searches of OpenSpiel and of gumbel-mcts run too.
        roots: positions that the trees without a network are grown from.
        simulations: of each such search.
        games: in lock-step, of the search with an evaluator.
    """

    players: tuple[int, ...] = (2, 3, 4)
    seconds: float = 1.0
    runs: int = 5
    peers: bool = False
    roots: int = 24
    simulations: int = 400
    games: int = 64

    @property
    def part_seconds(self) -> float:
        """Processor seconds of one run of a small part."""
        return self.seconds / 10

    @property
    def steps(self) -> int:
        """How often `tick` is called in all."""
        counts = len(self.players)
        ours = counts * (1 + len(KINDS) + len(KINDS) * len(PARTS) + len(NETWORK_KINDS))
        openspiel = counts * (2 + len(CALLS)) + counts + len(CPP_GAMES) if self.peers else 0
        gumbel = len(THEIRS) + len(OURS) if self.peers and not missing() else 0
        return self.runs * (ours + openspiel + gumbel)


def measure_search(bench: SearchBench, tick: Callable[[], None], figures: dict[str, Any]) -> None:
    """Measures everything, section by section, into `figures`; a caller who is interrupted keeps what is finished.

    Args:
        bench: what and how long.
        tick: called `bench.steps` times.
        figures: filled; the keys are those of the JSON file.

    Raises:
        NoPeers: peers are wanted and OpenSpiel is not installed. Where gumbel-mcts is not, its figures are None.
    """
    if bench.peers:
        load_pyspiel()
    measure_sections(bench, sections(bench, figures), tick, figures)


def sections(bench: SearchBench, figures: dict[str, Any]) -> list[Section]:
    """The sections that are wanted, in order; shares are made of the rates among the `figures` before."""
    time, found = (bench.seconds, bench.runs), list[Section]()
    found.append(partial(measure_trees, bench.players, bench.roots, bench.simulations, *time))
    found.append(partial(_shares, bench, figures))
    found.append(partial(measure_network, bench.players, bench.games, *time))
    if bench.peers:
        found.append(partial(measure_python, bench.players, *time))
        found.append(partial(measure_cpp, bench.players, *time))
        found.append(partial(measure_gumbel, bench.games, *time))
    return found


def _shares(bench: SearchBench, figures: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
    rates = figures["simulations_per_second"]
    return measure_shares(rates, bench.roots, bench.simulations, bench.part_seconds, bench.runs, tick)
