"""A row pattern compiled so that each choice says which occurrence of its variable it takes.

`A B+ A` has three occurrences of variables; the program knows two variables. So the pattern is
compiled with a variable of its own for each occurrence, and the choices are given their variables
back. The words stay the same, in the same preferment order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, count

from matchrec.dataclass import dataclass
from matchrec.nfa.closure import Choice, Effect, Folded, Folding, fold
from matchrec.nfa.compile import compile_program
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.nfa.facts import least_rows
from matchrec.nfa.occurrences.copies import States, is_nearer, tell_apart, without_empty_match
from matchrec.nfa.outcomes import A_MATCH
from matchrec.plan.pattern import RowPattern, Variable, replace_children


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

    every_way: as of `fold`; an empty match is none then. Raises MatchRecognizePlanError where it is
    too large.
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
    choices = tuple(tuple(named(one, found) for one in state) for state in folding.choices)
    remaining = least_rows(choices)
    return Occurrences(
        CompiledPattern(compiled.program, replace(folding, choices=choices)),
        tuple(found),
        tuple(taken(folding.choices)),
        remaining,
        tuple(nearer(choices, remaining, others)),
    )


def occurrences_of_stages(compiled: CompiledPattern, stages: int) -> Occurrences:
    """The same of a program of so many stages, each of which is an occurrence: no two share a name.

    A run that begins awaits what any of the first places does.
    """
    folding = compiled.folding
    remaining = least_rows(accepting_by_time(folding))
    first = frozenset(range(folding.starts))
    others = [first if state in first else frozenset() for state in range(len(folding.choices))]
    return Occurrences(
        compiled,
        tuple(range(stages)),
        tuple(taken(folding.choices)),
        remaining,
        tuple(nearer(folding.choices, remaining, others)),
    )


def accepting_by_time(folding: Folding) -> Folded:
    """The choices, with one that accepts where a run needs no further row but time."""
    accept = Choice(0, None, None)
    return tuple(
        (*choices, accept)
        if end == A_MATCH or any(one.effect is Effect.COMPLETES for one in choices)
        else choices
        for choices, end in zip(folding.choices, folding.ends, strict=True)
    )


def named(choice: Choice, variables: list[int]) -> Choice:
    """A choice of an occurrence as one of its variable."""
    if choice.variable is None:
        return choice
    return replace(choice, variable=variables[choice.variable])


def taken(folded: Folded) -> Iterator[int]:
    """The occurrence of each choice, -1 of one that accepts."""
    for choices in folded:
        yield from (-1 if choice.variable is None else choice.variable for choice in choices)


def nearer(
    folded: Folded, remaining: tuple[int, ...], others: list[States]
) -> Iterator[tuple[int, ...]]:
    """See `Occurrences`."""
    first = [0, *accumulate(map(len, folded))]
    for state, rows in enumerate(remaining):
        found: dict[tuple[int | None, int], int] = {}
        for other in (state, *sorted(others[state])):
            for number, choice in enumerate(folded[other], first[other]):
                if is_nearer(choice, rows, remaining):
                    found.setdefault((choice.variable, choice.guard), number)
        yield tuple(found.values())
