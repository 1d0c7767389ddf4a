"""The fixture ``game``: each test runs on the fast engine and on the reference."""

from __future__ import annotations

import pytest

from .table import BACKENDS, Game


@pytest.fixture(params=sorted(BACKENDS))
def game(request: pytest.FixtureRequest) -> Game:
    """One of the two programs."""
    return Game(request.param)
