"""A program of stages, folded: the places in which runs wait, and what a row does in each.

A mapped row leads to every place after it by itself, so a place waits for one stage with one rule
of what may be skipped. A place is a state with the formulas of the proceed edges that lead to it,
which are asked of the next row only; a skipped row leads to the state's own place. Formulas are
taken apart into single tests: what both take and ignore forbid ends the run.

    take b if B and not U, ignore if not B and not U      →      ends: U; maps b: B; blocks: B

Source: Flink CEP, NFA, the decision graph of one event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.nfa.closure import MOST_CHOICES, Choice, Effect, Folding
from matchrec.nfa.outcomes import A_MATCH, FIRST_NEAR, NOT_NEAR, NOTHING, TIMED_OUT
from matchrec.nfa.program import Action, Edge, Program, StateId, VariableId
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.stages import Staging, Steps, nots, parts

Tests = frozenset[VariableId]


@dataclass(frozen=True, slots=True)
class Windows:
    """What ends by time.

    of_match: whether the match has a window. near: the tests that say that the row mapped last is
    too far away.
    """

    of_match: bool
    near: tuple[VariableId, ...]


def windows_of(plan: MatchPlan, staging: Staging) -> Windows:
    """What ends by time in a plan."""
    near = tuple(plan.variables.index(test) for test in staging.near)
    return Windows(plan.within is not None, near)


@dataclass(frozen=True, slots=True)
class Place:
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


def compose_tests(steps: Steps, variables: tuple[str, ...]) -> Composed:
    """The composed tests of a pattern of stages."""
    ids = {name: number for number, name in enumerate(variables)}
    complements: dict[VariableId, VariableId] = {}
    without: dict[tuple[VariableId, VariableId], VariableId] = {}
    for part in parts(steps):
        if part.until is not None:
            complements[ids[part.until.test]] = ids[part.until.complement]
            if part.until.take is not None:
                assert not isinstance(part.content, Steps)
                tests = ids[part.content.test], ids[part.until.test]
                without[tests] = ids[part.until.take]
    direct = frozenset(ids[one.test] for one in nots(steps) if one.only_next)
    return Composed(complements, without, direct)


def fold_places(program: Program, tests: Composed, windows: Windows) -> Folding:
    """The places of a program of stages; runs begin in the first ones.

    Raises MatchRecognizePlanError for more than MOST_CHOICES, as stages that may all be left out
    have.
    """
    folder = _Folder(program, tests, windows, {}, [])
    starts = [
        replace(one, starts=True)
        for one in folder.places(program.start)
        if one.state != program.final
    ]
    for start in starts:
        folder.number(start)
    states = []
    waits: list[int | None] = []
    size = 0
    for place in folder.order:  # grows while it is read
        states.append(tuple(folder.choices(place)))
        size += len(states[-1])
        if size > MOST_CHOICES:
            raise pattern_too_large("choices", MOST_CHOICES, None)
        target = folder.skipping(place)
        waits.append(None if target is None else folder.number(target))
    return Folding(
        tuple(states),
        tuple(place.state for place in folder.order),
        len(starts),
        tuple(waits),
        tuple(folder.end(place) for place in folder.order),
        tuple(folder.near(place) for place in folder.order),
    )


@dataclass(frozen=True, slots=True)
class _Folder:
    program: Program
    tests: Composed
    windows: Windows
    numbers: dict[Place, int]
    order: list[Place]

    def number(self, place: Place) -> int:
        if place not in self.numbers:
            self.numbers[place] = len(self.order)
            self.order.append(place)
        return self.numbers[place]

    def places(self, state: StateId) -> list[Place]:
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
        return [Place(*one) for one in found]

    def edges(self, place: Place, action: Action) -> list[Edge]:
        return [one for one in self.program.states[place.state].edges if one.action is action]

    def reading(self, place: Place) -> tuple[Edge | None, Edge | None]:
        """The edges of a state that take and that skip a row."""
        take, ignore = (self.edges(place, one) for one in (Action.TAKE, Action.IGNORE))
        return take[0] if take else None, ignore[-1] if ignore and not place.starts else None

    def stops(self, place: Place) -> set[VariableId]:
        """Tests of the NOTs that stop a run in a place."""
        edges = self.edges(place, Action.PROCEED)
        return {one for edge in edges if edge.target == self.program.stop for one in edge.needs}

    def choices(self, place: Place) -> Iterator[Choice]:
        """What a row does to a run in a place, in the order in which it is asked."""
        if place.state == self.program.final:
            yield Choice(0, None, None)
            return
        for edge in self.edges(place, Action.IGNORE):  # completed by time
            yield from (effect(test, Effect.COMPLETES) for test in edge.needs)
        ends, near = self.ends(place), set(self.windows.near)
        yield from (effect(test, Effect.TIMES_OUT) for test in sorted(ends & near))
        yield from (effect(test, Effect.ENDS) for test in sorted(ends - near))
        yield from (effect(test, Effect.STOPS) for test in sorted(self.stops(place) - ends))
        take, ignore = self.reading(place)
        if take is not None:
            yield from self.taking(take, ignore, ends)
            return
        assert ignore is not None
        if ignore.target == self.program.final:
            yield Choice(0, None, None, effect=Effect.COMPLETES)

    def ends(self, place: Place) -> set[VariableId]:
        """Tests of rows that end a run in a place: no edge reads such a row."""
        both = [set(edge.forbids) for edge in self.reading(place) if edge is not None]
        ends = set.intersection(*both) | place.forbids
        ends |= self.stops(place) & self.tests.direct
        ends |= {self.tests.complements[test] for test in place.needs}
        return ends.difference(self.windows.near) if place.starts else ends  # no row before

    def taking(self, take: Edge, ignore: Edge | None, ends: set[VariableId]) -> Iterator[Choice]:
        """The choices that map a row, and what keeps the run from going on beside them."""
        test = self.take_test(take, set(take.forbids) - ends - set(self.windows.near))
        blocking = set() if ignore is None else set(ignore.forbids) - ends
        blocks = bool(blocking.intersection(take.needs))
        targets = self.places(take.target)
        for target in targets:
            if target.state != self.program.final:
                yield Choice(0, take.variable, self.number(target), test=test, blocks=blocks)
        yield from (effect(one, Effect.BLOCKS) for one in sorted(blocking - {test}))
        for target in targets:
            if target.state == self.program.final:
                yield from (effect(one, Effect.CUTS) for one in sorted(target.forbids))
                end = self.number(Place(target.state))
                yield Choice(0, take.variable, end, test=test, blocks=blocks)

    def take_test(self, take: Edge, left: set[VariableId]) -> VariableId:
        """The test of a take edge, with what does not end the run in any case."""
        (test,) = take.needs
        if not left:
            return test
        (without,) = left
        return self.tests.without[test, without]

    def skipping(self, place: Place) -> Place | None:
        """Where a run waits on that skips a row in a place."""
        _, ignore = self.reading(place)
        if ignore is None or ignore.target == self.program.final:
            return None
        (found,) = self.places(ignore.target)
        return found

    def end(self, place: Place) -> int:
        """What a run is whose window or partition ends in a place."""
        if place.state in self.program.pending:
            return A_MATCH
        if place.state == self.program.final or place.starts:
            return NOTHING
        near = self.near(place)
        if near != NOT_NEAR:
            return FIRST_NEAR + near
        return TIMED_OUT if self.windows.of_match else NOTHING

    def near(self, place: Place) -> int:
        """The smallest window from the row mapped last on that ends a run in a place."""
        if place.state == self.program.final or place.starts:
            return NOT_NEAR
        take, _ = self.reading(place)
        tests = {one for edge in self.edges(place, Action.IGNORE) for one in edge.needs}
        tests.update(() if take is None else take.forbids)
        return next((n for n, one in enumerate(self.windows.near) if one in tests), NOT_NEAR)


def effect(test: VariableId, what: Effect) -> Choice:
    """What a row does for which a test holds."""
    return Choice(0, None, None, test=test, effect=what)
