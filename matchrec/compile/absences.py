"""Rewrite a program so that a row which must be absent between two rows of a match ends the run.

Normally the search looks for such rows when it has found a match. If it adds matches up without
building them, the program itself must reject matches with such rows. So each state is divided: a
run guesses whether the row that it has just mapped is the last row before the absence begins. A run
that guessed wrong never becomes a match. A run that guessed right ends with the first row that must
be absent.

    A+ ~(N n) B      after an A that is not the last one:     A
                     after the last A:                        B, and a row that is an N ends the run

Each absence divides a state into at most four; in most patterns into two after `A+`, and after `A`
it is not divided. Absences before or after a match need no division, because the first and the last
row of the match decide them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product
from typing import NamedTuple, TypeGuard

from typing_extensions import assert_never

from matchrec.automaton.folding import Choice, Effect, Folding, find_reachable, number_states
from matchrec.conditions.run_condition import (
    Aggregated,
    Apply,
    Arithmetic,
    Basic,
    Comparison,
    Constant,
    Operate,
    ReadClassifier,
    ReadValue,
    Reduce,
    Reduction,
    RunExpression,
    TriedMatchNumber,
    walk_expression,
)
from matchrec.errors import match_totals as errors
from matchrec.plan.clauses import EventSelection
from matchrec.plan.expression import Navigation
from matchrec.search.task import AbsenceCondition, Task


class Phase(Enum):
    """How far a run is with respect to one absence. The comments are about `A+ ~(N n) B`."""

    BEFORE = 0  # no row is mapped to A yet
    AGAIN = 1  # a row is mapped to A, and another one will be
    WITHIN = 2  # the last A is mapped, so no N may follow
    AFTER = 3  # the B is mapped


Phases = tuple[Phase, ...]  # one for each absence


class DividedState(NamedTuple):
    """A state of the folding, and the phases of a run that waits in it."""

    state: int
    phases: Phases


class RunMove(NamedTuple):
    """A choice that maps a row, and the divided state to which it leads."""

    choice: Choice
    target: DividedState


# The state of a run that can no longer become a match.
DEAD_STATE = DividedState(-1, ())

# Operators that never raise an error.
SAFE_OPERATORS = (*Basic, *Comparison)


def end_runs_at_absent_rows(task: Task) -> Task:
    """Return the task with a program whose runs end with a row that must be absent.

    Only absences between two rows of a match become part of the program. The others stay in
    `Task.absent`.

    Raises:
        MustBuildMatchesError: matches must be built, because only a complete match shows which
            rows must be absent.
    """
    between = tuple(absent for absent in task.absent if is_between_rows(absent))
    if not between:
        return task
    division = StateDivision(task, between)
    division.find_moves()
    for number, absent in enumerate(between):
        check_condition(task, absent, division.find_later_variables(number))
    pattern = replace(task.pattern, folding=division.build_folding())
    others = tuple(absent for absent in task.absent if absent not in between)
    return replace(task, pattern=pattern, absent=others)


def is_between_rows(absent: AbsenceCondition) -> bool:
    """Return whether an absence is between two rows of a match."""
    return absent.after is not None and absent.before is not None


@dataclass
class StateDivision:
    """Divides the states of a task by the phases of runs."""

    task: Task
    # The absences between two rows of a match.
    between: tuple[AbsenceCondition, ...]
    # For each divided state, the moves that map a row. The first state is the one where runs begin.
    moves: dict[DividedState, list[RunMove]] = field(default_factory=dict)
    # The divided states in which a run can be a complete match.
    ends: set[DividedState] = field(default_factory=set)

    def find_moves(self) -> None:
        """Fill in `moves` and `ends`, beginning with the state in which runs begin.

        A move to a state from which no match can be reached becomes a move to DEAD_STATE.

        Raises:
            MustBuildMatchesError: a match can end before an absence does.
        """
        waiting = [DividedState(0, (Phase.BEFORE,) * len(self.between))]
        for state in waiting:  # grows while it is read
            if state not in self.moves:
                self.moves[state] = list(self.find_moves_from(state))
                waiting += [move.target for move in self.find_live_moves(state)]
        useful_states = self.find_useful_states()
        for state, moves in self.moves.items():
            self.moves[state] = [
                move if move.target in useful_states else RunMove(move.choice, DEAD_STATE)
                for move in moves
            ]

    def find_useful_states(self) -> set[DividedState]:
        """Return the states from which a run can still become a match."""
        sources = defaultdict(set)
        for state, moves in self.moves.items():
            for move in moves:
                sources[move.target].add(state)
        return set(find_reachable(self.ends, lambda state: sources[state]))

    def find_moves_from(self, state: DividedState) -> Iterator[RunMove]:
        """Yield the moves of a state, and add it to `ends` if a run in it can be a match.

        Raises:
            MustBuildMatchesError: a match can end before an absence does.
        """
        for choice in self.task.pattern.folding.choices[state.state]:
            if choice.accepts and Phase.WITHIN in state.phases:
                raise errors.MustBuildMatchesError(errors.ABSENT_ROWS)
            if choice.accepts and Phase.AGAIN not in state.phases:
                self.ends.add(state)
            if choice.target is None:
                continue
            next_phases = (
                self.find_next_phases(phase, absent, choice)
                for phase, absent in zip(state.phases, self.between, strict=True)
            )
            combinations = list(product(*next_phases))
            for phases in combinations:
                yield RunMove(choice, DividedState(choice.target, phases))
            if not combinations:
                yield RunMove(choice, DEAD_STATE)

    def find_next_phases(self, phase: Phase, absent: AbsenceCondition, choice: Choice) -> Phases:
        """Return the phases in which a run can be after a choice has mapped a row.

        There are two if the run must guess, and none if no match can continue with this row.
        """
        assert absent.after is not None
        assert absent.before is not None
        if choice.variable in absent.after:
            is_possible = phase in (Phase.BEFORE, Phase.AGAIN)
            return (Phase.WITHIN, Phase.AGAIN) if is_possible else ()
        if phase is Phase.WITHIN and choice.variable in absent.before:
            return (Phase.AFTER,)
        return (phase,)

    def find_later_variables(self, number: int) -> frozenset[int]:
        """Return the variables to which a run can map rows once an absence has begun.

        Args:
            number: the index of the absence.
        """
        states_within = (state for state in self.moves if state.phases[number] is Phase.WITHIN)
        later_states = find_reachable(
            states_within, lambda state: [move.target for move in self.find_live_moves(state)]
        )
        choices = (move.choice for state in later_states for move in self.find_live_moves(state))
        return frozenset(choice.variable for choice in choices if choice.variable is not None)

    def find_live_moves(self, state: DividedState) -> list[RunMove]:
        """Return the moves after which a run can still become a match."""
        return [move for move in self.moves[state] if move.target != DEAD_STATE]

    def build_folding(self) -> Folding:
        """Return the folding of the divided states. Runs still begin in its first state."""
        first_state = next(iter(self.moves))
        states = self.task.pattern.folding.states
        folded_choices = []
        program_states = []
        for divided_state, choices in number_states([first_state], self.build_choices):
            folded_choices.append(choices)
            # DEAD_STATE is no state of the program: any number does.
            program_states.append(states[max(divided_state.state, 0)])
        return Folding(tuple(folded_choices), tuple(program_states))

    def build_choices(self, state: DividedState) -> Iterator[tuple[Choice, DividedState | None]]:
        """Yield the choices of a state in the order in which they are tried, and their targets.

        The row with which an absence ends may satisfy the condition of the absent variable. So the
        choices that end an absence come before the choice that ends the run. A row that is mapped
        earlier may not satisfy the condition.

        Raises:
            MustBuildMatchesError: two absences overlap, and no order of the choices is right for
                both.
        """
        if state in self.ends:
            for choice in self.task.pattern.folding.choices[state.state]:
                if choice.accepts:
                    yield choice, None
        current_absences = find_absences_within(state.phases)
        tested: frozenset[int] = frozenset()
        moves = sorted(
            self.find_effective_moves(state),
            key=lambda move: len(find_absences_within(move.target.phases)),
        )
        for move in moves:
            continuing = current_absences & find_absences_within(move.target.phases)
            if not tested <= continuing:
                raise errors.MustBuildMatchesError(errors.ABSENT_ROWS)
            yield from self.build_endings(continuing - tested)
            yield move.choice, move.target
            tested = continuing
        yield from self.build_endings(current_absences - tested)

    def find_effective_moves(self, state: DividedState) -> Iterator[RunMove]:
        """Yield the moves of a state that matter for the run.

        A move to DEAD_STATE matters if a run may not skip a row that it can map, and no other move
        has the same choice.
        """
        moves = self.moves.get(state, [])
        live_choices = [move.choice for move in moves if move.target != DEAD_STATE]
        blocks = self.task.selection is EventSelection.SKIP_TILL_NEXT_MATCH
        for move in moves:
            if move.target != DEAD_STATE or (blocks and move.choice not in live_choices):
                yield move

    def build_endings(self, numbers: Iterable[int]) -> Iterator[tuple[Choice, None]]:
        """Yield the choices by which a row that must be absent ends a run.

        Args:
            numbers: the indices of absences.
        """
        for number in sorted(numbers):
            variable = self.between[number].variable
            ending = Choice(
                guard=0, variable=None, target=None, test=variable, effect=Effect.END_RUN
            )
            yield ending, None


def find_absences_within(phases: Phases) -> frozenset[int]:
    """Return the indices of the absences that have begun and have not ended."""
    return frozenset(number for number, phase in enumerate(phases) if phase is Phase.WITHIN)


def check_condition(task: Task, absent: AbsenceCondition, later_variables: frozenset[int]) -> None:
    """Check that the condition of an absent row has its final value when the row comes.

    Args:
        task: the task of the search.
        absent: the absence.
        later_variables: the variables to which rows are mapped once the absence has begun.

    Raises:
        MustBuildMatchesError: the condition can raise, its value can change until the match is
            found, or it calls a function for which this is not known.
    """
    condition = task.conditions[absent.variable].run_condition
    if condition is None:
        return
    for part in walk_expression(condition):
        if not is_supported(part):
            raise errors.MustBuildMatchesError(errors.ABSENCE_BY_FUNCTION)
        if can_raise(part):
            raise errors.MustBuildMatchesError(errors.ABSENCE_MAY_FAIL)
        match part:
            case ReadValue(navigation=Navigation(variable=name)) | Reduce(variable=name):
                read_later = later_variables
                if name is not None:
                    read_later = later_variables & task.members[name]
                if read_later:
                    raise errors.MustBuildMatchesError(errors.ABSENCE_BY_LATER_ROW)


SupportedExpression = Constant | ReadValue | Reduce | Operate | Arithmetic


def is_supported(part: RunExpression) -> TypeGuard[SupportedExpression]:
    """Return whether an expression may be part of the condition of an absent row.

    Functions that Python computes may raise. CLASSIFIER, MATCH_NUMBER and lists of rows may change
    until the match is found, and nobody has shown for which patterns they do not.
    """
    match part:
        case Constant() | ReadValue() | Reduce() | Operate() | Arithmetic():
            return True
        case ReadClassifier() | TriedMatchNumber() | Apply() | Aggregated():
            return False
        case _:
            assert_never(part)


def can_raise(part: SupportedExpression) -> bool:
    """Return whether an expression can raise an error.

    A run that never becomes a match must not raise.
    """
    match part:
        case Constant() | ReadValue():
            return False
        case Reduce(function=function):
            return function is Reduction.SUM
        case Operate(operator=operator):
            return operator not in SAFE_OPERATORS
        case Arithmetic(ansi=ansi, tries=tries):
            return ansi and not tries
        case _:
            assert_never(part)
