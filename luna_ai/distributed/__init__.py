"""Training with many processes and machines, by Ray: the only folder that imports it.

    parts.py      what each process does; knows nothing of Ray
    inference.py  one process that evaluates for many
    cluster.py    Ray begun or joined, actors made, what a failure means
    pool.py       workers, their games, who takes over lost ones
    crew.py       the crew of a run: what the driver asks of whom
    measure.py    how fast workers play

Ray's own reports and messages are switched off here, before it is imported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from luna_ai.config import UserError

if TYPE_CHECKING:
    from luna_ai.crew import Crew
    from luna_ai.training_config import TrainingConfig

for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
}.items():
    os.environ.setdefault(_name, _value)


def crew_of(config: TrainingConfig, address: str | None = None) -> Crew:
    """Who does the work of a training: this process for `workers` 0, Ray's otherwise.

    Args:
        config: of the training.
        address: HOST:PORT of a cluster that `ray start` made, or `auto`; None for this machine alone.

    Raises:
        UserError: Ray is not installed, or the address has no use.
        LearnerError: this machine has no GPU, but the learner wants one.
        DistributedError: the address cannot be reached, or this machine has fewer cores than workers, or no GPU.
    """
    if not config.workers:
        if address is not None:
            raise UserError(f"address {address}: workers 0 need no cluster; allowed with --workers 1 and more")
        from luna_ai.crew import LocalCrew
        from luna_ai.learner import need_device

        need_device(config.device)
        return LocalCrew()
    try:
        from luna_ai.distributed.cluster import check
        from luna_ai.distributed.crew import RayCrew
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "ray":
            raise
        needed = "needs Ray, which is not installed; pip install 'luna-ai[train]' does it, or --workers 0 goes without"
        raise UserError(f"workers {config.workers} {needed}") from missing
    check(config, address)
    return RayCrew(address)
