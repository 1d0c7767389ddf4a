"""How fast workers play, without learner and replay: what Ray costs, and what a second worker brings.

>>> play_for(TrainingConfig(workers=2), 30.0).games_per_second
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import count

from engine_fast.position import load_game
from luna_ai.backend_guard import resolved
from luna_ai.crew import Player
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.network import Network, NetworkConfig, make_network
from luna_ai.selfplay import Collected
from luna_ai.training_config import NetworkShape, TrainingConfig


@dataclass(frozen=True)
class Throughput:
    """What was played.

    Attributes:
        workers: processes; 0 for this one.
        games, decisions, evaluations: of all of them, after each one's first chunk.
        seconds: from each one's first result to its last, the mean over workers.
        games_per_second, evaluations_per_second: sums of the workers' own rates.
    """

    workers: int
    games: int
    decisions: int
    evaluations: int
    seconds: float
    games_per_second: float
    evaluations_per_second: float


Arrivals = list[tuple[float, Collected]]
"""Results of one worker and when each came."""


def play_for(
    config: TrainingConfig, seconds: float, address: str | None = None, network: Network | None = None
) -> Throughput:
    """Plays chunks with `config.workers` processes, of as many games as in a training, or in this one for 0.

    Every worker plays the same chunks in every call of the same config, and its first chunk, with which it loads what
    it needs, does not count. A rate is that of whole chunks, so none is cut off at the ends.

    Args:
        config: games of a chunk, slots, searches, workers.
        seconds: after the first result of the last worker, at least.
        address: of a cluster, see `luna_ai.distributed.cluster.check`.
        network: that plays, by `config.backend` without a guard; None for a new one of the config's sizes.

    Raises:
        ValueError: one line: Ray is missing, or cannot do it.
    """
    if network is None:
        shape = {key: getattr(config, key) for key in NetworkShape.__dataclass_fields__}
        network = make_network(NetworkConfig.from_plain(shape), seed=1)
    found = (
        _play_on_ray(config, seconds, address, network) if config.workers else [_play_here(config, seconds, network)]
    )
    return throughput(config.workers, found)


def _play_here(config: TrainingConfig, seconds: float, network: Network) -> Arrivals:
    game, arrivals = load_game(*config.rules()), Arrivals()
    player = Player(config, game, min(config.slots, config.games))
    evaluator = NetworkEvaluator(network, resolved(config.backend, network))
    for chunk in count():
        found = player.play(1, chunk * config.games, config.games, (evaluator, None), 0)
        assert found is not None
        arrivals.append((time.monotonic(), found))
        if chunk and arrivals[-1][0] - arrivals[0][0] >= seconds:
            break
    return arrivals


def _play_on_ray(config: TrainingConfig, seconds: float, address: str | None, network: Network) -> list[Arrivals]:
    from luna_ai.distributed import crew_of

    crew_of(config, address)  # refuses what cannot be, in one line
    import ray

    from luna_ai.distributed.cluster import begin, end, make_actor
    from luna_ai.distributed.parts import Playing, Setting, chunk_size, published
    from luna_ai.distributed.pool import Order, Pool

    game, backend = load_game(*config.rules()), resolved(config.backend, network)
    compiling = (NetworkEvaluator(network, backend), None)  # here, before many processes want to
    Player(config, game, 1).play(1, 0, 1, compiling, 0)
    begin(address)
    try:
        setting, chunk = Setting(config, game.sheet, game.ruleset), chunk_size(config)
        slots, numbers = min(config.slots, chunk), range(1, config.workers + 1)
        pool = Pool(lambda number: make_actor(Playing, setting, slots, cpus=1.0), numbers, {}, chunk, 10**9)
        pool.order = Order(0, ray.put(published("measured", network)._replace(backend=backend)), None)
        arrivals = {number: Arrivals() for number in numbers}
        while not _long_enough(list(arrivals.values()), seconds):
            pool.wait([], 1.0)
            for found in pool.take(10**9):
                arrivals[int(found.games["actor"][0])].append((time.monotonic(), found))
        pool.close()
    finally:
        end()
    return list(arrivals.values())


def _long_enough(found: list[Arrivals], seconds: float) -> bool:
    if any(len(arrivals) < 2 for arrivals in found):
        return False
    began = max(arrivals[0][0] for arrivals in found)
    return all(arrivals[-1][0] - began >= seconds for arrivals in found)


def throughput(workers: int, found: list[Arrivals]) -> Throughput:
    """The figures of what came from each worker."""
    lasted = [arrivals[-1][0] - arrivals[0][0] for arrivals in found]
    games = [sum(chunk.num_games for _, chunk in arrivals[1:]) for arrivals in found]
    asked = [sum(chunk.asked for _, chunk in arrivals[1:]) for arrivals in found]
    return Throughput(
        workers=workers,
        games=sum(games),
        decisions=sum(chunk.decisions for arrivals in found for _, chunk in arrivals[1:]),
        evaluations=sum(asked),
        seconds=sum(lasted) / len(lasted),
        games_per_second=sum(each / wall for each, wall in zip(games, lasted, strict=True)),
        evaluations_per_second=sum(each / wall for each, wall in zip(asked, lasted, strict=True)),
    )
