"""Whether a position is consistent with the rules (sections 2, 3 and 8, and the steps of section 4).

A record may start from any consistent position: in the middle of a game, of a Journey, with any influence, even when
the game is over. So the checks ask what the keys of a position say about each other, not whether a game leads there:
whose turn it is by the number of actions, how many tokens were turned in them, in which round a tile can have left the
path and how many pieces have left the supply follow from how a game goes and are left to whoever makes up a position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .actions import places_for_book
from .model import INACTIVE, KINDS, LANDING, ROUNDS, START_TILES, BookInHand, Position, Tile, Voyage
from .rules import PLACINGS
from .setup import first_council
from .shape import shape_problems
from .sheet import Rules
from .voyages import MOST_IN_A_STEP, landings


def setup_problems(rules: Rules, data: Any) -> list[str]:
    """Everything that is inconsistent in a canonical JSON; empty when a record may start from it."""
    problems = shape_problems(rules, data)
    if problems:
        return problems
    position = Position.from_json(data)
    problems = [
        *turn_problems(rules, position), *bonus_problems(position), *novice_problems(rules, position),
        *shrine_problems(rules, position), *start_tile_problems(position),
        *book_problems(position), *pending_problems(rules, position),
    ]  # fmt: skip
    if position.phase in ("shrines", "novices"):
        problems += preliminary_problems(rules, position)
    return problems


def turn_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 8: null when over, otherwise a seat; an action phase that has ended is none."""
    if position.phase == "over":
        yield from over_problems(rules, position)
        return
    if position.to_move is None:
        yield f"to_move is null, but the phase is {position.phase!r}"
    if position.phase == "action":
        yield from action_phase_problems(rules, position)


def action_phase_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 4: the phase ends at once with the last token, or when it has become too long."""
    if position.time_tokens == 0:
        yield "no Time token is left, so the action phase is over"
    if position.actions >= rules.most_actions(position.players):
        yield f"{position.actions} actions are taken, so the action phase is over"


def over_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 8: when over, all is as the last action of round 6 left it."""
    if position.to_move is not None:
        yield f"to_move is {position.to_move}, but the game is over"
    if position.round != ROUNDS:
        yield f"the game is over in round {position.round}, not {ROUNDS}"
    if position.time_tokens > 0 and position.actions < rules.most_actions(position.players):
        yield "the game is over, but Time tokens are left and actions could be taken"


def bonus_problems(position: Position) -> Iterator[str]:
    """Section 8: `book_bonus` is true only with two players, and then in the preliminary round."""
    if position.players > 2 and position.book_bonus:
        yield f"book_bonus is true with {position.players} players"
    if position.players == 2 and not position.book_bonus and position.phase in ("shrines", "novices"):
        yield "book_bonus is false in the preliminary round"


def novice_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 3: each player's novices; those in hand during a Journey or Tide count too."""
    for player, seat in enumerate(position.seats):
        on_tiles = sum(tile.owner == player for tile in position.tiles.values())
        in_hand = 0
        if isinstance(position.pending, Voyage) and player == position.to_move:
            in_hand = position.pending.hand
        number = sum(seat.active.values()) + sum(seat.inactive.values()) + seat.landing + seat.supply
        number += on_tiles + in_hand
        if number != rules.sheet["novices"]:
            yield f"player {player} has {number} novices, not {rules.sheet['novices']}"


def shrine_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 3: shrines on isles plus shrines in supply."""
    for player, seat in enumerate(position.seats):
        if len(seat.shrines) > rules.sheet["shrines"]:
            yield f"player {player} has {len(seat.shrines)} shrines on isles, but owns {rules.sheet['shrines']}"


def start_tile_problems(position: Position) -> Iterator[str]:
    """Section 2.2: each player's start tile is in the Temple; its novice may have been displaced."""
    owners = []
    for number in sorted(position.tiles.keys() & START_TILES):
        tile = position.tiles[number]
        if tile.at != "temple":
            yield f"tile {number} is a start tile, so it lies in the Temple, not at {tile.at!r}"
        elif tile.owner is not None:
            owners.append(tile.owner)
    if len(set(owners)) < len(owners):
        yield f"the start tiles belong to the players {owners}, but each has only one"


