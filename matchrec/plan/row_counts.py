"""Count the rows of a match, and the rows of a match before the rows of a variable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from matchrec.plan import pattern as patterns


@dataclass(frozen=True, slots=True)
class RowCount:
    """The bounds of a number of rows, both inclusive."""

    least: int
    # `inf` if there is no limit.
    most: float


NO_ROWS = RowCount(0, 0)
ANY_ROWS = RowCount(0, inf)


def count_rows_before(pattern: patterns.RowPattern) -> dict[str, RowCount]:
    """Return, for each variable, how many rows of a match are before any row mapped to it.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> counts = count_rows_before(parse_row_pattern("A B? (C | A D)"))
    >>> {name: (count.least, count.most) for name, count in counts.items()}
    {'A': (0, 2), 'B': (1, 1), 'C': (1, 2), 'D': (2, 3)}
    """
    counts: dict[str, RowCount] = {}

    def visit(part: patterns.RowPattern, rows_before: RowCount) -> None:
        """Count the variables of a part, before which the match has `rows_before` rows."""
        if isinstance(part, patterns.Variable):
            # The variable may occur in the pattern several times.
            count = counts.get(part.name, rows_before)
            counts[part.name] = RowCount(
                min(count.least, rows_before.least), max(count.most, rows_before.most)
            )
        if isinstance(part, patterns.Concatenation):
            for inner_part in part.parts:
                visit(inner_part, rows_before)
                rows_before = _add_row_counts((rows_before, count_rows(inner_part)))
            return
        for index, inner_part in enumerate(patterns.list_children(part)):
            visit(inner_part, _add_row_counts((rows_before, _count_rows_before_child(part, index))))

    visit(pattern, NO_ROWS)
    return counts


def _count_rows_before_child(pattern: patterns.RowPattern, index: int) -> RowCount:
    """Return how many rows of a match of a pattern are before a row of one of its parts.

    Args:
        pattern: a pattern with parts that is not a concatenation.
        index: the index of the part in `list_children`, from 0.
    """
    match pattern:
        case patterns.Permutation(parts):
            other_parts = (*parts[:index], *parts[index + 1 :])
            return RowCount(0, _add_row_counts(map(count_rows, other_parts)).most)
        case patterns.Quantified(part, _, most):
            most_before = inf if most is None else max(most - 1, 0)
            return RowCount(0, _multiply_rows(count_rows(part).most, most_before))
        case patterns.Alternation() | patterns.Exclusion():
            return NO_ROWS
        case _:  # a new operator, for which nothing is known
            return ANY_ROWS


def count_rows(pattern: patterns.RowPattern) -> RowCount:
    """Return how many rows a match of a pattern has.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> count_rows(parse_row_pattern("A{2,3} (B | C D)"))
    RowCount(least=3, most=5)
    """
    match pattern:
        case patterns.Variable():
            return RowCount(1, 1)
        case patterns.Alternation(parts):
            counts = [count_rows(part) for part in parts]
            return RowCount(
                min(count.least for count in counts), max(count.most for count in counts)
            )
        case patterns.Quantified(part, least, most):
            count_of_part = count_rows(part)
            most_rows = _multiply_rows(count_of_part.most, inf if most is None else most)
            return RowCount(count_of_part.least * least, most_rows)
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return _add_row_counts(map(count_rows, patterns.list_children(pattern)))
        case _:
            return ANY_ROWS if patterns.list_children(pattern) else NO_ROWS


def _add_row_counts(row_counts: Iterable[RowCount]) -> RowCount:
    """Return the number of rows of several parts together."""
    counts = list(row_counts)
    return RowCount(sum(count.least for count in counts), sum(count.most for count in counts))


def _multiply_rows(rows: float, repetitions: float) -> float:
    """Return the product of two numbers, which may be `inf`. 0 times `inf` is 0."""
    return rows * repetitions if rows and repetitions else 0


def find_first_variables(pattern: patterns.RowPattern) -> frozenset[str]:
    """Return the variables to which the first row of a match may be mapped.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> sorted(find_first_variables(parse_row_pattern("A? (B | C)+ D")))
    ['A', 'B', 'C']
    """
    rows_before = count_rows_before(pattern)
    return frozenset(name for name, count in rows_before.items() if count.least == 0)


def always_is_first_row(
    pattern: patterns.RowPattern, members: frozenset[str], *, last_of_members: bool
) -> bool:
    """Return whether the first or last row of some variables is certainly the first of each match.

    Args:
        pattern: a row pattern.
        members: names of primary variables.
        last_of_members: whether to check the last row of these variables instead of the first one.

    >>> from matchrec.source import Span
    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A+ B", Span(0, 4))
    >>> always_is_first_row(pattern, frozenset("A"), last_of_members=False)
    True
    >>> always_is_first_row(pattern, frozenset("A"), last_of_members=True)
    False
    """
    if patterns.can_be_empty(pattern):
        return False
    if not find_first_variables(pattern) <= members:
        return False
    if not last_of_members:
        return True
    rows_before = count_rows_before(pattern)
    return all(rows_before[name].most == 0 for name in members)
