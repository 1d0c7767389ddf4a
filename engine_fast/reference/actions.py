"""The actions of the action phase (rules, section 4): for each, which decisions are legal and what they do.

A generator (plural noun) yields the legal decisions of the player to move, assuming that an action begins; the function
after it (verb) carries one out, changing the position it is given. Journey and Tide are in `voyages`.
"""

from __future__ import annotations

from collections.abc import Iterator

from .model import KINDS, LANDING, BookInHand, Position, Seat, Tile
from .notation import PAIR, Decision
from .sheet import Rules


def use(seat: Seat, kind: str, number: int) -> None:
    """Section 4: "uses" means that active novices on the isle become inactive on the same isle."""
    seat.active[kind] -= number
    seat.inactive[kind] += number


def virtual_or_not(seat: Seat) -> tuple[bool, ...]:
    """Section 4, Virtual novice: who owns the `novice` favor may return it in place of one used novice."""
    return (False, True) if "novice" in seat.favors else (False,)


def return_virtual(seat: Seat, decision: Decision) -> None:
    """Section 4, Virtual novice: the token goes back to its isle."""
    if decision.virtual:
        seat.favors.remove("novice")


def can_use(rules: Rules, seat: Seat, kind: str, number: int) -> bool:
    """Enough active novices on the isle; none at all only where the virtual novice may be alone [virtual_alone]."""
    return number <= seat.active[kind] and (number > 0 or rules.options.virtual_alone)


def favor_cost(seat: Seat, kind: str, virtual: bool) -> int:
    """Section 4, Priest's Favor: 2 novices, or 1 with an own shrine; 1 fewer with the virtual novice."""
    return (1 if kind in seat.shrines else 2) - virtual


