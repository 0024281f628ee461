"""Compile stages to an NFA^b program of TAKE, IGNORE and PROCEED edges, back to front.

A run that has mapped a row is in a state. The next row follows the proceed edges whose formulas
hold for it, and then a take or ignore edge of a state that they lead to. What holds only until the
next row is mapped, such as that no row may satisfy a NOT, is part of the key of a state
(`Constraints`). So a state after a NOT is not the same as the state after a mapped row.

    single stage        take if C; ignore if not C (relaxed) or always (any), in a companion without
                        proceed edges where there are some, so that each is followed once
    may be left         proceed to what follows
    loop with until U   take and ignore only if not U; waiting for the first row, U is ignored
    greedy              what follows: no edge if C; with until, lifted if U holds for the next row
    not_next N          proceed if not N; if N, to the stop state
    not_followed_by N   what follows, and the loop before: proceed if N, to the stop state
    group               a state between repetitions: proceed to its first stage, and to what follows

Source: Flink CEP, NFACompiler; where its results contradict its own definitions, the definitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from matchrec.automaton.program import Action, Edge, Program, State, StateId
from matchrec.automaton.state_order import order_states, renumber_states
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.stages import Contiguity, ForbiddenEvent, RepeatedPart, SingleStage, Steps

# What is left of a pattern of stages while it is compiled, and what holds until the next row.
#
# The key of a state is what follows it (`RemainingSteps`, `Repetitions`) and what the next row must
# not be (`Constraints`).

StageNames = tuple[str, ...]
Nots = tuple[ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Constraints:
    """The tests that the next rows must not satisfy, until one of them is mapped."""

    # A row that satisfies one of these tests stops the run.
    stopping_tests: StageNames = ()
    # No edge may read a row that satisfies one of these tests.
    unread_tests: StageNames = ()
    # The NOTs since the last part. If nothing follows, they end the pattern.
    pending_nots: Nots = ()
    # Number of enclosing groups, counted from the innermost, whose repetition has no row yet.
    empty_groups: int = 0

    def add_stopping_tests(self, *tests: str) -> Constraints:
        """Add tests to `stopping_tests`, each once."""
        return replace(self, stopping_tests=tuple(dict.fromkeys((*self.stopping_tests, *tests))))

    def add_unread_tests(self, *tests: str | None) -> Constraints:
        """Add tests to `unread_tests`, each once. None is ignored."""
        unread_tests = (test for test in (*self.unread_tests, *tests) if test is not None)
        return replace(self, unread_tests=tuple(dict.fromkeys(unread_tests)))


NO_CONSTRAINTS = Constraints()


@dataclass(frozen=True, slots=True)
class RemainingSteps:
    """The part of a pattern that follows: some steps from an index on, and what follows them.

    The hash does not visit the steps, because many of these share them.
    """

    steps: tuple[RepeatedPart | ForbiddenEvent, ...]
    # The index of the first step.
    index: int
    # What follows the steps; None is the end of the pattern.
    then: RemainingSteps | Repetitions | None
    # Tests of the enclosing groups' loops that end them. None of the steps may read their rows.
    until: StageNames = ()
    # The contiguity of the first step if an enclosing group decides it.
    first_contiguity: Contiguity | None = None

    def skip_first(self) -> RemainingSteps:
        """Return what follows the first step."""
        return replace(self, index=self.index + 1, first_contiguity=None)

    def __hash__(self) -> int:
        return hash((self.index, self.then, self.until, self.first_contiguity))


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The part of a pattern that follows some repetitions of a part."""

    part: RepeatedPart
    # Number of repetitions so far.
    count: int
    # The remaining steps; the first one is the part.
    remaining: RemainingSteps

    def repeat_once(self) -> Repetitions:
        """Return what follows one more repetition."""
        count = self.count + 1
        if self.part.most is None:
            # Beyond the least number of an unbounded loop, the count makes no difference.
            count = min(count, self.part.least)
        return replace(self, count=count)

    @property
    def may_leave(self) -> bool:
        """Return whether the part may be left after these repetitions."""
        return self.count >= self.part.least or (self.count == 0 and self.part.optional)

    @property
    def is_enough(self) -> bool:
        """Return whether a group need not be repeated if its last repetition had no rows."""
        return self.count >= (self.part.least if self.part.most is None else self.part.most)

    @property
    def contiguity(self) -> Contiguity:
        """Return which rows may be skipped before the next repetition."""
        if self.count > 0:
            return self.part.inner
        return self.remaining.first_contiguity or self.part.contiguity


