"""Metrics: the table, the page, the event files."""

from __future__ import annotations

import re
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine_fast.actions import BLOCKS
from engine_fast.layout import LEDGER_SOURCES
from luna_ai.events import EventFile, NoEventWriter
from luna_ai.metrics import METRICS, NOTHING_SEEN, calibration_error, layout_of, policy_figures, probe
from luna_ai.samples import no_samples
from luna_ai.search.evaluators import UniformEvaluator
from luna_ai.train import TrainingError, train
from luna_ai.training_config import TrainingConfig

PAGE = Path(__file__).parents[2] / "docs" / "METRICS.md"
TINY = TrainingConfig(
    steps=3, save_every=2, games=12, slots=12, sims=2, fast_sims=1, width=8, blocks=1, batch=64, evaluate_every=2,
    evaluate_deals=2, evaluate_sims=1, reuse=1.0, warmup=1, bot_share=0.1,
    anchors=("random", "greedy", "strategy:temple"),
)  # fmt: skip


def events_of(file: Path) -> list[Any]:
    """The events of a file, decoded."""
    from tensorboardX.proto.event_pb2 import Event

    data, place, found = file.read_bytes(), 0, []
    while place < len(data):
        (length,) = struct.unpack("Q", data[place : place + 8])
        found.append(Event.FromString(data[place + 12 : place + 12 + length]))
        place += length + 16
    return found


def scalars(folder: Path) -> dict[tuple[str, int], float]:
    """What TensorBoard shows: files in order, start marks hide what stands at their step and later."""
    shown: dict[tuple[str, int], float] = {}
    for file in sorted(folder.iterdir()):
        for event in events_of(file):
            if event.HasField("session_log"):
                shown = {key: value for key, value in shown.items() if key[1] < event.step}
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    assert (value.tag, event.step) not in shown
                    shown[value.tag, event.step] = value.simple_value
    return shown


