"""Warnings about clauses that are missing, and about variables that were probably not meant.

Each of these queries runs, but its result is seldom what the user wants:

    no ORDER BY                            the order of rows is not defined
    PARTITION BY sym, day ORDER BY day     the rows of a partition are all equal in ORDER BY
    no DEFINE                              every row matches every variable
    PATTERN (A NOT D B), no D              every row is a D, so that no B follows an A
    PATTERN (A B3), B in DEFINE            a Python f-string turned `B{3}` into `B3`
    PATTERN (PERMUTE(A B))                 a comma is missing, so that A and B have one order
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from matchrec.errors import warnings
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.pattern import permutation_of_one_part
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.errors.wording import join_lines
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Span


def find_location_of_order(plan: MatchPlan) -> Span | None:
    """Return the part of the clause before which ORDER BY belongs.

    For other queries than clauses, the result is the row pattern, or None if it has no text.
    """
    return plan.part_after_keys or plan.pattern.span


def warn_about_order(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if ORDER BY is missing, or does not order the rows of a partition.

    In `PARTITION BY sym, day ORDER BY day`, all rows of a partition are equal in ORDER BY. In
    `PARTITION BY sym ORDER BY sym, day`, they are not, so there is no warning.
    """
    if not plan.order_by:
        yield warnings.no_order(find_location_of_order(plan))
        return
    keys = {find_folded_name(key) for key in plan.partition_by}
    if keys.issuperset(find_folded_name(item.expression) for item in plan.order_by):
        first_span = plan.order_by[0].span
        last_span = plan.order_by[-1].span
        if first_span is not None and last_span is not None:
            yield warnings.order_by_partition_keys(
                first_span.to(last_span), surplus_key=find_surplus_key(plan)
            )


def find_surplus_key(plan: MatchPlan) -> str | None:
    """Return the key that PARTITION BY probably has by mistake, because ORDER BY is right.

    Returns:
        The only key of ORDER BY, as PARTITION BY has it, if PARTITION BY has another key;
        otherwise None.
    """
    if len(plan.order_by) > 1 or len(plan.partition_by) == 1:
        return None
    name = find_folded_name(plan.order_by[0].expression)
    key = next(key for key in plan.partition_by if find_folded_name(key) == name)
    return join_lines((key.span and read_users_text(key.span)) or key.text)


def find_folded_name(expression: RowExpression) -> str:
    """Return the name of a column in lower case, or the text of an expression."""
    column_path = expression.column_path
    return column_path[-1].casefold() if column_path else expression.text


def warn_about_conditions(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if the query has neither conditions nor windows, so that all rows match."""
    names = patterns.list_variable_names(plan.pattern)
    if names and not plan.definitions and not plan.window_lengths:
        yield warnings.no_conditions(plan.pattern.span, variable=names[0])


def warn_about_negations(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each NOT of a variable without a condition, which forbids every row.

    With event selection, such a NOT raises no warning: `A NOT D B` then forbids to skip rows
    between A and B.
    """
    if plan.needs_event_selection:
        return
    defined_variables = {definition.variable for definition in plan.definitions}
    for negation in patterns.list_negations(plan.pattern):
        for name in negation.names:
            if name not in defined_variables:
                yield warnings.negation_of_every_row(
                    negation.span, variable=patterns.show_name(name)
                )


# PERMUTE of one part, which is several variables without a comma between them.
_PERMUTATION_OF_ONE_PART = re.compile(
    r"\bPERMUTE\s*\(\s*(?P<parts>\w+[*+?]*(?:\s+\w+[*+?]*)+)\s*\)", re.IGNORECASE
)
_START_OF_PERMUTATION = len("PERMUTE (")


def warn_about_permutations(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for a PERMUTE that has one part, because a comma is missing.

    The plan no longer has such a PERMUTE, so the rule reads the text of the row pattern.
    """
    span = plan.pattern.span
    if span is None:
        return
    text, start = read_users_text_around(span)
    pattern_end = start + span.end - span.start
    for permutation in _PERMUTATION_OF_ONE_PART.finditer(text):
        begins_in_pattern = start - _START_OF_PERMUTATION <= permutation.start() < pattern_end
        if begins_in_pattern:
            parts = " ".join(permutation["parts"].split())
            yield permutation_of_one_part(span, parts=parts)


def warn_about_lost_braces(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each variable that is probably a quantified one without its braces.

    A Python f-string turns `B{3}` into `B3`. So the variable has no condition, but the name without
    the digits has one.
    """
    defined_variables = {definition.variable for definition in plan.definitions}
    reported_variables: set[str] = set()
    for node in patterns.walk_pattern(plan.pattern):
        if not isinstance(node, patterns.Variable):
            continue
        if node.name in defined_variables | reported_variables:
            continue
        name = strip_digits(node.name)
        if name in defined_variables:
            reported_variables.add(node.name)
            digits = node.name.removeprefix(name)
            yield warnings.braces_of_f_string(
                node.span, variable=patterns.show_name(node.name), name=name, count=digits
            )


def strip_digits(name: str) -> str:
    """Return a name without the digits at its end.

    >>> strip_digits("UP30"), strip_digits("UP")
    ('UP', 'UP')
    """
    return name.rstrip("0123456789")
