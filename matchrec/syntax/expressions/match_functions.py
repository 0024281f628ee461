"""Read calls of functions of the match, such as CLASSIFIER, MATCH_NUMBER and MATCHED_ROWS.

In this module, `cursor` reads the expression, and `name_index` is the token of the function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from matchrec.errors.sql import expression as errors
from matchrec.plan.build_expressions import make_column
from matchrec.plan.expression import (
    MATCHED_ROW,
    MATCHED_ROWS,
    RUN_ENDING_FUNCTIONS,
    Aggregate,
    Classifier,
    MatchFunction,
    MatchValue,
    Navigation,
    Reference,
    Semantics,
)
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.call_parts import require_arguments
from matchrec.syntax.expressions.cursor import ExpressionCursor, RowRead


def read_classifier(cursor: ExpressionCursor, name_index: int, semantics: Semantics) -> Classifier:
    """Read `CLASSIFIER()` or `CLASSIFIER(variable)`."""
    variable = _read_variable(cursor, name_index)
    span = cursor.sequence.find_call_span(name_index)
    cursor.rows_read.append(RowRead(variable, span, is_column=False))
    return Classifier(Navigation(variable, semantics=semantics), span)


def _read_matched_rows(cursor: ExpressionCursor, name_index: int, _: Semantics) -> Aggregate:
    """Read `MATCHED_ROWS()` or `MATCHED_ROWS(variable)`, which only MEASURES may call."""
    span = cursor.sequence.find_call_span(name_index)
    variable = _read_variable(cursor, name_index)
    if cursor.scope.part is not ClausePart.MEASURES:
        raise errors.matched_rows_in_define(span, clause=cursor.where)
    row = make_column(Navigation(variable), MATCHED_ROW, span)
    return Aggregate(MATCHED_ROWS, variable, (row,), Semantics.FINAL, span=span)


def _read_match_value(
    function: MatchFunction, cursor: ExpressionCursor, name_index: int, _: Semantics
) -> Reference:
    """Read a function without arguments, such as `MATCH_NUMBER()`.

    Outside of aggregates, `MATCH_ROW_NUMBER()` is read as `RUNNING count(*)`.
    """
    span = cursor.sequence.find_call_span(name_index)
    require_arguments(cursor, name_index, range(1), "no argument")
    if function is MatchFunction.ROW_NUMBER and cursor.caller is None:
        return Aggregate("count", None, (), span=span)
    if function in RUN_ENDING_FUNCTIONS and cursor.scope.part is ClausePart.DEFINE:
        raise errors.status_in_define(span, function=function.value)
    return MatchValue(function, span)


# For each function of the match, the function that reads its call.
MATCH_FUNCTION_READERS: Mapping[str, Callable[[ExpressionCursor, int, Semantics], Reference]] = {
    "CLASSIFIER": read_classifier,
    "MATCHED_ROWS": _read_matched_rows,
    **{function.words: partial(_read_match_value, function) for function in MatchFunction},
}


def _read_variable(cursor: ExpressionCursor, name_index: int) -> str | None:
    """Return the variable that is the only argument of a call; None without an argument."""
    arguments = require_arguments(cursor, name_index, range(2), "at most one variable")
    if not arguments:
        return None
    ((start, end),) = arguments
    token = cursor.tokens[start]
    if end - start != 1 or not token.can_name:
        span = cursor.sequence.span(start, end)
        name = cursor.key_at(name_index)
        raise errors.argument_not_a_variable(span, function=name, clause=cursor.where)
    if token.variable not in cursor.scope.variables:
        raise cursor.make_unknown_variable_error(token)
    return token.variable
