"""The folding of a program: what a run can do in each state, without proceed edges.

`A* B` has the program `0: take A -> 0, proceed -> 1` and `1: begin B -> 2`. Its folding has two
states: the first one has the choices `A -> 0, B -> 1`, and the last one accepts. `fold_program`
folds programs, and `fold_stages` folds those of stages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from matchrec.automaton.program import GUARD_END, GUARD_START, StateId, VariableId
from matchrec.automaton.run_endings import NOTHING

# The bits of guards that are anchors.
ANCHORS = GUARD_START | GUARD_END
# The guard bit of NOT over variable 0. The bit of variable v is FIRST_NOT << v.
FIRST_NOT = 4


def build_not_guard(variables: Iterable[VariableId]) -> int:
    """Return the guard that the next row must not satisfy the conditions of some variables."""
    guard = 0
    for variable in variables:
        guard |= FIRST_NOT << variable
    return guard


def find_forbidden_variables(guard: int) -> frozenset[VariableId]:
    """Return the variables whose conditions the next row must not satisfy."""
    bits = guard // FIRST_NOT
    return frozenset(variable for variable in range(bits.bit_length()) if bits >> variable & 1)


class Effect(IntEnum):
    """An effect of a row on a run that does not map it. A choice has it instead of a target.

    The numbers are negative, because kernels read an effect where other choices have a target.
    """

    END_RUN = -2  # the run ends
    END_UNLESS_COMPLETED = -3  # the run ends, unless this row completes it
    FORBID_SKIP = -4  # the run may not skip the row
    COMPLETE_RUN = -5  # the run is a match, without the row
    TIME_OUT = -6  # the run ends because its window has ended
    IGNORE_LATER_CHOICES = -7  # no later choice counts


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a run in a state: one thing that it can do with the next row.

    There are three kinds:

    - The run maps the next row to `variable` and goes on in the state `target`.
    - The run becomes a match without reading a row: `variable`, `target` and `effect` are None.
    - The next row has an `effect` on the run: `variable` and `target` are None.
    """

    # Anchors that must hold before the row: bits GUARD_START and GUARD_END. Until
    # `automaton.negation` turns NOTs into tests, also bits FIRST_NOT << v: the row must not satisfy
    # the condition of variable v.
    guard: int
    variable: VariableId | None
    target: int | None
    # Whether the row is matched inside an exclusion, `{- -}`.
    excluded: bool = False
    # Whether this is one more iteration of the loop over one variable that the state is in.
    repeats_loop: bool = False
    # The variable whose condition must hold, if it is not `variable`.
    test: VariableId | None = None
    effect: Effect | None = None
    # Whether the run may not also skip a row that it maps by this choice. Only in a folding of
    # stages.
    forbids_skip: bool = False

    @property
    def accepts(self) -> bool:
        """Return whether the run becomes a match here, without reading a row."""
        return self.target is None and self.effect is None


# The choice that accepts whatever the next row is.
ACCEPT = Choice(guard=0, variable=None, target=None)


def build_effect_choice(test: VariableId, effect: Effect) -> Choice:
    """Return the choice of a row that satisfies a test and has an effect. It leads nowhere."""
    return Choice(guard=0, variable=None, target=None, test=test, effect=effect)


# For each state of a folding, its choices in preferment order.
ChoicesByState = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """A program without proceed edges.

    A state of the folding is an index of its tuples, which have one item for each state.
    """

    choices: ChoicesByState
    # The state of the program from which each state of the folding was made.
    states: tuple[StateId, ...]
    # Number of states in which runs begin. They come first.
    start_count: int = 1

    # The other fields are empty unless this is the folding of a program of stages.

    # The state in which a run waits after it skips a row; None if it may not skip one.
    states_after_skip: tuple[int | None, ...] = ()
    # What becomes of a run whose window or partition ends here: NOTHING, A_MATCH, TIMED_OUT or
    # FIRST_NEIGHBOUR_WINDOW + n, see `run_endings`.
    ending_kinds: tuple[int, ...] = ()
    # The number of the smallest window between neighbouring rows that ends a run here, or
    # NO_NEIGHBOUR_WINDOW.
    neighbour_windows: tuple[int, ...] = ()

    def find_state_after_skip(self, state: int) -> int | None:
        """Return the state in which a run waits after it skips a row.

        None if it may not skip one, or if the program is not one of stages.
        """
        return self.states_after_skip[state] if self.states_after_skip else None

    def find_ending_kind(self, state: int) -> int:
        """Return what becomes of a run whose window or partition ends in a state.

        NOTHING if the program is not one of stages.
        """
        return self.ending_kinds[state] if self.ending_kinds else NOTHING
