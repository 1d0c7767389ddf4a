"""How long compiling takes: everything once from nothing, then again with the compiled kernels on disk.

Every row runs in a process of its own; the first time with an empty cache folder (`LUNA_CACHE_DIR`), so that every
kernel that it needs is compiled, the second time with what the first left there. Rows share the folder, as a user's
first commands would: a kernel is compiled in the first row that needs it. The budget: all rows together 90 s cold, 1 s
for the first call warm.

Example:
    python benchmarks/compile_time.py --kernels
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from luna_ai.bench.measuring import load_average

COLD_BUDGET, WARM_BUDGET = 90.0, 1.0
TINY_BENCH = ("--seconds", "0.001", "--runs", "1", "--jobs", "1", "--decisions", "0", "--players", "2")

ENGINE = """
import numpy as np
from engine_fast import batch, perft, playout
from engine_fast.position import Position, generator_of, load_game, new_ledger
"""
FIRST_CALL = """
position = Position.new(2, seed=1)
position.play(position.legal()[0])
"""
ALL_ENGINE_KERNELS = """
hash(position), position.to_json(), Position.from_json(position.to_json())
rules, states = position.game.rules, np.zeros((2, len(position.state)), dtype=np.uint64)
generators, ledgers = np.ones((2, 1), dtype=np.uint64), np.stack([new_ledger(), new_ledger()])
batch.set_up_batch(states, 2, 0, np.full(2, -1, dtype=np.int64), generators, rules)
batch.legal_batch(states, rules, np.zeros((2, 10), dtype=np.uint64))
batch.over_batch(states, np.zeros(2, dtype=bool))
batch.apply_batch(states, np.full(2, -1, dtype=np.int64), rules, ledgers)
playout.playout_batch(states, 0, rules, generators, ledgers, np.zeros(2, dtype=np.int32))
playout.random_games(2, 1, rules, generator_of(1), states[0], ledgers[0])
perft.perft(np.array(position.state), rules, 2)
"""
RECORDER = """
import json, sys, time
from numba.core import event
class Recorder(event.Listener):
    def __init__(self):
        self.started, self.seconds = {}, {}
    def on_start(self, found):
        self.started[id(found.data["dispatcher"])] = time.process_time()
    def on_end(self, found):
        kernel = found.data["dispatcher"]
        if getattr(kernel, "luna_kernel", False):
            name, spent = kernel.py_func.__qualname__, time.process_time() - self.started[id(kernel)]
            self.seconds[name] = self.seconds.get(name, 0) + spent
recorder = Recorder()
event.register("numba:compile", recorder)
"""
REPORT = """
print(json.dumps({"kernels": recorder.seconds, "first_call": first_call}), file=open(sys.argv[1], "w"))
"""


@dataclass(frozen=True)
class Row:
    """Something that compiles: Python statements, of which `timed` are the first call of a kernel."""

    name: str
    imports: str
    timed: str
    rest: str = ""

    def code(self) -> str:
        """The program of the process."""
        timed = f"start = time.perf_counter()\n{self.timed}\nfirst_call = time.perf_counter() - start\n"
        return RECORDER + self.imports + timed + self.rest + REPORT


def command(name: str, *words: str) -> Row:
    """A command line as a row."""
    run = f"sys.stdout = open('/dev/null', 'w')\nassert main({list(words)!r}) == 0\nsys.stdout = sys.__stdout__"
    return Row(name, "from luna_ai.cli import main\n", run)


ROWS = (
    Row("engine, first position", ENGINE, FIRST_CALL),
    Row("engine, all kernels", ENGINE, FIRST_CALL, ALL_ENGINE_KERNELS),
    command("luna simulate, greedy", "simulate", "--players", "3", "--agents", "greedy", "--games", "5", "--jobs", "1"),
    command("luna bench engine", "bench", "engine", *TINY_BENCH),
    command("luna simulate, mcts", "simulate", "--players", "2", "--agents", "mcts:sims=1", "greedy", "--games", "1"),
)


def run_row(row: Row, cache: Path) -> dict[str, Any]:
    """Runs a row in a new process; seconds of processor and wall, of the first call, and of each compiled kernel."""
    report = cache / "report.json"
    environment = {**os.environ, "LUNA_CACHE_DIR": str(cache / "kernels"), "LUNA_QUIET_COMPILE": "1"}
    before = os.times()
    done = subprocess.run([sys.executable, "-c", row.code(), str(report)], env=environment, stderr=subprocess.PIPE)
    after = os.times()
    if done.returncode:
        sys.exit(f"{row.name}: {done.stderr.decode()}")
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return {"processor": processor, "wall": after.elapsed - before.elapsed, **json.loads(report.read_text())}


def print_table(found: dict[str, dict[str, dict[str, Any]]]) -> None:
    """One line a row: processor (wall) seconds cold and warm, and the first call when warm."""
    print(f"{'processor (wall) seconds':<26}{'cold':>16}{'warm':>16}{'first call warm':>18}")
    for name, times in found.items():
        cold, warm = (f"{times[when]['processor']:.1f} ({times[when]['wall']:.1f})" for when in ("cold", "warm"))
        print(f"{name:<26}{cold:>16}{warm:>16}{times['warm']['first_call']:>18.2f}")
    cold_sum = sum(times["cold"]["processor"] for times in found.values())
    first = found[ROWS[0].name]["warm"]["first_call"]
    print(f"together {cold_sum:.1f} s cold (budget {COLD_BUDGET:.0f})")
    print(f"first call {first:.2f} s warm (budget {WARM_BUDGET:.0f})")


def print_kernels(found: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Every kernel that was compiled, the slowest first."""
    kernels = [pair for times in found.values() for pair in times["cold"]["kernels"].items()]
    for name, seconds in sorted(kernels, key=lambda pair: -pair[1]):
        print(f"{seconds:8.2f} s  {name}")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", action="store_true", help="also every kernel by itself")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this JSON file")
    options = parser.parse_args()
    load = load_average()
    with tempfile.TemporaryDirectory() as folder:
        cold = {row.name: run_row(row, Path(folder)) for row in ROWS}
        warm = {row.name: run_row(row, Path(folder)) for row in ROWS}
    found = {name: {"cold": cold[name], "warm": warm[name]} for name in cold}
    print_table(found)
    if options.kernels:
        print_kernels(found)
    print(f"load average before: {load}, after: {load_average()}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
