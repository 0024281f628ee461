"""Rewrite a program so that a run ends at a forbidden row between two rows of its match.

A row is *forbidden* for a match if it satisfies the condition of an absence (`AbsenceCondition`).
Normally the search looks for forbidden rows after it has found a match. A search that computes
totals without building matches cannot do that, so its program itself must reject matches with
forbidden rows. For this, a run guesses whether the row that it has just mapped is the last row
before the absence begins. A run that guessed wrong never becomes a match. A run that guessed right
ends at the first forbidden row.

The guess is the *phase* of the run. A state of the folding becomes a *phased state* for each phase
in which a run can wait there. For example, `A+ B` without a row N between the last A and B:

    state    phase          choices
    0        BEFORE         A -> 1 MORE_BEFORE, A -> 1 INSIDE
    1        MORE_BEFORE    A -> 1 MORE_BEFORE, A -> 1 INSIDE
    1        INSIDE         B -> 2 AFTER, N ends the run
    2        AFTER          accept

Each absence makes at most four phased states of a state, one for each `Phase`. In most patterns,
only the state after a loop has two phases, as after `A+` here. Absences before or after a match
need no phases: the first and the last row of the match show where they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product

from typing_extensions import Self

from matchrec.automaton.explore_states import find_reachable, number_states
from matchrec.automaton.folding import Choice, ChoicesByState, Effect, Folding, build_effect_choice
from matchrec.compile.absence_conditions import check_absence_condition
from matchrec.errors import match_totals as errors
from matchrec.plan.clauses import EventSelection
from matchrec.search.task import AbsenceCondition, Task


class Phase(Enum):
    """The phase of a run with respect to one absence. The comments are for N between A+ and B."""

    BEFORE = 0  # no row is mapped to A yet
    MORE_BEFORE = 1  # a row is mapped to A, and the run has guessed that another one will be
    INSIDE = 2  # the run has guessed that its last A is mapped, so no N may follow
    AFTER = 3  # the B is mapped


@dataclass(frozen=True, slots=True)
class PhasedState:
    """A state of the folding, and the phases of a run that waits in it."""

    # The index of the state in the folding.
    folding_state: int
    # The phase of the run with respect to each absence. Only DEAD_STATE has no phases.
    phases: tuple[Phase, ...]


# The state of the folding in which runs begin.
FIRST_STATE = 0

# The state of a run that can no longer become a match. The folding has no such state, so this one
# has the index of the first state, but none of its choices.
DEAD_STATE = PhasedState(FIRST_STATE, phases=())


@dataclass(frozen=True, slots=True)
class RunMove:
    """A choice that maps a row, and the phased state to which it leads."""

    choice: Choice
    # None if the run can no longer become a match after the move.
    target: PhasedState | None


def end_runs_at_absent_rows(task: Task) -> Task:
    """Return the task with a program whose runs end at forbidden rows between two rows of a match.

    The absences before or after a match stay in `Task.absences`.

    Raises:
        MustBuildMatchesError: matches must be built, because only a complete match shows which rows
            are forbidden.
    """
    absences = tuple(absence for absence in task.absences if absence.is_between_rows)
    if not absences:
        return task
    automaton = PhasedAutomaton.build(task, absences)
    for index, absence in enumerate(absences):
        check_absence_condition(task, absence, automaton.find_later_variables(index))
    pattern = replace(task.pattern, folding=automaton.build_folding())
    other_absences = tuple(absence for absence in task.absences if not absence.is_between_rows)
    return replace(task, pattern=pattern, absences=other_absences)


@dataclass(frozen=True, slots=True)
class PhasedAutomaton:
    """The phased states that a run of a task can reach, and the moves between them."""

    task: Task
    # The absences between two rows of a match, at least one. Each phased state has a phase for each
    # of them.
    absences: tuple[AbsenceCondition, ...]
    # The phased state in which runs begin.
    start: PhasedState
    # For each phased state but DEAD_STATE, the moves that map a row.
    moves: Mapping[PhasedState, list[RunMove]]
    # The phased states in which a run can be a complete match.
    ends: frozenset[PhasedState]

    @classmethod
    def build(cls, task: Task, absences: tuple[AbsenceCondition, ...]) -> Self:
        """Find the phased states that a run can reach.

        A move to a state from which no match can be reached gets no target.

        Raises:
            MustBuildMatchesError: a match can end before an absence does.
        """
        choices_by_state = task.pattern.folding.choices
        start = PhasedState(FIRST_STATE, phases=(Phase.BEFORE,) * len(absences))
        all_moves = find_all_moves(start, choices_by_state, absences)
        ends = frozenset(state for state in all_moves if can_be_match(state, choices_by_state))
        useful_states = find_useful_states(all_moves, ends)
        useful_moves = {
            state: [drop_useless_target(move, useful_states) for move in moves]
            for state, moves in all_moves.items()
        }
        return cls(task, absences, start, useful_moves, ends)

    def find_later_variables(self, index: int) -> frozenset[int]:
        """Return the variables to which a run can map rows once an absence has begun.

        Args:
            index: the index of the absence in `absences`.
        """
        states_inside = [state for state in self.moves if state.phases[index] is Phase.INSIDE]
        later_variables = set[int]()
        for state in find_reachable(states_inside, self.list_live_targets):
            for move in self.moves[state]:
                if move.target is not None:
                    assert move.choice.variable is not None, "a move maps a row"
                    later_variables.add(move.choice.variable)
        return frozenset(later_variables)

    def list_live_targets(self, state: PhasedState) -> list[PhasedState]:
        """Return the targets of the moves after which a run can still become a match."""
        return [move.target for move in self.moves[state] if move.target is not None]

    def build_folding(self) -> Folding:
        """Return the folding whose states are the phased states. Its first state is `start`.

        Raises:
            MustBuildMatchesError: see `iterate_choices`.
        """
        program_states = []
        choices_by_state = []
        for state, choices in number_states([self.start], self.iterate_choices):
            program_states.append(self.task.pattern.folding.states[state.folding_state])
            choices_by_state.append(choices)
        return Folding(tuple(choices_by_state), tuple(program_states))

    def iterate_choices(self, state: PhasedState) -> Iterator[tuple[Choice, PhasedState | None]]:
        """Yield the choices of a state in the order in which they are tried, and their targets.

        The row that ends an absence is allowed to satisfy the condition of the absence, and a row
        that is mapped inside of the absence is not. So if the run is inside of some absences:

        - a move comes before END_RUN of each absence that the move ends,
        - a move comes after END_RUN of each absence that continues after the move.

        For example, the absences of M and of N have begun, a row X ends both, and a row Y ends only
        the absence of M. The choices are X, N ends the run, Y, M ends the run.

        Raises:
            MustBuildMatchesError: two absences overlap, and no order of the choices is right for
                both: one move ends only the first of them, another move only the second.
        """
        if state == DEAD_STATE:
            return
        if state in self.ends:
            for choice in self.task.pattern.folding.choices[state.folding_state]:
                if choice.accepts:
                    yield choice, None
        current_absences = find_absences_inside(state)
        # The absences whose END_RUN has been yielded.
        tested_absences = frozenset[int]()
        # Moves after which fewer absences continue come first.
        moves = sorted(
            self.iterate_effective_moves(state),
            key=lambda move: len(find_absences_inside(move.target or DEAD_STATE)),
        )
        for move in moves:
            target = move.target or DEAD_STATE
            continuing_absences = current_absences & find_absences_inside(target)
            if not tested_absences <= continuing_absences:
                # The move ends an absence, but the condition of the absence comes before the move.
                raise errors.MustBuildMatchesError(errors.OVERLAPPING_ABSENCES)
            yield from self.iterate_endings(continuing_absences - tested_absences)
            yield move.choice, target
            tested_absences = continuing_absences
        yield from self.iterate_endings(current_absences - tested_absences)

    def iterate_effective_moves(self, state: PhasedState) -> Iterator[RunMove]:
        """Yield the moves of a state, without the moves that make no difference.

        A move without a target ends the run. It makes a difference only if the run may not skip a
        row that it can map, and no other move has the same choice.
        """
        moves = self.moves[state]
        live_choices = [move.choice for move in moves if move.target is not None]
        must_map = self.task.selection is EventSelection.SKIP_TILL_NEXT_MATCH
        for move in moves:
            if move.target is not None or (must_map and move.choice not in live_choices):
                yield move

    def iterate_endings(self, indices: Iterable[int]) -> Iterator[tuple[Choice, None]]:
        """Yield the choices by which a forbidden row ends a run.

        Args:
            indices: the indices in `absences` of the absences that the run is inside of.
        """
        for index in sorted(indices):
            yield build_effect_choice(self.absences[index].variable, Effect.END_RUN), None


def find_all_moves(
    start: PhasedState, choices_by_state: ChoicesByState, absences: tuple[AbsenceCondition, ...]
) -> dict[PhasedState, list[RunMove]]:
    """Return the moves of each phased state that a run can reach.

    Args:
        start: the phased state in which runs begin.
        choices_by_state: the choices of each state of the folding.
        absences: the absences between two rows of a match.

    Raises:
        MustBuildMatchesError: a match can end before an absence does.
    """
    moves: dict[PhasedState, list[RunMove]] = {}
    pending_states = [start]
    while pending_states:
        state = pending_states.pop()
        if state not in moves:
            check_ends_after_absences(state, choices_by_state)
            moves[state] = list(iterate_moves_from(state, choices_by_state, absences))
            pending_states += [move.target for move in moves[state] if move.target is not None]
    return moves


def check_ends_after_absences(state: PhasedState, choices_by_state: ChoicesByState) -> None:
    """Check that a run in a state cannot be a match before its absences have ended.

    Raises:
        MustBuildMatchesError: the run can be a match.
    """
    if Phase.INSIDE in state.phases and has_acceptance(choices_by_state[state.folding_state]):
        raise errors.MustBuildMatchesError(errors.ENDS_WITHIN_ABSENCE)


def can_be_match(state: PhasedState, choices_by_state: ChoicesByState) -> bool:
    """Return whether a run in a state can be a complete match.

    A run is not complete if it has guessed that another row will be mapped before an absence
    begins.
    """
    guessed_another_row = Phase.MORE_BEFORE in state.phases
    return not guessed_another_row and has_acceptance(choices_by_state[state.folding_state])


def has_acceptance(choices: Iterable[Choice]) -> bool:
    """Return whether a run can become a match by one of these choices."""
    return any(choice.accepts for choice in choices)


def iterate_moves_from(
    state: PhasedState, choices_by_state: ChoicesByState, absences: tuple[AbsenceCondition, ...]
) -> Iterator[RunMove]:
    """Yield the moves of a state: one for each choice of a row and each guess of the run.

    A choice that contradicts the guesses of the run is one move without a target.
    """
    for choice in choices_by_state[state.folding_state]:
        if choice.target is None:
            continue
        next_phases = [
            find_next_phases(phase, absence, choice)
            for phase, absence in zip(state.phases, absences, strict=True)
        ]
        combinations = list(product(*next_phases))
        for phases in combinations:
            yield RunMove(choice, PhasedState(choice.target, phases))
        if not combinations:
            yield RunMove(choice, target=None)


def find_next_phases(phase: Phase, absence: AbsenceCondition, choice: Choice) -> tuple[Phase, ...]:
    """Return the phases in which a run can be after a choice has mapped a row.

    The result has two phases if the run must guess, and none if the row contradicts its guess. The
    parts of a pattern with absences are matched in order. So once a row is mapped to a variable
    after the absence, no row is mapped to a variable before it.

    Args:
        phase: the phase of the run before the row.
        absence: the absence that the phase is about, between two rows of a match.
        choice: the choice that maps the row.
    """
    assert absence.variables_before is not None
    assert absence.variables_after is not None
    if choice.variable in absence.variables_before:
        can_come_before_absence = phase in (Phase.BEFORE, Phase.MORE_BEFORE)
        return (Phase.INSIDE, Phase.MORE_BEFORE) if can_come_before_absence else ()
    if phase is Phase.INSIDE and choice.variable in absence.variables_after:
        return (Phase.AFTER,)
    return (phase,)


def find_useful_states(
    all_moves: Mapping[PhasedState, list[RunMove]], ends: Iterable[PhasedState]
) -> set[PhasedState]:
    """Return the states from which a run can still become a match.

    Args:
        all_moves: the moves of each phased state.
        ends: the phased states in which a run can be a complete match.
    """
    sources = defaultdict[PhasedState, set[PhasedState]](set)
    for state, moves in all_moves.items():
        for move in moves:
            if move.target is not None:
                sources[move.target].add(state)
    return set(find_reachable(ends, lambda state: sources[state]))


def drop_useless_target(move: RunMove, useful_states: Set[PhasedState]) -> RunMove:
    """Return a move, without its target if no match can be reached from the target."""
    return move if move.target in useful_states else RunMove(move.choice, target=None)


def find_absences_inside(state: PhasedState) -> frozenset[int]:
    """Return the indices of the absences that have begun and have not ended."""
    return frozenset(index for index, phase in enumerate(state.phases) if phase is Phase.INSIDE)
