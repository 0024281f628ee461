"""The argument of a navigation or an aggregate: SQL over one row, of one variable."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.frontends.expressions.analysis import Analysis, Clause
from matchrec.frontends.lexing.function_names import AGGREGATES, ENDINGS, NAVIGATION
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Operand:
    """Tokens `start .. end`, which stand in the call at `function`."""

    function: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RowArgument:
    """SQL over one row. variable: of all its columns; None is the universal one, or no column."""

    text: str
    variable: str | None
    has_column: bool


def read_row_argument(analysis: Analysis, operand: Operand) -> RowArgument:
    """The argument, after refusing what looks at other rows, and columns of two variables."""
    refuse_readings(analysis, operand)
    columns = analysis.columns_in(operand.start, operand.end)
    for column in columns:
        if column.star and analysis.key(operand.function) == "COUNT":
            function = analysis.tokens[operand.function].text
            raise errors.star_outside_count(function, analysis.clause, column.span)
    variable = one_variable(analysis, operand)
    return RowArgument(analysis.row_text(operand.start, operand.end), variable, bool(columns))


def one_variable(analysis: Analysis, operand: Operand) -> str | None:
    """The variable to which all columns of the operand belong."""
    columns = analysis.columns_in(operand.start, operand.end)
    found: dict[str | None, Span] = {}
    classifiers = dict(_classifiers(analysis, operand))
    for column in columns:
        if not any(span.start < column.span.start < span.end for span in classifiers):
            found.setdefault(analysis.variable(column), column.span)
    for span, variable in classifiers.items():
        found.setdefault(variable, span)
    if len(found) > 1:
        (first, here), (second, there) = list(found.items())[:2]
        function = analysis.tokens[operand.function].text
        raise errors.two_variables(
            function, analysis.clause, (first or "", second or ""), (here, there)
        )
    return next(iter(found), None)


def _classifiers(analysis: Analysis, operand: Operand) -> Iterator[tuple[Span, str | None]]:
    """Every CLASSIFIER call in the operand, with its variable."""
    for index in range(operand.start, operand.end):
        if analysis.is_call(index) and analysis.key(index) == "CLASSIFIER":
            name = analysis.tokens[index + 2]
            span = analysis.span(index, analysis.pairs[index + 1] + 1)
            yield span, None if name.key == ")" else name.variable


def refuse_readings(analysis: Analysis, operand: Operand) -> None:
    """Navigation, aggregates, CLASSIFIER and MATCH_NUMBER in the operand."""
    outer = analysis.tokens[operand.function]
    aggregate = outer.key in AGGREGATES
    index = operand.start
    while index < operand.end:
        if analysis.is_subquery(index):
            index = analysis.past(index)
            continue
        if analysis.is_call(index):
            _refuse_call(analysis, operand.function, index, aggregate)
        index += 1


def _refuse_call(analysis: Analysis, function: int, index: int, aggregate: bool) -> None:
    outer, inner = analysis.tokens[function], analysis.tokens[index]
    spans = outer.span, inner.span
    clause = analysis.clause
    of_measures = analysis.scope.clause is Clause.MEASURES
    name = outer.text if aggregate else outer.key
    match inner.key:
        case "CLASSIFIER":
            return
        case "MATCH_NUMBER" if aggregate:
            return
        case "MATCH_ROW_NUMBER" if aggregate and of_measures:
            return
        case "MATCH_NUMBER":
            raise errors.match_number_inside(name, clause, inner.span)
        case key if key in ENDINGS:
            raise errors.ending_inside(key, name, clause, inner.span)
        case "MATCH_ROW_NUMBER":
            raise errors.row_number_inside(name, clause, inner.span)
        case "MATCHED_ROWS":
            raise errors.aggregate_in(name, inner.key, clause, spans)
        case key if key in NAVIGATION and aggregate:
            raise errors.navigation_in_aggregate(name, key, clause, spans)
        case key if key in NAVIGATION:
            raise navigation_errors.wrong_nesting(name, key, clause, spans)
        case key if key in AGGREGATES and analysis.key(index - 1) not in ("LIKE", "ILIKE"):
            raise errors.aggregate_in(name, inner.text, clause, spans)
