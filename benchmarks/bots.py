"""The bots measured: against random players, among themselves, how often they agree, how good their voyages are, speed.

Everything is drawn from one seed, so the same version prints the same tables (but for the speed).

Example:
    python benchmarks/bots.py --games 2000 --json bots.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_fast import LEDGER_SOURCES, Position
from engine_fast.actions import MASK_WORDS
from engine_fast.apply import apply_into
from engine_fast.batch import set_up_batch
from engine_fast.check import field_value, nibbles_of
from engine_fast.kinds import NUM_KINDS
from engine_fast.layout import MAX_PLAYERS, NUM_SOURCES, OVER, STATE_WORDS, SUPPLY, columns
from engine_fast.legal import legal_into
from engine_fast.position import load_game, new_ledger
from engine_fast.setup import SETUPS
from luna_ai.bots.choosing import choose_into
from luna_ai.bots.games import play_batch
from luna_ai.bots.greedy import plan_into
from luna_ai.bots.workspace import Workspace, new_workspace
from luna_ai.players import CODES, GREEDY
from luna_ai.stats import wilson_interval
from luna_ai.strategies import STRATEGIES

PLAYER_COUNTS = (2, 3, 4)
SLICE = 200
START_INFLUENCE = 5
SCRIPTED = {name: code for name, code in CODES.items() if code >= GREEDY}
SOURCE_OF = {f"strategy:{strategy.name}": strategy.source for strategy in STRATEGIES}
JOURNEY_STEPS = ("journey", "land")


@dataclass(frozen=True)
class Games:
    """Finished games: codes and wins `[B, P]`, ledgers `int16[B, P, SOURCES]`, seconds of the kernel, hashes."""

    codes: NDArray[np.int64]
    ledgers: NDArray[np.int16]
    wins: NDArray[np.bool_]
    decisions: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    seconds: float

    @property
    def influence(self) -> NDArray[np.int64]:
        """Final influence, `int64[B, P]`."""
        return np.asarray(START_INFLUENCE + self.ledgers.sum(axis=2, dtype=np.int64))


def play(
    codes: NDArray[np.int64],
    seed: int,
    workspace: Workspace,
    setup: str = "standard",
    rules: NDArray[np.uint64] | None = None,
) -> Games:
    """Plays one game for each row of `codes`, `int64[B, P]`, from random deals."""
    games, players = codes.shape
    table = load_game().rules if rules is None else rules
    generators = np.random.SeedSequence(seed).generate_state(games, np.uint64).reshape(games, 1)
    states, by_seat = np.zeros((games, STATE_WORDS), dtype=np.uint64), np.zeros((games, MAX_PLAYERS), dtype=np.int64)
    by_seat[:, :players] = codes
    set_up_batch(states, players, SETUPS.index(setup), np.full(games, -1), generators, table)
    ledgers = np.zeros((games, MAX_PLAYERS, NUM_SOURCES), dtype=np.int16)
    decisions, hashes = np.zeros(games, dtype=np.int32), np.zeros(games, dtype=np.uint64)
    begun = time.process_time()
    for first in range(0, games, SLICE):
        at = slice(first, first + SLICE)
        rows = (generators[at], ledgers[at], decisions[at], hashes[at])
        play_batch(states[at], by_seat[at], table, *rows, workspace)
    seconds = time.process_time() - begun
    wins = winners(states, ledgers, players)
    return Games(codes, ledgers[:, :players], wins, decisions, hashes, seconds)


def winners(states: NDArray[np.uint64], ledgers: NDArray[np.int16], players: int) -> NDArray[np.bool_]:
    """Who won, `bool[B, P]`: the most influence, ties by Council precedence."""
    key = 8 * ledgers[:, :players].sum(axis=2, dtype=np.int64) - columns(states, "council_rank")[:, :players]
    return np.asarray(key == key.max(axis=1, keepdims=True))


def one_against(code: int, others: int, players: int, games: int) -> NDArray[np.int64]:
    """Codes `int64[games, players]`: one seat `code`, taking turns, the rest `others`."""
    codes = np.full((games, players), others, dtype=np.int64)
    codes[np.arange(games), np.arange(games) % players] = code
    return codes


def against_random(code: int, players: int, games: int, seed: int, workspace: Workspace) -> dict[str, Any]:
    """One bot among random players: share of games won (Wilson interval; games are independent), mean influence."""
    found = play(one_against(code, CODES["random"], players, games), seed, workspace)
    own, wins = found.codes == code, int(found.wins[found.codes == code].sum())
    return {
        "games": games,
        "distinct": len(set(found.hashes.tolist())),
        "share": wins / games,
        "interval": wilson_interval(wins, games),
        "influence": float(found.influence[own].mean()),
        "random_influence": float(found.influence[~own].mean()),
    }


def mixed_tables(codes: Sequence[int], games: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """For each number of players `games` tables of different bots at random seats."""
    rng = np.random.default_rng(seed)
    for players in PLAYER_COUNTS:
        yield np.array([rng.permutation(codes)[:players] for _ in range(games)])


def sources(codes: Sequence[int], games: int, seed: int, workspace: Workspace) -> dict[int, NDArray[np.float64]]:
    """Mean ledger (and standard error) of each bot in mixed games: `float64[2, SOURCES]` by code."""
    played = [play(table, seed + table.shape[1], workspace) for table in mixed_tables(codes, games, seed)]
    rows = {code: np.concatenate([found.ledgers[found.codes == code] for found in played]) for code in codes}
    return {code: np.array([row.mean(axis=0), row.std(axis=0) / np.sqrt(len(row))]) for code, row in rows.items()}


def shares(codes: Sequence[int], games: int, seed: int, workspace: Workspace) -> dict[int, tuple[float, float]]:
    """Of each bot in mixed games: mean influence, and games won divided by what an equal player would win."""
    played = [play(table, seed + table.shape[1], workspace) for table in mixed_tables(codes, games, seed)]
    influence = {c: np.concatenate([found.influence[found.codes == c] for found in played]).mean() for c in codes}
    won = {c: np.concatenate([g.wins[g.codes == c] * g.codes.shape[1] for g in played]).mean() for c in codes}
    return {code: (float(influence[code]), float(won[code])) for code in codes}


def unforced(codes: Sequence[int], games: int, seed: int, workspace: Workspace) -> NDArray[np.int64]:
    """Decisions of every bot at the unforced positions of mixed games: ids, `int64[positions, bots]`."""
    rng, generator, rows = np.random.default_rng(seed), np.ones(1, dtype=np.uint64), []
    rules, ledger, mask = load_game().rules, new_ledger(), np.zeros(MASK_WORDS, dtype=np.uint64)
    for game in range(games):
        players = PLAYER_COUNTS[game % len(PLAYER_COUNTS)]
        state = Position.new(players, seed=int(rng.integers(2**32))).state.copy()
        seated = rng.permutation(len(codes))[:players]
        while field_value(state, "phase") != OVER:
            chosen = [choose_into(code, state, rules, generator, workspace) for code in codes]
            legal_into(state, rules, mask)
            if sum(int(word).bit_count() for word in mask) > 1:
                rows.append(chosen)
            apply_into(state, int(chosen[seated[field_value(state, "to_move")]]), rules, ledger)
    return np.array(rows, dtype=np.int64)


def agreement(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often two bots choose the same, `float64[bots, bots]`."""
    return np.asarray((chosen[:, :, None] == chosen[:, None, :]).mean(axis=0))


