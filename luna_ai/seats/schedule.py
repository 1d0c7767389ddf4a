"""What is played: the configuration of a seat study, its variants, and the explicit table of games.

A *variant* is one combination of player count, set-up, rule set and component sheet. Its schedule is a table, one row
a game; block b is one deal with each seat as the first starter and, when different players sit at the table, with each
rotation of the players over the seats, so that every player has every turn position equally often. The seeds of a
block depend on the study's seed, the stage, the player count and b alone: not on the number of processes or on how the
schedule is cut, and variants of one player count play the same deals (which makes them comparable).
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from luna_ai.schedule import SCHEDULE_SCHEMA

PLAYER_COUNTS = (2, 3, 4)
STAGES = ("study", "verification")
"""The study itself, and the games with the fair handicap, which are played on deals of their own."""

PLAYED_ELSEWHERE = ("jobs", "out")
"""Settings that change where and how fast a study runs, never its figures."""


class InvalidStudy(ValueError):
    """A setting of a seat study that makes no sense."""


@dataclass(frozen=True)
class Variant:
    """One combination that is studied by itself."""

    players: int
    setup: str
    ruleset: str
    components: str

    @property
    def label(self) -> str:
        """The variant in words."""
        return f"{self.players} players, {self.setup}, {self.ruleset}, {self.components}"

    @property
    def slug(self) -> str:
        """The variant as part of a file name; strings with other characters than letters and digits get a hash."""
        parts = (self.setup, self.ruleset, self.components)
        return "-".join([f"p{self.players}", *(file_name_part(part) for part in parts)])


def file_name_part(text: str) -> str:
    """`text` itself if it is a plain short word, otherwise its last plain letters and a hash of all of it."""
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in text)
    if plain == text and len(text) <= 32:
        return text
    return f"{plain[-16:].strip('_')}_{sha256(text.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class SeatStudy:
    """Configuration of a start-player study.

    Attributes:
        players: player counts, each 2, 3 or 4.
        agents: player names; one fills all seats, otherwise exactly N names, which are rotated over the seats.
        deals: deals (blocks) of each variant; with `precision`, the deals before the first check.
        seed: seed of everything.
        setups: set-ups to study.
        rulesets: rule sets to study.
        sheets: component sheets to study, names or files.
        handicap: influence added at the start, by turn position, in the study itself; empty for none.
        precision: play until no 95 % interval of a win share by turn position is wider than plus or minus this.
        max_deals: with `precision`, deals of a variant at which to give up.
        verify_deals: deals to verify the fair handicap on; None for as many as the study played, 0 for none.
        jobs: processes, for the game runner's use.
        out: folder for parts and results, in which a killed study resumes; None to keep everything in memory.
    """

    players: tuple[int, ...] = PLAYER_COUNTS
    agents: tuple[str, ...] = ("random",)
    deals: int = 1000
    seed: int = 0
    setups: tuple[str, ...] = ("standard",)
    rulesets: tuple[str, ...] = ("official",)
    sheets: tuple[str, ...] = ("reconstructed",)
    handicap: tuple[int, ...] = ()
    precision: float | None = None
    max_deals: int = 100_000
    verify_deals: int | None = None
    jobs: int = 1
    out: Path | None = None

    def __post_init__(self) -> None:
        check_counts(self)
        check_choices(self)
        check_tables(self)

    @property
    def variants(self) -> list[Variant]:
        """All combinations, player counts outermost."""
        return [
            Variant(players, setup, ruleset, sheet)
            for players in self.players
            for setup in self.setups
            for ruleset in self.rulesets
            for sheet in self.sheets
        ]

    def seating(self, players: int) -> tuple[str, ...]:
        """Player names by seat before any rotation."""
        return self.agents * players if len(self.agents) == 1 else self.agents

    def identity(self) -> dict[str, Any]:
        """Everything that the figures depend on, as plain data: what a resumed study must have in common."""
        settings = {key: value for key, value in asdict(self).items() if key not in PLAYED_ELSEWHERE}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}
        files = {sheet: sha256(Path(sheet).read_bytes()).hexdigest() for sheet in self.sheets if Path(sheet).is_file()}
        return plain | {"sheet_files_sha256": files}


def check_counts(study: SeatStudy) -> None:
    """Raises InvalidStudy for a number out of range."""
    limits = {"deals": 1, "seed": 0, "max_deals": 1, "jobs": 1}
    for key, least in limits.items():
        if getattr(study, key) < least:
            raise InvalidStudy(f"{key} must be at least {least}, got {getattr(study, key)}")
    if study.verify_deals is not None and study.verify_deals < 0:
        raise InvalidStudy(f"verify_deals must be at least 0, got {study.verify_deals}")
    if study.precision is not None and not 0 < study.precision < 0.5:
        raise InvalidStudy(f"precision must be between 0 and 0.5, got {study.precision}")
    if study.precision is not None and study.max_deals < study.deals:
        raise InvalidStudy(f"max_deals must be at least deals = {study.deals}, got {study.max_deals}")


def check_choices(study: SeatStudy) -> None:
    """Raises InvalidStudy for an empty or repeated list, or an impossible player count."""
    for players in study.players:
        if players not in PLAYER_COUNTS:
            raise InvalidStudy(f"players must be among {list(PLAYER_COUNTS)}, got {players}")
    for key in ("players", "setups", "rulesets", "sheets"):
        chosen = getattr(study, key)
        if not chosen or len(set(chosen)) != len(chosen):
            raise InvalidStudy(f"{key} must name at least one value and none twice, got {list(chosen)}")


def check_tables(study: SeatStudy) -> None:
    """Raises InvalidStudy unless agents and handicap fit every player count."""
    if not study.agents:
        raise InvalidStudy("agents must name one player for all seats, or one for each seat")
    for players in study.players:
        if len(study.agents) not in (1, players):
            raise InvalidStudy(f"agents must be 1 or {players} names with {players} players, got {list(study.agents)}")
        if len(study.handicap) not in (0, players):
            raise InvalidStudy(f"handicap must be {players} numbers with {players} players, got {list(study.handicap)}")


def rotations(seating: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The different cyclic rotations of a seating: one if all players are alike, N if there is no pattern."""
    turned = [seating[len(seating) - shift :] + seating[: len(seating) - shift] for shift in range(len(seating))]
    return list(dict.fromkeys(turned))


