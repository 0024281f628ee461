"""Count the rows of a match, and the rows of a match before the rows of a variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from matchrec.plan import pattern as patterns


@dataclass(frozen=True, slots=True)
class RowCount:
    """The bounds of a number of rows, both inclusive."""

    least: int
    # `inf` if there is no limit.
    most: float

    def __add__(self, other: RowCount) -> RowCount:
        """Return the number of rows of two parts together."""
        return RowCount(self.least + other.least, self.most + other.most)

    def __or__(self, other: RowCount) -> RowCount:
        """Return the number of rows of a match that has one of two parts."""
        return RowCount(min(self.least, other.least), max(self.most, other.most))

    def repeat(self, least: int, most: float) -> RowCount:
        """Return the number of rows of a part that is repeated from `least` to `most` times.

        `most` is `inf` if there is no limit.
        """
        has_rows = self.most > 0 and most > 0  # otherwise `inf` times 0 would be NaN
        return RowCount(self.least * least, self.most * most if has_rows else 0)


NO_ROWS = RowCount(0, 0)
ONE_ROW = RowCount(1, 1)
ANY_ROWS = RowCount(0, inf)


def count_rows_before(pattern: patterns.RowPattern) -> dict[str, RowCount]:
    """Return, for each variable, how many rows of a match are before any row mapped to it.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> counts = count_rows_before(parse_row_pattern("A B? (C | A D)"))
    >>> {name: (count.least, count.most) for name, count in counts.items()}
    {'A': (0, 2), 'B': (1, 1), 'C': (1, 2), 'D': (2, 3)}
    """
    counts: dict[str, RowCount] = {}
    for name, rows_before in _walk_variables(pattern, NO_ROWS):
        counts[name] = counts[name] | rows_before if name in counts else rows_before
    return counts


def _walk_variables(
    pattern: patterns.RowPattern, rows_before: RowCount
) -> Iterator[tuple[str, RowCount]]:
    """Yield each occurrence of a variable: its name, and how many rows are before its rows.

    Args:
        pattern: a row pattern, or a part of it.
        rows_before: how many rows of the match are before the rows of `pattern`.
    """
    match pattern:
        case patterns.Variable(name):
            yield name, rows_before
        case patterns.Concatenation(parts):
            for part in parts:
                yield from _walk_variables(part, rows_before)
                rows_before += count_rows(part)
        case _:
            for index, part in enumerate(patterns.list_children(pattern)):
                yield from _walk_variables(
                    part, rows_before + _count_rows_before_child(pattern, index)
                )


def _count_rows_before_child(pattern: patterns.RowPattern, index: int) -> RowCount:
    """Return how many rows of a match of a pattern are before a row of one of its parts.

    Args:
        pattern: a pattern with parts that is not a concatenation.
        index: the index of the part in `list_children`, from 0.
    """
    match pattern:
        case patterns.Permutation(parts):
            other_parts = (*parts[:index], *parts[index + 1 :])
            return RowCount(0, _count_rows_together(other_parts).most)
        case patterns.Quantified(part, _, most):
            most_before = inf if most is None else max(most - 1, 0)
            return count_rows(part).repeat(0, most_before)
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
            return ONE_ROW
        case patterns.Alternation(parts):
            first_part, *other_parts = parts
            count = count_rows(first_part)
            for part in other_parts:
                count |= count_rows(part)
            return count
        case patterns.Quantified(part, least, most):
            return count_rows(part).repeat(least, inf if most is None else most)
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return _count_rows_together(patterns.list_children(pattern))
        case _:
            return ANY_ROWS if patterns.list_children(pattern) else NO_ROWS


def _count_rows_together(parts: Iterable[patterns.RowPattern]) -> RowCount:
    """Return how many rows several parts have together."""
    return sum(map(count_rows, parts), NO_ROWS)


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
