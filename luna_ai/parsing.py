"""From the command line and `--config` files to the `Config` dataclass of a verb, by jsonargparse.

Every problem is a `UserError` of one line that names the option and what is allowed.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from math import isfinite
from pathlib import Path
from tempfile import TemporaryFile
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import jsonargparse
import yaml

from luna_ai.config import UserError

C = TypeVar("C")


def parse(config_class: type[C], arguments: Sequence[str], prog: str, description: str) -> C:
    """The options of a verb, from its arguments.

    Raises:
        UserError: an option is unknown or has a value that is not allowed; a path cannot be written.
        SystemExit: with 0, after `--help` or `--print-config`.
    """
    options = _options(config_class)
    parser = _Parser(
        prog=prog,
        description=description,
        formatter_class=_Formatter,
        allow_abbrev=False,
        default_env=False,
        print_config="--print-config",
    )
    parser.add_argument("--config", action="config", metavar="FILE", help="YAML file with values of the options below")
    parser.describe("print_config", "print the options as a config file and exit")
    for each in options:
        each.add_to(parser)
    for word in arguments:
        if re.match(r"--[^=]*\.", word):  # jsonargparse would take it for a key inside an option
            parser.error(f"unrecognized arguments: {word}")
    try:
        found = parser.parse_args(_config_first(arguments))
    except RuntimeError:  # jsonargparse replaces the elements of what it takes for a list
        raise UserError("--config: a map stands where a list is needed") from None
    config = config_class(**{each.field.name: each.value_in(found) for each in options})
    check_outputs([(each.flag, getattr(config, each.field.name), each.meta["writes"]) for each in options])
    return config


def _config_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with config files first: jsonargparse lets the last word win, here the command line does."""
    words, config = list(arguments), list[str]()
    for place in reversed(range(len(words))):
        if words[place].startswith("--config="):
            config[:0] = [words.pop(place)]
        elif words[place] == "--config":
            config[:0] = words[place : place + 2]
            del words[place : place + 2]
    return config + words


def check_outputs(outputs: Sequence[tuple[str, Path | None, str | None]]) -> None:
    """Refuses paths that cannot be written, so that no work is lost at its end; leaves no trace.

    Args:
        outputs: flag, path, and `file`, `folder` or, where the path is only read (or is none), None.

    Raises:
        UserError: the place is protected or, for a file, its folder is missing; or another option names the same path.
    """
    read = {path.resolve() for _, path, kind in outputs if isinstance(path, Path) and kind is None}
    seen = dict[Path, str]()
    for flag, path, kind in outputs:
        if path is None or kind is None:
            continue
        if (place := path.resolve()) in read:
            raise UserError(f"{flag}: {str(path)!r} is the file that is read; an output needs another path")
        if place in seen:
            raise UserError(f"{flag}: {str(path)!r} is the path of {seen[place]} too")
        seen[place] = flag
        try:
            _try_folder(path) if kind == "folder" else _try_file(path)
        except OSError as error:
            raise UserError(f"{flag}: {str(path)!r} cannot be written: {error.strerror}") from None


def _try_file(path: Path) -> None:
    existed = os.path.lexists(path)
    with path.open("ab"):
        pass
    if not existed:
        path.unlink()


def _try_folder(path: Path) -> None:
    made: list[Path] = []
    try:
        for folder in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
            folder.mkdir()
            made.insert(0, folder)
        with TemporaryFile(dir=path):
            pass
    finally:
        for folder in made:
            folder.rmdir()


@dataclass(frozen=True)
class Value:
    """Makes a value of one type from a word of the command line or a value of a config file."""

    hint: Any
    low: float | None
    high: float | None

    def __call__(self, given: object) -> Any:
        """The value.

        Raises:
            BadValue: it is not one of `allowed()`.
        """
        if self.optional and (given is None or given == "null"):
            return None
        hint = self.plain
        if get_origin(hint) is Literal:
            value = next((choice for choice in get_args(hint) if str(choice) == str(given)), None)
        else:
            value = _READERS[hint](given)
        if value is None or not self._in_range(value):
            raise BadValue(f"{_quote(given)} is not {self.allowed()}")
        return value

    @property
    def plain(self) -> Any:
        """The type of a value that is not null."""
        return next(each for each in self._hints if each is not NoneType)

    @property
    def optional(self) -> bool:
        """Whether null is a value."""
        return NoneType in self._hints

    @property
    def _hints(self) -> tuple[Any, ...]:
        return get_args(self.hint) if get_origin(self.hint) in (Union, UnionType) else (self.hint,)

    def _in_range(self, value: Any) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def allowed(self) -> str:
        """What is allowed, in words."""
        return self._words() + (" or null" if self.optional else "")

    def _words(self) -> str:
        if get_origin(self.plain) is Literal:
            return "one of " + ", ".join(str(choice) for choice in get_args(self.plain))
        start = f" from {self.low}" if self.low is not None else ""
        end = f" to {self.high}" if self.high is not None and self.high < 2**31 else ""
        return f"{_WORDS[self.plain]}{start}{end}"

    def metavar(self) -> str:
        """What stands for the value in `--help`."""
        if get_origin(self.plain) is Literal:
            return "{" + ",".join(str(choice) for choice in get_args(self.plain)) + "}"
        return _METAVARS[self.plain]


class BadValue(argparse.ArgumentTypeError, ValueError):
    """A value that an option does not take; both bases, for the command line and for config files."""


def _read_int(given: object) -> int | None:
    if isinstance(given, str):
        return int(given) if re.fullmatch(r"[+-]?\d+(_\d+)*", given) and len(given) < 30 else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _read_float(given: object) -> float | None:
    try:
        number = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and isfinite(number) else None


