"""Proceed edges folded away: for each state between two rows, its choices in preferment order.

`A* B` has the states `take A -> 0, proceed -> 1` and `begin B -> 2`; folded, the first one has the
choices `A -> 0, B -> 1` and the last one `accept`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from itertools import islice
from typing import TypeVar

from matchrec.automaton.program import (
    GUARD_END,
    GUARD_START,
    Action,
    Edge,
    Program,
    StateId,
    VariableId,
)
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.source import Span

MOST_CHOICES = 200_000
ANCHORS = GUARD_START | GUARD_END
FIRST_NOT = 4


class Effect(IntEnum):
    """What a row does to a run that it is not mapped in; in place of a choice's target.

    ENDS: the run ends. STOPS: it ends, unless this row completes it. BLOCKS: it may not skip the
    row. COMPLETES: it is a match, without the row. TIMES_OUT: it ends, as its window has. CUTS: no
    choice after it counts.
    """

    ENDS = -2
    STOPS = -3
    BLOCKS = -4
    COMPLETES = -5
    TIMES_OUT = -6
    CUTS = -7


@dataclass(frozen=True, slots=True)
class Choice:
    """Map the next row to `variable` and go on in `target`, or accept (both None).

    guard: bits GUARD_START and GUARD_END, anchors that must hold before the row; until `compile`
    makes tests of them, bits FIRST_NOT << v of variables whose conditions it must not satisfy.
    again: one more row of the loop over one variable that the state is in. test: the variable whose
    condition must hold, where it is another one. effect: instead of a target. blocks: of stages,
    whether a row that is mapped by it may not be skipped as well.
    """

    guard: int
    variable: VariableId | None
    target: int | None
    excluded: bool = False
    again: bool = False
    test: VariableId | None = None
    effect: Effect | None = None
    blocks: bool = False

    @property
    def accepts(self) -> bool:
        return self.target is None and self.effect is None


Folded = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """The choices of each folded state, and the state of the program that it is.

    The first `starts` states are those in which runs begin. waits: of a program of stages, the
    state in which a run waits that skips a row, None where it may not; ends: what a run is whose
    window or partition ends in a state, near: the window between neighbours that ends a run there,
    the smallest of several, or NOT_NEAR: see `automaton.program`.
    """

    choices: Folded
    states: tuple[StateId, ...]
    starts: int = 1
    waits: tuple[int | None, ...] = ()
    ends: tuple[int, ...] = ()
    near: tuple[int, ...] = ()


def fold(program: Program, *, every_way: bool = False, span: Span | None = None) -> Folding:
    """The choices of each state that a row can lead to; the starting state is number 0.

    every_way: all matches are asked for, so what is less preferred than an acceptance counts too.
    span: of the row pattern.

    Raises MatchRecognizePlanError where there are more than MOST_CHOICES up to acceptances.
    """

    def ways(state: StateId) -> Iterator[tuple[Choice, StateId | None]]:
        return ((one, one.target) for one in choices_of(program, state, every_way=every_way))

    found = number_states([program.start], ways)
    if every_way:
        fold(program, span=span)  # which raises, unless acceptances leave few of them
    else:
        found = limit_choices(found, span)
    order, folded = zip(*found, strict=True)
    return Folding(folded, order)


_State = TypeVar("_State", bound=Hashable)


def number_states(
    begin: Iterable[_State], ways: Callable[[_State], Iterable[tuple[Choice, _State | None]]]
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """All states that some lead to, themselves first, as they are met, and their choices.

    ways: the choices of a state, and to what each leads, whose number becomes its target; None of
    one that leads nowhere.
    """
    order = list(begin)
    numbers = {state: number for number, state in enumerate(order)}
    for state in order:  # grows while it is read
        choices = []
        for choice, to in ways(state):
            if to is not None and to not in numbers:
                numbers[to] = len(order)
                order.append(to)
            choices.append(choice if to is None else replace(choice, target=numbers[to]))
        yield state, tuple(choices)


def limit_choices(
    found: Iterable[tuple[_State, tuple[Choice, ...]]], span: Span | None
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """The states as they are. Raises MatchRecognizePlanError where they have over MOST_CHOICES."""
    size = 0
    for state, choices in found:
        size += len(choices)
        if size > MOST_CHOICES:
            raise pattern_too_large(span, limit=MOST_CHOICES, what="choices")
        yield state, choices


def reachable(
    begin: Iterable[_State], onward: Callable[[_State], Iterable[_State]]
) -> Iterator[_State]:
    """All states that some lead to, themselves among them, as they are met."""
    reached = set(begin)
    waiting = list(reached)
    while waiting:
        state = waiting.pop()
        yield state
        new = set(onward(state)) - reached
        reached |= new
        waiting += new


def choices_of(program: Program, state: StateId, *, every_way: bool) -> Iterator[Choice]:
    """Choices of one state, targets still being states of the program. Ignore edges are no choices.

    What an earlier choice does under no stronger guard need not be tried again. No row comes at the
    end of the partition, after a row its start is past, and nothing is preferred to less than an
    acceptance without guard.
    """
    possible = GUARD_START | GUARD_END if state == program.start else GUARD_END
    seen: dict[object, list[int]] = {}
    waiting = [(Edge(Action.PROCEED, state), 0)]
    while waiting:
        edge, guard = waiting.pop()
        if edge.action is Action.IGNORE:
            continue
        if edge.variable is not None:
            row = (edge.variable, edge.target)
            if not guard & GUARD_END and not is_repeated(seen, row, guard):
                again = edge.action is Action.TAKE and edge.target == state
                yield Choice(guard, edge.variable, edge.target, edge.excluded, again)
            continue
        guard |= edge.anchor
        for variable in edge.forbids:  # whose condition is asked of the next row
            guard |= FIRST_NOT << variable
        if guard & ANCHORS & ~possible or is_repeated(seen, edge.target, guard):
            continue
        if edge.target == program.final:
            yield Choice(guard & ANCHORS if guard & GUARD_END else guard, None, None)
            if guard == 0 and not every_way:
                return
        waiting += [(onward, guard) for onward in reversed(program.states[edge.target].edges)]


def forbidden_by(guard: int) -> frozenset[VariableId]:
    bits = guard // FIRST_NOT
    return frozenset(one for one in range(bits.bit_length()) if bits >> one & 1)


def is_repeated(seen: dict[object, list[int]], what: object, guard: int) -> bool:
    """Whether `what` was met before under a subset of `guard`; it is now."""
    guards = seen.setdefault(what, [])
    if any(earlier & ~guard == 0 for earlier in guards):
        return True
    guards.append(guard)
    return False


# What can be said about a row pattern from its folded program alone, whatever the rows are.
#
# `FollowSets` of `A B* (C | D)`: it begins with A, ends with C or D, and has the pairs A B, A C,
# A D, B B, B C and B D.
#
# Source: Glushkov, "The abstract theory of automata", the sets First, Last and Follow.


UNREACHABLE = 1 << 30


def least_rows(folded: Folded) -> tuple[int, ...]:
    """For each state, how many rows a match needs at least; UNREACHABLE as in `A $ B`."""
    sources: list[list[int]] = [[] for _ in folded]
    for state in range(len(folded)):
        for target in targets(folded, state):
            sources[target].append(state)
    least = [0 if any(c.accepts for c in choices) else UNREACHABLE for choices in folded]
    found = [state for state, rows in enumerate(least) if rows == 0]
    for state in found:  # grows while it is read
        for source in sources[state]:
            if least[source] == UNREACHABLE:
                least[source] = least[state] + 1
                found.append(source)
    return tuple(least)


def live_states(folded: Folded) -> tuple[bool, ...]:
    """For each state, whether a run that has mapped rows may still become a match by more."""
    # no row after the first one is the partition's first, and none before another one its last
    later = tuple(
        tuple(one for one in choices if one.guard == 0 or (one.accepts and one.guard == GUARD_END))
        for choices in folded
    )
    least = least_rows(later)
    onward = (targets(later, state) for state in range(len(folded)))
    return tuple(any(least[target] < UNREACHABLE for target in one) for one in onward)


def least_mapped(folded: Folded, members: frozenset[VariableId]) -> tuple[int, ...]:
    """For each state, how many rows a run that is there has mapped to `members`, at least."""
    least = [0, *(UNREACHABLE for _ in folded[1:])]
    changed = True
    while changed:
        changed = False
        for state, choices in enumerate(folded):
            for choice in choices:
                rows = least[state] + (choice.variable in members)
                if choice.target is not None and rows < least[choice.target]:
                    least[choice.target], changed = rows, True
    return tuple(least)


def reached_twice(folded: Folded) -> tuple[bool, ...]:
    """For each state, whether two different searches or ways can reach it at the same row.

    That is so after a state that is entered twice, as the start is if a row leads back to it. In
    all other states it is in vain to remember a failure.
    """
    entered = Counter(choice.target for choices in folded for choice in choices)
    entered[0] += 1
    begin = (state for state in range(len(folded)) if entered[state] > 1)
    twice = set(reachable(begin, partial(targets, folded)))
    return tuple(state in twice for state in range(len(folded)))


def targets(folded: Folded, state: int) -> tuple[int, ...]:
    """States that one row can lead to, each once."""
    return tuple(dict.fromkeys(c.target for c in folded[state] if c.target is not None))


@dataclass(frozen=True, slots=True)
class FollowSets:
    """Variables at the ends of matches, and the pairs of variables that follow each other.

    pairs: of adjacent rows, the variable of the first and that of the second. matches_empty:
    whether a match may be without rows.
    """

    first: frozenset[VariableId]
    last: frozenset[VariableId]
    pairs: frozenset[tuple[VariableId, VariableId]]
    matches_empty: bool

    @classmethod
    def of(cls, folded: Folded) -> FollowSets:
        onward: list[set[VariableId]] = [set() for _ in folded]
        accepting, into = set[int](), set[tuple[VariableId, int]]()
        for state, choices in enumerate(folded):
            for choice in choices:
                if choice.accepts:
                    accepting.add(state)
                if choice.variable is not None:
                    onward[state].add(choice.variable)
                    if choice.target is not None:
                        into.add((choice.variable, choice.target))
        pairs = frozenset((one, other) for one, state in into for other in onward[state])
        last = frozenset(variable for variable, state in into if state in accepting)
        return cls(frozenset(onward[0]), last, pairs, 0 in accepting)

    def before(self, variable: VariableId) -> frozenset[VariableId]:
        return frozenset(one for one, other in self.pairs if other == variable)


def is_needed(folding: Folding, marked: Callable[[Choice], bool]) -> bool:
    """Whether nothing comes out of a partition unless one of these choices maps some row."""
    endings = (Effect.COMPLETES, Effect.TIMES_OUT)

    def onward(state: int) -> Iterator[int]:
        waits = folding.waits[state : state + 1]
        unmarked = (choice.target for choice in folding.choices[state] if not marked(choice))
        return (one for one in (*waits, *unmarked) if one is not None)

    def ends(state: int) -> bool:
        choices = folding.choices[state]
        by_row = any(choice.accepts or choice.effect in endings for choice in choices)
        return by_row or any(folding.ends[state : state + 1])

    return not any(map(ends, reachable(range(folding.starts), onward)))


def may_map_twice(folding: Folding, waits: tuple[int | None, ...]) -> bool:
    """Whether two ways may map the same rows to the same variables and both be a match.

    waits: the state in which a run waits that skips a row. Conditions are unknown here. Two ways go
    on side by side; `apart` says whether they have differed.

    Source: Book, Even, Greibach, Ott, "Ambiguity in graphs and expressions", IEEE TC 20(2), 1971.
    """
    folded, begin = folding.choices, range(folding.starts)
    accepting = [any(choice.accepts for choice in choices) for choices in folded]

    def onward(two: tuple[int, int, bool]) -> Iterator[tuple[int, int, bool]]:
        one, other, apart = two
        found = [(waits[one], waits[other], apart)]
        found += [
            (move.target, another.target, apart or place != second)
            for place, move in enumerate(folded[one])
            for second, another in enumerate(folded[other])
            if move.variable == another.variable
        ]
        for left, right, differ in found:
            if left is not None and right is not None:
                yield left, right, differ

    pairs = reachable(((one, other, one != other) for one in begin for other in begin), onward)
    return any(apart and accepting[one] and accepting[other] for one, other, apart in pairs)


MOST_SETS = 200  # of states: each further part of a pattern may double them


def determinise(folding: Folding) -> Folding | None:
    """Each match found in one way: a state for each set of states in which a run may be that has
    mapped the same rows to the same variables. None for more than MOST_SETS, and for anchors.

    Only where it does not depend on the state whether a row may be skipped.

    Source: Rabin and Scott, "Finite automata and their decision problems", subset construction.
    """
    if any(choice.guard for choices in folding.choices for choice in choices):
        return None

    def merged(members: frozenset[int]) -> Iterator[tuple[Choice, frozenset[int] | None]]:
        ways = [choice for state in sorted(members) for choice in folding.choices[state]]
        yield from [(way, None) for way in ways if way.accepts][:1]
        by_variable = {way.variable: way for way in reversed(ways) if not way.accepts}
        for variable, choice in by_variable.items():
            onward = (way.target for way in ways if way.variable == variable)
            target = frozenset(one for one in onward if one is not None)
            yield replace(choice, again=False), target

    start = frozenset(range(folding.starts))
    found = list(islice(number_states([start], merged), MOST_SETS + 1))
    if len(found) > MOST_SETS:
        return None
    sets, choices = zip(*found, strict=True)
    return Folding(choices, tuple(folding.states[min(one)] for one in sets))
