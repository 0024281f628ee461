"""Compile stages to an NFA^b program of TAKE, IGNORE and PROCEED edges.

A run that has mapped a row is in a state. It reads the next row by following proceed edges whose
tests the row satisfies, and then a take or ignore edge of the state in which it has arrived. In the
examples, a, b and c are states; A, B, C, N and U are tests. This program matches `a`, then a row
that is not a `c`, then `b`:

    a start
        take a -> c       if A
        ignore -> a       if not A
    c
        proceed -> b      if not C
        proceed -> stop   if C
    b
        take b -> end     if B
        ignore -> b       if not B

Two runs are in the same state if they have the same remaining steps (`RemainingSteps`,
`RemainingRepetitions`) and the same constraints on the next rows (`Constraints`). Constraints are
dropped when a row is mapped. Remaining steps and constraints are the key of the state, and its
edges follow from the key. Here is how each part is compiled.

A single stage takes a row that satisfies its test. With relaxed contiguity, it ignores the other
rows. With `followed_by_any`, it may ignore every row.

    b
        take b -> end     if B
        ignore -> b       if not B

A loop such as `a+ b` has proceed edges to the steps after it. A run must not follow these edges
again after it has skipped a row. So each such state has a *companion*: a copy without proceed
edges, which a run enters when it skips a row. `a:0` is the state after the first `a`, and `a:1` is
its companion:

    a:0
        take a -> a:0     if A
        ignore -> a:1     if not A
        proceed -> b
    a:1
        take a -> a:0     if A
        ignore -> a:1     if not A

A loop with `until(U)` neither takes nor ignores a row that satisfies U. Before its first row, it
does not take such a row, but may ignore it.

    a:0
        take a -> a:0     if A and not U
        ignore -> a:1     if not A and not U
        proceed -> b

After a greedy loop, the next step neither takes nor ignores a row that the loop would have taken.
After `a+` it is this state:

    b
        take b -> end     if B and not A
        ignore -> b       if not B and not A

A greedy loop with `until(U)` has two states `b` after it, because the row that ends the loop may be
any row of the next step. `b` has no constraint, and `b:0` is the state above:

    a:0
        proceed -> b      if U
        proceed -> b:0    if not U

`not_next(n)` is a state before the next step. A row that satisfies N leads to the stop state.

    n
        proceed -> b      if not N
        proceed -> stop   if N

`not_followed_by(n)` adds an edge to the stop state to the next step, and to a loop before it.

    b
        take b -> end     if B
        ignore -> b       if not B
        proceed -> stop   if N

A group has a state between two repetitions, with edges to its first stage and to the steps after
it. This is the loop of `a b`, then `c`:

    (a b)
        proceed -> a
        proceed -> c

Source: Flink CEP, NFACompiler. If Flink's behaviour contradicts its documentation, we follow the
documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from matchrec.automaton.program import (
    Action,
    Edge,
    Program,
    State,
    StateId,
    order_states,
    renumber_states,
)
from matchrec.automaton.remaining_steps import (
    NO_CONSTRAINTS,
    Constraints,
    Nots,
    RemainingRepetitions,
    RemainingSteps,
    TestNames,
    find_nots_after_part,
    has_only_nots_left,
    name_part,
)
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.stages import Contiguity, ForbiddenEvent, SingleStage, Steps

# The most states of a program of stages.
MAX_STATES = 5_000

# The states in which a run is a match and in which it has failed.
FINAL = 0
STOP = 1


def compile_stages(steps: Steps, variables: tuple[str, ...]) -> Program:
    """Compile a pattern of stages to a program.

    Args:
        steps: the steps of the whole pattern.
        variables: names of stages and tests; the id of each is its index.

    Raises:
        MatchRecognizePlanError: repetitions make the program too large.
    """
    compiler = _StageCompiler({name: number for number, name in enumerate(variables)})
    all_steps = RemainingSteps(steps=steps, index=0, rest_after_steps=None)
    start = compiler.compile_rest(all_steps, NO_CONSTRAINTS)
    compiler.fill_states()
    states = compiler.states
    order = order_states(states, start, (FINAL, STOP))
    if not any(edge.target == STOP for state in order for edge in states[state].edges):
        del order[STOP]
    return Program(
        states=renumber_states(states, order),
        start=order[start],
        final=order[FINAL],
        variables=variables,
        names=number_names([compiler.names[state] for state in order]),
        stop=order.get(STOP),
        completed_by_time=frozenset(
            order[state] for state in compiler.completed_by_time if state in order
        ),
    ).check()


# Keys of states. A state is made once for each key, from which its edges follow.


@dataclass(frozen=True, slots=True)
class _NotKey:
    """The key of a state before the row that must not satisfy a `not_next`."""

    # The NOT, then the steps after it.
    not_and_rest: RemainingSteps
    # The constraints on the row, apart from the NOT.
    constraints: Constraints

    @property
    def event(self) -> ForbiddenEvent:
        """Return the NOT."""
        step = self.not_and_rest.steps[self.not_and_rest.index]
        assert isinstance(step, ForbiddenEvent)
        return step


@dataclass(frozen=True, slots=True)
class _NotsBeforeStateKey:
    """The key of a state that leads to `target` if the next row does not satisfy some NOTs."""

    nots: Nots
    # Part of the key only: the edges depend on the NOTs and the target.
    constraints: Constraints
    target: StateId


@dataclass(frozen=True, slots=True)
class _EndKey:
    """The key of a state in which a run waits for the end of the pattern."""

    # The NOTs at the end of the pattern, one or more.
    closing_nots: Nots


@dataclass(frozen=True, slots=True)
class _RepetitionsKey:
    """The key of a state after some repetitions of a part."""

    repetitions: RemainingRepetitions
    constraints: Constraints
    # Whether the state is the companion of the state after these repetitions: the copy without
    # proceed edges, which a run enters when it skips a row.
    is_companion: bool = False


_StateKey = _NotKey | _NotsBeforeStateKey | _EndKey | _RepetitionsKey


def name_state(key: _StateKey) -> str:
    """Return the name of the state with a key: the stage or the NOT for which a run waits."""
    match key:
        case _NotKey():
            return key.event.name
        case _NotsBeforeStateKey():
            return key.nots[0].name
        case _EndKey():
            return key.closing_nots[-1].name
        case _RepetitionsKey():
            part = key.repetitions.part
            return f"({name_part(part)})" if isinstance(part.content, tuple) else name_part(part)
        case _:
            assert_never(key)


def constrain_repetition(
    repetitions: RemainingRepetitions, constraints: Constraints
) -> Constraints:
    """Return the constraints on rows before the next repetition of a part.

    Args:
        repetitions: the part and its repetitions so far.
        constraints: the constraints that apply whether the part is repeated or left.
    """
    if repetitions.count == 0:
        return constraints
    nots = find_nots_after_part(repetitions.rest_after_part)
    tests_until_mapped = (event.test for event in nots if not event.forbids_only_next)
    return constraints.add_excluded_tests(repetitions.part.gap_test).add_stopping_tests(
        *tests_until_mapped
    )


def constrain_group_body(
    repetitions: RemainingRepetitions, constraints: Constraints
) -> Constraints:
    """Return the constraints at the start of a group's repetition, before its first row."""
    repetition_constraints = constrain_repetition(repetitions, constraints)
    return replace(repetition_constraints, empty_groups=repetition_constraints.empty_groups + 1)


