"""The columns of the row pattern output table, in order.

ONE ROW PER MATCH: partition columns, measures. ALL ROWS PER MATCH: partition columns, order
columns, measures, then the other input columns; in some products, and of a row pattern
window, the columns of the input, then measures. A column that is already there does not come twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.errors.conditions import duplicate_output_column, no_output_columns, two_classifiers
from matchrec.errors.rules import duplicate_measure
from matchrec.output.reads import PointerField
from matchrec.plan.clauses import ColumnOrder, MatchOutput, Measure, RowsPerMatch
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import PREFIX, quoted
from matchrec.plan.totals import AskedTotal, Totals
from matchrec.source import Span

if TYPE_CHECKING:
    from matchrec.plan.stages import Timeouts


@dataclass(frozen=True, slots=True)
class RowOutput:
    """A column whose value is `text`, SQL over the input row. span: of a name that is written."""

    text: str
    name: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class PointerOutput:
    field: PointerField
    name: str


@dataclass(frozen=True, slots=True)
class TimeoutOutput:
    """When the window of a run ended that is no match; NULL of a match."""

    timeouts: Timeouts
    name: str = "timed_out_at"


@dataclass(frozen=True, slots=True)
class TotalOutput:
    """An aggregate over all matches. measure: that it is over; None of a count of matches."""

    name: str
    asked: AskedTotal
    measure: Measure | None


# The column of rows that have no other; no query can name it, and messages do not show it.
NO_COLUMN = f"{PREFIX}match"

OutputColumn = RowOutput | Measure | PointerOutput | TimeoutOutput | TotalOutput


def output_columns(
    plan: MatchPlan, columns: InputColumns, name_of: Callable[[str], str], use: Use = EVERYTHING
) -> tuple[OutputColumn, ...]:
    """Return the columns of the result of a resolved plan. Raise if two have the same name.

    name_of: returns the name that Spark gives to an expression. use: what the query around the
    clause reads. Rows without a column are an error only if it may read any column, as SELECT *
    does; for SELECT COUNT(*) the rows get `NO_COLUMN`, because a DataFrame needs a column.
    """
    found = table_columns(plan, columns, name_of)
    if plan.totals is not None:
        found = [*columns_of_totals(plan, plan.totals, found)]
    elif plan.staging is not None and plan.staging.timeouts is not None:
        found.append(TimeoutOutput(plan.staging.timeouts))
    if plan.output is MatchOutput.GRAPH:
        found += [PointerOutput(field, field.value) for field in PointerField]
    if not found and use.columns is not None:
        found = [RowOutput("TRUE", NO_COLUMN)]
    if not found:
        raise no_output_columns(plan.pattern.span)
    check_names(found, columns)
    if columns.find((CLASSIFIER_FIELD,)) and plan.matches_as_values:
        raise two_classifiers(plan.matches_as_values[0].span)
    return tuple(found)


def columns_of_totals(
    plan: MatchPlan, totals: Totals, found: list[OutputColumn]
) -> Iterator[OutputColumn]:
    """The columns of groups, then those of totals. found: the columns of matches."""
    measures = {measure.name: measure for measure in plan.measures}
    for one in found:
        if not isinstance(one, Measure) or one.name in totals.keys:
            yield one
    for asked, name in totals.columns.items():
        measure = None if asked.measure is None else measures[asked.measure]
        yield TotalOutput(name, asked, measure)


def table_columns(
    plan: MatchPlan, columns: InputColumns, name_of: Callable[[str], str]
) -> list[OutputColumn]:
    texts = {part.text for part in plan.partition_by}
    keys = []
    for key in dict.fromkeys(plan.partition_by):
        name = key.name or columns.name(key.text) or name_of(key.text)
        keys.append(RowOutput(key.text, name, key.span if key.name else None))
    if plan.rows_per_match is RowsPerMatch.ONE_ROW:
        return [*keys, *plan.measures]
    each_row = plan.rows_per_match is RowsPerMatch.EACH_ROW
    if each_row or plan.columns is ColumnOrder.INPUT_FIRST:
        return [*(RowOutput(quoted(name), name) for name in columns.names), *plan.measures]
    orders = dict.fromkeys(item.expression.text for item in plan.order_by)
    names = {text: columns.name(text) for text in orders if text not in texts}
    sorting = [RowOutput(text, name) for text, name in names.items() if name is not None]
    taken = {*texts, *(key.text for key in sorting)}
    others = (RowOutput(quoted(name), name) for name in columns.names if quoted(name) not in taken)
    return [*keys, *sorting, *plan.measures, *others]


def check_names(found: list[OutputColumn], columns: InputColumns) -> None:
    """Raises where two columns have one name; whether case counts is for the session to say."""
    seen: dict[str, OutputColumn] = {}
    for column in found:
        first, name = seen.setdefault(columns.folded(column.name), column), column.name
        if first is column:
            continue
        if isinstance(first, Measure) and isinstance(column, Measure):
            raise duplicate_measure((first.span, column.span), name=name)
        named = [o for o in (first, column) if isinstance(o, Measure | RowOutput) and o.span]
        raise duplicate_output_column(named[-1].span if named else None, name=name)
