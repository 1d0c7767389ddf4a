"""RULES.md section 4: Promotion, Sanctification with displacement, and Book.

With boards 0 and 1 the start tiles are 1 and 2 and the batches are 5 8 | 11 12 | 14 15 | 17 18 | 21 24 | 27 28.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from .builder import BOARDS, KINDS, Json, position, seat
from .table import Game

BATCHES = {
    (0, 1): [{5, 8}, {11, 12}, {14, 15}, {17, 18}, {21, 24}, {27, 28}],
    (1, 0): [{5, 8}, {11, 12}, {14, 15}, {17, 18}, {21, 24}, {27, 28}],
    (2, 3): [{6, 7}, {9, 10}, {13, 16}, {19, 20}, {22, 23}, {25, 26}],
    (3, 1, 0): [{5, 7, 8}, {10, 11, 12}, {13, 14, 15}, {17, 18, 20}, {21, 23, 24}, {26, 27, 28}],
    (0, 1, 2, 3): [set(range(low, low + 4)) for low in (5, 9, 13, 17, 21, 25)],
}
each_choice_of_boards = pytest.mark.parametrize("boards", list(BATCHES))
each_round = pytest.mark.parametrize("round", [1, 2, 3, 4, 5, 6])
GUARD = {1: 6, 2: 5, 3: 4, 4: 3, 5: 2, 6: 2}


def able_everywhere(favors: Sequence[str] = ()) -> Json:
    """A player who can pay a Promotion on every isle: a shrine and one active novice on six, two on the seventh."""
    return seat(dict.fromkeys(KINDS, 1) | {"tide": 2}, shrines=KINDS[:6], favors=favors)


def promotions(tiles: set[int]) -> set[str]:
    return {f"promote {tile}" for tile in tiles}


def sanctifications(tiles: set[int]) -> set[str]:
    return {f"sanctify {tile}" for tile in tiles}


# Promotion: which tiles


@each_round
@each_choice_of_boards
def test_approved_tiles_are_promoted_without_bribery(game: Game, boards: tuple[int, ...], round: int) -> None:
    """§4 "*Approved* in round r: tiles of batches 0 … r−1"; §2.3 batches are of the tiles of the boards in play."""
    table = game(position(len(boards), round=round, boards=boards, seats=[able_everywhere()]))
    assert table.legal("promote") == promotions(set().union(*BATCHES[boards][:round]))


@each_round
@each_choice_of_boards
def test_bribable_tiles_need_the_bribery_favor(game: Game, boards: tuple[int, ...], round: int) -> None:
    """§4 "*Bribable*: tiles of batch r (none in round 6)"."""
    table = game(position(len(boards), round=round, boards=boards, seats=[able_everywhere(favors=["bribery"])]))
    assert table.legal("promote") == promotions(set().union(*BATCHES[boards][: round + 1]))


def test_start_tiles_and_temple_tiles_and_claimed_tiles_are_not_promoted(game: Game) -> None:
    """§4 Promotion: "t lies *unclaimed on the path*": not in the Temple, displaced or not, and not anybody's."""
    table = game(
        position(
            round=2,
            seats=[able_everywhere()],
            temple={2: None, 5: 1, 8: None},
            books=[1, 5],
            claimed={11: 1},
        )
    )
    assert table.legal("promote") == {"promote 12"}


# Promotion: cost and effect


def test_promotion_moves_one_and_uses_one(game: Game) -> None:
    """§4 Promotion: "On the isle of t's symbol: one active novice moves onto the tile, and one more is used there"."""
    table = game(position(seats=[seat({"shrine": 3, "book": 2})]))
    assert table.legal("promote") == {"promote 5"}
    table.action("promote 5", {"0.active.shrine": 1, "0.inactive.shrine": 1, "tile.5": "claimed 0"})


