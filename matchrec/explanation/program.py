"""The program of a clause as text: states that a counted loop repeats stand there once.

`A{1,50}` compiles to 49 copies of two states, one after the other, so they are found in the program
alone, whatever part of the row pattern they come from.

Cost: O(states) for a program of loops; a copy of more than `LONGEST` states is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from textwrap import indent
from typing import TypeVar

from matchrec.nfa.program import NO_FORMULAS, Formulas, Program, StateId

T = TypeVar("T")

LONGEST = 200  # states of a copy
SAVED = 4  # states that a repeat must save


@dataclass(frozen=True, slots=True)
class RepeatedStates:
    """`length` states from `first` on, which stand there `times` times.

    A target of the first copy is as far ahead in each of the others, or if it is not among these
    states, and not the one after them, the same in all. inner: the repeats of the first copy.
    """

    first: StateId
    length: int
    times: int
    inner: tuple[RepeatedStates, ...] = ()

    @property
    def end(self) -> StateId:
        """The state after the last copy."""
        return self.first + self.length * self.times

    @property
    def copy(self) -> range:
        """The states of the first copy."""
        return range(self.first, self.first + self.length)

    def original(self, state: StateId) -> StateId:
        """The state of the first copy that `state` is a copy of, or itself where it is none."""
        if not self.first <= state < self.end:
            return state
        found = self.first + (state - self.first) % self.length
        for states in self.inner:
            found = states.original(found)
        return found


Shapes = list[tuple[object, ...]]


def find_repeats(program: Program, formulas: Formulas) -> tuple[RepeatedStates, ...]:
    """The repeats of a program, from its first state to its last."""
    shapes = [shape(program, formulas, number) for number in range(len(program.states))]
    return tuple(repeats_in(program, shapes, range(len(shapes))))


def said_once(states: Mapping[StateId, T], program: Program) -> Iterator[tuple[StateId, T]]:
    """What there is to say of states; of copies once, if it is the same of all of them."""
    copies: dict[StateId, list[StateId]] = {}
    for state, original in enumerate(find_originals(program)):
        copies.setdefault(original, []).append(state)
    for original, found in copies.items():
        same = all(one in states and states[one] == states.get(original) for one in found)
        yield from ((one, states[one]) for one in found[: 1 if same else None] if one in states)


def find_originals(program: Program) -> list[StateId]:
    """Of each state the one that it is a copy of, or itself."""
    repeats = find_repeats(program, NO_FORMULAS)
    return [
        reduce(lambda at, one: one.original(at), repeats, state)
        for state in range(len(program.states))
    ]


def repeats_in(program: Program, shapes: Shapes, states: range) -> Iterator[RepeatedStates]:
    """The repeats in a row of states; inside of them those of their first copies."""
    state = states.start
    while state < states.stop:
        repeat = most_saving(program, shapes, range(state, states.stop))
        if repeat is None:
            state += 1
        else:
            yield replace(repeat, inner=tuple(repeats_in(program, shapes, repeat.copy)))
            state = repeat.end


def shape(program: Program, formulas: Formulas, state: StateId) -> tuple[object, ...]:
    """What is the same in all copies of a state: its edges, but for their targets."""
    name = program.names[state].partition(":")[0] if program.names else ""
    edges = program.states[state].edges
    asked = [formulas.get((state, place)) for place in range(len(edges))]
    own = ((program.label(one), one.needs, one.forbids) for one in edges)
    return name, *zip(own, asked, strict=True)


def most_saving(program: Program, shapes: Shapes, states: range) -> RepeatedStates | None:
    """Of the repeats that begin with the first of these states the one that saves most of them."""
    found: RepeatedStates | None = None
    first, length = states.start, 0
    while (length := length + 1) <= min(LONGEST, len(states) // 2):
        if shapes[first + length] != shapes[first]:
            continue
        repeat = RepeatedStates(first, length, count_copies(program, shapes, states, length))
        if saved(repeat) > (saved(found) if found else SAVED - 1):
            found = repeat
            length = max(length, repeat.end - first)  # a longer copy inside of it saves less
    return found


def saved(repeat: RepeatedStates) -> int:
    """How many states need not be shown."""
    return repeat.length * (repeat.times - 1)


def count_copies(program: Program, shapes: Shapes, states: range, length: int) -> int:
    """How many times the first `length` of these states stand there."""
    fixed: set[StateId] = set()
    first, copied = states.start, states[length:]
    while copied and shapes[copied.start] == shapes[copied.start - length]:
        for before, here in targets(program, copied.start, length):
            if before == here:
                fixed.add(here)
            elif before < first or here != before + length:
                return (copied.start - first) // length
        copied = copied[1:]
    times = (copied.start - first) // length
    inside = [target for target in fixed if first <= target < first + length * times]
    return times if not inside else max(1, (min(inside) - first) // length)


def targets(program: Program, state: StateId, length: int) -> Iterator[tuple[StateId, StateId]]:
    """The targets of a state's edges, each after that of the state it may be a copy of."""
    original, copy = program.states[state - length], program.states[state]
    for before, here in zip(original.edges, copy.edges, strict=True):
        yield before.target, here.target


def program_lines(program: Program, formulas: Formulas) -> Iterator[str]:
    """The states and their edges with their formulas; of copies the first."""
    repeats = find_repeats(program, formulas)
    return _Lines(program, formulas).of(range(len(program.states)), repeats)


@dataclass(frozen=True, slots=True)
class _Lines:
    program: Program
    formulas: Formulas

    def of(self, states: range, repeats: tuple[RepeatedStates, ...]) -> Iterator[str]:
        """These states, with what repeats of them."""
        start = states.start
        for repeat in repeats:
            yield from self.each(range(start, repeat.first))
            yield self.title(repeat)
            yield indent("\n".join(self.of(repeat.copy, repeat.inner)), "  ")
            start = repeat.end
        yield from self.each(range(start, states.stop))

    def each(self, states: range) -> Iterator[str]:
        return (self.program.text_of(state, self.formulas) for state in states)

    def title(self, repeat: RepeatedStates) -> str:
        """Which states these are, and how often they stand there."""
        first, last = self.program.named(repeat.first), self.program.named(repeat.end - 1)
        these = "this one" if repeat.length == 1 else f"these {repeat.length}"
        return f"{first} to {last}, {repeat.times} times {these}:"
