"""`luna analyse`: what it says of decisions, that a blunder is found, and what a user meets who gets it wrong."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine_fast import NOTATIONS, Position
from luna_ai.analysis import (
    AnalysisError,
    GameAnalysis,
    Judgement,
    Option,
    analyse_game,
    analyse_games,
    judge,
    searcher_of,
)
from luna_ai.cli import main
from luna_ai.players import parse_player
from luna_ai.search.mcts import Candidate, Search, SearchResult
from luna_ai.turns import Choice, RecordedGame, Turn, read_games

EXAMPLES = sorted((Path(__file__).parents[1] / "data" / "examples").glob("*.jsonl"))
TWO_PLAYERS, THREE_PLAYERS, FOUR_PLAYERS = map(str, EXAMPLES)
QUICK = ("--player", "mcts:sims=20,nodes=64")
SEEDS = (11, 12, 13)


def luna(*arguments: str | Path) -> int:
    return main([str(argument) for argument in arguments])


def analysed(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> tuple[dict[str, Any], str]:
    """What `luna analyse` writes and prints."""
    assert luna("analyse", *arguments, *QUICK, "--json", "found.json") == code
    return json.loads(Path("found.json").read_text()), capsys.readouterr().out


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with records that are finished, unfinished, wrong and broken, and one with two games."""
    monkeypatch.chdir(tmp_path)
    lines = Path(TWO_PLAYERS).read_text().splitlines(keepends=True)
    for name, text in {
        "finished": "".join(lines),
        "unfinished": "".join(lines[:90]),
        "header": lines[0],
        "two": "".join(lines[:20]) + Path(THREE_PLAYERS).read_text(),
        "illegal": "".join([*lines[:9], '{"d":"build"}\n', *lines[10:]]),
        "truncated": "".join(lines)[:-20],
        "empty": "",
        "sheet": lines[0].replace("0c8f", "0000"),
        "unknown": lines[0].replace('"reconstructed"', '"mine"'),
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def game() -> RecordedGame:
    return next(read_games(Path(TWO_PLAYERS)))


# --- how a decision is judged, with searches whose results are given ---------------------------------------------


class Oracle:
    """A search that prefers some decisions, and knows the first seat's chance after every decision."""

    def __init__(self, start: Position, visits: dict[str, int], chances: dict[str, float]) -> None:
        self.start, self.visits = start, visits
        self.chances = {start.play(decision): chance for decision, chance in chances.items()} | {start: 0.4}
        self.asked: list[tuple[Position, int]] = []

    def __call__(self, position: Position, seed: int, stop: Callable[[], bool]) -> SearchResult:
        self.asked.append((position, seed))
        nothing = np.full(4, np.nan)
        visits = {action: self.visits.get(NOTATIONS[action], 0) for action in position.legal_ids()}
        found = [Candidate(action, count, 0.5, 0.1, nothing) for action, count in visits.items()]
        found.sort(key=lambda candidate: -candidate.visits)
        chance = self.chances[position]
        return SearchResult(tuple(found), np.array([chance, 1 - chance, 0, 0]), 50, 50, 9, 0.1)


def first_turn(decision: str) -> Turn:
    return Turn(1, Position.new(2, seed=1, start_player=0), decision)


def test_the_loss_is_between_searches_after_the_best_and_after_the_played_decision() -> None:
    turn = first_turn("place-shrine book")
    oracle = Oracle(
        turn.position,
        {"place-shrine tide": 30, "place-shrine book": 2},
        {"place-shrine tide": 0.7, "place-shrine book": 0.25},
    )
    found = judge(turn, oracle, SEEDS, top=5)
    after = [turn.position.play(f"place-shrine {kind}") for kind in ("tide", "book")]
    assert oracle.asked == list(zip([turn.position, *after], SEEDS, strict=True))
    assert (found.number, found.seat, found.round, found.phase, found.legal) == (1, 0, 1, "shrines", 6)
    assert (found.values, found.after_played) == ((0.4, 0.6), (0.25, 0.75))
    assert found.after_best == pytest.approx((0.7, 0.3))
    assert found.loss == pytest.approx(0.45)
    assert [option.decision for option in found.best] == ["place-shrine tide", "place-shrine book"]
    assert (found.played.visits, found.place) == (2, 2)


def test_the_best_decision_has_no_loss_and_costs_no_third_search() -> None:
    turn = first_turn("place-shrine tide")
    oracle = Oracle(turn.position, {"place-shrine tide": 30}, {"place-shrine tide": 0.1})
    found = judge(turn, oracle, SEEDS, top=1)
    assert len(oracle.asked) == 2
    assert (found.loss, found.place, found.after_played) == (0, 1, found.after_best)


def test_a_played_decision_that_a_closer_look_finds_better_has_no_loss() -> None:
    turn = first_turn("place-shrine book")
    oracle = Oracle(turn.position, {"place-shrine tide": 3}, {"place-shrine tide": 0.5, "place-shrine book": 0.6})
    found = judge(turn, oracle, SEEDS, top=3)
    assert (found.loss, found.place > 1, found.played.value) == (0, True, None)


def test_a_decision_that_ends_the_game_is_worth_its_result(game: RecordedGame) -> None:
    turn = game.turns[-1]
    _, search = searcher_of(parse_player("mcts:sims=20"))
    found = judge(turn, search, SEEDS, top=3)
    assert found.after_played == tuple(float(rank == 1) for rank in game.about["rank"])


def judged(number: int, best: float, played: float) -> Judgement:
    """A judgement of seat 0 with given chances after the best and the played decision."""
    chances = ((best, 1 - best), (played, 1 - played))
    return Judgement(number, 1, "action", 0, 2, 9, (0.5, 0.5), (), Option("meditate", 0, None, 0.5), 2, *chances)


def test_mistakes_are_sorted_by_loss_and_decisions_without_loss_are_none() -> None:
    judgements = (judged(1, 0.5, 0.4), judged(2, 0.5, 0.5), judged(3, 0.9, 0.1), judged(4, 0.3, 0.6))
    found = GameAnalysis({"seats": ["a", "b"]}, 5, 1, judgements)
    assert [judgement.number for judgement in found.mistakes(9)] == [3, 1]
    assert [judgement.number for judgement in found.mistakes(1)] == [3]
    assert found.complete and not replace(found, chosen=6).complete
    first, second = found.by_seat()
    assert (first["decisions"], first["first_choice"], first["mean_loss"]) == (4, 0, pytest.approx(0.9 / 4))
    assert (second["decisions"], second["first_choice"], second["mean_loss"]) == (0, None, None)


def test_only_searches_can_analyse() -> None:
    with pytest.raises(AnalysisError, match="player 'greedy' does not search; allowed: mcts:sims=400"):
        searcher_of(parse_player("greedy"))
    assert searcher_of(parse_player("mcts:sims=7"))[0] == "mcts:sims=7,reuse=false"


# --- real searches -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", ["mcts:sims=60", "mcts:sims=60,rule=uct"])
def test_a_planted_blunder_is_the_largest_mistake(files: Path, player: str) -> None:
    """Decision 84, three steps up in the Council that decide who is first there, becomes a wasted Time token."""
    lines = Path(TWO_PLAYERS).read_text().splitlines(keepends=True)
    assert "council" in lines[84]
    (files / "blunder").write_text("".join([*lines[:84], '{"d":"meditate"}\n']))
    (game,) = read_games(files / "blunder")
    found = analyse_game(game, Choice(first=70), searcher_of(parse_player(player))[1])
    worst = found.mistakes(3)[0]
    assert (worst.number, worst.played.decision) == (84, "meditate")
    assert worst.loss > 0.4


def test_a_decision_gets_the_same_figures_whatever_else_is_analysed(game: RecordedGame) -> None:
    _, search = searcher_of(parse_player("mcts:sims=20"))
    few = analyse_game(game, Choice(40, 42), search, seed=5)
    again = analyse_game(game, Choice(41, 60, seat=game.turns[40].seat), search, seed=5)
    assert few.judgements[1] == again.judgements[0]
    other = analyse_game(game, Choice(40, 42), search, seed=6)
    assert other.judgements != few.judgements


def test_every_search_has_the_whole_budget_and_an_empty_tree(
    game: RecordedGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulations: list[tuple[int, int]] = []

    class Counted(Search):
        def __call__(self, position: Position, stop: Callable[[], bool] = lambda: False) -> SearchResult:
            found = super().__call__(position, stop)
            simulations.append((found.played, found.simulations))
            return found

    monkeypatch.setattr("luna_ai.analysis.Search", Counted)
    found = analyse_game(game, Choice(20, 30), searcher_of(parse_player("mcts:sims=30"))[1])
    assert set(simulations) == {(30, 30)}
    missed = sum(judgement.place > 1 for judgement in found.judgements)
    assert len(simulations) == 2 * len(found.judgements) + missed


# --- the verb ------------------------------------------------------------------------------------------------------


def test_figures_and_text(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, text = analysed(capsys, "finished", "--from", "66", "--to", "91", "--top", "2", "--mistakes", "4")
    assert {key: found[key] for key in ("file", "seed", "complete")} == {
        "file": "finished",
        "seed": 0,
        "complete": True,
    }
    assert found["player"] == "mcts:sims=20,nodes=64,reuse=false"
    (game,) = found["games"]
    assert (game["game"], game["seats"], game["decisions"], game["finished"]) == (1, ["temple", "temple"], 130, True)
    assert (game["chosen"], game["complete"]) == (26, True)
    assert (game["forced"], len(game["judgements"])) == (5, 21)
    keys = ["number", "round", "phase", "seat", "legal", "simulations", "values", "best", "played", "place"]
    for judgement in game["judgements"]:
        assert list(judgement) == [*keys, "after_best", "after_played", "loss"]
        assert all(sum(judgement[key]) == pytest.approx(1) for key in ("values", "after_best", "after_played"))
        assert 1 <= len(judgement["best"]) <= 2 and judgement["legal"] > 1
        visits = [option["visits"] for option in judgement["best"]]
        assert all(visits) and set(judgement["played"]) == {"decision", "visits", "value", "prior", "policy"}
        assert (judgement["place"] == 1) == (judgement["played"] == judgement["best"][0])
    losses = {judgement["number"]: judgement["loss"] for judgement in game["judgements"]}
    assert len(game["mistakes"]) <= 4
    assert [losses[number] for number in game["mistakes"]] == sorted(losses.values())[::-1][: len(game["mistakes"])]
    flat = " ".join(text.split())
    assert f"game 1, 130 decisions, finished: {len(losses)} analysed, {game['forced']} forced, by mcts:sims=20" in flat
    for words in ("chances to win by seat", "best decisions", "by seat", "largest mistakes", "0 temple"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 120


def test_the_played_decisions_are_those_of_the_record(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = analysed(capsys, "unfinished", "--from", "60", code=3)
    lines = [json.loads(line) for line in (files / "unfinished").read_text().splitlines()]
    for judgement in found["games"][0]["judgements"]:
        assert judgement["played"]["decision"] == lines[judgement["number"]]["d"]


def test_the_same_seed_gives_the_same_output(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [analysed(capsys, "finished", "--from", "30", "--to", "40", "--seed", seed) for seed in "778"]
    assert found[0] == found[1]
    assert found[0][0]["games"] != found[2][0]["games"]


def test_games_and_seats_are_chosen(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, text = analysed(capsys, "two", "--to", "16", "--seat", "1", code=3)
    assert [(game["game"], game["finished"]) for game in found["games"]] == [(1, False), (2, True)]
    assert {judgement["seat"] for game in found["games"] for judgement in game["judgements"]} == {1}
    assert "game 1, 19 decisions, unfinished in round 1" in text
    alone, _ = analysed(capsys, "two", "--to", "16", "--seat", "1", "--game", "2")
    assert alone["games"] == found["games"][1:]


def test_no_list_of_mistakes_if_none_is_asked_for(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, text = analysed(capsys, "finished", "--from", "30", "--to", "34", "--mistakes", "0")
    assert found["games"][0]["mistakes"] == []
    assert "largest mistakes" not in text


def test_a_wrong_line_behind_the_chosen_game_is_not_met(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "late").write_text((files / "finished").read_text() + (files / "illegal").read_text())
    assert luna("analyse", "late", *QUICK, "--game", "1", "--to", "3") == 0
    capsys.readouterr()
    assert luna("analyse", "late", *QUICK, "--game", "2", "--to", "3") == 1


def test_a_record_that_does_not_verify(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert luna("analyse", "illegal", *QUICK, "--json", "found.json") == 1
    caught = capsys.readouterr()
    assert caught.out == "" and not (files / "found.json").exists()
    (line,) = caught.err.splitlines()
    assert line.startswith("luna analyse: does not verify: illegal, line 10 (game 1): expected one of ")


BAD_INPUT = [
    ("", "RECORD: missing"),
    ("missing", "missing: No such file or directory"),
    ("folder", "folder: Is a directory"),
    ("empty", "empty: empty, not a game record"),
    ("truncated", "truncated, line 132: cut off in the middle, the file is truncated"),
    ("sheet", "component sheet 'reconstructed' differs from the record's"),
    ("unknown", "component sheet 'mine' is not packaged (reconstructed, rosette); name its file"),
    ("header", "no decision was chosen; allowed: decisions 1 to 0, seats 0 to 1"),
    ("finished --components nonsuch", "no component sheet 'nonsuch'"),
    ("finished --player greedy", "player 'greedy' does not search; allowed: mcts:sims=400"),
    ("finished --player nobody", "player 'nobody' is unknown; allowed: "),
    ("finished --player mcts:sims=0", "mcts: sims=0 is not a whole number from 1"),
    ("finished --game 2", "game 2 is not in finished; allowed: 1 to 1"),
    ("finished --game 0", "--game: '0' is not a whole number from 1"),
    ("finished --from 131", "no decision was chosen; allowed: decisions 1 to 130, seats 0 to 1"),
    ("finished --seat 2", "no decision was chosen; allowed: decisions 1 to 130, seats 0 to 1"),
    ("finished --seat 4", "--seat: '4' is not a whole number from 0 to 3"),
    ("finished --from 9 --to 8", "--to: 8 comes before --from 9"),
    ("finished --from 0", "--from: '0' is not a whole number from 1"),
    ("finished --top 0", "--top: '0' is not a whole number from 1"),
    ("finished --mistakes -1", "--mistakes: '-1' is not a whole number from 0"),
    ("finished --json no/such/x", "--json: 'no/such/x' cannot be written"),
]


@pytest.mark.parametrize(("arguments", "problem"), BAD_INPUT, ids=[arguments for arguments, _ in BAD_INPUT])
def test_bad_input_is_one_line_and_exit_code_2(
    files: Path, capfd: pytest.CaptureFixture[str], arguments: str, problem: str
) -> None:
    assert luna("analyse", *arguments.split()) == 2
    (line,) = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("compiling")]
    assert line.startswith("luna analyse: error: ") and problem in line


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_ctrl_c_keeps_what_is_finished(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = analysed(capsys, "finished", "--from", "20", "--to", "45")
    calls = iter(range(1000))

    class Interrupted(Search):
        def __call__(self, position: Position, stop: Callable[[], bool] = lambda: False) -> SearchResult:
            if next(calls) == 20:
                os.kill(os.getpid(), signal.SIGINT)
            return super().__call__(position, stop)

    monkeypatch.setattr("luna_ai.analysis.Search", Interrupted)
    assert luna("analyse", "finished", "--from", "20", "--to", "45", *QUICK, "--json", "found.json") == 130
    caught, found = capsys.readouterr(), json.loads((files / "found.json").read_text())
    assert caught.err.splitlines()[-1] == "luna analyse: interrupted, the decisions above are kept"
    (game,), (whole_game,) = found["games"], whole["games"]
    assert not found["complete"] and not game["complete"]
    assert 6 < len(game["judgements"]) < len(whole_game["judgements"])
    assert game["judgements"] == whole_game["judgements"][: len(game["judgements"])]
    assert "not looked at" in caught.out


def test_games_after_an_interrupt_are_left_out(game: RecordedGame) -> None:
    name, search = searcher_of(parse_player("mcts:sims=5"))
    done: list[int] = []

    def advance() -> None:
        done.append(1)

    stop_after_five = (lambda: len(done) >= 5, advance)
    found = analyse_games(Path("x"), [game, game], Choice(20, 24), (name, search), 0, 3, *stop_after_five)
    assert (len(found.games), found.interrupted, found.exit_code) == (1, True, 130)
    assert found.games[0].complete
