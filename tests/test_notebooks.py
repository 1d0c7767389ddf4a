"""The notebooks run, with small numbers, from the first cell to the last; they define nothing and show plots."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 400_000
TINY_TRAINING = """
width: 8
blocks: 1
games: 6
slots: 6
steps: 4
save_every: 2
sims: 2
fast_sims: 1
evaluate_every: 2
evaluate_deals: 2
anchors: [random]
"""
SMALL = {
    "01_engine_tour": "players, seed = 2, 1\ngames = 30",
    "02_watch_a_search": "players, seed = 2, 1\ndecisions = 20\nsims = 64\njudge = 'mcts:sims=2,nodes=64'",
    "03_read_a_training_run": "run, config, smooth = Path('run'), Path('training.yaml'), 2",
    "04_start_player": (
        "counts, seed = (2, 3), 1\nagents = {'greedy': ('greedy', 30), 'search': ('mcts:sims=2,nodes=64', 2)}"
    ),
}
"""Notebook -> what stands in its cell of parameters here."""
PLOTS = {"01_engine_tour": 4, "02_watch_a_search": 4, "03_read_a_training_run": 9, "04_start_player": 1}
"""Notebook -> how many pictures it shows."""


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_of(cell: Any) -> ast.Module:
    """The Python of a cell, its magic lines left out."""
    return ast.parse("\n".join(line for line in cell.source.splitlines() if not line.startswith("%")))


def pictures(book: Any) -> int:
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def assigned(source: str) -> set[str]:
    nodes = ast.walk(ast.parse(source))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def test_there_is_a_notebook_for_each_entry():
    assert [path.stem for path in NOTEBOOKS] == list(SMALL) == list(PLOTS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_asks_a_question_defines_nothing_and_is_kept_with_its_pictures(path: Path):
    book = read(path)
    assert "**Question:" in book.cells[0].source
    for cell in book.cells:
        if cell.cell_type == "code":
            kinds = {type(node) for node in ast.walk(code_of(cell))}
            assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}, cell.source
            assert cell.execution_count, f"not run: {cell.source}"
    assert pictures(book) == PLOTS[path.stem]
    assert path.stat().st_size < LARGEST
    text = path.read_text()
    assert str(ROOT.parent) not in text
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_with_small_numbers(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "training.yaml").write_text(TINY_TRAINING)
    book = read(path)
    [parameters] = [cell for cell in book.cells if "parameters" in cell.metadata.get("tags", [])]
    assert assigned(parameters.source) == assigned(SMALL[path.stem])
    parameters.source = SMALL[path.stem]
    NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert pictures(book) == PLOTS[path.stem]
