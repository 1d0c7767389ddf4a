"""Luna as a game of OpenSpiel, for its search, its bots and its tools (`pip install open_spiel`).

Importing this module registers the game `luna`:

    import pyspiel
    import luna_ai.adapters.openspiel
    state = pyspiel.load_game("luna(players=3,seed=7)").new_initial_state()

A game is one deal: the parameters fix the set-up position, so there are no chance nodes. A state holds one packed row,
`uint64[STATE_WORDS]`; actions are the ids of the action table, their strings the notations. Returns are 1 for the
winner and -1/(N-1) for each of the others, so they sum to 0 and a loss is negative, as OpenSpiel's solvers expect.

Games in Python: https://openspiel.readthedocs.io/en/latest/developer_guide.html; a state is cloned, pickled and
serialised by its `__dict__`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pyspiel
from numpy.typing import NDArray

from engine_fast.actions import MASK_WORDS, NOTATIONS, NUM_ACTIONS
from engine_fast.apply import apply_into
from engine_fast.bounds import max_decisions
from engine_fast.check import field_value
from engine_fast.layout import MAX_PLAYERS, OVER
from engine_fast.legal import legal_into
from engine_fast.notation import ids_of_mask
from engine_fast.position import Game, Position, check_players, load_game, new_ledger

PARAMETERS: dict[str, Any] = {
    "players": 3,
    "seed": 0,
    "start_player": -1,  # a seat; -1 draws it
    "setup": "standard",
    "components": "reconstructed",
    "ruleset": "official",
}
"""Parameters of the game and their defaults; all as in `Position.new`."""

GAME_TYPE = pyspiel.GameType(
    short_name="luna",
    long_name="Luna",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=False,
    parameter_specification=PARAMETERS,
)


class Table:
    """Sheet and rule set of a state: shared by copies, stored by name."""

    def __init__(self, components: str, ruleset: str) -> None:
        """Loads both."""
        self.names = (components, ruleset)
        self.game: Game = load_game(components, ruleset)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: nothing in it changes."""
        return self

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        """Stored by its names."""
        return table_of, self.names


@lru_cache(maxsize=64)
def table_of(components: str, ruleset: str) -> Table:
    """The one table of a sheet and a rule set."""
    return Table(components, ruleset)


class LunaGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A deal of Luna; its parameters are those of `PARAMETERS`."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Makes the set-up position.

        Raises:
            SetupError, SheetError, RuleSetError: a parameter is not allowed.
        """
        chosen = {**PARAMETERS, **(params or {})}
        players = check_players(chosen["players"])
        self.table = table_of(chosen["components"], chosen["ruleset"])
        starter = None if chosen["start_player"] == -1 else chosen["start_player"]
        self.start = Position.new(
            players, chosen["setup"], chosen["seed"], *self.table.names, start_player=starter
        ).state.copy()
        length = max_decisions(players, self.table.game.ruleset)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=0,
            num_players=players,
            min_utility=-1.0 / (players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=length,
        )
        super().__init__(GAME_TYPE, info, dict(params or {}))

    def new_initial_state(self, state: Mapping[str, Any] | None = None) -> LunaState:
        """The set-up position, or the position of a canonical JSON map (its moves so far are then not known)."""
        made = LunaState(self)
        if state is not None:
            made.row = Position.from_json(state, *self.table.names).state.copy()
        return made

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Shows the board as text: everything is public."""
        return Observer()


class LunaState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A position; made by `LunaGame.new_initial_state`.

    Attributes:
        row: the position, `uint64[STATE_WORDS]`.
        table: sheet and rule set.
    """

    row: NDArray[np.uint64]

    def __init__(self, game: LunaGame) -> None:
        """The set-up position of a game."""
        super().__init__(game)
        self.table, self.row = game.table, game.start.copy()

    @property
    def position(self) -> Position:
        """The position as the engine's own class."""
        return Position(self.row.copy(), self.table.game)

    def current_player(self) -> int:
        """The seat that decides, or TERMINAL."""
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else field_value(self.row, "to_move")

    def _legal_actions(self, player: int) -> list[int]:
        """Ids of the legal decisions, ascending."""
        mask = np.zeros(MASK_WORDS, dtype=np.uint64)
        legal_into(self.row, self.table.game.rules, mask)
        return ids_of_mask(mask)

    def _apply_action(self, action: int) -> None:
        """Plays a decision; OpenSpiel's callers answer for its being legal (`apply_action_with_legality_check`)."""
        apply_into(self.row, action, self.table.game.rules, _LEDGER)

    def _action_to_string(self, player: int, action: int) -> str:
        """The notation."""
        return NOTATIONS[action]

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return field_value(self.row, "phase") == OVER

    def returns(self) -> list[float]:
        """By seat: 1 for the winner, -1/(N-1) for the others; all 0 before the end."""
        players = field_value(self.row, "players")
        if not self.is_terminal():
            return [0.0] * players
        return [1.0 if rank == 1 else -1.0 / (players - 1) for rank in self.position.ranking]

    def __str__(self) -> str:
        """The board as text."""
        return str(self.position)


class Observer:
    """Observes a state as text; there is no tensor."""

    def __init__(self) -> None:
        """Nothing to prepare."""
        self.tensor = None
        self.dict: dict[str, Any] = {}

    def set_from(self, state: LunaState, player: int) -> None:
        """Nothing to write: there is no tensor."""

    def string_from(self, state: LunaState, player: int) -> str:
        """The board, the same for every seat."""
        return str(state)


_LEDGER = new_ledger()  # written by every decision, read by nobody
pyspiel.register_game(GAME_TYPE, LunaGame)
