"""Who may import whom, and what the texts of the project must not say.

Arrows: tests, benchmarks, notebooks, experiments -> luna_ai -> engine_fast; the reference stands alone.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THIRD_PARTY_OF_ENGINE = {"numpy", "numba", "llvmlite", "yaml"}
SCRIPTS = ("tests", "benchmarks", "notebooks", "experiments")


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a file imports, inside functions too."""
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(
                [*package[: len(package) - node.level + 1], node.module or ""] if node.level else [node.module or ""]
            )
            yield node.lineno, base.rstrip(".")
            yield from ((node.lineno, f"{base}.{name.name}".replace("..", ".")) for name in node.names)


def stands_in(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def forbidden(files: list[Path], packages: tuple[str, ...]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in files
        for line, name in imports(file)
        if stands_in(name, packages)
    ]


def test_the_engine_does_not_know_the_learner():
    assert forbidden(modules("engine_fast"), ("luna_ai", "torch", "ray", *SCRIPTS)) == []


def test_the_engine_needs_numpy_numba_and_yaml_only():
    allowed = THIRD_PARTY_OF_ENGINE | {"engine_fast"} | set(sys.stdlib_module_names)
    found = [(file.name, name) for file in modules("engine_fast") for _, name in imports(file)]
    assert [(file, name) for file, name in found if name.partition(".")[0] not in allowed] == []


def test_the_reference_stands_alone():
    reference = ROOT / "engine_fast" / "reference"
    rest = [file for file in modules("engine_fast") if reference not in file.parents]
    assert forbidden(rest, ("engine_fast.reference",)) == []
    names = [(file.name, name) for file in sorted(reference.rglob("*.py")) for _, name in imports(file)]
    inside = [(file, name) for file, name in names if stands_in(name, ("engine_fast",))]
    assert [(file, name) for file, name in inside if not stands_in(name, ("engine_fast.reference",))] == []
    outside = {name.partition(".")[0] for _, name in names} - {"engine_fast"}
    assert outside <= set(sys.stdlib_module_names)


def test_the_learner_imports_no_script_and_ray_only_where_it_is_distributed():
    assert forbidden(modules("luna_ai"), SCRIPTS) == []
    distributed = ROOT / "luna_ai" / "distributed"
    rest = [file for file in modules("luna_ai") if distributed not in file.parents]
    assert forbidden(rest, ("ray",)) == []


def test_nothing_imports_experiments():
    everything = [file for folder in ("engine_fast", "luna_ai", *SCRIPTS) for file in modules(folder)]
    assert forbidden(everything, ("experiments",)) == []


@pytest.mark.parametrize(
    "module", ["engine_fast.components", "engine_fast.ruleset", "luna_ai.config", "luna_ai.parsing"]
)
def test_sheets_rule_sets_and_options_are_read_without_numba(module: str):
    """A sheet is checked, and bad input answered, before anything is compiled."""
    code = (
        f"import sys, {module}; print([name for name in ('numba', 'polars', 'scipy', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def texts() -> list[Path]:
    """Every text file that git knows; all files of the source folders where there is no git."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = [file for folder in ("engine_fast", "luna_ai", "docs", "tests") for file in (ROOT / folder).rglob("*")]
    kinds = {".py", ".md", ".yaml", ".toml", ".txt", ".cfg", ""}
    return [file for file in files if file.suffix in kinds and file.is_file()]


def test_texts_name_no_place_of_one_machine():
    """Neither a home folder nor the folder this checkout lies in."""
    places = [re.escape(str(ROOT.parent)) + r"/", r"/home/\w+/", r"/root/", r"/Users/\w+/", r"\.\./shared"]
    pattern = re.compile("|".join(places))
    here = Path(__file__)
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in texts()
        if file != here and (match := pattern.search(file.read_text(errors="ignore")))
    ]
    assert found == []
