"""Decisions in words, for people: `journey book 2` is "Journey: lifts 2 active novices from book"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VIRTUAL = "+v"
LANDING = "landing"


def describe(decision: str, symbols: Mapping[int, str]) -> str:
    """A decision (docs/RULES.md, section 7) in words.

    Args:
        decision: the notation; must be one of the 637.
        symbols: symbol of each tile in play.
    """
    verb, *rest = decision.split(" ")
    virtual = rest[-1:] == [VIRTUAL]
    plain = rest[:-1] if virtual else rest
    if verb in ("council", "expel"):
        text = _steps(verb, plain, virtual)
    elif verb in _TILE_WORDS:
        text = _TILE_WORDS[verb].format(tile=plain[0], symbol=symbols[int(plain[0])])
    else:
        text = _voyage(verb, *plain) if verb in _VOYAGE_WORDS else _WORDS[verb].format(*plain)
    return f"{text}, with the virtual novice" if virtual else text


_WORDS = {
    "place-shrine": "places a shrine on {0}",
    "place-novices": "places two novices on {0}",
    "favor": "Priest's Favor: gains the {0} favor",
    "recruit": "Recruit: a novice from the supply to {0}",
    "build": "Build Shrine: on the Master Builder's isle",
    "meditate": "Meditation: turns a Time token",
}
_TILE_WORDS = {
    "promote": "Promotion: a novice onto tile {tile} ({symbol})",
    "sanctify": "Sanctification: tile {tile} ({symbol}) and its novice move into the Temple",
    "take-book": "Book: takes the Book from Temple space {tile}",
    "give-book": "Book: places it on Temple space {tile}",
}
_VOYAGE_WORDS = {
    "herbs": "Herbs: {n} of {place} active again",
    "sail": "Sailboat: {n} from {place} to {to}",
    "journey": "Journey: lifts {n} of {place}",
    "tide": "Tide: lifts {n} of {place}",
    "land": "lands {n} on {place}",
}


def _voyage(verb: str, place: str, *rest: str) -> str:
    to, number = ("", rest[0]) if len(rest) == 1 else rest
    novices = "1 novice" if number == "1" else f"{number} novices"
    if place == LANDING:
        place = "the landing stage"
    elif place.endswith("~"):
        novices, place = novices.replace(" ", " inactive "), place[:-1]
    return _VOYAGE_WORDS[verb].format(n=novices, place=place, to=to)


def _steps(verb: str, plain: list[str], virtual: bool) -> str:
    novices = int(plain[-1]) if plain else 0
    steps = novices + virtual
    if verb == "expel":
        return f"Expulsion: the Apostate moves by {steps} {'isle' if steps == 1 else 'isles'}"
    by = f" by {novices} {'novice' if novices == 1 else 'novices'} of {plain[0]}" if plain else ""
    return f"Council: up {steps} {'seat' if steps == 1 else 'seats'}{by}"


def voyage_words(pending: Mapping[str, Any], kinds: tuple[str, ...]) -> str:
    """An unfinished action (`pending` of section 8) in words."""
    if pending["action"] == "book":
        return f"Book in hand, taken from Temple space {pending['from']}"
    lifted = [f"{number} {kind}" for kind, number in zip(kinds, pending["lifted"], strict=True) if number]
    lifted += [f"{pending['landing_lifted']} from the landing stage"] if pending["landing_lifted"] else []
    landed = [f"{number} {kind}" for kind, number in zip(kinds, pending["landed"], strict=True) if number]
    words = f"{pending['action'].capitalize()} under way: lifted {', '.join(lifted)}"
    return f"{words}; landed {', '.join(landed) or 'nobody yet'}; in hand {pending['hand']}"
