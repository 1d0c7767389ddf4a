"""The command `luna`: one verb a module of `luna_ai.commands`, imported only when it is used.

A verb module has a docstring that ends with an example (its `--help`), a frozen dataclass `Config` (its options, see
`luna_ai.config`) and `run(config) -> int`, which returns an exit code.

Exit codes: 0 done; 1 a check failed; 2 bad input, one line on stderr; 3 a record is fine but unfinished; 130
interrupted, what was finished is kept; 141 the reader of the output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from luna_ai import __version__

VERBS = {
    "simulate": "plays many games between bots and writes a table of them",
    "seats": "measures what each turn position is worth",
    "arena": "finds out who is better: round robin or challenger, with ratings",
    "train": "trains a network by self-play",
    "evaluate": "measures a trained network against bots",
    "bench": "measures speed on this machine",
    "components": "shows, checks and compares component sheets",
    "record": "plays games and writes them as records",
    "replay": "verifies and draws game records",
    "analyse": "says what a search thinks of each decision of a record",
}
"""Every verb and what it does; `luna NAME` runs `luna_ai.commands.NAME`."""

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code."""
    verb, *rest = list(sys.argv[1:] if arguments is None else arguments) or [""]
    if verb in ("-h", "--help", "--version"):
        return _guarded("luna", lambda: _print(_help() if verb != "--version" else f"luna-ai {__version__}"))
    if verb not in VERBS:
        problem = f"unknown verb {verb!r}" if verb else "no verb"
        return _complain("luna", f"{problem}; allowed: {', '.join(VERBS)}; see luna --help")
    return _guarded(f"luna {verb}", lambda: _run(verb, rest))


def _run(verb: str, arguments: Sequence[str]) -> int:
    from luna_ai.parsing import parse

    module = import_module(f"luna_ai.commands.{verb}")
    config = parse(module.Config, arguments, prog=f"luna {verb}", description=module.__doc__ or "")
    return int(module.run(config))


def _guarded(prog: str, work: Callable[[], int]) -> int:
    """The exit code of `work`; what the user or his machine caused becomes one line, a bug keeps its traceback."""
    try:
        code = work()
        sys.stdout.flush()
        return code
    except SystemExit as done:  # after --help
        return done.code if isinstance(done.code, int) else 0
    except KeyboardInterrupt:
        return _complain(prog, "interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to flush at exit
        return BROKEN_PIPE
    except OSError as error:
        return _complain(prog, f"{error.filename or 'output'}: {error.strerror or error}")
    except ValueError as error:
        if type(error).__module__.partition(".")[0] not in ("engine_fast", "luna_ai"):
            raise
        return _complain(prog, str(error))


def _complain(prog: str, problem: str, code: int = BAD_INPUT) -> int:
    """Says the problem in one line on stderr, whatever it quotes."""
    line = " ".join(problem.split())
    print(f"{prog}: error: {line}" if code == BAD_INPUT else f"{prog}: {line}", file=sys.stderr)  # noqa: T201
    return code


def _print(text: str) -> int:
    print(text)  # noqa: T201
    return 0


def _help() -> str:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in VERBS.items())
    return f"""usage: luna VERB [options]

Plays, studies and learns the board game Luna.

verbs:
{verbs}

  luna VERB --help   options and an example
  luna --version     version of the package

Every verb takes --config FILE, a YAML file with values of its options; --print-config writes one."""


if __name__ == "__main__":
    sys.exit(main())