def test_promotion_needs_two_active_on_the_isle(game: Game) -> None:
    """§4 Promotion: one *active* novice and "one more is used" (§4 "Uses": active)."""
    assert game(position(seats=[seat({"shrine": 1, "book": 3}, {"shrine": 2})])).legal("promote") == set()


def test_promotion_with_a_shrine_uses_no_second(game: Game) -> None:
    """§4 Promotion: "unless the player has a shrine there": even if a second stands there."""
    table = game(position(seats=[seat({"shrine": 2}, shrines=["shrine"])]))
    table.action("promote 5", {"0.active.shrine": 1, "tile.5": "claimed 0"})


def test_promotion_with_a_shrine_needs_one(game: Game) -> None:
    """§4 Promotion: the first novice moves and must be active; the shrine must be his and there."""
    assert game(position(seats=[seat({"shrine": 1}, shrines=["shrine"])])).legal("promote") == {"promote 5"}
    assert game(position(seats=[seat({"shrine": 1}, shrines=["tide"])])).legal("promote") == set()
    others = [seat({"shrine": 1}), seat(shrines=["shrine"])]
    assert game(position(seats=others)).legal("promote") == set()
    no_first = seat({}, {"shrine": 2}, shrines=["shrine"], favors=["novice"])
    assert game(position(seats=[no_first])).legal("promote") == set()


def test_promotion_virtual_replaces_the_second(game: Game) -> None:
    """§4 Promotion: "The virtual novice can replace the second"."""
    table = game(position(seats=[seat({"shrine": 1}, favors=["novice"])]))
    assert table.legal("promote") == {"promote 5 +v"}
    table.action("promote 5 +v", {"0.active.shrine": 0, "0.favors.novice": False, "tile.5": "claimed 0"})


def test_promotion_virtual_is_a_choice(game: Game) -> None:
    """§4 Promotion: with two novices and the token both ways are legal, whatever ``virtual_alone`` says."""
    table = game(position(seats=[seat({"shrine": 2}, favors=["novice"])]), virtual_alone=False)
    assert table.legal("promote") == {"promote 5", "promote 5 +v"}


def test_promotion_virtual_does_not_replace_the_first(game: Game) -> None:
    """§4 Promotion: "replace the second, not the first"."""
    assert game(position(seats=[seat({"book": 2}, favors=["novice"])])).legal("promote") == set()


def test_promotion_virtual_only_where_a_second_is_needed(game: Game) -> None:
    """§4 Promotion: "and only where a second is needed": not with a shrine there."""
    table = game(position(seats=[seat({"shrine": 2}, shrines=["shrine"], favors=["novice"])]))
    assert table.legal("promote") == {"promote 5"}
    table.refuses("promote 5 +v")


def test_promotion_virtual_forbidden_by_the_option(game: Game) -> None:
    """§4 [choice ``virtual_promotion``=false]; the virtual novice elsewhere is untouched."""
    table = game(position(seats=[seat({"shrine": 2}, favors=["novice"])]), virtual_promotion=False)
    assert table.legal("promote") == {"promote 5"}
    assert table.legal("favor", "recruit") == {"favor shrine", "favor shrine +v", "recruit shrine", "recruit shrine +v"}


def test_promotion_by_bribery_returns_the_token(game: Game) -> None:
    """§4 Promotion: "or is *bribable* and the player returns the ``bribery`` favor"."""
    table = game(position(seats=[seat({"tide": 2}, favors=["bribery"])]))
    table.action(
        "promote 11",
        {"0.active.tide": 0, "0.inactive.tide": 1, "0.favors.bribery": False, "tile.11": "claimed 0"},
    )


def test_promotion_of_an_approved_tile_keeps_the_bribery(game: Game) -> None:
    """§4 Promotion: an *approved* tile costs no bribe."""
    table = game(position(seats=[seat({"shrine": 2}, favors=["bribery"])]))
    table.action("promote 5", {"0.active.shrine": 0, "0.inactive.shrine": 1, "tile.5": "claimed 0"})


