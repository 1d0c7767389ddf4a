"""Checkpoints: a network and what belongs to it in one file, read without running code from it.

A checkpoint is written under a temporary name, brought to the disk and renamed: whoever looks sees the old file or the
new one, whole. It names the versions of features and actions and the hash of the feature table; a file of another one
is refused with the reason, since its network would read other numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from engine_fast.actions import ACTION_VERSION
from luna_ai.learning.feature_table import FEATURE_VERSION, TABLE_HASH
from luna_ai.network import Network, NetworkConfig, NetworkError, make_network

FORMAT = "luna-checkpoint/1"
VERSIONS: dict[str, int | str] = {
    "action version": ACTION_VERSION,
    "feature version": FEATURE_VERSION,
    "feature table": TABLE_HASH,
}


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one of other features or actions."""


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds.

    Attributes:
        network: with its weights, in evaluation mode, on the CPU.
        training: state of a training (optimizer, step, random states, ...): tensors and plain data; may be empty.
    """

    network: Network
    training: dict[str, Any] = field(default_factory=dict)


def write_checkpoint(path: Path, network: Network, training: Mapping[str, Any] | None = None) -> None:
    """Writes a checkpoint so that `path` is never half a file.

    Args:
        path: its folder must exist.
        network: weights are saved from whatever device they are on.
        training: tensors and plain data only (numbers, texts, lists, maps), so that reading needs no code.

    Raises:
        OSError: the file cannot be written; what was at `path` is as before.
    """
    content = {
        "format": FORMAT,
        "versions": VERSIONS,
        "network": network.config.to_plain(),
        "weights": {name: value.detach().cpu() for name, value in network.state_dict().items()},
        "training": dict(training or {}),
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            torch.save(content, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def read_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint.

    Raises:
        CheckpointError: there is no such file, it is no checkpoint, or of other versions.
    """
    content = _content(path)
    _check_versions(path, content["versions"])
    try:
        network = make_network(NetworkConfig.from_plain(content["network"]), seed=0)
        network.load_state_dict(content["weights"])
    except (NetworkError, RuntimeError, TypeError) as problem:
        first = str(problem).splitlines()[0]
        raise CheckpointError(f"{path} holds no network of this program: {first}") from problem
    network.eval()
    return Checkpoint(network, content["training"])


def _content(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise CheckpointError(f"{path} is no file; allowed: a checkpoint that a training wrote")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as problem:  # foreign bytes make the reader fail in any way
        raise CheckpointError(f"{path} is no checkpoint, or a damaged one") from problem
    keys = {"format", "versions", "network", "weights", "training"}
    if not isinstance(content, dict) or content.get("format") != FORMAT or not keys <= set(content):
        raise CheckpointError(f"{path} is no checkpoint of the format {FORMAT}")
    return content


def _check_versions(path: Path, found: Mapping[str, int | str]) -> None:
    for name, value in VERSIONS.items():
        if found.get(name) != value:
            raise CheckpointError(f"{path} has {name} {found.get(name)}; this program has {value}")
