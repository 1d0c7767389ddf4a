"""The engine's random generator once more, in plain Python integers (SplitMix64, see `engine_fast.bits`)."""

from __future__ import annotations

WORD = 2**64 - 1


class SplitMix:
    """A generator with one word of state."""

    def __init__(self, state: int) -> None:
        self.state = state

    def next(self) -> int:
        """64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """A number below `bound`: the upper 32 bits, scaled."""
        return (self.next() >> 32) * bound >> 32
