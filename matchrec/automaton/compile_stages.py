"""Stages to NFA^b program: TAKE, IGNORE and PROCEED edges, back to front.

A run that has mapped a row is in a state; the next row follows the proceed edges whose formulas
hold for it and takes what it finds there. What holds only until the next row is mapped, such as
that no row may satisfy a NOT, is part of what a state is made for (`Pending`): a state after a NOT
is another one than the state after a mapped row.

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

from matchrec.automaton.closure import Choice, Effect, Folding, limit_choices, number_states
from matchrec.automaton.program import (
    A_MATCH,
    FIRST_NEAR,
    NOT_NEAR,
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
    Single,
    Steps,
    nots,
    parts,
)

# What is left of a pattern of stages while it is compiled, and what holds until the next row.
#
# A state is made for what follows it (`Rest`, `Repeated`) and for what the next row must not be
# (`Pending`).

Names = tuple[str, ...]
Nots = tuple[ForbiddenEvent, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """What holds until the next row is mapped.

    stops: tests whose rows stop the run. kills: tests whose rows no edge may read. closing: the
    NOTs since the last part, which end the pattern if nothing follows. empty: how many of the
    groups around, from the innermost on, have no row yet in their repetition.
    """

    stops: Names = ()
    kills: Names = ()
    closing: Nots = ()
    empty: int = 0

    def with_stops(self, *tests: str) -> Pending:
        return replace(self, stops=tuple(dict.fromkeys((*self.stops, *tests))))

    def with_kills(self, *tests: str | None) -> Pending:
        found = (test for test in (*self.kills, *tests) if test is not None)
        return replace(self, kills=tuple(dict.fromkeys(found)))


NOT_PENDING = Pending()


@dataclass(frozen=True, slots=True)
class Rest:
    """What follows: steps from `at` on, then what follows them; None is the end of the pattern.

    first: the contiguity of the first step, which a group decides.
    until: tests of the groups around it, for which none of their rows may be read. Its hash does
    not look at each of the steps, which many of these share.
    """

    steps: tuple[RepeatedPart | ForbiddenEvent, ...]
    at: int
    then: Rest | Repeated | None
    until: Names = ()
    first: Contiguity | None = None

    def tail(self) -> Rest:
        return replace(self, at=self.at + 1, first=None)

    def __hash__(self) -> int:
        return hash((self.at, self.then, self.until, self.first))


@dataclass(frozen=True, slots=True)
class Repeated:
    """What follows repetition `count` of `part`, the first step of `rest`; 0 is before any."""

    part: RepeatedPart
    count: int
    rest: Rest

    def after_next(self) -> Repeated:
        count = self.count + 1  # beyond the least of a loop the number does not matter
        return replace(self, count=min(count, self.part.least) if self.part.most is None else count)

    @property
    def may_leave(self) -> bool:
        return self.count >= self.part.least or (self.count == 0 and self.part.optional)

    @property
    def is_enough(self) -> bool:
        """Whether a group need not be repeated after this repetition, if that was without rows."""
        return self.count >= (self.part.least if self.part.most is None else self.part.most)

    @property
    def contiguity(self) -> Contiguity:
        """Which rows may be skipped before the next repetition."""
        return self.part.inner if self.count > 0 else self.rest.first or self.part.contiguity


def following_nots(rest: Rest | Repeated | None) -> Nots:
    """The NOTs directly after a part: they hold between its repetitions too.

    Not those that wait for the end of the window, which judge each prefix of a loop by itself.
    """
    if rest is None:
        return ()
    if isinstance(rest, Repeated):
        return following_nots(rest.rest.tail())
    if rest.at == len(rest.steps):
        return following_nots(rest.then)
    first = takewhile(lambda step: isinstance(step, ForbiddenEvent), rest.steps[rest.at :])
    nots = tuple(step for step in first if isinstance(step, ForbiddenEvent))
    ends = rest.then is None and rest.at + len(nots) == len(rest.steps)
    if ends and nots and not nots[-1].only_next:
        return tuple(event for event in nots if event.only_next)
    return nots


def is_over(rest: Rest) -> bool:
    only_nots = all(isinstance(step, ForbiddenEvent) for step in rest.steps[rest.at :])
    return only_nots and rest.then is None


def part_name(part: RepeatedPart) -> str:
    if isinstance(part.content, Single):
        return part.content.name
    return " ".join(part_name(one) for one in part.content if isinstance(one, RepeatedPart))


MOST_STATES = 5_000


def compile_stages(steps: Steps, variables: Names) -> Program:
    """The program of stages; ids are indices in `variables`. Raises MatchRecognizePlanError."""
    compiler = _StageCompiler({name: number for number, name in enumerate(variables)})
    start = compiler.compile_rest(Rest(steps, 0, None), NOT_PENDING)
    while compiler.unfilled:  # whose edges may lead to new ones
        state, edges = compiler.unfilled.pop()
        compiler.states[state] = State(tuple(edges))
    states, final, stop = compiler.states, compiler.FINAL, compiler.STOP
    order = order_states(states, start, (final, stop))  # as a reader meets them
    if not any(edge.target == stop for one in order for edge in states[one].edges):
        del order[stop]
    return Program(
        renumber_states(states, order),
        order[start],
        order[final],
        variables,
        names=number_names(tuple(compiler.names[old] for old in order)),
        stop=order.get(stop),
        pending=frozenset(order[one] for one in compiler.pending if one in order),
    ).check()


@dataclass(slots=True)
class _StageCompiler:
    """The states so far, by what they are made for.

    unfilled: states whose edges are still to be made. That each state waits for its turn keeps the
    stack as deep as groups are nested, however many stages there are.
    """

    ids: dict[str, int]
    states: list[State] = field(default_factory=lambda: [State(), State()])
    names: list[str] = field(default_factory=lambda: ["end", "stop"])
    made: dict[object, StateId] = field(default_factory=dict)
    pending: set[StateId] = field(default_factory=set)
    unfilled: list[tuple[StateId, Iterator[Edge]]] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def make(self, key: object, name: str, edges: Iterator[Edge]) -> StateId:
        """The state made for `key`, which has these edges once it is filled."""
        if key not in self.made:
            if len(self.states) >= MOST_STATES:
                raise pattern_too_large(None, limit=MOST_STATES, what="states")
            self.made[key] = len(self.states)
            self.states.append(State())
            self.names.append(name)
            self.unfilled.append((self.made[key], edges))
        return self.made[key]

    def ids_of(self, tests: Names) -> tuple[int, ...]:
        return tuple(self.ids[test] for test in dict.fromkeys(tests))

    def proceed(self, target: StateId, needs: Names = (), forbids: Names = ()) -> Edge:
        return Edge(Action.PROCEED, target, needs=self.ids_of(needs), forbids=self.ids_of(forbids))

    def edges_to_stop(self, tests: Names) -> Iterator[Edge]:
        for test in tests:
            yield self.proceed(self.STOP, (test,))

    def compile_rest(self, rest: Rest | Repeated | None, pending: Pending) -> StateId:
        if rest is None:
            return self.compile_end(pending)
        if isinstance(rest, Repeated):
            outside = replace(pending, empty=max(0, pending.empty - 1))
            if pending.empty > 0 and rest.is_enough:
                return self.compile_rest(rest.rest.tail(), outside)
            return self.compile_part(rest, outside)
        if rest.at == len(rest.steps):
            return self.compile_rest(rest.then, pending)
        step = rest.steps[rest.at]
        if isinstance(step, RepeatedPart):
            return self.compile_part(Repeated(step, 0, rest), replace(pending, closing=()))
        closing = replace(pending, closing=(*pending.closing, step))
        if not step.only_next:
            return self.compile_rest(rest.tail(), closing.with_stops(step.test))
        if is_over(rest.tail()):
            return self.compile_rest(rest.tail(), closing)
        return self.compile_nots((step,), closing, rest)

    def compile_nots(self, tests: Nots, pending: Pending, rest: Rest | StateId) -> StateId:
        """The state whose next row must not satisfy these NOTs; otherwise it goes on after them."""
        edges = self.edges_of_nots(tests, pending, rest)
        return self.make((tests, pending, rest), tests[0].name, edges)

    def edges_of_nots(self, tests: Nots, pending: Pending, rest: Rest | StateId) -> Iterator[Edge]:
        names = tuple(test.test for test in tests)
        target = rest if isinstance(rest, int) else self.compile_rest(rest.tail(), pending)
        yield self.proceed(target, forbids=names)
        yield from self.edges_to_stop(names)

    def compile_end(self, pending: Pending) -> StateId:
        """The final state, or what has to come about before it: NOTs that end the pattern."""
        closing = pending.closing
        if not closing:
            return self.FINAL
        state = self.make(("end", closing), closing[-1].name, self.edges_of_end(closing))
        if closing[-1].only_next:
            return state
        self.pending.add(state)
        first = tuple(event for event in closing if event.only_next)
        return self.compile_nots(first, pending, state) if first else state

    def edges_of_end(self, closing: Nots) -> Iterator[Edge]:
        if closing[-1].only_next:
            tests = tuple(event.test for event in closing)
            yield Edge(Action.IGNORE, self.FINAL, forbids=self.ids_of(tests))
            yield from self.edges_to_stop(tests)
            return
        # none to the stop state: each prefix of a loop is judged by itself
        near = tuple(event.near for event in closing if event.near is not None)
        for one in near:
            yield Edge(Action.IGNORE, self.FINAL, needs=self.ids_of((one,)))
        tests = (*(event.test for event in closing if not event.only_next), *near)
        yield Edge(Action.IGNORE, self.made["end", closing], forbids=self.ids_of(tests))

    def compile_part(self, done: Repeated, pending: Pending) -> StateId:
        part = done.part
        if part.most is not None and done.count >= part.most:
            return self.compile_exit(done, pending)
        own, direct = pending, Nots()
        if done.count > 0:
            nots = following_nots(done.rest.tail())
            lasting = (event.test for event in nots if not event.only_next)
            own = pending.with_kills(part.gap).with_stops(*lasting)
            direct = tuple(event for event in nots if event.only_next and done.may_leave)
        if isinstance(part.content, tuple):
            return self.compile_group(done, own, pending, direct)
        key: tuple[object, ...] = (done, pending)
        waits, name = key, part.content.name
        if done.may_leave and done.contiguity is not Contiguity.STRICT:
            waits = ("companion", *key)
            self.make(waits, name, self.edges_of_stage(done, own, waits))
        fresh = own.with_stops(*(event.test for event in direct))
        onward = self.edges_out(done, pending) if done.may_leave else ()
        return self.make(key, name, chain(self.edges_of_stage(done, fresh, waits), onward))

    def edges_of_stage(self, done: Repeated, pending: Pending, waits: object) -> Iterator[Edge]:
        """The edges of a single stage that read a row, and those to the stop state.

        waits: for what the state is made in which a run waits that skips a row.
        """
        part, content = done.part, done.part.content
        assert isinstance(content, Single)
        kills = (*done.rest.until, *pending.kills, *(() if part.near is None else (part.near,)))
        ends = () if part.until is None else (part.until.test,)
        onward, variable = self.compile_part(done.after_next(), NOT_PENDING), self.ids[content.name]
        needs, forbids = self.ids_of((content.test,)), self.ids_of((*ends, *kills))
        yield Edge(Action.TAKE, onward, variable, needs=needs, forbids=forbids)
        if done.contiguity is not Contiguity.STRICT:
            own = (content.test,) if done.contiguity is Contiguity.RELAXED else ()
            inner = ends if done.count > 0 else ()
            forbids = self.ids_of((*own, *inner, *kills))
            yield Edge(Action.IGNORE, self.made[waits], forbids=forbids)
        yield from self.edges_to_stop(pending.stops)

    def edges_out(self, done: Repeated, pending: Pending) -> Iterator[Edge]:
        part, exits = done.part, self.compile_exit(done, pending)
        if part.greedy and part.has_choice and part.until is not None:
            until = (part.until.test,)
            yield self.proceed(self.compile_rest(done.rest.tail(), pending), until)
            yield self.proceed(exits, (), until)
        else:
            yield self.proceed(exits)

    def compile_exit(self, done: Repeated, pending: Pending) -> StateId:
        """The state after a part; after a greedy one no row that it would have taken is read."""
        part, content = done.part, done.part.content
        if part.greedy and part.has_choice and isinstance(content, Single):
            pending = pending.with_kills(content.test)
        return self.compile_rest(done.rest.tail(), pending)

    def compile_group(
        self, done: Repeated, going_on: Pending, leaving: Pending, direct: Nots
    ) -> StateId:
        """The state before a repetition of a group. direct: what the next row must not be then."""
        part, rest = done.part, done.rest
        assert isinstance(part.content, tuple)
        own = replace(going_on, empty=going_on.empty + 1)
        until = rest.until if part.until is None else (*rest.until, part.until.test)
        body = Rest(part.content, 0, done.after_next(), until, done.contiguity)
        if not done.may_leave:
            return self.compile_rest(body, own)
        onward = chain(self.edge_into(body, own, direct), self.edges_out(done, leaving))
        return self.make((done, leaving), f"({part_name(part)})", onward)

    def edge_into(self, body: Rest, pending: Pending, direct: Nots) -> Iterator[Edge]:
        head = self.compile_rest(body, pending)
        yield self.proceed(self.compile_nots(direct, pending, head) if direct else head)


# A program of stages, folded: the places in which runs wait, and what a row does in each.
#
# A mapped row leads to every place after it by itself, so a place waits for one stage with one rule
# of what may be skipped. A place is a state with the formulas of the proceed edges that lead to it,
# which are asked of the next row only; a skipped row leads to the state's own place. Formulas are
# taken apart into single tests: what both take and ignore forbid ends the run.
#
#     take b if B and not U, ignore if not B and not U      →      ends: U; maps b: B; blocks: B
#
# Source: Flink CEP, NFA, the decision graph of one event.

Tests = frozenset[VariableId]


@dataclass(frozen=True, slots=True)
class WaitingPlace:
    """Where a run waits: needs and forbids are asked of the next row.

    Of the final state, forbids are asked of the row that leads to it.
    """

    state: StateId
    needs: Tests = frozenset()
    forbids: Tests = frozenset()
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """Tests made of others: the complement of a test, and one test without another; and those that
    only the next row must not satisfy.
    """

    complements: Mapping[VariableId, VariableId]
    without: Mapping[tuple[VariableId, VariableId], VariableId]
    direct: Tests


def compose_tests(steps: Steps, variables: Names) -> Composed:
    ids = {name: number for number, name in enumerate(variables)}
    complements: dict[VariableId, VariableId] = {}
    without: dict[tuple[VariableId, VariableId], VariableId] = {}
    for part in parts(steps):
        if part.until is not None:
            complements[ids[part.until.test]] = ids[part.until.complement]
            if part.until.take is not None:
                assert not isinstance(part.content, tuple)
                tests = ids[part.content.test], ids[part.until.test]
                without[tests] = ids[part.until.take]
    direct = frozenset(ids[event.test] for event in nots(steps) if event.only_next)
    return Composed(complements, without, direct)


def fold_places(program: Program, tests: Composed, nears: Names, *, windowed: bool) -> Folding:
    """The places of a program of stages; runs begin in the first ones.

    nears: see `Staging.near`. windowed: whether the match has a window.

    Raises MatchRecognizePlanError for more than MOST_CHOICES, as of many stages that are optional.
    """
    near = tuple(program.variables.index(test) for test in nears)
    folder = _Folder(program, tests, windowed, near)
    first = (place for place in folder.places(program.start) if place.state != program.final)
    starts = [replace(place, starts=True) for place in first]

    def ways(place: WaitingPlace) -> Iterator[tuple[Choice, WaitingPlace | None]]:
        yield from folder.choices(place)
        yield Choice(0, None, None), folder.skipping(place)

    found = limit_choices(number_states(starts, ways), None)
    places, onward = zip(*found, strict=True)
    folded, waits = zip(*((choices[:-1], choices[-1].target) for choices in onward), strict=True)
    states = tuple(place.state for place in places)
    ends, nears_of_places = tuple(map(folder.end, places)), tuple(map(folder.near, places))
    return Folding(folded, states, len(starts), waits, ends, nears_of_places)


@dataclass(frozen=True, slots=True)
class _Folder:
    """Makes places. windowed: whether the match has a window. nears: the tests that say that the
    row mapped last is too far away, the smallest window first.
    """

    program: Program
    tests: Composed
    windowed: bool
    nears: tuple[VariableId, ...]

    def places(self, state: StateId) -> list[WaitingPlace]:
        """Where a run waits that a row has led to `state`; the final state if it is a match."""
        found: dict[tuple[StateId, Tests, Tests], None] = {}
        waiting = [(state, frozenset[VariableId](), frozenset[VariableId]())]
        while waiting:
            here = at, needs, forbids = waiting.pop()
            if at == self.program.final:
                found[at, frozenset(), forbids & self.tests.direct] = None
                continue
            if any(edge.action is not Action.PROCEED for edge in self.program.states[at].edges):
                found[here] = None
            for edge in reversed(self.program.states[at].edges):
                if edge.action is Action.PROCEED and edge.target != self.program.stop:
                    onward = needs.union(edge.needs), forbids.union(edge.forbids)
                    waiting.append((edge.target, *onward))
        return [WaitingPlace(*one) for one in found]

    def edges(self, place: WaitingPlace, action: Action) -> list[Edge]:
        return [edge for edge in self.program.states[place.state].edges if edge.action is action]

    def reading(self, place: WaitingPlace) -> tuple[Edge | None, Edge | None]:
        take, ignore = (self.edges(place, literal) for literal in (Action.TAKE, Action.IGNORE))
        return take[0] if take else None, ignore[-1] if ignore and not place.starts else None

    def stops(self, place: WaitingPlace) -> set[VariableId]:
        edges = self.edges(place, Action.PROCEED)
        return {one for edge in edges if edge.target == self.program.stop for one in edge.needs}

    def choices(self, place: WaitingPlace) -> Iterator[tuple[Choice, WaitingPlace | None]]:
        """What a row does to a run in a place, in the order in which it is asked, and to where."""
        if place.state == self.program.final:
            yield Choice(0, None, None), None
            return
        for edge in self.edges(place, Action.IGNORE):  # completed by time
            yield from (effect(test, Effect.COMPLETES) for test in edge.needs)
        ends, near = self.ends(place), set(self.nears)
        yield from (effect(test, Effect.TIMES_OUT) for test in sorted(ends & near))
        yield from (effect(test, Effect.ENDS) for test in sorted(ends - near))
        yield from (effect(test, Effect.STOPS) for test in sorted(self.stops(place) - ends))
        take, ignore = self.reading(place)
        if take is not None:
            yield from self.taking(take, ignore, ends)
            return
        assert ignore is not None
        if ignore.target == self.program.final:
            yield Choice(0, None, None, effect=Effect.COMPLETES), None

    def ends(self, place: WaitingPlace) -> set[VariableId]:
        """Tests of rows that end a run in a place: no edge reads such a row."""
        both = [set(edge.forbids) for edge in self.reading(place) if edge is not None]
        ends = set.intersection(*both) | place.forbids
        ends |= self.stops(place) & self.tests.direct
        ends |= {self.tests.complements[test] for test in place.needs}
        return ends.difference(self.nears) if place.starts else ends  # no row before

    def taking(
        self, take: Edge, ignore: Edge | None, ends: set[VariableId]
    ) -> Iterator[tuple[Choice, WaitingPlace | None]]:
        """The choices that map a row, and what keeps the run from going on beside them."""
        (test,) = take.needs
        for without in set(take.forbids) - ends - set(self.nears):  # one at most
            test = self.tests.without[test, without]
        blocking = set() if ignore is None else set(ignore.forbids) - ends
        blocks = bool(blocking.intersection(take.needs))
        mapped = Choice(0, take.variable, None, test=test, blocks=blocks)
        targets = self.places(take.target)
        for target in targets:
            if target.state != self.program.final:
                yield mapped, target
        yield from (effect(one, Effect.BLOCKS) for one in sorted(blocking - {test}))
        for target in targets:
            if target.state == self.program.final:
                yield from (effect(one, Effect.CUTS) for one in sorted(target.forbids))
                yield mapped, WaitingPlace(target.state)

    def skipping(self, place: WaitingPlace) -> WaitingPlace | None:
        _, ignore = self.reading(place)
        if ignore is None or ignore.target == self.program.final:
            return None
        (found,) = self.places(ignore.target)
        return found

    def end(self, place: WaitingPlace) -> int:
        """What a run is whose window or partition ends in a place."""
        if place.state in self.program.pending:
            return A_MATCH
        if place.state == self.program.final or place.starts:
            return NOTHING
        near = self.near(place)
        if near != NOT_NEAR:
            return FIRST_NEAR + near
        return TIMED_OUT if self.windowed else NOTHING

    def near(self, place: WaitingPlace) -> int:
        """The smallest window from the row mapped last on that ends a run in a place."""
        if place.state == self.program.final or place.starts:
            return NOT_NEAR
        take, _ = self.reading(place)
        tests = {one for edge in self.edges(place, Action.IGNORE) for one in edge.needs}
        tests.update(() if take is None else take.forbids)
        return next((n for n, one in enumerate(self.nears) if one in tests), NOT_NEAR)


def effect(test: VariableId, what: Effect) -> tuple[Choice, None]:
    """What a row does for which a test holds. It leads nowhere."""
    return Choice(0, None, None, test=test, effect=what), None
