"""The start-player study: what each turn position is worth.

In dependency order: `handicap` (the fair handicap), `schedule` (configuration, variants, table of games), `store`
(parts on disk), `figures` (what the games say), `study` (plays, resumes), `report` (table, JSON, parquet, plot).
"""

from luna_ai.seats.handicap import FairHandicap, InvalidFinals, fair_handicap
from luna_ai.seats.report import print_study, save_study, summary_table
from luna_ai.seats.schedule import InvalidStudy, SeatStudy, Variant, build_schedule
from luna_ai.seats.store import RunnerError
from luna_ai.seats.study import GameRunner, Progress, StudyResult, run_study

__all__ = [
    "FairHandicap",
    "GameRunner",
    "InvalidFinals",
    "InvalidStudy",
    "Progress",
    "RunnerError",
    "SeatStudy",
    "StudyResult",
    "Variant",
    "build_schedule",
    "fair_handicap",
    "print_study",
    "run_study",
    "save_study",
    "summary_table",
]
