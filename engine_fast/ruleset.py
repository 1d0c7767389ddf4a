"""Rule sets: the two published ways to play and every [choice] of docs/RULES.md as an option. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

NAMES = ("official", "online")
MAX_FLOOR = 1000
MAX_ACTIONS = 250


class RuleSetError(ValueError):
    """A rule set that does not exist; one line that names the option and the allowed values."""


@dataclass(frozen=True)
class RuleSet:
    """How the game is played where the published texts differ or are silent.

    Attributes:
        name: `official`, or `online` for the start player with two players of the online edition (section 5).
        virtual_alone: the virtual novice may be the only novice of an action (section 4).
        virtual_promotion: the virtual novice may replace the second novice of a Promotion.
        council_overshoot: a piece may be moved by more steps than seats remain; surplus steps are lost.
        book_same_space: a Book may be put back where it was.
        same_isle_moves: Journey and Tide may land a novice on the isle it left.
        influence_floor: influence never falls below it; None for no floor.
        max_actions_per_player: an action phase ends after this many actions for each player.

    Raises:
        RuleSetError: a value is not allowed.
    """

    name: str = "official"
    virtual_alone: bool = True
    virtual_promotion: bool = True
    council_overshoot: bool = False
    book_same_space: bool = False
    same_isle_moves: bool = False
    influence_floor: int | None = 0
    max_actions_per_player: int = 60

    def __post_init__(self) -> None:
        """Refuses values that are not allowed."""
        if self.name not in NAMES:
            raise RuleSetError(f"no rule set {self.name!r}; allowed: {', '.join(NAMES)}")
        for option in BOOLEAN_OPTIONS:
            if not isinstance(getattr(self, option), bool):
                raise RuleSetError(f"option {option}: {getattr(self, option)!r} is not true or false")
        floor, actions = self.influence_floor, self.max_actions_per_player
        if floor is not None and (not _is_int(floor) or not 0 <= floor <= MAX_FLOOR):
            raise RuleSetError(f"option influence_floor: {floor!r} is not null or a whole number from 0 to {MAX_FLOOR}")
        if not _is_int(actions) or not 1 <= actions <= MAX_ACTIONS:
            raise RuleSetError(
                f"option max_actions_per_player: {actions!r} is not a whole number from 1 to {MAX_ACTIONS}"
            )

    def check_floor(self, starting_influence: int) -> None:
        """Refuses a floor above the influence that players start with.

        Raises:
            RuleSetError: `influence_floor` is above it.
        """
        if self.influence_floor is not None and self.influence_floor > starting_influence:
            raise RuleSetError(
                f"option influence_floor: {self.influence_floor} is above the starting influence; "
                f"allowed: 0 to {starting_influence}, or null"
            )

    def to_json(self) -> dict[str, Any]:
        """The map that a record's header holds (section 9)."""
        return asdict(self)

    @classmethod
    def from_json(cls, ruleset: Mapping[str, Any]) -> RuleSet:
        """The rule set of a record's header, which names every option.

        Raises:
            RuleSetError: an option is missing, unknown or has a value that is not allowed.
        """
        if not isinstance(ruleset, Mapping):
            raise RuleSetError(f"rule set {ruleset!r} is not a map with the keys {', '.join(OPTIONS)}")
        unknown = [str(key) for key in ruleset if key not in OPTIONS]
        missing = [key for key in OPTIONS if key not in ruleset]
        if unknown or missing:
            problem = f"unknown key {unknown[0]!r}" if unknown else f"missing key {missing[0]!r}"
            raise RuleSetError(f"rule set: {problem}; needed: {', '.join(OPTIONS)}")
        return cls(**ruleset)


def load_ruleset(ruleset: str | RuleSet) -> RuleSet:
    """The rule set of a name with all options as the rules have them; a `RuleSet` is returned as it is.

    Raises:
        RuleSetError: no rule set of that name.
    """
    return ruleset if isinstance(ruleset, RuleSet) else RuleSet(ruleset)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


OPTIONS = tuple(field.name for field in fields(RuleSet))
BOOLEAN_OPTIONS = tuple(field.name for field in fields(RuleSet) if isinstance(field.default, bool))