def find_next_row_nots(repetitions: RemainingRepetitions) -> Nots:
    """Return the `not_next` steps after a part, which also apply to its next repetition.

    They apply to the first row of the repetition. None apply before the first repetition, or if the
    part cannot be left yet.
    """
    if repetitions.count == 0 or not repetitions.can_leave:
        return ()
    nots = find_nots_after_part(repetitions.rest_after_part)
    return tuple(event for event in nots if event.forbids_only_next)


@dataclass(slots=True)
class _StageCompiler:
    """A compiler of stages, which makes a state for each key."""

    # The id of each stage and test, by its name.
    test_ids: dict[str, int]
    # The states so far and their names. FINAL and STOP come first, and have no edges.
    states: list[State] = field(default_factory=lambda: [State(), State()])
    names: list[str] = field(default_factory=lambda: ["end", "stop"])
    # The state that has been made for each key.
    state_by_key: dict[_StateKey, StateId] = field(default_factory=dict)
    # States in which a run becomes a match when its window ends.
    completed_by_time: set[StateId] = field(default_factory=set)
    # The keys of states that have no edges yet. `fill_states` builds their edges one after the
    # other. So the depth of recursion is bounded by the nesting of groups, not by the steps.
    unfilled_keys: list[_StateKey] = field(default_factory=list)

    def get_state(self, key: _StateKey) -> StateId:
        """Return the state with a key; add a state without edges if the key is new.

        Raises:
            MatchRecognizePlanError: there are more than MAX_STATES states.
        """
        if key not in self.state_by_key:
            if len(self.states) >= MAX_STATES:
                raise pattern_too_large(span=None, limit=MAX_STATES, what="states")
            self.state_by_key[key] = len(self.states)
            self.states.append(State())
            self.names.append(name_state(key))
            self.unfilled_keys.append(key)
        return self.state_by_key[key]

    def fill_states(self) -> None:
        """Give all states their edges, including the new states to which edges lead."""
        while self.unfilled_keys:
            key = self.unfilled_keys.pop()
            self.states[self.state_by_key[key]] = State(tuple(self.build_edges(key)))

    def build_edges(self, key: _StateKey) -> Iterator[Edge]:
        """Yield the edges of the state with a key, in preferment order."""
        match key:
            case _NotKey():
                target = self.compile_rest(key.not_and_rest.skip_first(), key.constraints)
                return self.build_not_edges((key.event,), target)
            case _NotsBeforeStateKey():
                return self.build_not_edges(key.nots, key.target)
            case _EndKey():
                return self.build_end_edges(key)
            case _RepetitionsKey():
                if isinstance(key.repetitions.part.content, tuple):
                    return self.build_group_edges(key)
                return self.build_stage_edges(key)
            case _:
                assert_never(key)

    def find_ids(self, tests: TestNames) -> tuple[int, ...]:
        """Return the ids of tests, each once."""
        return tuple(self.test_ids[test] for test in dict.fromkeys(tests))

    def build_proceed_edge(
        self, target: StateId, *, required: TestNames = (), forbidden: TestNames = ()
    ) -> Edge:
        """Return a proceed edge.

        Args:
            target: the state to which the edge leads.
            required: the tests that the next row must satisfy.
            forbidden: the tests that the next row must not satisfy.
        """
        return Edge(
            Action.PROCEED,
            target,
            required_variables=self.find_ids(required),
            forbidden_variables=self.find_ids(forbidden),
        )

    def build_stop_edges(self, tests: TestNames) -> Iterator[Edge]:
        """Yield an edge to the stop state for each test."""
        for test in tests:
            yield self.build_proceed_edge(STOP, required=(test,))

    def compile_rest(
        self, rest: RemainingSteps | RemainingRepetitions | None, constraints: Constraints
    ) -> StateId:
        """Return the state of a run before the rest of the pattern.

        Args:
            rest: the rest of the pattern; None if no step remains.
            constraints: the constraints on the next rows.
        """
        if rest is None:
            return self.compile_end(constraints)
        if isinstance(rest, RemainingRepetitions):
            return self.compile_after_repetition(rest, constraints)
        if rest.index == len(rest.steps):
            return self.compile_rest(rest.rest_after_steps, constraints)
        step = rest.steps[rest.index]
        if isinstance(step, ForbiddenEvent):
            return self.compile_not(step, rest, constraints)
        # NOTs before a part do not end the pattern.
        part_constraints = replace(constraints, pending_nots=())
        return self.compile_part(RemainingRepetitions(step, 0, rest), part_constraints)

    def compile_after_repetition(
        self, repetitions: RemainingRepetitions, constraints: Constraints
    ) -> StateId:
        """Return the state of a run after the last step of a group's repetition.

        If a repetition without rows led back to the state before it, proceed edges would make a
        cycle, for example in `(a? b?)+`. So the run leaves the group after such a repetition.

        Args:
            repetitions: the group, and its repetitions including this one.
            constraints: the constraints inside the group.
        """
        is_empty_repetition = constraints.empty_groups > 0
        # The run is outside of the group now, which therefore no longer counts in `empty_groups`.
        # The number may be 0, because mapping a row sets it to 0.
        empty_groups = max(0, constraints.empty_groups - 1)
        constraints_outside = replace(constraints, empty_groups=empty_groups)
        if is_empty_repetition and repetitions.can_skip_empty_repetition:
            return self.compile_rest(repetitions.rest_after_part, constraints_outside)
        return self.compile_part(repetitions, constraints_outside)

    def compile_not(
        self, event: ForbiddenEvent, not_and_rest: RemainingSteps, constraints: Constraints
    ) -> StateId:
        """Return the state of a run before a NOT.

        `not_followed_by` needs no state: it is a constraint on the steps after it. `not_next` needs
        a state before the steps after it, except at the end of the pattern, where the state of
        `compile_end` tests the next row.

        Args:
            event: the NOT, which says whether it is `not_next`.
            not_and_rest: the NOT, then the steps after it.
            constraints: the constraints on the next rows without the NOT.
        """
        rest_after_not = not_and_rest.skip_first()
        constraints_with_not = replace(constraints, pending_nots=(*constraints.pending_nots, event))
        if not event.forbids_only_next:
            return self.compile_rest(
                rest_after_not, constraints_with_not.add_stopping_tests(event.test)
            )
        if has_only_nots_left(rest_after_not):
            return self.compile_rest(rest_after_not, constraints_with_not)
        return self.get_state(_NotKey(not_and_rest, constraints_with_not))

    def build_not_edges(self, nots: Nots, target: StateId) -> Iterator[Edge]:
        """Yield the edges of a state that leads to `target` unless the next row satisfies a NOT."""
        tests = tuple(event.test for event in nots)
        yield self.build_proceed_edge(target, forbidden=tests)
        yield from self.build_stop_edges(tests)

    def compile_end(self, constraints: Constraints) -> StateId:
        """Return the final state, or a state before the final state if NOTs end the pattern."""
        closing_nots = constraints.pending_nots
        if not closing_nots:
            return FINAL
        state = self.get_state(_EndKey(closing_nots))
        if closing_nots[-1].forbids_only_next:
            return state
        self.completed_by_time.add(state)
        next_row_nots = tuple(event for event in closing_nots if event.forbids_only_next)
        if not next_row_nots:
            return state
        return self.get_state(_NotsBeforeStateKey(next_row_nots, constraints, state))

    def build_end_edges(self, key: _EndKey) -> Iterator[Edge]:
        """Yield the edges of a state in which a run waits for the end of the pattern.

        A NOT up to the end of the window has no edge to the stop state, because such an edge would
        stop the whole run. For example, `a+ not_followed_by(n)`:

        - The rows a1 a2 n complete no match: a run that has left the loop after a1 or a2 ends at n,
          because no edge of this state ignores n.
        - In a1 n a2, the run may also wait for a2 in the loop, so n must not stop it: a1 n a2 is a
          match if no n follows a2.
        """
        closing_nots = key.closing_nots
        if closing_nots[-1].forbids_only_next:
            tests = tuple(event.test for event in closing_nots)
            yield Edge(Action.IGNORE, FINAL, forbidden_variables=self.find_ids(tests))
            yield from self.build_stop_edges(tests)
            return
        distance_tests = tuple(
            event.distance_test for event in closing_nots if event.distance_test is not None
        )
        for test in distance_tests:
            yield Edge(Action.IGNORE, FINAL, required_variables=self.find_ids((test,)))
        tests = (
            *(event.test for event in closing_nots if not event.forbids_only_next),
            *distance_tests,
        )
        yield Edge(Action.IGNORE, self.state_by_key[key], forbidden_variables=self.find_ids(tests))

    def compile_part(self, repetitions: RemainingRepetitions, constraints: Constraints) -> StateId:
        """Return the state of a run after some repetitions of a part."""
        part = repetitions.part
        if part.most is not None and repetitions.count >= part.most:
            return self.compile_exit(repetitions, constraints)
        if isinstance(part.content, tuple) and not repetitions.can_leave:
            # The group must be repeated, so the run waits for its first stage.
            return self.compile_group_body(repetitions, part.content, constraints)
        return self.get_state(_RepetitionsKey(repetitions, constraints))

    def build_stage_edges(self, key: _RepetitionsKey) -> Iterator[Edge]:
        """Yield the edges of a state after some repetitions of a single stage.

        If the state has proceed edges, a run that skips a row enters its companion.
        """
        repetitions = key.repetitions
        repetition_constraints = constrain_repetition(repetitions, key.constraints)
        if key.is_companion:
            yield from self.build_reading_edges(repetitions, repetition_constraints, key)
            return
        waiting_key = key
        if repetitions.can_leave and repetitions.contiguity is not Contiguity.STRICT:
            waiting_key = replace(key, is_companion=True)
        # `not_next` applies to the next row, but not to the rows after a skipped one.
        next_row_tests = (event.test for event in find_next_row_nots(repetitions))
        next_row_constraints = repetition_constraints.add_stopping_tests(*next_row_tests)
        yield from self.build_reading_edges(repetitions, next_row_constraints, waiting_key)
        if repetitions.can_leave:
            yield from self.build_exit_edges(repetitions, key.constraints)

    def build_reading_edges(
        self,
        repetitions: RemainingRepetitions,
        constraints: Constraints,
        waiting_key: _RepetitionsKey,
    ) -> Iterator[Edge]:
        """Yield the edges of a single stage that read a row, and its edges to the stop state.

        Args:
            repetitions: the stage and its repetitions so far.
            constraints: the constraints on the row.
            waiting_key: the key of the state that a run enters when it skips a row.
        """
        part = repetitions.part
        content = part.content
        assert isinstance(content, SingleStage)
        distance_tests = () if part.distance_test is None else (part.distance_test,)
        excluded_tests = (
            *repetitions.part_and_rest.until_tests,
            *constraints.excluded_tests,
            *distance_tests,
        )
        until_tests = () if part.until is None else (part.until.test,)
        target = self.compile_part(repetitions.repeat_once(), NO_CONSTRAINTS)
        yield Edge(
            Action.TAKE,
            target,
            variable=self.test_ids[content.name],
            required_variables=self.find_ids((content.test,)),
            forbidden_variables=self.find_ids((*until_tests, *excluded_tests)),
        )
        if repetitions.contiguity is not Contiguity.STRICT:
            tests_of_stage = (content.test,) if repetitions.contiguity is Contiguity.RELAXED else ()
            # Before its first row, a loop may ignore the event that would end it later.
            until_tests_in_loop = until_tests if repetitions.count > 0 else ()
            unskippable_tests = (*tests_of_stage, *until_tests_in_loop, *excluded_tests)
            yield Edge(
                Action.IGNORE,
                self.get_state(waiting_key),
                forbidden_variables=self.find_ids(unskippable_tests),
            )
        yield from self.build_stop_edges(constraints.stopping_tests)

    def build_exit_edges(
        self, repetitions: RemainingRepetitions, constraints: Constraints
    ) -> Iterator[Edge]:
        """Yield the edges on which a run leaves a part."""
        part = repetitions.part
        exit_state = self.compile_exit(repetitions, constraints)
        if part.is_greedy and part.has_choice and part.until is not None:
            # The steps after a greedy loop may take the event that ends it, even if the loop would
            # have taken it.
            until_tests = (part.until.test,)
            unrestricted_exit = self.compile_rest(repetitions.rest_after_part, constraints)
            yield self.build_proceed_edge(unrestricted_exit, required=until_tests)
            yield self.build_proceed_edge(exit_state, forbidden=until_tests)
        else:
            yield self.build_proceed_edge(exit_state)

    def compile_exit(self, repetitions: RemainingRepetitions, constraints: Constraints) -> StateId:
        """Return the state after a part.

        After a greedy stage, no edge may read a row that the stage would have taken.
        """
        part = repetitions.part
        if part.is_greedy and part.has_choice and isinstance(part.content, SingleStage):
            constraints = constraints.add_excluded_tests(part.content.test)
        return self.compile_rest(repetitions.rest_after_part, constraints)

    def build_group_edges(self, key: _RepetitionsKey) -> Iterator[Edge]:
        """Yield the edges of a state between two repetitions of a group that may be left."""
        repetitions = key.repetitions
        assert isinstance(repetitions.part.content, tuple)
        first_state = self.compile_group_body(
            repetitions, repetitions.part.content, key.constraints
        )
        next_row_nots = find_next_row_nots(repetitions)
        if next_row_nots:
            constraints_inside = constrain_group_body(repetitions, key.constraints)
            first_state = self.get_state(
                _NotsBeforeStateKey(next_row_nots, constraints_inside, first_state)
            )
        yield self.build_proceed_edge(first_state)
        yield from self.build_exit_edges(repetitions, key.constraints)

    def compile_group_body(
        self, repetitions: RemainingRepetitions, steps: Steps, constraints: Constraints
    ) -> StateId:
        """Return the state before the first step of one more repetition of a group.

        Args:
            repetitions: the group and its repetitions so far.
            steps: the steps of the group.
            constraints: the constraints that apply whether the group is repeated or left.
        """
        part = repetitions.part
        until_tests = repetitions.part_and_rest.until_tests
        if part.until is not None:
            until_tests = (*until_tests, part.until.test)
        body = RemainingSteps(
            steps=steps,
            index=0,
            rest_after_steps=repetitions.repeat_once(),
            until_tests=until_tests,
            first_contiguity=repetitions.contiguity,
        )
        return self.compile_rest(body, constrain_group_body(repetitions, constraints))


def number_names(names: Iterable[str]) -> tuple[str, ...]:
    """Make names unique: append a number to each name that occurred before. "A:0" is the second A.

    >>> number_names(("A", "B", "A", "A"))
    ('A', 'B', 'A:0', 'A:1')
    """
    counts_so_far: Counter[str] = Counter()
    unique_names = []
    for name in names:
        count = counts_so_far[name]
        unique_names.append(name if count == 0 else f"{name}:{count - 1}")
        counts_so_far[name] += 1
    return tuple(unique_names)
