"""What was seen in a game: rare events by name, read off the canonical JSON before and after a decision.

The differential test fails when one of `EXPECTED` did not occur: a comparison that never meets a rule proves nothing
about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine_fast.actions import ACTIONS, BLOCKS, ID_OF_NOTATION
from tests.engine_fast.arranged import KINDS, Json
from tests.engine_fast.ledgers import SOURCES, precedence

if TYPE_CHECKING:
    from tests.engine_fast.schedule import GameSpec

Neighbours = Mapping[int, frozenset[int]]


def events(
    spec: GameSpec, before: Json, decision: str, after: Json, gained: NDArray[np.int16], neighbours: Neighbours
) -> Iterator[str]:
    """Names of all that happened with a decision; `gained` is the change of the ledger."""
    yield f"block {ACTIONS[ID_OF_NOTATION[decision]].block.name}"
    yield f"phase {after['phase']}"
    if after["pending"]:
        yield f"pending {after['pending']['action']} {after['pending'].get('stage', 'give')}"
    yield from _crowds(before)
    verb = decision.split(" ")[0]
    if verb in _BY_VERB:
        yield from _BY_VERB[verb](spec, before, decision, after, neighbours)
    if before["phase"] == "action":
        yield from _end_of_phase(spec, before, decision, after, gained)
    if after["phase"] == "over":
        yield from _end_of_game(after)


def _mover(before: Json, after: Json) -> tuple[Json, Json]:
    """The entry of the player who decided, before and after."""
    return before["seats"][before["to_move"]], after["seats"][before["to_move"]]


def _returned(before: Json, after: Json, kind: str) -> bool:
    mine, then = _mover(before, after)
    return kind in mine["favors"] and kind not in then["favors"]


def _crowds(before: Json) -> Iterator[str]:
    """States worth having been in, whatever is decided."""
    if before["phase"] != "action" or before["pending"]:
        return
    mine = before["seats"][before["to_move"]]
    if max(mine["active"]) > 4:
        yield "an action with five or more active novices on an isle"
    if max(mine["active"]) > 8:
        yield "an action with nine or more active novices on an isle"
    if mine["supply"] == 0 and max(mine["active"]) >= 2:
        yield "an action with an empty supply"
    if before["round"] == 6 and "bribery" in mine["favors"]:
        yield "nothing to bribe in round 6"
    if len({before["priestess"], before["builder"], before["apostate"]}) == 1:
        yield "three figures on one isle"
    if mine["influence"] < 0:
        yield "negative influence"


# --- by kind of decision -------------------------------------------------------------------------------------------


def _favor(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    mine, kind = _mover(before, after)[0], decision.split(" ")[1]
    if kind in mine["shrines"]:
        yield "Priest's Favor by the virtual novice alone" if "+v" in decision else "Priest's Favor beside a shrine"


def _recruit(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    if _mover(before, after)[1]["supply"] == 0:
        yield "the supply is emptied"


def _build(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    if len(_mover(before, after)[1]["shrines"]) == spec.sheet_numbers["shrines"]:
        yield "the last shrine is built"


def _promote(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    if _returned(before, after, "bribery"):
        yield "bribed Promotion with the virtual novice" if "+v" in decision else "bribed Promotion"
    if not _returned(before, after, "bribery") and "bribery" in _mover(before, after)[0]["favors"]:
        yield "approved Promotion keeps the bribery favor"
    used = sum(_mover(before, after)[0]["active"]) - sum(_mover(before, after)[1]["active"])
    if used == 1 and "+v" not in decision and after["round"] == before["round"]:
        yield "Promotion beside an own shrine"


def _sanctify(spec: GameSpec, before: Json, decision: str, after: Json, neighbours: Neighbours) -> Iterator[str]:
    tile, me = int(decision.split(" ")[1]), before["to_move"]
    if _returned(before, after, "bribery"):
        yield "bribed Sanctification"
    near = [before["tiles"][str(t)] for t in neighbours[tile] if t < tile]
    there = [t for t in near if t["at"] == "temple" and t["owner"] not in (None, me)]
    hit = [t["owner"] for t in there if "book" not in t]
    if hit:
        yield "a novice is displaced"
    if len(hit) > 1:
        yield "two novices are displaced at once"
    if len(set(hit)) > 1:
        yield "novices of two players are displaced at once"
    if len(hit) < len(there):
        yield "a Book protects from displacement"
    if any(t["at"] == "temple" and t["owner"] == me and "book" not in t for t in near):
        yield "an own novice is not displaced"
    if any(t["at"] == "temple" and t["owner"] is None for t in near):
        yield "a space that lost its novice stays empty"
    higher = [before["tiles"][str(t)] for t in neighbours[tile] if t > tile]
    if any(t["at"] == "temple" and t["owner"] not in (None, me) and "book" not in t for t in higher):
        yield "a higher neighbour is not displaced"


def _give_book(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    source, target = str(before["pending"]["from"]), decision.split(" ")[1]
    owner = before["tiles"][source]["owner"]
    if source == target:
        yield "a Book is put back"
        others = [t for t in before["tiles"].values() if t["at"] == "temple" and t["owner"] == owner]
        if sum("book" not in t for t in others) == 1:
            yield "a Book that can only be put back"
    elif owner != before["to_move"]:
        yield "a Book is taken from another player"
    else:
        yield "an own Book is moved"
    if spec.players == 2:
        yield "the first Book of a round counts double" if before["book_bonus"] else "a later Book counts once"


def _council(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    me, last = before["to_move"], len(before["council"]) - 1
    here, there = (next(i for i, s in enumerate(p["council"]) if me in s) for p in (before, after))
    number = 0 if decision == "council +v" else int(decision.split(" ")[2])
    if number + ("+v" in decision) > last - here:
        yield "surplus Council steps are lost"
    if number == 0:
        yield "Council by the virtual novice alone"
    if there == last:
        yield "the last Council seat is reached"
        if before["council"][there]:
            yield "a piece slides under those on the last Council seat"
    elif before["council"][there]:
        yield "a piece climbs on top of others"
    if any(before["council"][here + 1 : there]):
        yield "a piece passes another one"


def _expel(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    number = 0 if decision == "expel +v" else int(decision.split(" ")[1])
    if number + ("+v" in decision) >= 7:
        yield "Expulsion by a full circle or more"
    if number == 0:
        yield "Expulsion by the virtual novice alone"


def _lift(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    verb, source, number = decision.split(" ")
    names = [*KINDS, *(kind + "~" for kind in KINDS), "landing"]
    if before["pending"] and names[before["pending"]["last"]] == source:
        yield f"{verb} lifts again from one place after four"
        if number == "4":
            yield "four and four are lifted from one place"
    if verb == "tide" and not before["pending"] and source == "landing":
        yield "a Tide from the landing stage alone begins"


def _land(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    pending, name, number = before["pending"], *decision.split(" ")[1:]
    kind, total = KINDS.index(name), sum(pending["lifted"]) + pending["landing_lifted"]
    if pending["stage"] == "land" and pending["last"] == kind:
        yield f"{pending['action']} lands again on one isle after four"
    if pending["landed"][kind] + int(number) > total - pending["lifted"][kind]:
        yield f"{pending['action']} back to the isle that was left"
    if pending["action"] == "tide" and after["pending"] is None:
        sources = sum(map(bool, pending["lifted"])) + bool(pending["landing_lifted"])
        if pending["landing_lifted"] and total >= 6 and sources >= 4:
            yield "a long Tide with novices of the landing stage"
        if not any(pending["lifted"]):
            yield "a Tide of the landing stage alone"
    if after["pending"] is None and total >= 9:
        yield "nine or more novices in one hand"


def _sail(spec: GameSpec, before: Json, decision: str, after: Json, _: Neighbours) -> Iterator[str]:
    if decision.startswith("sail landing") and decision.endswith("2"):
        yield "two novices sail from the landing stage"


_BY_VERB: dict[str, Callable[[GameSpec, Json, str, Json, Neighbours], Iterator[str]]] = {
    "favor": _favor,
    "recruit": _recruit,
    "build": _build,
    "promote": _promote,
    "sanctify": _sanctify,
    "give-book": _give_book,
    "council": _council,
    "expel": _expel,
    "journey": _lift,
    "tide": _lift,
    "land": _land,
    "sail": _sail,
}


# --- the end of a phase and of the game ----------------------------------------------------------------------------


def _end_of_phase(spec: GameSpec, before: Json, decision: str, after: Json, gained: NDArray[np.int16]) -> Iterator[str]:
    over = after["phase"] == "over"
    if not over and after["round"] == before["round"]:
        return
    capped = before["actions"] + 1 == spec.cap * spec.players
    last_token = decision == "meditate" and before["time_tokens"] == 1
    if capped and last_token:
        yield "the cap coincides with the last Meditation"
    elif capped:
        yield "the cap is reached by a Meditation" if decision == "meditate" else "the cap is reached"
    if last_token:
        yield from _scoring(spec, before, gained)
        if not over:
            yield from _apostate_moves(before, after)
    if not over:
        yield from _next_start(spec, before, after)


def _scoring(spec: GameSpec, before: Json, gained: NDArray[np.int16]) -> Iterator[str]:
    """`before` is how the phase ended, since a Meditation moves nothing."""
    isle = KINDS.index(before["priestess"])
    counts = [s["active"][isle] + (before["priestess"] in s["shrines"]) for s in before["seats"]]
    present = [count for count in counts if count]
    if not present:
        yield "nobody on the Moon Priestess's isle"
    if len(set(present)) < len(present):
        yield "a tie on the Moon Priestess's isle"
    if len(present) == 4:
        yield "the fourth on the Moon Priestess's isle gains nothing"
    crowd, floor = KINDS.index(before["apostate"]), spec.ruleset["influence_floor"]
    for seat, entry in enumerate(before["seats"]):
        here = entry["active"][crowd] + entry["inactive"][crowd]
        lost = -int(gained[seat, SOURCES.index("apostate")])
        if here and not entry["active"][crowd]:
            yield "the Apostate counts inactive novices"
        if here and lost < here + 1:
            yield f"the floor {floor} holds" if lost else f"below the floor {floor} nothing is lost"
        if here and floor is None and entry["influence"] - lost < 0:
            yield "influence below 0 without a floor"


def _apostate_moves(before: Json, after: Json) -> Iterator[str]:
    settled = {k for s in after["seats"] for k, kind in enumerate(KINDS) if s["active"][k]}
    ring, here = before["ring"], before["ring"].index(before["apostate"])
    moved = (ring.index(after["apostate"]) - here) % 7
    if not settled:
        yield "no novice on any isle, the Apostate stays"
    elif settled == {KINDS.index(before["apostate"])}:
        yield "novices on the Apostate's isle alone, he stays"
    elif moved > 1:
        yield "the Apostate passes an empty isle"


def _next_start(spec: GameSpec, before: Json, after: Json) -> Iterator[str]:
    if spec.players != 2:
        return
    name, last = spec.ruleset["name"], before["to_move"]
    if name == "official" and after["start_player"] == last:
        yield "official: one of two players acts twice in a row"
    if name == "online" and after["start_player"] == before["start_player"]:
        yield "online: the start player of two stays"


def _end_of_game(after: Json) -> Iterator[str]:
    influence = [seat["influence"] for seat in after["seats"]]
    top = [seat for seat in precedence(after) if influence[seat] == max(influence)]
    if len(set(influence)) < len(influence):
        yield "a tie in the final influence"
    if len(top) > 1:
        yield "a tie for the win"
    if len(top) > 1 and top[0] != min(top):
        yield "the Council, not the seat, decides a tie for the win"


EXPECTED: tuple[str, ...] = (
    *(f"block {block.name}" for block in BLOCKS),
    *(f"phase {phase}" for phase in ("shrines", "novices", "action", "over")),
    *(f"pending {step}" for step in ("book give", "journey lift", "journey land", "tide lift", "tide land")),
    "an action with five or more active novices on an isle",
    "an action with nine or more active novices on an isle",
    "an action with an empty supply",
    "nothing to bribe in round 6",
    "three figures on one isle",
    "negative influence",
    "Priest's Favor beside a shrine",
    "Priest's Favor by the virtual novice alone",
    "the supply is emptied",
    "the last shrine is built",
    "bribed Promotion",
    "bribed Promotion with the virtual novice",
    "approved Promotion keeps the bribery favor",
    "Promotion beside an own shrine",
    "bribed Sanctification",
    "a novice is displaced",
    "two novices are displaced at once",
    "novices of two players are displaced at once",
    "a Book protects from displacement",
    "an own novice is not displaced",
    "a space that lost its novice stays empty",
    "a higher neighbour is not displaced",
    "a Book is put back",
    "a Book that can only be put back",
    "a Book is taken from another player",
    "an own Book is moved",
    "the first Book of a round counts double",
    "a later Book counts once",
    "surplus Council steps are lost",
    "Council by the virtual novice alone",
    "the last Council seat is reached",
    "a piece slides under those on the last Council seat",
    "a piece climbs on top of others",
    "a piece passes another one",
    "Expulsion by a full circle or more",
    "Expulsion by the virtual novice alone",
    "journey lifts again from one place after four",
    "tide lifts again from one place after four",
    "four and four are lifted from one place",
    "a Tide from the landing stage alone begins",
    "a Tide of the landing stage alone",
    "a long Tide with novices of the landing stage",
    "journey lands again on one isle after four",
    "tide lands again on one isle after four",
    "journey back to the isle that was left",
    "tide back to the isle that was left",
    "nine or more novices in one hand",
    "two novices sail from the landing stage",
    "the cap is reached",
    "the cap is reached by a Meditation",
    "the cap coincides with the last Meditation",
    "nobody on the Moon Priestess's isle",
    "a tie on the Moon Priestess's isle",
    "the fourth on the Moon Priestess's isle gains nothing",
    "the Apostate counts inactive novices",
    "the floor 0 holds",
    "the floor 5 holds",
    "below the floor 0 nothing is lost",
    "below the floor 5 nothing is lost",
    "influence below 0 without a floor",
    "no novice on any isle, the Apostate stays",
    "novices on the Apostate's isle alone, he stays",
    "the Apostate passes an empty isle",
    "official: one of two players acts twice in a row",
    "online: the start player of two stays",
    "a tie in the final influence",
    "a tie for the win",
    "the Council, not the seat, decides a tie for the win",
)
"""Every event that the games of one chunk must show."""


def missing(seen: Mapping[str, Any]) -> list[str]:
    """The expected events that did not occur."""
    return [event for event in EXPECTED if not seen.get(event)]
