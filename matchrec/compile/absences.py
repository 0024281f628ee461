"""Rewrite a program so that a run ends at a row that must be absent between two rows of its match.

Normally the search looks for such rows once it has found a match. If it adds matches up without
building them, the program itself must reject matches with such rows. So each state is divided: a
run guesses whether the row that it has just mapped is the last row before the absence begins. A run
that guessed wrong never becomes a match. A run that guessed right ends at the first row that must
be absent.

    A+ ~(N n) B      after an A that is not the last one:     A
                     after the last A:                        B, and a row that is an N ends the run

Each absence divides a state into at most four states. In most patterns it divides the state after
`A+` into two, and does not divide the state after `A`. Absences before or after a match need no
division, because the first and the last row of the match decide them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import NamedTuple

from typing_extensions import Self, assert_never

from matchrec.automaton.folding import (
    Choice,
    Effect,
    Folded,
    Folding,
    find_reachable,
    number_states,
)
from matchrec.conditions.run_condition import (
    Arithmetic,
    BasicOperator,
    Comparison,
    Constant,
    PythonAggregate,
    PythonCall,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
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


class DividedState(NamedTuple):
    """A state of the folding, and the phases of a run that waits in it."""

    state: int
    phases: tuple[Phase, ...]  # one for each absence


class RunMove(NamedTuple):
    """A choice that maps a row, and the divided state to which it leads."""

    choice: Choice
    target: DividedState


# The state of a run that can no longer become a match.
DEAD_STATE = DividedState(-1, ())

# Operators that never raise an error.
SAFE_OPERATORS = (*BasicOperator, *Comparison)


def end_runs_at_absent_rows(task: Task) -> Task:
    """Return the task with a program whose runs end at rows that must be absent.

    Only absences between two rows of a match become part of the program. The others stay in
    `Task.absences`.

    Raises:
        MustBuildMatchesError: matches must be built, because only a complete match shows which
            rows must be absent.
    """
    between = tuple(absent for absent in task.absences if is_between_rows(absent))
    if not between:
        return task
    division = StateDivision.build(task, between)
    for index, absent in enumerate(between):
        check_condition(task, absent, division.find_later_variables(index))
    pattern = replace(task.pattern, folding=division.build_folding())
    others = tuple(absent for absent in task.absences if absent not in between)
    return replace(task, pattern=pattern, absences=others)


def is_between_rows(absent: AbsenceCondition) -> bool:
    """Return whether an absence is between two rows of a match."""
    return absent.after is not None and absent.before is not None


@dataclass(frozen=True, slots=True)
class StateDivision:
    """The states of a task, each divided into one state for each combination of phases."""

    task: Task
    # The absences between two rows of a match.
    between: tuple[AbsenceCondition, ...]
    # For each divided state, the moves that map a row. The first state is the one where runs begin.
    moves: Mapping[DividedState, list[RunMove]]
    # The divided states in which a run can be a complete match.
    ends: frozenset[DividedState]

    @classmethod
    def build(cls, task: Task, between: tuple[AbsenceCondition, ...]) -> Self:
        """Divide the states that a run can reach.

        A move to a state from which no match can be reached becomes a move to DEAD_STATE.

        Raises:
            MustBuildMatchesError: a match can end before an absence does.
        """
        choices = task.pattern.folding.choices
        all_moves = find_all_moves(choices, between)
        ends = frozenset(state for state in all_moves if can_be_match(state, choices))
        useful_states = find_useful_states(all_moves, ends)
        useful_moves = {
            state: [
                move if move.target in useful_states else RunMove(move.choice, DEAD_STATE)
                for move in moves
            ]
            for state, moves in all_moves.items()
        }
        return cls(task, between, useful_moves, ends)

    def find_later_variables(self, index: int) -> frozenset[int]:
        """Return the variables to which a run can map rows once an absence has begun.

        Args:
            index: the index of the absence in `between`.
        """
        states_within = (state for state in self.moves if state.phases[index] is Phase.WITHIN)
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
            # DEAD_STATE does not exist in the program. Any state serves: nothing reads it.
            program_states.append(states[max(divided_state.state, 0)])
        return Folding(tuple(folded_choices), tuple(program_states))

    def build_choices(self, state: DividedState) -> Iterator[tuple[Choice, DividedState | None]]:
        """Yield the choices of a state in the order in which they are tried, and their targets.

        The row at which an absence ends may satisfy the condition of the absent variable. So the
        choices that end an absence come before the choice that ends the run. Rows that are mapped
        before that may not satisfy the condition.

        Raises:
            MustBuildMatchesError: two absences overlap, and no order of the choices is right for
                both.
        """
        if state in self.ends:
            for choice in self.task.pattern.folding.choices[state.state]:
                if choice.accepts:
                    yield choice, None
        # Moves after which fewer absences continue come first. Before each move come the choices
        # that end the run for those absences that continue after this move.
        current_absences = find_absences_within(state.phases)
        tested: frozenset[int] = frozenset()
        moves = sorted(
            self.find_effective_moves(state),
            key=lambda move: len(find_absences_within(move.target.phases)),
        )
        for move in moves:
            continuing = current_absences & find_absences_within(move.target.phases)
            if not tested <= continuing:
                raise errors.MustBuildMatchesError(errors.OVERLAPPING_ABSENCES)
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

    def build_endings(self, indices: Iterable[int]) -> Iterator[tuple[Choice, None]]:
        """Yield the choices by which a row that must be absent ends a run.

        Args:
            indices: the indices of absences in `between`.
        """
        for index in sorted(indices):
            variable = self.between[index].variable
            ending = Choice(
                guard=0, variable=None, target=None, test=variable, effect=Effect.END_RUN
            )
            yield ending, None


def find_all_moves(
    choices: Folded, between: tuple[AbsenceCondition, ...]
) -> dict[DividedState, list[RunMove]]:
    """Return the moves of each divided state that a run can reach.

    The first state is the one where runs begin.

    Args:
        choices: the choices of each state of the folding.
        between: the absences between two rows of a match.

    Raises:
        MustBuildMatchesError: a match can end before an absence does.
    """
    moves: dict[DividedState, list[RunMove]] = {}
    waiting = [DividedState(0, (Phase.BEFORE,) * len(between))]
    for state in waiting:  # grows while it is read
        if state not in moves:
            check_ends_after_absences(state, choices)
            moves[state] = list(find_moves_from(state, choices, between))
            waiting += [move.target for move in moves[state] if move.target != DEAD_STATE]
    return moves


def check_ends_after_absences(state: DividedState, choices: Folded) -> None:
    """Check that a run in a state cannot be a match before its absences have ended.

    Raises:
        MustBuildMatchesError: it can be one.
    """
    accepts = any(choice.accepts for choice in choices[state.state])
    if accepts and Phase.WITHIN in state.phases:
        raise errors.MustBuildMatchesError(errors.ENDS_WITHIN_ABSENCE)


def can_be_match(state: DividedState, choices: Folded) -> bool:
    """Return whether a run in a state can be a complete match.

    It cannot if the run has guessed that another row will be mapped before an absence begins.
    """
    accepts = any(choice.accepts for choice in choices[state.state])
    return accepts and Phase.AGAIN not in state.phases


def find_moves_from(
    state: DividedState, choices: Folded, between: tuple[AbsenceCondition, ...]
) -> Iterator[RunMove]:
    """Yield the moves of a state, one for each choice and each guess."""
    for choice in choices[state.state]:
        if choice.target is None:
            continue
        next_phases = (
            find_next_phases(phase, absent, choice)
            for phase, absent in zip(state.phases, between, strict=True)
        )
        combinations = list(product(*next_phases))
        for phases in combinations:
            yield RunMove(choice, DividedState(choice.target, phases))
        if not combinations:
            yield RunMove(choice, DEAD_STATE)


def find_next_phases(phase: Phase, absent: AbsenceCondition, choice: Choice) -> tuple[Phase, ...]:
    """Return the phases in which a run can be after a choice has mapped a row.

    There are two if the run must guess, and none if no match can continue with this row.

    Args:
        phase: the phase of the run before the row.
        absent: the absence that the phase is about.
        choice: the choice that maps the row.
    """
    assert absent.after is not None
    assert absent.before is not None
    if choice.variable in absent.after:
        is_possible = phase in (Phase.BEFORE, Phase.AGAIN)
        return (Phase.WITHIN, Phase.AGAIN) if is_possible else ()
    if phase is Phase.WITHIN and choice.variable in absent.before:
        return (Phase.AFTER,)
    return (phase,)


def find_useful_states(
    all_moves: Mapping[DividedState, list[RunMove]], ends: Iterable[DividedState]
) -> set[DividedState]:
    """Return the states from which a run can still become a match.

    Args:
        all_moves: the moves of each divided state.
        ends: the divided states in which a run can be a complete match.
    """
    sources = defaultdict(set)
    for state, moves in all_moves.items():
        for move in moves:
            sources[move.target].add(state)
    return set(find_reachable(ends, lambda state: sources[state]))


def find_absences_within(phases: tuple[Phase, ...]) -> frozenset[int]:
    """Return the indices of the absences that have begun and have not ended."""
    return frozenset(index for index, phase in enumerate(phases) if phase is Phase.WITHIN)


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
        reason = find_obstacle_in_condition(part)
        if reason is not None:
            raise errors.MustBuildMatchesError(reason)
        match part:
            case ReadValue(navigation=Navigation(variable=name)) | RunAggregate(variable=name):
                read_later = later_variables
                if name is not None:
                    read_later = later_variables & task.members[name]
                if read_later:
                    raise errors.MustBuildMatchesError(errors.ABSENCE_BY_LATER_ROW)


def find_obstacle_in_condition(part: RunExpression) -> str | None:
    """Return why an expression may not be part of the condition of an absent row; None if it may.

    CLASSIFIER, MATCH_NUMBER and lists of rows may change until the match is found, and nobody has
    shown for which patterns they do not. Functions that Python computes may raise, and so may sums
    and some operations. A run that never becomes a match must not raise.
    """
    match part:
        case Constant() | ReadValue():
            return None
        case ReadClassifier():
            return errors.ABSENCE_BY_CLASSIFIER
        case TriedMatchNumber():
            return errors.ABSENCE_BY_MATCH_NUMBER
        case PythonCall():
            return errors.ABSENCE_BY_PYTHON_CALL
        case PythonAggregate():
            return errors.ABSENCE_BY_PYTHON_AGGREGATE
        case RunAggregate(function=function):
            return errors.ABSENCE_BY_SUM if function is Reduction.SUM else None
        case RunOperation(operator=operator):
            return None if operator in SAFE_OPERATORS else errors.ABSENCE_BY_OPERATION
        case Arithmetic(ansi=ansi, is_null_on_error=is_null_on_error):
            return errors.ABSENCE_BY_OPERATION if ansi and not is_null_on_error else None
        case _:
            assert_never(part)
