"""PREV, NEXT, FIRST, LAST, CLASSIFIER and MATCH_NUMBER: calls → references."""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors import expression as errors
from matchrec.errors import syntax as syntax_errors
from matchrec.frontends.analysis import Analysis, Clause, is_semantics, unknown_variable
from matchrec.frontends.functions import LOGICAL, NAVIGATION, PHYSICAL
from matchrec.frontends.row_argument import Operand, read_row_argument
from matchrec.frontends.tokens import Kind, split_at_commas
from matchrec.plan.expression import (
    Classifier,
    ColumnReference,
    End,
    MatchNumber,
    Navigation,
    Reference,
    Semantics,
)

_SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})


def read_navigation(
    analysis: Analysis, index: int, semantics: Semantics
) -> tuple[ColumnReference | Classifier, int]:
    """The navigation called at `index` and the token after it."""
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
        navigation = replace(read.navigation, physical_offset=step)
    else:
        read = _operand(analysis, index, arguments[0], semantics)
        navigation = replace(read.navigation, end=End(name), logical_offset=offset)
    return replace(read, navigation=navigation, span=span), closing + 1


def _physical_operand(
    analysis: Analysis, index: int, argument: tuple[int, int], semantics: Semantics
) -> ColumnReference | Classifier:
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
) -> ColumnReference | Classifier:
    """What the navigation at `index` reads: CLASSIFIER, or an expression over one row."""
    start, end = argument
    prefixed = is_semantics(analysis, start)
    if analysis.key(start + prefixed) == "CLASSIFIER" and _is_whole_call(
        analysis, start + prefixed, end
    ):
        seen = Semantics(analysis.key(start)) if prefixed else semantics
        return read_classifier(analysis, start + prefixed, seen)[0]
    _refuse_nesting(analysis, index, argument)
    read = read_row_argument(analysis, Operand(index, start, end))
    if not read.has_column:
        span = analysis.span(index, analysis.pairs[index + 1] + 1)
        raise errors.no_column(analysis.key(index), analysis.clause, span)
    return ColumnReference(Navigation(read.variable, semantics=semantics), read.text)


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
    if token.key == "-" and end == start + 2 and analysis.tokens[start + 1].text.isdigit():
        raise errors.negative_offset(name, written, analysis.clause, span)
    if not (end == start + 1 and token.kind is Kind.NUMBER and token.text.isdigit()):
        raise errors.bad_offset(name, written, analysis.clause, default, span)
    return int(token.text)


def read_classifier(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Classifier, int]:
    """The CLASSIFIER called at `index` and the token after it."""
    closing = analysis.pairs[index + 1]
    refuse_suffix(analysis, index, closing)
    span = analysis.span(index, closing + 1)
    arguments = call_arguments(analysis, index)
    if len(arguments) > 1:
        raise errors.wrong_number_of_arguments(
            "CLASSIFIER", "at most one variable", len(arguments), analysis.clause, span
        )
    variable = _variable(analysis, arguments[0]) if arguments else None
    return Classifier(Navigation(variable, semantics=semantics), span), closing + 1


def _variable(analysis: Analysis, argument: tuple[int, int]) -> str:
    start, end = argument
    token = analysis.tokens[start]
    if end - start != 1 or not token.can_name:
        raise errors.classifier_of_expression(analysis.clause, analysis.span(start, end))
    if token.variable not in analysis.scope.variables:
        raise unknown_variable(analysis, token)
    return token.variable


def read_match_number(analysis: Analysis, index: int) -> tuple[Reference, int]:
    """The MATCH_NUMBER called at `index` and the token after it."""
    closing = analysis.pairs[index + 1]
    refuse_suffix(analysis, index, closing)
    span = analysis.span(index, closing + 1)
    if analysis.scope.clause is Clause.DEFINE:
        raise errors.match_number_in_define(span)
    if arguments := call_arguments(analysis, index):
        raise errors.wrong_number_of_arguments(
            "MATCH_NUMBER", "no argument", len(arguments), analysis.clause, span
        )
    return MatchNumber(span), closing + 1


def call_arguments(analysis: Analysis, index: int) -> tuple[tuple[int, int], ...]:
    """The index ranges of the arguments of the call at `index`."""
    opening = index + 1
    closing = analysis.pairs[opening]
    if closing == opening + 1:
        return ()
    parts = split_at_commas(analysis.tokens, analysis.pairs, opening + 1, closing)
    for start, end in parts:
        if start == end:
            token = analysis.tokens[end]
            raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
    return parts


def _refuse_nulls_treatment(
    analysis: Analysis, index: int, arguments: tuple[tuple[int, int], ...]
) -> None:
    """IGNORE NULLS or RESPECT NULLS in the parentheses of the call at `index`."""
    for _, end in arguments:
        word = analysis.key(end - 2)
        if analysis.key(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT"):
            span = analysis.span(end - 2, end)
            raise errors.modifier_of_navigation(analysis.key(index), word, analysis.clause, span)


def refuse_suffix(analysis: Analysis, index: int, closing: int) -> None:
    """DISTINCT in the call at `index`, or FILTER and the like after it."""
    for modifier in (index + 2, closing + 1):
        key = analysis.key(modifier)
        if (key == "DISTINCT" and modifier < closing) or (key in _SUFFIXES and modifier > closing):
            raise errors.modifier_of_navigation(
                analysis.key(index), key, analysis.clause, analysis.tokens[modifier].span
            )
