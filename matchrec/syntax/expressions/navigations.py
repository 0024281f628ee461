"""Read PREV, NEXT, FIRST and LAST.

The operand of a navigation becomes one reference, whose SQL is computed for every row of the input:

    PREV(x * y)               →   one reference to `x * y` of the row before

CLASSIFIER is known only during the match. If the operand contains CLASSIFIER, it becomes several
references to the same row:

    PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)

In this module, `cursor` reads the expression, and `name_index` is the token of the
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


def read_navigation(cursor: ExpressionCursor, name_index: int, semantics: Semantics) -> Scalar:
    """Read the navigation at `name_index`, which may contain another one: `PREV(LAST(A.x), 2)`.

    Args:
        cursor: the cursor.
        name_index: the name of the navigation.
        semantics: the semantics of the navigation.
    """
    name = cursor.key_at(name_index)
    arguments = require_arguments(cursor, name_index, range(1, 3), "one or two arguments")
    for _, end in arguments:
        word = find_nulls_word(cursor, end)
        if word:
            span = cursor.sequence.span(end - 2, end)
            raise navigation_errors.modifier_after_navigation(name, word, cursor.where, span)
    default = 1 if name in PHYSICAL else 0
    offset = default
    if len(arguments) == 2:
        offset = _read_offset(cursor, name, arguments, default)
    operand = _read_operand(cursor, name_index, arguments[0], semantics)
    return map_references(operand, partial(_move_to_row, name=name, offset=offset))


def _move_to_row(reference: Reference, name: str, offset: int) -> Reference:
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
    cursor: ExpressionCursor, name_index: int, argument: TokenRange, semantics: Semantics
) -> Scalar:
    """Read the operand of the navigation at `name_index`.

    The operand is FIRST or LAST inside PREV or NEXT, CLASSIFIER, or an expression over the row that
    the navigation finds.

    Args:
        cursor: the cursor.
        name_index: the name of the navigation.
        argument: the tokens of the operand.
        semantics: the semantics of the navigation.

    Raises:
        MatchRecognizeError: the operand is malformed, reads rows of several variables, or reads no
            column.
    """
    call = _read_call_as_operand(cursor, name_index, argument, semantics)
    if call is not None:
        return call
    start, end = argument
    span = cursor.sequence.span(start, end)
    rows_read_before = len(cursor.rows_read)
    tree = cursor.read_argument(name_index, start, end)
    variable = find_variable_read(cursor, name_index, rows_read_before)
    navigation = Navigation(variable, semantics=semantics)
    if any(isinstance(reference, Classifier) for reference in tree.references):
        row_exists = make_column(navigation, "TRUE", span)
        value = map_references(tree, partial(set_semantics, semantics=semantics))
        parts = "IF(", row_exists, ", ", value, ", ", make_literal("NULL", span), ")"
        return Operation("IF", parts, span)
    if not any(read.is_column for read in cursor.rows_read[rows_read_before:]):
        raise _explain_missing_column(cursor, name_index, argument)
    reference = ColumnReference(
        navigation,
        write_row_sql(tree),
        operations=collect_text_operations(tree),
        column_path=find_column_path(tree),
    )
    return Term((reference,), span)


def _read_call_as_operand(
    cursor: ExpressionCursor, name_index: int, argument: TokenRange, semantics: Semantics
) -> Scalar | None:
    """Read FIRST or LAST in PREV or NEXT, or CLASSIFIER, if it is the whole operand.

    Return None if the operand is anything else. The arguments are as for `_read_operand`.
    """
    start, end = argument
    has_prefix = cursor.key_at(start) in SEMANTICS and cursor.sequence.is_call(start + 1)
    call = start + 1 if has_prefix else start
    is_whole_operand = (
        cursor.sequence.is_call(call) and cursor.sequence.pairs.get(call + 1) == end - 1
    )
    if not is_whole_operand:
        return None
    if has_prefix:
        semantics = Semantics(cursor.key_at(start))
    if cursor.key_at(call) in LOGICAL and cursor.key_at(name_index) in PHYSICAL:
        if has_prefix:
            check_semantics(cursor, start)
        return read_navigation(cursor, call, semantics)
    if cursor.key_at(call) == "CLASSIFIER":
        classifier = read_classifier(cursor, call, semantics)
        return Term((classifier,), cursor.sequence.span(start, end))
    return None


def _explain_missing_column(
    cursor: ExpressionCursor, name_index: int, argument: TokenRange
) -> MatchRecognizeError:
    """Return the error for the navigation at `name_index`, whose operand reads no column."""
    start, end = argument
    token = cursor.tokens[start]
    if end == start + 1 and token.is_string_in_double_quotes:
        return errors.column_in_double_quotes(token.span, clause=cursor.where, text=token.text)
    call = cursor.sequence.find_call_span(name_index)
    return navigation_errors.navigation_without_column(
        call, function=cursor.key_at(name_index), clause=cursor.where
    )


def _read_offset(
    cursor: ExpressionCursor, name: str, arguments: tuple[TokenRange, ...], default: int
) -> int:
    """Read the offset of a navigation: a whole number, or a parameter if it has a value.

    Args:
        cursor: the cursor.
        name: the name of the navigation.
        arguments: the tokens of its two arguments. The second one is the offset.
        default: the offset of a navigation without a second argument, for messages.

    Raises:
        MatchRecognizeError: the offset is anything else.
    """
    start, end = arguments[1]
    while cursor.key_at(start) == "(" and cursor.sequence.pairs.get(start) == end - 1:
        start += 1
        end -= 1
    span = cursor.sequence.span(start, end)
    parameter = read_parameter(cursor.tokens[start:end])
    if parameter is not None and cursor.scope.parameter_values is not None:
        what = f"the offset of {name} in {cursor.where}"
        return look_up_number(parameter, cursor.scope.parameter_values, what)
    token = cursor.tokens[start]
    rows = cursor.tokens[end - 1].text
    value = cursor.write_span(cursor.sequence.span(*arguments[0]))
    if token.key == "-" and end == start + 2 and rows.isdecimal():
        raise navigation_errors.negative_offset(
            span, function=name, clause=cursor.where, value=value, rows=rows
        )
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdecimal()):
        raise navigation_errors.malformed_offset(
            span,
            function=name,
            clause=cursor.where,
            value=value,
            offset=cursor.write_span(span),
            default=default,
        )
    offset = read_whole_number(token.text)
    if offset is None:
        raise navigation_errors.offset_too_large(
            span, function=name, clause=cursor.where, limit=MAX_ROWS
        )
    return offset
