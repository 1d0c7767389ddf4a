"""How strong the current network is: one seat of it among copies of a bot, every deal with every start player.

Among copies of the network of the evaluation before it plays as well, which links the ratings of versions that no bot
can tell apart any more (`luna_ai.rating_curve`). Games are played in step by `SelfPlay`, without noise; a *block* is
one deal with all its N start players, and intervals are made from blocks. The same deals are played at every evaluation
of a run, so that curves are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from engine_fast.position import Game
from luna_ai.game_plans import PAST, SELF, Plan, joined_plans, one_plan
from luna_ai.players import CODES
from luna_ai.search.evaluators import Evaluator
from luna_ai.selfplay import SelfPlay
from luna_ai.training_config import TrainingConfig

EVALUATION_KEY, BOOTSTRAP_KEY = 2, 3
PREVIOUS = "previous"
"""Name of the network of the evaluation before, among the anchors."""


@dataclass(frozen=True)
class AgainstAnchor:
    """One network against N - 1 copies of an anchor.

    Attributes:
        anchor: name of the bot, or `PREVIOUS`.
        players: N.
        games: number of games; of blocks it is games / N.
        share: games won; an equal share would be 1/N.
        low, high: 95 % interval by blocks.
        by_position: share of games won by turn position of the network.
        places: place of the network in every game, 1 for the winner; one row a deal.
    """

    anchor: str
    players: int
    games: int
    share: float
    low: float
    high: float
    by_position: tuple[float, ...]
    places: tuple[tuple[int, ...], ...]


def evaluation_plan(game: Game, players: int, anchor: str, deals: int, seed: int) -> Plan:
    """The network at seat 0, the anchor elsewhere; `deals` times N games."""
    other, plans = PAST if anchor == PREVIOUS else CODES[anchor], []
    codes = [SELF, *[other] * (players - 1)]
    for deal in range(deals):
        for starter in range(players):
            keys = ((EVALUATION_KEY, players, deal), (EVALUATION_KEY, players, deal, starter))
            shared, own = (np.random.SeedSequence(seed, spawn_key=key).generate_state(6, np.uint64) for key in keys)
            words = np.concatenate([shared[:1], own[1:]]).astype(np.uint64)
            plans.append(one_plan(game, deal * players + starter, players, "standard", starter, codes, words))
    return joined_plans(plans)


class Evaluation:
    """Measures networks, each time on the same games."""

    def __init__(self, config: TrainingConfig, game: Game) -> None:
        """Prepares the plans of all anchors and player counts that are learned."""
        self._config, counts = config, [n for n, share in zip((2, 3, 4), config.shares, strict=True) if share > 0]
        sims = config.evaluate_sims
        options = replace(config, sims=sims, fast_sims=sims, full_share=1.0, gumbel_scale=0.0)
        self._play = SelfPlay(options, game)
        self._plans = [
            (anchor, n, evaluation_plan(game, n, anchor, config.evaluate_deals, config.seed))
            for anchor in (*config.anchors, PREVIOUS)
            for n in counts
        ]

    def __call__(
        self, evaluator: Evaluator, previous: Evaluator | None = None, stop: Callable[[], bool] = lambda: False
    ) -> list[AgainstAnchor]:
        """Plays all games of all anchors and player counts, until `stop` says so; what is finished by then is told.

        Args:
            evaluator: of the network.
            previous: of the network of the evaluation before; None for no games against it.
            stop: asked often.
        """
        found = list[AgainstAnchor]()
        for anchor, players, plan in self._plans:
            if anchor == PREVIOUS and previous is None:
                continue
            if (collected := self._play.play(plan, evaluator, previous, stop=stop)) is None:
                break
            found.append(self._figures(anchor, players, collected.games))
        return found

    def _figures(self, anchor: str, players: int, games: pl.DataFrame) -> AgainstAnchor:
        from luna_ai.stats import mean_intervals  # brings scipy, a second that processes which do not measure can save

        own = games.filter(pl.col("player") == "self").sort("index")
        won = (own["rank"] == 1).to_numpy().astype(np.float64)
        blocks = won.reshape(-1, players).mean(axis=1, keepdims=True)
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=(BOOTSTRAP_KEY,)))
        ends = mean_intervals(blocks, rng, bounds=np.array([[0.0, 1.0]]))
        position = own["turn_position"].to_numpy()
        shares = tuple(float(won[position == place].mean()) for place in range(players))
        low, high, places = float(ends.low[0]), float(ends.high[0]), _by_deal(own["rank"].to_numpy(), players)
        return AgainstAnchor(anchor, players, len(won), float(won.mean()), low, high, shares, places)


def _by_deal(places: NDArray[np.int8], players: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in places.reshape(-1, players).tolist())
