"""What an arena plays: a round robin of many players, or matches of one challenger against others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from luna_ai.arena.sequential import ALPHA, BETA, MIN_BLOCKS

PLAYER_COUNTS = (2, 3, 4)
SEATINGS = ("all", "rotations")
MOST_PLAYERS = 64
EXTENDABLE = ("deals", "max_deals")
"""Settings that only say how long to play: with more of them, an arena goes on."""


class InvalidArena(ValueError):
    """A setting of an arena that makes no sense."""


@dataclass(frozen=True, kw_only=True)
class Arena:
    """What round robins and matches have in common.

    Attributes:
        players: player counts, each 2, 3 or 4; each is played and reported by itself.
        seatings: `all` orders of the players around the table, or their `rotations` (fewer games a deal).
        seed: of all chance.
        setup: `standard` or `preselected`.
        components: sheet, a name or a file.
        ruleset: label of a rule set (`luna_ai.runner.ruleset_label`).
        handicap: influence added at the start by turn position; empty for none.
    """

    mode: ClassVar[str]

    players: tuple[int, ...] = PLAYER_COUNTS
    seatings: str = "all"
    seed: int = 0
    setup: str = "standard"
    components: str = "reconstructed"
    ruleset: str = "official"
    handicap: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_choice("players", self.players, PLAYER_COUNTS)
        check_choice("seatings", (self.seatings,), SEATINGS)
        check_least(self, "seed", 0)
        for players in self.players:
            if len(self.handicap) not in (0, players):
                raise InvalidArena(f"handicap must be {players} numbers with {players} players: {list(self.handicap)}")

    @property
    def names(self) -> tuple[str, ...]:
        """All players."""
        raise NotImplementedError

    def identity(self) -> dict[str, Any]:
        """Everything that a game depends on, as plain data: what an arena that goes on must have in common."""
        settings = {key: value for key, value in asdict(self).items() if key not in EXTENDABLE}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
        sheet = Path(self.components)
        file = {"sheet_file_sha256": sha256(sheet.read_bytes()).hexdigest()} if sheet.is_file() else {}
        return {"mode": self.mode} | plain | file


@dataclass(frozen=True, kw_only=True)
class RoundRobin(Arena):
    """Players who meet each other in groups of a table's size.

    Attributes:
        agents: player names, each once.
        deals: deals for each group.
        max_groups: where there are more groups than this, a balanced random part of so many of them plays.
    """

    mode = "round robin"

    agents: tuple[str, ...]
    deals: int = 50
    max_groups: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names("agents", self.agents, 2)
        check_least(self, "deals", 1)
        check_least(self, "max_groups", 1)

    @property
    def names(self) -> tuple[str, ...]:
        """All players."""
        return self.agents


@dataclass(frozen=True, kw_only=True)
class Challenge(Arena):
    """Matches of one player against others, each by itself.

    Attributes:
        challenger: who is measured.
        against: opponents; one match against each, for each player count.
        better_by: win share beyond 1/N that is tested for.
        max_deals: deals at which a match ends undecided.
        min_deals: deals before the first look.
        alpha: chance of any "better" if the challenger is not, over all matches.
        beta: chance of "not better" if it is better by `better_by`, in each match.
        one_sided: leave the reverse out, one opponent among copies of the challenger.
    """

    mode = "challenger"

    challenger: str
    against: tuple[str, ...]
    better_by: float = 0.02
    max_deals: int = 3000
    min_deals: int = MIN_BLOCKS
    alpha: float = ALPHA
    beta: float = BETA
    one_sided: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names("against", self.against, 1)
        if self.challenger in self.against:
            raise InvalidArena(f"challenger {self.challenger} stands among against; allowed: other players")
        if not 0 < self.better_by < 1 - 1 / min(self.players):
            raise InvalidArena(f"better_by must be above 0 and leave 1/N + better_by below 1, got {self.better_by}")
        check_least(self, "min_deals", 2)
        check_least(self, "max_deals", self.min_deals)

    @property
    def names(self) -> tuple[str, ...]:
        """All players."""
        return (self.challenger, *self.against)


def check_choice(key: str, chosen: Sequence[Any], allowed: Sequence[Any]) -> None:
    """Raises InvalidArena unless `chosen` names at least one of `allowed`, none twice and nothing else."""
    if not chosen or len(set(chosen)) != len(chosen) or not set(chosen) <= set(allowed):
        raise InvalidArena(f"{key} must be some of {', '.join(map(str, allowed))}, none twice: {list(chosen)}")


def check_names(key: str, names: Sequence[str], least: int) -> None:
    """Raises InvalidArena unless there are enough names and none twice."""
    if not least <= len(names) <= MOST_PLAYERS:
        raise InvalidArena(f"{key} must name {least} to {MOST_PLAYERS} players, got {len(names)}")
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidArena(f"{key} names {twice[0]} twice; allowed: each player once")


def check_least(arena: Arena, key: str, least: int) -> None:
    """Raises InvalidArena for a number that is too small."""
    if (value := getattr(arena, key)) < least:
        raise InvalidArena(f"{key} must be at least {least}, got {value}")
