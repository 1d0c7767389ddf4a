"""Ray: begun on this machine or joined, actors made, and what a failure of a call means."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import ray
import torch
from ray.exceptions import (
    ObjectLostError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from luna_ai.training_config import TrainingConfig

T = TypeVar("T")
THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
"""Set in every process before it imports anything."""
LOSSES = (RayActorError, ObjectLostError, OutOfMemoryError, WorkerCrashedError)
TRIES = 5
"""Deaths in a row, without a result in between, after which something other than bad luck is to blame."""
TEMPORARY = "luna-ray-"
CONNECT_SECONDS = 5.0


class DistributedError(ValueError):
    """What Ray cannot do for a training: one line."""


def check(config: TrainingConfig, address: str | None) -> None:
    """Checks what can be known before Ray begins.

    Args:
        config: workers, and who wants a GPU.
        address: HOST:PORT of a cluster to which this machine belongs, or `auto`; None for this machine alone.

    Raises:
        DistributedError: the address cannot be reached, the machine has too few cores, or no GPU where one is wanted.
    """
    if address is None:
        if config.workers > (cores := num_cores()):
            said = f"workers {config.workers} are more than the {cores} cores of this machine"
            raise DistributedError(f"{said}; allowed: 0 to {cores}, or --address of a cluster")
        for key, others in gpu_keys(config).items():
            if not torch.cuda.is_available():
                raise DistributedError(
                    f"{key} cuda: this machine has no GPU; allowed: {others}, or --address of a cluster"
                )
    elif address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise DistributedError(f"address {address!r} is not HOST:PORT, as ray start prints it, or auto")
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        except (OSError, OverflowError) as problem:
            raise DistributedError(f"address {address} cannot be reached: {problem}") from problem


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin(address: str | None) -> None:
    """Begins Ray on this machine, or joins a cluster, unless this process has done so already.

    Raises:
        DistributedError: there is no cluster that can be joined.
    """
    if ray.is_initialized():
        return
    if address is not None:
        _join(address)
        return
    remove_leftovers()
    folder = temporary_folder()  # short: names of sockets have at most 107 letters
    _init(address="local", num_cpus=num_cores(), include_dashboard=False, _temp_dir=str(folder))


def temporary_folder() -> Path:
    """Where Ray keeps the files of this process."""
    base = Path("/tmp") if os.name == "posix" else Path(tempfile.gettempdir())
    return base / f"{TEMPORARY}{os.getpid()}"


def remove_leftovers() -> None:
    """Removes Ray's files of processes that are no more."""
    for folder in temporary_folder().parent.glob(f"{TEMPORARY}*"):
        number = folder.name.removeprefix(TEMPORARY)
        if number.isdecimal() and not Path(f"/proc/{number}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _join(address: str) -> None:
    try:
        _init(address=address)
    except (ConnectionError, RuntimeError, ValueError, RayError) as problem:
        first = next((line for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
        hint = "allowed: a cluster that ray start made and to which this machine belongs"
        raise DistributedError(f"address {address} is no cluster that can be joined: {first}; {hint}") from problem


def _init(**options: Any) -> None:
    ray.init(
        log_to_driver=False,
        logging_level=logging.CRITICAL,
        runtime_env={"env_vars": THREADS},
        **options,
    )


def gpu_keys(config: TrainingConfig) -> dict[str, str]:
    """Keys of the config that want a GPU, and what else they take."""
    found = {"inference": (config.inference, "none, cpu"), "device": (config.device, "cpu")}
    return {key: others for key, (value, others) in found.items() if value == "cuda"}


def need_gpu(config: TrainingConfig) -> float:
    """What part of a GPU each process gets that wants one: a whole one if there are enough, else they share one.

    Raises:
        DistributedError: the cluster has none: an actor that wants one would be waited for without end.
    """
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    wanting = gpu_keys(config)
    for key, others in wanting.items():
        if not resources.get("GPU"):
            raise DistributedError(f"{key} cuda: no machine of the cluster has a GPU; allowed: {others}")
    return 1.0 if resources.get("GPU", 0.0) >= len(wanting) else 1.0 / len(wanting)


def end() -> None:
    """Leaves Ray; what was begun on this machine ends."""
    ray.shutdown()
    shutil.rmtree(temporary_folder(), ignore_errors=True)


def make_actor(
    part: type, *given: Any, cpus: float = 0.0, gpus: float = 0.0, here: bool | None = False, **options: Any
) -> Any:
    """A process that holds a part and answers calls of its methods.

    Args:
        part: class of the part.
        given: to its constructor.
        cpus: processors that it occupies; 0 for those that mostly wait.
        gpus: likewise.
        here: True on the driver's machine, None there if it can be, False anywhere.
        options: more of Ray's.
    """
    if here is not False:
        node = ray.get_runtime_context().get_node_id()
        options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=here is None)
    made: Any = ray.remote(part)
    return made.options(num_cpus=cpus, num_gpus=gpus, **options).remote(*given)


def loss_of(problem: BaseException) -> BaseException | None:
    """The death that is to blame for the failure of a call; None where there is none."""
    cause = problem.cause if isinstance(problem, RayTaskError) else problem
    return cause if isinstance(cause, LOSSES) else None


def raised(problem: Exception) -> Exception:
    """What the code of a part raised, as if it had run here; a part that could not be made, in one line."""
    if isinstance(problem, RayTaskError):
        return problem.cause if isinstance(problem.cause, Exception) else DistributedError(last_line(problem))
    return DistributedError(last_line(problem))


def never_begun(problem: BaseException) -> bool:
    """Whether an actor could not be made since its constructor raised."""
    return isinstance(problem, RayActorError) and bool(getattr(problem, "actor_init_failed", False))


def last_line(problem: BaseException) -> str:
    """What a failure says at its end, where the reason stands."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[-1] if lines else type(problem).__name__


def again(who: str, ask: Callable[[], T], renew: Callable[[], None]) -> T:
    """Asks until there is an answer; whoever died is made anew before.

    Raises:
        DistributedError: it died `TRIES` times in a row, or cannot be made.
        Exception: whatever its code raised.
    """
    for tried in range(1, TRIES + 1):
        try:
            return ask()
        except RayError as problem:
            loss = loss_of(problem)
            if loss is None or never_begun(loss):
                raise raised(problem) from problem
            if tried == TRIES:
                raise DistributedError(f"the {who} died {TRIES} times in a row: {last_line(loss)}") from problem
            renew()
    raise AssertionError("unreachable")


def kill(actor: Any) -> None:
    """Ends an actor for good, dead or alive."""
    try:
        ray.kill(actor)
    except RayError:
        return
