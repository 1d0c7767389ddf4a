"""RULES.md section 4: Priest's Favor, Recruit, Build Shrine, and the virtual novice in them."""

from __future__ import annotations

import pytest

from .builder import ALL_KINDS_BUT, KINDS, position, seat
from .table import Game

# Priest's Favor


def test_favor_needs_two_active_novices(game: Game) -> None:
    """§4 Priest's Favor: "Uses 2 novices on i"; novices of different isles do not add up."""
    table = game(position(seats=[seat({"book": 2, "tide": 1, "herbs": 1, "shrine": 3})]))
    assert table.legal("favor") == {"favor book", "favor shrine"}


def test_favor_does_not_use_inactive_novices(game: Game) -> None:
    """§4: "'Uses' below means: active novices ... become inactive"."""
    assert game(position(seats=[seat({"book": 1}, {"book": 5})])).legal("favor") == set()


def test_favor_uses_two_and_gains_the_token(game: Game) -> None:
    """§4 Priest's Favor: "Uses 2 novices on i ... Gains favor token i"; "Uses": inactive "on the same isle"."""
    table = game(position(seats=[seat({"book": 3}, {"book": 1})]))
    table.action("favor book", {"0.active.book": 1, "0.inactive.book": 3, "0.favors.book": True})


def test_favor_not_of_an_owned_kind(game: Game) -> None:
    """§4 Priest's Favor: "the player does not own favor i"."""
    assert game(position(seats=[seat({"book": 2, "tide": 2}, favors=["book"])])).legal("favor") == {"favor tide"}


def test_favor_is_there_though_all_others_own_one(game: Game) -> None:
    """§2.7 "Each isle holds N of its favor tokens ... a player who lacks a kind can always find one"."""
    seats = [seat({"tide": 2})] + [seat(favors=["tide"]) for _ in range(3)]
    assert "favor tide" in game(position(4, seats=seats)).legal()


def test_favor_with_a_shrine_needs_one(game: Game) -> None:
    """§4 Priest's Favor: "or 1 if he has a shrine there"; a shrine elsewhere does not help."""
    table = game(position(seats=[seat({"book": 1, "tide": 1}, shrines=["book"])]))
    assert table.legal("favor") == {"favor book"}
    table.action("favor book", {"0.active.book": 0, "0.inactive.book": 1, "0.favors.book": True})


def test_favor_with_a_shrine_never_uses_two(game: Game) -> None:
    """§4 Priest's Favor: "The fewest novices are always used"."""
    table = game(position(seats=[seat({"book": 2}, shrines=["book"])]))
    table.action("favor book", {"0.active.book": 1, "0.inactive.book": 1, "0.favors.book": True})


def test_favor_anothers_shrine_does_not_help(game: Game) -> None:
    """§4 Priest's Favor: "if *he* has a shrine there"."""
    table = game(position(seats=[seat({"book": 1}), seat(shrines=["book"])]))
    assert table.legal("favor") == set()


def test_favor_shrine_alone_is_not_enough(game: Game) -> None:
    """§4 Priest's Favor: with a shrine still one novice is used, unless the virtual one is."""
    assert game(position(seats=[seat({"tide": 1}, shrines=["book"])])).legal("favor") == set()


def test_favor_virtual_uses_one_fewer(game: Game) -> None:
    """§4 Virtual novice: "one novice fewer is used", "By returning the ``novice`` favor token"."""
    table = game(position(seats=[seat({"book": 1}, favors=["novice"])]))
    assert table.legal("favor") == {"favor book +v"}
    table.action(
        "favor book +v",
        {"0.active.book": 0, "0.inactive.book": 1, "0.favors.novice": False, "0.favors.book": True},
    )


def test_favor_virtual_is_a_choice(game: Game) -> None:
    """§4 Virtual novice: with two novices and the token both ways are legal."""
    table = game(position(seats=[seat({"book": 2}, favors=["novice"])]))
    assert table.legal("favor") == {"favor book", "favor book +v"}


def test_favor_virtual_needs_the_own_token(game: Game) -> None:
    """§4 Virtual novice: "returning the ``novice`` favor token, a player ...": his own."""
    table = game(position(seats=[seat({"book": 2}), seat(favors=["novice"])]))
    assert table.legal("favor") == {"favor book"}