def few_novices(players: int, seed: int, workspace: Workspace) -> Position:
    """A position in which a player with one to four novices on isles (the others in supply) begins an action."""
    rng, generator = np.random.default_rng(seed), np.ones(1, dtype=np.uint64)
    position = Position.new(players, seed=seed)
    for _ in range(5 * players + int(rng.integers(60))):
        state = position.state.copy()
        after = position.play(choose_into(GREEDY, state, position.game.rules, generator, workspace))
        position = position if after.over else after
    while position.to_json()["pending"] is not None:
        position = position.play(position.legal_ids()[-1])
    return with_novices(position, rng)


def with_novices(position: Position, rng: np.random.Generator) -> Position:
    """The position with one to four novices of the player to move on random isles, at least one of them active."""
    state, seat = position.state.copy(), position.to_move
    assert seat is not None
    counts = nibbles_of(int(state[seat]))
    left = sum(counts[: 2 * NUM_KINDS]) + counts[SUPPLY]
    new = [0] * (2 * NUM_KINDS) + counts[2 * NUM_KINDS :]
    places = [int(rng.integers(NUM_KINDS)), *(int(p) for p in rng.integers(2 * NUM_KINDS, size=rng.integers(4)))]
    for place in places[:left]:
        new[place] += 1
    new[SUPPLY] = left - len(places[:left])
    state[seat] = np.uint64(sum(count << 4 * index for index, count in enumerate(new)))
    return Position(state, position.game)


