"""Each kernel is compiled once: every way to call the engine uses one and the same signature.

A second one would be compiled again in every process that needs it, and mean that somewhere an array of another layout
or type goes in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
USE_EVERYTHING = """
import importlib
import pkgutil

import numpy as np

import engine_fast
from engine_fast import Position, RuleSet, batch, layout, new_ledger
from engine_fast.perft import perft
from engine_fast.playout import playout_batch, random_games
from engine_fast.setup import set_up_into

for players in (2, 3, 4):
    start = Position.new(players, "preselected", players, handicap=[1] * players, start_player=np.int64(1))
    start = Position.new(players, seed=None, ruleset=RuleSet("online", influence_floor=None), components="rosette")
    middle = Position.from_json(start.to_json(), "rosette", start.game.ruleset)
    for _ in range(12):
        legal = middle.legal_ids()
        middle = middle.play(np.int64(legal[0])).play(middle.play(legal[0]).legal()[-1], new_ledger())
    hash(middle), str(middle), perft(middle.state, middle.game.rules, 2), perft(middle.state, middle.game.rules, 0)
    for size in (1, 5):
        rules = start.game.rules
        states = np.zeros((size, layout.STATE_WORDS), np.uint64)
        generators = np.arange(size, dtype=np.uint64).reshape(-1, 1)
        batch.set_up_batch(states, players, 0, np.full(size, -1), generators, rules)
        masks, hashes, over = np.zeros((size, 10), np.uint64), np.zeros(size, np.uint64), np.zeros(size, np.bool_)
        ledgers = np.zeros((size, 4, layout.NUM_SOURCES), np.int16)
        batch.legal_batch(states, rules, masks)
        batch.apply_batch(states, np.full(size, -1), rules, ledgers)
        batch.hash_batch(states, hashes)
        batch.over_batch(states, over)
        for policy in (0, 1):
            playout_batch(states, policy, rules, generators, ledgers, np.zeros(size, np.int32))
        random_games(players, 2, rules, generators[0], states[0], ledgers[0])
        set_up_into(states[0], players, 1, 0, generators[0], rules)

for module in pkgutil.iter_modules(engine_fast.__path__, "engine_fast."):
    for name, value in vars(importlib.import_module(module.name)).items():
        if getattr(value, "luna_kernel", False) and value.__module__ == module.name:
            print(module.name, name, len(value.signatures))
"""


def test_every_kernel_has_exactly_one_signature():
    done = subprocess.run([sys.executable, "-c", USE_EVERYTHING], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert len(counts) >= 10
    assert {kernel: count for kernel, count in counts.items() if count != "1"} == {}
