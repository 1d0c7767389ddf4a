"""Options of `mcts:...`: light, so that names of players can be checked without loading kernels."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

RULES = ("uct", "puct")
ROLLOUTS = ("uniform", "mixed", "greedy")
PREFIX = "mcts"


class SearchOptionError(ValueError):
    """An option of a search that does not exist or has a value that is not allowed."""


@dataclass(frozen=True)
class SearchOptions:
    """What a search does with a position.

    Attributes:
        sims: simulations for each decision.
        seconds: time for each decision, instead of `sims`.
        rule: how edges are chosen: `puct` (priors from the greedy bot's scores) or `uct` (with progressive bias).
        c: weight of exploration.
        bias: with `uct`, weight of the progressive bias.
        fpu: with `puct`, reduction of the value of decisions not yet visited.
        sharpness: temperature in influence of the softmax that makes priors of greedy scores; 0 for equal priors.
        spread: share of the prior that is spread evenly.
        rollout: policy that plays leaves on: `greedy`, `mixed`, `uniform`.
        rounds: rounds to play a leaf on before the estimate; 0 plays to the end.
        noise: chance of a random decision in greedy rollouts.
        nodes: most nodes of the tree; when they are used it stops growing and the search goes on in it.
        reuse: keep the tree between decisions.
        transpositions: one node for a position that is reached in several ways.
    """

    sims: int = 400
    seconds: float | None = None
    rule: str = "puct"
    c: float = 1.0
    bias: float = 0.5
    fpu: float = 0.0
    sharpness: float = 2.0
    spread: float = 0.1
    rollout: str = "greedy"
    rounds: int = 1
    noise: float = 0.05
    nodes: int = 8192
    reuse: bool = True
    transpositions: bool = False

    def __post_init__(self) -> None:
        """Checks all values.

        Raises:
            SearchOptionError: a value that is not allowed; the message names the option and what is.
        """
        for key, allowed in CHOICES.items():
            if _written(getattr(self, key)) not in allowed:
                raise SearchOptionError(f"{PREFIX}: {key}={getattr(self, key)} is not one of {', '.join(allowed)}")
        for key in RANGES:
            value = getattr(self, key)
            if not (key == "seconds" and value is None):
                check_range(key, value)

    @property
    def name(self) -> str:
        """The player's full name: the budget, then every option that is not as usual."""
        usual = SearchOptions()
        changed = [f.name for f in fields(self) if getattr(self, f.name) != getattr(usual, f.name) and f.name != "sims"]
        shown = changed if self.seconds is not None else ["sims", *changed]
        return f"{PREFIX}:" + ",".join(f"{key}={_written(getattr(self, key))}" for key in shown)


RANGES: dict[str, tuple[float, float]] = {
    "sims": (1, 10_000_000),
    "seconds": (0.001, 3600),
    "c": (0, 100),
    "bias": (0, 100),
    "fpu": (0, 10),
    "sharpness": (0, 100),
    "spread": (0, 1),
    "rounds": (0, 6),
    "noise": (0, 1),
    "nodes": (2, 10_000_000),
}
SWITCHES = ("reuse", "transpositions")
CHOICES: dict[str, tuple[str, ...]] = {"rule": RULES, "rollout": ROLLOUTS} | dict.fromkeys(SWITCHES, ("true", "false"))
WHOLE = ("sims", "rounds", "nodes")


def parse_options(text: str) -> SearchOptions:
    """The options of `mcts:KEY=VALUE,...`, from what stands behind the colon; empty for the usual ones.

    Raises:
        SearchOptionError: not KEY=VALUE, an unknown key, a key twice, or a value that is not allowed.
    """
    chosen: dict[str, Any] = {}
    for part in text.split(",") if text else []:
        key, equals, value = part.partition("=")
        if not equals or key not in (*RANGES, *CHOICES):
            raise SearchOptionError(
                f"{PREFIX}: {part!r} is not KEY=VALUE with a KEY of {', '.join((*RANGES, *CHOICES))}"
            )
        if key in chosen:
            raise SearchOptionError(f"{PREFIX}: {key} is given twice")
        chosen[key] = _value(key, value)
    if "sims" in chosen and "seconds" in chosen:
        raise SearchOptionError(f"{PREFIX}: sims and seconds are both given; allowed: one of them")
    return replace(SearchOptions(), **chosen)


def _value(key: str, text: str) -> Any:
    if key in CHOICES:
        if text not in CHOICES[key]:
            raise SearchOptionError(f"{PREFIX}: {key}={text} is not one of {', '.join(CHOICES[key])}")
        return text == "true" if key in SWITCHES else text
    try:
        return int(text) if key in WHOLE else float(text)
    except ValueError:
        raise out_of_range(key, text) from None


def check_range(key: str, value: Any) -> None:
    """Raises SearchOptionError unless the option is a number in its range, a whole one where it counts something."""
    low, high = RANGES[key]
    kinds = (int,) if key in WHOLE else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not low <= value <= high:
        raise out_of_range(key, value)


def out_of_range(key: str, value: Any) -> SearchOptionError:
    """The error that names a value and its range."""
    (low, high), kind = RANGES[key], "whole number" if key in WHOLE else "number"
    return SearchOptionError(f"{PREFIX}: {key}={value} is not a {kind} from {low:g} to {high:g}")


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")
