"""Fold a program of stages: find the states in which runs wait, and their choices for a row.

A waiting state is a state of the program together with the tests of the proceed edges that lead to
it, so one state of the program can become several waiting states. A mapped row leads to one waiting
state for each stage that can be next. The tests are checked on the next row only: after a skipped
row, the run waits in the state without the tests.

A choice has a single test, so combined tests are divided into several choices. For `a`, then a loop
of `b` that ends at a row that satisfies U:

    program    take b if B and not U -> b; ignore if not B and not U -> b

    folded     1. a row that satisfies U ends the run, because no edge reads the row
               2. a row that satisfies B is mapped to b, and may not be skipped
               3. any other row is skipped

Source: Flink CEP, class NFA, the decision graph of one event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from matchrec.automaton.explore_states import limit_choices, number_states
from matchrec.automaton.folding import ACCEPT, Choice, Effect, Folding, build_effect_choice
from matchrec.automaton.program import Action, Edge, Program, StateId, VariableId
from matchrec.automaton.run_endings import (
    A_MATCH,
    FIRST_NEIGHBOUR_WINDOW,
    NO_NEIGHBOUR_WINDOW,
    NOTHING,
    TIMED_OUT,
)
from matchrec.plan.stages import Steps, walk_forbidden_events, walk_repeated_parts

TestIds = frozenset[VariableId]


@dataclass(frozen=True, slots=True)
class GuardedState:
    """A state of the program, and the tests that the next row must pass."""

    state: StateId
    # Tests that the next row must satisfy.
    required_tests: TestIds = frozenset()
    # Tests that the next row must not satisfy. In the final state, which has no next row: tests
    # that the last row must not satisfy.
    forbidden_tests: TestIds = frozenset()
    # Whether runs begin in this state, so that no row has been mapped yet.
    begins_runs: bool = False


@dataclass(frozen=True, slots=True)
class ComposedTests:
    """The tests that a pattern of stages makes of other tests, and the tests of `not_next`."""

    # For each test that has a complement, the complement.
    complements: Mapping[VariableId, VariableId]
    # For the test of a stage and the test that ends the loop of the stage, the combined test: a row
    # satisfies the former, but not the latter.
    stage_tests_in_loop: Mapping[tuple[VariableId, VariableId], VariableId]
    # Tests of `not_next`, which apply to the next row only.
    next_row_nots: TestIds


def find_composed_tests(steps: Steps, variables: tuple[str, ...]) -> ComposedTests:
    """Return the composed tests of a pattern of stages; ids are indices in `variables`."""
    ids = {name: index for index, name in enumerate(variables)}
    complements: dict[VariableId, VariableId] = {}
    stage_tests_in_loop: dict[tuple[VariableId, VariableId], VariableId] = {}
    for part in walk_repeated_parts(steps):
        if part.until is None:
            continue
        until_test = ids[part.until.test]
        complements[until_test] = ids[part.until.complement]
        if part.until.take_test is not None:
            assert not isinstance(part.content, tuple), "a group itself has no test"
            stage_tests_in_loop[ids[part.content.test], until_test] = ids[part.until.take_test]
    next_row_nots = frozenset(
        ids[event.test] for event in walk_forbidden_events(steps) if event.forbids_only_next
    )
    return ComposedTests(complements, stage_tests_in_loop, next_row_nots)


# A choice of a waiting state, and the state to which it leads; None if it leads nowhere. The field
# `target` of the choice is set later, when states are numbered.
_ChoiceAndTarget = tuple[Choice, GuardedState | None]

# A placeholder for skipping a row: the last choice of each state while states are numbered.
# `number_states` numbers only states to which choices lead, and the state in which a run waits
# after it skips a row needs a number, too. The target is None if no row may be skipped.
_SKIP_PLACEHOLDER = Choice(guard=0, variable=None, target=None)


def fold_stages(
    program: Program, tests: ComposedTests, window_tests: tuple[str, ...], *, has_window: bool
) -> Folding:
    """Fold a program of stages.

    The states of the folding are waiting states. Runs begin in the first `start_count` of them.

    Args:
        program: a program of stages.
        tests: the composed tests of the pattern.
        window_tests: the names of the tests of `Staging.neighbour_windows`, in the same order.
        has_window: whether the match has a window.

    Raises:
        MatchRecognizePlanError: the folding has more than MAX_CHOICES choices, for example because
            many optional stages follow each other.
    """
    folder = _StageFolder(
        program,
        tests,
        has_window=has_window,
        window_tests=tuple(program.variables.index(test) for test in window_tests),
    )
    starts = [
        replace(waiting_state, begins_runs=True)
        for waiting_state in folder.list_waiting_states(program.start)
        if waiting_state.state != program.final
    ]
    waiting_states = []
    choices_by_state = []
    states_after_skip = []
    numbered_states = number_states(starts, folder.iterate_choices_and_skip)
    for waiting_state, (*choices, skip) in limit_choices(numbered_states, span=None):
        waiting_states.append(waiting_state)
        choices_by_state.append(tuple(choices))
        states_after_skip.append(skip.target)
    return Folding(
        choices=tuple(choices_by_state),
        states=tuple(waiting_state.state for waiting_state in waiting_states),
        start_count=len(starts),
        states_after_skip=tuple(states_after_skip),
        ending_kinds=tuple(
            folder.find_ending_kind(waiting_state) for waiting_state in waiting_states
        ),
        neighbour_windows=tuple(
            folder.find_neighbour_window(waiting_state) for waiting_state in waiting_states
        ),
    )


@dataclass(frozen=True, slots=True)
class _StageFolder:
    """One program of stages while it is folded: finds its waiting states and their choices."""

    program: Program
    tests: ComposedTests
    # Whether the match has a window.
    has_window: bool
    # Tests whether the row that was mapped last is too far away, the shortest window first.
    window_tests: tuple[VariableId, ...]

    def list_waiting_states(self, state: StateId) -> list[GuardedState]:
        """Return the states in which a run may wait after a row has led to `state`.

        They include the final state if the run may be a match.
        """
        waiting_states: dict[GuardedState, None] = {}
        # An optional group of optional stages can be left out in two ways: as a whole, or stage by
        # stage. A visit of a state for each way to it would take time exponential in the number of
        # such groups.
        visited_states: set[GuardedState] = set()
        unvisited_states = [GuardedState(state)]
        while unvisited_states:
            state_after_row = unvisited_states.pop()
            if state_after_row in visited_states:
                continue
            visited_states.add(state_after_row)
            if state_after_row.state == self.program.final:
                tests_of_last_row = state_after_row.forbidden_tests & self.tests.next_row_nots
                final_state = GuardedState(state_after_row.state, forbidden_tests=tests_of_last_row)
                waiting_states[final_state] = None
                continue
            edges = self.program.states[state_after_row.state].edges
            if any(edge.action is not Action.PROCEED for edge in edges):
                waiting_states[state_after_row] = None
            # The state to which the first edge leads is visited next.
            unvisited_states += reversed(self.follow_proceed_edges(state_after_row))
        return list(waiting_states)

    def follow_proceed_edges(self, state_after_row: GuardedState) -> list[GuardedState]:
        """Return the states to which proceed edges lead, except the stop state.

        Each of them has the tests of `state_after_row` and the tests of the edge to it.
        """
        return [
            GuardedState(
                edge.target,
                state_after_row.required_tests.union(edge.required_variables),
                state_after_row.forbidden_tests.union(edge.forbidden_variables),
            )
            for edge in self.find_edges(state_after_row, Action.PROCEED)
            if edge.target != self.program.stop
        ]

    def find_edges(self, state: GuardedState, action: Action) -> list[Edge]:
        """Return the edges of a state with an action."""
        return [edge for edge in self.program.states[state.state].edges if edge.action is action]

    def find_take_edge(self, waiting_state: GuardedState) -> Edge | None:
        """Return the edge on which a run maps a row, if there is one."""
        take_edges = self.find_edges(waiting_state, Action.TAKE)
        assert len(take_edges) <= 1, "a state of a program of stages maps rows to one stage"
        return take_edges[0] if take_edges else None

    def find_ignore_edge(self, waiting_state: GuardedState) -> Edge | None:
        """Return the edge on which a run skips a row, if there is one.

        A run that begins skips no row, because another run begins at the next row. If there are
        several ignore edges, all but the last have tests of time: see `iterate_effect_choices`.
        """
        ignore_edges = self.find_edges(waiting_state, Action.IGNORE)
        return ignore_edges[-1] if ignore_edges and not waiting_state.begins_runs else None

    def find_stopping_tests(self, waiting_state: GuardedState) -> set[VariableId]:
        """Return the tests of NOTs that stop a run in a waiting state."""
        return {
            test
            for edge in self.find_edges(waiting_state, Action.PROCEED)
            if edge.target == self.program.stop
            for test in edge.required_variables
        }

    def find_ending_tests(self, waiting_state: GuardedState) -> set[VariableId]:
        """Return the tests of rows that end a run, because no edge reads such a row."""
        reading_edges = (self.find_take_edge(waiting_state), self.find_ignore_edge(waiting_state))
        # The run can neither map nor skip a row with a test that all these edges forbid.
        forbidden_test_sets = [
            set(edge.forbidden_variables) for edge in reading_edges if edge is not None
        ]
        assert forbidden_test_sets, "a run waits only in states with an edge that reads a row"
        ending_tests = set.intersection(*forbidden_test_sets)
        # A row that does not pass the tests of the waiting state also ends the run.
        ending_tests |= waiting_state.forbidden_tests
        ending_tests |= {self.tests.complements[test] for test in waiting_state.required_tests}
        ending_tests |= self.find_stopping_tests(waiting_state) & self.tests.next_row_nots
        if waiting_state.begins_runs:
            # No row has been mapped that could be too far away.
            return ending_tests.difference(self.window_tests)
        return ending_tests

    def iterate_choices_and_skip(self, waiting_state: GuardedState) -> Iterator[_ChoiceAndTarget]:
        """Yield the choices of a waiting state, then _SKIP_PLACEHOLDER, each with its target."""
        yield from self.iterate_choices(waiting_state)
        yield _SKIP_PLACEHOLDER, self.find_state_after_skip(waiting_state)

    def iterate_choices(self, waiting_state: GuardedState) -> Iterator[_ChoiceAndTarget]:
        """Yield the choices of a waiting state, in the order in which the search tries them.

        First come the effects with which a row completes or ends the run without being mapped, then
        the choices that map the row. `find_state_after_skip` returns the state in which the run
        waits if it skips the row.
        """
        if waiting_state.state == self.program.final:
            yield ACCEPT, None
            return
        ending_tests = self.find_ending_tests(waiting_state)
        for effect_choice in self.iterate_effect_choices(waiting_state, ending_tests):
            yield effect_choice, None
        take_edge = self.find_take_edge(waiting_state)
        ignore_edge = self.find_ignore_edge(waiting_state)
        if take_edge is not None:
            yield from self.iterate_taking_choices(take_edge, ignore_edge, ending_tests)
            return
        # The run waits for the end of a pattern that ends with NOT.
        assert ignore_edge is not None
        if ignore_edge.target == self.program.final:
            yield Choice(guard=0, variable=None, target=None, effect=Effect.COMPLETE_RUN), None

    def iterate_effect_choices(
        self, waiting_state: GuardedState, ending_tests: set[VariableId]
    ) -> Iterator[Choice]:
        """Yield the effects with which a row completes or ends a run without being mapped.

        Args:
            waiting_state: the state in which the run waits.
            ending_tests: the tests of rows that no edge reads.
        """
        for edge in self.find_edges(waiting_state, Action.IGNORE):
            # The tests of an ignore edge are tests of time: the row is too far away to matter for a
            # NOT.
            for test in edge.required_variables:
                yield build_effect_choice(test, Effect.COMPLETE_RUN)
        window_tests = set(self.window_tests)
        for test in sorted(ending_tests & window_tests):
            yield build_effect_choice(test, Effect.TIME_OUT)
        for test in sorted(ending_tests - window_tests):
            yield build_effect_choice(test, Effect.END_RUN)
        for test in sorted(self.find_stopping_tests(waiting_state) - ending_tests):
            yield build_effect_choice(test, Effect.END_UNLESS_COMPLETED)

    def iterate_taking_choices(
        self, take_edge: Edge, ignore_edge: Edge | None, ending_tests: set[VariableId]
    ) -> Iterator[_ChoiceAndTarget]:
        """Yield the choices that map a row, and the effects that rule out other choices.

        Args:
            take_edge: the edge on which the row is mapped.
            ignore_edge: the edge on which the row is skipped; None if no row can be skipped.
            ending_tests: tests of rows that end the run.
        """
        take_test = self.find_take_test(take_edge, ending_tests)
        unskippable_tests = (
            set() if ignore_edge is None else set(ignore_edge.forbidden_variables) - ending_tests
        )
        row_choice = Choice(
            guard=0,
            variable=take_edge.variable,
            target=None,  # is set when states are numbered
            test=take_test,
            forbids_skip=bool(unskippable_tests.intersection(take_edge.required_variables)),
        )
        targets = self.list_waiting_states(take_edge.target)
        waiting_targets = [target for target in targets if target.state != self.program.final]
        final_targets = [target for target in targets if target.state == self.program.final]
        for waiting_target in waiting_targets:
            yield row_choice, waiting_target
        for test in sorted(unskippable_tests - {take_test}):
            yield build_effect_choice(test, Effect.FORBID_SKIP), None
        # The final state comes last, so that IGNORE_LATER_CHOICES keeps the run only from it.
        for final_target in final_targets:
            for test in sorted(final_target.forbidden_tests):
                yield build_effect_choice(test, Effect.IGNORE_LATER_CHOICES), None
            yield row_choice, GuardedState(final_target.state)

    def find_take_test(self, take_edge: Edge, ending_tests: set[VariableId]) -> VariableId:
        """Return the single test that says whether a run maps a row.

        A row passes this test if it satisfies the test of the stage, but not the test that ends the
        loop of the stage.

        Args:
            take_edge: the edge on which the row is mapped.
            ending_tests: tests of rows that end the run. Earlier choices test them.
        """
        # A take edge requires the test of its stage, and no other.
        (stage_test,) = take_edge.required_variables
        unchecked_tests = set(take_edge.forbidden_variables) - ending_tests - set(self.window_tests)
        if not unchecked_tests:
            return stage_test
        # Only the test that ends the loop of the stage is left: an ignore edge forbids the others,
        # too, so they are ending tests.
        (until_test,) = unchecked_tests
        return self.tests.stage_tests_in_loop[stage_test, until_test]

    def find_state_after_skip(self, waiting_state: GuardedState) -> GuardedState | None:
        """Return the state in which a run waits after it skips a row; None if it may not skip."""
        ignore_edge = self.find_ignore_edge(waiting_state)
        if ignore_edge is None or ignore_edge.target == self.program.final:
            return None
        # An ignore edge leads to a state without proceed edges, except edges to the stop state.
        (target,) = self.list_waiting_states(ignore_edge.target)
        return target

    def find_ending_kind(self, waiting_state: GuardedState) -> int:
        """Return the ending kind of a run that waits in a state: see `run_endings`."""
        if waiting_state.state in self.program.completed_by_time:
            return A_MATCH
        if waiting_state.state == self.program.final or waiting_state.begins_runs:
            return NOTHING
        neighbour_window = self.find_neighbour_window(waiting_state)
        if neighbour_window != NO_NEIGHBOUR_WINDOW:
            return FIRST_NEIGHBOUR_WINDOW + neighbour_window
        return TIMED_OUT if self.has_window else NOTHING

    def find_neighbour_window(self, waiting_state: GuardedState) -> int:
        """Return the number of the shortest neighbour window that can end a run in a state.

        NO_NEIGHBOUR_WINDOW if there is none. A neighbour window begins at the row that the run has
        mapped last. Its number is an index of `window_tests`.
        """
        if waiting_state.state == self.program.final or waiting_state.begins_runs:
            return NO_NEIGHBOUR_WINDOW
        take_edge = self.find_take_edge(waiting_state)
        tests = {
            test
            for edge in self.find_edges(waiting_state, Action.IGNORE)
            for test in edge.required_variables
        }
        if take_edge is not None:
            tests.update(take_edge.forbidden_variables)
        for number, test in enumerate(self.window_tests):
            if test in tests:
                return number
        return NO_NEIGHBOUR_WINDOW
