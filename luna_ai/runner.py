"""Plays a schedule of games between bots, in this process or in several, and returns one row a game and seat.

A schedule (`luna_ai.schedule`) says everything about every game: deal, start player, who sits where, handicap, and the
seed of the players' chance. So a game does not depend on when and in which process it is played, and the same
schedule gives the same table however many processes run.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from engine_fast import layout
from engine_fast.batch import set_up_batch
from engine_fast.jit import ENGINE_FOLDER
from engine_fast.layout import INFLUENCE_BIAS, LEDGER_SOURCES, MAX_PLAYERS, NUM_SOURCES, STATE_WORDS
from engine_fast.position import Game, Position, load_game
from engine_fast.ruleset import RuleSet
from engine_fast.setup import SETUPS, add_handicaps
from luna_ai.bots.games import play_batch
from luna_ai.bots.workspace import Workspace, new_workspace
from luna_ai.config import parse_ruleset
from luna_ai.interrupt import Interrupts
from luna_ai.players import SEARCH, make_player, parse_player
from luna_ai.schedule import SCHEDULE_SCHEMA
from luna_ai.search.options import PREFIX
from luna_ai.slow_games import play_slowly

HERE = Path(__file__).resolve().parent
PLAYING_FOLDERS = (ENGINE_FOLDER, HERE / "bots", HERE / "search", HERE / "search" / "lockstep", HERE / "learning")
PLAYING_FILES = ("network.py", "evaluator.py", "network_player.py")
"""Sources that decide what a player does."""
SLICE = 64
"""Games between two looks at the stop sign: well below 0.1 s."""
GameLoader = Callable[[str, RuleSet], Game]
"""`load_game`, or a copy of it that remembers the games."""
CHUNKS_IN_WORK = 4
SECONDS_BETWEEN_LOOKS = 0.1


def ruleset_label(ruleset: RuleSet) -> str:
    """A rule set in one word, as tables hold it: `official`, or `official,book_same_space=true`."""
    usual = RuleSet(ruleset.name).to_json()
    changed = {key: value for key, value in ruleset.to_json().items() if value != usual[key]}
    return ",".join([ruleset.name, *(f"{key}={json.dumps(value)}" for key, value in changed.items())])


def ruleset_of(label: str) -> RuleSet:
    """The rule set of a label that `ruleset_label` wrote."""
    name, *options = label.split(",")
    return parse_ruleset(name, options)


def remembering() -> GameLoader:
    """Loads each game once, so that a sheet's file that changes meanwhile does not split a run."""
    return lru_cache(maxsize=None)(load_game)


def play_rows(
    schedule: pl.DataFrame, stop: Callable[[], bool] = lambda: False, load: GameLoader = load_game
) -> pl.DataFrame:
    """Plays a schedule in this process.

    Args:
        schedule: rows of `SCHEDULE_SCHEMA`.
        stop: asked between slices; once it says yes, only the games so far are returned.
        load: finds sheet and rule set; called once for each kind of game in the schedule.

    Returns:
        One row a game and seat, in the order of the schedule.
    """
    workspace, tables = new_workspace(), []
    for group in same_kind(schedule):
        game = load(group["components"][0], ruleset_of(group["ruleset"][0]))
        for rows in group.iter_slices(slice_size(group)):
            if stop() or (table := play_slice(rows, game, workspace, stop)) is None:
                break
            tables.append(table)
    return pl.concat(tables) if tables else pl.DataFrame()


def slice_size(schedule: pl.DataFrame) -> int:
    """Games to play between two looks at the stop sign: one where somebody decides from Python."""
    return 1 if slow_names(schedule) else SLICE


def slow_names(schedule: pl.DataFrame) -> list[str]:
    """The players who do not play inside kernels."""
    names = schedule["agents"].explode().unique().sort()
    return [name for name in names if parse_player(name).code == SEARCH]