def games_per_block(study: SeatStudy, variant: Variant) -> int:
    """Number of games in which one deal is played."""
    return variant.players * len(rotations(study.seating(variant.players)))


def block_seeds(seed: int, stage: str, players: int, block: int, games: int) -> list[int]:
    """Seed of the deal, then one for each game of a block; 64 bits each."""
    sequence = np.random.SeedSequence(seed, spawn_key=(STAGES.index(stage), players, block))
    return [int(word) for word in sequence.generate_state(1 + games, np.uint64)]


def build_schedule(
    study: SeatStudy, variant: Variant, stage: str, blocks: range, handicap: tuple[int, ...] = ()
) -> pl.DataFrame:
    """Schedule of some consecutive blocks, a table with SCHEDULE_SCHEMA, sorted by game.

    Args:
        study: the configuration.
        variant: one of its variants.
        stage: one of STAGES.
        blocks: numbers of the blocks.
        handicap: influence at the start by turn position; empty for none.
    """
    extra = list(handicap) or [0] * variant.players
    rows = [row for block in blocks for row in block_rows(study, variant, stage, block, extra)]
    return pl.DataFrame(rows, schema=SCHEDULE_SCHEMA, orient="row")


def block_rows(
    study: SeatStudy, variant: Variant, stage: str, block: int, handicap: list[int]
) -> Iterator[tuple[Any, ...]]:
    """Rows of one block: start players within rotations of the players."""
    seatings = rotations(study.seating(variant.players))
    games = variant.players * len(seatings)
    deal, *seeds = block_seeds(study.seed, stage, variant.players, block, games)
    fixed = (variant.players, variant.setup, variant.components, variant.ruleset)
    for index in range(games):
        agents = list(seatings[index // variant.players])
        start = index % variant.players
        yield (block * games + index, block, deal, seeds[index], *fixed, start, agents, handicap)


def next_check(deals: int, half_width: float, precision: float, most: int) -> int:
    """How many deals to have before the precision is looked at again.

    Widths fall with the square root of the number of deals; the number that this promises is approached by at most
    doubling and at least a tenth, so that a lucky width early on does not end the study and few looks are taken.
    """
    promised = 2 * deals if math.isnan(half_width) else deals * (half_width / precision) ** 2
    return min(most, max(math.ceil(1.1 * deals), math.ceil(min(2 * deals, promised))))
