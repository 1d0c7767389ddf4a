"""The fixture ``game``: each test runs on the fast engine and on the reference."""

from __future__ import annotations

import pytest

from .table import BACKENDS, Game

MODULES = {"engine": "engine_fast.position", "reference": "engine_fast.reference"}


@pytest.fixture(params=sorted(BACKENDS))
def game(request: pytest.FixtureRequest) -> Game:
    """One of the two programs."""
    pytest.importorskip(MODULES[request.param], reason=f"RULES NOT CHECKED: {request.param} does not import")
    return Game(request.param)
