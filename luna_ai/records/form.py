"""Whether JSON values have the form that a game record asks for: keys and types, not what they mean.

A form is `int`, `str`, `bool` or `dict` (exactly that type: true is no number, 1.0 is none), `[form]` for a list,
`{key: form}` for a map with exactly these keys, or a tuple of allowed forms in which `None` stands for null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

MAX_QUOTED = 80

_WORDS: dict[Any, str] = {int: "a whole number", str: "a text", bool: "true or false", dict: "a map", None: "null"}

_COUNTS = [int]
_KIND = str
_SEAT = {
    "influence": int,
    "active": _COUNTS,
    "inactive": _COUNTS,
    "landing": int,
    "supply": int,
    "shrines": [_KIND],
    "favors": [_KIND],
}
_BOOK = {"action": str, "from": int}
_VOYAGE = {
    "action": str,
    "stage": str,
    "lifted": _COUNTS,
    "landing_lifted": int,
    "hand": int,
    "landed": _COUNTS,
    "last": int,
    "last_n": int,
}
POSITION: dict[str, Any] = {
    "players": int,
    "round": int,
    "phase": str,
    "start_player": int,
    "to_move": (int, None),
    "time_tokens": int,
    "actions": int,
    "ring": [_KIND],
    "priestess": _KIND,
    "builder": _KIND,
    "apostate": _KIND,
    "boards": [int],
    "book_bonus": bool,
    "council": [[int]],
    "seats": [_SEAT],
    "tiles": dict,
    "pending": (dict, None),
}
"""The form of a canonical position (section 8); `tiles` and `pending` are looked at by `position_problem`."""


def position_problem(what: str, data: Any) -> str:
    """The first thing that is wrong with the form of a canonical position; empty if nothing is."""
    return next(_position_problems(what, data), "")


def _position_problems(what: str, data: Any) -> Iterator[str]:
    if problem := form_problem(what, data, POSITION):
        yield problem
        return
    for number, tile in data["tiles"].items():
        yield from _tile_problems(f"{what}.tiles[{quoted(number)}]", number, tile)
    if data["pending"] is not None:
        book = data["pending"].get("action") == "book"
        yield from filter(None, [form_problem(f"{what}.pending", data["pending"], _BOOK if book else _VOYAGE)])


def _tile_problems(what: str, number: str, tile: Any) -> Iterator[str]:
    if not (number.isascii() and number.isdecimal()):
        yield f"{what}: the key is not a tile number"
    forms = {"at": str, "owner": (int, None), "book": bool}
    problem = key_problem(what, tile, ["at"], optional=["owner", "book"])
    if not problem:
        problems = (form_problem(f"{what}.{key}", value, forms[key]) for key, value in tile.items())
        problem = next(filter(None, problems), "")
    if problem:
        yield problem


def form_problem(what: str, value: Any, form: Any) -> str:
    """The first place where a value does not have a form, in words; empty if it has.

    Args:
        what: name of the value, to begin the sentence with.
        value: any JSON value.
        form: as in the module's docstring.
    """
    if isinstance(form, tuple):
        return "" if any(not form_problem(what, value, each) for each in form) else _not(what, value, form)
    if isinstance(form, list):
        if not isinstance(value, list):
            return f"{what}: {quoted(value)} is not a list"
        return next(filter(None, (form_problem(f"{what}[{i}]", item, form[0]) for i, item in enumerate(value))), "")
    if isinstance(form, dict):
        parts = (form_problem(f"{what}.{key}", value[key], form[key]) for key in form)
        return key_problem(what, value, form) or next(filter(None, parts), "")
    fits = value is None if form is None else type(value) is form
    return "" if fits else _not(what, value, (form,))


def _not(what: str, value: Any, forms: Collection[Any]) -> str:
    return f"{what}: {quoted(value)} is not {' or '.join(_WORDS[form] for form in forms)}"


def key_problem(what: str, value: Any, keys: Collection[str], optional: Collection[str] = ()) -> str:
    """What is wrong with the keys of a map, in words; empty if nothing is."""
    if not isinstance(value, dict):
        return f"{what}: {quoted(value)} is not a map"
    allowed = [*keys, *optional]
    missing = [key for key in keys if key not in value]
    unknown = [key for key in value if key not in allowed]
    if not missing and not unknown:
        return ""
    problem = f"unknown key {quoted(unknown[0])}" if unknown else f"the key {missing[0]!r} is missing"
    return f"{what}: {problem}; allowed: {', '.join(allowed)}"


def quoted(value: Any) -> str:
    """A value as an error quotes it: one printable line, not too long."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 4]} ..."
