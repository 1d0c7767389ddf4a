"""Every decision is played at least once in both programs, also those that hardly any random game reaches.

Of the 637 decisions by form, 29 can never be legal; for each of the other 608 a position is made in which it is.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from engine_fast import NOTATIONS, Position, RuleSet
from engine_fast.reference import Reference
from tests.engine_fast.policies import number_of
from tests.engine_fast.schedule import sheet_of
from tests.reference.games import OFFICIAL
from tests.rules.builder import BOARDS, KINDS, Json, position, seat

OPTIONS = {"council_overshoot": True}
START_TILES = (1, 2, 3, 4)
OTHER_ISLE = {kind: KINDS[(index + 1) % 7] for index, kind in enumerate(KINDS)}
SYMBOLS = {space["tile"]: space["symbol"] for board in sheet_of("reconstructed")["temple"]["boards"] for space in board}

NEVER = {
    "favor novice +v",  # never to gain the novice favor token
    *(f"herbs herbs {n}" for n in (1, 2)),  # not on the herbs isle
    *(f"sail {kind} {kind} {n}" for kind in KINDS for n in (1, 2)),  # always to another isle
    *(f"{verb} {tile}" for verb in ("promote", "sanctify") for tile in START_TILES),  # in the Temple from the set-up on
    *(f"promote {tile} +v" for tile in START_TILES),
}


@cache
def twin() -> Reference:
    return Reference(sheet_of("reconstructed"), OFFICIAL | OPTIONS)


def stage_for(decision: str) -> Json:
    """A position, seat 0 to move, in which the decision is legal."""
    words = decision.removesuffix(" +v").split(" ")
    return STAGES[words[0]](words, "+v" in decision)


def favors_but(kind: str = "") -> list[str]:
    return [other for other in KINDS if other != kind]


def crowd(active: dict[str, int], inactive: dict[str, int] | None = None, landing: int = 0) -> Json:
    """Seat 0 with up to 13 novices on isles: nobody of his in the Temple, a Book of seat 1 on tile 17 instead of 1."""
    mine = seat(active, inactive, favors=KINDS, landing=landing)
    other = seat({"book": 2}, favors=())
    return position(2, round=6, seats=[mine, other], temple={1: None, 17: 1}, books=[2, 17], apostate="book")


def with_two(words: list[str], _: bool) -> Json:
    """Two active novices on the isle, all favors but that of the isle if it is to be gained."""
    favors = favors_but(words[1]) if words[0] == "favor" else KINDS
    return position(2, seats=[seat({words[1]: 2}, favors=favors)])


def build(_: list[str], virtual: bool) -> Json:
    return position(2, builder="herbs", seats=[seat({"herbs": 1 if virtual else 2}, favors=KINDS)])


def herbs(words: list[str], _: bool) -> Json:
    return position(2, seats=[seat(inactive={words[1]: 2}, favors=KINDS)])


def sail(words: list[str], _: bool) -> Json:
    if words[1] == "landing":
        return position(2, seats=[seat(landing=2, favors=KINDS)])
    return position(2, seats=[seat({words[1]: 2}, favors=KINDS)])


def lift(words: list[str], _: bool) -> Json:
    source = words[1]
    if source == "landing":
        return crowd({}, landing=4)
    return crowd({}, {source[:-1]: 4}) if source.endswith("~") else crowd({source: 4})


def land(words: list[str], _: bool) -> Json:
    """After a lift from another isle."""
    before = lift(["journey", OTHER_ISLE[words[1]]], False)
    return twin().dump(twin().play(twin().load(before), f"journey {OTHER_ISLE[words[1]]} {words[2]}"))


def tile_in_play(tile: int) -> list[int]:
    """Two boards, the first with the tile."""
    board = next(index for index, spaces in enumerate(BOARDS) if tile in spaces)
    return [board, (board + 1) % 4]


def promote(words: list[str], _: bool) -> Json:
    tile = int(words[1])
    return position(2, round=6, boards=tile_in_play(tile), seats=[seat({SYMBOLS[tile]: 2}, favors=KINDS)])


def sanctify(words: list[str], _: bool) -> Json:
    tile = int(words[1])
    return position(2, round=6, boards=tile_in_play(tile), claimed={tile: 0})


def book_stage(tile: int, owner: int) -> tuple[list[int], dict[int, int | None], list[int]]:
    """Boards, Temple and two Books of seat 1: a novice of `owner` on the tile, the start tiles empty (or the tile)."""
    boards = tile_in_play(tile)
    spaces = [t for board in boards for t in BOARDS[board] if t != tile and t not in START_TILES]
    start_tiles = dict.fromkeys(t for board in boards for t in BOARDS[board] if t in START_TILES)
    return boards, start_tiles | {spaces[0]: 1, spaces[1]: 1, spaces[2]: 0, tile: owner}, spaces[:2]


def take_book(words: list[str], _: bool) -> Json:
    """The Book of the tile, which a novice of seat 1 has; seat 0 has a novice without a Book elsewhere."""
    boards, temple, books = book_stage(int(words[1]), owner=1)
    books = [books[0], int(words[1])]
    return position(2, round=6, boards=boards, seats=[seat(favors=KINDS)], temple=temple, books=books)


def give_book(words: list[str], _: bool) -> Json:
    """A Book of seat 1 is in the air, seat 0 has a novice without a Book on the tile."""
    boards, temple, books = book_stage(int(words[1]), owner=0)
    before = position(2, round=6, boards=boards, seats=[seat(favors=KINDS)], temple=temple, books=books)
    return twin().dump(twin().play(twin().load(before), f"take-book {books[0]}"))


def council(words: list[str], virtual: bool) -> Json:
    return crowd({words[1]: int(words[2])}) if len(words) > 1 else crowd({})


def expel(words: list[str], virtual: bool) -> Json:
    return crowd({"book": int(words[1])}) if len(words) > 1 else crowd({})


def place_shrine(_: list[str], __: bool) -> Json:
    return position(3, phase="shrines")


def place_novices(words: list[str], _: bool) -> Json:
    shrines = [kind for kind in KINDS if kind != words[1]]
    return position(3, phase="novices", seats=[seat(shrines=[shrines[i]]) for i in range(3)])


STAGES = {
    "favor": with_two,
    "recruit": with_two,
    "build": build,
    "herbs": herbs,
    "sail": sail,
    "journey": lift,
    "tide": lift,
    "land": land,
    "promote": promote,
    "sanctify": sanctify,
    "take-book": take_book,
    "give-book": give_book,
    "council": council,
    "expel": expel,
    "meditate": lambda words, virtual: position(2),
    "place-shrine": place_shrine,
    "place-novices": place_novices,
}


def test_the_decisions_that_can_be_legal():
    assert len(NOTATIONS) == len(set(NOTATIONS)) == 637
    assert set(NOTATIONS) > NEVER
    assert len(NEVER) == 29


@pytest.mark.parametrize("verb", STAGES)
def test_each_decision_in_both_programs(verb: str):
    for decision in (text for text in NOTATIONS if text.split(" ")[0] == verb and text not in NEVER):
        stage = stage_for(decision)
        engine = Position.from_json(stage, ruleset=RuleSet.from_json(OFFICIAL | OPTIONS))
        words = twin().load(stage)
        assert decision in engine.legal(), decision
        assert engine.legal() == twin().legal(words), decision
        after = engine.play(decision).to_json()
        assert json.dumps(after) == json.dumps(twin().dump(twin().play(words, decision))), decision
        assert after != stage


def test_the_largest_numbers_are_among_them():
    """The stages hold 13 novices on one isle, the most that a notation can name."""
    assert max(map(number_of, set(NOTATIONS) - NEVER)) == 13
    assert stage_for("council tide 13 +v")["seats"][0]["active"][6] == 13
