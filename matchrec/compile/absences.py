"""Rewrite a program so that a run ends at a row that must be absent between two rows of its match.

Normally the search looks for such rows after it has found a match. If it adds matches up without
building them, the program itself must reject matches with such rows. So each state is divided: a
run guesses whether the row that it has just mapped is the last row before the absence begins. A run
that guessed wrong never becomes a match. A run that guessed right ends at the first row that must
be absent.

For example, `A+ B` without a row N between the last A and B has these divided states:

    state    phase     choices
    0        BEFORE    A -> 1 AGAIN, A -> 1 WITHIN
    1        AGAIN     A -> 1 AGAIN, A -> 1 WITHIN
    1        WITHIN    B -> 2 AFTER, N ends the run
    2        AFTER     accept

Each absence divides a state into at most four states, one for each `Phase`. In most patterns, only
the state after a loop is divided, into two, as after `A+` here. Absences before or after a match
need no division: the first and the last row of the match show where they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product

from typing_extensions import Self

from matchrec.automaton.explore_states import find_reachable, number_states
from matchrec.automaton.folding import Choice, ChoicesByState, Effect, Folding, build_effect_choice
from matchrec.automaton.program import StateId
from matchrec.compile.absence_conditions import check_absence_condition
from matchrec.errors import match_totals as errors
from matchrec.plan.clauses import EventSelection
from matchrec.search.task import AbsenceCondition, Task


class Phase(Enum):
    """The phase of a run with respect to one absence. The comments are for N between A+ and B."""

    BEFORE = 0  # no row is mapped to A yet
    AGAIN = 1  # a row is mapped to A, and another one will be
    WITHIN = 2  # the last A is mapped, so no N may follow
    AFTER = 3  # the B is mapped


@dataclass(frozen=True, slots=True)
class DividedState:
    """A state of the folding, and the phases of a run that waits in it."""

    # The index of the state in the folding, or -1 for DEAD_STATE.
    state: int
    # The phase of the run with respect to each absence.
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class RunMove:
    """A choice that maps a row, and the divided state to which it leads."""

    choice: Choice
    target: DividedState


# The state of a run that can no longer become a match. The folding has no such state.
DEAD_STATE = DividedState(state=-1, phases=())


def end_runs_at_absent_rows(task: Task) -> Task:
    """Return the task with a program whose runs end at rows that must be absent.

    Only absences between two rows of a match become part of the program. The others stay in
    `Task.absences`.

    Raises:
        MustBuildMatchesError: matches must be built, because only a complete match shows which
            rows must be absent.
    """
    absences = tuple(absence for absence in task.absences if is_between_rows(absence))
    if not absences:
        return task
    division = StateDivision.build(task, absences)
    for index, absence in enumerate(absences):
        check_absence_condition(task, absence, division.find_later_variables(index))
    pattern = replace(task.pattern, folding=division.build_folding())
    others = tuple(absence for absence in task.absences if not is_between_rows(absence))
    return replace(task, pattern=pattern, absences=others)


def is_between_rows(absence: AbsenceCondition) -> bool:
    """Return whether an absence is between two rows of a match."""
    return absence.after is not None and absence.before is not None


@dataclass(frozen=True, slots=True)
class StateDivision:
    """The states of a task, each divided into one state for each combination of phases."""

    task: Task
    # The absences between two rows of a match. Each divided state has a phase for each of them.
    absences: tuple[AbsenceCondition, ...]
    # For each divided state, the moves that map a row. The first state is the one where runs begin.
    moves: Mapping[DividedState, list[RunMove]]
    # The divided states in which a run can be a complete match.
    ends: frozenset[DividedState]

    @classmethod
    def build(cls, task: Task, absences: tuple[AbsenceCondition, ...]) -> Self:
        """Divide the states that a run can reach.

        A move to a state from which no match can be reached becomes a move to DEAD_STATE.

        Raises:
            MustBuildMatchesError: a match can end before an absence does.
        """
        choices_by_state = task.pattern.folding.choices
        all_moves = find_all_moves(choices_by_state, absences)
        ends = frozenset(state for state in all_moves if can_be_match(state, choices_by_state))
        useful_states = find_useful_states(all_moves, ends)
        useful_moves = {
            state: [
                move if move.target in useful_states else RunMove(move.choice, DEAD_STATE)
                for move in moves
            ]
            for state, moves in all_moves.items()
        }
        return cls(task, absences, useful_moves, ends)

    def find_later_variables(self, index: int) -> frozenset[int]:
        """Return the variables to which a run can map rows once an absence has begun.

        Args:
            index: the index of the absence in `absences`.
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
        states, choices = zip(*number_states([first_state], self.iterate_choices), strict=True)
        program_states = tuple(self.find_program_state(state) for state in states)
        return Folding(choices, program_states)

    def find_program_state(self, state: DividedState) -> StateId:
        """Return the state of the program from which a divided state was made.

        For DEAD_STATE, any state will do, because nothing reads the result.
        """
        folded_state = 0 if state == DEAD_STATE else state.state
        return self.task.pattern.folding.states[folded_state]

    def iterate_choices(self, state: DividedState) -> Iterator[tuple[Choice, DividedState | None]]:
        """Yield the choices of a state in the order in which they are tried, and their targets.

        The row at which an absence ends may satisfy the condition of the absent variable. So the
        choices that end an absence come before the choice that ends the run. A row that is mapped
        earlier in the absence may not satisfy the condition.

        Raises:
            MustBuildMatchesError: two absences overlap, and no order of the choices is right for
                both.
        """
        if state in self.ends:
            for choice in self.task.pattern.folding.choices[state.state]:
                if choice.accepts:
                    yield choice, None
        # Moves after which fewer absences continue come first. Before each move, the choices are
        # yielded that end the run for the absences that continue after this move.
        current_absences = find_absences_within(state.phases)
        # The absences for which the choice that ends the run has been yielded.
        tested_absences = frozenset[int]()
        moves = sorted(
            self.iterate_effective_moves(state),
            key=lambda move: len(find_absences_within(move.target.phases)),
        )
        for move in moves:
            continuing_absences = current_absences & find_absences_within(move.target.phases)
            if not tested_absences <= continuing_absences:
                raise errors.MustBuildMatchesError(errors.OVERLAPPING_ABSENCES)
            yield from self.iterate_endings(continuing_absences - tested_absences)
            yield move.choice, move.target
            tested_absences = continuing_absences
        yield from self.iterate_endings(current_absences - tested_absences)

    def iterate_effective_moves(self, state: DividedState) -> Iterator[RunMove]:
        """Yield the moves of a state that the program needs.

        A move to DEAD_STATE is needed if a run may not skip a row that it can map, and no other
        move has the same choice.
        """
        moves = self.moves.get(state, [])
        live_choices = [move.choice for move in moves if move.target != DEAD_STATE]
        must_map = self.task.selection is EventSelection.SKIP_TILL_NEXT_MATCH
        for move in moves:
            if move.target != DEAD_STATE or (must_map and move.choice not in live_choices):
                yield move

    def iterate_endings(self, indices: Iterable[int]) -> Iterator[tuple[Choice, None]]:
        """Yield the choices by which a row that must be absent ends a run.

        Args:
            indices: the indices of absences in `absences`.
        """
        for index in sorted(indices):
            yield build_effect_choice(self.absences[index].variable, Effect.END_RUN), None


