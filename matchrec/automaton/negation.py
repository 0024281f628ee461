"""Replace NOT in a folding by tests of rows.

A choice after a NOT gets a test, which checks the condition of its variable and that the row does
not satisfy the condition under NOT:

    A NOT B C      A, then C if the row does not satisfy B

If a NOT ends the pattern, the row after the match decides whether it is a match. A state that can
accept only if a NOT holds is divided into two states: one accepts, and the other goes on. The test
of the row that leads to them looks at the row after it, to choose between the two:

    A+ NOT B       A if the row after it does not satisfy B → a match
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
    forbidden_after: VariableIds = NO_VARIABLES
    # If not empty, there must be a row after the tested row, which satisfies at least one of these
    # conditions.
    required_after: VariableIds = NO_VARIABLES


@dataclass(frozen=True, slots=True)
class KnownState:
    """A state of the folding, and what the last test has shown about the next row."""

    # The number of the state in the folding.
    state: int
    # The next row, if there is one, does not satisfy any of these conditions.
    false_next: VariableIds = NO_VARIABLES
    # If not empty, there is a next row, which satisfies at least one of these conditions.
    true_next: VariableIds = NO_VARIABLES


def replace_negations(
    folding: Folding, first_test: int, pattern: RowPattern
) -> tuple[Folding, tuple[Restriction, ...]]:
    """Replace NOTs in a folding by tests.

    Args:
        folding: the folding of the row pattern, whose choices have bits for NOTs in their guards.
        first_test: the id of the first test. Tests have the next ids after the variables.
        pattern: the row pattern, in which errors show a NOT.

    Returns:
        The folding, and the restrictions that its tests check, in the order of the ids of tests.

    Raises:
        MatchRecognizeUnsupportedError: a NOT can be the first element of a match, or different NOTs
            can follow the same row as the last element.
    """
    if any(choice.guard & ~ANCHORS for choice in folding.choices[0]):
        raise negation_at_start(list_first_negations(pattern)[0].span)
    divider = _StateDivider(folding, pattern)
    numbered_states = number_states([KnownState(0)], divider.iterate_choices)
    known_states, choices_with_nots = zip(*numbered_states, strict=True)

    # The id of the test that checks each restriction.
    test_by_restriction: dict[Restriction, VariableId] = {}
    choices_by_state = []
    for source, choices in zip(known_states, choices_with_nots, strict=True):
        tested_choices = []
        for choice in choices:
            restriction = find_restriction(choice, source, known_states)
            test = None
            if restriction is not None:
                next_test = first_test + len(test_by_restriction)
                test = test_by_restriction.setdefault(restriction, next_test)
            tested_choices.append(replace(choice, guard=choice.guard & ANCHORS, test=test))
        choices_by_state.append(tuple(tested_choices))

    program_states = tuple(folding.states[known_state.state] for known_state in known_states)
    folding_with_tests = Folding(choices=tuple(choices_by_state), states=program_states)
    return folding_with_tests, tuple(test_by_restriction)


def find_restriction(
    choice: Choice, source: KnownState, known_states: Sequence[KnownState]
) -> Restriction | None:
    """Return the restriction that the test of a choice checks; None if it needs no test.

    Args:
        choice: the choice, with bits for NOTs in its guard. Its target is an index of
            `known_states`.
        source: the state in which a run has the choice.
        known_states: all states, by number.
    """
    if choice.target is None:
        return None
    assert choice.variable is not None
    target = known_states[choice.target]
    restriction = Restriction(
        variable=choice.variable,
        forbidden_on_row=find_forbidden_variables(choice.guard) - source.false_next,
        forbidden_after=target.false_next,
        required_after=target.true_next,
    )
    return None if restriction == Restriction(choice.variable) else restriction


@dataclass(frozen=True, slots=True)
class _StateDivider:
    """A divider of the states of a folding, by the facts that the last test has shown."""

    folding: Folding
    # The row pattern, in which errors show a NOT.
    pattern: RowPattern

    def iterate_choices(self, source: KnownState) -> Iterator[tuple[Choice, KnownState | None]]:
        """Yield the choices of a divided state, and the state to which each of them leads.

        A choice is yielded twice if the row after the mapped row decides to which state it leads.
        """
        for choice in self.list_possible_choices(source):
            if choice.target is None:
                yield choice, None
            else:
                for target in self.divide_state(choice.target):
                    yield choice, target

    def list_possible_choices(self, source: KnownState) -> tuple[Choice, ...]:
        """Return the choices that are possible, given what the test of the last row has shown."""
        possible_choices = []
        accepts_always = False
        for choice in self.folding.choices[source.state]:
            forbidden_variables = find_forbidden_variables(choice.guard)
            if choice.target is not None:
                # The next row satisfies at least one condition in `true_next`. If the choice
                # forbids all of them, it cannot map the row.
                if not source.true_next or not source.true_next <= forbidden_variables:
                    possible_choices.append(choice)
                continue
            # The choice accepts. `divide_state` allows only one set of NOTs with which a match may
            # end in a state. Either the last test has shown that the next row satisfies none of
            # the conditions of these NOTs, which are in `false_next` then. Or the next row
            # satisfies one of them (`true_next`), and the match cannot end in this state.
            is_possible = not forbidden_variables or forbidden_variables == source.false_next
            if is_possible and not accepts_always:
                possible_choices.append(choice)
                accepts_always = not choice.guard & ANCHORS
        return tuple(possible_choices)

    def divide_state(self, state: int) -> tuple[KnownState, ...]:
        """Return the one or two states into which a state of the folding is divided.

        There are two if the state can accept only if a NOT holds, and can go on if the NOT does not
        hold.

        Raises:
            MatchRecognizeUnsupportedError: the pattern can end in the state with different NOTs.
        """
        forbidden_sets = {
            find_forbidden_variables(choice.guard)
            for choice in self.folding.choices[state]
            if choice.target is None
        } - {NO_VARIABLES}
        if not forbidden_sets:
            return (KnownState(state),)
        if len(forbidden_sets) > 1:
            raise several_negations_at_end(list_last_negations(self.pattern)[0].span)
        (forbidden_variables,) = forbidden_sets
        ending_state = KnownState(state, false_next=forbidden_variables)
        continuing_state = KnownState(state, true_next=forbidden_variables)
        if not self.list_possible_choices(continuing_state):
            return (ending_state,)
        return (ending_state, continuing_state)
