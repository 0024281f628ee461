"""Stages to NFA^b program: TAKE, IGNORE and PROCEED edges, back to front.

A run that has mapped a row is in a state; the next row follows the proceed edges whose formulas
hold for it and takes what it finds there. What holds only until the next row is mapped, such as
that no row may satisfy a NOT, is part of what a state is made for (`Pending`): a state behind a NOT
is another one than the state behind a mapped row.

    single stage        take if C; ignore if not C (relaxed) or always (any), in a companion without
                        proceed edges where there are some, so that each is followed once
    may be left         proceed to what follows
    loop with until U   take and ignore only if not U; waiting for the first row, U is ignored
    greedy              what follows: no edge if C; with until, lifted if U holds right behind
    not_next N          proceed if not N; if N, to the stop state
    not_followed_by N   what follows, and the loop before: proceed if N, to the stop state
    group               a state between repetitions: proceed to its first stage, and to what follows

Source: Flink CEP, NFACompiler; where its results contradict its own definitions, the definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile

from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.nfa.program import Action, Edge, Program, State, StateId
from matchrec.plan.stages import Contiguity, Not, Part, Single, Steps

MOST_STATES = 5_000


@dataclass(frozen=True, slots=True)
class Pending:
    """What holds until the next row is mapped.

    stops: tests whose rows stop the run. kills: tests whose rows no edge may read. closing: the
    NOTs since the last part, which end the pattern if nothing follows. empty: how many of the
    groups around, from the innermost on, have no row yet in their repetition.
    """

    stops: tuple[str, ...] = ()
    kills: tuple[str, ...] = ()
    closing: tuple[Not, ...] = ()
    empty: int = 0

    def stopped_by(self, *tests: str) -> Pending:
        return replace(self, stops=tuple(dict.fromkeys((*self.stops, *tests))))

    def killed_by(self, *tests: str | None) -> Pending:
        found = (test for test in (*self.kills, *tests) if test is not None)
        return replace(self, kills=tuple(dict.fromkeys(found)))


NOTHING = Pending()


@dataclass(frozen=True, slots=True)
class Rest:
    """What follows: steps from `at` on, then what follows them; None is the end of the pattern.

    first: the contiguity of the first step, which a group decides.
    until: tests of the groups around it, for which none of their rows may be read. Its hash does
    not look at each of the steps, which many of these share.
    """

    steps: tuple[Part | Not, ...]
    at: int
    then: Rest | Repeated | None
    until: tuple[str, ...] = ()
    first: Contiguity | None = None

    def behind(self) -> Rest:
        return replace(self, at=self.at + 1, first=None)

    def __hash__(self) -> int:
        return hash((self.at, self.then, self.until, self.first))


@dataclass(frozen=True, slots=True)
class Repeated:
    """What follows a repetition of `part`, which was number `count`."""

    part: Part
    count: int
    rest: Rest


def compile_stages(steps: Steps, variables: tuple[str, ...]) -> Program:
    """The program of a pattern of stages; a variable's id is its index in `variables`.

    Raises MatchRecognizePlanError where repetitions make it too large.
    """
    compiler = _Compiler({name: number for number, name in enumerate(variables)})
    start = compiler.following(Rest(steps.steps, 0, None), NOTHING)
    compiler.fill_all()
    return compiler.program(start, variables)


@dataclass(slots=True)
class _Compiler:
    """The states so far, by what they are made for.

    unfilled: states whose edges are still to be made. That each state waits for its turn keeps the
    stack as deep as groups are nested, however many stages there are.
    """

    ids: dict[str, int]
    states: list[State] = field(default_factory=lambda: [State(), State()])
    names: list[str] = field(default_factory=lambda: ["end", "stop"])
    known: dict[object, StateId] = field(default_factory=dict)
    pending: set[StateId] = field(default_factory=set)
    unfilled: list[tuple[StateId, Iterator[Edge]]] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def program(self, start: StateId, variables: tuple[str, ...]) -> Program:
        """All that is reached from `start`, numbered as a reader meets it."""
        order: dict[StateId, StateId] = {}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state not in order and state > self.STOP:
                order[state] = len(order)
                waiting += [edge.target for edge in reversed(self.states[state].edges)]
        ends = [self.FINAL]
        if any(edge.target == self.STOP for one in order for edge in self.states[one].edges):
            ends.append(self.STOP)
        order.update({state: len(order) + place for place, state in enumerate(ends)})
        states = tuple(
            State(tuple(replace(e, target=order[e.target]) for e in self.states[old].edges))
            for old in order
        )
        return Program(
            states,
            order[start],
            order[self.FINAL],
            variables,
            names=unique(tuple(self.names[old] for old in order)),
            stop=order.get(self.STOP),
            pending=frozenset(order[one] for one in self.pending if one in order),
        ).check()

    def new(self, key: object, name: str) -> tuple[StateId, bool]:
        """The state made for `key`, and whether it must be filled."""
        if key in self.known:
            return self.known[key], False
        if len(self.states) >= MOST_STATES:
            raise pattern_too_large("states", MOST_STATES, None)
        self.states.append(State())
        self.names.append(name)
        self.known[key] = len(self.states) - 1
        return self.known[key], True

    def fill(self, state: StateId, edges: Iterator[Edge]) -> StateId:
        """The state, which will get these edges."""
        self.unfilled.append((state, edges))
        return state

    def fill_all(self) -> None:
        """Makes the edges of all states, and so of those that these lead to."""
        while self.unfilled:
            state, edges = self.unfilled.pop()
            self.states[state] = State(tuple(edges))

    def literals(self, tests: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self.ids[test] for test in dict.fromkeys(tests))

    def proceed(
        self, target: StateId, needs: tuple[str, ...] = (), forbids: tuple[str, ...] = ()
    ) -> Edge:
        return Edge(
            Action.PROCEED, target, needs=self.literals(needs), forbids=self.literals(forbids)
        )

    def stops(self, tests: tuple[str, ...]) -> Iterator[Edge]:
        for test in tests:
            yield self.proceed(self.STOP, (test,))

    def following(self, rest: Rest | Repeated | None, pending: Pending) -> StateId:
        """The state of a run before `rest`."""
        if rest is None:
            return self.end(pending)
        if isinstance(rest, Repeated):
            outside = replace(pending, empty=max(0, pending.empty - 1))
            if pending.empty > 0 and is_enough(rest.part, rest.count):
                return self.following(rest.rest.behind(), outside)
            return self.waiting(rest.part, rest.count, rest.rest, outside)
        if rest.at == len(rest.steps):
            return self.following(rest.then, pending)
        step = rest.steps[rest.at]
        if isinstance(step, Part):
            return self.waiting(step, 0, rest, replace(pending, closing=()))
        behind = replace(pending, closing=(*pending.closing, step))
        if not step.only_next:
            return self.following(rest.behind(), behind.stopped_by(step.test))
        if is_over(rest.behind()):
            return self.following(rest.behind(), behind)
        return self.forbidding((step,), behind, rest)

    def forbidding(self, tests: tuple[Not, ...], pending: Pending, rest: Rest | StateId) -> StateId:
        """The state whose next row must not satisfy a NOT, and otherwise goes on behind it."""
        state, is_new = self.new((tests, pending, rest), tests[0].name)
        if not is_new:
            return state
        return self.fill(state, self.refusing(tests, pending, rest))

    def refusing(
        self, tests: tuple[Not, ...], pending: Pending, rest: Rest | StateId
    ) -> Iterator[Edge]:
        """The edges of such a state."""
        names = tuple(one.test for one in tests)
        target = rest if isinstance(rest, int) else self.following(rest.behind(), pending)
        yield self.proceed(target, forbids=names)
        yield from self.stops(names)

    def end(self, pending: Pending) -> StateId:
        """The final state, or what has to come about before it: NOTs that end the pattern."""
        closing = pending.closing
        if not closing:
            return self.FINAL
        state, is_new = self.new(("end", closing), closing[-1].name)
        if closing[-1].only_next:
            tests = tuple(one.test for one in closing)
            if is_new:
                ignore = Edge(Action.IGNORE, self.FINAL, forbids=self.literals(tests))
                self.fill(state, iter((ignore, *self.stops(tests))))
            return state
        tests = tuple(one.test for one in closing if not one.only_next)
        if is_new:  # without edges to the stop state: each prefix of a loop is judged by itself
            near = tuple(one.near for one in closing if one.near is not None)
            edges = [Edge(Action.IGNORE, self.FINAL, needs=self.literals((one,))) for one in near]
            edges.append(Edge(Action.IGNORE, state, forbids=self.literals((*tests, *near))))
            self.fill(state, iter(edges))
            self.pending.add(state)
        first = tuple(one for one in closing if one.only_next)
        return self.forbidding(first, replace(pending, closing=closing), state) if first else state

    def waiting(self, part: Part, count: int, rest: Rest, pending: Pending) -> StateId:
        """The state behind repetition `count` of a part, the first one of `rest`."""
        if part.most is not None and count >= part.most:
            return self.leaving(part, rest, pending)
        leaves = may_leave(part, count)
        own, direct = pending, tuple[Not, ...]()
        if count > 0:
            behind = stopping(rest.behind())
            lasting = (one.test for one in behind if not one.only_next)
            own = pending.killed_by(part.gap).stopped_by(*lasting)
            direct = tuple(one for one in behind if one.only_next and leaves)
        if isinstance(part.content, Steps):
            return self.group(part, count, rest, (own, pending), direct)
        state, is_new = self.new((part, count, rest, pending), part.content.name)
        if not is_new:
            return state
        waits = state
        if leaves and contiguity_of(part, count, rest) is not Contiguity.STRICT:
            waits, _ = self.new(("companion", part, count, rest, pending), part.content.name)
            self.fill(waits, self.reading(part, count, rest, own, waits))
        fresh = own.stopped_by(*(one.test for one in direct))
        onward = self.proceeding(part, rest, pending) if leaves else ()
        return self.fill(state, chain(self.reading(part, count, rest, fresh, waits), onward))

    def reading(
        self, part: Part, count: int, rest: Rest, pending: Pending, waits: StateId
    ) -> Iterator[Edge]:
        """The edges of a single stage that read a row, and those to the stop state."""
        content, until = part.content, part.until
        assert isinstance(content, Single)
        kills = (*rest.until, *pending.kills, *(() if part.near is None else (part.near,)))
        ends = () if until is None else (until.test,)
        target = self.waiting(part, next_count(part, count), rest, NOTHING)
        yield Edge(
            Action.TAKE,
            target,
            self.ids[content.name],
            needs=self.literals((content.test,)),
            forbids=self.literals((*ends, *kills)),
        )
        contiguity = contiguity_of(part, count, rest)
        if contiguity is not Contiguity.STRICT:
            own = (content.test,) if contiguity is Contiguity.RELAXED else ()
            inner = ends if count > 0 else ()
            forbids = self.literals((*own, *inner, *kills))
            yield Edge(Action.IGNORE, waits, forbids=forbids)
        yield from self.stops(pending.stops)

    def proceeding(self, part: Part, rest: Rest, pending: Pending) -> Iterator[Edge]:
        """The edges on which a part is left."""
        if part.greedy and part.has_choice and part.until is not None:
            until = part.until.test
            yield self.proceed(self.following(rest.behind(), pending), (until,))
            yield self.proceed(self.leaving(part, rest, pending), (), (until,))
        else:
            yield self.proceed(self.leaving(part, rest, pending))

    def leaving(self, part: Part, rest: Rest, pending: Pending) -> StateId:
        """The state behind a part; behind a greedy one no row that it would have taken is read."""
        content = part.content
        if part.greedy and part.has_choice and isinstance(content, Single):
            pending = pending.killed_by(content.test)
        return self.following(rest.behind(), pending)

    def group(
        self,
        part: Part,
        count: int,
        rest: Rest,
        pending: tuple[Pending, Pending],
        direct: tuple[Not, ...],
    ) -> StateId:
        """The state before a repetition of a group. pending: for going on, and for leaving. direct:
        what the next row must not be, to go on.
        """
        content, (going_on, leaving) = part.content, pending
        assert isinstance(content, Steps)
        own = replace(going_on, empty=going_on.empty + 1)
        until = rest.until if part.until is None else (*rest.until, part.until.test)
        body = Rest(
            content.steps,
            0,
            Repeated(part, next_count(part, count), rest),
            until,
            contiguity_of(part, count, rest),
        )
        if not may_leave(part, count):
            return self.following(body, own)
        state, is_new = self.new((part, count, rest, leaving), f"({part_name(part)})")
        if not is_new:
            return state
        head = self.following(body, own)
        head = self.forbidding(direct, own, head) if direct else head
        onward = self.proceeding(part, rest, leaving)
        return self.fill(state, chain((self.proceed(head),), onward))


def next_count(part: Part, count: int) -> int:
    """The number of the next repetition; beyond the least of a loop it does not matter."""
    return min(count + 1, part.least) if part.most is None else count + 1


def may_leave(part: Part, count: int) -> bool:
    """Whether a part may be left after so many repetitions."""
    return count >= part.least or (count == 0 and part.optional)


def is_enough(part: Part, count: int) -> bool:
    """Whether a group need not be repeated behind a repetition without rows, number `count`."""
    return count >= part.least if part.most is None else count >= part.most


def contiguity_of(part: Part, count: int, rest: Rest) -> Contiguity:
    """Which rows may be skipped before the next repetition."""
    return part.inner if count > 0 else rest.first or part.contiguity


def stopping(rest: Rest | Repeated | None) -> tuple[Not, ...]:
    """The NOTs directly behind a part: they hold between its repetitions too.

    Not those that wait for the end of the window, which judge each prefix of a loop by itself.
    """
    if rest is None:
        return ()
    if isinstance(rest, Repeated):
        return stopping(rest.rest.behind())
    if rest.at == len(rest.steps):
        return stopping(rest.then)
    behind = takewhile(lambda step: isinstance(step, Not), rest.steps[rest.at :])
    nots = tuple(step for step in behind if isinstance(step, Not))
    ends = rest.then is None and rest.at + len(nots) == len(rest.steps)
    if ends and nots and not nots[-1].only_next:
        return tuple(one for one in nots if one.only_next)
    return nots


def is_over(rest: Rest) -> bool:
    """Whether nothing but NOTs follows."""
    only_nots = all(isinstance(step, Not) for step in rest.steps[rest.at :])
    return only_nots and rest.then is None


def part_name(part: Part) -> str:
    """The names of the stages of a part."""
    if isinstance(part.content, Single):
        return part.content.name
    return " ".join(part_name(one) for one in part.content.steps if isinstance(one, Part))


def unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with a number behind those that are there already."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.append(name if count == 0 else f"{name}:{count - 1}")
    return tuple(found)