def pattern_of(tag: str) -> str:
    """A regular expression of the tags that one line stands for."""
    names = {
        "N": "[234]",
        "K": "[1234]",
        "I": "[0123]",
        "BOT": "random|greedy|strategy_temple|previous",
        "PART": "[a-z]+",
        "W": "[0-9]+",
    }
    names |= {
        "TABLE": "all|[234]p",
        "SOURCE": "|".join(LEDGER_SOURCES),
        "KIND": "|".join(block.name for block in BLOCKS),
    }
    return re.sub(r"\\\{([A-Z]+)\\\}", lambda found: f"(?:{names[found[1]]})", re.escape(tag))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three steps that was broken off after its third and went on from its second."""
    made = tmp_path_factory.mktemp("run")

    class Broken(Exception):
        """The end of the first session."""

    def say(line: str) -> None:
        if line.startswith("step 3/"):
            raise Broken

    with pytest.raises(Broken):
        train(TINY, made, say=say)
    train(TINY, made)
    return made / "tensorboard"


def test_the_page_explains_every_metric():
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]{9,}) \| ([^|]{5,}) \|$", PAGE.read_text(), re.MULTILINE)
    assert {tag: unit for tag, unit, _, _ in rows} == METRICS
    assert len(rows) == len(METRICS)


def test_a_run_writes_every_metric_and_no_other(folder: Path):
    tags = {tag for tag, _ in scalars(folder)}
    patterns = {tag: re.compile(pattern_of(tag)) for tag in METRICS}
    unknown = [tag for tag in tags if not any(pattern.fullmatch(tag) for pattern in patterns.values())]
    assert unknown == []
    silent = [tag for tag, pattern in patterns.items() if not any(pattern.fullmatch(each) for each in tags)]
    assert silent == []


def test_curves_go_on_cleanly(folder: Path):
    shown = scalars(folder)
    assert [step for tag, step in shown if tag == "progress/games"] == [1, 2, 3]
    assert [shown["progress/games", step] for step in (1, 2, 3)] == [12, 24, 36]
    assert [step for tag, step in shown if tag == "anchor/greedy/3p/win_rate"] == [2, 3]
    marks = [
        [event.step for event in events_of(file) if event.HasField("session_log")] for file in sorted(folder.iterdir())
    ]
    assert marks == [[1], [3]]


def test_shares_of_a_step_fit_together(folder: Path):
    shown = scalars(folder)
    for step in (1, 2, 3):
        for players in (2, 3, 4):
            shares = [value for (tag, at), value in shown.items() if at == step and tag.startswith(f"seat/{players}p/")]
            turns = [
                value
                for (tag, at), value in shown.items()
                if at == step and tag.startswith(f"turn_position/{players}p/")
            ]
            assert len(shares) in (0, players)
            assert len(turns) == len(shares)
            if shares:
                assert sum(shares) == pytest.approx(1, abs=1e-5)
                assert sum(turns) == pytest.approx(1, abs=1e-5)
        kinds = [value for (tag, at), value in shown.items() if at == step and tag.startswith("decisions/")]
        assert sum(kinds) == pytest.approx(1, abs=1e-5)
        sources = sum(shown[f"influence/{source}", step] for source in LEDGER_SOURCES)
        assert shown["influence/final", step] > sources  # the start influence is no gain


def test_one_chart_for_each_number_of_players(folder: Path):
    from tensorboardX.proto.layout_pb2 import Layout

    (found,) = [
        Layout.FromString(value.tensor.string_val[0])
        for event in events_of(sorted(folder.iterdir())[0])
        for value in event.summary.value
        if value.tag == "custom_scalars__config__"
    ]
    first = found.category[0]
    assert [chart.title for chart in first.chart] == ["2 players", "3 players", "4 players"]
    assert list(first.chart[1].multiline.tag) == [f"turn_position/3p/position{place}" for place in (1, 2, 3)]
    assert set(layout_of(replace(TINY, shares=(0.0, 1.0, 0.0)))["wins by turn position"]) == {"3 players"}
    tags = {tag for tag, _ in scalars(folder)}
    anchors = [end for chart in found.category[2].chart for series in chart.margin.series for end in
               (series.value, series.lower, series.upper)]  # fmt: skip
    assert len(anchors) == 36
    assert set(anchors) <= tags


def test_calibration_by_hand():
    said, came = np.array([0.05, 0.05, 0.95, 0.95], dtype=np.float32), np.array([0, 1, 1, 1], dtype=np.float32)
    assert calibration_error(said, came) == pytest.approx((abs(0.1 - 1) + abs(1.9 - 2)) / 4, abs=1e-6)
    assert calibration_error(np.ones(2, dtype=np.float32), np.ones(2, dtype=np.float32)) == 0


def test_policy_figures_by_hand():
    improved = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], dtype=np.float32)
    logits = np.array([[0.0, np.log(3.0), 50.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    legal = np.array([[True, True, False], [True, True, True]])
    entropy, prior, divergence, agreement = policy_figures(improved, logits, legal)
    assert entropy == pytest.approx(np.log(2) / 2)
    quarter = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert prior == pytest.approx((quarter + np.log(3)) / 2, abs=1e-6)
    apart = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    assert divergence == pytest.approx((apart + np.log(3)) / 2, abs=1e-6)
    assert agreement == 0.5  # of equal ones the first counts


def test_nothing_is_seen_where_there_is_nothing():
    assert probe(UniformEvaluator(), no_samples(), np.zeros(1, dtype=np.uint64)) is NOTHING_SEEN


def test_without_a_writer_and_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "tensorboardX", None)
        with pytest.raises(NoEventWriter, match=r"pip install 'luna-ai\[train\]'"):
            EventFile(tmp_path, 1, {})

    def full(self: EventFile, step: int, **content: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(EventFile, "_write", full)
    with pytest.raises(TrainingError, match="No space left on device"):
        train(replace(TINY, evaluate_every=0), tmp_path / "run")
