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

from collections.abc import Iterator
from dataclasses import field, replace
from itertools import chain

from matchrec.dataclass import dataclass
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.nfa.program import (
    Action,
    Edge,
    Program,
    State,
    StateId,
    number_names,
    order_states,
    renumber_states,
)
from matchrec.nfa.remaining_stages import (
    NOTHING,
    Pending,
    Repeated,
    Rest,
    contiguity_of,
    following_nots,
    is_enough,
    is_over,
    may_leave,
    next_count,
    part_name,
)
from matchrec.plan.stages import Contiguity, Not, Part, Single, Steps

MOST_STATES = 5_000


def compile_stages(steps: Steps, variables: tuple[str, ...]) -> Program:
    """The program of a pattern of stages; a variable's id is its index in `variables`.

    Raises MatchRecognizePlanError where repetitions make it too large.
    """
    compiler = _Compiler({name: number for number, name in enumerate(variables)})
    start = compiler.compile_rest(Rest(steps.steps, 0, None), NOTHING)
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
    made: dict[object, StateId] = field(default_factory=dict)
    pending: set[StateId] = field(default_factory=set)
    unfilled: list[tuple[StateId, Iterator[Edge]]] = field(default_factory=list)

    FINAL = 0
    STOP = 1

    def program(self, start: StateId, variables: tuple[str, ...]) -> Program:
        """All that is reached from `start`, numbered as a reader meets it."""
        order = order_states(self.states, start, (self.FINAL, self.STOP))
        if not any(edge.target == self.STOP for one in order for edge in self.states[one].edges):
            del order[self.STOP]
        return Program(
            renumber_states(self.states, order),
            order[start],
            order[self.FINAL],
            variables,
            names=number_names(tuple(self.names[old] for old in order)),
            stop=order.get(self.STOP),
            pending=frozenset(order[one] for one in self.pending if one in order),
        ).check()

    def add_state(self, key: object, name: str) -> tuple[StateId, bool]:
        """The state made for `key`, and whether it must be filled."""
        if key in self.made:
            return self.made[key], False
        if len(self.states) >= MOST_STATES:
            raise pattern_too_large("states", MOST_STATES, None)
        self.states.append(State())
        self.names.append(name)
        self.made[key] = len(self.states) - 1
        return self.made[key], True

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

    def edges_to_stop(self, tests: tuple[str, ...]) -> Iterator[Edge]:
        for test in tests:
            yield self.proceed(self.STOP, (test,))

    def compile_rest(self, rest: Rest | Repeated | None, pending: Pending) -> StateId:
        """The state of a run before `rest`."""
        if rest is None:
            return self.compile_end(pending)
        if isinstance(rest, Repeated):
            outside = replace(pending, empty=max(0, pending.empty - 1))
            if pending.empty > 0 and is_enough(rest.part, rest.count):
                return self.compile_rest(rest.rest.tail(), outside)
            return self.compile_part(rest.part, rest.count, rest.rest, outside)
        if rest.at == len(rest.steps):
            return self.compile_rest(rest.then, pending)
        step = rest.steps[rest.at]
        if isinstance(step, Part):
            return self.compile_part(step, 0, rest, replace(pending, closing=()))
        closing = replace(pending, closing=(*pending.closing, step))
        if not step.only_next:
            return self.compile_rest(rest.tail(), closing.with_stops(step.test))
        if is_over(rest.tail()):
            return self.compile_rest(rest.tail(), closing)
        return self.compile_nots((step,), closing, rest)

    def compile_nots(
        self, tests: tuple[Not, ...], pending: Pending, rest: Rest | StateId
    ) -> StateId:
        """The state whose next row must not satisfy these NOTs; otherwise it goes on after them."""
        state, is_new = self.add_state((tests, pending, rest), tests[0].name)
        if not is_new:
            return state
        return self.fill(state, self.edges_of_nots(tests, pending, rest))

    def edges_of_nots(
        self, tests: tuple[Not, ...], pending: Pending, rest: Rest | StateId
    ) -> Iterator[Edge]:
        """The edges of such a state."""
        names = tuple(one.test for one in tests)
        target = rest if isinstance(rest, int) else self.compile_rest(rest.tail(), pending)
        yield self.proceed(target, forbids=names)
        yield from self.edges_to_stop(names)

    def compile_end(self, pending: Pending) -> StateId:
        """The final state, or what has to come about before it: NOTs that end the pattern."""
        closing = pending.closing
        if not closing:
            return self.FINAL
        state, is_new = self.add_state(("end", closing), closing[-1].name)
        if closing[-1].only_next:
            tests = tuple(one.test for one in closing)
            if is_new:
                ignore = Edge(Action.IGNORE, self.FINAL, forbids=self.literals(tests))
                self.fill(state, iter((ignore, *self.edges_to_stop(tests))))
            return state
        tests = tuple(one.test for one in closing if not one.only_next)
        if is_new:  # without edges to the stop state: each prefix of a loop is judged by itself
            near = tuple(one.near for one in closing if one.near is not None)
            edges = [Edge(Action.IGNORE, self.FINAL, needs=self.literals((one,))) for one in near]
            edges.append(Edge(Action.IGNORE, state, forbids=self.literals((*tests, *near))))
            self.fill(state, iter(edges))
            self.pending.add(state)
        first = tuple(one for one in closing if one.only_next)
        return (
            self.compile_nots(first, replace(pending, closing=closing), state) if first else state
        )

    def compile_part(self, part: Part, count: int, rest: Rest, pending: Pending) -> StateId:
        """The state after repetition `count` of a part, the first one of `rest`."""
        if part.most is not None and count >= part.most:
            return self.compile_exit(part, rest, pending)
        leaves = may_leave(part, count)
        own, direct = pending, tuple[Not, ...]()
        if count > 0:
            nots = following_nots(rest.tail())
            lasting = (one.test for one in nots if not one.only_next)
            own = pending.with_kills(part.gap).with_stops(*lasting)
            direct = tuple(one for one in nots if one.only_next and leaves)
        if isinstance(part.content, Steps):
            return self.compile_group(part, count, rest, (own, pending), direct)
        state, is_new = self.add_state((part, count, rest, pending), part.content.name)
        if not is_new:
            return state
        waits = state
        if leaves and contiguity_of(part, count, rest) is not Contiguity.STRICT:
            waits, _ = self.add_state(("companion", part, count, rest, pending), part.content.name)
            self.fill(waits, self.edges_of_stage(part, count, rest, own, waits))
        fresh = own.with_stops(*(one.test for one in direct))
        onward = self.edges_out(part, rest, pending) if leaves else ()
        return self.fill(state, chain(self.edges_of_stage(part, count, rest, fresh, waits), onward))

    def edges_of_stage(
        self, part: Part, count: int, rest: Rest, pending: Pending, waits: StateId
    ) -> Iterator[Edge]:
        """The edges of a single stage that read a row, and those to the stop state."""
        content, until = part.content, part.until
        assert isinstance(content, Single)
        kills = (*rest.until, *pending.kills, *(() if part.near is None else (part.near,)))
        ends = () if until is None else (until.test,)
        target = self.compile_part(part, next_count(part, count), rest, NOTHING)
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
        yield from self.edges_to_stop(pending.stops)

    def edges_out(self, part: Part, rest: Rest, pending: Pending) -> Iterator[Edge]:
        """The edges on which a part is left."""
        if part.greedy and part.has_choice and part.until is not None:
            until = part.until.test
            yield self.proceed(self.compile_rest(rest.tail(), pending), (until,))
            yield self.proceed(self.compile_exit(part, rest, pending), (), (until,))
        else:
            yield self.proceed(self.compile_exit(part, rest, pending))

    def compile_exit(self, part: Part, rest: Rest, pending: Pending) -> StateId:
        """The state after a part; after a greedy one no row that it would have taken is read."""
        content = part.content
        if part.greedy and part.has_choice and isinstance(content, Single):
            pending = pending.with_kills(content.test)
        return self.compile_rest(rest.tail(), pending)

    def compile_group(
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
            return self.compile_rest(body, own)
        state, is_new = self.add_state((part, count, rest, leaving), f"({part_name(part)})")
        if not is_new:
            return state
        head = self.compile_rest(body, own)
        head = self.compile_nots(direct, own, head) if direct else head
        onward = self.edges_out(part, rest, leaving)
        return self.fill(state, chain((self.proceed(head),), onward))
