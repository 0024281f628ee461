"""Expressions over one row of a match: its columns, its classifier, its match's number."""

from __future__ import annotations

from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.frontends.expressions.analysis import Analysis, Clause, unknown_variable
from matchrec.frontends.expressions.combined import with_holes
from matchrec.frontends.expressions.references.field_names import with_field_name
from matchrec.frontends.expressions.references.row_argument import Operand
from matchrec.plan.expression import (
    MATCHED_ROW,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    Ending,
    EndingField,
    MatchNumber,
    Navigation,
    Reference,
    RowNumber,
    Semantics,
    Term,
)
from matchrec.source import Span

SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})


def row_term(analysis: Analysis, operand: Operand, semantics: Semantics) -> Term:
    """What is evaluated on a row: text, with what it reads of the row as references.

    `read_row_argument` has refused before what may not be read.
    """
    span = analysis.span(operand.start, operand.end)
    holes = []
    for index in range(operand.start, operand.end):
        one = _reading(analysis, index, semantics)
        if one is not None and one.span is not None:
            end = analysis.after(index, one.span)
            holes.append((one.span, with_field_name(analysis, index, end, (one,))))
    return Term(with_holes(analysis.written, span, holes), span)


def _reading(analysis: Analysis, index: int, semantics: Semantics) -> Reference | None:
    """What is read of the row by what starts at a token."""
    if analysis.is_call(index) and analysis.key(index) == "CLASSIFIER":
        return read_classifier(analysis, index, semantics)[0]
    if analysis.is_call(index) and analysis.key(index) == "MATCH_NUMBER":
        return read_match_number(analysis, index)[0]
    if analysis.is_call(index) and analysis.key(index) == "MATCH_ROW_NUMBER":
        return RowNumber(without_arguments(analysis, index)[0])
    column = analysis.columns.get(index)
    if column is None or column.in_query:
        return None
    text = analysis.row_text(index, analysis.after(index, column.span))
    navigation = Navigation(analysis.variable(column), semantics=semantics)
    return ColumnReference(navigation, text, column.span)


def read_classifier(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Classifier, int]:
    """The CLASSIFIER called at `index` and the token after it."""
    variable, span, end = _of_variable(analysis, index)
    return Classifier(Navigation(variable, semantics=semantics), span), end


def read_matched_rows(analysis: Analysis, index: int) -> tuple[Aggregate, int]:
    """The MATCHED_ROWS called at `index` and the token after it."""
    variable, span, end = _of_variable(analysis, index)
    if analysis.scope.clause is not Clause.MEASURES:
        raise errors.matched_rows_of_unfinished_match(analysis.clause, span)
    row = Term((ColumnReference(Navigation(variable), MATCHED_ROW, span),), span)
    return Aggregate(MATCHED_ROWS, variable, (row,), Semantics.FINAL, span=span), end


def _of_variable(analysis: Analysis, index: int) -> tuple[str | None, Span, int]:
    """The variable that the call at `index` names, if any, its place, and the token after it."""
    closing = analysis.pairs[index + 1]
    refuse_suffix(analysis, index, closing)
    span = analysis.span(index, closing + 1)
    arguments = call_arguments(analysis, index)
    if len(arguments) > 1:
        raise navigation_errors.wrong_number_of_arguments(
            analysis.key(index), "at most one variable", len(arguments), analysis.clause, span
        )
    variable = _variable(analysis, index, arguments[0]) if arguments else None
    return variable, span, closing + 1


def _variable(analysis: Analysis, index: int, argument: tuple[int, int]) -> str:
    start, end = argument
    token = analysis.tokens[start]
    if end - start != 1 or not token.can_name:
        span = analysis.span(start, end)
        raise errors.expression_for_variable(analysis.key(index), analysis.clause, span)
    if token.variable not in analysis.scope.variables:
        raise unknown_variable(analysis, token)
    return token.variable


def read_match_number(analysis: Analysis, index: int) -> tuple[MatchNumber, int]:
    """The MATCH_NUMBER called at `index` and the token after it."""
    span, end = without_arguments(analysis, index)
    return MatchNumber(span), end


def read_ending(analysis: Analysis, index: int) -> tuple[Ending, int]:
    """The MATCH_STATUS or MATCH_TIMEOUT called at `index` and the token after it."""
    span, end = without_arguments(analysis, index)
    if analysis.scope.clause is Clause.DEFINE:
        raise errors.ending_in_define(analysis.key(index), span)
    return Ending(EndingField(analysis.key(index)), span), end


def read_row_number(analysis: Analysis, index: int) -> tuple[Aggregate, int]:
    """The MATCH_ROW_NUMBER called at `index`, which is RUNNING count(*), and the token after it."""
    span, end = without_arguments(analysis, index)
    return Aggregate("count", None, (), span=span), end


def without_arguments(analysis: Analysis, index: int) -> tuple[Span, int]:
    """Where the call at `index` stands, and the token after it; it has no argument."""
    closing = analysis.pairs[index + 1]
    refuse_suffix(analysis, index, closing)
    span = analysis.span(index, closing + 1)
    if arguments := call_arguments(analysis, index):
        name = analysis.key(index)
        raise navigation_errors.wrong_number_of_arguments(
            name, "no argument", len(arguments), analysis.clause, span
        )
    return span, closing + 1


def call_arguments(analysis: Analysis, index: int) -> tuple[tuple[int, int], ...]:
    """The index ranges of the arguments of the call at `index`."""
    opening = index + 1
    closing = analysis.pairs[opening]
    if closing == opening + 1:
        return ()
    parts = analysis.separated(opening + 1, closing)
    for start, end in parts:
        if start == end:
            token = analysis.tokens[end]
            raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
    return parts


def refuse_suffix(analysis: Analysis, index: int, closing: int) -> None:
    """DISTINCT in the call at `index`, or FILTER and the like after it."""
    for modifier in (index + 2, closing + 1):
        key = analysis.key(modifier)
        if (key == "DISTINCT" and modifier < closing) or (key in SUFFIXES and modifier > closing):
            raise navigation_errors.modifier_of_navigation(
                analysis.key(index), key, analysis.clause, analysis.tokens[modifier].span
            )