def test_promotion_by_bribery_with_the_virtual_novice(game: Game) -> None:
    """§4 Promotion: both tokens in one action."""
    table = game(position(seats=[seat({"tide": 1}, favors=["bribery", "novice"])]))
    table.action(
        "promote 11 +v",
        {"0.active.tide": 0, "0.favors.bribery": False, "0.favors.novice": False, "tile.11": "claimed 0"},
    )


# Sanctification


@each_round
def test_sanctification_gains_the_guard_of_the_round(game: Game, round: int) -> None:
    """§4 Sanctification: "gains the value of the Guard tile on which the Guard stands"; §2.3, 2.4: 6, 5, 4, 3, 2, 2,
    whatever the tile's own batch. Tile 5 has no lower neighbour on boards 0 and 1."""
    table = game(position(round=round, claimed={5: 0}))
    table.action("sanctify 5", {"0.influence": f"+{GUARD[round]}", "tile.5": "temple 0"})


def test_sanctification_only_of_own_claimed_tiles(game: Game) -> None:
    """§4 Sanctification: "the player's novice stands on tile t on the path"; no novice on an isle is needed."""
    table = game(position(round=2, claimed={5: 0, 8: 1, 12: 0}, temple={11: 0}))
    assert table.legal("sanctify") == sanctifications({5, 12})


