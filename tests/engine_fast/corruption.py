"""Random changes of canonical positions: most of them contradict the rules, some do not."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.engine_fast.arranged import KINDS, Json

WORDS = (*KINDS, "path", "temple", "claimed", "lift", "land", "action", "over", "shrines", "novices")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value below `value` stands."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from paths(child, (*path, key))


def at(position: Json, path: tuple[Any, ...]) -> Any:
    value: Any = position
    for key in path:
        value = value[key]
    return value


def vandalised(rng: random.Random, position: Json) -> Json:
    """One value, anywhere, replaced, added or removed without any sense."""
    changed = copy.deepcopy(position)
    *way, key = rng.choice(list(paths(changed)))
    holder = at(changed, tuple(way))
    action = rng.random()
    if action < 0.1:
        del holder[key]
    elif action < 0.15 and isinstance(holder, dict):
        holder["more"] = holder[key]
    else:
        holder[key] = another(rng, holder[key])
    return changed


def another(rng: random.Random, value: Any) -> Any:
    """Something else than `value`, often of the same type."""
    if isinstance(value, bool) or value is None:
        return rng.choice([True, False, None, 0, 1, {}, [], {"action": "book", "from": rng.randint(1, 28)}])
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value + 4, value - 4, 0, 1, 14, None, True, str(value), float(value)])
    if isinstance(value, str):
        return rng.choice([*WORDS, None, 3])
    if isinstance(value, dict):
        return rng.choice([{}, None, []])
    shuffled = rng.sample(value, len(value))
    return rng.choice([shuffled, [*value, rng.choice([0, 1, *KINDS])], value[:-1], None, {}])


# --- changes that keep the sums --------------------------------------------------------------------------------------


def move_novice(rng: random.Random, position: Json) -> None:
    """A novice of some seat somewhere else."""
    seat = rng.choice(position["seats"])
    _add(rng, seat, -1)
    _add(rng, seat, 1)


def _add(rng: random.Random, seat: Json, number: int) -> None:
    place = rng.choice(("active", "inactive", "landing", "supply"))
    if place in ("active", "inactive"):
        seat[place][rng.randrange(7)] += number
    else:
        seat[place] += number


def move_tile(rng: random.Random, position: Json) -> None:
    """A tile somewhere else, its novice back to its owner, another one on it."""
    tile, seats = rng.choice(list(position["tiles"].values())), position["seats"]
    if tile.get("owner") is not None:
        _add(rng, seats[tile["owner"]], 1)
    tile.clear()
    tile["at"] = rng.choice(("path", "claimed", "temple"))
    if tile["at"] != "path":
        tile["owner"] = rng.choice([*range(len(seats)), *([None] if tile["at"] == "temple" else [])])
        if tile["owner"] is not None:
            _add(rng, seats[tile["owner"]], -1)


def move_book(rng: random.Random, position: Json) -> None:
    tiles = list(position["tiles"].values())
    del rng.choice([tile for tile in tiles if "book" in tile])["book"]
    rng.choice([tile for tile in tiles if "book" not in tile and tile["at"] == "temple"])["book"] = True


def swap_start_tiles(rng: random.Random, position: Json) -> None:
    """Two start tiles change owners, or both belong to one player."""
    one, other = rng.sample([tile for number, tile in position["tiles"].items() if int(number) <= 4], 2)
    one["owner"], other["owner"] = other.get("owner"), one.get("owner")
    if rng.random() < 0.3:
        one["owner"] = other["owner"]


def change_steps(rng: random.Random, position: Json) -> None:
    """What was lifted or landed, or the last step, of an unfinished Journey or Tide."""
    pending, mover = position["pending"], position["seats"][position["to_move"]]
    kind, number = rng.randrange(7), rng.choice((1, -1, 2, 4, -4))
    change = rng.randrange(7)
    if change == 0:
        pending["lifted"][kind] += number
        pending["hand"] += number
        _add(rng, mover, -number)
    elif change == 1:
        pending["landing_lifted"] += number
        pending["hand"] += number
        _add(rng, mover, -number)
    elif change == 2:
        pending["landed"][kind] += number
        pending["hand"] -= number
        mover["inactive"][kind] += number
    elif change == 3:
        pending["stage"], pending["action"] = rng.choice(("lift", "land")), rng.choice(("journey", "tide"))
    else:
        pending["last"] = rng.choice((pending["last"], rng.randrange(15)))
        pending["last_n"] = rng.choice((pending["last_n"], rng.randint(1, 4)))


def lift_a_book(rng: random.Random, position: Json) -> None:
    number = rng.choice(list(position["tiles"]))
    position["tiles"][number].pop("book", None)
    position["pending"] = {"action": "book", "from": int(number)}


def move_council_piece(rng: random.Random, position: Json) -> None:
    piece = rng.randrange(position["players"])
    for stack in position["council"]:
        if piece in stack:
            stack.remove(piece)
    stack = rng.choice(position["council"])
    stack.insert(rng.randint(0, len(stack)), piece)


def change_clock(rng: random.Random, position: Json) -> None:
    key = rng.choice(("round", "time_tokens", "actions", "start_player", "to_move", "phase", "book_bonus"))
    if key == "phase":
        position[key] = rng.choice(("shrines", "novices", "action", "over"))
    elif key == "book_bonus":
        position[key] = not position[key]
    else:
        position[key] = rng.choice([*range(8), 120, 180, 240, None])


def change_tokens(rng: random.Random, position: Json) -> None:
    chosen = rng.sample(KINDS, rng.randint(0, 7))
    rng.choice(position["seats"])[rng.choice(("shrines", "favors"))] = sorted(chosen, key=KINDS.index)


CHANGES: tuple[Callable[[random.Random, Json], None], ...] = (
    move_novice,
    move_tile,
    move_book,
    swap_start_tiles,
    change_steps,
    change_steps,
    change_steps,
    lift_a_book,
    move_council_piece,
    change_clock,
    change_tokens,
)


def rearranged(rng: random.Random, position: Json) -> Json:
    """Up to four changes that keep sums where they can, so that what is wrong is wrong in a subtle way."""
    changed = copy.deepcopy(position)
    for _ in range(rng.randint(1, 4)):
        before = copy.deepcopy(changed)
        try:
            rng.choice(CHANGES)(rng, changed)
        except (TypeError, KeyError, IndexError):  # nothing there to change, for example no unfinished action
            changed = before
    return changed
