"""Which variables have a row in every match before another one gets its row."""

from __future__ import annotations

from typing_extensions import assert_never

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
)

Names = frozenset[str]


def always_precedes(pattern: RowPattern, members: Names, variable: str) -> bool:
    """Whether a row of one of the members stands before each row of the variable.

    >>> from matchrec.frontends.row_pattern.grammar import parse_row_pattern
    >>> pattern = parse_row_pattern("A (B | C)+ D")
    >>> [always_precedes(pattern, frozenset({one}), "D") for one in "AB"]
    [True, False]
    """
    match pattern:
        case Variable(name=name):
            return name != variable
        case Concatenation(parts=parts):
            for part in parts:
                if not always_precedes(part, members, variable):
                    return False
                if _has_row(part, members):
                    return True
            return True
        case Alternation(parts=parts) | Permutation(parts=parts):
            return all(always_precedes(part, members, variable) for part in parts)
        case Quantified(part=part) | Exclusion(part=part):
            return always_precedes(part, members, variable)
        case Empty() | PartitionStart() | PartitionEnd() | Negation():
            return True
        case _:
            assert_never(pattern)


def _has_row(pattern: RowPattern, members: Names) -> bool:
    """Whether what a pattern matches has a row of one of the members in any case."""
    match pattern:
        case Variable(name=name):
            return name in members
        case Concatenation(parts=parts) | Permutation(parts=parts):
            return any(_has_row(part, members) for part in parts)
        case Alternation(parts=parts):
            return all(_has_row(part, members) for part in parts)
        case Quantified(part=part, least=least):
            return least > 0 and _has_row(part, members)
        case Exclusion(part=part):
            return _has_row(part, members)
        case Empty() | PartitionStart() | PartitionEnd() | Negation():
            return False
        case _:
            assert_never(pattern)
