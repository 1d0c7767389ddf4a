"""The engine and its reference side by side: every decision is played in both, everything that can be seen compared."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from engine_fast import LEDGER_SOURCES, Game, Position, RuleSet, Sheet, load_game, load_sheet, max_decisions, new_ledger
from engine_fast.check import problems
from engine_fast.components import check_sheet
from engine_fast.reference import Position as Words
from engine_fast.reference import Reference
from tests.engine_fast import policies
from tests.engine_fast.arranged import Json
from tests.engine_fast.ledgers import earned
from tests.engine_fast.schedule import OWN_SHEETS, GameSpec, sheet_of
from tests.engine_fast.witness import events

BOUNDLESS = 10**6
"""A cap that no phase reaches."""


@cache
def engine_sheet(name: str) -> Sheet:
    return check_sheet(sheet_of(name)) if name in OWN_SHEETS else load_sheet(name)


@cache
def engine_game(sheet: str, options: tuple[tuple[str, Any], ...]) -> Game:
    from tests.reference.games import OFFICIAL

    return load_game(engine_sheet(sheet), RuleSet.from_json(OFFICIAL | dict(options)))


@dataclass
class Twins:
    """One game in both programs, at one position.

    Attributes:
        seen: rare events so far.
        played: the decisions so far.
    """

    spec: GameSpec
    engine: Position
    words: Words
    reference: Reference
    unbounded: Reference
    ledger: Any
    start: list[int]
    json: Json
    seen: Counter[str] = field(default_factory=Counter)
    played: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, spec: GameSpec, rng: random.Random) -> Twins:
        """Both programs at the first position of the game; which of them draws it, is drawn."""
        sheet, game = sheet_of(spec.sheet), engine_game(spec.sheet, spec.options)
        reference = Reference(sheet, spec.ruleset)
        unbounded = Reference(sheet, spec.ruleset | {"max_actions_per_player": BOUNDLESS})
        if spec.beginning in ("arranged", "finale"):
            first = spec.arranged(rng)
        elif rng.random() < 0.3:
            first = reference.dump(reference.new(rng, spec.players, spec.beginning))
        else:
            seed = rng.randrange(2**32)
            made = Position.new(spec.players, spec.beginning, seed, game.sheet, game.ruleset, handicap=spec.handicap)
            first = made.to_json()
        assert reference.valid_setup(first) == [], (spec, first)
        engine = Position.from_json(first, game.sheet, game.ruleset)
        twins = cls(spec, engine, reference.load(first), reference, unbounded, new_ledger(), engine.influence, first)
        twins.compare()
        return twins

    def compare(self) -> None:
        """The canonical JSON, seat to move and whether the game is over; laws; the way to JSON and back."""
        text = json.dumps(self.engine.to_json())
        expected = self.reference.dump(self.words)
        after = json.loads(text)
        assert after == expected
        assert text == json.dumps(expected), "equal also in the order of keys and in what is true and what is 1"
        assert self.engine.to_move == expected["to_move"]
        assert self.engine.over == (expected["phase"] == "over")
        assert problems(self.engine.state, self.engine.game.rules) == []
        back = Position.from_json(after, self.engine.game.sheet, self.engine.game.ruleset)
        assert back.state.tobytes() == self.engine.state.tobytes()
        assert back == self.engine
        assert hash(back) == hash(self.engine)
        self.json = after

    def legal(self) -> list[str]:
        """The legal decisions, the same in both."""
        found: list[str] = self.engine.legal()
        expected = self.reference.legal(self.words)
        assert found == expected, sorted(set(found) ^ set(expected))
        return found

    def step(self, decision: str) -> None:
        """Plays a decision in both and compares all that follows."""
        before, engine, booked = self.json, self.engine, self.ledger.copy()
        self.played.append(decision)
        self.engine = engine.play(decision, self.ledger)
        unscored = self.unbounded.play(self.words, decision) if before["phase"] == "action" else None
        self.words = self.reference.play(self.words, decision)
        self.compare()
        assert self.engine != engine and hash(self.engine) != hash(engine)
        totals = [at_start + int(row.sum()) for at_start, row in zip(self.start, self.ledger, strict=False)]
        assert totals == self.engine.influence
        gained = earned(self.spec, before, decision, self.json, self.unbounded.dump(unscored) if unscored else None)
        assert np.array_equal(self.ledger - booked, gained), (self.ledger - booked, gained, LEDGER_SOURCES)
        neighbours = self.reference.rules.temple(tuple(before["boards"])).neighbours
        self.seen.update(events(self.spec, before, decision, self.json, gained, neighbours))

    def finish(self) -> None:
        """Result and length of a game that is over."""
        assert self.legal() == []
        result = {"influence": self.engine.influence, "rank": self.engine.ranking}
        assert result == self.reference.result(self.words)
        assert len(self.played) <= max_decisions(self.spec.players, self.engine.game.ruleset)


def play_game(spec: GameSpec) -> Twins:
    """Plays one game of the schedule to its end in both programs."""
    rng = random.Random(spec.key)
    twins = Twins.begin(spec, rng)
    try:
        while legal := twins.legal():
            mood = spec.moods[twins.json["to_move"]]
            twins.step(policies.choose(rng, legal, mood, spec.never_meditate))
        twins.finish()
    except Exception as error:
        error.add_note(f"{spec}\nafter {len(twins.played)} decisions, the last ones: {twins.played[-12:]}")
        error.add_note(f"position: {json.dumps(twins.json)}")
        raise
    return twins