def find_following_nots(remaining: RemainingSteps | Repetitions | None) -> Nots:
    """Return the NOTs directly after a part, which hold between its repetitions, too.

    NOTs that wait for the end of the window are left out: they judge each prefix of a loop by
    itself.
    """
    if remaining is None:
        return ()
    if isinstance(remaining, Repetitions):
        return find_following_nots(remaining.remaining.skip_first())
    if remaining.index == len(remaining.steps):
        return find_following_nots(remaining.then)
    leading = takewhile(
        lambda step: isinstance(step, ForbiddenEvent), remaining.steps[remaining.index :]
    )
    nots = tuple(step for step in leading if isinstance(step, ForbiddenEvent))
    ends_pattern = remaining.then is None and remaining.index + len(nots) == len(remaining.steps)
    if ends_pattern and nots and not nots[-1].only_next:
        return tuple(event for event in nots if event.only_next)
    return nots


def is_over(remaining: RemainingSteps) -> bool:
    """Return whether only NOTs follow until the end of the pattern."""
    only_nots = all(isinstance(step, ForbiddenEvent) for step in remaining.steps[remaining.index :])
    return only_nots and remaining.then is None


def name_part(part: RepeatedPart) -> str:
    """Return the names of the stages of a part, separated by spaces."""
    if isinstance(part.content, SingleStage):
        return part.content.name
    return " ".join(name_part(step) for step in part.content if isinstance(step, RepeatedPart))


# The most states of a program of stages.
MOST_STATES = 5_000


def compile_stages(steps: Steps, variables: StageNames) -> Program:
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
    while compiler.unfilled:  # making edges may add states
        state, edges = compiler.unfilled.pop()
        compiler.states[state] = State(tuple(edges))
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


# Keys of states. A state is made once for each key.


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

    repetitions: Repetitions
    constraints: Constraints
    # Whether it is the companion without proceed edges, in which a run waits that skips rows.
    is_companion: bool = False