def find_all_moves(
    choices_by_state: ChoicesByState, absences: tuple[AbsenceCondition, ...]
) -> dict[DividedState, list[RunMove]]:
    """Return the moves of each divided state that a run can reach.

    The first state is the one where runs begin.

    Args:
        choices_by_state: the choices of each state of the folding.
        absences: the absences between two rows of a match.

    Raises:
        MustBuildMatchesError: a match can end before an absence does.
    """
    moves: dict[DividedState, list[RunMove]] = {}
    waiting = [DividedState(0, (Phase.BEFORE,) * len(absences))]
    for state in waiting:  # The list grows while it is read.
        if state not in moves:
            check_ends_after_absences(state, choices_by_state)
            moves[state] = list(iterate_moves_from(state, choices_by_state, absences))
            waiting += [move.target for move in moves[state] if move.target != DEAD_STATE]
    return moves


def check_ends_after_absences(state: DividedState, choices_by_state: ChoicesByState) -> None:
    """Check that a run in a state cannot be a match before its absences have ended.

    Raises:
        MustBuildMatchesError: the run can be a match.
    """
    accepts = any(choice.accepts for choice in choices_by_state[state.state])
    if accepts and Phase.WITHIN in state.phases:
        raise errors.MustBuildMatchesError(errors.ENDS_WITHIN_ABSENCE)


def can_be_match(state: DividedState, choices_by_state: ChoicesByState) -> bool:
    """Return whether a run in a state can be a complete match.

    A run is not complete if it has guessed that another row will be mapped before an absence
    begins.
    """
    accepts = any(choice.accepts for choice in choices_by_state[state.state])
    return accepts and Phase.AGAIN not in state.phases


def iterate_moves_from(
    state: DividedState, choices_by_state: ChoicesByState, absences: tuple[AbsenceCondition, ...]
) -> Iterator[RunMove]:
    """Yield the moves of a state: one for each choice of a row and each guess of the run.

    A choice after which no match is possible leads to DEAD_STATE.
    """
    for choice in choices_by_state[state.state]:
        if choice.target is None:
            continue
        next_phases = (
            find_next_phases(phase, absence, choice)
            for phase, absence in zip(state.phases, absences, strict=True)
        )
        combinations = list(product(*next_phases))
        for phases in combinations:
            yield RunMove(choice, DividedState(choice.target, phases))
        if not combinations:
            yield RunMove(choice, DEAD_STATE)


def find_next_phases(phase: Phase, absence: AbsenceCondition, choice: Choice) -> tuple[Phase, ...]:
    """Return the phases in which a run can be after a choice has mapped a row.

    The result has two phases if the run must guess, and none if no match can continue like this.

    Args:
        phase: the phase of the run before the row.
        absence: the absence that the phase is about.
        choice: the choice that maps the row.
    """
    assert absence.after is not None
    assert absence.before is not None
    if choice.variable in absence.after:
        is_possible = phase in (Phase.BEFORE, Phase.AGAIN)
        return (Phase.WITHIN, Phase.AGAIN) if is_possible else ()
    if phase is Phase.WITHIN and choice.variable in absence.before:
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
