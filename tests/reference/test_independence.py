"""The twin imports nothing of the rest of the project and nothing but the standard library."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import engine_fast.reference

SOURCES = sorted(Path(engine_fast.reference.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_imports(source):
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] in sys.stdlib_module_names for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 1 or (node.module or "").split(".")[0] in sys.stdlib_module_names
