"""Reads checked values out of the mapping of a component sheet; every error names the field and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from engine_fast.sheet_yaml import SheetError


@dataclass(frozen=True)
class SheetField:
    """A value of the sheet `sheet` and the path that leads to it, for example `temple.boards[1][3].tile`."""

    sheet: str
    path: str
    value: Any

    def fail(self, problem: str) -> NoReturn:
        """Raises the error of this field."""
        raise SheetError(f"component sheet {self.sheet!r}: {self.path}: {problem}")

    def integer(self, low: int, high: int) -> int:
        """The value, a whole number from `low` to `high` (`true` is not one)."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not low <= self.value <= high:
            self.fail(f"{_quote(self.value)} is not a whole number from {low} to {high}")
        return self.value

    def choice(self, allowed: Sequence[str]) -> str:
        """The value, one of the words `allowed`."""
        if not isinstance(self.value, str) or self.value not in allowed:
            self.fail(f"{_quote(self.value)} is not one of {', '.join(allowed)}")
        return self.value

    def items(self, low: int, high: int | None = None) -> list[SheetField]:
        """The elements of a list of `low` (to `high`) elements."""
        high = low if high is None else high
        size = str(low) if low == high else f"{low} to {high}"
        if not isinstance(self.value, list):
            self.fail(f"{_quote(self.value)} is not a list of {size} values")
        if not low <= len(self.value) <= high:
            self.fail(f"a list of {len(self.value)} values; allowed: {size}")
        return [SheetField(self.sheet, f"{self.path}[{i}]", item) for i, item in enumerate(self.value)]

    def integers(self, low: int, high: int, count: int, most: int | None = None) -> tuple[int, ...]:
        """The whole numbers from `low` to `high` of a list of `count` (to `most`)."""
        return tuple(item.integer(low, high) for item in self.items(count, most))

    def entries(self, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, SheetField]:
        """The values of a map that has exactly these keys, the optional ones where they are there."""
        allowed = ", ".join([*keys, *optional])
        if not isinstance(self.value, Mapping):
            self.fail(f"{_quote(self.value)} is not a map with the keys {allowed}")
        for key in self.value:
            if key not in keys and key not in optional:
                self.entry(key).fail(f"unknown key; allowed: {allowed}")
        for key in keys:
            if key not in self.value:
                self.entry(key).fail(f"missing; needed here: {', '.join(keys)}")
        return {key: self.entry(key) for key in self.value}

    def entry(self, key: str) -> SheetField:
        """The value under a key of a map, None where there is none."""
        return SheetField(self.sheet, f"{self.path}.{key}".lstrip("."), self.value.get(key))


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
