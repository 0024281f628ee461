"""What is evaluated on one row: the argument of a navigation or an aggregate, with its readings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from matchrec.errors.sql import clause as syntax_errors
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import pattern as navigation_errors
from matchrec.frontends.expressions.analysis import (
    Analysis,
    ClausePart,
    unknown_variable,
    with_holes,
)
from matchrec.frontends.lexing.tokens import AGGREGATES, MATCH_FUNCTIONS, NAVIGATION, Range
from matchrec.plan.expression import (
    MATCHED_ROW,
    MATCHED_ROWS,
    OF_ENDINGS,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Navigation,
    Piece,
    Reference,
    Semantics,
    Term,
    column_term,
)
from matchrec.plan.operations import NO_OPERATIONS
from matchrec.plan.text import quoted
from matchrec.source import Span

# Names that functions give to the fields of a struct after their arguments.
#
#     STRUCT(A.x, LAST(y))      →      STRUCT(? AS `x`, ? AS `col2`)
#
# Spark takes such a name from the column that it is given, which for what a match reads is one of
# ours, so the name that the text means is written.

NAMING = frozenset({"STRUCT", "ARRAYS_ZIP"})
"""The functions that name fields after their arguments."""

_ENDS = ("(", ",", ")")


def with_field_name(
    analysis: Analysis, start: int, end: int, read: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """What tokens `start .. end` read, with its name where it is a whole argument of a struct."""
    function = analysis.around[start] - 1
    is_whole = analysis.key(start - 1) in _ENDS and analysis.key(end) in _ENDS
    if not is_whole or function < 0 or analysis.scope.clause is not ClausePart.MEASURES:
        return read
    if not analysis.is_call(function):
        return read
    column = analysis.columns.get(start)
    if analysis.key(function) not in NAMING or (column is not None and column.star):
        return read
    arguments = analysis.separated(function + 2, analysis.pairs[function + 1])
    place = [first for first, _ in arguments].index(start) + 1
    name = analysis[analysis.index_at[column.parts[-1].start]].text if column else None
    return named_field(analysis.key(function), place, name, read)


def named_field(
    function: str, place: int, name: str | None, read: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """An argument of one of `NAMING`, by its place from 1; name: of its column, if it is one."""
    if function == "STRUCT":
        return (*read, f" AS {quoted(name or f'col{place}')}")
    if name is None:
        return ("COALESCE(", *read, ")")
    return ("STRUCT(", *read, f" AS {quoted(name)}).{quoted(name)}")


# The argument of a navigation or an aggregate: SQL over one row, of one variable.


@dataclass(frozen=True, slots=True)
class Operand:
    """Tokens `start .. end`, which stand in the call at `function`."""

    function: int
    start: int
    end: int


def variable_of_argument(analysis: Analysis, operand: Operand) -> str | None:
    """The variable of an argument: SQL over one row, whose columns are of one variable.

    Raises MatchRecognizeError for what looks at other rows, and for columns of two variables.
    """
    refuse_readings(analysis, operand)
    for column in analysis.columns_in(operand.start, operand.end):
        if column.star and analysis.key(operand.function) == "COUNT":
            function = analysis.tokens[operand.function].text
            raise errors.star_outside_count(column.span, function=function, clause=analysis.clause)
    return one_variable(analysis, operand)


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
    of_measures = analysis.scope.clause is ClausePart.MEASURES
    name = outer.text if aggregate else outer.key
    match inner.key:
        case "CLASSIFIER":
            return
        case "MATCH_NUMBER" if aggregate:
            return
        case "MATCH_ROW_NUMBER" if aggregate and of_measures:
            return
        case key if key in MATCH_FUNCTIONS:
            raise errors.called_inside(inner.span, inner=key, function=name, clause=clause)
        case "MATCHED_ROWS":
            raise errors.aggregate_in(spans, aggregate=inner.key, outer=name, clause=clause)
        case key if key in NAVIGATION and aggregate:
            raise errors.navigation_in_aggregate(
                spans, navigation=key, aggregate=name, clause=clause
            )
        case key if key in NAVIGATION:
            raise navigation_errors.wrong_nesting(spans, inner=key, outer=name, clause=clause)
        case key if key in AGGREGATES and analysis.key(index - 1) not in ("LIKE", "ILIKE"):
            raise errors.aggregate_in(spans, aggregate=inner.text, outer=name, clause=clause)


# Expressions over one row of a match: its columns, its classifier, its match's number.

SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})


def row_term(analysis: Analysis, operand: Operand, semantics: Semantics) -> Term:
    """What is evaluated on a row: text, with what it reads of the row as references.

    `variable_of_argument` has refused before what may not be read.
    """
    span = analysis.span(operand.start, operand.end)
    holes = []
    for index in range(operand.start, operand.end):
        one = _reading(analysis, index, semantics)
        if one is not None and one.span is not None:
            end = analysis.after(index, one.span)
            holes.append((one.span, with_field_name(analysis, index, end, (one,))))
    own = analysis.operations_in(operand.start, operand.end)
    return Term(with_holes(analysis.written, span, holes), span, own)


def _reading(analysis: Analysis, index: int, semantics: Semantics) -> Reference | None:
    """What is read of the row by what starts at a token."""
    name = analysis.key(index)
    if not analysis.is_call(index) or name not in READERS:
        return read_column(analysis, index, semantics)
    if name == "MATCH_ROW_NUMBER":
        return _read_match_value(analysis, index, semantics)
    return READERS[name](analysis, index, semantics)


def read_column(
    analysis: Analysis, index: int, semantics: Semantics = Semantics.RUNNING
) -> ColumnReference | None:
    """The column of the row that starts at a token, if one does."""
    column = analysis.columns.get(index)
    if column is None or column.in_query:
        return None
    text = analysis.row_text(index, analysis.after(index, column.span))
    navigation = Navigation(analysis.variable(column), semantics=semantics)
    return ColumnReference(navigation, text, column.span, NO_OPERATIONS)


def read_classifier(analysis: Analysis, index: int, semantics: Semantics) -> Classifier:
    """The CLASSIFIER called at `index`."""
    variable = _variable(analysis, index)
    return Classifier(Navigation(variable, semantics=semantics), analysis.call_span(index))


def _read_matched_rows(analysis: Analysis, index: int, _: Semantics) -> Aggregate:
    span, variable = analysis.call_span(index), _variable(analysis, index)
    if analysis.scope.clause is not ClausePart.MEASURES:
        raise errors.matched_rows_of_unfinished_match(span, clause=analysis.clause)
    row = column_term(Navigation(variable), MATCHED_ROW, span)
    return Aggregate(MATCHED_ROWS, variable, (row,), Semantics.FINAL, span=span)


def _read_match_value(analysis: Analysis, index: int, _: Semantics) -> MatchValue:
    function, span = MatchFunction(analysis.key(index)), without_arguments(analysis, index)
    if function in OF_ENDINGS and analysis.scope.clause is ClausePart.DEFINE:
        raise errors.ending_in_define(span, function=function.value)
    return MatchValue(function, span)


READERS: Mapping[str, Callable[[Analysis, int, Semantics], Reference]] = {
    "CLASSIFIER": read_classifier,
    **dict.fromkeys((function.value for function in MatchFunction), _read_match_value),
    "MATCH_ROW_NUMBER": lambda analysis, index, _: Aggregate(  # RUNNING count(*)
        "count", None, (), span=without_arguments(analysis, index)
    ),
    "MATCHED_ROWS": _read_matched_rows,
}
"""What reads a call, by its name; those of navigation and of aggregates are in `references`."""


def _variable(analysis: Analysis, index: int) -> str | None:
    """The variable that the call at `index` names, if any."""
    arguments = checked_arguments(analysis, index, range(2), "at most one variable")
    if not arguments:
        return None
    ((start, end),) = arguments
    token = analysis.tokens[start]
    if end - start != 1 or not token.can_name:
        span = analysis.span(start, end)
        raise errors.expression_for_variable(
            span, function=analysis.key(index), clause=analysis.clause
        )
    if token.variable not in analysis.scope.variables:
        raise unknown_variable(analysis, token)
    return token.variable


def without_arguments(analysis: Analysis, index: int) -> Span:
    """Where the call at `index` stands, which has no argument."""
    checked_arguments(analysis, index, range(1), "no argument")
    return analysis.call_span(index)


def checked_arguments(
    analysis: Analysis, index: int, wanted: range, expected: str
) -> tuple[Range, ...]:
    """The index ranges of the arguments of a call that nothing follows, of which some number is
    wanted.
    """
    _refuse_suffix(analysis, index)
    arguments = call_arguments(analysis, index)
    if len(arguments) not in wanted:
        raise navigation_errors.wrong_number_of_arguments(
            analysis.call_span(index),
            function=analysis.key(index),
            clause=analysis.clause,
            expected=expected,
            given=len(arguments),
        )
    return arguments


def call_arguments(analysis: Analysis, index: int) -> tuple[Range, ...]:
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


def _refuse_suffix(analysis: Analysis, index: int) -> None:
    """DISTINCT in the call at `index`, or FILTER and the like after it."""
    closing = analysis.pairs[index + 1]
    for modifier in (index + 2, closing + 1):
        key = analysis.key(modifier)
        if (key == "DISTINCT" and modifier < closing) or (key in SUFFIXES and modifier > closing):
            raise navigation_errors.modifier_of_navigation(
                analysis.key(index), key, analysis.clause, analysis.tokens[modifier].span
            )