def book_problems(position: Position) -> Iterator[str]:
    """Section 2.2: N Books, each under a novice in the Temple, but for one that is being carried."""
    books = sum(tile.book for tile in position.tiles.values()) + isinstance(position.pending, BookInHand)
    if books != position.players:
        yield f"there are {books} Books, not {position.players}"
    for number, tile in position.tiles.items():
        if tile.book and tile.owner is None:
            yield f"a Book lies on Temple space {number}, where no novice is"


def preliminary_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 2: what is as at the beginning during the preliminary round, and how many pieces are placed."""
    if (position.round, position.actions) != (1, 0):
        yield f"the preliminary round has round 1 and 0 actions, not {position.round} and {position.actions}"
    if position.time_tokens != rules.time_tokens(position.players):
        yield "all Time tokens are there in the preliminary round"
    if position.council != first_council(rules, position.start_player, position.players):
        yield "in the preliminary round all pieces are stacked on seat 0, beginning with the start player"
    for number, tile in position.tiles.items():
        if number in START_TILES and not (tile.book and tile.owner is not None):
            yield f"in the preliminary round a novice and a Book are on start tile {number}"
        elif number not in START_TILES and tile != Tile("path"):
            yield f"in the preliminary round tile {number} lies on the path"
    yield from preliminary_seat_problems(position)
    yield from placing_problems(position)


def preliminary_seat_problems(position: Position) -> Iterator[str]:
    """Section 2: no favors yet, novices only in twos, active, and not beside an own shrine."""
    for player, seat in enumerate(position.seats):
        if seat.favors or seat.landing or any(seat.inactive.values()):
            yield f"player {player} has favors, inactive novices or novices on the landing stage too early"
        for kind in KINDS:
            if seat.active[kind] not in (0, 2) or (seat.active[kind] and kind in seat.shrines):
                yield f"player {player} cannot have placed {seat.active[kind]} novices on {kind}"
    shrines = [kind for seat in position.seats for kind in seat.shrines]
    if len(set(shrines)) < len(shrines):
        yield f"in the preliminary round the shrines {shrines} are not on different isles"
    if position.players == 2 and "herbs" in shrines:
        yield "with two players no shrine is placed on herbs in the preliminary round"


def placing_problems(position: Position) -> Iterator[str]:
    """Section 2: clockwise from the start player each places one shrine, then four times two novices."""
    order = [(position.start_player + turn) % position.players for turn in range(position.players)]
    shrines = [len(position.seats[player].shrines) for player in order]
    pairs = [sum(position.seats[player].active.values()) // 2 for player in order]
    placed = shrines if position.phase == "shrines" else pairs
    if position.phase == "shrines" and any(pairs):
        yield "novices are placed before all shrines are"
    if position.phase == "novices" and shrines != [1] * position.players:
        yield f"the numbers of shrines in turn order are {shrines}, but each has placed one"
    turns = sum(placed)
    if placed != [turns // position.players + (turn < turns % position.players) for turn in range(position.players)]:
        yield f"in turn order the players have placed {placed}, which is not clockwise from the start player"
    if turns >= position.players * (1 if position.phase == "shrines" else PLACINGS):
        yield f"everything is placed, so the phase {position.phase!r} is over"
    elif position.to_move is not None and position.to_move != order[turns % position.players]:
        yield f"to_move is {position.to_move}, but player {order[turns % position.players]} has to place next"


def pending_problems(rules: Rules, position: Position) -> Iterator[str]:
    """Section 8: an action can be half done only in the action phase."""
    if position.pending is None:
        return
    if position.phase != "action" or position.to_move is None:
        yield f"an action is pending in phase {position.phase!r}"
    elif isinstance(position.pending, BookInHand):
        yield from carried_book_problems(rules, position, position.pending)
    else:
        yield from voyage_problems(rules, position, position.pending)


def carried_book_problems(rules: Rules, position: Position, pending: BookInHand) -> Iterator[str]:
    """Section 4, Book: taken from under a novice, to be given with the favor to another of one's own."""
    source = position.tiles.get(pending.source)
    if source is None or source.at != "temple" or source.owner is None or source.book:
        yield f"no Book can have been taken from tile {pending.source}"
    if "book" not in position.seats[position.mover].favors:
        yield "a Book is being carried, but the player has no `book` favor to return"
    if not any(places_for_book(rules, position, pending.source)):
        yield "a Book is being carried, but the player has no novice to give it to"


