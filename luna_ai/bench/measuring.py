"""How everything here is timed: processor seconds of the calling thread, several runs, median and range.

Processor time, unlike the clock on the wall, does not count the moments in which the machine works for somebody else.
It still counts that a shared cache or a hot processor slows us down, so the load average belongs to every figure.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

CALL_SECONDS = 0.02
"""A call of a kernel is made this long: no overhead that matters, and Ctrl-C is answered at once."""
PACKAGES = ("luna-ai", "numba", "llvmlite", "numpy", "open-spiel", "gumbel-mcts", "torch")


@dataclass(frozen=True)
class Sample:
    """One run: units of work done, the processor seconds and the seconds on the wall that they took."""

    units: int
    seconds: float
    wall: float

    @property
    def rate(self) -> float:
        """Units for each processor second."""
        return self.units / self.seconds

    @property
    def nanoseconds(self) -> float:
        """Processor time of a unit."""
        return 1e9 * self.seconds / self.units


def run_for(seconds: float, work: Callable[[int], int]) -> Sample:
    """Works for about so many processor seconds (at least one call).

    Args:
        seconds: of this thread; other threads (a progress bar) do not count.
        work: `work(size)` does something `size` times and returns the units of work that this was.
    """
    size, units, spent = 1, 0, 0.0
    started, wall = time.thread_time(), time.perf_counter()
    while units == 0 or spent < seconds:
        before = spent
        units += work(size)
        spent = time.thread_time() - started
        if spent - before < CALL_SECONDS:
            size *= 2
    return Sample(units, max(spent, 1e-9), time.perf_counter() - wall)


def series(values: Sequence[float]) -> dict[str, Any]:
    """Median and range of the runs of one figure, as it stands in the JSON file."""
    return {"median": median(values), "min": min(values), "max": max(values), "runs": list(values)}


def load_average() -> list[float] | None:
    """Runnable processes over the last 1, 5 and 15 minutes; None where the system does not say."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def resident_bytes() -> int | None:
    """Memory of this process that is in RAM now; None where there is no /proc."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes() -> int | None:
    """The most memory that this process has had in RAM; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def machine() -> dict[str, Any]:
    """The processor, its cores and the system."""
    import llvmlite.binding as llvm

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": _processor_name(),
        "kind": llvm.get_host_cpu_name(),
        "cores": cores,
        "system": platform.platform(),
    }


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def versions() -> dict[str, str]:
    """Versions of Python and of what the figures depend on, as far as installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


Section = Callable[[Callable[[], None]], dict[str, Any]]
"""Measures some keys of the JSON file; calls its argument after every run of a figure."""


def measure_sections(
    bench: Any, sections: Sequence[Section], tick: Callable[[], None], figures: dict[str, Any]
) -> None:
    """Measures section by section into `figures`; a caller who is interrupted keeps what is finished.

    Args:
        bench: dataclass of the settings, written down too.
        sections: in order.
        tick: called after every run of a figure.
        figures: filled; the keys are those of the JSON file.
    """
    figures |= {"settings": asdict(bench), "machine": machine(), "versions": versions()}
    figures["load_average"] = {"before": load_average(), "after": None}
    for section in sections:
        figures |= section(tick)
        figures["load_average"]["after"] = load_average()
