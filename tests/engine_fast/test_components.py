"""Component sheets: docs/RULES.md sections 1, 2 and 9; every error names the field and what is allowed."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine_fast.components import KINDS, LIMITS, SheetError, check_sheet, load_sheet, packaged_sheets
from engine_fast.sheet_yaml import read_sheet

SHA256 = {
    "reconstructed": "0c8f66e97a986af0496ddf04316763c188e2f9d2307e65eaabaf942b2d3c91f6",
    "rosette": "f616bc837f77afe71390542011860d59bd1e2e733a00d679afe6957c578379d1",
}


@pytest.fixture
def mapping() -> dict[str, Any]:
    return read_sheet("reconstructed")


def write(folder: Path, text: str, name: str = "own.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_packaged_sheets_have_the_published_hashes():
    assert {name: load_sheet(name).sha256 for name in packaged_sheets()} == SHA256


def test_values_are_those_of_the_file():
    sheet = load_sheet("reconstructed")
    assert (sheet.name, sheet.starting_influence, sheet.novices, sheet.shrines) == ("reconstructed", 5, 13, 6)
    assert sheet.guard_values == (6, 5, 4, 3, 2, 2)
    assert sheet.time_tokens == {2: 3, 3: 4, 4: 4}
    assert (sheet.moon_priestess[4].move, sheet.moon_priestess[4].points) == (6, (6, 3, 1))
    assert (sheet.master_builder.move, sheet.council) == (4, tuple(range(13)))
    assert (sheet.end_influence.shrine, sheet.end_influence.favor) == (4, 1)
    assert (sheet.temple.boards[3][0].tile, sheet.temple.boards[3][0].symbol) == (26, "sailboat")
    assert sheet.preselected.figures == {"priestess": "tide", "builder": "herbs", "apostate": "bribery"}
    assert sheet.preselected.seats[1].novices == ("tide", "herbs", "bribery", "shrine")


def test_extends_replaces_lists_and_merges_maps():
    sheet = load_sheet("rosette")
    assert sheet.council == (0, 0, 1, 2, 3, 4, 6, 8, 10, 12)
    assert sheet.temple.slot_shift == (3, 1)
    assert sheet.temple.boards == load_sheet("reconstructed").temple.boards


def test_sheets_are_values():
    sheet = load_sheet("rosette")
    again = pickle.loads(pickle.dumps(sheet))
    assert again == sheet
    assert hash(again) == hash(sheet)
    assert sheet != load_sheet("reconstructed")
    assert sheet != "rosette"
    assert load_sheet(sheet) is sheet
    sheet.resolved["council"][0] = 99
    assert sheet.resolved["council"][0] == 0


def test_resolved_gives_the_same_sheet_with_text_or_number_keys():
    sheet = load_sheet("rosette")
    numbers = sheet.resolved
    numbers["time_tokens"] = {int(key): value for key, value in numbers["time_tokens"].items()}
    assert check_sheet(sheet.resolved) == check_sheet(numbers) == sheet


def test_neighbours_in_the_rosette_board():
    """Flower of seven hexes: tile 24 in the middle of board 0 touches the six around it."""
    neighbours = load_sheet("rosette").neighbours((0,))
    assert neighbours[24] == {1, 17, 8, 11, 27, 14}
    assert neighbours[1] == {17, 8, 24}


def test_neighbours_across_slots():
    """Rows of 3 and 4 in turn: tile 24 (1, 0) touches 12 at (0, 1) + (2, 0) when board 1 lies in slot 1."""
    sheet = load_sheet("reconstructed")
    assert 12 in sheet.neighbours((0, 1))[24]
    assert 12 not in sheet.neighbours((1, 0))[24]


@pytest.mark.parametrize("name", sorted(SHA256))
def test_neighbours_are_mutual_and_by_coordinates(name: str):
    sheet = load_sheet(name)
    order = (2, 0, 3, 1)
    places, neighbours = sheet.coordinates(order), sheet.neighbours(order)
    assert set(neighbours) == set(range(1, 29))
    for tile, (x, y) in places.items():
        near = {t for t, (u, v) in places.items() if (abs(u - x), abs(v - y)) in ((0, 2), (1, 1))}
        assert neighbours[tile] == near


@pytest.mark.parametrize("order", [(), (0, 0), (0, 4), (-1, 0)])
def test_board_orders_that_do_not_exist(order: tuple[int, ...]):
    with pytest.raises(ValueError, match="different numbers from 0 to 3"):
        load_sheet("rosette").coordinates(order)


def set_at(mapping: dict[str, Any], path: str, value: Any) -> None:
    *way, last = (int(key) if key.isdecimal() else key for key in re.findall(r"[^.\[\]]+", path))
    place: Any = mapping
    for key in way:
        place = place[str(key) if isinstance(place, dict) else key]
    place[str(last) if isinstance(place, dict) else last] = value


FLAT = [[0, 0], [0, 2], [0, 4], [0, 6], [0, 8], [0, 10], [0, 12]]

WRONG_VALUES = [
    ("name", "", "printable"),
    ("name", " \t", "printable"),
    ("name", "two\nlines", "printable"),
    ("name", 7, "printable"),
    ("starting_influence", -1, "0 to 1000"),
    ("starting_influence", True, "0 to 1000"),
    ("starting_influence", 5.0, "0 to 1000"),
    ("starting_influence", "5", "0 to 1000"),
    ("starting_influence", None, "0 to 1000"),
    ("novices", 14, "9 to 13"),
    ("novices", 8, "9 to 13"),
    ("shrines", 0, "1 to 7"),
    ("shrines", 8, "1 to 7"),
    ("guard_values", [6, 5, 4, 3, 2], "allowed: 6"),
    ("guard_values", 6, "not a list of 6"),
    ("guard_values[2]", 101, "0 to 100"),
    ("guard_values[2]", False, "0 to 100"),
    ("time_tokens.3", 0, "1 to 15"),
    ("time_tokens.3", 16, "1 to 15"),
    ("time_tokens.5", 4, "unknown key; allowed: 2, 3, 4"),
    ("time_tokens", [3, 4, 4], "not a map with the keys 2, 3, 4"),
    ("moon_priestess.2", 5, "keys move, points"),
    ("moon_priestess.2.move", 21, "0 to 20"),
    ("moon_priestess.2.points", [5, 2], "allowed: 3"),
    ("moon_priestess.2.points[1]", -1, "0 to 100"),
    ("moon_priestess.2.mooves", 3, "unknown key; allowed: move, points"),
    ("master_builder.move", "4", "0 to 20"),
    ("council", [0], "allowed: 2 to 16"),
    ("council", [0] * 17, "allowed: 2 to 16"),
    ("council[12]", 101, "0 to 100"),
    ("end_influence.shrine", 101, "0 to 100"),
    ("end_influence.temple", 1, "unknown key; allowed: shrine, favor"),
    ("temple.space_xy[6]", [1, 6, 0], "allowed: 2"),
    ("temple.space_xy[6]", [1, 101], "-100 to 100"),
    ("temple.space_xy[6]", [1, 7], "x + y must be odd"),
    ("temple.space_xy[6]", [0, 1], "two spaces at one place"),
    ("temple.space_xy", FLAT[:6], "allowed: 7"),
    ("temple.slot_shift", [0, 0], "not both 0"),
    ("temple.slot_shift", [1, 0], "x + y must be even"),
    ("temple.slot_shift", [0, 2], "space 1 of slot 0 and space 0 of slot 1"),
    ("temple.slot_shift", [2], "allowed: 2"),
    ("temple.boards", [], "allowed: 4"),
    ("temple.boards[1]", [], "allowed: 7"),
    ("temple.boards[1][0].tile", 29, "1 to 28"),
    ("temple.boards[1][0].tile", 17, "tile 17 lies on temple.boards[0][1] too, tile 12 nowhere"),
    ("temple.boards[1][0].symbol", "guard", ", ".join(KINDS)),
    ("temple.boards[1][0].symbol", ["book"], ", ".join(KINDS)),
    ("temple.boards[1][0].number", 12, "unknown key; allowed: tile, symbol"),
    ("preselected.ring[0]", "novice", "missing: tide"),
    ("preselected.ring", ["tide"], "allowed: 7"),
    ("preselected.figures.apostate", "temple", ", ".join(KINDS)),
    ("preselected.figures.guard", "tide", "allowed: priestess, builder, apostate"),
    ("preselected.seats", [], "allowed: 4"),
    ("preselected.seats[1].shrine", "novice", "'novice' is not one of book, bribery, sailboat"),
    ("preselected.seats[1].novices[1]", "tide", "'tide' is not one of"),
    ("preselected.seats[1].novices[1]", "sailboat", "'sailboat' is not one of"),
    ("preselected.seats[1].novices", ["tide"], "allowed: 4"),
    ("known", "rules", "is not a map"),
    ("known.council", "guessed", "rules, source, assumed"),
    ("known.counsel", "rules", "no such field"),
    ("known.name", "rules", "no such field"),
    ("known.temple.colour", "rules", "no such field"),
    ("colour", "blue", "unknown key; allowed: name, starting_influence"),
]


@pytest.mark.parametrize(("path", "value", "allowed"), WRONG_VALUES)
def test_a_wrong_value_is_named(mapping: dict[str, Any], path: str, value: Any, allowed: str):
    if path.startswith("known."):
        mapping["known"][path.removeprefix("known.")] = value
    else:
        set_at(mapping, path, value)
    with pytest.raises(SheetError) as caught:
        check_sheet(mapping)
    message = str(caught.value)
    assert allowed in message
    assert "\n" not in message
    field = re.sub(r"(\[\d+\])+$", "", path)
    assert field in message


@pytest.mark.parametrize("path", [*[p for p in read_sheet("reconstructed") if p != "known"], "temple.slot_shift"])
def test_a_missing_value_is_named(mapping: dict[str, Any], path: str):
    *way, last = path.split(".")
    place = mapping
    for key in way:
        place = place[key]
    del place[last]
    with pytest.raises(SheetError, match=re.escape(path)):
        check_sheet(mapping)


def test_known_may_be_absent(mapping: dict[str, Any]):
    del mapping["known"]
    sheet = check_sheet(mapping)
    assert sheet.how_known("council") is None
    assert sheet.sha256 == SHA256["reconstructed"]


def test_how_known_is_said_for_a_field_or_what_holds_it():
    sheet = load_sheet("rosette")
    assert sheet.how_known("moon_priestess.move") == "rules"
    assert sheet.how_known("moon_priestess.points") == "assumed"
    assert sheet.how_known("temple.boards") == "assumed"


def test_two_low_tiles_on_a_board(mapping: dict[str, Any]):
    boards = mapping["temple"]["boards"]
    boards[0][1], boards[1][3] = copy.copy(boards[1][3]), copy.copy(boards[0][1])
    with pytest.raises(SheetError, match=r"temple\.boards\[0\]: holds 2 of the tiles 1 to 4"):
        check_sheet(mapping)


def test_boards_need_not_touch(mapping: dict[str, Any]):
    mapping["temple"]["slot_shift"] = [40, 0]
    assert check_sheet(mapping).neighbours((0, 1))[14] == {8, 27}


LIMIT_PLACES: dict[str, Callable[[dict[str, Any], int], None]] = {
    "starting_influence": lambda sheet, value: set_at(sheet, "starting_influence", value),
    "novices": lambda sheet, value: set_at(sheet, "novices", value),
    "shrines": lambda sheet, value: set_at(sheet, "shrines", value),
    "influence": lambda sheet, value: set_at(sheet, "guard_values", [value] * 6),
    "time_tokens": lambda sheet, value: set_at(sheet, "time_tokens.2", value),
    "move": lambda sheet, value: set_at(sheet, "moon_priestess.4.move", value),
    "council": lambda sheet, value: set_at(sheet, "council", [0] * value),
    "space_xy": lambda sheet, value: set_at(sheet, "temple.slot_shift", [value, 0]),
}


@pytest.mark.parametrize("limit", sorted(LIMITS))
def test_both_ends_of_each_limit(mapping: dict[str, Any], limit: str):
    low, high = LIMITS[limit]
    for value in (low, high):
        LIMIT_PLACES[limit](mapping, value)
        check_sheet(mapping)
    for value in (low - 1, high + 1):
        LIMIT_PLACES[limit](mapping, value)
        with pytest.raises(SheetError):
            check_sheet(mapping)


def test_extends_a_packaged_sheet_and_a_file_beside_it(tmp_path: Path):
    write(tmp_path, "name: base\nextends: rosette\nnovices: 11\n", "base.yaml")
    sheet = load_sheet(write(tmp_path, "name: own\nextends: base.yaml\ntime_tokens: {2: 5}\n"))
    assert (sheet.name, sheet.novices, sheet.time_tokens, sheet.temple.slot_shift) == (
        "own",
        11,
        {2: 5, 3: 4, 4: 4},
        (3, 1),
    )


def test_a_changed_value_is_assumed_unless_said(tmp_path: Path):
    text = (
        "name: own\nextends: reconstructed\nguard_values: [9, 5, 4, 3, 2, 2]\nnovices: 12\nknown: {novices: source}\n"
    )
    sheet = load_sheet(write(tmp_path, text))
    assert sheet.how_known("guard_values") == "assumed"
    assert sheet.how_known("novices") == "source"
    assert sheet.how_known("shrines") == "rules"


BROKEN_FILES = [
    ("name: a\nname: b\n", "line 2: key 'name' stands twice"),
    ("name: a\nextends: rosette\ntime_tokens: {2: 3, 2: 4}\n", "line 3: key '2' stands twice"),
    ("name: a\nextends: rosette\ntime_tokens: {2: 3, '2': 4}\n", "key '2' stands twice"),
    ("name: a\nextends: rosette\ntime_tokens: {2.5: 3}\n", "key 2.5 is neither"),
    ("name: a\nextends: rosette\ntime_tokens: {true: 3}\n", "key True is neither"),
    ("name: [a\n", "line 2: expected ',' or ']'"),
    ("\tname: a\n", "line 1: found character"),
    ("name: a\x00\n", "not allowed"),
    ("name: !!python/object:os.system a\n", "line 1: could not determine a constructor"),
    ("name: a\n---\nname: b\n", "line 2: but found another document"),
    ("- 1\n", "a map of fields, not list"),
    ("", "a map of fields, not NoneType"),
    ("extends: rosette\n", "name: missing"),
    ("name: a\nextends: no-such-sheet\n", "allowed: reconstructed, rosette, or the path"),
    ("name: a\nextends: own.yaml\n", "in a circle"),
    ("name: a\nextends: [rosette]\n", "extends: no component sheet"),
    ("name: a\nextends: rosette\ncouncil: &x [*x]\n", "nested deeper"),
    ("name: a\ncouncil: " + "[" * 5000 + "\n", "not readable as YAML"),
    ("name: a\nextends: rosette\nknown: []\n", "known: [] is not a map"),
    ("name: a\nextends: rosette\nnovices: 2026-13-45\n", "not readable as YAML"),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN_FILES)
def test_a_broken_file_is_one_clear_line(tmp_path: Path, text: str, problem: str):
    file = write(tmp_path, text)
    with pytest.raises(SheetError) as caught:
        load_sheet(file)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path):
    binary = tmp_path / "sheet.yaml"
    binary.write_bytes(b"\xff\xfe\x00name")
    large = write(tmp_path, "#" * 1_000_001, "large.yaml")
    cases: list[tuple[str | Path, str]] = [
        (binary, "not a text file"),
        (large, "larger than 1,000,000 bytes"),
        (tmp_path, "cannot be read"),
        (tmp_path / "none.yaml", "no component sheet"),
        ("x" * 5000, "no component sheet"),
        ("", "no component sheet"),
    ]
    for path, problem in cases:
        with pytest.raises(SheetError, match=problem):
            load_sheet(path)


def test_extends_in_a_circle_of_two(tmp_path: Path):
    write(tmp_path, "name: a\nextends: b.yaml\n", "a.yaml")
    with pytest.raises(SheetError, match="in a circle"):
        load_sheet(write(tmp_path, "name: b\nextends: a.yaml\n", "b.yaml"))


def test_the_limits_are_documented():
    text = (Path(__file__).parents[2] / "docs" / "components.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (-?\d+) \| (-?\d+) \|", text, re.MULTILINE)
    assert {name: (int(low), int(high)) for name, low, high in rows} == LIMITS
