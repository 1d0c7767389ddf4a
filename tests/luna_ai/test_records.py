"""Game records (docs/RULES.md, section 9): written, read, verified; every way in which a file can be wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine_fast import Position, RuleSet, load_sheet
from luna_ai.records import (
    Decision,
    GameEnd,
    Mismatch,
    RecordError,
    RecordFile,
    Recording,
    Result,
    Step,
    line_text,
    play_lines,
    read_lines,
    replay,
    verify,
    write_records,
)
from luna_ai.records.form import form_problem, position_problem
from luna_ai.records.lines import HEADER_KEYS, MAX_LINE_BYTES

EXAMPLES = sorted((Path(__file__).parents[1] / "data" / "examples").glob("*.jsonl"))
TWO_PLAYERS = EXAMPLES[0]
Lines = list[dict[str, Any]]


class RandomChooser:
    """Uniform over the legal decisions."""

    def __init__(self, name: str, seed: int) -> None:
        self._random = random.Random(f"{name} {seed}")

    def choose(self, position: Position) -> int:
        return int(self._random.choice(position.legal_ids()))


def recording(**changes: Any) -> Recording:
    settings: dict[str, Any] = {
        "agents": ("one", "two"),
        "setup": "standard",
        "sheet": load_sheet("reconstructed"),
        "ruleset": RuleSet(),
    }
    return Recording(**{**settings, **changes})


def write(file: Path, games: int = 2, **changes: Any) -> Path:
    write_records(file, recording(**changes), range(games), RandomChooser)
    return file


def example_lines() -> Lines:
    return [json.loads(line) for line in TWO_PLAYERS.read_text().splitlines()]


def save(file: Path, lines: Lines) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


# --- writing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": True, "legal": True},
        {"agents": ("a", "b", "c"), "setup": "preselected", "ruleset": RuleSet("online"), "positions": True},
        {"agents": ("a", "b", "c", "d"), "sheet": load_sheet("rosette"), "handicap": (0, 2, 4, -1), "legal": True},
        {"ruleset": RuleSet(council_overshoot=True, book_same_space=True, same_isle_moves=True, influence_floor=None)},
    ],
    ids=["plain", "complete", "online", "rosette-handicap", "options"],
)
def test_what_is_written_verifies_and_reads_back_to_the_same_bytes(tmp_path: Path, changes: dict[str, Any]):
    file = write(tmp_path / "games.jsonl", **changes)
    report = verify(file)
    assert (report.exit_code, report.games, report.unfinished) == (0, 2, [])
    assert "".join(line_text(line) for _, line in read_lines(file)) == file.read_text()
    steps = [event for event in replay(file) if isinstance(event, Step)]
    assert report.decisions == len(steps) - 2


def test_lines_hold_what_was_asked_for_and_nothing_else(tmp_path: Path):
    header, *decisions, last = map(json.loads, write(tmp_path / "g", games=1, handicap=(3, 0)).read_text().splitlines())
    assert tuple(header) == HEADER_KEYS
    assert header["meta"] == {
        "program": "luna-ai", "version": header["meta"]["version"], "setup": "standard", "game": 0, "handicap": [3, 0],
    }  # fmt: skip
    start = header["setup"]["start_player"]
    assert header["setup"]["seats"][start]["influence"] == 8
    assert all(list(line) == ["d"] for line in decisions)
    assert list(last["result"]) == ["influence", "rank"]
    complete = write(tmp_path / "c", games=1, positions=True, legal=True).read_text().splitlines()
    assert all(list(json.loads(line)) == ["d", "p", "legal"] for line in complete[1:-1])
    assert '", "' not in complete[1] and ": " not in complete[1]


def test_our_lines_are_the_bytes_of_the_examples():
    for file in EXAMPLES:
        text = file.read_text()
        ours = [line_text(line) for _, line in read_lines(file)]
        assert ours[1:] == text.splitlines(keepends=True)[1:]  # the header's rule set may name its options in any order


def test_the_same_seed_gives_the_same_bytes_and_every_game_can_be_made_again(tmp_path: Path):
    one, again, other = (write(tmp_path / name, 3, seed=seed) for name, seed in (("a", 5), ("b", 5), ("c", 6)))
    assert one.read_bytes() == again.read_bytes() != other.read_bytes()
    write_records(tmp_path / "last", recording(seed=5), [2], RandomChooser)
    assert one.read_text().endswith((tmp_path / "last").read_text())
    headers = [line for _, line in read_lines(one) if not isinstance(line, Decision | Result)]
    assert [(header.seed, header.meta["game"]) for header in headers] == [(5, 0), (5, 1), (5, 2)]
    assert len({json.dumps(header.setup) for header in headers}) == 3


def test_play_lines_goes_on_from_any_position():
    position = Position.new(3, "preselected", seed=4)
    for _ in range(20):
        position = position.play(RandomChooser("x", 1).choose(position))
    header = recording(agents=("a", "b", "c")).header(0, position)
    lines = list(play_lines(header, position, [RandomChooser("y", seat) for seat in range(3)]))
    assert lines[0] == header
    assert isinstance(lines[-1], Result)


def record_lines() -> Any:
    return [line for _, line in read_lines(TWO_PLAYERS)]


def add_and_raise(file: Path, games: int, error: type[BaseException]) -> None:
    """Adds whole games and breaks off in the middle of another one."""
    with RecordFile(file) as out:
        for _ in range(games):
            out.add(record_lines())
        out._stream.write('{"format":')
        raise error


def test_a_record_file_appears_only_with_whole_games(tmp_path: Path):
    file = tmp_path / "games.jsonl"
    with RecordFile(file) as out:
        out.add(record_lines())
        assert not file.exists()
    whole = file.read_text()
    for games, error in ((1, RuntimeError), (0, KeyboardInterrupt)):
        with pytest.raises(error):
            add_and_raise(file, games, error)
    with RecordFile(file) as out:
        out.discard()
    assert file.read_text() == whole
    with pytest.raises(KeyboardInterrupt):
        add_and_raise(file, 2, KeyboardInterrupt)
    assert file.read_text() == 2 * whole
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_a_link_stays_and_a_device_is_written_directly(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with RecordFile(tmp_path / "link") as out:
        out.add(record_lines())
    assert (tmp_path / "link").is_symlink()
    assert verify(tmp_path / "target").verified
    with RecordFile(Path("/dev/null")) as out:
        out.add(record_lines())
    assert not Path("/dev/null").is_file()


# --- records of other programs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_verify(file: Path):
    report = verify(file)
    assert (report.exit_code, report.games) == (0, 1)
    assert report.decisions == len(file.read_text().splitlines()) - 2


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, shuffled(item, rng)) for key, item in value.items()]
        rng.shuffle(items)
        return dict(items)
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


def loose(lines: Lines) -> bytes:
    """The same lines in another order of keys, with spaces, a byte order mark, blank lines and other line ends."""
    rng = random.Random(1)
    texts = [json.dumps(shuffled(line, rng), separators=(" , ", " : "), ensure_ascii=False) for line in lines]
    return b"\xef\xbb\xbf\r\n" + "\r\n\n  ".join(texts).encode()


def test_another_programs_habits_are_accepted(tmp_path: Path):
    lines = example_lines()
    lines[0] |= {"seed": None, "seats": ["Ügő 1", "\u0007"], "meta": {"any": [1.5, None, {"deep": "é"}]}}
    (tmp_path / "loose").write_bytes(loose(lines))
    assert verify(tmp_path / "loose").exit_code == 0
    sha = lines[0]["components_sha256"].upper()
    lines[0] |= {"seed": -(10**30), "meta": {}, "components_sha256": sha}
    for line in lines[3:60]:
        del line["p"]
    for line in lines[50:-1]:
        del line["legal"]
    assert verify(save(tmp_path / "sparse", lines)).exit_code == 0


def test_several_records_in_a_file_some_of_them_unfinished(tmp_path: Path):
    lines = example_lines()
    file = save(tmp_path / "many", [*lines, *lines[:40], *lines, *lines[:1], *lines[:-1]])
    report = verify(file)
    assert (report.exit_code, report.games, report.unfinished) == (3, 5, [2, 4, 5])
    ends = [event for event in replay(file) if isinstance(event, GameEnd)]
    assert [end.decisions for end in ends] == [len(lines) - 2, 39, len(lines) - 2, 0, len(lines) - 2]
    assert [end.result is None for end in ends] == [False, True, False, True, True]


def test_a_record_may_begin_in_the_middle_of_an_action(tmp_path: Path):
    lines = example_lines()
    middle = next(i for i, line in enumerate(lines) if line.get("p", {}).get("pending"))
    lines[0]["setup"] = lines[middle]["p"]
    assert verify(save(tmp_path / "middle", [lines[0], *lines[middle + 1 :]])).exit_code == 0


# --- what does not verify ------------------------------------------------------------------------------------------

Change = Callable[[Lines], None]


def put(path: str, value: Any) -> Change:
    """Sets the value at a path such as `12.p.seats.0.influence`, where 12 is an index of lines."""

    def change(lines: Lines) -> None:
        *parents, last = [int(key) if key.lstrip("-").isdecimal() else key for key in path.split(".")]
        at: Any = lines
        for key in parents:
            at = at[str(key)] if isinstance(at, dict) else at[key]
        at[str(last) if isinstance(at, dict) else last] = value

    return change


def drop(path: str) -> Change:
    """Removes a key or an item."""

    def change(lines: Lines) -> None:
        *parents, last = [int(key) if key.lstrip("-").isdecimal() else key for key in path.split(".")]
        at: Any = lines
        for key in parents:
            at = at[str(key)] if isinstance(at, dict) else at[key]
        del at[str(last) if isinstance(at, dict) else last]

    return change


def insert(index: int, line: dict[str, Any]) -> Change:
    return lambda lines: lines.insert(index, line) if index >= 0 else lines.append(line)


MISMATCHES: list[tuple[Change, int, str]] = [
    # decisions
    (put("5.d", "promote 28"), 6, "found the decision 'promote 28'"),
    (put("5.d", "dance"), 6, "found the decision 'dance'"),
    (put("5.d", " " + "meditate"), 6, "found the decision ' meditate'"),
    (drop("20"), 21, "one of "),
    (insert(-1, {"d": "meditate"}), 133, "expected the header of another game"),
    (insert(-1, {"result": {"influence": [68, 52], "rank": [1, 2]}}), 133, "found a line after the result"),
    (put("-1", {"d": "meditate"}), 132, "expected the result, for the game is over"),
    # positions: every kind of field
    (put("30.p.players", 3), 31, "p.players = 2; found 3"),
    (put("30.p.round", 6), 31, "p.round"),
    (put("30.p.phase", "over"), 31, "p.phase"),
    (put("30.p.start_player", 9), 31, "p.start_player"),
    (put("30.p.to_move", None), 31, "p.to_move"),
    (put("30.p.time_tokens", 9), 31, "p.time_tokens"),
    (put("30.p.actions", 7.5), 31, "p.actions"),
    (put("30.p.ring.0", "tide"), 31, "p.ring[0]"),
    (put("30.p.priestess", "nowhere"), 31, "p.priestess"),
    (put("30.p.builder", "tide"), 31, "p.builder"),
    (put("30.p.apostate", "book"), 31, "p.apostate"),
    (put("30.p.boards", [0, 2]), 31, "p.boards[0] = 2; found 0"),
    (put("2.p.book_bonus", 1), 3, "p.book_bonus = True; found 1"),
    (put("30.p.council.0", []), 31, "p.council[0]"),
    (put("30.p.seats.1.influence", 6), 31, "p.seats[1].influence"),
    (put("30.p.seats.0.active.3", 1.0), 31, "p.seats[0].active[3]"),
    (put("30.p.seats.0.inactive", []), 31, "p.seats[0].inactive"),
    (put("30.p.seats.0.landing", 1), 31, "p.seats[0].landing"),
    (put("30.p.seats.0.supply", True), 31, "p.seats[0].supply"),
    (put("30.p.seats.0.shrines", ["tide"]), 31, "p.seats[0].shrines"),
    (put("30.p.seats.0.favors", ["tide", "tide"]), 31, "p.seats[0].favors"),
    (put("30.p.tiles.25", {"at": "claimed", "owner": 0}), 31, "p.tiles.25"),
    (drop("30.p.tiles.25"), 31, "p.tiles.keys = the key '25'; found no key '25'"),
    (put("30.p.pending", {"action": "book", "from": 1}), 31, "p.pending"),
    (put("30.p.extra", 1), 31, "p.keys = no key 'extra'; found the key 'extra'"),
    (put("30.p", {}), 31, "p.keys"),
    # legal decisions
    (drop("1.legal.0"), 2, "'place-shrine book' among the legal decisions; found it missing"),
    (put("1.legal.0", "place-shrine herbs"), 2, "'place-shrine book' among the legal decisions"),
    (lambda lines: lines[1]["legal"].append("sail tide tide 1"), 2, "'sail tide tide 1' among them"),
    (lambda lines: lines[1]["legal"].append("place-shrine book"), 2, "one of them twice"),
    (lambda lines: lines[1]["legal"].reverse(), 2, "sorted by code point"),
    (put("1.legal", []), 2, "among the legal decisions"),
    # results
    (put("-1.result.influence.1", 53), 132, "result.influence[1] = 52; found 53"),
    (put("-1.result.rank", [2, 1]), 132, "result.rank[0] = 1; found 2"),
    (put("-1.result.rank", [1, 2, 3]), 132, "result.rank"),
    (drop("-2"), 131, "the game goes on in round 6; found a result"),
    (insert(50, {"result": {"influence": [1, 2], "rank": [1, 2]}}), 51, "expected a decision of seat"),
    # set-ups
    (put("0.setup.seats.0.supply", 13), 1, "14 novices"),
    (put("0.setup.seats.0.influence", 6), 2, "p.seats[0].influence = 6; found 5"),
    (put("0.setup.round", 7), 1, "round"),
    (put("0.setup.phase", "war"), 1, "phase"),
    (put("0.setup.ring.0", "tide"), 1, "ring"),
    (put("0.setup.apostate", "atlantis"), 1, "apostate"),
    (put("0.setup.boards", [2, 2]), 1, "boards"),
    (put("0.setup.council.0", [0, 1]), 1, "seat 0"),
    (put("0.setup.book_bonus", False), 1, "book_bonus"),
    (put("0.setup.time_tokens", 4), 1, "time_tokens"),
    (put("0.setup.to_move", None), 1, "to_move"),
    (put("0.setup.tiles.1.owner", 1), 1, ""),
    (put("0.setup.tiles.6", {"at": "claimed", "owner": 1}), 1, ""),
    (drop("0.setup.tiles.6"), 1, "'6'"),
    (put("0.setup.pending", {"action": "book", "from": 1}), 1, ""),
    (put("0.setup.seats.0.favors", ["tide", "book"]), 1, "favors"),
]


@pytest.mark.parametrize(("change", "line", "says"), MISMATCHES, ids=[str(i) for i in range(len(MISMATCHES))])
def test_the_first_line_that_does_not_verify_is_named(tmp_path: Path, change: Change, line: int, says: str):
    lines = example_lines()
    assert len(lines) == 132
    change(lines)
    file = save(tmp_path / "bad", lines)
    problem = verify(file).problem
    assert problem is not None
    assert (problem.line, problem.game, verify(file).exit_code) == (line, 1, 1)
    assert str(problem).startswith(f"{file}, line {line} (game 1): expected ")
    assert says in str(problem)
    assert "\n" not in str(problem)


def test_every_single_number_and_word_of_a_position_counts(tmp_path: Path):
    lines = example_lines()
    step = next(i for i, line in enumerate(lines[1:-1], 1) if "hand" in (line["p"]["pending"] or {}))
    header, decision = {**lines[0], "setup": lines[step - 1]["p"]}, json.dumps(lines[step])
    for path in leaf_paths(lines[step]["p"], "1.p"):
        short = [header, json.loads(decision)]
        put(path, "changed")(short)
        problem = verify(save(tmp_path / "bad", short)).problem
        assert problem is not None and problem.line == 2, path


def leaf_paths(value: Any, path: str) -> list[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [path] if items is None else [leaf for key, item in items for leaf in leaf_paths(item, f"{path}.{key}")]


def test_games_before_the_bad_line_are_reported(tmp_path: Path):
    lines = example_lines()
    bad = example_lines()
    put("40.d", "meditate 2")(bad)
    report = verify(save(tmp_path / "two", [*lines, *bad]))
    assert report.problem is not None
    assert (report.problem.line, report.problem.game, report.games) == (132 + 41, 2, 2)
    assert report.decisions == 130 + 39
    with pytest.raises(Mismatch, match="line 173"):
        list(replay(tmp_path / "two"))


# --- what is no record ---------------------------------------------------------------------------------------------

BROKEN: list[tuple[Change, str]] = [
    *[(drop(f"0.{key}"), "line 1: header: ") for key in HEADER_KEYS if key != "format"],
    (drop("0.format"), "line 1: header: format: None is not 'luna-record/1'"),
    (put("0.format", "luna-record/2"), "format: 'luna-record/2' is not 'luna-record/1'"),
    (put("0.format", 1), "format: 1 is not"),
    (put("0.comment", "x"), "header: unknown key 'comment'; allowed: format, components"),
    (put("0.components", 3), "components: 3 is not a text"),
    (put("0.components", "mine"), "'mine' is not packaged"),
    (put("0.components", "../sheets/rosette"), "is not packaged"),
    (put("0.components", "rosette"), "component sheet 'rosette' differs"),
    (put("0.components_sha256", "0" * 64), "component sheet 'reconstructed' differs"),
    (put("0.components_sha256", "abc"), "components_sha256: 'abc' is not 64 hexadecimal digits"),
    (put("0.ruleset", "official"), "ruleset: 'official' is not a map"),
    (drop("0.ruleset.virtual_alone"), "missing key 'virtual_alone'"),
    (put("0.ruleset.bid", True), "unknown key 'bid'"),
    (put("0.ruleset.name", "house"), "no rule set 'house'; allowed: official, online"),
    (put("0.ruleset.virtual_alone", 1), "virtual_alone: 1 is not true or false"),
    (put("0.ruleset.influence_floor", 6), "influence_floor: 6 is above the starting influence"),
    (put("0.ruleset.max_actions_per_player", 0), "max_actions_per_player"),
    (put("0.seats", ["a"]), "seats: 1 names of players, but the set-up has 2"),
    (put("0.seats", [1, 2]), "seats[0]: 1 is not a text"),
    (put("0.seats", "ab"), "seats: 'ab' is not a list"),
    (put("0.seed", 1.5), "seed: 1.5 is neither a whole number nor null"),
    (put("0.seed", True), "seed: True is neither"),
    (put("0.meta", None), "meta: None is not a map"),
    (put("0.setup", None), "setup: None is not a map"),
    (drop("0.setup.ring"), "setup: the key 'ring' is missing"),
    (put("0.setup.moon", 1), "setup: unknown key 'moon'"),
    (put("0.setup.round", "1"), "setup.round: '1' is not a whole number"),
    (put("0.setup.to_move", "1"), "setup.to_move: '1' is not a whole number or null"),
    (put("0.setup.book_bonus", 1), "setup.book_bonus: 1 is not true or false"),
    (put("0.setup.council", [1]), "setup.council[0]: 1 is not a list"),
    (put("0.setup.seats.1.favors", [3]), "setup.seats[1].favors[0]: 3 is not a text"),
    (drop("0.setup.seats.1.landing"), "setup.seats[1]: the key 'landing' is missing"),
    (put("0.setup.tiles", []), "setup.tiles: [] is not a map"),
    (put("0.setup.tiles.one", {"at": "path"}), "setup.tiles['one']: the key is not a tile number"),
    (put("0.setup.tiles.1", {"owner": 1}), "setup.tiles['1']: the key 'at' is missing"),
    (put("0.setup.tiles.1.book", "yes"), "setup.tiles['1'].book: 'yes' is not true or false"),
    (put("0.setup.pending", {"action": "walk"}), "setup.pending: the key 'stage' is missing"),
    (put("0.setup.pending", 0), "setup.pending: 0 is not a map or null"),
    (put("7.d", 4), "line 8: d: 4 is not a text"),
    (drop("7.d"), "line 8: decision: the key 'd' is missing"),
    (put("7.x", 4), "line 8: decision: unknown key 'x'; allowed: d, p, legal"),
    (put("7.p", []), "line 8: p: [] is not a map"),
    (put("7.p", None), "line 8: p: None is not a map"),
    (put("7.legal", "meditate"), "line 8: legal: 'meditate' is not a list"),
    (put("7.legal", [1]), "line 8: legal[0]: 1 is not a text"),
    (put("-1.result", [1, 2]), "line 132: result line.result: [1, 2] is not a map"),
    (put("-1.result.won", 1), "line 132: result line.result: unknown key 'won'"),
    (drop("-1.result.rank"), "line 132: result line.result: the key 'rank' is missing"),
    (put("-1.result.rank", [1.0, 2]), "line 132: result line.result.rank[0]: 1.0 is not a whole number"),
    (put("-1.comment", "x"), "line 132: result line: unknown key 'comment'"),
    (drop("0"), "line 1: not the header of a game record (luna-record/1)"),
]


@pytest.mark.parametrize(("change", "says"), BROKEN, ids=[str(i) for i in range(len(BROKEN))])
def test_a_broken_line_is_named(tmp_path: Path, change: Change, says: str):
    lines = example_lines()
    change(lines)
    file = save(tmp_path / "broken", lines)
    with pytest.raises(RecordError) as caught:
        verify(file)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{file}, line ")
    assert "\n" not in str(caught.value)


FOREIGN: list[tuple[bytes, str]] = [
    (b"", "empty, not a game record"),
    (b"\r\n \n\n", "empty, not a game record"),
    (b"\xef\xbb\xbf", "empty, not a game record"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: not the header of a game record (luna-record/1): not UTF-8"),
    (b"game,seat,influence\n1,2,3\n", "line 1: not the header of a game record (luna-record/1): not JSON"),
    (b"[1, 2]\n", "line 1: not the header of a game record (luna-record/1): [1, 2] is not a map"),
    (b'{"a": 1}\n', "line 1: not the header of a game record (luna-record/1)"),
    (b"{" * 100_000, "line 1: "),
    (b"[" * 100_000, "nested too deeply"),
    (b"1" * 5000 + b"\n", "not JSON"),
    ('{"format": "luna-record/1"'.encode("utf-16"), "not UTF-8"),
    (b"\0" * (MAX_LINE_BYTES + 5), "line 1: longer than"),
]


@pytest.mark.parametrize(("content", "says"), FOREIGN, ids=[str(i) for i in range(len(FOREIGN))])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes, says: str):
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(RecordError) as caught:
        verify(tmp_path / "foreign")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("path", [".", "missing"])
def test_what_cannot_be_read_is_an_os_error(tmp_path: Path, path: str):
    with pytest.raises(OSError, match="directory"):
        verify(tmp_path / path)


def test_a_file_cut_anywhere_is_truncated_or_unfinished(tmp_path: Path):
    whole = TWO_PLAYERS.read_bytes()
    text = whole[: whole.index(b"\n", 8000) + 1]
    rng = random.Random(3)
    inside = [rng.randrange(1, len(text)) for _ in range(30)]
    for cut in (*inside, len(text) - 2, 1):
        (tmp_path / "cut").write_bytes(text[:cut])
        if text[:cut].endswith((b"\n", b"}}")) or text[cut : cut + 1] == b"\n":
            assert verify(tmp_path / "cut").exit_code == 3
        else:
            with pytest.raises(RecordError, match="cut off in the middle, the file is truncated"):
                verify(tmp_path / "cut")
    (tmp_path / "cut").write_bytes(whole[:-1])
    assert verify(tmp_path / "cut").exit_code == 0
    (tmp_path / "cut").write_bytes(whole[:-2])
    with pytest.raises(RecordError, match="line 132: cut off"):
        verify(tmp_path / "cut")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"d": "meditate", "d": "meditate"}', "line 2: not JSON: the key 'd' stands twice in a map"),
        ('{"d": "meditate"} {"d": "meditate"}', "line 2: not JSON: Extra data"),
        ('{"d": "meditate"', "line 2: not JSON"),
        ('{"d": NaN}', "line 2: not JSON: NaN is no number"),
        ('{"d": 1e999}', "line 2: not JSON: 1e999 is no number"),
        ("{'d': 'meditate'}", "line 2: not JSON"),
        ("\0\0\0\0", "line 2: not JSON"),
    ],
)
def test_corrupted_lines(tmp_path: Path, text: str, says: str):
    header, *rest = TWO_PLAYERS.read_text().splitlines()
    (tmp_path / "corrupted").write_text("\n".join([header, text, *rest]))
    with pytest.raises(RecordError) as caught:
        verify(tmp_path / "corrupted")
    assert says in str(caught.value)


# --- component sheets ----------------------------------------------------------------------------------------------


@pytest.fixture
def own_sheet(tmp_path: Path) -> Path:
    sheet = tmp_path / "mine.yaml"
    sheet.write_text("name: mine\nextends: reconstructed\nguard_values: [9, 9, 9, 9, 9, 9]\n")
    return sheet


def test_a_sheet_of_ones_own_is_named_by_components(tmp_path: Path, own_sheet: Path):
    file = write(tmp_path / "own.jsonl", sheet=load_sheet(own_sheet), positions=True)
    with pytest.raises(RecordError, match=r"line 1: header: component sheet 'mine' is not packaged .*--components"):
        verify(file)
    assert verify(file, own_sheet).exit_code == 0
    assert verify(file, load_sheet(own_sheet)).exit_code == 0
    with pytest.raises(RecordError, match=r"component sheet 'rosette' differs .*--any-components"):
        verify(file, "rosette")


def test_packaged_sheets_are_found_beside_a_given_one(tmp_path: Path, own_sheet: Path):
    own = write(tmp_path / "own.jsonl", 1, sheet=load_sheet(own_sheet))
    both = tmp_path / "both.jsonl"
    both.write_text(own.read_text() + EXAMPLES[2].read_text())
    assert verify(both, own_sheet).exit_code == 0


def test_any_components_replays_by_another_sheet(tmp_path: Path, own_sheet: Path):
    lines = example_lines()
    lines[0]["components_sha256"] = "0" * 64
    file = save(tmp_path / "other", lines)
    assert verify(file, any_components=True).exit_code == 0
    report = verify(file, own_sheet, any_components=True)  # the Guard's values show at the first Sanctification
    assert report.problem is not None and "influence" in str(report.problem)
    lines[0]["components"] = "nobody's"
    save(file, lines)
    with pytest.raises(RecordError, match="not packaged"):
        verify(file, any_components=True)


# --- forms ---------------------------------------------------------------------------------------------------------


def test_forms_are_exact_about_types():
    assert form_problem("x", 1, int) == ""
    assert form_problem("x", True, int) == "x: True is not a whole number"
    assert form_problem("x", [[1], [True]], [[int]]) == "x[1][0]: True is not a whole number"
    assert form_problem("x", {"a": None}, {"a": (int, None)}) == ""
    assert form_problem("x", {"b": 1}, {"a": int}) == "x: unknown key 'b'; allowed: a"


def test_every_position_of_the_examples_has_the_form():
    for file in EXAMPLES:
        for text in file.read_text().splitlines()[1:-1]:
            assert position_problem("p", json.loads(text)["p"]) == ""
