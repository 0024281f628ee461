"""Read aggregates over the rows of one variable: calls, with FILTER and other suffixes.

    count(DISTINCT A.x) FILTER (WHERE A.y > 0)
    collect_list(A.x) IGNORE NULLS
    percentile_cont(0.5) WITHIN GROUP (ORDER BY A.x DESC)

In this module `reader` is the cursor of the expression, and `index` is the token of the aggregate's
name, unless a docstring says otherwise.
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


def read_aggregate(reader: ExpressionCursor, index: int, semantics: Semantics) -> Aggregate:
    """Read the aggregate at `index` with its suffixes. The position is then after them."""
    function = reader.tokens[index].text.lower()
    arguments = _find_aggregate_arguments(reader, index)
    if not arguments.ranges and function == "count":
        raise explain_wrong_number(reader, index, function, "an argument", ())
    rows_read_before = len(reader.rows_read)
    is_distinct = reader.key_at(index + 2) == "DISTINCT"
    aggregate = Aggregate(function, None, (), semantics, distinct=is_distinct)
    reader.position = reader.sequence.index_after(index + 1)
    aggregate = _read_suffixes(reader, index, aggregate)
    end = reader.position
    _reject_kept_nulls(reader, index, end)
    if is_distinct and function == "last_value":
        raise errors.distinct_last_value(
            reader.tokens[index + 2].span, function=reader.tokens[index].text, clause=reader.where
        )
    values = [_read_argument(reader, index, argument) for argument in arguments.ranges]
    aggregate = replace(
        aggregate,
        variable=find_variable_read(reader, index, rows_read_before),
        arguments=tuple(value for value in values if value is not None),
        ignore_nulls=aggregate.ignore_nulls or arguments.ignore_nulls,
        span=reader.sequence.span(index, end),
    )
    reader.position = end  # The arguments were read after the suffixes.
    has_frame = reader.key == "OVER" and reader.scope.part is ClausePart.DEFINE
    return read_window_frame(reader, aggregate) if has_frame else aggregate


@dataclass(frozen=True, slots=True)
class _AggregateArguments:
    """The arguments of an aggregate, before they are read."""

    # The tokens of each argument, without DISTINCT or ALL, and IGNORE NULLS or RESPECT NULLS.
    ranges: tuple[TokenRange, ...]
    # Whether IGNORE NULLS follows the last argument, inside the parentheses.
    ignore_nulls: bool = False


def _find_aggregate_arguments(reader: ExpressionCursor, index: int) -> _AggregateArguments:
    """Return the arguments of the aggregate at `index`.

    For `any_value(DISTINCT x IGNORE NULLS)`, the only range has the tokens of `x`.
    """
    ranges = find_arguments(reader, index)
    if not ranges:
        return _AggregateArguments(())
    if reader.key_at(index + 2) in ("DISTINCT", "ALL"):
        (first_start, first_end), *others = ranges
        ranges = ((first_start + 1, first_end), *others)
    last_start, last_end = ranges[-1]
    has_value_before = last_end - last_start > len(("IGNORE", "NULLS"))
    nulls_word = find_nulls_word(reader, last_end) if has_value_before else ""
    if nulls_word:
        ranges = (*ranges[:-1], (last_start, last_end - 2))
    return _AggregateArguments(ranges, nulls_word == "IGNORE")


def _read_argument(reader: ExpressionCursor, index: int, argument: TokenRange) -> Scalar | None:
    """Read an argument of the aggregate at `index`; return None for the `*` or `A.*` of a COUNT.

    Raises:
        MatchRecognizeError: the argument is malformed, or is a `*` that is not the only argument of
            a COUNT.
    """
    start, end = argument
    is_qualified = end == start + 3 and reader.key_at(start + 1) == "."
    is_star = reader.key_at(end - 1) == "*" and (is_qualified or end == start + 1)
    if not is_star:
        return reader.read_argument(index, start, end)
    span = reader.sequence.span(start, end)
    has_quantifier = reader.key_at(index + 2) in ("DISTINCT", "ALL")
    is_only_argument = start == index + 2 and reader.key_at(end) == ")" and not has_quantifier
    if reader.key_at(index) != "COUNT" or not is_only_argument:
        name = reader.tokens[index].text
        star = reader.sequence.text_at(span)
        raise errors.star_outside_count(span, function=name, clause=reader.where, star=star)
    qualifier = reader.tokens[start]
    if is_qualified and qualifier.variable not in reader.scope.variables:
        raise reader.make_unknown_variable_error(qualifier)
    variable = qualifier.variable if is_qualified else None
    reader.rows_read.append(RowRead(variable, span, is_column=True))
    return None


def _read_suffixes(reader: ExpressionCursor, index: int, aggregate: Aggregate) -> Aggregate:
    """Read the suffixes of an aggregate: FILTER, WITHIN GROUP, IGNORE NULLS and RESPECT NULLS.

    Args:
        reader: the cursor. The position is after the parentheses of the aggregate.
        index: the name of the aggregate.
        aggregate: the aggregate without suffixes.
    """
    sequence = reader.sequence
    while True:
        if reader.accept("FILTER", "(", "WHERE"):
            start = reader.position
            closing = sequence.pairs[start - len(("(", "WHERE"))]
            condition = reader.read_argument(index, start, closing)
            aggregate = replace(aggregate, condition=condition)
            reader.position = closing + 1
        elif reader.accept("WITHIN", "GROUP", "("):
            closing = sequence.pairs[reader.position - 1]
            reader.expect("ORDER", "BY")
            items = sequence.split_at_commas(reader.position, closing)
            ordering = tuple(_read_sort_item(reader, index, item) for item in items)
            aggregate = replace(aggregate, ordering=ordering)
            reader.position = closing + 1
        elif reader.accept("IGNORE", "NULLS"):
            aggregate = replace(aggregate, ignore_nulls=True)
        elif reader.accept("RESPECT", "NULLS"):
            aggregate = replace(aggregate, ignore_nulls=False)
        else:
            return aggregate


def _reject_kept_nulls(reader: ExpressionCursor, index: int, end: int) -> None:
    """Raise an error for RESPECT NULLS of an aggregate that drops NULLs: this needs Spark 4.2.

    `end` is the index of the token after the aggregate.
    """
    if reader.key_at(index) not in COLLECTING:
        return
    for word in range(index, end - 1):
        if reader.sequence.has_keys(word, "RESPECT", "NULLS"):
            span = reader.sequence.span(word, word + 2)
            raise errors.respect_nulls_not_supported(
                span, function=reader.tokens[index].text, clause=reader.where
            )


def _read_sort_item(reader: ExpressionCursor, index: int, item: TokenRange) -> OrderedInput:
    """Read an item of WITHIN GROUP (ORDER BY ...): an expression and words such as DESC.

    `index` is the name of the aggregate.
    """
    start, end = item
    words_start = end
    while words_start - 1 > start and reader.key_at(words_start - 1) in _SORT_WORDS:
        words_start -= 1
    words = " ".join(reader.key_at(word) for word in range(words_start, end))
    return OrderedInput(reader.read_argument(index, start, words_start), words)
