"""Luna's game engine: positions as packed words, rules as compiled kernels, and a checked `Position` on top.

Importing the package is light; names are loaded (and numba with them) when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Position": "position",
    "Game": "position",
    "load_game": "position",
    "new_ledger": "position",
    "IllegalDecision": "position",
    "SetupError": "position",
    "InvalidPosition": "reading",
    "NotationError": "notation",
    "Sheet": "components",
    "SheetError": "components",
    "load_sheet": "components",
    "RuleSet": "ruleset",
    "RuleSetError": "ruleset",
    "LEDGER_SOURCES": "layout",
    "NOTATIONS": "actions",
    "NUM_ACTIONS": "actions",
    "max_decisions": "bounds",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Loads a public name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'engine_fast' has no attribute {name!r}")
    return getattr(import_module(f"engine_fast.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
