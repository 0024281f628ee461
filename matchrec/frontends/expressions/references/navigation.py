"""PREV, NEXT, FIRST and LAST: calls → what they read, on the row that they find.

A navigation over an expression with CLASSIFIER in it reads several things of one row:

    PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matchrec.errors.sql import navigation as errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.frontends.expressions.analysis import Analysis, is_semantics
from matchrec.frontends.expressions.references.row_argument import Operand, read_row_argument
from matchrec.frontends.expressions.references.row_term import (
    call_arguments,
    read_classifier,
    refuse_suffix,
    row_term,
)
from matchrec.frontends.lexing.function_names import LOGICAL, NAVIGATION, PHYSICAL
from matchrec.frontends.lexing.numbers import MOST, whole_number
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.plan.expression import (
    Classifier,
    ColumnReference,
    End,
    Navigation,
    Piece,
    Semantics,
    Term,
    references,
)

Change = Callable[[Navigation], Navigation]


def read_navigation(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Term, int]:
    """What the navigation called at `index` reads, and the token after it."""
    name = analysis.key(index)
    closing = analysis.pairs[index + 1]
    refuse_suffix(analysis, index, closing)
    arguments = call_arguments(analysis, index)
    span = analysis.span(index, closing + 1)
    _refuse_nulls_treatment(analysis, index, arguments)
    if not 1 <= len(arguments) <= 2:
        raise errors.wrong_number_of_arguments(
            name, "one or two arguments", len(arguments), analysis.clause, span
        )
    default = 1 if name in PHYSICAL else 0
    offset = _offset(analysis, name, arguments[1], default) if len(arguments) == 2 else default
    if name in PHYSICAL:
        read = _physical_operand(analysis, index, arguments[0], semantics)
        step = -offset if name == "PREV" else offset
        found = _moved(read, lambda navigation: replace(navigation, physical_offset=step))
    else:
        read = _operand(analysis, index, arguments[0], semantics)
        end = End(name)
        found = _moved(read, lambda one: replace(one, end=end, logical_offset=offset))
    return replace(found, span=span), closing + 1


def _moved(term: Term, change: Change) -> Term:
    """The same readings of another row."""
    return replace(term, pieces=tuple(_moved_piece(piece, change) for piece in term.pieces))


def _moved_piece(piece: Piece, change: Change) -> Piece:
    match piece:
        case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
            return replace(piece, navigation=change(navigation))
        case _:
            return piece


def _physical_operand(
    analysis: Analysis, index: int, argument: tuple[int, int], semantics: Semantics
) -> Term:
    """What PREV or NEXT at `index` goes on from: FIRST or LAST, or else the last row."""
    start, end = argument
    prefixed = is_semantics(analysis, start)
    inner = start + prefixed
    if analysis.key(inner) in LOGICAL and _is_whole_call(analysis, inner, end):
        seen = Semantics(analysis.key(start)) if prefixed else semantics
        return read_navigation(analysis, inner, seen)[0]
    return _operand(analysis, index, argument, semantics)


def _operand(
    analysis: Analysis, index: int, argument: tuple[int, int], semantics: Semantics
) -> Term:
    """What the navigation at `index` reads: CLASSIFIER, SQL over one row, or both together."""
    start, end = argument
    span = analysis.span(start, end)
    prefixed = is_semantics(analysis, start)
    if analysis.key(start + prefixed) == "CLASSIFIER" and _is_whole_call(
        analysis, start + prefixed, end
    ):
        seen = Semantics(analysis.key(start)) if prefixed else semantics
        return Term((read_classifier(analysis, start + prefixed, seen)[0],), span)
    _refuse_nesting(analysis, index, argument)
    operand = Operand(index, start, end)
    read = read_row_argument(analysis, operand)
    of_the_row = row_term(analysis, operand, semantics)
    if any(isinstance(one, Classifier) for one in references(of_the_row)):
        exists = ColumnReference(Navigation(read.variable, semantics=semantics), "TRUE")
        return Term(("IF(", exists, ", ", *of_the_row.pieces, ", NULL)"), span)
    if not read.has_column:
        only = analysis.tokens[start]
        if end == start + 1 and only.in_double_quotes:
            raise column_in_double_quotes(only.text, analysis.clause, only.span)
        call = analysis.span(index, analysis.pairs[index + 1] + 1)
        raise errors.no_column(analysis.key(index), analysis.clause, call)
    return Term((ColumnReference(Navigation(read.variable, semantics=semantics), read.text),), span)


def _refuse_nesting(analysis: Analysis, index: int, argument: tuple[int, int]) -> None:
    for inner in range(*argument):
        if analysis.is_call(inner) and analysis.key(inner) in NAVIGATION:
            spans = analysis.tokens[index].span, analysis.tokens[inner].span
            names = analysis.key(index), analysis.key(inner)
            raise errors.wrong_nesting(*names, analysis.clause, spans)


def _is_whole_call(analysis: Analysis, index: int, end: int) -> bool:
    return analysis.is_call(index) and analysis.pairs.get(index + 1) == end - 1


def _offset(analysis: Analysis, name: str, argument: tuple[int, int], default: int) -> int:
    start, end = argument
    span = analysis.span(start, end)
    written = analysis.written(span)
    token = analysis.tokens[start]
    rows = analysis[end - 1].text
    if token.key == "-" and end == start + 2 and rows.isdigit():
        raise errors.negative_offset(name, written, rows, analysis.clause, span)
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdigit()):
        raise errors.bad_offset(name, written, analysis.clause, default, span)
    offset = whole_number(token.text)
    if offset is None:
        raise errors.offset_too_large(name, analysis.clause, MOST, span)
    return offset


def _refuse_nulls_treatment(
    analysis: Analysis, index: int, arguments: tuple[tuple[int, int], ...]
) -> None:
    """IGNORE NULLS or RESPECT NULLS in the parentheses of the call at `index`."""
    for _, end in arguments:
        word = analysis.key(end - 2)
        if analysis.key(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT"):
            span = analysis.span(end - 2, end)
            raise errors.modifier_of_navigation(analysis.key(index), word, analysis.clause, span)
