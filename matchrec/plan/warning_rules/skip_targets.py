"""Warnings about AFTER MATCH SKIP TO a variable if the query fails at some matches.

    PATTERN (A B?)    SKIP TO B          a match of one row has no row of B
    PATTERN (A? B C)  SKIP TO B          without A, the row of B is the first row of the match
    PATTERN (A B+)    SKIP TO LAST B     no warning

The search raises an error at such a match, because it does not know where to go on, or would find
the same match again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import find_first_variables


def warn_about_skip_targets(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if a match can have no row to skip to, or only its first row."""
    skip = plan.after_match
    if skip.variable is None:
        return
    members = frozenset(plan.variables[member] for member in plan.members[skip.variable])
    pattern = patterns.show_pattern(plan.pattern)
    if can_lack_rows(plan.pattern, members):
        yield warnings.skip_to_optional_variable(skip.span, variable=skip.variable, pattern=pattern)
    elif can_skip_to_first_row(plan.pattern, members, to_last=skip.to is SkipTo.LAST):
        yield warnings.skip_to_first_variable(skip.span, variable=skip.variable, pattern=pattern)


def can_lack_rows(pattern: patterns.RowPattern, members: frozenset[str]) -> bool:
    """Return whether a match that is not empty can have no row of some variables.

    Args:
        pattern: a row pattern.
        members: names of primary variables.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> texts = ("A B?", "A (B | C)", "A B{0}", "A+ B+", "(A B)*", "PERMUTE(A, B)")
    >>> [can_lack_rows(parse_row_pattern(text), frozenset("B")) for text in texts]
    [True, True, True, False, False, False]
    """
    match pattern:
        case patterns.Variable(name):
            return name not in members
        case patterns.Alternation(parts):
            return any(can_lack_rows(part, members) for part in parts)
        case patterns.Quantified(most=0):
            return False
        case patterns.Quantified(part=part):
            return can_lack_rows(part, members)
        case _:
            parts = patterns.list_children(pattern)
            has_row = any(can_lack_rows(part, members) for part in parts)
            return has_row and not always_have_row(parts, members)


def always_have_row(parts: Iterable[patterns.RowPattern], members: frozenset[str]) -> bool:
    """Return whether every match of all parts together has a row of some variables."""
    return any(patterns.always_has_row(part, members) for part in parts)


def can_skip_to_first_row(
    pattern: patterns.RowPattern, members: frozenset[str], *, to_last: bool
) -> bool:
    """Return whether the first or the last row of some variables can be the first row of a match.

    Args:
        pattern: a row pattern.
        members: names of primary variables.
        to_last: whether the search skips to the last row of the variables instead of the first one.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> texts = ("A B+", "A? B C", "B+ A", "B{2,} A", "(B A)+", "(A | B)+", "PERMUTE(A, B)")
    >>> row_patterns = [parse_row_pattern(text) for text in texts]
    >>> [can_skip_to_first_row(pattern, frozenset("B"), to_last=True) for pattern in row_patterns]
    [False, True, True, False, True, True, True]
    """
    if not to_last:
        return not members.isdisjoint(find_first_variables(pattern))
    return can_begin_with_last_row(pattern, members)


def can_begin_with_last_row(pattern: patterns.RowPattern, members: frozenset[str]) -> bool:
    """Return whether the first row of a match can be the last one of some variables."""
    match pattern:
        case patterns.Variable(name):
            return name in members
        case patterns.Concatenation(parts):
            for index, part in enumerate(parts):
                later_parts = parts[index + 1 :]
                if can_begin_with_last_row(part, members) and not always_have_row(
                    later_parts, members
                ):
                    return True
                if not patterns.can_be_empty(part):
                    return False
            return False
        case patterns.Permutation(parts):
            return any(
                can_begin_with_last_row(part, members)
                and not always_have_row(parts[:index] + parts[index + 1 :], members)
                for index, part in enumerate(parts)
            )
        case patterns.Quantified(most=0):
            return False
        case patterns.Quantified(part=part, least=least):
            has_no_other_row = least <= 1 or not patterns.always_has_row(part, members)
            return has_no_other_row and can_begin_with_last_row(part, members)
        case _:
            return any(
                can_begin_with_last_row(part, members) for part in patterns.list_children(pattern)
            )
