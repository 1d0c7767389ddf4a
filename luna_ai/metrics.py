"""What a training tells of itself: THE table of metrics, and how each is computed from a step.

docs/METRICS.md explains them; a test compares page and table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from engine_fast.actions import BLOCKS
from engine_fast.layout import LEDGER_SOURCES, MAX_PLAYERS, columns
from luna_ai.evaluation import PREVIOUS
from luna_ai.events import Layout
from luna_ai.losses import unpack_masks
from luna_ai.recent_games import COUNTS, alone_at_table
from luna_ai.samples import Samples, taken
from luna_ai.search.evaluators import Evaluator, new_batch

if TYPE_CHECKING:
    from luna_ai.train import Measured, Run, Step
    from luna_ai.training_config import TrainingConfig

PROBED = 1024
"""Samples of a step that the network is asked about before it learns from them."""
BINS = 10


METRICS = {
    "turn_position/{N}p/position{K}": "share",
    "seat/{N}p/seat{I}": "share",
    "anchor/{BOT}/{N}p/win_rate": "share",
    "anchor/{BOT}/{N}p/low": "share",
    "anchor/{BOT}/{N}p/high": "share",
    "anchor/{BOT}/{N}p/position{K}": "share",
    "rating/{TABLE}/points": "Elo points",
    "rating/{TABLE}/low": "Elo points",
    "rating/{TABLE}/high": "Elo points",
    "influence/final": "influence",
    "influence/{SOURCE}": "influence",
    "games/decisions/{N}p": "decisions",
    "games/forced": "share",
    "decisions/{KIND}": "share",
    "search/policy_entropy": "nats",
    "search/prior_entropy": "nats",
    "search/improvement": "nats",
    "search/agreement": "share",
    "value/brier": "squared error",
    "value/brier_of_search": "squared error",
    "value/calibration_error": "probability",
    "loss/total": "nats",
    "loss/policy": "nats",
    "loss/win": "nats",
    "loss/margin": "Huber, tens of influence",
    "loss/sources": "Huber, tens of influence",
    "learner/gradient_norm": "norm",
    "learner/learning_rate": "rate",
    "learner/updates": "batches",
    "replay/samples": "samples",
    "replay/age": "steps",
    "replay/megabytes": "MB",
    "progress/games": "games",
    "progress/samples": "samples",
    "speed/games": "games a second",
    "speed/decisions": "decisions a second",
    "speed/positions": "positions a second",
    "speed/evaluator_share": "share",
    "seconds/{PART}": "seconds",
    "backend/int8": "yes or no",
    "backend/kl": "nats",
    "backend/value_error": "probability",
    "backend/top1": "share",
    "worker/alive": "processes",
    "worker/{W}/games": "games a second",
    "worker/{W}/silence": "seconds",
    "worker/{W}/restarts": "restarts",
    "worker/{W}/age": "steps",
}
"""Unit of every metric by tag; `{...}` in a tag stands for several. docs/METRICS.md says what each means."""


class Probe(NamedTuple):
    """What the network said of new samples before it learned from them; NaN where there was nothing to ask."""

    policy_entropy: float
    prior_entropy: float
    improvement: float
    agreement: float
    brier: float
    brier_of_search: float
    calibration_error: float


NOTHING_SEEN = Probe(**dict.fromkeys(Probe._fields, float("nan")))


def probe(evaluator: Evaluator, samples: Samples, rules: NDArray[np.uint64]) -> Probe:
    """Asks about some of the samples, evenly spread over them.

    Args:
        evaluator: of the network that played them.
        samples: of one step.
        rules: the rules table.
    """
    count = len(samples.state)
    if not count:
        return NOTHING_SEEN
    some = taken(samples, np.unique(np.linspace(0, count - 1, PROBED).astype(np.int64)))
    batch = new_batch(some.state, rules)
    evaluator.evaluate(batch)
    asked = some.policy_size > 0
    policies = policy_figures(some.dense_policy()[asked], batch.logits[asked], unpack_masks(batch.masks)[asked])
    brier, of_search = (float(((said - some.win) ** 2).sum(axis=1).mean()) for said in (batch.values, some.root))
    present = np.arange(MAX_PLAYERS) < columns(some.state, "players")[:, np.newaxis]
    return Probe(*policies, brier, of_search, calibration_error(batch.values[present], some.win[present]))


def policy_figures(
    improved: NDArray[np.float32], logits: NDArray[np.float32], legal: NDArray[np.bool_]
) -> tuple[float, float, float, float]:
    """Entropy of the improved policies and of the priors, divergence between them, share of equal best decisions."""
    if not len(improved):
        return (float("nan"),) * 4
    shifted = np.where(legal, logits.astype(np.float64), -np.inf)
    shifted -= shifted.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    prior, logs = np.exp(logs), np.where(legal, logs, 0.0)
    own = np.log(np.where(improved > 0, improved, 1.0).astype(np.float64))
    entropy, prior_entropy = -(improved * own).sum(axis=1).mean(), -(prior * logs).sum(axis=1).mean()
    divergence = (improved * (own - logs)).sum(axis=1).mean()
    agreement = (improved.argmax(axis=1) == prior.argmax(axis=1)).mean()
    return float(entropy), float(prior_entropy), float(divergence), float(agreement)


def calibration_error(said: NDArray[np.float32], came: NDArray[np.float32]) -> float:
    """Expected calibration error over ten equal bins (Guo et al., "On Calibration of Modern Neural Networks", 2017)."""
    place = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(place, weights=said.astype(np.float64) - came, minlength=BINS)
    return float(np.abs(gaps).sum() / len(said))


# --- scalars of a step ---------------------------------------------------------------------------------------------


def scalars_of(run: Run, step: Step) -> dict[str, float]:
    """Tag and value of every metric of a step; those without a value are left out."""
    parts = (
        _games(run, step),
        _search(step),
        _learner(run, step),
        _progress(run, step),
        _workers(step),
        _backend(step),
    )
    return {tag: float(value) for part in parts for tag, value in part if value is not None and math.isfinite(value)}


def _backend(step: Step) -> Iterator[tuple[str, float]]:
    if step.verdict is not None:
        yield from step.verdict.scalars().items()


def scalars_of_measured(measured: Measured) -> dict[str, float]:
    """Tag and value of what was found of the network of a step."""
    return {tag: float(value) for tag, value in _anchors(measured) if math.isfinite(value)}


def _games(run: Run, step: Step) -> Iterator[tuple[str, float]]:
    collected, alone = step.collected, alone_at_table(step.collected.games)
    for players in COUNTS:
        positions, seats = run.recent.shares(players)
        yield from ((f"turn_position/{players}p/position{k}", share) for k, share in enumerate(positions, 1))
        yield from ((f"seat/{players}p/seat{i}", share) for i, share in enumerate(seats))
    yield "influence/final", _mean(alone["influence"])
    for source in LEDGER_SOURCES:
        yield f"influence/{source}", _mean(alone[source])
    for players, length in alone.group_by("players").agg(pl.col("decisions").mean()).sort("players").iter_rows():
        yield f"games/decisions/{players}p", length
    yield "games/forced", collected.forced / collected.decisions
    for block, count in zip(BLOCKS, collected.kinds.tolist(), strict=True):
        yield f"decisions/{block.name}", count / collected.decisions


def _mean(column: pl.Series) -> float:
    mean = column.mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")


def _anchors(measured: Measured) -> Iterator[tuple[str, float]]:
    for found in measured.evaluated:
        tag = f"anchor/{anchor_tag(found.anchor)}/{found.players}p"
        yield from ((f"{tag}/win_rate", found.share), (f"{tag}/low", found.low), (f"{tag}/high", found.high))
        for place, share in enumerate(found.by_position, 1):
            yield f"{tag}/position{place}", share
    for table, rating in measured.rated.items():
        yield from ((f"rating/{table}/{end}", value) for end, value in rating._asdict().items())


def anchor_tag(name: str) -> str:
    """A bot's name in tags, which take no colon."""
    return name.replace(":", "_")


