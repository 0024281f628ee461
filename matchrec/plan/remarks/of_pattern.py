"""Remarks on the end of a row pattern, and on one that has only empty matches.

Only the last part is looked at. Before it a variable without a condition is of use: the first row
of `STRT DOWN+`, what lies between in `A X*? B`. Classifying all rows, `(UP | DOWN | X)+`, is too,
and so is `A X*` in a window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors.warnings.kinds import MatchRecognizeWarning
from matchrec.errors.warnings.wording import any_rows, empty_matches, reluctant_end
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Negation,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    may_be_empty,
    show,
    variable_names,
    walk,
)


def ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """What the last part of the row pattern takes."""
    is_preferred = plan.output is MatchOutput.PREFERRED
    prefers = prefers_empty(plan.pattern) and is_preferred
    if prefers or not variable_names(plan.pattern):
        yield empty_matches(show(plan.pattern), plan.pattern.span)
        return
    defined = {definition.variable for definition in plan.definitions}
    has_window = plan.within is not None or plan.row_gap is not None
    for loop in last_loops(plan.pattern):
        if not loop.greedy and is_preferred:
            yield reluctant_end(show(loop), loop.least, instead_of(loop), loop.span)
        elif loop.greedy and defined and not has_window and takes_any_row(loop, defined):
            yield any_rows(show(loop.part), show(loop), loop.span)


def prefers_empty(pattern: RowPattern) -> bool:
    """Whether the most preferred word has no rows and needs nothing else."""
    match pattern:
        case Empty():
            return True
        case Concatenation(parts) | Permutation(parts):
            return all(map(prefers_empty, parts))
        case Alternation(parts):
            return prefers_empty(parts[0])
        case Quantified(part, least, _, greedy):
            return prefers_empty(part) if greedy or least else True
        case Exclusion(part):
            return prefers_empty(part)
        case _:
            return False


def last_loops(pattern: RowPattern) -> Iterator[Quantified]:
    """The quantified parts after which a match may end whatever follows."""
    match pattern:
        case Concatenation(parts):
            for number in reversed(range(len(parts))):
                yield from last_loops(parts[number])
                if not may_be_left_out(parts[number]):
                    return
        case Alternation(parts):
            for part in parts:
                yield from last_loops(part)
        case Exclusion(part):
            yield from last_loops(part)
        case Quantified(least=least, most=most) if least != most:
            yield pattern


def may_be_left_out(pattern: RowPattern) -> bool:
    """Whether nothing needs to stand for it, anywhere in the partition."""
    conditional = PartitionStart | PartitionEnd | Negation
    asks = any(isinstance(node, conditional) for node in walk(pattern))
    return may_be_empty(pattern) and not asks


def instead_of(loop: Quantified) -> tuple[str, str]:
    """The greedy loop, and what takes as few rows; nothing where that is none."""
    fixed = replace(loop, most=loop.least, greedy=True)
    shown = {0: "", 1: show(loop.part)}.get(loop.least, show(fixed))
    return show(replace(loop, greedy=True)), shown


def takes_any_row(loop: Quantified, defined: set[str]) -> bool:
    """Whether one variable without a condition is repeated without an upper bound."""
    return loop.most is None and isinstance(loop.part, Variable) and loop.part.name not in defined
