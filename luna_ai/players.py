"""Who plays: names of players, and players as Python objects.

A name is `random`, `greedy`, `strategy:NAME` (see `luna_ai.strategies`), `mcts:KEY=VALUE,...` (see
`luna_ai.search.options`) or `net:PATH,KEY=VALUE,...` (see `luna_ai.network_options`), and prints back in full in every
result. Kernels take the number that stands for a bot (`PlayerSpec.code`); a search and a network decide from Python.
Importing this module is light: kernels and torch are loaded when the first player who needs them is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from luna_ai.network_options import NET, NetOptions, parse_net
from luna_ai.search.options import PREFIX, SearchOptions, parse_options
from luna_ai.strategies import STRATEGIES

if TYPE_CHECKING:
    from engine_fast.position import Position

SEARCH, RANDOM, GREEDY = -1, 0, 1
"""Code of every player that does not play inside kernels, and of the first two that do; strategy number i of
`STRATEGIES` has the code GREEDY + 1 + i."""

CODES = {"random": RANDOM, "greedy": GREEDY} | {
    f"strategy:{strategy.name}": GREEDY + 1 + index for index, strategy in enumerate(STRATEGIES)
}
"""Code of each player that plays inside kernels, by name."""

SEARCHES = f"{PREFIX}:sims=400, {NET}:PATH,sims=64"


class UnknownPlayer(ValueError):
    """A name that no player has, or a number of names that does not fill the table."""


@dataclass(frozen=True)
class PlayerSpec:
    """A player as named on the command line.

    Attributes:
        name: the full name.
        code: the number by which kernels know it, SEARCH if they do not.
        search: options of a search with playouts, None for others.
        network: options of a network, None for others.
    """

    name: str
    code: int
    search: SearchOptions | None = None
    network: NetOptions | None = None

    def __str__(self) -> str:
        """The full name."""
        return self.name


class Player(Protocol):
    """Somebody who can be asked for a decision."""

    spec: PlayerSpec

    def choose(self, position: Position) -> int:
        """The id of a legal decision in a position that is not over."""


def parse_player(name: str) -> PlayerSpec:
    """The player of a name.

    Raises:
        UnknownPlayer: nobody has this name; the message lists the allowed ones.
        SearchOptionError, NetOptionError: an option is unknown or has a value that is not allowed, or there is no
            such file.
    """
    kind, colon, options = name.partition(":")
    if kind == NET and options:
        network = parse_net(options)
        return PlayerSpec(network.name, SEARCH, network=network)
    if kind == PREFIX and (options or not colon):
        search = parse_options(options)
        return PlayerSpec(search.name, SEARCH, search)
    if name not in CODES:
        raise UnknownPlayer(f"player {name!r} is unknown; allowed: {', '.join(CODES)}, {SEARCHES}")
    return PlayerSpec(name, CODES[name])


def parse_table(names: Sequence[str], players: int) -> tuple[PlayerSpec, ...]:
    """The players by seat: one name fills all seats, otherwise there is one name a seat.

    Raises:
        UnknownPlayer: a name is unknown, or there are neither one nor `players` names.
    """
    if len(names) not in (1, players):
        raise UnknownPlayer(
            f"{len(names)} players named for {players} seats; allowed: 1 (fills all seats) or {players}"
        )
    specs = tuple(parse_player(name) for name in names)
    return specs if len(specs) == players else specs * players


class KernelPlayer:
    """A bot, asked from Python; decides by the same kernels as `luna_ai.bots.games`."""

    def __init__(self, spec: PlayerSpec, seed: int | None) -> None:
        """Makes the player with a random generator of its own (seed None: another one every time)."""
        from engine_fast.position import generator_of
        from luna_ai.bots.workspace import new_workspace

        self.spec = spec
        self._generator = generator_of(seed)
        self._workspace = new_workspace()

    def choose(self, position: Position) -> int:
        """The id of the bot's decision.

        Raises:
            ValueError: the game is over.
        """
        from luna_ai.bots.choosing import choose_into

        if position.over:
            raise ValueError(f"{position!r}: the game is over, there is nothing to choose")
        return int(
            choose_into(self.spec.code, position.state.copy(), position.game.rules, self._generator, self._workspace)
        )


class SearchPlayer:
    """A search; a decision that is the only legal one costs none."""

    def __init__(self, spec: PlayerSpec, seed: int | None, stop: Callable[[], bool] = lambda: False) -> None:
        """Makes the player with a random generator of its own (seed None: another one every time).

        Once `stop` says yes, decisions are made at once, with what the search has.
        """
        from luna_ai.search.mcts import Search

        self.spec = spec
        self._search, self._stop = Search(spec.search or SearchOptions(), seed), stop

    def choose(self, position: Position) -> int:
        """The id of the decision that the search found best.

        Raises:
            ValueError: the game is over.
        """
        legal = position.legal_ids()
        return legal[0] if len(legal) == 1 else self._search(position, self._stop).best.action


def make_player(spec: PlayerSpec | str, seed: int | None = None, stop: Callable[[], bool] = lambda: False) -> Player:
    """A player that can be asked for decisions, from a spec or its name; a tree search ends early if `stop` says so.

    Raises:
        UnknownPlayer: nobody has this name.
        CheckpointError, EvaluatorError, NetOptionError: a network cannot be read or evaluated.
    """
    known = parse_player(spec) if isinstance(spec, str) else spec
    if known.network is not None:
        from luna_ai.network_player import NetworkPlayer

        return NetworkPlayer(known, known.network, seed, stop)
    return SearchPlayer(known, seed, stop) if known.search is not None else KernelPlayer(known, seed)