def _search(step: Step) -> Iterator[tuple[str, float]]:
    probed = step.probed
    for name in ("policy_entropy", "prior_entropy", "improvement", "agreement"):
        yield f"search/{name}", getattr(probed, name)
    for name in ("brier", "brier_of_search", "calibration_error"):
        yield f"value/{name}", getattr(probed, name)


def _learner(run: Run, step: Step) -> Iterator[tuple[str, float]]:
    for name in ("total", "policy", "win", "margin", "sources"):
        yield f"loss/{name}", getattr(step.learned, name)
    yield "learner/gradient_norm", step.learned.gradient_norm
    yield "learner/learning_rate", step.learned.learning_rate
    window = run.crew.window
    yield "learner/updates", run.crew.updates
    yield "replay/samples", window.samples
    yield "replay/age", step.number - 1 - window.mean_version
    yield "replay/megabytes", window.nbytes / 1e6


def _progress(run: Run, step: Step) -> Iterator[tuple[str, float]]:
    collected = step.collected
    yield "progress/games", run.games
    yield "progress/samples", run.crew.window.total
    spent = collected.num_games / step.games_per_second
    yield "speed/games", step.games_per_second
    yield "speed/decisions", collected.decisions / spent
    yield "speed/positions", collected.asked / spent
    yield "speed/evaluator_share", collected.seconds["evaluator"] / collected.seconds["all"]
    for part, seconds in step.seconds.items():
        yield f"seconds/{part}", seconds


def _workers(step: Step) -> Iterator[tuple[str, float]]:
    yield "worker/alive", sum(worker.alive for worker in step.workers)
    for worker in step.workers:
        tag = f"worker/{worker.number}"
        yield from ((f"{tag}/games", worker.games), (f"{tag}/silence", worker.silence))
        yield from ((f"{tag}/restarts", worker.restarts), (f"{tag}/age", worker.age))


def layout_of(config: TrainingConfig) -> Layout:
    """The custom page: turn positions of each number of players in one chart, seats likewise, each anchor in one."""
    counts = [players for players, share in zip((2, 3, 4), config.shares, strict=True) if share > 0]
    positions = {n: [f"turn_position/{n}p/position{k}" for k in range(1, n + 1)] for n in counts}
    seats = {n: [f"seat/{n}p/seat{i}" for i in range(n)] for n in counts}
    anchors = {
        f"{bot}, {n} players": (
            "Margin",
            [f"anchor/{anchor_tag(bot)}/{n}p/{end}" for end in ("win_rate", "low", "high")],
        )
        for bot in (*config.anchors, PREVIOUS)
        for n in counts
    }
    tables = {"all tables": "all"} | {f"{n} players": f"{n}p" for n in counts}
    ratings = {
        title: ("Margin", [f"rating/{table}/{end}" for end in ("points", "low", "high")])
        for title, table in tables.items()
    }
    return {
        "wins by turn position": {f"{n} players": ("Multiline", tags) for n, tags in positions.items()},
        "wins by seat index (control)": {f"{n} players": ("Multiline", tags) for n, tags in seats.items()},
        "wins against anchors": anchors,
        "rating": ratings,
    }
