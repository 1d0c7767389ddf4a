"""What each process of a training does: plays, remembers, learns, measures. Nothing here knows Ray.

Each part is made of plain data and can be made again from the same: whatever it holds beside is in the arguments of
its calls or in files.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from engine_fast.components import Sheet
from engine_fast.position import load_game
from engine_fast.ruleset import RuleSet
from luna_ai.backend_guard import chosen
from luna_ai.crew import LEARNER_KEY, Player, Window, window_of
from luna_ai.evaluation import AgainstAnchor, Evaluation
from luna_ai.evaluator import NetworkEvaluator
from luna_ai.learner import Learned, Learner
from luna_ai.metrics import Probe, probe
from luna_ai.network import Network, NetworkConfig, make_network
from luna_ai.replay import Replay
from luna_ai.samples import Samples, taken
from luna_ai.search.evaluators import Evaluator
from luna_ai.selfplay import Collected
from luna_ai.training_config import TrainingConfig

LEAST_CHUNK = 16
"""Games of a call, at least, if a step has so many: fewer would make small batches."""


class Setting(NamedTuple):
    """What every process of a run knows."""

    config: TrainingConfig
    sheet: Sheet
    ruleset: RuleSet


class Published(NamedTuple):
    """A network as it goes from process to process."""

    name: str
    shape: NetworkConfig
    weights: Mapping[str, NDArray[Any]]
    backend: str | None = None  # that evaluates it; None: the faster one of those in float32


Evaluators = Callable[[Published], Evaluator]
"""Who answers for a network."""


def published(name: str, network: Network) -> Published:
    """A network under a name; the weights are copied."""
    weights = {key: value.detach().cpu().numpy().copy() for key, value in network.state_dict().items()}
    return Published(name, network.config, weights)


def network_of(found: Published) -> Network:
    """The network of what was published."""
    network = make_network(found.shape, 0)
    load_weights(network, found)
    return network.eval()


def load_weights(network: Network, found: Published) -> None:
    """Gives a network the weights that were published."""
    network.load_state_dict({key: torch.tensor(value) for key, value in found.weights.items()})


def settle() -> None:
    """One thread, and Ctrl-C is the driver's: it ends the others in its own time."""
    torch.set_num_threads(1)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def chunk_size(config: TrainingConfig) -> int:
    """Games of a call: a worker's part of a step, as many as can be played side by side, and not too few."""
    return max(min(config.games // config.workers, config.slots), min(LEAST_CHUNK, config.games))


class Playing:
    """Plays chunks of games."""

    def __init__(self, setting: Setting, slots: int, evaluators: Evaluators | None = None) -> None:
        """Reserves the memory of the searches.

        Args:
            setting: of the run.
            slots: games side by side.
            evaluators: who answers; None for this process itself.
        """
        settle()
        self._player = Player(setting.config, load_game(setting.sheet, setting.ruleset), slots)
        self._evaluators = evaluators or (lambda found: NetworkEvaluator(network_of(found), found.backend))
        self._known: dict[str, Evaluator] = {}

    def hello(self) -> int:
        """The number of this process: it is ready."""
        return os.getpid()

    def play(
        self, actor: int, first: int, count: int, step: int, network: Published, past: Published | None
    ) -> Collected:
        """Plays games `first` to `first + count - 1` of an actor with the network of a step."""
        names = [each.name for each in (network, past) if each is not None]
        self._known = {name: known for name, known in self._known.items() if name in names}
        own, other = self._evaluator(network), self._evaluator(past) if past is not None else None
        found = self._player.play(actor, first, count, (own, other), step)
        assert found is not None
        return found

    def _evaluator(self, found: Published) -> Evaluator:
        if found.name not in self._known:
            self._known[found.name] = self._evaluators(found)
        return self._known[found.name]


class Remembered(NamedTuple):
    """How a replay stands after a call."""

    counters: dict[str, Any]
    window: Window


class Remembering:
    """Holds the replay window."""

    def __init__(
        self, config: TrainingConfig, folder: Path, counters: dict[str, Any] | None, kept: Collection[str]
    ) -> None:
        """The window of `counters`; see `Replay`."""
        settle()
        self._config = config
        self._replay = Replay(config, folder, counters, kept)

    def stand(self) -> Remembered:
        """How it stands."""
        return Remembered(self._replay.counters(), window_of(self._replay))

    def positions(self) -> NDArray[np.uint64]:
        """On which a backend is compared with float32."""
        return chosen(self._replay.samples.state)

    def add(self, samples: Samples) -> Remembered:
        """Adds the samples of a step."""
        self._replay.add(samples)
        return self.stand()

    def updates_due(self) -> tuple[int, Remembered]:
        """Batches to train on now; they are taken from the credit."""
        due = self._replay.updates_due(self._config.batch)
        return due, self.stand()

    def draw(self, step: int, part: int, updates: int) -> tuple[None, Samples]:
        """The batches of a part of a step, one after another; a first value, so that one may wait without fetching."""
        key = (LEARNER_KEY, step, part)
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=key))
        return None, self._replay.draw(updates * self._config.batch, rng)

    def forget(self) -> None:
        """See `Replay.forget`."""
        self._replay.forget()


class Learning:
    """Holds the network that learns, and its optimizer."""

    def __init__(self, setting: Setting, network: Published, state: dict[str, Any] | None) -> None:
        """Stands where `state` was taken; None for a new run."""
        settle()
        self._rules = load_game(setting.sheet, setting.ruleset).rules
        self._network = network_of(network)
        self._learner = Learner(self._network, setting.config, self._rules, setting.config.steps)
        if state is not None:
            self._learner.restore(state)

    def hello(self) -> int:
        """The number of this process: it is ready."""
        return os.getpid()

    def probe(self, samples: Samples) -> Probe:
        """What the network thinks of samples."""
        return probe(NetworkEvaluator(self._network), samples, self._rules)

    def learn(self, samples: Samples, updates: int, step: int) -> Learned:
        """Trains on batches that lie one after another in `samples`."""
        starts = np.cumsum(samples.policy_size, dtype=np.int64) - samples.policy_size
        place = 0

        def draw(count: int) -> Samples:
            nonlocal place
            place += count
            return taken(samples, np.arange(place - count, place), starts)

        return self._learner.learn(draw, updates, step)

    def publish(self, name: str) -> Published:
        """The network as it is now."""
        return published(name, self._network)

    def state(self) -> dict[str, Any]:
        """What a checkpoint must hold beside the weights."""
        return self._learner.state()


class Measuring:
    """Measures networks."""

    def __init__(self, setting: Setting) -> None:
        """Prepares the games."""
        settle()
        self._evaluation = Evaluation(setting.config, load_game(setting.sheet, setting.ruleset))

    def measure(self, network: Published, previous: Published | None) -> list[AgainstAnchor]:
        """All games of an evaluation."""
        before = NetworkEvaluator(network_of(previous)) if previous is not None else None
        return self._evaluation(NetworkEvaluator(network_of(network)), before)
