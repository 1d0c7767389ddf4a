"""Game records (docs/RULES.md, section 9): written, verified, drawn.

`write_records` plays and writes, `verify` and `replay` hold a file against the reference and the engine, `RecordFile`
and `play_lines` serve programs that play in their own way, `drawing` shows a position in the terminal.
"""

from luna_ai.records.lines import FORMAT, Decision, Header, RecordError, RecordLine, Result, line_text, read_lines
from luna_ai.records.verification import GameEnd, Mismatch, Report, Step, replay, verify
from luna_ai.records.writing import Chooser, PlayedGame, RecordFile, Recording, play_lines, write_records

__all__ = [
    "FORMAT",
    "Chooser",
    "Decision",
    "GameEnd",
    "Header",
    "Mismatch",
    "PlayedGame",
    "RecordError",
    "RecordFile",
    "RecordLine",
    "Recording",
    "Report",
    "Result",
    "Step",
    "line_text",
    "play_lines",
    "read_lines",
    "replay",
    "verify",
    "write_records",
]