def voyages(position: Position, first: Sequence[str], seat: int) -> Iterator[Position]:
    """Every position in which a complete Journey (or Tide) of the player to move can end."""
    for notation in position.legal():
        if notation.split()[0] in first:
            after = position.play(notation)
            if after.to_json()["pending"] is None:
                yield after
            else:
                yield from voyages(after, (first[0], "land"), seat)


def worth(position: Position, seat: int, workspace: Workspace) -> float:
    """What the seat's novices are worth under the rows that the last decision has left in the workspace."""
    counts = nibbles_of(int(position.state[seat]))
    active, inactive = counts[:NUM_KINDS], counts[NUM_KINDS : 2 * NUM_KINDS]
    isles = range(NUM_KINDS)
    return float(sum(workspace.use[k, active[k]] + workspace.stay[k, active[k] + inactive[k]] for k in isles))


def voyage_gap(position: Position, kind: str, workspace: Workspace) -> float:
    """How much the best Journey or Tide (`kind`) of all is better than the bot's, in influence.

    For a Tide the position's player must have the favor.
    """
    seat = position.to_move
    assert seat is not None
    planned = float(plan_into(GREEDY, kind == "tide", position.state.copy(), position.game.rules, workspace))
    before = worth(position, seat, workspace)
    best = max((worth(after, seat, workspace) for after in voyages(position, (kind, "land"), seat)), default=before)
    return max(best - before, 0.0) - planned


def gaps(kind: str, count: int, seed: int, workspace: Workspace) -> list[float]:
    """`voyage_gap` in `count` positions of at most four novices."""
    found: list[float] = []
    while len(found) < count:
        seed += 1
        position = few_novices(2 + seed % 3, seed, workspace)
        held = "tide" in position.to_json()["seats"][position.to_move]["favors"]
        if held or kind == "journey":
            found.append(voyage_gap(position, kind, workspace))
    return found


def speed(players: int, games: int, seed: int, workspace: Workspace) -> dict[str, float]:
    """Greedy self-play: microseconds a decision, decisions a game, games a second (processor time of one core)."""
    found = play(np.full((games, players), GREEDY), seed, workspace)
    decisions = int(found.decisions.sum())
    return {
        "microseconds_per_decision": 1e6 * found.seconds / decisions,
        "decisions_per_game": decisions / games,
        "games_per_second": games / found.seconds,
        "influence": float(found.influence.mean()),
    }