def _read_str(given: object) -> str | None:
    return given if isinstance(given, str) and given else None


def _read_path(given: object) -> Path | None:
    return Path(given) if isinstance(given, str | Path) and str(given) and "\0" not in str(given) else None


def _read_bool(given: object) -> bool | None:
    return given if isinstance(given, bool) else None


_READERS: dict[Any, Callable[[object], Any]] = {
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    str: _read_str,
    Path: _read_path,
}
_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
}
_METAVARS: dict[Any, str] = {int: "N", float: "X", str: "NAME", Path: "FILE"}


def _quote(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."


@dataclass(frozen=True)
class _Option:
    """A field of a `Config` as an argument of the parser."""

    field: Field[Any]
    hint: Any

    @property
    def name(self) -> str:
        return self.field.name.rstrip("_")  # `from_` is the field of --from

    @property
    def meta(self) -> Any:
        return self.field.metadata

    @property
    def _default(self) -> Any:
        return self.field.default

    @property
    def flag(self) -> str:
        return self.name if self.meta["positional"] else "--" + self.name.replace("_", "-")

    @property
    def many(self) -> bool:
        return get_origin(self.hint) is tuple

    @property
    def value(self) -> Value:
        return Value(get_args(self.hint)[0] if self.many else self.hint, self.meta["low"], self.meta["high"])

    def add_to(self, parser: jsonargparse.ArgumentParser) -> None:
        if self.hint is bool:
            parser.add_argument(self.flag, action="store_true", help=self.meta["help"])
            return
        default = list(self._default) if self.many else self._default
        keywords: dict[str, Any] = {"metavar": self.meta["metavar"] or self.value.metavar(), "help": self._help()}
        if self.many:
            keywords["nargs"] = "+" if default else "*"
        elif self.meta["positional"]:
            keywords.update(nargs="?", action=_Positional)
            default = _NotGiven(default) if isinstance(default, str) else default
        parser.add_argument(self.flag, type=self.value, default=default, **keywords)

    def _help(self) -> str:
        words = [] if self.value.plain in (str, Path) else [self.value.allowed()]
        default = self._default
        if default not in ((), None):
            words.append("default: " + (" ".join(str(item) for item in default) if self.many else str(default)))
        return str(self.meta["help"]) + (f" ({'; '.join(words)})" if words else "")

    def value_in(self, found: jsonargparse.Namespace) -> Any:
        """The value, checked once more: jsonargparse passes `null` and what a config file says for a flag."""
        given = found[self.name]
        if given is None and not self.value.optional:
            raise UserError(f"{self.meta['metavar'] if self.meta['positional'] else self.flag}: missing")
        try:
            return tuple(self.value(item) for item in given) if self.many else self.value(given)
        except (BadValue, TypeError) as error:
            problem = error if isinstance(error, BadValue) else f"{_quote(given)} is not a list"
            raise UserError(f"{self.flag}: {problem}") from None


def _options(config_class: type[Any]) -> list[_Option]:
    hints = get_type_hints(config_class)
    own_first = sorted(fields(config_class), key=lambda each: each.name not in config_class.__annotations__)
    return [_Option(each, hints[each.name]) for each in own_first]


class _NotGiven(str):
    """The default of an argument by place; what is typed is a plain text."""


yaml.SafeDumper.add_representer(_NotGiven, lambda dumper, text: dumper.represent_str(str(text)))
yaml.SafeDumper.add_multi_representer(Path, lambda dumper, path: dumper.represent_str(str(path)))  # --print-config


class _Positional(argparse.Action):
    """An argument by place that a config file can give: argparse alone would put the default in its stead."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if values is not None and not isinstance(values, _NotGiven):
            setattr(namespace, self.dest, values)


class _Formatter(argparse.RawDescriptionHelpFormatter, jsonargparse.DefaultHelpFormatter):
    """Keeps the line breaks of the description, which ends with an example."""

    def _get_help_string(self, action: argparse.Action) -> str:
        return action.help or ""  # says type and default in our own words


class _Parser(jsonargparse.ArgumentParser):
    """Raises a `UserError` instead of printing usage and leaving."""

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        raise UserError(self._one_line(message)) from None

    def _one_line(self, message: str) -> str:
        shown = [action for action in self._actions if action.help != argparse.SUPPRESS]
        flags = [string for action in shown for string in action.option_strings if string.startswith("--")]
        if unknown := re.match(r"unrecognized arguments: (\S+)", message):
            near = difflib.get_close_matches(unknown[1], flags, 1, cutoff=0.75)
            meant = f", perhaps {near[0]}" if near else ""
            return f"unknown argument {unknown[1]!r}{meant}; allowed: {' '.join(flags)}"
        if unknown := re.search(r"Option '(.+)' is not accepted", message):
            keys = [action.dest for action in shown if action.dest not in ("help", "config", "print_config")]
            return f"--config: unknown key {unknown[1]!r}; allowed: {', '.join(keys)}"
        if message.startswith(("Problems parsing config", "Unexpected config")):
            message = "--config: " + message.replace('in "<unicode string>", ', "")
        text = re.sub(r'^Parser key "(\w+)"(?: element \d+)?:', lambda key: self._flag(key[1]) + ":", message)
        text = re.sub(r"^argument (\S+):", r"\1:", text)
        text = re.sub(r"'\w+' object (is not iterable|does not support item assignment)", "needs a list", text)
        return " ".join(text.split())

    def describe(self, dest: str, help: str) -> None:
        """Sets the help of an argument that jsonargparse added by itself."""
        action = next(action for action in self._actions if action.dest == dest)
        action.help, action.metavar = help, ""

    def _flag(self, dest: str) -> str:
        action = next(action for action in self._actions if action.dest == dest)
        return action.option_strings[0] if action.option_strings else dest
