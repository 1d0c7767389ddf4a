"""Network, losses, checkpoints."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from engine_fast import NUM_ACTIONS, Position
from engine_fast.batch import legal_batch
from engine_fast.layout import NUM_SOURCES, columns
from luna_ai import checkpoint
from luna_ai.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from luna_ai.features import NUM_FEATURES, features_of
from luna_ai.losses import LossWeights, Targets, losses, policy_probabilities, unpack_masks, win_probabilities
from luna_ai.network import (
    NetworkConfig,
    NetworkError,
    Outputs,
    action_columns,
    make_network,
    num_parameters,
    rest_features,
    token_features,
)
from tests.luna_ai.walks import random_game, states_of

CONFIGS = [NetworkConfig("residual", 64, 2), NetworkConfig("attention", 32, 2, heads=2)]
both_kinds = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.kind)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Two threads wait for each other where cores are busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def batch() -> tuple[Tensor, Targets]:
    """Positions of games with 2, 3 and 4 players, and made-up targets."""
    positions = [p for n in (2, 3, 4) for p in random_game(Position.new(n, seed=n), n)[::6]]
    states, rules = states_of(positions), positions[0].game.rules
    masks = np.zeros((len(states), 10), np.uint64)
    legal_batch(states, rules, masks)
    legal = torch.from_numpy(unpack_masks(masks))
    rng = random.Random(1)
    policy = torch.zeros(len(states), NUM_ACTIONS)
    for row, position in zip(policy, positions, strict=True):
        row[rng.choice(position.legal_ids())] = 1.0
    present = torch.arange(4) < torch.from_numpy(columns(states, "players"))[:, None]
    generator = torch.Generator().manual_seed(1)
    win = present * torch.rand(len(states), 4, generator=generator)
    margin = present * torch.randn(len(states), 4, generator=generator)
    sources = present[:, :, None] * torch.rand(len(states), 4, NUM_SOURCES, generator=generator)
    weight = torch.ones(len(states))
    targets = Targets(legal, policy, weight, present, win / win.sum(1, keepdim=True), margin, sources)
    return torch.from_numpy(features_of(states, rules)), targets


@both_kinds
def test_shapes(config: NetworkConfig, batch: tuple[Tensor, Targets]):
    features, _ = batch
    outputs = make_network(config, seed=1)(features)
    count = len(features)
    assert [tuple(part.shape) for part in outputs] == [
        (count, NUM_ACTIONS),
        (count, 4),
        (count, 4),
        (count, 4, NUM_SOURCES),
    ]


@both_kinds
def test_a_new_network_finds_all_legal_decisions_and_all_seats_equal(
    config: NetworkConfig, batch: tuple[Tensor, Targets]
):
    features, targets = batch
    found = losses(make_network(config, seed=1)(features), targets, LossWeights())
    equal = targets.legal.sum(1).float().log().mean()
    assert found.policy.item() == pytest.approx(equal.item(), abs=0.05)
    assert found.win.item() == pytest.approx(targets.present.sum(1).float().log().mean().item(), abs=0.05)


@both_kinds
def test_one_batch_can_be_overfitted(config: NetworkConfig, batch: tuple[Tensor, Targets]):
    features, targets = batch[0], batch[1]
    some = torch.arange(0, len(features), 9)
    features = features[some]
    targets = Targets(*(None if part is None else part[some] for part in targets))  # type: ignore[arg-type]
    network = make_network(config, seed=1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.0)
    for _ in range(100):
        optimizer.zero_grad()
        losses(network(features), targets, LossWeights()).total.backward()
        optimizer.step()
    with torch.no_grad():
        found = losses(network(features), targets, LossWeights())
    entropy = -(targets.win * targets.win.clamp(min=1e-9).log()).sum(1).mean()
    assert found.policy.item() < 0.1
    assert found.win.item() < entropy.item() + 0.05
    assert found.margin.item() < 0.05
    assert found.sources.item() < 0.05


def test_what_is_masked_has_probability_zero(batch: tuple[Tensor, Targets]):
    _, targets = batch
    logits = 100 * torch.randn(len(targets.legal), NUM_ACTIONS)
    policy = policy_probabilities(logits.bfloat16(), targets.legal)
    assert (policy[~targets.legal] == 0).all()
    assert policy.sum(1) == pytest.approx(1.0)
    win = win_probabilities(100 * torch.randn(len(targets.legal), 4), targets.present)
    assert (win[~targets.present] == 0).all()
    assert win.sum(1) == pytest.approx(1.0)


def test_absent_seats_and_capped_decisions_teach_nothing(batch: tuple[Tensor, Targets]):
    _, targets = batch
    count = len(targets.legal)
    outputs = Outputs(*(torch.zeros(count, *shape) for shape in ((NUM_ACTIONS,), (4,), (4,), (4, NUM_SOURCES))))
    weight = (torch.arange(count) % 2).float()
    once = losses(outputs, targets._replace(policy_weight=weight), LossWeights())
    for part in (outputs.win, outputs.margin, outputs.sources):
        part[~targets.present] = 7.0
    outputs.policy[weight == 0] = torch.randn(NUM_ACTIONS)
    outputs.policy[~targets.legal] = 9.0
    again = losses(outputs, targets._replace(policy_weight=weight), LossWeights())
    assert [part.item() for part in again] == pytest.approx([part.item() for part in once])


def test_the_parts_of_the_loss_by_hand():
    legal = torch.zeros(1, NUM_ACTIONS, dtype=torch.bool)
    legal[0, :4] = True
    policy, win = torch.zeros(1, NUM_ACTIONS), torch.tensor([[0.75, 0.25, 0.0, 0.0]])
    policy[0, 1] = 1.0
    present = win > 0
    targets = Targets(legal, policy, torch.ones(1), present, win, torch.tensor([[0.5, -0.5, 0.0, 0.0]]))
    outputs = Outputs(*(torch.zeros(1, *shape) for shape in ((NUM_ACTIONS,), (4,), (4,), (4, NUM_SOURCES))))
    found = losses(outputs, targets, LossWeights(win=2.0, margin=3.0))
    assert found.policy.item() == pytest.approx(np.log(4))
    assert found.win.item() == pytest.approx(np.log(2))
    assert found.margin.item() == pytest.approx(0.125)
    assert found.sources.item() == 0.0
    assert found.total.item() == pytest.approx(np.log(4) + 2 * np.log(2) + 3 * 0.125)


def test_masks_are_unpacked():
    position = Position.new(3, seed=4)
    legal = unpack_masks(position.legal_mask()[np.newaxis])
    assert legal.shape == (1, NUM_ACTIONS)
    assert np.flatnonzero(legal[0]).tolist() == position.legal_ids()


def test_tokens_cover_every_feature():
    parts = [token_features(axis) for axis in ("kind", "tile", "seat")]
    assert [len(part) for part in parts] == [7, 28, 4]
    assert sorted({*rest_features().tolist()}.union(*(part.ravel().tolist() for part in parts))) == list(
        range(NUM_FEATURES)
    )


def test_every_decision_has_an_output_of_its_own():
    columns_ = action_columns()
    nothing = 7 * columns_.per_isle + 28 * columns_.per_tile
    own = columns_.place[columns_.place < nothing]
    assert len(set(own.tolist())) == len(own) > 500
    assert columns_.place.max() == nothing


@both_kinds
def test_a_seed_gives_the_same_network_and_leaves_torch_alone(config: NetworkConfig):
    before = torch.get_rng_state()
    one, two = (make_network(config, seed=5).state_dict() for _ in range(2))
    assert all((one[name] == two[name]).all() for name in one)
    assert (torch.get_rng_state() == before).all()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kind": "mlp"}, "allowed: residual, attention"),
        ({"width": 4}, "width 4 is not a whole number from 8 to 8192"),
        ({"blocks": 1.5}, "blocks 1.5 is not a whole number"),
        ({"kind": "attention", "width": 30, "heads": 4}, "not a multiple of heads 4"),
        ({"depth": 3}, "'depth' is unknown; allowed: kind, width"),
    ],
)
def test_bad_sizes_are_refused(values: dict[str, object], said: str):
    with pytest.raises(NetworkError, match=said):
        NetworkConfig.from_plain(values)


def test_sizes():
    assert num_parameters(make_network(NetworkConfig(), seed=0)) == pytest.approx(1.03e6, rel=0.05)


# --- checkpoints ------------------------------------------------------------------------------------------------------


@both_kinds
def test_saved_and_loaded_a_network_says_the_same(config: NetworkConfig, batch: tuple[Tensor, Targets], tmp_path: Path):
    network = make_network(config, seed=3)
    training = {"step": 7, "random": [1, 2], "optimizer": {"m": torch.ones(2)}}
    write_checkpoint(tmp_path / "step-7.pt", network, training)
    read = read_checkpoint(tmp_path / "step-7.pt")
    assert read.network.config == config
    assert all(torch.equal(a, b) for a, b in zip(network(batch[0]), read.network(batch[0]), strict=True))
    assert read.training["step"] == 7
    assert torch.equal(read.training["optimizer"]["m"], torch.ones(2))
    assert [file.name for file in tmp_path.iterdir()] == ["step-7.pt"]


@pytest.mark.parametrize("name", list(checkpoint.VERSIONS))
def test_a_checkpoint_of_another_version_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(checkpoint.VERSIONS, name, 99)
    write_checkpoint(tmp_path / "a.pt", make_network(CONFIGS[0], seed=0))
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=f"has {name} 99; this program has {checkpoint.VERSIONS[name]}") as error:
        read_checkpoint(tmp_path / "a.pt")
    assert "\n" not in str(error.value)


def test_what_is_no_checkpoint_is_refused_in_one_line(tmp_path: Path):
    whole = tmp_path / "whole.pt"
    write_checkpoint(whole, make_network(CONFIGS[0], seed=0))
    (tmp_path / "half.pt").write_bytes(whole.read_bytes()[:5000])
    (tmp_path / "text.pt").write_text("no network")
    (tmp_path / "empty.pt").write_text("")
    torch.save({"weights": torch.ones(1)}, tmp_path / "other.pt")
    torch.save(Path("code"), tmp_path / "code.pt")
    (tmp_path / "users.pt").write_text("root:x:0:0:root:/root:/bin/bash\n")
    for name in ("half.pt", "users.pt", "text.pt", "empty.pt", "other.pt", "code.pt", "missing.pt"):
        with pytest.raises(CheckpointError) as error:
            read_checkpoint(tmp_path / name)
        assert name in str(error.value)
        assert "\n" not in str(error.value)


def test_a_write_that_fails_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.pt"
    write_checkpoint(path, make_network(CONFIGS[0], seed=0), {"step": 1})
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_checkpoint(path, make_network(CONFIGS[0], seed=1), {"step": 2})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.pt"]
