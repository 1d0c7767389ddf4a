"""The arena: who is better, and by how much.

In dependency order: `settings` (what is played: a round robin or matches), `groups` (who meets whom), `schedule` (the
explicit table of games), `sequential` (the test that stops a match), `store` (parts on disk), `play` (plays, stops,
resumes), `resampling` and `tallies` (sums by block), `figures` (what the games say), `report`, `plot`, `scalars`
(table, files, picture, TensorBoard).
"""

from luna_ai.arena.figures import figures_of
from luna_ai.arena.play import ArenaResult, run_arena
from luna_ai.arena.report import print_arena, save_arena
from luna_ai.arena.schedule import Event, build_schedule, events_of
from luna_ai.arena.sequential import Decision, SequentialTest
from luna_ai.arena.settings import Arena, Challenge, InvalidArena, RoundRobin

__all__ = [
    "Arena",
    "ArenaResult",
    "Challenge",
    "Decision",
    "Event",
    "InvalidArena",
    "RoundRobin",
    "SequentialTest",
    "build_schedule",
    "events_of",
    "figures_of",
    "print_arena",
    "run_arena",
    "save_arena",
]