_StateKey = _NotsKey | _EndKey | _RepetitionsKey


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
    # States whose edges are still to be made. As each waits for its turn, the stack is only as deep
    # as groups are nested, however many stages there are.
    unfilled: list[tuple[StateId, Iterator[Edge]]] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def get_state(self, key: _StateKey, name: str, edges: Iterator[Edge]) -> StateId:
        """Return the state with a key; make it if there is none yet.

        Args:
            key: identifies the state: what follows it, and what must hold for the next row.
            name: its name.
            edges: its edges, read later.

        Raises:
            MatchRecognizePlanError: there are more than MOST_STATES.
        """
        if key not in self.state_by_key:
            if len(self.states) >= MOST_STATES:
                raise pattern_too_large(None, limit=MOST_STATES, what="states")
            self.state_by_key[key] = len(self.states)
            self.states.append(State())
            self.names.append(name)
            self.unfilled.append((self.state_by_key[key], edges))
        return self.state_by_key[key]

    def find_ids(self, tests: StageNames) -> tuple[int, ...]:
        """Return the ids of tests, each once."""
        return tuple(self.test_ids[test] for test in dict.fromkeys(tests))

    def build_proceed_edge(
        self, target: StateId, *, needs: StageNames = (), forbids: StageNames = ()
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

    def build_stop_edges(self, tests: StageNames) -> Iterator[Edge]:
        """Yield an edge to the stop state for each test."""
        for test in tests:
            yield self.build_proceed_edge(self.STOP, needs=(test,))

    def compile_remaining(
        self, remaining: RemainingSteps | Repetitions | None, constraints: Constraints
    ) -> StateId:
        """Return the state of a run before `remaining`."""
        if remaining is None:
            return self.compile_end(constraints)
        if isinstance(remaining, Repetitions):
            # The repetition of a group is over, so the group is no longer around what follows.
            outside = replace(constraints, empty_groups=max(0, constraints.empty_groups - 1))
            if constraints.empty_groups > 0 and remaining.is_enough:
                return self.compile_remaining(remaining.remaining.skip_first(), outside)
            return self.compile_part(remaining, outside)
        if remaining.index == len(remaining.steps):
            return self.compile_remaining(remaining.then, constraints)
        step = remaining.steps[remaining.index]
        if isinstance(step, RepeatedPart):
            return self.compile_part(
                Repetitions(step, 0, remaining), replace(constraints, pending_nots=())
            )
        closing = replace(constraints, pending_nots=(*constraints.pending_nots, step))
        if not step.only_next:
            return self.compile_remaining(
                remaining.skip_first(), closing.add_stopping_tests(step.test)
            )
        if is_over(remaining.skip_first()):
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
        edges = self.build_not_edges(nots, constraints, remaining)
        return self.get_state(_NotsKey(nots, constraints, remaining), nots[0].name, edges)

    def build_not_edges(
        self, nots: Nots, constraints: Constraints, remaining: RemainingSteps | StateId
    ) -> Iterator[Edge]:
        """Yield the edges of the state of `compile_nots`."""
        tests = tuple(event.test for event in nots)
        if isinstance(remaining, int):
            target = remaining
        else:
            target = self.compile_remaining(remaining.skip_first(), constraints)
        yield self.build_proceed_edge(target, forbids=tests)
        yield from self.build_stop_edges(tests)

    def compile_end(self, constraints: Constraints) -> StateId:
        """Return the final state, or the one before it if NOTs end the pattern."""
        closing = constraints.pending_nots
        if not closing:
            return self.FINAL
        edges = self.build_end_edges(closing)
        state = self.get_state(_EndKey(closing), closing[-1].name, edges)
        if closing[-1].only_next:
            return state
        self.completed_by_time.add(state)
        next_row_nots = tuple(event for event in closing if event.only_next)
        return self.compile_nots(next_row_nots, constraints, state) if next_row_nots else state

    def build_end_edges(self, closing: Nots) -> Iterator[Edge]:
        """Yield the edges of a state in which a run waits for the end of the pattern.

        A NOT up to the end of the window has no edge to the stop state, because each prefix of a
        loop is judged by itself.
        """
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
        yield Edge(Action.IGNORE, self.state_by_key[_EndKey(closing)], forbids=self.find_ids(tests))

    def compile_part(self, repetitions: Repetitions, constraints: Constraints) -> StateId:
        """Return the state of a run after some repetitions of a part."""
        part = repetitions.part
        if part.most is not None and repetitions.count >= part.most:
            return self.compile_exit(repetitions, constraints)
        # What holds if the run goes on with another repetition.
        if_repeated = constraints
        next_row_nots = Nots()
        if repetitions.count > 0:
            nots = find_following_nots(repetitions.remaining.skip_first())
            lasting_tests = (event.test for event in nots if not event.only_next)
            if_repeated = constraints.add_unread_tests(part.gap_test).add_stopping_tests(
                *lasting_tests
            )
            if repetitions.may_leave:
                next_row_nots = tuple(event for event in nots if event.only_next)
        if isinstance(part.content, tuple):
            return self.compile_group(repetitions, if_repeated, constraints, next_row_nots)
        key = _RepetitionsKey(repetitions, constraints)
        name = part.content.name
        waiting_key = key
        if repetitions.may_leave and repetitions.contiguity is not Contiguity.STRICT:
            # A companion without proceed edges, so that a run that skips rows follows them once.
            waiting_key = replace(key, is_companion=True)
            companion_edges = self.build_stage_edges(repetitions, if_repeated, waiting_key)
            self.get_state(waiting_key, name, companion_edges)
        # What holds for the next row, but not for the rows after a skipped one.
        first_constraints = if_repeated.add_stopping_tests(*(event.test for event in next_row_nots))
        edges = self.build_stage_edges(repetitions, first_constraints, waiting_key)
        if repetitions.may_leave:
            edges = chain(edges, self.build_exit_edges(repetitions, constraints))
        return self.get_state(key, name, edges)

    def build_stage_edges(
        self, repetitions: Repetitions, constraints: Constraints, waiting_key: _StateKey
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
        unread_tests = (*repetitions.remaining.until, *constraints.unread_tests, *distance_tests)
        until_tests = () if part.until is None else (part.until.test,)
        target = self.compile_part(repetitions.repeat_once(), NO_CONSTRAINTS)
        yield Edge(
            Action.TAKE,
            target,
            variable=self.test_ids[content.name],
            needs=self.find_ids((content.test,)),
            forbids=self.find_ids((*until_tests, *unread_tests)),
        )
        if repetitions.contiguity is not Contiguity.STRICT:
            takeable = (content.test,) if repetitions.contiguity is Contiguity.RELAXED else ()
            # While it waits for its first row, a loop ignores the event that would end it.
            ending = until_tests if repetitions.count > 0 else ()
            forbids = self.find_ids((*takeable, *ending, *unread_tests))
            yield Edge(Action.IGNORE, self.state_by_key[waiting_key], forbids=forbids)
        yield from self.build_stop_edges(constraints.stopping_tests)

    def build_exit_edges(
        self, repetitions: Repetitions, constraints: Constraints
    ) -> Iterator[Edge]:
        """Yield the edges on which a part is left."""
        part = repetitions.part
        exit_state = self.compile_exit(repetitions, constraints)
        if part.greedy and part.has_choice and part.until is not None:
            # The event that ends a greedy loop may be read by what follows, whatever it satisfies.
            until = (part.until.test,)
            following_steps = repetitions.remaining.skip_first()
            unrestricted_exit = self.compile_remaining(following_steps, constraints)
            yield self.build_proceed_edge(unrestricted_exit, needs=until)
            yield self.build_proceed_edge(exit_state, forbids=until)
        else:
            yield self.build_proceed_edge(exit_state)

    def compile_exit(self, repetitions: Repetitions, constraints: Constraints) -> StateId:
        """Return the state after a part.

        After a greedy stage, no edge may read a row that the stage would have taken.
        """
        part = repetitions.part
        if part.greedy and part.has_choice and isinstance(part.content, SingleStage):
            constraints = constraints.add_unread_tests(part.content.test)
        return self.compile_remaining(repetitions.remaining.skip_first(), constraints)

    def compile_group(
        self,
        repetitions: Repetitions,
        if_repeated: Constraints,
        if_left: Constraints,
        next_row_nots: Nots,
    ) -> StateId:
        """Return the state before a repetition of a group.

        Args:
            repetitions: the group and its repetitions so far.
            if_repeated: what holds until the next row if the group is repeated.
            if_left: what holds until the next row if the group is left.
            next_row_nots: what the next row must not be if the group is repeated.
        """
        part = repetitions.part
        remaining = repetitions.remaining
        assert isinstance(part.content, tuple)
        inside = replace(if_repeated, empty_groups=if_repeated.empty_groups + 1)
        until = remaining.until if part.until is None else (*remaining.until, part.until.test)
        body = RemainingSteps(
            steps=part.content,
            index=0,
            then=repetitions.repeat_once(),
            until=until,
            first_contiguity=repetitions.contiguity,
        )
        if not repetitions.may_leave:
            return self.compile_remaining(body, inside)
        edges = chain(
            self.build_entry_edges(body, inside, next_row_nots),
            self.build_exit_edges(repetitions, if_left),
        )
        return self.get_state(_RepetitionsKey(repetitions, if_left), f"({name_part(part)})", edges)

    def build_entry_edges(
        self, body: RemainingSteps, constraints: Constraints, next_row_nots: Nots
    ) -> Iterator[Edge]:
        """Yield the edge to the first stage of a group."""
        head = self.compile_remaining(body, constraints)
        if next_row_nots:
            head = self.compile_nots(next_row_nots, constraints, head)
        yield self.build_proceed_edge(head)


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
