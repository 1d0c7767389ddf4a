"""The one way in which this project compiles functions with numba.

Three decorators come out of `compiler`: `kernel` for functions called from Python, `inline` for the small functions
that kernels are made of (inlined by LLVM), `called` for the larger ones that are better called. What `kernel` and
`called` compile is kept on disk. `inline` and `called` make functions for kernels: numba's wrappers for calls from
Python and C, half of the compile time, are left out, and Python runs their source instead.

Numba's own disk cache looks at one source file only: a changed constant or callee in another file leaves old machine
code in use. So compiled kernels live in a folder named after a hash of *all* sources that can take part in them, of
the numba version and of the flags that change the code (bounds checks, debug). Another source is another folder, and
a folder that has not been used for two weeks is removed.

Kernels are compiled without numba's reference counting (`_nrt=False`): they never allocate, their caller holds the
arrays, and the atomic counters that numba otherwise leaves between inlined functions cost a third of the speed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core import config as numba_config
from numba.core import event
from numba.core.registry import CPUDispatcher

config: Any = numba_config  # numba's type information lacks its settings and the option `_nrt`
njit: Any = numba.njit
Decorator = Callable[[Callable[..., Any]], Any]

ENGINE_FOLDER = Path(__file__).resolve().parent
UNUSED_SECONDS = 14 * 24 * 3600
ANNOUNCE_VARIABLE = "LUNA_QUIET_COMPILE"


def source_hash(folders: tuple[Path, ...]) -> str:
    """Hexadecimal hash of every Python file directly in `folders`, the numba version and the code-changing flags."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    flags = (numba.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.DEBUG_JIT, config.OPT)
    digest.update(repr(flags).encode())
    return digest.hexdigest()[:20]


def cache_root() -> Path:
    """Folder that holds the compiled kernels of all versions: `$LUNA_CACHE_DIR`, or `luna-ai` in the user's cache."""
    chosen = os.environ.get("LUNA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "luna-ai"


def cache_folder(key: str) -> Path:
    """The folder of one version, made if need be; a temporary one where the user's cache cannot be written."""
    for root in (cache_root(), Path(tempfile.gettempdir()) / f"luna-ai-{os.getuid() if hasattr(os, 'getuid') else 0}"):
        folder = root / key
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
            if os.access(folder, os.W_OK):
                remove_unused(root, keep=key)
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="luna-ai-"))


def remove_unused(root: Path, keep: str) -> None:
    """Removes the folders of versions that no process has used for `UNUSED_SECONDS`."""
    limit = time.time() - UNUSED_SECONDS
    for folder in root.iterdir():
        is_version = len(folder.name) == len(keep) and folder.name != keep
        if is_version and folder.is_dir() and folder.stat().st_mtime < limit:
            shutil.rmtree(folder, ignore_errors=True)


class _Announcer(event.Listener):
    """Says once per process, on standard error, that compiling has begun."""

    def __init__(self) -> None:
        self.said = bool(os.environ.get(ANNOUNCE_VARIABLE))

    def on_start(self, started: Any) -> None:
        dispatcher = started.data.get("dispatcher")
        if not self.said and getattr(dispatcher, "luna_kernel", False):
            self.said = True
            sys.stderr.write("compiling for this machine (once per version, a minute or two) ...\n")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:
        """Nothing to say when one kernel is done: others may follow."""


event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]


class _KernelsOnly(CPUDispatcher):
    """A function that kernels call: it has no compiled entry for Python, which runs its source."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


class Decorators(NamedTuple):
    """How the functions of one part of the project are compiled; see the module's text."""

    kernel: Decorator
    inline: Decorator
    called: Decorator


def compiler(*folders: Path) -> Decorators:
    """Decorators for functions whose code depends on the Python files in `folders` (the engine is always included).

    A kernel releases the GIL, so threads can run kernels side by side.
    """
    sources = (ENGINE_FOLDER, *(folder for folder in folders if folder != ENGINE_FOLDER))
    folder: Path | None = None

    def cached(function: Callable[..., Any], **options: Any) -> Any:
        nonlocal folder
        folder = folder or cache_folder(source_hash(sources))
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            return njit(cache=True, _nrt=False, no_cfunc_wrapper=True, **options)(function)
        finally:
            config.CACHE_DIR = before

    def kernel(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        compiled = cached(function, nogil=True)
        compiled.luna_kernel = True
        return compiled

    def inline(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        return _kernels_only(
            njit(forceinline=True, _nrt=False, no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)
        )

    def called(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        return _kernels_only(cached(function, no_cpython_wrapper=True))

    return Decorators(kernel, inline, called)


def _kernels_only(dispatcher: Any) -> Any:
    dispatcher.__class__ = _KernelsOnly
    return dispatcher


kernel, inline, called = compiler(ENGINE_FOLDER)