def priests_favors(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Priest's Favor (isle i): the player does not own favor i."""
    seat = position.seats[position.mover]
    for kind in KINDS:
        for virtual in virtual_or_not(seat):
            if kind not in seat.favors and can_use(rules, seat, kind, favor_cost(seat, kind, virtual)):
                yield Decision("favor", kind=kind, virtual=virtual)


def gain_favor(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Priest's Favor: uses the novices, gains the token."""
    seat = position.seats[position.mover]
    use(seat, decision.kind, favor_cost(seat, decision.kind, decision.virtual))
    return_virtual(seat, decision)
    seat.favors.add(decision.kind)


def recruits(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Recruit (isle i): a novice in supply, 2 novices on i (1 with the virtual novice)."""
    seat = position.seats[position.mover]
    for kind in KINDS:
        for virtual in virtual_or_not(seat):
            if seat.supply > 0 and can_use(rules, seat, kind, 2 - virtual):
                yield Decision("recruit", kind=kind, virtual=virtual)


def recruit(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Recruit: a novice from supply is placed inactive on the isle."""
    seat = position.seats[position.mover]
    use(seat, decision.kind, 2 - decision.virtual)
    return_virtual(seat, decision)
    seat.supply -= 1
    seat.inactive[decision.kind] += 1


def builds(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Build Shrine: on the Master Builder's isle, no own shrine there, a shrine in supply, the favor."""
    seat = position.seats[position.mover]
    isle = position.builder
    if "shrine" not in seat.favors or isle in seat.shrines or len(seat.shrines) >= rules.sheet["shrines"]:
        return
    for virtual in virtual_or_not(seat):
        if can_use(rules, seat, isle, 2 - virtual):
            yield Decision("build", virtual=virtual)


def build(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Build Shrine: returns the `shrine` favor, places a shrine."""
    seat = position.seats[position.mover]
    seat.favors.remove("shrine")
    use(seat, position.builder, 2 - decision.virtual)
    return_virtual(seat, decision)
    seat.shrines.add(position.builder)


def herb_cures(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Herbs (isle i, n): i is not `herbs`; 1 or 2 inactive novices on i."""
    seat = position.seats[position.mover]
    if "herbs" not in seat.favors:
        return
    for kind in KINDS:
        for number in PAIR:
            if kind != "herbs" and number <= seat.inactive[kind]:
                yield Decision("herbs", kind=kind, number=number)


def cure(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Herbs: returns the favor; inactive novices become active."""
    seat = position.seats[position.mover]
    seat.favors.remove("herbs")
    seat.inactive[decision.kind] -= decision.number
    seat.active[decision.kind] += decision.number


def sailings(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Sailboat: 1 or 2 active novices of one isle, or of the landing stage, to another isle."""
    seat = position.seats[position.mover]
    if "sailboat" not in seat.favors:
        return
    for source in (*KINDS, LANDING):
        for number in PAIR:
            if number <= (seat.landing if source == LANDING else seat.active[source]):
                yield from (Decision("sail", source, kind, number) for kind in KINDS if kind != source)


def sail(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Sailboat: returns the favor; the novices arrive active."""
    seat = position.seats[position.mover]
    seat.favors.remove("sailboat")
    if decision.source == LANDING:
        seat.landing -= decision.number
    else:
        seat.active[decision.source] -= decision.number
    seat.active[decision.kind] += decision.number


def approved(rules: Rules, position: Position, tile: int) -> bool:
    """Section 4: approved in round r are the tiles of batches 0 to r - 1."""
    return rules.temple(position.boards).batch[tile] < position.round


def bribable(rules: Rules, position: Position, tile: int) -> bool:
    """Section 4: bribable in round r are the tiles of batch r."""
    return rules.temple(position.boards).batch[tile] == position.round


def open_to(rules: Rules, position: Position, seat: Seat, tile: int) -> bool:
    """Section 4, Promotion and Sanctification: approved, or bribable and the player has the `bribery` favor."""
    if approved(rules, position, tile):
        return True
    return bribable(rules, position, tile) and "bribery" in seat.favors


def bribe(rules: Rules, position: Position, seat: Seat, tile: int) -> None:
    """Section 4: for a tile that is only bribable the `bribery` favor is returned."""
    if not approved(rules, position, tile):
        seat.favors.remove("bribery")


def promotions(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Promotion (tile t): an unclaimed tile; one novice moves, one more is used unless a shrine is there."""
    seat = position.seats[position.mover]
    for tile, state in position.tiles.items():
        if state.at != "path" or not open_to(rules, position, seat, tile):
            continue
        isle = rules.temple(position.boards).symbol[tile]
        if seat.active[isle] >= (1 if isle in seat.shrines else 2):
            yield Decision("promote", tile=tile)
        if virtual_promotion_allowed(rules, seat, isle) and seat.active[isle] >= 1:
            yield Decision("promote", tile=tile, virtual=True)


def virtual_promotion_allowed(rules: Rules, seat: Seat, isle: str) -> bool:
    """Section 4, Promotion: the virtual novice replaces the second, only where one is needed [virtual_promotion]."""
    return rules.options.virtual_promotion and isle not in seat.shrines and True in virtual_or_not(seat)


def promote(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Promotion: the first novice moves onto the tile, the second (if any) is used."""
    seat = position.seats[position.mover]
    isle = rules.temple(position.boards).symbol[decision.tile]
    bribe(rules, position, seat, decision.tile)
    seat.active[isle] -= 1
    if isle not in seat.shrines and not decision.virtual:
        use(seat, isle, 1)
    return_virtual(seat, decision)
    position.tiles[decision.tile] = Tile("claimed", position.mover)


def sanctifications(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Sanctification (tile t): the player's novice stands on t on the path."""
    seat = position.seats[position.mover]
    for tile, state in position.tiles.items():
        if state.at == "claimed" and state.owner == position.mover and open_to(rules, position, seat, tile):
            yield Decision("sanctify", tile=tile)


def sanctify(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Sanctification: the Guard's value, then 1 influence for each novice displaced."""
    player = position.mover
    seat = position.seats[player]
    bribe(rules, position, seat, decision.tile)
    position.tiles[decision.tile] = Tile("temple", player)
    seat.influence += rules.sheet["guard_values"][position.round - 1]
    for space in rules.temple(position.boards).neighbours[decision.tile]:
        state = position.tiles[space]
        if state.at == "temple" and state.owner not in (None, player) and space < decision.tile and not state.book:
            displace(position, space)
            seat.influence += 1


def displace(position: Position, space: int) -> None:
    """Section 4, Sanctification: the novice goes to its owner's landing stage, the space stays empty for good."""
    owner = position.tiles[space].owner
    assert owner is not None
    position.seats[owner].landing += 1
    position.tiles[space] = Tile("temple", None)


def places_for_book(rules: Rules, position: Position, source: int) -> Iterator[int]:
    """Section 4, Book: under another of his novices in the Temple that has no Book; back only [book_same_space]."""
    for tile, state in position.tiles.items():
        if state.at != "temple" or state.owner != position.mover:
            continue
        if (not state.book and tile != source) or (tile == source and rules.options.book_same_space):
            yield tile


def books_to_take(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, `take-book T`: any Book in the Temple, if a legal `give-book` follows; needs the favor."""
    if "book" not in position.seats[position.mover].favors:
        return
    for tile, state in position.tiles.items():
        if state.book and any(places_for_book(rules, position, tile)):
            yield Decision("take-book", tile=tile)


def take_book(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, `take-book T`: removes the Book from space T; nothing else changes."""
    position.tiles[decision.tile] = position.tiles[decision.tile]._replace(book=False)
    position.pending = BookInHand(decision.tile)


def books_to_give(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, `give-book T`."""
    assert isinstance(position.pending, BookInHand)
    for tile in places_for_book(rules, position, position.pending.source):
        yield Decision("give-book", tile=tile)


def give_book(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, `give-book T`: favor returned, 1 influence; with two players 2 for the first use in the round."""
    seat = position.seats[position.mover]
    position.tiles[decision.tile] = position.tiles[decision.tile]._replace(book=True)
    position.pending = None
    seat.favors.remove("book")
    seat.influence += 2 if position.book_bonus else 1
    position.book_bonus = False


def council_seat(position: Position, player: int) -> int:
    """The seat of the Council on which the player's piece stands."""
    return next(index for index, stack in enumerate(position.council) if player in stack)


def council_steps(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Council (isle i, n): not more steps than seats remain [council_overshoot]; never on the last seat."""
    seat = position.seats[position.mover]
    remaining = rules.last_council_seat() - council_seat(position, position.mover)
    if remaining == 0:
        return
    for virtual in virtual_or_not(seat):
        for kind in KINDS:
            for number in range(1, seat.active[kind] + 1):
                if number + virtual <= remaining or rules.options.council_overshoot:
                    yield Decision("council", kind=kind, number=number, virtual=virtual)
    if True in virtual_or_not(seat) and rules.options.virtual_alone:
        yield Decision("council", virtual=True)


def move_up(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Council: on top of the pieces on the new seat, on the last seat under all that are there."""
    player = position.mover
    seat = position.seats[player]
    if decision.number > 0:
        use(seat, decision.kind, decision.number)
    return_virtual(seat, decision)
    last = rules.last_council_seat()
    here = council_seat(position, player)
    there = min(here + decision.number + decision.virtual, last)
    position.council[here].remove(player)
    position.council[there].insert(0 if there == last else len(position.council[there]), player)


def expulsions(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Expulsion (n): n active novices on the Apostate's isle."""
    seat = position.seats[position.mover]
    for virtual in virtual_or_not(seat):
        for number in range(0 if virtual else 1, seat.active[position.apostate] + 1):
            if can_use(rules, seat, position.apostate, number):
                yield Decision("expel", number=number, virtual=virtual)


def expel(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Expulsion: the Apostate moves clockwise by as many isles, the virtual novice included."""
    seat = position.seats[position.mover]
    use(seat, position.apostate, decision.number)
    return_virtual(seat, decision)
    position.apostate = clockwise(position, position.apostate, decision.number + decision.virtual)


def clockwise(position: Position, isle: str, steps: int) -> str:
    """The isle so many steps clockwise on the ring."""
    return position.ring[(position.ring.index(isle) + steps) % len(position.ring)]


def meditations(rules: Rules, position: Position) -> Iterator[Decision]:
    """Section 4, Meditation: always possible where an action begins."""
    yield Decision("meditate")


def meditate(rules: Rules, position: Position, decision: Decision) -> None:
    """Section 4, Meditation: turns a Time token; who turns the last one gains 1 influence."""
    position.time_tokens -= 1
    if position.time_tokens == 0:
        position.seats[position.mover].influence += 1
