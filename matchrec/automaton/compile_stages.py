"""Compile stages to an NFA^b program of TAKE, IGNORE and PROCEED edges.

A run that has mapped a row is in a state. The next row follows the proceed edges whose formulas
hold for it, and then a take or ignore edge of a state that they lead to. For example, `a`, then a
row that is not a `c`, then `b`:

    a start
        take a -> c       if A
        ignore -> a       if not A
    c
        proceed -> b      if not C
        proceed -> stop   if C
    b
        take b -> end     if B
        ignore -> b       if not B

A state has a key: what follows it, and what the next row must not be. What holds only until the
next row is mapped, such as that no row may satisfy a NOT, is part of the key (`Constraints`). So a
state after a NOT is not the same as the state after a mapped row. The edges of a state follow from
its key. This is how each part is compiled; C is the condition of a stage:

    single stage        take if C; ignore if not C (relaxed) or always (any). If the state has
                        proceed edges, a run skips rows in a companion without them, so that it
                        follows each of them once.
    may be left         proceed to what follows
    loop with until U   take and ignore only if not U; waiting for the first row, U is ignored
    greedy              in what follows no edge if C; with until, lifted if U holds for the next row
    not_next N          proceed if not N; if N, to the stop state
    not_followed_by N   what follows, and the loop before: proceed if N, to the stop state
    group               a state between repetitions: proceed to its first stage, and to what follows

Source: Flink CEP, NFACompiler; where its results contradict its own definitions, the definitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from typing_extensions import assert_never

from matchrec.automaton.program import Action, Edge, Program, State, StateId
from matchrec.automaton.remaining_steps import (
    NO_CONSTRAINTS,
    Constraints,
    Nots,
    RemainingRepetitions,
    RemainingSteps,
    TestNames,
    find_following_nots,
    has_only_nots_left,
    name_part,
)
from matchrec.automaton.state_order import order_states, renumber_states
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.stages import Contiguity, RepeatedPart, SingleStage, Steps

# The most states of a program of stages.
MOST_STATES = 5_000


def compile_stages(steps: Steps, variables: tuple[str, ...]) -> Program:
    """Compile a pattern of stages to a program.

    Args:
        steps: the pattern.
        variables: names of stages and tests; the id of each is its index.

    Raises:
        MatchRecognizePlanError: repetitions make the program too large.
    """
    compiler = _StageCompiler({name: number for number, name in enumerate(variables)})
    all_steps = RemainingSteps(steps=steps, index=0, then=None)
    start = compiler.compile_remaining(all_steps, NO_CONSTRAINTS)
    compiler.fill_states()
    states = compiler.states
    final = compiler.FINAL
    stop = compiler.STOP
    order = order_states(states, start, (final, stop))
    if not any(edge.target == stop for state in order for edge in states[state].edges):
        del order[stop]
    return Program(
        states=renumber_states(states, order),
        start=order[start],
        final=order[final],
        variables=variables,
        names=number_names(tuple(compiler.names[old] for old in order)),
        stop=order.get(stop),
        completed_by_time=frozenset(
            order[state] for state in compiler.completed_by_time if state in order
        ),
    ).check()


# Keys of states. A state is made once for each key, from which its edges follow.


@dataclass(frozen=True, slots=True)
class _NotsKey:
    """The key of a state whose next row must not satisfy some NOTs."""

    nots: Nots
    constraints: Constraints
    # The state that follows, or the remaining steps.
    remaining: RemainingSteps | StateId


@dataclass(frozen=True, slots=True)
class _EndKey:
    """The key of a state in which a run waits for the end of the pattern."""

    # The NOTs that end the pattern.
    closing: Nots


@dataclass(frozen=True, slots=True)
class _RepetitionsKey:
    """The key of a state after some repetitions of a part."""

    repetitions: RemainingRepetitions
    constraints: Constraints
    # Whether it is the companion without proceed edges, in which a run waits that skips rows.
    is_companion: bool = False


_StateKey = _NotsKey | _EndKey | _RepetitionsKey


def name_state(key: _StateKey) -> str:
    """Return the name of the state with a key: the stage or the NOT that it waits for."""
    match key:
        case _NotsKey():
            return key.nots[0].name
        case _EndKey():
            return key.closing[-1].name
        case _RepetitionsKey():
            part = key.repetitions.part
            return f"({name_part(part)})" if isinstance(part.content, tuple) else name_part(part)
        case _:
            assert_never(key)


def constrain_repetition(
    repetitions: RemainingRepetitions, constraints: Constraints
) -> Constraints:
    """Return what holds until the next row if a part is repeated once more.

    Args:
        repetitions: the part and its repetitions so far.
        constraints: what holds in any case.
    """
    if repetitions.count == 0:
        return constraints
    nots = find_following_nots(repetitions.after_part)
    lasting_tests = (event.test for event in nots if not event.only_next)
    return constraints.add_excluded_tests(repetitions.part.gap_test).add_stopping_tests(
        *lasting_tests
    )


def constrain_group_body(
    repetitions: RemainingRepetitions, constraints: Constraints
) -> Constraints:
    """Return what holds until the next row inside one more repetition of a group, without a row."""
    if_repeated = constrain_repetition(repetitions, constraints)
    return replace(if_repeated, empty_groups=if_repeated.empty_groups + 1)


def find_next_row_nots(repetitions: RemainingRepetitions) -> Nots:
    """Return the NOTs after a part that only the next row must not satisfy, if it is repeated.

    There are none before the first repetition, or if the part may not be left yet.
    """
    if repetitions.count == 0 or not repetitions.may_leave:
        return ()
    nots = find_following_nots(repetitions.after_part)
    return tuple(event for event in nots if event.only_next)


@dataclass(slots=True)
class _StageCompiler:
    """A compiler of stages, which makes a state for each key."""

    # The id of each stage and test, by its name.
    test_ids: dict[str, int]
    states: list[State] = field(default_factory=lambda: [State(), State()])
    names: list[str] = field(default_factory=lambda: ["end", "stop"])
    # The state of each key for which one has been made.
    state_by_key: dict[_StateKey, StateId] = field(default_factory=dict)
    # States in which a run becomes a match when its window ends.
    completed_by_time: set[StateId] = field(default_factory=set)
    # The keys of states whose edges are still to be made. As each waits for its turn, the stack is
    # only as deep as groups are nested, however many stages there are.
    unfilled: list[_StateKey] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def get_state(self, key: _StateKey) -> StateId:
        """Return the state with a key; add it, without edges, if there is none yet.

        Raises:
            MatchRecognizePlanError: there are more than MOST_STATES.
        """
        if key not in self.state_by_key:
            if len(self.states) >= MOST_STATES:
                raise pattern_too_large(None, limit=MOST_STATES, what="states")
            self.state_by_key[key] = len(self.states)
            self.states.append(State())
            self.names.append(name_state(key))
            self.unfilled.append(key)
        return self.state_by_key[key]

    def fill_states(self) -> None:
        """Make the edges of all states. Edges may lead to new states, which get theirs as well."""
        while self.unfilled:
            key = self.unfilled.pop()
            self.states[self.state_by_key[key]] = State(tuple(self.build_edges(key)))

    def build_edges(self, key: _StateKey) -> Iterator[Edge]:
        """Return the edges of the state with a key, in preferment order."""
        match key:
            case _NotsKey():
                return self.build_not_edges(key)
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
        self, target: StateId, *, needs: TestNames = (), forbids: TestNames = ()
    ) -> Edge:
        """Return a proceed edge.

        Args:
            target: the state to which it leads.
            needs: the tests that the next row must satisfy.
            forbids: the tests that the next row must not satisfy.
        """
        return Edge(
            Action.PROCEED, target, needs=self.find_ids(needs), forbids=self.find_ids(forbids)
        )

    def build_stop_edges(self, tests: TestNames) -> Iterator[Edge]:
        """Yield an edge to the stop state for each test."""
        for test in tests:
            yield self.build_proceed_edge(self.STOP, needs=(test,))

    def compile_remaining(
        self, remaining: RemainingSteps | RemainingRepetitions | None, constraints: Constraints
    ) -> StateId:
        """Return the state of a run before `remaining`."""
        if remaining is None:
            return self.compile_end(constraints)
        if isinstance(remaining, RemainingRepetitions):
            # The repetition of a group is over, so the group is no longer around what follows.
            outside = replace(constraints, empty_groups=max(0, constraints.empty_groups - 1))
            if constraints.empty_groups > 0 and remaining.can_skip_empty_repetition:
                return self.compile_remaining(remaining.after_part, outside)
            return self.compile_part(remaining, outside)
        if remaining.index == len(remaining.steps):
            return self.compile_remaining(remaining.then, constraints)
        step = remaining.steps[remaining.index]
        if isinstance(step, RepeatedPart):
            return self.compile_part(
                RemainingRepetitions(step, 0, remaining), replace(constraints, pending_nots=())
            )
        closing = replace(constraints, pending_nots=(*constraints.pending_nots, step))
        if not step.only_next:
            return self.compile_remaining(
                remaining.skip_first(), closing.add_stopping_tests(step.test)
            )
        if has_only_nots_left(remaining.skip_first()):
            return self.compile_remaining(remaining.skip_first(), closing)
        return self.compile_nots((step,), closing, remaining)

    def compile_nots(
        self, nots: Nots, constraints: Constraints, remaining: RemainingSteps | StateId
    ) -> StateId:
        """Return the state whose next row must not satisfy some NOTs.

        Args:
            nots: the NOTs.
            constraints: what else holds until the next row is mapped.
            remaining: the state that follows, or the remaining steps, the first of them the NOT.
        """
        return self.get_state(_NotsKey(nots, constraints, remaining))

    def build_not_edges(self, key: _NotsKey) -> Iterator[Edge]:
        """Yield the edges of the state of `compile_nots`."""
        tests = tuple(event.test for event in key.nots)
        if isinstance(key.remaining, int):
            target = key.remaining
        else:
            target = self.compile_remaining(key.remaining.skip_first(), key.constraints)
        yield self.build_proceed_edge(target, forbids=tests)
        yield from self.build_stop_edges(tests)

    def compile_end(self, constraints: Constraints) -> StateId:
        """Return the final state, or the one before it if NOTs end the pattern."""
        closing = constraints.pending_nots
        if not closing:
            return self.FINAL
        state = self.get_state(_EndKey(closing))
        if closing[-1].only_next:
            return state
        self.completed_by_time.add(state)
        next_row_nots = tuple(event for event in closing if event.only_next)
        return self.compile_nots(next_row_nots, constraints, state) if next_row_nots else state

    def build_end_edges(self, key: _EndKey) -> Iterator[Edge]:
        """Yield the edges of a state in which a run waits for the end of the pattern.

        A NOT up to the end of the window has no edge to the stop state, because each prefix of a
        loop is judged by itself.
        """
        closing = key.closing
        if closing[-1].only_next:
            tests = tuple(event.test for event in closing)
            yield Edge(Action.IGNORE, self.FINAL, forbids=self.find_ids(tests))
            yield from self.build_stop_edges(tests)
            return
        distance_tests = tuple(
            event.distance_test for event in closing if event.distance_test is not None
        )
        for test in distance_tests:
            yield Edge(Action.IGNORE, self.FINAL, needs=self.find_ids((test,)))
        tests = (*(event.test for event in closing if not event.only_next), *distance_tests)
        yield Edge(Action.IGNORE, self.state_by_key[key], forbids=self.find_ids(tests))

    def compile_part(self, repetitions: RemainingRepetitions, constraints: Constraints) -> StateId:
        """Return the state of a run after some repetitions of a part."""
        part = repetitions.part
        if part.most is not None and repetitions.count >= part.most:
            return self.compile_exit(repetitions, constraints)
        if isinstance(part.content, tuple) and not repetitions.may_leave:
            # The group must be repeated, so its first stage is the state.
            return self.compile_group_body(repetitions, part.content, constraints)
        return self.get_state(_RepetitionsKey(repetitions, constraints))

    def build_stage_edges(self, key: _RepetitionsKey) -> Iterator[Edge]:
        """Yield the edges of a state after some repetitions of a single stage.

        A run that skips rows follows the proceed edges once. So it waits in a companion of the
        state, which has none.
        """
        repetitions = key.repetitions
        if_repeated = constrain_repetition(repetitions, key.constraints)
        if key.is_companion:
            yield from self.build_reading_edges(repetitions, if_repeated, key)
            return
        waiting_key = key
        if repetitions.may_leave and repetitions.contiguity is not Contiguity.STRICT:
            waiting_key = replace(key, is_companion=True)
        # These hold for the next row, but not for the rows after a skipped one.
        next_row_tests = (event.test for event in find_next_row_nots(repetitions))
        first_constraints = if_repeated.add_stopping_tests(*next_row_tests)
        yield from self.build_reading_edges(repetitions, first_constraints, waiting_key)
        if repetitions.may_leave:
            yield from self.build_exit_edges(repetitions, key.constraints)

    def build_reading_edges(
        self,
        repetitions: RemainingRepetitions,
        constraints: Constraints,
        waiting_key: _RepetitionsKey,
    ) -> Iterator[Edge]:
        """Yield the edges of a single stage that read a row, and those to the stop state.

        Args:
            repetitions: the stage and its repetitions so far.
            constraints: what holds until the next row is mapped.
            waiting_key: the key of the state in which a run waits that skips a row.
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
            needs=self.find_ids((content.test,)),
            forbids=self.find_ids((*until_tests, *excluded_tests)),
        )
        if repetitions.contiguity is not Contiguity.STRICT:
            takeable = (content.test,) if repetitions.contiguity is Contiguity.RELAXED else ()
            # While it waits for its first row, a loop ignores the event that would end it.
            ending = until_tests if repetitions.count > 0 else ()
            forbids = self.find_ids((*takeable, *ending, *excluded_tests))
            yield Edge(Action.IGNORE, self.get_state(waiting_key), forbids=forbids)
        yield from self.build_stop_edges(constraints.stopping_tests)

    def build_exit_edges(
        self, repetitions: RemainingRepetitions, constraints: Constraints
    ) -> Iterator[Edge]:
        """Yield the edges on which a part is left."""
        part = repetitions.part
        exit_state = self.compile_exit(repetitions, constraints)
        if part.greedy and part.has_choice and part.until is not None:
            # The event that ends a greedy loop may be read by what follows, whatever it satisfies.
            until = (part.until.test,)
            following_steps = repetitions.after_part
            unrestricted_exit = self.compile_remaining(following_steps, constraints)
            yield self.build_proceed_edge(unrestricted_exit, needs=until)
            yield self.build_proceed_edge(exit_state, forbids=until)
        else:
            yield self.build_proceed_edge(exit_state)

    def compile_exit(self, repetitions: RemainingRepetitions, constraints: Constraints) -> StateId:
        """Return the state after a part.

        After a greedy stage, no edge may read a row that the stage would have taken.
        """
        part = repetitions.part
        if part.greedy and part.has_choice and isinstance(part.content, SingleStage):
            constraints = constraints.add_excluded_tests(part.content.test)
        return self.compile_remaining(repetitions.after_part, constraints)

    def build_group_edges(self, key: _RepetitionsKey) -> Iterator[Edge]:
        """Yield the edges of a state between two repetitions of a group that may be left."""
        repetitions = key.repetitions
        assert isinstance(repetitions.part.content, tuple)
        first_state = self.compile_group_body(
            repetitions, repetitions.part.content, key.constraints
        )
        next_row_nots = find_next_row_nots(repetitions)
        if next_row_nots:
            inside = constrain_group_body(repetitions, key.constraints)
            first_state = self.compile_nots(next_row_nots, inside, first_state)
        yield self.build_proceed_edge(first_state)
        yield from self.build_exit_edges(repetitions, key.constraints)

    def compile_group_body(
        self, repetitions: RemainingRepetitions, steps: Steps, constraints: Constraints
    ) -> StateId:
        """Return the state before the first step of one more repetition of a group.

        Args:
            repetitions: the group and its repetitions so far.
            steps: the steps of the group.
            constraints: what holds until the next row if the group is left.
        """
        part = repetitions.part
        outer_until = repetitions.part_and_rest.until_tests
        body = RemainingSteps(
            steps=steps,
            index=0,
            then=repetitions.repeat_once(),
            until_tests=outer_until if part.until is None else (*outer_until, part.until.test),
            first_contiguity=repetitions.contiguity,
        )
        return self.compile_remaining(body, constrain_group_body(repetitions, constraints))


def number_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Make names unique by numbering those that occurred before.

    >>> number_names(("A", "B", "A", "A"))
    ('A', 'B', 'A:0', 'A:1')
    """
    occurrences: Counter[str] = Counter()
    unique_names = []
    for name in names:
        unique_names.append(f"{name}:{occurrences[name] - 1}" if occurrences[name] else name)
        occurrences[name] += 1
    return tuple(unique_names)
