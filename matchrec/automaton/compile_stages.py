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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

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
    State,
    StateId,
    VariableId,
    number_names,
    order_states,
    renumber_states,
)
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.stages import (
    Contiguity,
    ForbiddenEvent,
    RepeatedPart,
    SingleStage,
    Steps,
    list_negations,
    list_repeated_parts,
)

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
    stops: StageNames = ()
    # No edge may read a row that satisfies one of these tests.
    kills: StageNames = ()
    # The NOTs since the last part. They end the pattern if nothing follows.
    closing: Nots = ()
    # Number of enclosing groups, counted from the innermost, whose repetition has no row yet.
    empty_groups: int = 0

    def add_stops(self, *tests: str) -> Constraints:
        """Add tests to `stops`, each once."""
        return replace(self, stops=tuple(dict.fromkeys((*self.stops, *tests))))

    def add_kills(self, *tests: str | None) -> Constraints:
        """Add tests to `kills`, each once. None is ignored."""
        kills = (test for test in (*self.kills, *tests) if test is not None)
        return replace(self, kills=tuple(dict.fromkeys(kills)))


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


@dataclass(slots=True)
class _StageCompiler:
    """A compiler of stages, which makes a state for each key."""

    # The id of each stage and test, by its name.
    test_ids: dict[str, int]
    states: list[State] = field(default_factory=lambda: [State(), State()])
    names: list[str] = field(default_factory=lambda: ["end", "stop"])
    # The state of each key for which one has been made.
    state_by_key: dict[object, StateId] = field(default_factory=dict)
    # States in which a run becomes a match when its window ends.
    completed_by_time: set[StateId] = field(default_factory=set)
    # States whose edges are still to be made. As each waits for its turn, the stack is only as deep
    # as groups are nested, however many stages there are.
    unfilled: list[tuple[StateId, Iterator[Edge]]] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def get_state(self, key: object, name: str, edges: Iterator[Edge]) -> StateId:
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
        self, target: StateId, needs: StageNames = (), forbids: StageNames = ()
    ) -> Edge:
        """Return a proceed edge."""
        return Edge(
            Action.PROCEED, target, needs=self.find_ids(needs), forbids=self.find_ids(forbids)
        )

    def build_stop_edges(self, tests: StageNames) -> Iterator[Edge]:
        """Yield an edge to the stop state for each test."""
        for test in tests:
            yield self.build_proceed_edge(self.STOP, (test,))

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
                Repetitions(step, 0, remaining), replace(constraints, closing=())
            )
        closing = replace(constraints, closing=(*constraints.closing, step))
        if not step.only_next:
            return self.compile_remaining(remaining.skip_first(), closing.add_stops(step.test))
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
        return self.get_state((nots, constraints, remaining), nots[0].name, edges)

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
        closing = constraints.closing
        if not closing:
            return self.FINAL
        state = self.get_state(("end", closing), closing[-1].name, self.build_end_edges(closing))
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
        near_tests = tuple(event.near for event in closing if event.near is not None)
        for test in near_tests:
            yield Edge(Action.IGNORE, self.FINAL, needs=self.find_ids((test,)))
        tests = (*(event.test for event in closing if not event.only_next), *near_tests)
        yield Edge(Action.IGNORE, self.state_by_key["end", closing], forbids=self.find_ids(tests))

    def compile_part(self, repetitions: Repetitions, constraints: Constraints) -> StateId:
        """Return the state of a run after some repetitions of a part."""
        part = repetitions.part
        if part.most is not None and repetitions.count >= part.most:
            return self.compile_exit(repetitions, constraints)
        # What holds if the run goes on with another repetition.
        going_on = constraints
        next_row_nots = Nots()
        if repetitions.count > 0:
            nots = find_following_nots(repetitions.remaining.skip_first())
            lasting_tests = (event.test for event in nots if not event.only_next)
            going_on = constraints.add_kills(part.gap).add_stops(*lasting_tests)
            if repetitions.may_leave:
                next_row_nots = tuple(event for event in nots if event.only_next)
        if isinstance(part.content, tuple):
            return self.compile_group(repetitions, going_on, constraints, next_row_nots)
        key: tuple[object, ...] = (repetitions, constraints)
        name = part.content.name
        waiting_key = key
        if repetitions.may_leave and repetitions.contiguity is not Contiguity.STRICT:
            # A companion without proceed edges, so that a run that skips rows follows them once.
            waiting_key = ("companion", *key)
            companion_edges = self.build_stage_edges(repetitions, going_on, waiting_key)
            self.get_state(waiting_key, name, companion_edges)
        # What holds for the next row, but not for the rows after a skipped one.
        first_constraints = going_on.add_stops(*(event.test for event in next_row_nots))
        edges = self.build_stage_edges(repetitions, first_constraints, waiting_key)
        if repetitions.may_leave:
            edges = chain(edges, self.build_exit_edges(repetitions, constraints))
        return self.get_state(key, name, edges)

    def build_stage_edges(
        self, repetitions: Repetitions, constraints: Constraints, waiting_key: object
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
        near_tests = () if part.near is None else (part.near,)
        kills = (*repetitions.remaining.until, *constraints.kills, *near_tests)
        until_tests = () if part.until is None else (part.until.test,)
        target = self.compile_part(repetitions.repeat_once(), NO_CONSTRAINTS)
        yield Edge(
            Action.TAKE,
            target,
            variable=self.test_ids[content.name],
            needs=self.find_ids((content.test,)),
            forbids=self.find_ids((*until_tests, *kills)),
        )
        if repetitions.contiguity is not Contiguity.STRICT:
            takeable = (content.test,) if repetitions.contiguity is Contiguity.RELAXED else ()
            # While it waits for its first row, a loop ignores the event that would end it.
            ending = until_tests if repetitions.count > 0 else ()
            forbids = self.find_ids((*takeable, *ending, *kills))
            yield Edge(Action.IGNORE, self.state_by_key[waiting_key], forbids=forbids)
        yield from self.build_stop_edges(constraints.stops)

    def build_exit_edges(
        self, repetitions: Repetitions, constraints: Constraints
    ) -> Iterator[Edge]:
        """Yield the edges on which a part is left."""
        part = repetitions.part
        exit_state = self.compile_exit(repetitions, constraints)
        if part.greedy and part.has_choice and part.until is not None:
            # The event that ends a greedy loop may be read by what follows, whatever it satisfies.
            until = (part.until.test,)
            yield self.build_proceed_edge(
                self.compile_remaining(repetitions.remaining.skip_first(), constraints), until
            )
            yield self.build_proceed_edge(exit_state, (), until)
        else:
            yield self.build_proceed_edge(exit_state)

    def compile_exit(self, repetitions: Repetitions, constraints: Constraints) -> StateId:
        """Return the state after a part.

        After a greedy stage, no edge may read a row that the stage would have taken.
        """
        part = repetitions.part
        if part.greedy and part.has_choice and isinstance(part.content, SingleStage):
            constraints = constraints.add_kills(part.content.test)
        return self.compile_remaining(repetitions.remaining.skip_first(), constraints)

    def compile_group(
        self,
        repetitions: Repetitions,
        going_on: Constraints,
        leaving: Constraints,
        next_row_nots: Nots,
    ) -> StateId:
        """Return the state before a repetition of a group.

        Args:
            repetitions: the group and its repetitions so far.
            going_on: what holds until the next row if the group is repeated.
            leaving: what holds until the next row if the group is left.
            next_row_nots: what the next row must not be if the group is repeated.
        """
        part = repetitions.part
        remaining = repetitions.remaining
        assert isinstance(part.content, tuple)
        inside = replace(going_on, empty_groups=going_on.empty_groups + 1)
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
            self.build_exit_edges(repetitions, leaving),
        )
        return self.get_state((repetitions, leaving), f"({name_part(part)})", edges)

    def build_entry_edges(
        self, body: RemainingSteps, constraints: Constraints, next_row_nots: Nots
    ) -> Iterator[Edge]:
        """Yield the edge to the first stage of a group."""
        head = self.compile_remaining(body, constraints)
        if next_row_nots:
            head = self.compile_nots(next_row_nots, constraints, head)
        yield self.build_proceed_edge(head)


