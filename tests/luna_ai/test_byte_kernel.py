"""The network in eight bits: rounding, exact sums on every processor, small errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from luna_ai.evaluator import NetworkEvaluator
from luna_ai.learning import byte_matrix
from luna_ai.learning.byte_kernel import evaluate_bytes, pack_layer, round_rows
from luna_ai.learning.byte_matrix import byte_panels, fours_in_pieces, row_of_tile, tile_bytes_row
from luna_ai.learning.matrix import intrinsic
from luna_ai.network import NetworkConfig
from tests.luna_ai.test_evaluator import RESIDUAL, answers, lively, positions

ROOT = Path(__file__).parents[2]
INPUTS = 128


def test_panels_by_hand():
    matrix = np.arange(70 * 6, dtype=np.int16).reshape(70, 6).astype(np.int8)
    flat = byte_panels(matrix, 64)
    assert flat.shape == (128 * 64,)
    assert flat[4 * 5 + 2] == matrix[5, 2]
    assert flat[4 * 64 + 4 * 9 + 1] == matrix[9, 5]
    assert flat[64 * 64 + 4 * 3 + 3] == matrix[67, 3]
    assert not flat[4 * 64 + 2 :: 4][:64].any(), "inputs that are not there"


def test_rounding_by_hand():
    small, scale = round_rows(np.array([[1.27, -0.5, 0.004], [0, 0, 0]], dtype=np.float32))
    assert small.tolist() == [[127, -50, 0], [0, 0, 0]]
    assert scale.tolist() == pytest.approx([0.01, 1.0])


def test_the_base_takes_the_offset_of_the_inputs_away():
    matrices = [np.random.default_rng(block).normal(size=(5, 3)).astype(np.float32) for block in range(2)]
    layer = pack_layer(matrices, 128)
    small, _ = round_rows(matrices[1])
    assert layer.base.shape == layer.scale.shape == (2 * 64,)
    assert (layer.base[64:69] == -128 * small.astype(int).sum(axis=1)).all()
    assert not layer.base[69:].any()


@intrinsic
def _in_pieces(
    typing: Any, x: Any, x_at: Any, w: Any, w_at: Any, k: Any, base: Any, scales: Any, column: Any, factors: Any,
    row: Any, out: Any, out_at: Any,
) -> Any:  # fmt: skip
    return row_of_tile(fours_in_pieces)


@numba.njit
def on_any_processor(
    x: Any, w: Any, w_at: Any, base: Any, scales: Any, column: Any, factors: Any, row: Any, out: Any
) -> Any:
    return _in_pieces(x, 0, w, w_at, INPUTS, base, scales, column, factors, row, out, 0)


@numba.njit
def on_this_processor(
    x: Any, w: Any, w_at: Any, base: Any, scales: Any, column: Any, factors: Any, row: Any, out: Any
) -> Any:
    return tile_bytes_row(x, 0, w, w_at, INPUTS, base, scales, column, factors, row, out, 0)


def product(matrix: NDArray[np.int8], x: NDArray[np.uint8], way: Any) -> NDArray[np.float32]:
    """The second panel of a matrix times a row, upon numbers that are there already."""
    rng = np.random.default_rng(3)
    base = rng.integers(-(10**6), 10**6, 128).astype(np.int32)
    scales, factors = rng.random(128).astype(np.float32), rng.random(3).astype(np.float32)
    out = rng.random(64).astype(np.float32)
    way(x, byte_panels(matrix, INPUTS), 64 * INPUTS, base, scales, 64, factors, 2, out)
    return out


def in_python(x: Any, w: Any, w_at: Any, base: Any, scales: Any, column: Any, factors: Any, row: Any, out: Any) -> None:
    tile_bytes_row(x, 0, w, w_at, INPUTS, base, scales, column, factors, row, out, 0)


@pytest.mark.parametrize("kind", ["random", "largest", "smallest"])
def test_every_processor_and_plain_python_find_the_same_bits(kind: str):
    rng = np.random.default_rng(1)
    matrix = rng.integers(-128, 128, (128, INPUTS)).astype(np.int8)
    x = rng.integers(0, 256, INPUTS).astype(np.uint8)
    if kind != "random":
        matrix[:], x[:] = (127 if kind == "largest" else -128), 255
    found = [product(matrix, x, way) for way in (in_python, on_this_processor, on_any_processor)]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    assert np.abs(found[0]).max() > 1000


@pytest.mark.parametrize("config", [*RESIDUAL, NetworkConfig("residual", 64, 3, hidden=192)], ids=str)
def test_the_error_against_float32_is_small(config: NetworkConfig):
    """Weights are those of `lively`: blocks with a larger say than trained ones have."""
    some = list(positions())
    exact, small = (answers(NetworkEvaluator(lively(config), backend), some) for backend in ("numba", "int8"))
    spread = exact[0][exact[0] != 0].std()
    assert np.abs(exact[0] - small[0]).mean() < 0.02 * spread
    assert np.abs(exact[1] - small[1]).mean() < 0.005
    if config.blocks:
        assert (exact[0] != small[0]).any()


def test_a_network_of_zeros_gives_no_nonsense():
    network = lively(RESIDUAL[0])
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    logits, values = answers(NetworkEvaluator(network, "int8"), list(positions())[:9])
    assert (logits == 0).all()
    assert values.sum(axis=1) == pytest.approx(1.0)


def test_the_kernel_has_one_signature():
    for config in RESIDUAL:
        answers(NetworkEvaluator(lively(config), "int8"), list(positions())[:9])
    assert len(getattr(evaluate_bytes, "signatures", [0])) == 1


PLAIN = """
import numpy as np
from tests.luna_ai.test_evaluator import RESIDUAL, answers, lively, positions
from luna_ai.evaluator import NetworkEvaluator
some = list(positions())[::40]
exact, small = (answers(NetworkEvaluator(lively(RESIDUAL[1]), backend), some) for backend in ("numba", "int8"))
assert 0 < np.abs(exact[0] - small[0]).mean() < 0.05 and np.abs(exact[1] - small[1]).max() < 0.05
np.save(OUT, small[0])
"""


def test_with_checked_indexes_and_in_plain_python(tmp_path: Path):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    found = []
    for flag in ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"):
        code = PLAIN.replace("OUT", repr(str(tmp_path / flag)))
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, cwd=ROOT, env=inherited | {flag: "1"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(np.load(tmp_path / f"{flag}.npy"))
    assert found[0] == pytest.approx(found[1], abs=0.05), "a number on the edge may be rounded to the other side"


def test_numbers_are_rounded_to_the_nearest_byte():
    x = np.zeros(64, dtype=np.float32)
    x[:5] = [-1.0, -0.5, 0.0, 0.004, 1.0]
    out = np.zeros(64, dtype=np.uint8)
    assert byte_matrix.largest(x, 0, 64) == 1.0
    byte_matrix.to_bytes(x, 0, 64, np.float32(127.0), np.float32(128.5), out)
    assert out[:6].tolist() == [1, 65, 128, 129, 255, 128]