def same_kind(schedule: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cuts a schedule into runs of games that share players, set-up, sheet and rule set."""
    kind = pl.struct("players", "setup", "components", "ruleset").rle_id()
    yield from schedule.with_columns(kind.alias("kind")).partition_by("kind", include_key=False, maintain_order=True)


@dataclass
class Played:
    """Arrays that the games of a slice fill; B games."""

    states: NDArray[np.uint64]  # [B, STATE_WORDS] set-up positions, then final ones
    ledgers: NDArray[np.int16]  # [B, 4, SOURCES]
    decisions: NDArray[np.int32]  # [B]
    hashes: NDArray[np.uint64]  # [B]
    seconds: NDArray[np.float64]  # [B, 4] thinking time by seat; NaN where nobody searches
    seat_decisions: NDArray[np.int64]  # [B, 4] decisions by seat, 0 where nobody searches


def play_slice(rows: pl.DataFrame, game: Game, workspace: Workspace, stop: Callable[[], bool]) -> pl.DataFrame | None:
    """Plays games of one kind together; None if `stop` says so in the middle of a slow one."""
    players, setup, count = rows["players"][0], rows["setup"][0], len(rows)
    played = Played(
        states=deal_states(rows, players, setup, game),
        ledgers=np.zeros((count, MAX_PLAYERS, NUM_SOURCES), dtype=np.int16),
        decisions=np.zeros(count, dtype=np.int32),
        hashes=np.zeros(count, dtype=np.uint64),
        seconds=np.full((count, MAX_PLAYERS), np.nan),
        seat_decisions=np.zeros((count, MAX_PLAYERS), dtype=np.int64),
    )
    start = columns_of_influence(played.states, players)
    if slice_size(rows) == 1:
        if not play_from_python(rows, game, played, stop):
            return None
    else:
        play_in_kernel(rows, game, played, workspace)
    return table_of(rows, players, start, played)


def play_in_kernel(rows: pl.DataFrame, game: Game, played: Played, workspace: Workspace) -> None:
    """Plays games between bots in one call.

    Raises:
        RuntimeError: a bot chose an illegal decision.
    """
    codes = seat_codes(rows["agents"].to_list())
    generators = rows["seed"].to_numpy().astype(np.uint64).reshape(-1, 1).copy()
    arrays = (played.ledgers, played.decisions, played.hashes)
    play_batch(played.states, codes, game.rules, generators, *arrays, workspace)
    if played.decisions.min() < 0:
        bad = int(rows["game"][int(played.decisions.argmin())])
        raise RuntimeError(f"game {bad}: a bot chose an illegal decision; please report this")


def play_from_python(rows: pl.DataFrame, game: Game, played: Played, stop: Callable[[], bool]) -> bool:
    """Plays games with a search at the table one after another; False if it was stopped before the end."""
    for index, (agents, seed) in enumerate(zip(rows["agents"].to_list(), rows["seed"].to_list(), strict=True)):
        specs = [parse_player(name) for name in agents]
        done = play_slowly(Position(played.states[index].copy(), game), specs, seed, stop)
        if done is None:
            return False
        played.states[index], played.ledgers[index] = done.position.state, done.ledger
        played.decisions[index], played.hashes[index] = done.decisions, done.moves_hash
        played.seconds[index], played.seat_decisions[index] = done.seconds, done.seat_decisions
    return True


def deal_states(rows: pl.DataFrame, players: int, setup: str, game: Game) -> NDArray[np.uint64]:
    """The set-up positions of a slice, handicaps included: `uint64[B, STATE_WORDS]`."""
    states = np.zeros((len(rows), STATE_WORDS), dtype=np.uint64)
    starters = rows["start_player"].to_numpy().astype(np.int64)
    deals = rows["deal"].to_numpy().astype(np.uint64).reshape(-1, 1).copy()
    set_up_batch(states, players, SETUPS.index(setup), starters, deals, game.rules)
    handicaps = [points or [0] * players for points in rows["handicap"].to_list()]
    add_handicaps(states, np.array(handicaps, dtype=np.int64))
    return states


def seat_codes(tables: list[list[str]]) -> NDArray[np.int64]:
    """Codes of the bots by seat, `int64[B, 4]`."""
    return np.array([[*map(_code, agents), *[0] * (MAX_PLAYERS - len(agents))] for agents in tables], dtype=np.int64)


def _code(name: str) -> int:
    return parse_player(name).code


def columns_of_influence(states: NDArray[np.uint64], players: int) -> NDArray[np.int64]:
    """Influence by seat, `int64[B, players]`."""
    return layout.columns(states, "influence")[:, :players] - INFLUENCE_BIAS


def ranks(states: NDArray[np.uint64], players: int) -> NDArray[np.int64]:
    """Final rank by seat, `int64[B, players]`, 1 = winner; ties by Council precedence, so ranks are strict."""
    standing = columns_of_influence(states, players) * MAX_PLAYERS - layout.columns(states, "council_rank")[:, :players]
    ahead: NDArray[np.int64] = (standing[:, None, :] > standing[:, :, None]).sum(axis=2)
    return ahead + 1


def table_of(rows: pl.DataFrame, players: int, start: NDArray[np.int64], played: Played) -> pl.DataFrame:
    """One row a game and seat from the arrays of a slice."""
    count, seats = len(rows), np.arange(players)
    starter = rows["start_player"].to_numpy().astype(np.int64)

    def each(name: str) -> pl.Series:
        return rows[name].gather(np.repeat(np.arange(count), players))

    def flat(values: NDArray[Any], kind: Any) -> pl.Series:
        return pl.Series(values.reshape(-1)).cast(kind)

    sources = {
        source: flat(np.ascontiguousarray(played.ledgers[:, :players, index]), pl.Int16)
        for index, source in enumerate(LEDGER_SOURCES)
    }
    copied = ("game", "block", "deal", "seed", "players", "setup", "components", "ruleset", "start_player")
    return pl.DataFrame(
        {name: each(name) for name in copied}
        | {
            "seat": flat(np.tile(seats, count), pl.Int8),
            "turn_position": flat((seats - starter[:, None]) % players, pl.Int8),
            "player": rows["agents"].explode(),
            "influence": flat(columns_of_influence(played.states, players), pl.Int16),
            "rank": flat(ranks(played.states, players), pl.Int8),
            "start_influence": flat(start, pl.Int16),
        }
        | sources
        | {
            "decisions": flat(np.repeat(played.decisions, players), pl.Int32),
            "rounds": flat(np.repeat(layout.columns(played.states, "round"), players), pl.Int8),
            "moves_hash": flat(np.repeat(played.hashes, players), pl.UInt64),
            "seconds": flat(np.ascontiguousarray(played.seconds[:, :players]), pl.Float64).fill_nan(None),
            "seat_decisions": flat(np.ascontiguousarray(played.seat_decisions[:, :players]), pl.Int64),
        }
    )


# --- several processes ---------------------------------------------------------------------------------------------

_stop_sign: Any = None
_load: GameLoader = load_game


def _start_worker(stop_sign: Any) -> None:
    """Runs in each new process: Ctrl-C is the parent's business, and the process ends with its parent."""
    global _stop_sign, _load
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _stop_sign, _load = stop_sign, remembering()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(schedule: pl.DataFrame) -> pl.DataFrame:
    return play_rows(schedule, _stop_sign.is_set, _load)


class Runner:
    """Plays schedules with `jobs` processes; use it as a context manager, it keeps the processes between calls.

    Inside, Ctrl-C stops the playing and not the program: the games that are done are returned, and the next call
    raises KeyboardInterrupt at once. A script that uses more than one process must be importable
    (`if __name__ == "__main__":`), since workers are started afresh, not forked.
    """

    def __init__(self, jobs: int = 1, advance: Callable[[int], None] = lambda games: None) -> None:
        """Starts nothing yet; `advance` is called with the number of games each time some are finished."""
        self.jobs, self.advance = jobs, advance
        self._interrupts, self._load = Interrupts(), remembering()
        self._search_is_warm = False
        self._pool: ProcessPoolExecutor | None = None
        self._stop: Any = None

    def __enter__(self) -> Self:
        """Compiles what is needed once, here, so that workers find it on disk."""
        warm_up()
        self._interrupts.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the processes."""
        if self._pool is not None:
            self._stop.set()
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
        self._interrupts.__exit__(kind, error, trace)

    def __call__(self, schedule: pl.DataFrame) -> pl.DataFrame:
        """Plays a schedule; after Ctrl-C, returns the longest run of games from its beginning that is done.

        Raises:
            KeyboardInterrupt: Ctrl-C came before the first game was done.
        """
        self._warm_search(schedule)
        alone = self.jobs == 1 or len(schedule) <= slice_size(schedule)
        tables = list(self._played_here(schedule) if alone else self._played_in_processes(schedule))
        if self._interrupts.seen and not tables:
            raise KeyboardInterrupt
        return pl.concat(tables) if tables else pl.DataFrame()

    def _warm_search(self, schedule: pl.DataFrame) -> None:
        """Compiles searches and reads networks here before processes do it side by side; a bad network is told at once.

        Raises:
            ValueError: a network cannot be read; one line.
        """
        if self._search_is_warm or not len(schedule) or not (names := slow_names(schedule)):
            return
        small = {name: name for name in names if parse_player(name).network is not None}
        if len(small) < len(names):
            small[PREFIX] = f"{PREFIX}:sims=4,nodes=8"
        for name in small.values():
            player, position = make_player(name, seed=0), Position.new(2, seed=0)
            player.choose(position.play(player.choose(position)))  # the second decision carries the tree over
        self._search_is_warm = True

    def _played_here(self, schedule: pl.DataFrame) -> Iterator[pl.DataFrame]:
        for rows in schedule.iter_slices(slice_size(schedule)):
            table = play_rows(rows, lambda: self._interrupts.seen, self._load)
            if not len(table):
                return
            yield table
            self.advance(len(rows))

    def _played_in_processes(self, schedule: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Keeps a bounded number of chunks in work and yields them in the order of the schedule."""
        pool, waiting = self._processes(), deque[tuple[int, Future[pl.DataFrame]]]()
        chunks = schedule.iter_slices(self._chunk_size(schedule))
        while not self._interrupts.seen:
            while len(waiting) < self.jobs * CHUNKS_IN_WORK and (rows := next(chunks, None)) is not None:
                waiting.append((len(rows), pool.submit(_work, rows)))
            if not waiting:
                return
            games, future = waiting[0]
            if not wait([future], timeout=SECONDS_BETWEEN_LOOKS).done:
                continue
            waiting.popleft()
            yield future.result()
            self.advance(games)

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._stop = context.Event()
            self._pool = ProcessPoolExecutor(self.jobs, context, _start_worker, (self._stop,))
        return self._pool

    def _chunk_size(self, schedule: pl.DataFrame) -> int:
        smallest = slice_size(schedule)
        even = -(-len(schedule) // (self.jobs * CHUNKS_IN_WORK))
        return max(smallest, min(32 * smallest, even))


def warm_up() -> None:
    """Plays one game, so that every kernel is compiled and cached before work starts or is split."""
    row = {"game": 0, "block": 0, "deal": 0, "seed": 0, "players": 2, "setup": "standard"}
    row |= {"components": "reconstructed", "ruleset": "official", "start_player": 0, "agents": ["random"] * 2}
    play_rows(pl.DataFrame([row | {"handicap": []}], schema=SCHEDULE_SCHEMA, orient="row"))


def versions() -> dict[str, str]:
    """What the result of a game depends on besides its schedule: package, action table, sources of the kernels."""
    from engine_fast.actions import ACTION_VERSION
    from luna_ai import __version__

    return {"luna-ai": __version__, "actions": str(ACTION_VERSION), "kernels": sources_of_kernels()}


def sources_of_kernels() -> str:
    """A hash of what engine, bots, search and networks are made of: a program that plays differently resumes no run."""
    digest = hashlib.sha256()
    for folder in PLAYING_FOLDERS:
        for path in sorted((*folder.glob("*.py"), *folder.glob("*.npz"))):
            digest.update(path.read_bytes())
    for name in PLAYING_FILES:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()[:16]


def check_names(agents: Sequence[str]) -> None:
    """Raises UnknownPlayer for a name that no bot has."""
    for name in agents:
        parse_player(name)
