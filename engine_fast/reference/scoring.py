"""The scoring phase, the preparation of the next round and the end of the game (rules, sections 5 and 6)."""

from __future__ import annotations

from .actions import clockwise, council_seat
from .model import KINDS, ROUNDS, Position
from .sheet import Rules


def council_precedence(position: Position) -> list[int]:
    """Section 5, Council precedence: all players, the higher seat first; on one seat the upper piece first."""
    return [player for stack in reversed(position.council) for player in reversed(stack)]


def end_action_phase(rules: Rules, position: Position, last_player: int) -> None:
    """Section 5: scoring, then the next round or the end; `last_player` counts as who turned the last token."""
    score_priestess(rules, position)
    score_apostate(rules, position)
    score_temple(position)
    if position.round == ROUNDS:
        end_game(rules, position)
    else:
        prepare_next_round(rules, position, last_player)


def score_priestess(rules: Rules, position: Position) -> None:
    """Section 5.1, Moon Priestess: active novices plus shrine on her isle; places 1, 2, 3 gain, ties by precedence."""
    isle = position.priestess
    count = [seat.active[isle] + (isle in seat.shrines) for seat in position.seats]
    placed = [player for player in council_precedence(position) if count[player] > 0]
    placed.sort(key=lambda player: -count[player])  # stable: ties stay in the order of precedence
    for player, points in zip(placed, rules.priestess(position.players)["points"], strict=False):
        position.seats[player].influence += points


def score_apostate(rules: Rules, position: Position) -> None:
    """Section 5.2, Apostate: who has n > 0 novices on his isle, active or not, loses n + 1 influence."""
    for seat in position.seats:
        count = seat.active[position.apostate] + seat.inactive[position.apostate]
        if count > 0:
            seat.influence = after_loss(seat.influence, count + 1, rules.options.influence_floor)


def after_loss(influence: int, loss: int, floor: int | None) -> int:
    """Section 4: influence never falls below the floor [influence_floor]; what is below already is not raised."""
    if floor is None:
        return influence - loss
    return max(influence - loss, min(influence, floor))


def score_temple(position: Position) -> None:
    """Section 5.3, Temple: 1 influence for each novice in the Temple."""
    for tile in position.tiles.values():
        if tile.at == "temple" and tile.owner is not None:
            position.seats[tile.owner].influence += 1


def prepare_next_round(rules: Rules, position: Position, last_player: int) -> None:
    """Section 5, "prepare the next round", steps 1 to 5."""
    wake_novices(position)
    position.priestess = clockwise(position, position.priestess, rules.priestess(position.players)["move"])
    position.builder = clockwise(position, position.builder, rules.sheet["master_builder"]["move"])
    position.apostate = next_isle_of_apostate(position)
    position.round += 1
    position.actions = 0
    position.time_tokens = rules.time_tokens(position.players)
    position.book_bonus = position.players == 2
    position.start_player = next_start_player(rules, position, last_player)
    position.to_move = position.start_player


def wake_novices(position: Position) -> None:
    """Section 5, next round, 1: all inactive novices become active."""
    for seat in position.seats:
        for kind in KINDS:
            seat.active[kind] += seat.inactive[kind]
            seat.inactive[kind] = 0


def next_isle_of_apostate(position: Position) -> str:
    """Section 5, next round, 3: the next isle clockwise with a novice of any player, at last his own."""
    for steps in range(1, len(position.ring) + 1):
        isle = clockwise(position, position.apostate, steps)
        if any(seat.active[isle] + seat.inactive[isle] > 0 for seat in position.seats):
            return isle
    return position.apostate


def next_start_player(rules: Rules, position: Position, last_player: int) -> int:
    """Section 5, next round, 5: the left neighbour of who turned the last token; other rules for two players."""
    if position.players == 2 and rules.options.name == "official":
        return 1 - position.start_player
    return (last_player + 1) % position.players


def end_game(rules: Rules, position: Position) -> None:
    """Section 6: each player gains for shrines, unused favor tokens and the seat in the Council."""
    gain = rules.sheet["end_influence"]
    for player, seat in enumerate(position.seats):
        seat.influence += gain["shrine"] * len(seat.shrines) + gain["favor"] * len(seat.favors)
        seat.influence += rules.sheet["council"][council_seat(position, player)]
    position.phase = "over"
    position.to_move = None


def ranks(position: Position) -> list[int]:
    """Section 6: by seat, 1 = winner; the most influence wins, ties by Council precedence."""
    order = sorted(council_precedence(position), key=lambda player: -position.seats[player].influence)
    return [order.index(player) + 1 for player in range(position.players)]
