"""How many rows of a match come before each variable, by the row pattern alone."""

from __future__ import annotations

from collections.abc import Iterable

from typing_extensions import assert_never

from matchrec.dataclass import dataclass
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


@dataclass(frozen=True, slots=True)
class RowsBefore:
    """At least and at most so many rows; most is None where there is no bound."""

    least: int
    most: int | None

    def __add__(self, other: RowsBefore) -> RowsBefore:
        both = self.most is not None and other.most is not None
        most = (self.most or 0) + (other.most or 0) if both else None
        return RowsBefore(self.least + other.least, most)

    def __or__(self, other: RowsBefore) -> RowsBefore:
        both = self.most is not None and other.most is not None
        most = max(self.most or 0, other.most or 0) if both else None
        return RowsBefore(min(self.least, other.least), most)


NONE = RowsBefore(0, 0)


def rows_before(pattern: RowPattern) -> dict[str, RowsBefore]:
    """For each variable, how many rows come before a row that is mapped to it.

    >>> from matchrec.frontends.row_pattern.grammar import parse_row_pattern
    >>> from matchrec.source import Span
    >>> before = rows_before(parse_row_pattern("A B? (C | A D)", Span(0, 14)))
    >>> [(name, one.least, one.most) for name, one in before.items()]
    [('A', 0, 2), ('B', 1, 1), ('C', 1, 2), ('D', 2, 3)]
    """
    found: dict[str, RowsBefore] = {}
    _add(pattern, NONE, found)
    return found


def length(pattern: RowPattern) -> RowsBefore:
    """How many rows a part of a match has."""
    match pattern:
        case Variable():
            return RowsBefore(1, 1)
        case Empty() | PartitionStart() | PartitionEnd() | Negation():
            return NONE
        case Concatenation(parts) | Permutation(parts):
            return _sum(parts)
        case Alternation(parts):
            first, *others = map(length, parts)
            for other in others:
                first |= other
            return first
        case Exclusion(part):
            return length(part)
        case Quantified(part, least, most):
            once = length(part)
            bounded = once.most == 0 or (most is not None and once.most is not None)
            return RowsBefore(
                once.least * least, (once.most or 0) * (most or 0) if bounded else None
            )
        case _:
            assert_never(pattern)


def _sum(parts: Iterable[RowPattern]) -> RowsBefore:
    total = NONE
    for part in parts:
        total += length(part)
    return total


def _add(pattern: RowPattern, before: RowsBefore, found: dict[str, RowsBefore]) -> None:
    match pattern:
        case Variable(name):
            found[name] = found[name] | before if name in found else before
        case Concatenation(parts):
            for part in parts:
                _add(part, before, found)
                before += length(part)
        case Permutation(parts):
            for part in parts:
                others = _sum(other for other in parts if other is not part)
                _add(part, before + RowsBefore(0, others.most), found)
        case Alternation(parts):
            for part in parts:
                _add(part, before, found)
        case Exclusion(part):
            _add(part, before, found)
        case Quantified(part, _, most):
            once = length(part)
            repeats = RowsBefore(0, None) if most is None else RowsBefore(0, 0)
            if most is not None and once.most is not None:
                repeats = RowsBefore(0, once.most * (most - 1))
            elif once.most is None:
                repeats = RowsBefore(0, None)
            _add(part, before + repeats, found)
        case Empty() | PartitionStart() | PartitionEnd() | Negation():
            return
        case _:
            assert_never(pattern)
