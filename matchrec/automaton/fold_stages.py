"""Fold a program of stages: find the states in which runs wait, and what a row does in each.

A mapped row leads to each waiting state after it, so that each waits for one stage and has one rule
of what may be skipped. A waiting state is a state of the program with the formulas of the proceed
edges that lead to it. They are checked on the next row only: a skipped row leads to the waiting
state without them. Formulas are taken apart into single tests: what both take and ignore forbid
ends the run.

    take b if B and not U, ignore if not B and not U      →      ends: U; maps b: B; blocks: B

Source: Flink CEP, NFA, the decision graph of one event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from matchrec.automaton.folding import ACCEPT, Choice, Effect, Folding, limit_choices, number_states
from matchrec.automaton.program import (
    A_MATCH,
    FIRST_NEIGHBOUR_WINDOW,
    NO_NEIGHBOUR_WINDOW,
    NOTHING,
    TIMED_OUT,
    Action,
    Edge,
    Program,
    StateId,
    VariableId,
)
from matchrec.plan.stages import Steps, list_negations, list_repeated_parts

TestIds = frozenset[VariableId]


@dataclass(frozen=True, slots=True)
class WaitingState:
    """A state in which a run waits, and what must hold for the next row.

    For the final state, `forbids` are tests on the row that leads to it.
    """

    state: StateId
    needs: TestIds = frozenset()
    forbids: TestIds = frozenset()
    # Whether runs begin here, so that no row has been mapped.
    begins_runs: bool = False


@dataclass(frozen=True, slots=True)
class ComposedTests:
    """The tests of a pattern of stages that are made of other tests, and direct NOTs."""

    # The complement of a test, for each test that has one.
    complements: Mapping[VariableId, VariableId]
    # The test that holds if the first test of a pair holds and the second one does not.
    without: Mapping[tuple[VariableId, VariableId], VariableId]
    # Tests of NOTs that only the next row must not satisfy.
    direct: TestIds


def compose_tests(steps: Steps, variables: tuple[str, ...]) -> ComposedTests:
    """Return the composed tests of a pattern of stages; ids are indices in `variables`."""
    ids = {name: number for number, name in enumerate(variables)}
    complements: dict[VariableId, VariableId] = {}
    without: dict[tuple[VariableId, VariableId], VariableId] = {}
    for part in list_repeated_parts(steps):
        if part.until is not None:
            complements[ids[part.until.test]] = ids[part.until.complement]
            if part.until.take is not None:
                assert not isinstance(part.content, tuple)
                tests = ids[part.content.test], ids[part.until.test]
                without[tests] = ids[part.until.take]
    direct = frozenset(ids[event.test] for event in list_negations(steps) if event.only_next)
    return ComposedTests(complements, without, direct)


def fold_stages(
    program: Program, tests: ComposedTests, window_tests: tuple[str, ...], *, has_window: bool
) -> Folding:
    """Fold a program of stages. Its states are waiting states; runs begin in the first ones.

    Args:
        program: the program.
        tests: its composed tests.
        window_tests: the tests of `Staging.neighbour_windows`.
        has_window: whether the match has a window.

    Raises:
        MatchRecognizePlanError: there are more than MOST_CHOICES, as many optional stages have.
    """
    window_ids = tuple(program.variables.index(test) for test in window_tests)
    folder = _StageFolder(program, tests, has_window, window_ids)
    starts = [
        replace(waiting, begins_runs=True)
        for waiting in folder.list_waiting_states(program.start)
        if waiting.state != program.final
    ]

    def list_choices(waiting: WaitingState) -> Iterator[tuple[Choice, WaitingState | None]]:
        """Yield the choices, and last a choice whose target is the state after a skipped row."""
        yield from folder.list_choices(waiting)
        yield ACCEPT, folder.find_state_after_skip(waiting)

    numbered = limit_choices(number_states(starts, list_choices), None)
    waiting_states, choices = zip(*numbered, strict=True)
    return Folding(
        choices=tuple(state_choices[:-1] for state_choices in choices),
        states=tuple(waiting.state for waiting in waiting_states),
        start_count=len(starts),
        waiting_states=tuple(state_choices[-1].target for state_choices in choices),
        ending_kinds=tuple(folder.find_ending_kind(waiting) for waiting in waiting_states),
        neighbour_windows=tuple(
            folder.find_neighbour_window(waiting) for waiting in waiting_states
        ),
    )


@dataclass(frozen=True, slots=True)
class _StageFolder:
    """A folder of one program of stages: it finds waiting states and their choices."""

    program: Program
    tests: ComposedTests
    # Whether the match has a window.
    has_window: bool
    # Tests that say that the row mapped last is too far away, the shortest window first.
    window_tests: tuple[VariableId, ...]

    def list_waiting_states(self, state: StateId) -> list[WaitingState]:
        """Return where a run may wait after a row has led to `state`.

        The final state is among them if the run may be a match.
        """
        reached: dict[tuple[StateId, TestIds, TestIds], None] = {}
        to_visit = [(state, TestIds(), TestIds())]
        while to_visit:
            item = to_visit.pop()
            visited, needs, forbids = item
            if visited == self.program.final:
                reached[visited, frozenset(), forbids & self.tests.direct] = None
                continue
            edges = self.program.states[visited].edges
            if any(edge.action is not Action.PROCEED for edge in edges):
                reached[item] = None
            for edge in reversed(edges):
                if edge.action is Action.PROCEED and edge.target != self.program.stop:
                    next_needs = needs.union(edge.needs)
                    next_forbids = forbids.union(edge.forbids)
                    to_visit.append((edge.target, next_needs, next_forbids))
        return [WaitingState(*item) for item in reached]

    def find_edges(self, waiting: WaitingState, action: Action) -> list[Edge]:
        """Return the edges of a waiting state with an action."""
        return [edge for edge in self.program.states[waiting.state].edges if edge.action is action]

    def find_reading_edges(self, waiting: WaitingState) -> tuple[Edge | None, Edge | None]:
        """Return the edge on which a run takes a row, and the one on which it skips a row."""
        takes = self.find_edges(waiting, Action.TAKE)
        ignores = self.find_edges(waiting, Action.IGNORE)
        take = takes[0] if takes else None
        ignore = ignores[-1] if ignores and not waiting.begins_runs else None
        return take, ignore

    def find_stopping_tests(self, waiting: WaitingState) -> set[VariableId]:
        """Return the tests of NOTs that stop a run in a waiting state."""
        return {
            test
            for edge in self.find_edges(waiting, Action.PROCEED)
            if edge.target == self.program.stop
            for test in edge.needs
        }

    def list_choices(self, waiting: WaitingState) -> Iterator[tuple[Choice, WaitingState | None]]:
        """Yield what a row does to a run, in the order in which it is tried, and where it leads."""
        if waiting.state == self.program.final:
            yield ACCEPT, None
            return
        for edge in self.find_edges(waiting, Action.IGNORE):  # completed by time
            for test in edge.needs:
                yield build_effect_choice(test, Effect.COMPLETE_RUN)
        ending_tests = self.find_ending_tests(waiting)
        window_tests = set(self.window_tests)
        for test in sorted(ending_tests & window_tests):
            yield build_effect_choice(test, Effect.TIME_OUT)
        for test in sorted(ending_tests - window_tests):
            yield build_effect_choice(test, Effect.END_RUN)
        for test in sorted(self.find_stopping_tests(waiting) - ending_tests):
            yield build_effect_choice(test, Effect.END_UNLESS_COMPLETED)
        take, ignore = self.find_reading_edges(waiting)
        if take is not None:
            yield from self.list_taking_choices(take, ignore, ending_tests)
            return
        assert ignore is not None
        if ignore.target == self.program.final:
            yield Choice(guard=0, variable=None, target=None, effect=Effect.COMPLETE_RUN), None

    def find_ending_tests(self, waiting: WaitingState) -> set[VariableId]:
        """Return the tests of rows that end a run, because no edge reads such a row."""
        forbidden = [
            set(edge.forbids) for edge in self.find_reading_edges(waiting) if edge is not None
        ]
        ending_tests = set.intersection(*forbidden) | waiting.forbids
        ending_tests |= self.find_stopping_tests(waiting) & self.tests.direct
        ending_tests |= {self.tests.complements[test] for test in waiting.needs}
        if waiting.begins_runs:
            # There is no row before that could be too far away.
            return ending_tests.difference(self.window_tests)
        return ending_tests

    def list_taking_choices(
        self, take: Edge, ignore: Edge | None, ending_tests: set[VariableId]
    ) -> Iterator[tuple[Choice, WaitingState | None]]:
        """Yield the choices that map a row, and the effects that rule out other choices.

        Args:
            take: the edge on which the row is mapped.
            ignore: the edge on which the row is skipped, if there is one.
            ending_tests: tests of rows that end the run.
        """
        (test,) = take.needs
        for without in set(take.forbids) - ending_tests - set(self.window_tests):  # at most one
            test = self.tests.without[test, without]
        blocking = set() if ignore is None else set(ignore.forbids) - ending_tests
        blocks = bool(blocking.intersection(take.needs))
        # Its target is set when states are numbered.
        mapped = Choice(guard=0, variable=take.variable, target=None, test=test, blocks=blocks)
        targets = self.list_waiting_states(take.target)
        for target in targets:
            if target.state != self.program.final:
                yield mapped, target
        for blocking_test in sorted(blocking - {test}):
            yield build_effect_choice(blocking_test, Effect.FORBID_SKIP)
        for target in targets:
            if target.state == self.program.final:
                for forbidden_test in sorted(target.forbids):
                    yield build_effect_choice(forbidden_test, Effect.IGNORE_LATER_CHOICES)
                yield mapped, WaitingState(target.state)

    def find_state_after_skip(self, waiting: WaitingState) -> WaitingState | None:
        """Return where a run waits after it skips a row; None if it may not skip."""
        _, ignore = self.find_reading_edges(waiting)
        if ignore is None or ignore.target == self.program.final:
            return None
        (target,) = self.list_waiting_states(ignore.target)
        return target

    def find_ending_kind(self, waiting: WaitingState) -> int:
        """Return what becomes of a run whose window or partition ends while it waits here.

        See the end of `program.py`.
        """
        if waiting.state in self.program.completed_by_time:
            return A_MATCH
        if waiting.state == self.program.final or waiting.begins_runs:
            return NOTHING
        neighbour_window = self.find_neighbour_window(waiting)
        if neighbour_window != NO_NEIGHBOUR_WINDOW:
            return FIRST_NEIGHBOUR_WINDOW + neighbour_window
        return TIMED_OUT if self.has_window else NOTHING

    def find_neighbour_window(self, waiting: WaitingState) -> int:
        """Return the number of the smallest window from the row mapped last that ends a run.

        NO_NEIGHBOUR_WINDOW if no such window ends it.
        """
        if waiting.state == self.program.final or waiting.begins_runs:
            return NO_NEIGHBOUR_WINDOW
        take, _ = self.find_reading_edges(waiting)
        tests = {test for edge in self.find_edges(waiting, Action.IGNORE) for test in edge.needs}
        if take is not None:
            tests.update(take.forbids)
        for number, test in enumerate(self.window_tests):
            if test in tests:
                return number
        return NO_NEIGHBOUR_WINDOW


def build_effect_choice(test: VariableId, effect: Effect) -> tuple[Choice, None]:
    """Return the choice of a row that satisfies a test and has an effect. It leads nowhere."""
    return Choice(guard=0, variable=None, target=None, test=test, effect=effect), None