# A program of stages, folded: the states in which runs wait, and what a row does in each.
#
# A mapped row leads to each waiting state after it, so that each waits for one stage and has one
# rule of what may be skipped. A waiting state is a state of the program with the formulas of the
# proceed edges that lead to it. They are checked on the next row only: a skipped row leads to the
# waiting state without them. Formulas are taken apart into single tests: what both take and ignore
# forbid ends the run.
#
#     take b if B and not U, ignore if not B and not U      →      ends: U; maps b: B; blocks: B
#
# Source: Flink CEP, NFA, the decision graph of one event.

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


def compose_tests(steps: Steps, variables: StageNames) -> ComposedTests:
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
    program: Program, tests: ComposedTests, window_tests: StageNames, *, windowed: bool
) -> Folding:
    """Fold a program of stages. Its states are waiting states; runs begin in the first ones.

    Args:
        program: the program.
        tests: its composed tests.
        window_tests: the tests of `Staging.neighbour_windows`.
        windowed: whether the match has a window.

    Raises:
        MatchRecognizePlanError: there are more than MOST_CHOICES, as many optional stages have.
    """
    window_ids = tuple(program.variables.index(test) for test in window_tests)
    folder = _StageFolder(program, tests, windowed, window_ids)
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
    windowed: bool
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
        ends = self.find_ending_tests(waiting)
        window_tests = set(self.window_tests)
        for test in sorted(ends & window_tests):
            yield build_effect_choice(test, Effect.TIME_OUT)
        for test in sorted(ends - window_tests):
            yield build_effect_choice(test, Effect.END_RUN)
        for test in sorted(self.find_stopping_tests(waiting) - ends):
            yield build_effect_choice(test, Effect.END_UNLESS_COMPLETED)
        take, ignore = self.find_reading_edges(waiting)
        if take is not None:
            yield from self.list_taking_choices(take, ignore, ends)
            return
        assert ignore is not None
        if ignore.target == self.program.final:
            yield Choice(guard=0, variable=None, target=None, effect=Effect.COMPLETE_RUN), None

    def find_ending_tests(self, waiting: WaitingState) -> set[VariableId]:
        """Return the tests of rows that end a run, because no edge reads such a row."""
        forbidden = [
            set(edge.forbids) for edge in self.find_reading_edges(waiting) if edge is not None
        ]
        ends = set.intersection(*forbidden) | waiting.forbids
        ends |= self.find_stopping_tests(waiting) & self.tests.direct
        ends |= {self.tests.complements[test] for test in waiting.needs}
        if waiting.begins_runs:
            return ends.difference(self.window_tests)  # no row before that could be too far away
        return ends

    def list_taking_choices(
        self, take: Edge, ignore: Edge | None, ends: set[VariableId]
    ) -> Iterator[tuple[Choice, WaitingState | None]]:
        """Yield the choices that map a row, and the effects that rule out other choices.

        Args:
            take: the edge on which the row is mapped.
            ignore: the edge on which the row is skipped, if there is one.
            ends: tests of rows that end the run.
        """
        (test,) = take.needs
        for without in set(take.forbids) - ends - set(self.window_tests):  # at most one
            test = self.tests.without[test, without]
        blocking = set() if ignore is None else set(ignore.forbids) - ends
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
        return TIMED_OUT if self.windowed else NOTHING

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
