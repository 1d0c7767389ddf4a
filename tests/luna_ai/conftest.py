"""Fixtures that several test files share."""

import pytest


@pytest.fixture
def parts_of_four_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seat studies are played in parts of four deals, so that small ones have several."""
    monkeypatch.setattr("luna_ai.seats.study.FIRST_BLOCKS", 4)
    monkeypatch.setattr("luna_ai.seats.study.MOST_BLOCKS", 4)