def voyage_problems(rules: Rules, position: Position, voyage: Voyage) -> Iterator[str]:
    """Section 4, Journey and Tide: what was lifted, landed and is in hand, and which step was the last."""
    if voyage.action == "journey" and voyage.landing_lifted:
        yield "a Journey lifts nobody from the landing stage"
    if voyage.action == "tide" and "tide" in position.seats[position.mover].favors:
        yield "a Tide has begun, but its favor token is not returned"
    if voyage.hand + sum(voyage.landed.values()) != voyage.total:
        yield f"{voyage.total} novices were lifted, but those in hand and landed are not as many"
    elif voyage.stage == "lift":
        yield from lift_problems(voyage)
    else:
        yield from landing_problems(rules, position, voyage)


def last_step(number: int) -> int:
    """The last of the steps 4, 4, ... that move so many novices from or to one place."""
    return (number - 1) % MOST_IN_A_STEP + 1


def lift_problems(voyage: Voyage) -> Iterator[str]:
    """Section 4: the sources ascend, so the last one is the highest from which novices were lifted."""
    if any(voyage.landed.values()):
        yield "novices have landed in stage 'lift'"
    if (voyage.last, voyage.last_n) not in possible_last_lifts(voyage):
        yield f"{voyage.last_n} from {voyage.last!r} cannot be the last lift"


def possible_last_lifts(voyage: Voyage) -> set[tuple[str, int]]:
    """All (source, number) that can have been the last lift; a Tide may have lifted inactive novices last."""
    if voyage.landing_lifted:
        return {(LANDING, last_step(voyage.landing_lifted))}
    lifted = [kind for kind in KINDS if voyage.lifted[kind]]
    possible = {(lifted[-1], last_step(voyage.lifted[lifted[-1]]))}
    if voyage.action == "tide":
        for kind in lifted:
            possible |= {(kind + INACTIVE, last_step(number)) for number in range(1, voyage.lifted[kind] + 1)}
    return possible


def landing_problems(rules: Rules, position: Position, voyage: Voyage) -> Iterator[str]:
    """Section 4: landed novices are inactive on their isles, within the limits, and the rest can still land."""
    landed = [kind for kind in KINDS if voyage.landed[kind]]
    if not landed:
        yield "nobody has landed in stage 'land'"
        return
    if (voyage.last, voyage.last_n) != (landed[-1], last_step(voyage.landed[landed[-1]])):
        yield f"{voyage.last_n} on {voyage.last!r} cannot be the last landing"
    for kind in landed:
        if position.seats[position.mover].inactive[kind] < voyage.landed[kind]:
            yield f"{voyage.landed[kind]} have landed on {kind}, but fewer inactive novices are there"
        limit = voyage.total - voyage.lifted[kind]
        if voyage.landed[kind] > limit and not rules.options.same_isle_moves:
            yield f"{voyage.landed[kind]} have landed on {kind}, but at most {limit} can"
    if not any(landings(rules, position)):
        yield "the novices in hand cannot land any more"
