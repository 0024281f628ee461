"""How many rows a row pattern has, and how many of them are before a variable."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_children,
    may_be_empty,
)

# The least and the most number of rows.
RowCount = tuple[int, float]


def count_rows_before(pattern: RowPattern) -> dict[str, RowCount]:
    """Return, for each variable, how many rows of a match are before a row that is mapped to it.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> count_rows_before(parse_row_pattern("A B? (C | A D)", Span(0, 14)))
    {'A': (0, 2), 'B': (1, 1), 'C': (1, 2), 'D': (2, 3)}
    """
    rows_before: dict[str, RowCount] = {}

    def visit(part: RowPattern, before: RowCount) -> None:
        """Add the variables of a part that has `before` rows of the match before it."""
        if isinstance(part, Variable):
            least, most = rows_before.get(part.name, before)
            rows_before[part.name] = min(least, before[0]), max(most, before[1])
        if isinstance(part, Concatenation):
            for inner in part.parts:
                visit(inner, before)
                before = _add_row_counts((before, count_rows(inner)))
            return
        for index, inner in enumerate(list_children(part)):
            visit(inner, _add_row_counts((before, _count_rows_before_child(part, index))))

    visit(pattern, (0, 0))
    return rows_before


def _count_rows_before_child(pattern: RowPattern, index: int) -> RowCount:
    """Return how many rows of a pattern are before a row of its part with this index.

    The pattern is no concatenation.
    """
    match pattern:
        case Permutation(parts):
            other_parts = (*parts[:index], *parts[index + 1 :])
            _, most_rows = _add_row_counts(map(count_rows, other_parts))
            return 0, most_rows
        case Quantified(part, _, most):
            most_before = inf if most is None else max(most - 1, 0)
            return 0, _multiply_rows(count_rows(part)[1], most_before)
        case Alternation() | Exclusion():
            return 0, 0
        case _:  # the bounds that hold for every operator
            return 0, inf


def count_rows(pattern: RowPattern) -> RowCount:
    """Return how many rows a match of a pattern has."""
    match pattern:
        case Variable():
            return 1, 1
        case Alternation(parts):
            least_rows, most_rows = zip(*map(count_rows, parts), strict=True)
            return min(least_rows), max(most_rows)
        case Quantified(part, least, most):
            least_once, most_once = count_rows(part)
            return least_once * least, _multiply_rows(most_once, inf if most is None else most)
        case Concatenation() | Permutation() | Exclusion():
            return _add_row_counts(map(count_rows, list_children(pattern)))
        case _:
            return 0, inf if list_children(pattern) else 0


def _add_row_counts(row_counts: Iterable[RowCount]) -> RowCount:
    """Return the rows of several parts together."""
    least, most = zip((0, 0), *row_counts, strict=True)
    return sum(least), sum(most)


def _multiply_rows(rows: float, repetitions: float) -> float:
    """Return the product, which is 0 for no rows that are repeated without a bound."""
    return rows * repetitions if rows and repetitions else 0


def always_is_first_row(
    pattern: RowPattern, members: frozenset[str], *, last_of_members: bool
) -> bool:
    """Return whether the first or last row of some variables is certainly the first of each match.

    Args:
        pattern: a row pattern.
        members: names of primary variables.
        last_of_members: whether it is about the last row of these variables, or the first one.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A+ B", Span(0, 4))
    >>> always_is_first_row(pattern, frozenset("A"), last_of_members=False)
    True
    >>> always_is_first_row(pattern, frozenset("A"), last_of_members=True)
    False
    """
    if may_be_empty(pattern):
        return False
    rows_before = count_rows_before(pattern)
    can_be_first = {name for name, (least, _) in rows_before.items() if least == 0}
    if not can_be_first <= members:
        return False
    return not last_of_members or all(rows_before[name][1] == 0 for name in members)
