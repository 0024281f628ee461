"""Read the calls that read rows of a match: navigations, aggregates and functions of the match.

This module and the modules that it calls also reject every use of these calls that the standard
forbids, because later stages no longer know how the calls were written.

In this module, `cursor` reads the expression, and `name_index` is the token of the function's name.
Source: ISO/IEC 19075-5, running versus final semantics.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.plan.change_expressions import map_references
from matchrec.plan.expression import Scalar, Semantics, Term
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.aggregates import read_aggregate
from matchrec.syntax.expressions.call_parts import check_semantics, find_arguments
from matchrec.syntax.expressions.cursor import AFTER_OPERAND, ExpressionCursor
from matchrec.syntax.expressions.match_functions import MATCH_FUNCTION_READERS
from matchrec.syntax.expressions.navigations import read_navigation
from matchrec.syntax.function_names import AGGREGATES, MATCH_FUNCTIONS, NAVIGATION, SEMANTICS


def read_with_semantics(cursor: ExpressionCursor) -> Scalar | None:
    """Read the RUNNING or FINAL that comes next, and the call after it.

    If the word is a name, return None and read nothing.
    """
    start = cursor.position
    next_token = cursor.tokens[start + 1] if start + 1 < cursor.end else None
    if next_token is None or not next_token.is_name or next_token.key in AFTER_OPERAND:
        return None
    if not cursor.sequence.is_call(start + 1):
        span = cursor.sequence.span(start, start + 2)
        raise errors.misplaced_running_or_final(
            span, word=cursor.key, what="a column", clause=cursor.where
        )
    check_semantics(cursor, start)
    return read_call(cursor, start)


def read_call(cursor: ExpressionCursor, start: int) -> Scalar:
    """Read the call at `start`, which may have RUNNING or FINAL before it."""
    name_index = start
    semantics = Semantics.RUNNING
    if cursor.key_at(start) in SEMANTICS:
        semantics = Semantics(cursor.key_at(start))
        name_index += 1
    function = cursor.tokens[name_index]
    if not cursor.scope.reads_match:
        span, name = function.span, function.text
        call = cursor.sequence.text_at(cursor.sequence.find_call_span(name_index))
        raise errors.match_function_before_match(
            span, function=name, clause=cursor.where, call=call
        )
    if cursor.caller is not None:
        _reject_nested_call(cursor, cursor.caller, name_index)
    end = cursor.sequence.index_after(name_index + 1)
    cursor.position = end
    tree: Scalar
    if function.key in NAVIGATION:
        tree = read_navigation(cursor, name_index, semantics)
    elif function.key in MATCH_FUNCTION_READERS:
        tree = Term(
            (MATCH_FUNCTION_READERS[function.key](cursor, name_index, semantics),), function.span
        )
    else:
        tree = Term((read_aggregate(cursor, name_index, semantics),), function.span)
        end = cursor.position  # after the suffixes of the aggregate
    span = cursor.sequence.span(start, end)
    cursor.position = end
    cursor.last_read = span
    return replace(map_references(tree, partial(replace, span=span)), span=span)


def _reject_nested_call(cursor: ExpressionCursor, caller: int, name_index: int) -> None:
    """Raise an error if a call is not allowed inside the call around it.

    Args:
        cursor: the cursor.
        caller: the index of the name of the navigation or aggregate around the call.
        name_index: the index of the name of the inner function.
    """
    outer = cursor.tokens[caller]
    inner = cursor.tokens[name_index]
    is_in_aggregate = outer.key in AGGREGATES
    is_measure = cursor.scope.part is ClausePart.MEASURES
    spans = outer.span, inner.span
    clause = cursor.where
    name = outer.text if is_in_aggregate else outer.key
    match inner.key:
        case "CLASSIFIER":
            pass
        case "MATCH_NUMBER" if is_in_aggregate:
            pass
        case "MATCH_ROW_NUMBER" if is_in_aggregate and is_measure:
            pass
        case key if key in MATCH_FUNCTIONS:
            raise errors.nested_match_function(inner.span, inner=key, function=name, clause=clause)
        case key if key in NAVIGATION and is_in_aggregate:
            raise errors.navigation_in_aggregate(
                *spans, navigation=key, aggregate=name, clause=clause
            )
        case key if key in NAVIGATION:
            arguments = [
                cursor.write_span(cursor.sequence.span(*argument))
                for argument in find_arguments(cursor, name_index)
            ]
            raise navigation_errors.wrong_navigation_nesting(
                *spans, inner=key, outer=name, clause=clause, arguments=arguments
            )
        case _:
            raise errors.nested_aggregate(*spans, aggregate=inner.text, outer=name, clause=clause)
