"""Read the calls that read rows of a match: navigations, aggregates and functions of the match.

This module and the modules that it calls also reject every use of these calls that the standard
forbids, because later stages no longer know how the calls were written.

In this module `reader` is the cursor of the expression, and `index` is the token of a function's
name, unless a docstring says otherwise.
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
from matchrec.syntax.expressions.match_functions import READERS
from matchrec.syntax.expressions.navigations import read_navigation
from matchrec.syntax.function_names import AGGREGATES, MATCH_FUNCTIONS, NAVIGATION, SEMANTICS


def read_with_semantics(reader: ExpressionCursor) -> Scalar | None:
    """Read the RUNNING or FINAL that comes next, and the call after it.

    If the word is a name, return None and read nothing.
    """
    start = reader.position
    next_token = reader.tokens[start + 1] if start + 1 < reader.end else None
    if next_token is None or not next_token.is_name or next_token.key in AFTER_OPERAND:
        return None
    if not reader.sequence.is_call(start + 1):
        span = reader.sequence.span(start, start + 2)
        raise errors.misplaced_running_or_final(
            span, word=reader.key, what="a column", clause=reader.where
        )
    check_semantics(reader, start)
    return read_call(reader, start)


def read_call(reader: ExpressionCursor, start: int) -> Scalar:
    """Read the call at `start`, which may have RUNNING or FINAL before it."""
    index = start
    semantics = Semantics.RUNNING
    if reader.key_at(start) in SEMANTICS:
        semantics = Semantics(reader.key_at(start))
        index += 1
    function = reader.tokens[index]
    if not reader.scope.reads_match:
        span, name = function.span, function.text
        call = reader.sequence.text_at(reader.sequence.find_call_span(index))
        raise errors.match_function_before_match(
            span, function=name, clause=reader.where, call=call
        )
    if reader.caller is not None:
        _reject_nested_call(reader, reader.caller, index)
    end = reader.sequence.index_after(index + 1)
    reader.position = end
    tree: Scalar
    if function.key in NAVIGATION:
        tree = read_navigation(reader, index, semantics)
    elif function.key in READERS:
        tree = Term((READERS[function.key](reader, index, semantics),), function.span)
    else:
        tree = Term((read_aggregate(reader, index, semantics),), function.span)
        end = reader.position  # after the suffixes of the aggregate
    span = reader.sequence.span(start, end)
    reader.position = end
    reader.last_read = span
    return replace(map_references(tree, partial(replace, span=span)), span=span)


def _reject_nested_call(reader: ExpressionCursor, caller: int, index: int) -> None:
    """Raise an error if a call is not allowed inside the call around it.

    Args:
        reader: the cursor.
        caller: the index of the name of the navigation or aggregate around the call.
        index: the index of the name of the inner function.
    """
    outer = reader.tokens[caller]
    inner = reader.tokens[index]
    is_in_aggregate = outer.key in AGGREGATES
    is_measure = reader.scope.part is ClausePart.MEASURES
    spans = outer.span, inner.span
    clause = reader.where
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
                reader.write_span(reader.sequence.span(*argument))
                for argument in find_arguments(reader, index)
            ]
            raise navigation_errors.wrong_navigation_nesting(
                *spans, inner=key, outer=name, clause=clause, arguments=arguments
            )
        case _:
            raise errors.nested_aggregate(*spans, aggregate=inner.text, outer=name, clause=clause)