@pytest.mark.parametrize("round", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("favors", [[], ["bribery"]])
def test_sanctification_of_bribable_tiles_needs_bribery(game: Game, round: int, favors: list[str]) -> None:
    """§4 Sanctification: "t is *approved*, or *bribable* and he returns the ``bribery`` favor": claiming it by a bribe
    in this round does not make it approved."""
    reached = set().union(*BATCHES[0, 1][: round + 1])
    table = game(position(round=round, claimed=dict.fromkeys(reached, 0), seats=[seat(favors=favors)]))
    assert table.legal("sanctify") == sanctifications(reached if favors else reached - BATCHES[0, 1][round])


def test_sanctification_by_bribery(game: Game) -> None:
    """§4 Sanctification: the token goes, the current Guard counts (round 2: 5). Tile 14's lower neighbour on boards 0
    and 1 is 8, which lies on the path."""
    table = game(position(round=2, claimed={14: 0}, seats=[seat(favors=["bribery"])]))
    table.action("sanctify 14", {"0.influence": "+5", "0.favors.bribery": False, "tile.14": "temple 0"})


def test_sanctification_of_an_approved_tile_keeps_the_bribery(game: Game) -> None:
    """§4 Sanctification: an *approved* tile costs no bribe."""
    table = game(position(round=2, claimed={12: 0}, temple={2: 0, 1: 1}, seats=[seat(favors=["bribery"])]))
    table.action("sanctify 12", {"0.influence": "+5", "tile.12": "temple 0"})


def test_displacement_to_the_owners_landing_stage(game: Game) -> None:
    """§4 Sanctification: "moves to its owner's landing stage, and the acting player gains 1 influence for each"; §4 "A
    space whose novice was displaced stays empty". Tile 17 touches 1, 8, 11 and 27."""
    table = game(
        position(
            3, round=4, claimed={17: 0}, temple={1: 1, 2: 0, 8: 2, 11: 2, 12: 1}, books=[2, 3, 12], boards=[0, 1, 2]
        )
    )
    table.action(
        "sanctify 17",
        {
            "0.influence": "+6",
            "1.landing": 1,
            "2.landing": 2,
            "tile.1": "temple -",
            "tile.8": "temple -",
            "tile.11": "temple -",
            "tile.17": "temple 0",
        },
    )


def test_no_displacement_with_a_book(game: Game) -> None:
    """§4 Sanctification: "and without a Book": 11 holds one, 8 does not."""
    table = game(position(round=4, claimed={17: 0}, temple={8: 1, 11: 1}, books=[2, 11]))
    table.action("sanctify 17", {"0.influence": "+4", "1.landing": 1, "tile.8": "temple -", "tile.17": "temple 0"})


def test_no_displacement_of_own_novices(game: Game) -> None:
    """§4 Sanctification: "every novice of *another* player"."""
    table = game(position(round=4, claimed={17: 0}, temple={8: 0, 11: 1}))
    table.action("sanctify 17", {"0.influence": "+4", "1.landing": 1, "tile.11": "temple -", "tile.17": "temple 0"})


def test_no_displacement_of_higher_numbers(game: Game) -> None:
    """§4 Sanctification: "with a lower number": 27 touches 17 and stays."""
    table = game(position(round=6, claimed={17: 0}, temple={27: 1}))
    table.action("sanctify 17", {"0.influence": "+2", "tile.17": "temple 0"})


def test_no_displacement_on_the_path(game: Game) -> None:
    """§4 Sanctification: "on an adjacent *Temple space*": a claimed tile still lies on the path."""
    table = game(position(round=4, claimed={17: 0, 8: 1, 11: 1}))
    table.action("sanctify 17", {"0.influence": "+3", "tile.17": "temple 0"})


def test_a_displaced_space_gives_nothing_again(game: Game) -> None:
    """§4 "A space whose novice was displaced stays empty": nobody is there to be displaced."""
    table = game(position(round=4, claimed={17: 0}, temple={8: None, 11: None}))
    table.action("sanctify 17", {"0.influence": "+3", "tile.17": "temple 0"})


def crowded(boards: tuple[int, ...], own_start: int, tile: int, book: int, sheet: str) -> Json:
    """Round 6: ``tile`` is claimed by seat 0, who stands on his start tile; on all others stand his opponents, with
    Books on ``book`` and (3 and 4 players) on their highest tiles only."""
    players = len(boards)
    in_play = sorted(t for board in boards for t in BOARDS[board])
    low = [t for t in in_play if t <= 4 and t != own_start]
    owners = {own_start: 0} | {t: 1 + i for i, t in enumerate(low)}
    rest = [t for t in in_play if t not in owners and t != tile]
    owners |= {t: 1 + i % (players - 1) for i, t in enumerate(rest)}
    books = [own_start, *{2: [], 3: [28], 4: [28, 27]}[players], book]
    return position(players, round=6, boards=boards, sheet=sheet, temple=dict(owners), claimed={tile: 0}, books=books)


# boards by slot, seat 0's start tile, sanctified tile, the tile of his opponents with a Book, displaced tiles
ADJACENCY = {
    "reconstructed": [
        ((0, 1), 2, 17, 28, {1, 8, 11}),
        ((0, 1), 1, 18, 28, {2, 5, 12}),
        ((0, 1), 1, 12, 28, {2, 11}),
        ((0, 1), 1, 14, 28, {8}),
        ((0, 1), 1, 28, 27, {11, 12, 15, 18, 5}),
        ((0, 1), 2, 24, 28, {1, 11, 12}),
        ((1, 0), 2, 18, 28, {5, 12, 1, 17}),
        ((1, 0), 1, 12, 28, {2}),
        ((1, 0), 1, 21, 28, {15, 5, 8}),
        ((0, 1, 2), 1, 21, 27, {5, 15}),
        ((0, 1, 2), 1, 6, 27, {5}),
        ((0, 1, 2), 1, 25, 27, {9, 16, 19, 6}),
        ((2, 0, 1), 2, 25, 27, {9, 16, 19, 6, 1, 17}),
        ((3, 1, 2, 0), 1, 16, 26, {3, 6, 8}),
        ((3, 1, 2, 0), 1, 23, 26, {7, 10, 13, 4, 15}),
    ],
    "rosette": [
        ((0, 1), 2, 24, 28, {1, 17, 8, 11, 14}),
        ((0, 1), 1, 14, 28, {11, 12}),
        ((0, 1), 1, 21, 28, {5, 18, 2}),
        ((0, 1), 1, 12, 28, {2}),
        ((0, 1), 1, 11, 28, set()),
        ((1, 0), 2, 21, 28, {5, 18, 1, 17}),
        ((0, 1, 2), 1, 19, 27, {6, 9, 5}),
    ],
}
ADJACENCY_CASES = [
    pytest.param(sheet, *case, id=f"{sheet}-{case[0]}-{case[2]}") for sheet in ADJACENCY for case in ADJACENCY[sheet]
]


@pytest.mark.parametrize(("sheet", "boards", "own_start", "tile", "book", "displaced"), ADJACENCY_CASES)
def test_adjacency_by_sheet_and_slot_order(
    game: Game, sheet: str, boards: tuple[int, ...], own_start: int, tile: int, book: int, displaced: set[int]
) -> None:
    """§4 Sanctification: "every novice of another player on an adjacent Temple space with a lower number", across
    boards that are neighbours in slot order, by the sheets' coordinates."""
    before = crowded(boards, own_start, tile, book, sheet)
    owners = {t: before["tiles"][str(t)]["owner"] for t in displaced}
    landing = {f"{p}.landing": f"+{n}" for p in range(1, len(boards)) if (n := list(owners.values()).count(p))}
    table = game(before, sheet=sheet)
    table.action(
        f"sanctify {tile}",
        {"0.influence": f"+{2 + len(displaced)}", f"tile.{tile}": "temple 0"}
        | {f"tile.{t}": "temple -" for t in displaced}
        | landing,
    )


# Book


def test_book_take_changes_the_book_only(game: Game) -> None:
    """§4 Book: "``take-book T`` removes the Book from space T; nothing else changes until ``give-book``": the token,
    the bonus, the player to move and ``actions`` stay."""
    table = game(position(temple={5: 0}, seats=[seat(favors=["book"])]))
    table.step("take-book 2", {"tile.2": "temple 1", "pending": {"action": "book", "from": 2}})


def test_book_give_returns_the_token_and_gains_two_first_in_the_round(game: Game) -> None:
    """§4 Book: "places it under another of his novices ... that has no Book"; "with two players, the first use of a
    Book in a round ... gains 2"."""
    table = game(position(temple={5: 0}, seats=[seat(favors=["book"])])).play("take-book 2")
    assert table.legal() == {"give-book 5"}
    table.action(
        "give-book 5",
        {"0.favors.book": False, "0.influence": "+2", "book_bonus": False, "tile.5": "temple 0 book", "pending": None},
    )


def test_book_any_book_his_own_included(game: Game) -> None:
    """§4 Book: "Takes any one Book in the Temple (his own included)"."""
    table = game(position(3, temple={5: 0}, seats=[seat(favors=["book"])]))
    assert table.legal("take-book") == {"take-book 1", "take-book 2", "take-book 3"}
    table.action(
        ["take-book 1", "give-book 5"],
        {"0.favors.book": False, "0.influence": "+1", "tile.1": "temple 0", "tile.5": "temple 0 book"},
    )


@pytest.mark.parametrize("players", [3, 4])
def test_book_gains_one_with_three_and_four(game: Game, players: int) -> None:
    """§4 Book: "Gains 1 influence; with two players, the first ..."."""
    table = game(position(players, temple={5: 0}, seats=[seat(favors=["book"])]))
    assert table.gains("take-book 2", "give-book 5") == [1] + [0] * (players - 1)


def test_book_bonus_is_once_a_round_by_whomever(game: Game) -> None:
    """§4 Book: "the first use of a Book in a round, *by whomever*": the second player's first use gains 1."""
    seats = [seat(favors=["book"]), seat(favors=["book"])]
    table = game(position(temple={5: 0, 8: 1}, seats=seats)).play("take-book 2", "give-book 5")
    table.action(
        ["take-book 1", "give-book 8"],
        {"1.favors.book": False, "1.influence": "+1", "tile.1": "temple 0", "tile.8": "temple 1 book"},
    )


def test_book_bonus_used_up(game: Game) -> None:
    """§8 ``book_bonus``: false after the first use in the round: 1 influence."""
    table = game(position(book_bonus=False, temple={5: 0}, seats=[seat(favors=["book"])]))
    assert table.gains("take-book 2", "give-book 5") == [1, 0]


def test_book_needs_the_favor(game: Game) -> None:
    """§4 Book: "returns the ``book`` favor"."""
    assert game(position(temple={5: 0})).legal("take-book") == set()


def test_book_only_under_own_temple_novices_without_a_book(game: Game) -> None:
    """§4 Book: "another of *his* novices *in the Temple* that has *no Book*": not on the path (8), not displaced (11),
    not another's (12), not with a Book (2)."""
    table = game(
        position(
            round=3,
            temple={1: 1, 2: 0, 5: 0, 11: None, 12: 1, 14: 0},
            claimed={8: 0},
            seats=[seat(favors=["book"])],
        )
    ).play("take-book 1")
    assert table.legal() == {"give-book 5", "give-book 14"}


def test_book_not_back_to_the_space_it_was_taken_from(game: Game) -> None:
    """§4 "Putting a Book back where it was is not a use"; ``give-book``: "not to the space it was taken from"."""
    table = game(position(temple={5: 0}, seats=[seat(favors=["book"])])).play("take-book 1")
    assert table.legal() == {"give-book 5"}


def test_book_take_only_if_a_give_follows(game: Game) -> None:
    """§4 "``take-book`` is legal only if a legal ``give-book`` follows": his only novice has a Book."""
    assert game(position(seats=[seat(favors=["book"])])).legal("take-book") == set()


def test_book_take_not_if_all_his_novices_have_books(game: Game) -> None:
    """§4 Book: taking one of his own two would free its own space only, "not to the space it was taken from"."""
    table = game(position(3, temple={5: 0}, books=[1, 5, 3], seats=[seat(favors=["book"])]))
    assert table.legal("take-book") == set()


def test_book_take_not_without_a_novice_in_the_temple(game: Game) -> None:
    """§4 Book: nowhere to place it; a claimed tile is not in the Temple."""
    table = game(position(temple={1: None, 8: 1}, books=[2, 8], claimed={5: 0}, seats=[seat(favors=["book"])]))
    assert table.legal("take-book") == set()


def test_book_same_space_own_novice(game: Game) -> None:
    """§4 [choice ``book_same_space``=true]: "the Book may go back under his own novice, a use like any other, and
    ``take-book T`` is legal also when only that can follow": not another's Book, which could not go back under his."""
    table = game(position(seats=[seat(favors=["book"])]), book_same_space=True)
    assert table.legal("take-book") == {"take-book 1"}
    assert table.play("take-book 1").legal() == {"give-book 1"}
    table.action(["take-book 1", "give-book 1"], {"0.favors.book": False, "0.influence": "+2", "book_bonus": False})


def test_book_same_space_not_under_anothers_novice(game: Game) -> None:
    """§4 [choice ``book_same_space``=true]: "back under *his own* novice"; other spaces as ever."""
    table = game(position(temple={5: 0}, seats=[seat(favors=["book"])]), book_same_space=True)
    assert table.legal("take-book") == {"take-book 1", "take-book 2"}
    assert table.play("take-book 1").legal() == {"give-book 1", "give-book 5"}
    assert table.play("take-book 2").legal() == {"give-book 5"}


def test_a_book_taken_leaves_its_novice_open_to_displacement(game: Game) -> None:
    """§4 Book and Sanctification: without its Book the start novice on 1 is displaced by tile 17."""
    seats = [seat(favors=["book"]), seat()]
    table = game(position(round=4, temple={1: 1, 2: 0, 5: 0}, claimed={17: 0}, seats=seats))
    table = table.play("take-book 1", "give-book 5", "meditate")
    table.action("sanctify 17", {"0.influence": "+4", "1.landing": 1, "tile.1": "temple -", "tile.17": "temple 0"})