def test_favor_virtual_alone_with_a_shrine(game: Game) -> None:
    """§4 Virtual novice: "It may be the only 'novice' of the action (Priest's Favor with a shrine bonus ...)"."""
    table = game(position(seats=[seat(shrines=["book"], favors=["novice"])]))
    assert table.legal("favor") == {"favor book +v"}
    table.action("favor book +v", {"0.favors.novice": False, "0.favors.book": True})


def test_favor_virtual_with_a_shrine_uses_no_novice(game: Game) -> None:
    """§4 Priest's Favor: "1 if he has a shrine there; 1 fewer with the virtual novice": none, though some stand."""
    table = game(position(seats=[seat({"book": 2}, shrines=["book"], favors=["novice"])]))
    table.action("favor book +v", {"0.favors.novice": False, "0.favors.book": True})


def test_favor_virtual_alone_forbidden_by_the_option(game: Game) -> None:
    """§4 [choice ``virtual_alone``=false]: the virtual novice is never the only one; beside a real one it is fine."""
    seats = [seat({"book": 1, "tide": 1}, shrines=["book"], favors=["novice"])]
    table = game(position(seats=seats), virtual_alone=False)
    assert table.legal("favor") == {"favor book", "favor tide +v"}


def test_favor_never_gains_novice_with_the_virtual_novice(game: Game) -> None:
    """§4 Virtual novice: "Never to gain the ``novice`` favor token"."""
    table = game(position(seats=[seat({"novice": 2}, shrines=["novice"], favors=["novice"])]))
    assert table.legal("favor") == set()
    table.refuses("favor novice +v")


def test_favor_novice_itself_is_gained_with_real_novices(game: Game) -> None:
    """§4 Priest's Favor: isle ``novice`` gives the ``novice`` token like any other."""
    table = game(position(seats=[seat({"novice": 2})]))
    table.action("favor novice", {"0.active.novice": 0, "0.inactive.novice": 2, "0.favors.novice": True})


# Recruit


def test_recruit_uses_two_and_adds_an_inactive_one(game: Game) -> None:
    """§4 Recruit: "Uses 2 novices on i ...; a novice from supply is placed inactive on i"."""
    table = game(position(seats=[seat({"herbs": 3, "tide": 1})]))
    assert table.legal("recruit") == {"recruit herbs"}
    table.action("recruit herbs", {"0.active.herbs": 1, "0.inactive.herbs": 3, "0.supply": "-1"})


def test_recruit_has_no_shrine_bonus(game: Game) -> None:
    """§4 Recruit: "Uses 2 novices on i (1 with the virtual novice)": the shrine is not mentioned."""
    assert game(position(seats=[seat({"herbs": 1}, shrines=["herbs"])])).legal("recruit") == set()
    table = game(position(seats=[seat({"herbs": 2}, shrines=["herbs"])]))
    table.action("recruit herbs", {"0.active.herbs": 0, "0.inactive.herbs": 3, "0.supply": "-1"})


def test_recruit_virtual(game: Game) -> None:
    """§4 Recruit: "(1 with the virtual novice)"; one real novice is still needed."""
    table = game(position(seats=[seat({"herbs": 2, "tide": 1}, favors=["novice"])]))
    assert table.legal("recruit") == {"recruit herbs", "recruit herbs +v", "recruit tide +v"}
    table.action(
        "recruit tide +v",
        {"0.active.tide": 0, "0.inactive.tide": 2, "0.supply": "-1", "0.favors.novice": False},
    )


def test_recruit_virtual_does_not_depend_on_virtual_alone(game: Game) -> None:
    """§4 [choice ``virtual_alone``]: in Recruit a real novice is used beside the virtual one."""
    table = game(position(seats=[seat({"tide": 1}, favors=["novice"])]), virtual_alone=False)
    assert table.legal("recruit") == {"recruit tide +v"}


def test_recruit_needs_supply(game: Game) -> None:
    """§4 Recruit: "at least one novice in supply (otherwise illegal)"."""
    table = game(position(seats=[seat({"book": 8}, {"tide": 2}, landing=2, supply=0, favors=["novice"])]))
    assert table.legal("recruit") == set()