def measure(games: int, seed: int) -> dict[str, Any]:
    """All figures."""
    workspace, codes = new_workspace(), list(SCRIPTED.values())
    speed(2, 1, seed, workspace)  # compiles
    rows, strong = sources(codes, games, seed, workspace), shares(codes, games, seed, workspace)
    chosen = unforced(codes, max(games // 20, 6), seed, workspace)
    among = agreement(chosen)
    return {
        "games": games,
        "seed": seed,
        "speed": {n: speed(n, games, seed, workspace) for n in PLAYER_COUNTS},
        "against_random": {
            name: {n: against_random(code, n, games, seed, workspace) for n in PLAYER_COUNTS}
            for name, code in SCRIPTED.items()
        },
        "sources": {
            name: dict(zip(LEDGER_SOURCES, rows[code][0].tolist(), strict=True)) for name, code in SCRIPTED.items()
        },
        "strength": {name: strong[code] for name, code in SCRIPTED.items()},
        "margins": {name: margin(rows, CODES[name], source) for name, source in SOURCE_OF.items()},
        "positions": len(chosen),
        "agreement": {name: among[index].tolist() for index, name in enumerate(SCRIPTED)},
        "voyage_gap": {kind: max(gaps(kind, 100, seed, workspace)) for kind in ("journey", "tide")},
    }


def margin(rows: dict[int, NDArray[np.float64]], code: int, source: str) -> dict[str, float]:
    """A bot's mean in its source, the best of the others, and the standard error of the difference."""
    column = LEDGER_SOURCES.index(source)
    second = max((other for other in rows if other != code), key=lambda other: rows[other][0, column])
    error = float(np.hypot(rows[code][1, column], rows[second][1, column]))
    return {"own": float(rows[code][0, column]), "second": float(rows[second][0, column]), "error": error}


def short(name: str) -> str:
    """The name without `strategy:`."""
    return name.removeprefix("strategy:")


def print_tables(found: dict[str, Any]) -> None:
    """The figures as the tables of docs/BOTS.md."""
    print(
        "| greedy against itself | µs a decision | decisions a game | games/s | mean influence |\n|---|---|---|---|---|"
    )
    for players, row in found["speed"].items():
        cells = [row["microseconds_per_decision"], row["decisions_per_game"], row["games_per_second"], row["influence"]]
        print(f"| {players} players | {cells[0]:.2f} | {cells[1]:.0f} | {cells[2]:,.0f} | {cells[3]:.1f} |")
    print(f"\n| one bot among random players, {found['games']} games each | 2 | 3 | 4 |\n|---|---|---|---|")
    for name, by_players in found["against_random"].items():
        print(f"| {name} | " + " | ".join(random_cell(row) for row in by_players.values()) + " |")
    print("\n| mean by source, mixed games | " + " | ".join(LEDGER_SOURCES) + " | influence | wins / equal share |")
    print("|---" * (len(LEDGER_SOURCES) + 3) + "|")
    for name, row in found["sources"].items():
        own = SOURCE_OF.get(name)
        cells = [f"**{mean:.1f}**" if source == own else f"{mean:.1f}" for source, mean in row.items()]
        influence, won = found["strength"][name]
        print(f"| {name} | {' | '.join(cells)} | {influence:.1f} | {won:.2f} |")
    print("\n| bot | source | own | best of the others | margin |\n|---|---|---|---|---|")
    for name, row in found["margins"].items():
        own, second, error = row["own"], row["second"], row["error"]
        print(f"| {name} | {SOURCE_OF[name]} | {own:.2f} | {second:.2f} | {own - second:.2f} ± {1.96 * error:.2f} |")
    names = list(found["agreement"])
    print(f"\n| same decision, {found['positions']} positions | " + " | ".join(map(short, names)) + " |")
    print("|---" * (len(names) + 1) + "|")
    for name, values in found["agreement"].items():
        print(f"| {short(name)} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    pairs = combinations(range(len(names)), 2)
    print(f"\nlargest agreement of two bots: {max(found['agreement'][names[i]][j] for i, j in pairs):.2f}")
    for kind, gap in found["voyage_gap"].items():
        print(f"largest gap to the best {kind} in 100 positions of at most four novices: {gap:.6f}")


def random_cell(row: dict[str, Any]) -> str:
    """Share, interval and influence of a bot among random players."""
    low, high = row["interval"]
    return f"{row['share']:.3f} ({low:.3f}-{high:.3f}), {row['influence']:.0f} : {row['random_influence']:.0f}"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="games of each kind")
    parser.add_argument("--seed", type=int, default=1, help="all chance is drawn from this number")
    parser.add_argument("--json", type=Path, help="file for all figures")
    chosen = parser.parse_args()
    found = measure(chosen.games, chosen.seed)
    print_tables(found)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
