"""Replace NOT in a folding by tests of rows.

A *test* is a condition that is computed for each row before the search. Its id comes after those of
the variables. The choice after a NOT gets a test: the row satisfies the condition of the choice's
variable, and not the condition under NOT:

    A NOT B C      A, then C if the row does not satisfy B

If a NOT ends the pattern, the row after the match decides whether it is a match. A state that can
accept only if a NOT holds is divided into two. In the first, the NOT holds, so the run can accept
or go on. In the second, the NOT does not hold, so the run can only go on. The test of the row that
leads to them looks at the row after it, to choose between the two:

    A+ NOT B       A if the row after it does not satisfy B → the match can end here, or go on
                   A if the row after it satisfies B        → go on

`compile.negation` builds the conditions of the tests. A pattern whose matches may skip rows has no
such tests: see `fold_stages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from matchrec.automaton.explore_states import number_states
from matchrec.automaton.folding import ANCHORS, Choice, Folding, find_forbidden_variables
from matchrec.automaton.program import VariableId, VariableIds
from matchrec.errors.sql.negations import negation_at_start, several_negations_at_end
from matchrec.plan.pattern import RowPattern, list_first_negations, list_last_negations

NO_VARIABLES: VariableIds = frozenset()


@dataclass(frozen=True, slots=True)
class Restriction:
    """The conditions that a test checks in addition to the condition of its variable.

    Each condition is given by the id of its variable.
    """

    # The variable to which the tested row is mapped.
    variable: VariableId
    # The tested row must not satisfy any of these conditions.
    forbidden_on_row: VariableIds = NO_VARIABLES
    # The row after the tested row, if there is one, must not satisfy any of these conditions.
    forbidden_on_next_row: VariableIds = NO_VARIABLES
    # If not empty, there must be a row after the tested row, and it must satisfy at least one of
    # these conditions.
    required_on_next_row: VariableIds = NO_VARIABLES


@dataclass(frozen=True, slots=True)
class DividedState:
    """A state of the folding, and what the last test has shown about the next row."""

    # The number of the state in the folding.
    state: int
    # The next row, if there is one, does not satisfy any of these conditions.
    forbidden_on_next_row: VariableIds = NO_VARIABLES
    # If not empty, there is a next row, and it satisfies at least one of these conditions.
    required_on_next_row: VariableIds = NO_VARIABLES


def replace_negations(
    folding: Folding, first_test_id: int, pattern: RowPattern
) -> tuple[Folding, tuple[Restriction, ...]]:
    """Replace NOTs in a folding by tests.

    Args:
        folding: the folding of the row pattern, whose choices have bits for NOTs in their guards.
        first_test_id: the id of the first test. Tests have the next ids after the variables.
        pattern: the row pattern, in which errors show a NOT.

    Returns:
        The folding, and the restrictions that its tests check, in the order of the ids of tests.

    Raises:
        MatchRecognizeUnsupportedError: a NOT can be the first element of a match, or different NOTs
            can follow the same row as the last element.
    """
    assert folding.start_count == 1, "runs begin in state 0"
    assert not folding.states_after_skip, "a folding of stages has no NOTs"
    if any(choice.guard & ~ANCHORS for choice in folding.choices[0]):
        raise negation_at_start(list_first_negations(pattern)[0].span)
    divider = _StateDivider(folding, pattern)
    numbered_states = list(number_states([DividedState(0)], divider.iterate_choices))
    divided_states = [state for state, _ in numbered_states]

    # The id of the test that checks each restriction.
    test_by_restriction: dict[Restriction, VariableId] = {}
    choices_by_state = []
    for source, choices in numbered_states:
        tested_choices = []
        for choice in choices:
            restriction = find_restriction(choice, source, divided_states)
            test = None
            if restriction is not None:
                next_test_id = first_test_id + len(test_by_restriction)
                test = test_by_restriction.setdefault(restriction, next_test_id)
            tested_choices.append(replace(choice, guard=choice.guard & ANCHORS, test=test))
        choices_by_state.append(tuple(tested_choices))

    program_states = tuple(folding.states[divided_state.state] for divided_state in divided_states)
    folding_with_tests = replace(folding, choices=tuple(choices_by_state), states=program_states)
    return folding_with_tests, tuple(test_by_restriction)


def find_restriction(
    choice: Choice, source: DividedState, divided_states: Sequence[DividedState]
) -> Restriction | None:
    """Return the restriction that the test of a choice checks; None if it needs no test.

    Args:
        choice: the choice, with bits for NOTs in its guard. Its target is an index of
            `divided_states`.
        source: the state in which a run has the choice.
        divided_states: all states, by number.
    """
    if choice.target is None:
        return None
    assert choice.variable is not None
    target = divided_states[choice.target]
    restriction = Restriction(
        variable=choice.variable,
        forbidden_on_row=find_forbidden_variables(choice.guard) - source.forbidden_on_next_row,
        forbidden_on_next_row=target.forbidden_on_next_row,
        required_on_next_row=target.required_on_next_row,
    )
    return None if restriction == Restriction(choice.variable) else restriction


@dataclass(frozen=True, slots=True)
class _StateDivider:
    """Divides the states of a folding by what the last test has shown about the next row."""

    folding: Folding
    # The row pattern, in which errors show a NOT.
    pattern: RowPattern

    def iterate_choices(self, source: DividedState) -> Iterator[tuple[Choice, DividedState | None]]:
        """Yield the choices of a divided state, and the state to which each of them leads.

        A choice is yielded twice if the row after the mapped row decides to which state it leads.
        """
        for choice in self.list_possible_choices(source):
            if choice.target is None:
                yield choice, None
            else:
                for target in self.divide_state(choice.target):
                    yield choice, target

    def list_possible_choices(self, source: DividedState) -> tuple[Choice, ...]:
        """Return the choices that are possible, given what the test of the last row has shown."""
        possible_choices = []
        has_unconditional_accept = False
        for choice in self.folding.choices[source.state]:
            forbidden_variables = find_forbidden_variables(choice.guard)
            if choice.target is not None:
                # The next row satisfies at least one condition in `required_on_next_row`. If the
                # choice forbids all of them, it cannot map the row.
                can_map = not source.required_on_next_row or not (
                    source.required_on_next_row <= forbidden_variables
                )
                if can_map:
                    possible_choices.append(choice)
                continue
            # The choice accepts. A state has one set of NOTs at its end, see `divide_state`. Either
            # they are known to hold (`forbidden_on_next_row`), or one of them is known not to hold
            # (`required_on_next_row`, and then `forbidden_on_next_row` is empty).
            is_possible = (
                not forbidden_variables or forbidden_variables == source.forbidden_on_next_row
            )
            if is_possible and not has_unconditional_accept:
                possible_choices.append(choice)
                has_unconditional_accept = not choice.guard & ANCHORS
        return tuple(possible_choices)

    def divide_state(self, state: int) -> tuple[DividedState, ...]:
        """Return the one or two states into which a state of the folding is divided.

        There are two if the state can accept only if a NOT holds, and has a choice that is possible
        if the NOT does not hold. In the first state the NOT holds, in the second it does not.

        Raises:
            MatchRecognizeUnsupportedError: the pattern can end in the state with different NOTs.
        """
        forbidden_sets = {
            find_forbidden_variables(choice.guard)
            for choice in self.folding.choices[state]
            if choice.target is None
        } - {NO_VARIABLES}
        if not forbidden_sets:
            return (DividedState(state),)
        if len(forbidden_sets) > 1:
            raise several_negations_at_end(list_last_negations(self.pattern)[0].span)
        (forbidden_variables,) = forbidden_sets
        accepting_state = DividedState(state, forbidden_on_next_row=forbidden_variables)
        non_accepting_state = DividedState(state, required_on_next_row=forbidden_variables)
        if not self.list_possible_choices(non_accepting_state):
            return (accepting_state,)
        return (accepting_state, non_accepting_state)
