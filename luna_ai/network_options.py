"""Options of `net:PATH,...`: light, so that names of players can be checked without loading kernels or torch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

NET = "net"
RANGES: dict[str, tuple[float, float]] = {
    "sims": (0, 1_000_000),
    "seconds": (0.001, 3600),
    "leaves": (1, 1024),
    "considered": (1, 637),
}
BACKENDS = ("auto", "numba", "int8", "torch", "cuda")
WHOLE = ("sims", "leaves", "considered")
KEYS = (*RANGES, "backend")


class NetOptionError(ValueError):
    """A network's name with an option that does not exist, a value that is not allowed, or a file that is not there."""


@dataclass(frozen=True)
class NetOptions:
    """How a network plays.

    Attributes:
        path: checkpoint.
        sims: simulations for each decision; 0 plays the likeliest decision of the policy alone.
        seconds: time for each decision, which ends the search before `sims` are spent.
        leaves: leaves put before the network at once: quicker, and a little weaker for the same `sims`.
        considered: most decisions considered at the root.
        backend: as of `luna_ai.evaluator`, or `auto` for the faster one of those in float32.
    """

    path: str
    sims: int = 64
    seconds: float | None = None
    leaves: int = 1
    considered: int = 16
    backend: str = "auto"

    @property
    def name(self) -> str:
        """The player's full name: path and simulations, then every option that is not as usual."""
        usual = NetOptions(self.path)
        changed = [f.name for f in fields(self)[2:] if getattr(self, f.name) != getattr(usual, f.name)]
        return f"{NET}:{self.path}," + ",".join(f"{key}={_written(getattr(self, key))}" for key in ("sims", *changed))


def parse_net(text: str) -> NetOptions:
    """The options of `net:PATH,KEY=VALUE,...`, from what stands behind the colon.

    Raises:
        NetOptionError: there is no such file, a part is not KEY=VALUE, a key is unknown or given twice, or a value is
            not allowed.
    """
    path, *parts = text.split(",")
    chosen: dict[str, Any] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in KEYS:
            raise NetOptionError(f"{NET}: {part!r} is not KEY=VALUE with a KEY of {', '.join(KEYS)}")
        if key in chosen:
            raise NetOptionError(f"{NET}: {key} is given twice")
        chosen[key] = _value(key, value)
    if not Path(path).is_file():
        raise NetOptionError(f"{NET}: {path!r} is no file; allowed: {NET}:PATH,sims=64 with the PATH of a checkpoint")
    return NetOptions(path, **chosen)


def _value(key: str, text: str) -> Any:
    if key == "backend":
        if text not in BACKENDS:
            raise NetOptionError(f"{NET}: {key}={text} is not one of {', '.join(BACKENDS)}")
        return text
    low, high = RANGES[key]
    try:
        number = int(text) if key in WHOLE else float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        kind = "whole number" if key in WHOLE else "number"
        raise NetOptionError(f"{NET}: {key}={text} is not a {kind} from {low:g} to {high:g}")
    return number


def _written(value: Any) -> str:
    return str(value).removesuffix(".0")
