"""A row pattern goes in; out comes its program, whose choices say which occurrence a row takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, count

from matchrec.automaton.closure import (
    Choice,
    Effect,
    Folded,
    Folding,
    fold,
    least_rows,
    limit_choices,
    number_states,
)
from matchrec.automaton.compile import CompiledPattern, compile_program
from matchrec.automaton.program import A_MATCH, GUARD_START
from matchrec.plan.pattern import RowPattern, Variable, replace_children
from matchrec.source import Span

# Copies of states, so that a state tells all that a run may await whose rows it has taken.
#
# A run is told by the occurrences that its rows take, and these may lead to several states: after
# the first A of `PERMUTE(A+, B, C)` one goes on with B and another one with C. Where these states
# await different occurrences, each gets a copy for each set of states that the same occurrences
# lead to. The words stay the same, in the same preferment order.
#
# Cost: linear in the choices; with copies, at worst exponential in the states, so they are limited.
# Source: Rabin and Scott, "Finite automata and their decision problems", the subsets of states.

States = frozenset[int]
Copy = tuple[int, States]
START: Copy = (0, frozenset())  # no row leads back to this copy of the start


def tell_apart(folding: Folding, span: Span | None) -> tuple[Folding, list[States]]:
    """The folding with copies of its states where needed.

    Also of each state those that the same occurrences lead to, from which a match needs as few rows
    by others: one copy of each. Raises MatchRecognizePlanError where there are over MOST_CHOICES.
    """
    folding = without_past_anchors(folding)
    folded = folding.choices
    remaining = least_rows(folded)
    awaited = [
        frozenset(choice.variable for choice in choices if is_nearer(choice, rows, remaining))
        for choices, rows in zip(folded, remaining, strict=True)
    ]
    alone = [frozenset[int]() for _ in folded]
    if not may_await_others(folded, remaining, awaited):
        return folding, alone
    # each state with each set of states that the same occurrences lead to
    found = limit_choices(number_states([START], partial(choices_of_copy, folded)), span)
    copies, copied = zip(*found, strict=True)
    others = [
        frozenset(
            other
            for other in states
            if remaining[other] == remaining[state] and not awaited[other] <= awaited[state]
        )
        for state, states in copies
    ]
    if not any(others):
        return folding, alone
    one_copy = {state: number for number, (state, _) in enumerate(copies)}
    states = tuple(folding.states[state] for state, _ in copies)
    return (
        replace(folding, choices=copied, states=states),
        [frozenset(one_copy[other] for other in each) for each in others],
    )


def without_past_anchors(folding: Folding) -> Folding:
    """The folding with a copy of the start for rows that lead back to it, after which no `^` holds.

    After a row of `A* ^ A B`, its start would still say that two rows more are a match.
    """
    first = folding.choices[0]
    if not any(choice.guard & GUARD_START for choice in first):
        return folding
    return with_copy_of_start(folding, tuple(one for one in first if not one.guard & GUARD_START))


def without_empty_match(folding: Folding) -> Folding:
    """The folding whose start accepts nothing, with a copy of it for rows that lead back to it."""
    first = folding.choices[0]
    if not any(choice.accepts for choice in first):
        return folding
    states = with_copy_of_start(folding, first)
    start = tuple(choice for choice in states.choices[0] if not choice.accepts)
    return replace(states, choices=(start, *states.choices[1:]))


def with_copy_of_start(folding: Folding, copy: tuple[Choice, ...]) -> Folding:
    """The folding in which what leads back to the start leads to one more state."""
    folded = folding.choices
    if not any(choice.target == 0 for choices in folded for choice in choices):
        return folding
    back = len(folded)
    choices = tuple(
        tuple(replace(choice, target=back) if choice.target == 0 else choice for choice in each)
        for each in (*folded, copy)
    )
    return replace(folding, choices=choices, states=(*folding.states, folding.states[0]))


def is_nearer(choice: Choice, rows: int, remaining: tuple[int, ...]) -> bool:
    return choice.target is not None and remaining[choice.target] < rows


def may_await_others(
    folded: Folded, remaining: tuple[int, ...], awaited: list[frozenset[int | None]]
) -> bool:
    """Whether the same occurrences might lead to states as near that await different ones."""
    first: dict[tuple[int | None, int], frozenset[int | None]] = {}
    forks = any(len({choice.variable for choice in each}) < len(each) for each in folded)
    return forks and any(
        first.setdefault((choice.variable, remaining[choice.target]), awaited[choice.target])
        != awaited[choice.target]
        for choices in folded
        for choice in choices
        if choice.target is not None
    )


def choices_of_copy(folded: Folded, copy: Copy) -> Iterator[tuple[Choice, Copy | None]]:
    """The choices of a copy, and to which copy each leads; one that `^` decides comes first."""
    state, states = copy
    for choice in folded[state]:
        if choice.target is None:
            yield choice, None
            continue
        free = reached(folded, states or {state}, choice, 0) | {choice.target}
        if copy == START:
            anchored = reached(folded, {state}, choice, GUARD_START)
            if anchored != free or choice.guard:
                yield replace(choice, guard=GUARD_START), (choice.target, anchored)
            if choice.guard:
                continue
        yield choice, (choice.target, free)


def reached(folded: Folded, states: States | set[int], taken: Choice, guard: int) -> States:
    """The states that a row leads to which takes the same occurrence, with no other guard."""
    return frozenset(
        one.target
        for state in states
        for one in folded[state]
        if one.target is not None and one.variable == taken.variable and not one.guard & ~guard
    )


# A row pattern compiled so that each choice says which occurrence of its variable it takes.
#
# `A B+ A` has three occurrences of variables; the program knows two variables. So the pattern is
# compiled with a variable of its own for each occurrence, and the choices are given their variables
# back. The words stay the same, in the same preferment order.


@dataclass(frozen=True, slots=True)
class Occurrences:
    """A compiled pattern, and what its choices are to the row pattern as it is written.

    pattern: its choices map rows to the variables of the query. variables: of each occurrence, in
    the order of PATTERN, the variable's id. taken: of each choice in order, the occurrence that a
    row takes by it, -1 where it accepts. remaining: of each state, how many rows a match needs from
    there at least. nearer: of each state, a choice of each variable by which a match would need
    fewer rows, there or in another state that the same occurrences lead to.
    """

    pattern: CompiledPattern
    variables: tuple[int, ...]
    taken: tuple[int, ...]
    remaining: tuple[int, ...]
    nearer: tuple[tuple[int, ...], ...]


def compile_occurrences(
    compiled: CompiledPattern, pattern: RowPattern, *, every_way: bool = False
) -> Occurrences:
    """The occurrences of variables in `pattern`, of which `compiled` is the program.

    every_way: as of `fold`; an empty match is none then. Raises MatchRecognizePlanError.
    """
    names = compiled.program.variables
    numbers = count()
    found: list[int] = []

    def number(node: RowPattern) -> RowPattern:
        if not isinstance(node, Variable):
            return replace_children(node, number)
        found.append(names.index(node.name))
        return replace(node, name=str(next(numbers)))

    numbered = number(pattern)
    program = compile_program(numbered, tuple(map(str, range(len(found)))))
    folded = fold(program, every_way=every_way, span=pattern.span)
    folding, others = tell_apart(without_empty_match(folded) if every_way else folded, pattern.span)
    choices = tuple(tuple(named(choice, found) for choice in state) for state in folding.choices)
    rows, by_choice = least_rows(choices), tuple(taken(folding.choices))
    own = CompiledPattern(compiled.program, replace(folding, choices=choices))
    ways = tuple(nearer(choices, rows, others))
    return Occurrences(own, tuple(found), by_choice, rows, ways)


def occurrences_of_stages(compiled: CompiledPattern, stages: int) -> Occurrences:
    """Those of a program of so many stages, each of which is one, as no two share a name."""
    folding, accept = compiled.folding, Choice(0, None, None)
    accepting = tuple(
        (*choices, accept)  # where a run needs no further row but time
        if end == A_MATCH or any(choice.effect is Effect.COMPLETES for choice in choices)
        else choices
        for choices, end in zip(folding.choices, folding.ends, strict=True)
    )
    remaining = least_rows(accepting)
    first = frozenset(range(folding.starts))  # a run that begins awaits what any of these does
    others = [first if state in first else frozenset() for state in range(len(folding.choices))]
    by_choice = tuple(taken(folding.choices))
    ways = tuple(nearer(folding.choices, remaining, others))
    return Occurrences(compiled, tuple(range(stages)), by_choice, remaining, ways)


def named(choice: Choice, variables: list[int]) -> Choice:
    if choice.variable is None:
        return choice
    return replace(choice, variable=variables[choice.variable])


def taken(folded: Folded) -> Iterator[int]:
    for choices in folded:
        yield from (-1 if choice.variable is None else choice.variable for choice in choices)


def nearer(
    folded: Folded, remaining: tuple[int, ...], others: list[States]
) -> Iterator[tuple[int, ...]]:
    first = [0, *accumulate(map(len, folded))]
    for state, rows in enumerate(remaining):
        found: dict[tuple[int | None, int], int] = {}
        for other in (state, *sorted(others[state])):
            for number, choice in enumerate(folded[other], first[other]):
                if is_nearer(choice, rows, remaining):
                    found.setdefault((choice.variable, choice.guard), number)
        yield tuple(found.values())
