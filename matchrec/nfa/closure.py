"""Proceed edges folded away: for each state between two rows, its choices in preferment order.

`A* B` has the states `take A -> 0, proceed -> 1` and `begin B -> 2`; folded, the first one has the
choices `A -> 0, B -> 1` and the last one `accept`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum

from matchrec.dataclass import dataclass
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.nfa.program import Action, Anchor, Edge, Program, StateId, VariableId
from matchrec.source import Span

MOST_CHOICES = 200_000
GUARD_START = 1
GUARD_END = 2
ANCHORS = GUARD_START | GUARD_END
FIRST_NOT = 4
GUARDS = {Anchor.PARTITION_START: GUARD_START, Anchor.PARTITION_END: GUARD_END}


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
        """Whether it accepts without reading a row."""
        return self.target is None and self.effect is None


Folded = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """The choices of each folded state, and the state of the program that it is.

    The first `starts` states are those in which runs begin. waits: of a program of stages, the
    state in which a run waits that skips a row, None where it may not; ends: what a run is whose
    window or partition ends in a state, near: the window between neighbours that ends a run there,
    the smallest of several, or NOT_NEAR: see `places`.
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
    numbers = {program.start: 0}
    order = [program.start]
    folded = []
    size = 0
    for state in order:  # grows while it is read
        choices = []
        for choice in choices_of(program, state, every_way=every_way):
            size += 1
            if size == MOST_CHOICES + 1:
                if not every_way:
                    raise pattern_too_large(MOST_CHOICES, "choices", span)
                fold(program, span=span)  # which raises, unless acceptances leave few of them
            if choice.target is None:
                choices.append(choice)
                continue
            if choice.target not in numbers:
                numbers[choice.target] = len(order)
                order.append(choice.target)
            choices.append(replace(choice, target=numbers[choice.target]))
        folded.append(tuple(choices))
    return Folding(tuple(folded), tuple(order))


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
        guard |= guard_of(edge)
        if guard & ANCHORS & ~possible or is_repeated(seen, edge.target, guard):
            continue
        if edge.target == program.final:
            yield Choice(guard & ANCHORS if guard & GUARD_END else guard, None, None)
            if guard == 0 and not every_way:
                return
        waiting += [(onward, guard) for onward in reversed(program.states[edge.target].edges)]


def guard_of(edge: Edge) -> int:
    """What a proceed edge asks: of the partition, and of the next row."""
    anchor = 0 if edge.anchor is None else GUARDS[edge.anchor]
    return anchor | sum(FIRST_NOT << variable for variable in edge.forbids)


def forbidden_by(guard: int) -> frozenset[VariableId]:
    """The variables whose conditions a row must not satisfy."""
    bits = guard // FIRST_NOT
    return frozenset(one for one in range(bits.bit_length()) if bits >> one & 1)


def is_repeated(seen: dict[object, list[int]], what: object, guard: int) -> bool:
    """Whether `what` was met before under a subset of `guard`; it is now."""
    guards = seen.setdefault(what, [])
    if any(earlier & ~guard == 0 for earlier in guards):
        return True
    guards.append(guard)
    return False
