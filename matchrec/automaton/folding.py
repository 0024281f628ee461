"""The folding of a program: the choices of a run in each state, without proceed edges.

`A* B` has the program `0: take A -> 0, proceed -> 1` and `1: begin B -> 2`. Its folding has two
states: the first has the choices `A -> 0, B -> 1`, and the second accepts. `fold_program` folds the
programs of row patterns, and `fold_stages` folds the programs of stages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from matchrec.automaton.program import ANCHOR_END, ANCHOR_START, StateId, VariableId
from matchrec.automaton.run_endings import NOTHING

# The bits of guards that are anchors.
ANCHORS = ANCHOR_START | ANCHOR_END
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
    """An effect of a row on a run that does not map the row.

    A choice has an effect or a target. Effects are negative numbers, because kernels read effects
    and targets from the same column.
    """

    END_RUN = -2  # the run ends
    END_UNLESS_COMPLETED = -3  # the run ends, unless this row completes it
    FORBID_SKIP = -4  # the run may not skip the row
    COMPLETE_RUN = -5  # the run is a match, without the row
    TIME_OUT = -6  # the run ends because its window has ended
    IGNORE_LATER_CHOICES = -7  # later choices of the state are not tried


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a run in a state: one thing that the run can do with the next row.

    A choice is of one of three kinds:

    - The run maps the next row to `variable` and goes on in the state `target`.
    - The run becomes a match without reading a row: `variable`, `target` and `effect` are None.
    - The next row has an `effect` on the run: `variable` and `target` are None.
    """

    # Anchors that must hold before the row: bits ANCHOR_START and ANCHOR_END. Until
    # `automaton.negation` turns NOTs into tests, also bits FIRST_NOT << v: the row must not satisfy
    # the condition of variable v.
    guard: int
    variable: VariableId | None
    target: int | None
    # Whether the row is matched inside an exclusion, `{- -}`.
    is_excluded: bool = False
    # Whether the choice maps one more row of the loop over one variable in which the state is.
    repeats_loop: bool = False
    # The variable whose condition must hold, if it is not `variable`.
    test: VariableId | None = None
    effect: Effect | None = None
    # Whether the run may not skip a row that it can map by this choice. Only in a folding of
    # stages.
    forbids_skip: bool = False

    @property
    def accepts(self) -> bool:
        """Return whether the run becomes a match by this choice, without reading a row."""
        return self.target is None and self.effect is None


# The choice that accepts for any next row.
ACCEPT = Choice(guard=0, variable=None, target=None)


def build_effect_choice(test: VariableId, effect: Effect) -> Choice:
    """Return the choice by which a row that satisfies a test has an effect. It has no target."""
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
    # The number of states in which runs begin, which are the first states.
    start_count: int = 1

    # The other fields are empty except in the folding of a program of stages.

    # For each state, the state in which a run waits after it skips a row; None if it may not skip.
    states_after_skip: tuple[int | None, ...] = ()
    # For each state, the ending kind of a run that waits in it: NOTHING, A_MATCH, TIMED_OUT or
    # FIRST_NEIGHBOUR_WINDOW + n, see `run_endings`.
    ending_kinds: tuple[int, ...] = ()
    # For each state, the number of the shortest window between neighbouring rows that ends a run in
    # it, or NO_NEIGHBOUR_WINDOW.
    neighbour_windows: tuple[int, ...] = ()

    def find_state_after_skip(self, state: int) -> int | None:
        """Return the state in which a run waits after it skips a row.

        None if it may not skip a row. Always None if the program is not one of stages.
        """
        return self.states_after_skip[state] if self.states_after_skip else None

    def find_ending_kind(self, state: int) -> int:
        """Return the ending kind of a run in a state: see `run_endings`.

        Always NOTHING if the program is not one of stages.
        """
        return self.ending_kinds[state] if self.ending_kinds else NOTHING
