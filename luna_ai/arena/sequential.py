"""The sequential test of a match: "share = 1/N" against "share = 1/N + x", looked at after every block.

A block's score is the challenger's win share in its games, which share a deal and so depend on each other; blocks do
not. With mean m and variance v of n block scores, the logarithm of the generalised likelihood ratio is

    LLR = n x (m - 1/N - x/2) / v

(Wald, "Sequential tests of statistical hypotheses", 1945, for normal scores; v estimated from the blocks makes it the
generalised test of Li, Liu & Ying, "Generalized sequential probability ratio test for separate families of hypotheses",
2014, in the normal approximation that chess engine tests use: Van den Bergh, "A practical introduction to the GSPRT",
section 4, https://www.cantate.be/Fishtest/GSPRT_approximation.pdf). The match ends as soon as LLR is at least
log(1/alpha): better; or at most log(beta): not better. With these bounds the errors are at most alpha and beta whatever
the overshoot (Ville's inequality), where Wald's own are approximations. `exp(-max LLR)` is a p-value that holds however
often one looks (Johari et al., "Always valid inference", 2022).

An estimated variance is too small now and then; so the first `min_blocks` blocks are always played, and v counts one
block more than there are, with the variance that independent games under "share = 1/N" would have. That block also
keeps v above 0 when all scores are equal. How often the test errs is in docs/ARENA.md and in its tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from luna_ai.stats import FloatArray

Verdict = Literal["better", "not better", "undecided"]

ALPHA, BETA = 0.05, 0.05
MIN_BLOCKS = 30


@dataclass(frozen=True)
class SequentialTest:
    """A test of block scores.

    Attributes:
        equal: share under H0, 1/N.
        better_by: x; the share under H1 is `equal + better_by`.
        games: games of a block.
        max_blocks: after so many blocks the match ends undecided.
        alpha: chance of "better" under H0.
        beta: chance of "not better" under H1.
        min_blocks: blocks before the first look.
    """

    equal: float
    better_by: float
    games: int
    max_blocks: int
    alpha: float = ALPHA
    beta: float = BETA
    min_blocks: int = MIN_BLOCKS

    @property
    def upper(self) -> float:
        """LLR from which on the challenger is better."""
        return -math.log(self.alpha)

    @property
    def lower(self) -> float:
        """LLR down to which the challenger is not better."""
        return math.log(self.beta)

    def running(self, scores: FloatArray) -> FloatArray:
        """LLR after each block, ``float64[..., B]``, of block scores ``float64[..., B]``."""
        blocks = np.arange(1, scores.shape[-1] + 1)
        off = scores - self.equal  # small numbers keep the sum of squares exact
        mean = np.cumsum(off, axis=-1) / blocks
        squares = np.maximum(np.cumsum(off * off, axis=-1) - blocks * mean * mean, 0.0)
        variance = (squares + self.equal * (1 - self.equal) / self.games) / blocks
        ratio: FloatArray = blocks * self.better_by * (mean - self.better_by / 2) / variance
        return ratio

    def stops(self, scores: FloatArray) -> NDArray[np.int64]:
        """Number of blocks at which each of several matches ends, ``int64[...]``; B where none of B blocks ends it."""
        ratio = self.running(scores)
        blocks = np.arange(1, scores.shape[-1] + 1)
        ends = ((ratio >= self.upper) | (ratio <= self.lower)) & (blocks >= self.min_blocks) | (
            blocks >= self.max_blocks
        )
        found: NDArray[np.int64] = np.where(ends.any(axis=-1), ends.argmax(axis=-1) + 1, scores.shape[-1])
        return found

    def decide(self, scores: FloatArray) -> Decision:
        """Where a match stands, from the scores ``float64[B]`` of its blocks in the order of the schedule."""
        if not len(scores):
            return Decision("undecided", 0, False, math.nan, math.nan)
        blocks = int(self.stops(scores))
        ratio = self.running(scores[:blocks])
        last, largest = float(ratio[-1]), float(ratio[self.min_blocks - 1 :].max(initial=0.0))
        verdict: Verdict = "undecided"
        if blocks >= self.min_blocks and not self.lower < last < self.upper:
            verdict = "better" if last >= self.upper else "not better"
        ended = verdict != "undecided" or blocks >= self.max_blocks
        return Decision(verdict, blocks, ended, last, math.exp(-largest))


@dataclass(frozen=True)
class Decision:
    """Where a match stands.

    Attributes:
        verdict: "undecided" at the maximum, or while the match goes on.
        blocks: number of blocks at which it ended, or that there are.
        ended: whether it ended.
        ratio: LLR after the last block; NaN without a block.
        p_value: valid however often one looked; 1 before the first look, NaN without a block.
    """

    verdict: Verdict
    blocks: int
    ended: bool
    ratio: float
    p_value: float
