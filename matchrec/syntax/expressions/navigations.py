"""Read PREV, NEXT, FIRST and LAST.

The operand of a navigation becomes one reference, whose SQL is computed for every row of the input:

    PREV(x * y)               →   one reference to `x * y` of the row before

CLASSIFIER is known only during the match. If the operand contains CLASSIFIER, it becomes several
references to the same row:

    PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)

In this module `reader` is the cursor of the expression, and `index` is the token of the
navigation's name.
Source: ISO/IEC 19075-5, row pattern navigation operations.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.plan.build_expressions import make_column, make_literal
from matchrec.plan.change_expressions import map_references, set_semantics
from matchrec.plan.expression import (
    Classifier,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    collect_text_operations,
    find_column_path,
    write_row_sql,
)
from matchrec.syntax.amounts import MAX_ROWS, read_whole_number
from matchrec.syntax.expressions.call_parts import (
    check_semantics,
    find_nulls_word,
    find_variable_read,
    require_arguments,
)
from matchrec.syntax.expressions.cursor import ExpressionCursor
from matchrec.syntax.expressions.match_functions import read_classifier
from matchrec.syntax.function_names import LOGICAL, PHYSICAL, SEMANTICS
from matchrec.syntax.parameter_values import look_up_number, read_parameter
from matchrec.syntax.tokens import TokenKind, TokenRange


def read_navigation(reader: ExpressionCursor, index: int, semantics: Semantics) -> Scalar:
    """Read the navigation at `index`, which may contain another one: `PREV(LAST(A.x), 2)`.

    Args:
        reader: the cursor.
        index: the name of the navigation.
        semantics: the semantics of the navigation.
    """
    name = reader.key_at(index)
    arguments = require_arguments(reader, index, range(1, 3), "one or two arguments")
    for _, end in arguments:
        word = find_nulls_word(reader, end)
        if word:
            span = reader.sequence.span(end - 2, end)
            raise navigation_errors.modifier_after_navigation(name, word, reader.where, span)
    default = 1 if name in PHYSICAL else 0
    offset = default
    if len(arguments) == 2:
        offset = _read_offset(reader, name, arguments, default)
    operand = _read_operand(reader, index, arguments[0], semantics)
    return map_references(operand, partial(_navigate, name=name, offset=offset))


def _navigate(reference: Reference, name: str, offset: int) -> Reference:
    """Return a reference in the operand of a navigation, moved to the row that is navigated to.

    Args:
        reference: the reference.
        name: the name of the navigation: PREV, NEXT, FIRST or LAST.
        offset: the offset of the navigation. Never negative.
    """
    if not isinstance(reference, ColumnReference | Classifier):
        return reference
    if name in LOGICAL:
        navigation = replace(reference.navigation, end=End(name), logical_offset=offset)
    else:
        step = -offset if name == "PREV" else offset
        navigation = replace(reference.navigation, physical_offset=step)
    return replace(reference, navigation=navigation)


def _read_operand(
    reader: ExpressionCursor, index: int, argument: TokenRange, semantics: Semantics
) -> Scalar:
    """Read the operand of the navigation at `index`.

    The operand is FIRST or LAST inside PREV or NEXT, CLASSIFIER, or an expression over the row that
    the navigation finds.

    Args:
        reader: the cursor.
        index: the name of the navigation.
        argument: the tokens of the operand.
        semantics: the semantics of the navigation.

    Raises:
        MatchRecognizeError: the operand is malformed, reads rows of several variables, or reads no
            column.
    """
    call = _read_call_as_operand(reader, index, argument, semantics)
    if call is not None:
        return call
    start, end = argument
    span = reader.sequence.span(start, end)
    rows_read_before = len(reader.rows_read)
    tree = reader.read_argument(index, start, end)
    variable = find_variable_read(reader, index, rows_read_before)
    navigation = Navigation(variable, semantics=semantics)
    if any(isinstance(reference, Classifier) for reference in tree.references):
        row_exists = make_column(navigation, "TRUE", span)
        value = map_references(tree, partial(set_semantics, semantics=semantics))
        parts = "IF(", row_exists, ", ", value, ", ", make_literal("NULL", span), ")"
        return Operation("IF", parts, span)
    if not any(read.is_column for read in reader.rows_read[rows_read_before:]):
        raise _explain_missing_column(reader, index, argument)
    reference = ColumnReference(
        navigation,
        write_row_sql(tree),
        operations=collect_text_operations(tree),
        column_path=find_column_path(tree),
    )
    return Term((reference,), span)


def _read_call_as_operand(
    reader: ExpressionCursor, index: int, argument: TokenRange, semantics: Semantics
) -> Scalar | None:
    """Read FIRST or LAST in PREV or NEXT, or CLASSIFIER, if it is the whole operand.

    Return None if the operand is anything else. The arguments are as for `_read_operand`.
    """
    start, end = argument
    has_prefix = reader.key_at(start) in SEMANTICS and reader.sequence.is_call(start + 1)
    call = start + 1 if has_prefix else start
    is_whole_operand = (
        reader.sequence.is_call(call) and reader.sequence.pairs.get(call + 1) == end - 1
    )
    if not is_whole_operand:
        return None
    if has_prefix:
        semantics = Semantics(reader.key_at(start))
    if reader.key_at(call) in LOGICAL and reader.key_at(index) in PHYSICAL:
        if has_prefix:
            check_semantics(reader, start)
        return read_navigation(reader, call, semantics)
    if reader.key_at(call) == "CLASSIFIER":
        classifier = read_classifier(reader, call, semantics)
        return Term((classifier,), reader.sequence.span(start, end))
    return None


def _explain_missing_column(
    reader: ExpressionCursor, index: int, argument: TokenRange
) -> MatchRecognizeError:
    """Return the error for the navigation at `index`, whose operand reads no column."""
    start, end = argument
    token = reader.tokens[start]
    if end == start + 1 and token.in_double_quotes:
        return errors.column_in_double_quotes(token.span, clause=reader.where, text=token.text)
    call = reader.sequence.find_call_span(index)
    return navigation_errors.navigation_without_column(
        call, function=reader.key_at(index), clause=reader.where
    )


def _read_offset(
    reader: ExpressionCursor, name: str, arguments: tuple[TokenRange, ...], default: int
) -> int:
    """Read the offset of a navigation: a whole number, or a parameter if it has a value.

    Args:
        reader: the cursor.
        name: the name of the navigation.
        arguments: the tokens of its two arguments. The second one is the offset.
        default: the offset of a navigation without a second argument, for messages.

    Raises:
        MatchRecognizeError: the offset is anything else.
    """
    start, end = arguments[1]
    while reader.key_at(start) == "(" and reader.sequence.pairs.get(start) == end - 1:
        start += 1
        end -= 1
    span = reader.sequence.span(start, end)
    parameter = read_parameter(reader.tokens[start:end])
    if parameter is not None and reader.scope.parameter_values is not None:
        what = f"the offset of {name} in {reader.where}"
        return look_up_number(parameter, reader.scope.parameter_values, what)
    token = reader.tokens[start]
    rows = reader.tokens[end - 1].text
    value = reader.write_span(reader.sequence.span(*arguments[0]))
    if token.key == "-" and end == start + 2 and rows.isdecimal():
        raise navigation_errors.negative_offset(
            span, function=name, clause=reader.where, value=value, rows=rows
        )
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdecimal()):
        raise navigation_errors.malformed_offset(
            span,
            function=name,
            clause=reader.where,
            value=value,
            offset=reader.write_span(span),
            default=default,
        )
    offset = read_whole_number(token.text)
    if offset is None:
        raise navigation_errors.offset_too_large(
            span, function=name, clause=reader.where, limit=MAX_ROWS
        )
    return offset
