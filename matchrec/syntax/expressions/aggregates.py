"""Read aggregates over the rows of one variable: calls, with FILTER and other suffixes.

    count(DISTINCT A.x) FILTER (WHERE A.y > 0)
    collect_list(A.x) IGNORE NULLS
    percentile_cont(0.5) WITHIN GROUP (ORDER BY A.x DESC)

In this module, `cursor` reads the expression, and `name_index` is the token of the
aggregate's name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors.sql import expression as errors
from matchrec.plan.expression import Aggregate, OrderedInput, Scalar, Semantics
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.call_parts import (
    explain_wrong_number,
    find_arguments,
    find_nulls_word,
    find_variable_read,
)
from matchrec.syntax.expressions.cursor import ExpressionCursor, RowRead
from matchrec.syntax.expressions.window_frames import read_window_frame
from matchrec.syntax.tokens import TokenRange

# Aggregates that return an array of values, without NULL.
COLLECTING = frozenset({"COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"})

# Words that may follow an expression in WITHIN GROUP (ORDER BY ...).
_SORT_WORDS = ("ASC", "DESC", "NULLS", "FIRST", "LAST")


def read_aggregate(cursor: ExpressionCursor, name_index: int, semantics: Semantics) -> Aggregate:
    """Read the aggregate at `name_index` with its suffixes. The position is then after them."""
    function = cursor.tokens[name_index].text.lower()
    arguments = _find_aggregate_arguments(cursor, name_index)
    if not arguments.ranges and function == "count":
        raise explain_wrong_number(cursor, name_index, function, "an argument", ())
    rows_read_before = len(cursor.rows_read)
    is_distinct = cursor.key_at(name_index + 2) == "DISTINCT"
    aggregate = Aggregate(function, None, (), semantics, is_distinct=is_distinct)
    cursor.position = cursor.sequence.index_after(name_index + 1)
    aggregate = _read_suffixes(cursor, name_index, aggregate)
    end = cursor.position
    _reject_kept_nulls(cursor, name_index, end)
    if is_distinct and function == "last_value":
        raise errors.distinct_last_value(
            cursor.tokens[name_index + 2].span,
            function=cursor.tokens[name_index].text,
            clause=cursor.where,
        )
    values = [_read_argument(cursor, name_index, argument) for argument in arguments.ranges]
    aggregate = replace(
        aggregate,
        variable=find_variable_read(cursor, name_index, rows_read_before),
        arguments=tuple(value for value in values if value is not None),
        ignore_nulls=aggregate.ignore_nulls or arguments.ignore_nulls,
        span=cursor.sequence.span(name_index, end),
    )
    cursor.position = end  # The arguments were read after the suffixes.
    has_frame = cursor.key == "OVER" and cursor.scope.part is ClausePart.DEFINE
    return read_window_frame(cursor, aggregate) if has_frame else aggregate


@dataclass(frozen=True, slots=True)
class _AggregateArguments:
    """The arguments of an aggregate, before they are read."""

    # The tokens of each argument, without DISTINCT or ALL, and IGNORE NULLS or RESPECT NULLS.
    ranges: tuple[TokenRange, ...]
    # Whether IGNORE NULLS follows the last argument, inside the parentheses.
    ignore_nulls: bool = False


def _find_aggregate_arguments(cursor: ExpressionCursor, name_index: int) -> _AggregateArguments:
    """Return the arguments of the aggregate at `name_index`.

    For `any_value(DISTINCT x IGNORE NULLS)`, the only range has the tokens of `x`.
    """
    ranges = find_arguments(cursor, name_index)
    if not ranges:
        return _AggregateArguments(())
    if cursor.key_at(name_index + 2) in ("DISTINCT", "ALL"):
        (first_start, first_end), *others = ranges
        ranges = ((first_start + 1, first_end), *others)
    last_start, last_end = ranges[-1]
    has_value_before = last_end - last_start > len(("IGNORE", "NULLS"))
    nulls_word = find_nulls_word(cursor, last_end) if has_value_before else ""
    if nulls_word:
        ranges = (*ranges[:-1], (last_start, last_end - 2))
    return _AggregateArguments(ranges, nulls_word == "IGNORE")


def _read_argument(
    cursor: ExpressionCursor, name_index: int, argument: TokenRange
) -> Scalar | None:
    """Read an argument of an aggregate; return None for the `*` or `A.*` of a COUNT.

    Raises:
        MatchRecognizeError: the argument is malformed, or is a `*` that is not the only argument of
            a COUNT.
    """
    start, end = argument
    is_qualified = end == start + 3 and cursor.key_at(start + 1) == "."
    is_star = cursor.key_at(end - 1) == "*" and (is_qualified or end == start + 1)
    if not is_star:
        return cursor.read_argument(name_index, start, end)
    span = cursor.sequence.span(start, end)
    has_quantifier = cursor.key_at(name_index + 2) in ("DISTINCT", "ALL")
    is_only_argument = start == name_index + 2 and cursor.key_at(end) == ")" and not has_quantifier
    if cursor.key_at(name_index) != "COUNT" or not is_only_argument:
        name = cursor.tokens[name_index].text
        star = cursor.sequence.text_at(span)
        raise errors.star_outside_count(span, function=name, clause=cursor.where, star=star)
    qualifier = cursor.tokens[start]
    if is_qualified and qualifier.variable not in cursor.scope.variables:
        raise cursor.make_unknown_variable_error(qualifier)
    variable = qualifier.variable if is_qualified else None
    cursor.rows_read.append(RowRead(variable, span, is_column=True))
    return None


def _read_suffixes(cursor: ExpressionCursor, name_index: int, aggregate: Aggregate) -> Aggregate:
    """Read the suffixes of an aggregate: FILTER, WITHIN GROUP, IGNORE NULLS and RESPECT NULLS.

    Args:
        cursor: the cursor. The position is after the parentheses of the aggregate.
        name_index: the name of the aggregate.
        aggregate: the aggregate without suffixes.
    """
    sequence = cursor.sequence
    while True:
        if cursor.accept("FILTER", "(", "WHERE"):
            start = cursor.position
            closing = sequence.pairs[start - len(("(", "WHERE"))]
            condition = cursor.read_argument(name_index, start, closing)
            aggregate = replace(aggregate, condition=condition)
            cursor.position = closing + 1
        elif cursor.accept("WITHIN", "GROUP", "("):
            closing = sequence.pairs[cursor.position - 1]
            cursor.expect("ORDER", "BY")
            items = sequence.split_at_commas(cursor.position, closing)
            ordering = tuple(_read_sort_item(cursor, name_index, item) for item in items)
            aggregate = replace(aggregate, ordering=ordering)
            cursor.position = closing + 1
        elif cursor.accept("IGNORE", "NULLS"):
            aggregate = replace(aggregate, ignore_nulls=True)
        elif cursor.accept("RESPECT", "NULLS"):
            aggregate = replace(aggregate, ignore_nulls=False)
        else:
            return aggregate


def _reject_kept_nulls(cursor: ExpressionCursor, name_index: int, end: int) -> None:
    """Raise an error for RESPECT NULLS of an aggregate that drops NULLs: this needs Spark 4.2.

    `end` is the index of the token after the aggregate.
    """
    if cursor.key_at(name_index) not in COLLECTING:
        return
    for word in range(name_index, end - 1):
        if cursor.sequence.has_keys(word, "RESPECT", "NULLS"):
            span = cursor.sequence.span(word, word + 2)
            raise errors.respect_nulls_not_supported(
                span, function=cursor.tokens[name_index].text, clause=cursor.where
            )


def _read_sort_item(cursor: ExpressionCursor, name_index: int, item: TokenRange) -> OrderedInput:
    """Read an item of WITHIN GROUP (ORDER BY ...): an expression and words such as DESC.

    `name_index` is the token of the aggregate's name.
    """
    start, end = item
    words_start = end
    while words_start - 1 > start and cursor.key_at(words_start - 1) in _SORT_WORDS:
        words_start -= 1
    words = " ".join(cursor.key_at(word) for word in range(words_start, end))
    return OrderedInput(cursor.read_argument(name_index, start, words_start), words)