def test_recruit_the_last_one(game: Game) -> None:
    """§4 Recruit: one in supply is enough."""
    table = game(position(seats=[seat({"book": 8}, {"tide": 2}, landing=1)]))
    table.action("recruit book", {"0.active.book": 6, "0.inactive.book": 3, "0.supply": 0})


# Build Shrine


def test_build_on_the_master_builders_isle(game: Game) -> None:
    """§4 Build Shrine: "returns the ``shrine`` favor. On the Master Builder's isle ... uses 2 novices there"."""
    seats = [seat({"herbs": 3, "book": 2}, shrines=["book"], favors=["shrine"])]
    table = game(position(builder="herbs", seats=seats))
    assert table.legal("build") == {"build"}
    table.action(
        "build",
        {"0.active.herbs": 1, "0.inactive.herbs": 2, "0.shrines.herbs": True, "0.favors.shrine": False},
    )


def test_build_needs_the_favor(game: Game) -> None:
    """§4 Build Shrine: "returns the ``shrine`` favor"."""
    assert game(position(builder="herbs", seats=[seat({"herbs": 3})])).legal("build") == set()


def test_build_needs_two_novices_there(game: Game) -> None:
    """§4 Build Shrine: "uses 2 novices there": not elsewhere, not inactive ones."""
    seats = [seat({"herbs": 1, "book": 6}, {"herbs": 2}, favors=["shrine"])]
    assert game(position(builder="herbs", seats=seats)).legal("build") == set()


def test_build_virtual(game: Game) -> None:
    """§4 Build Shrine: "(1 with the virtual novice)"; both tokens go."""
    table = game(position(builder="herbs", seats=[seat({"herbs": 1}, favors=["shrine", "novice"])]))
    assert table.legal("build") == {"build +v"}
    table.action(
        "build +v",
        {
            "0.active.herbs": 0,
            "0.inactive.herbs": 1,
            "0.shrines.herbs": True,
            "0.favors.shrine": False,
            "0.favors.novice": False,
        },
    )


def test_build_both_ways_with_two_novices_and_the_token(game: Game) -> None:
    """§4 Virtual novice: a choice; ``virtual_alone`` does not matter, a real novice is used."""
    table = game(
        position(builder="herbs", seats=[seat({"herbs": 2}, favors=["shrine", "novice"])]), virtual_alone=False
    )
    assert table.legal("build") == {"build", "build +v"}


def test_build_virtual_needs_one_real_novice(game: Game) -> None:
    """§4 Build Shrine: the virtual novice replaces one of two."""
    table = game(position(builder="herbs", seats=[seat({"book": 2}, favors=["shrine", "novice"])]))
    assert table.legal("build") == set()


def test_build_not_beside_an_own_shrine(game: Game) -> None:
    """§4 Build Shrine: "no own shrine there"; §3 "at most one shrine" on each isle."""
    seats = [seat({"herbs": 4}, shrines=["herbs"], favors=["shrine", "novice"])]
    assert game(position(builder="herbs", seats=seats)).legal("build") == set()


def test_build_beside_others_shrines(game: Game) -> None:
    """§4 Build Shrine: "no *own* shrine there"."""
    seats = [seat({"herbs": 2}, favors=["shrine"]), seat(shrines=["herbs"]), seat(shrines=["herbs"])]
    assert game(position(3, builder="herbs", seats=seats)).legal("build") == {"build"}


@pytest.mark.parametrize(("shrines", "legal"), [(5, {"build"}), (6, set())])
def test_build_needs_a_shrine_in_supply(game: Game, shrines: int, legal: set[str]) -> None:
    """§4 Build Shrine: "a shrine in supply"; §3 "Shrines on isles plus shrines in supply is always 6"."""
    seats = [seat({"herbs": 2}, shrines=ALL_KINDS_BUT["herbs"][:shrines], favors=["shrine"])]
    assert game(position(builder="herbs", seats=seats)).legal("build") == legal


def test_build_has_no_shrine_bonus_and_asks_only_at_the_builder(game: Game) -> None:
    """§4 Build Shrine: shrines on other isles change nothing; the action has no isle of its own (§7 ``build``)."""
    seats = [seat(dict.fromkeys(KINDS, 1), shrines=["book", "tide"], favors=["shrine"])]
    assert game(position(builder="herbs", seats=seats)).legal("build") == set()
