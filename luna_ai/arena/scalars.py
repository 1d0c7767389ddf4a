"""Figures of an arena as TensorBoard scalars, by tensorboardX: it writes event files without PyTorch or TensorFlow.

match/OPPONENT/Np/share, .../llr   after each deal (thinned out), step = deals
rating/Np/PLAYER, win_share/Np/PLAYER  at the end, step = games
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from luna_ai.config import UserError


def check_writer() -> None:
    """Raises UserError where tensorboardX is not installed."""
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        raise UserError(
            "--tensorboard needs tensorboardX, which is not installed; pip install 'luna-ai[tensorboard]' does it"
        ) from None


def write_scalars(figures: dict[str, Any], folder: Path) -> None:
    """Writes one event file into `folder`.

    Raises:
        UserError: tensorboardX is not installed.
    """
    check_writer()
    from tensorboardX import SummaryWriter

    with SummaryWriter(logdir=str(folder)) as writer:
        for tag, value, step in scalars_of(figures):
            writer.add_scalar(tag, value, step)


def scalars_of(figures: dict[str, Any]) -> list[tuple[str, float, int]]:
    """Tag, value and step of every scalar."""
    found = []
    for match in figures["matches"]:
        tag, curve = f"match/{match['opponent']}/{match['players']}p", match["curve"]
        for key in ("share", "llr"):
            found += [(f"{tag}/{key}", value, step) for step, value in zip(curve["blocks"], curve[key], strict=True)]
    for table in figures["tables"]:
        count, games = f"{table['players']}p", table["games"]
        found += [(f"rating/{count}/{each['player']}", each["rating"], games) for each in table["ratings"]]
        shares = table["cross"]["win_share"]["mean"]
        found += [
            (f"win_share/{count}/{name}", shares[who][who], games)
            for who, name in enumerate(table["agents"])
            if shares[who][who] is not None
        ]
    return found
