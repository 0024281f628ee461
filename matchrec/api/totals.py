"""What is asked of all matches of a clause together, without the matches where that is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.api.clauses import Clause
from matchrec.api.inputs import expr
from matchrec.errors import totals as errors
from matchrec.errors.conditions import duplicate_output_column
from matchrec.plan.clauses import Grouping, MatchOutput, Measure, RowsPerMatch
from matchrec.plan.expression import ColumnReference, End, Navigation, Semantics, Term
from matchrec.plan.match_plan import EVERYTHING, MatchPlan
from matchrec.plan.text import quoted
from matchrec.plan.totals import FUNCTIONS, Asking
from matchrec.spark.execute import ClauseResult, execute
from matchrec.spark.question import is_streaming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CALL = re.compile(r"\s*(\w+)\s*\(\s*(?:(\*)|(\w+)|`((?:[^`]|``)+)`)\s*\)\s*")
_PLAIN_NAME = re.compile(r"\w+|`(?:[^`]|``)+`")
_WHOLE = ("tinyint", "smallint", "int", "bigint")

Call = tuple[str, str | None]
"""An aggregate over all matches: its function, and the measure, None of `count(*)`."""


def aggregate(
    clause: Clause, aggregates: Mapping[str, str], by: str
) -> tuple[ClauseResult, DataFrame]:
    """Aggregates over all matches of a clause, a row for each group of them; and how it is run.

    aggregates: by the names of their columns. by: a `Grouping`.
    Raises MatchRecognizePlanError for what is no aggregate of a measure, and
    MatchRecognizeUnsupportedError for what a stream never knows.
    """
    grouped, asking = Grouping(by), Asking()
    plan, flows = plan_of(clause), is_streaming(clause.relation.rows)
    if flows and grouped is not Grouping.END:
        raise errors.unfinished_groups(by)
    named_keys = key_measures(plan, grouped)
    keys = tuple(named_keys.values())
    calls = {name: call_of(text, plan) for name, text in aggregates.items()}
    sql_of = asking.of_group if flows else asking.over_groups
    columns = {name: sql_of(*call) for name, call in calls.items()}
    read = {measure for _, measure in calls.values()}
    measures = (*keys, *(one for one in plan.measures if one.name in read))
    plan = replace(plan, measures=measures, rows_per_match=RowsPerMatch.ONE_ROW)
    totals = asking.totals(grouped, tuple(one.name for one in keys))
    if flows:
        plan = replace(plan, totals=totals)
        found = execute(plan, clause.relation, clause.alias, clause.options)
    else:
        found = replace(clause, plan=plan, totals=totals, use=EVERYTHING).result
    rows = found.dataframe
    if found.executable.task.totals is None:
        columns = {name: over_matches(call, rows) for name, call in calls.items()}
    names = [*rows.columns[: len(plan.partition_by)], *named_keys]
    check_names(columns, names)
    own = zip(rows.columns, names, strict=False)
    groups = [f"{quoted(column)} AS {quoted(name)}" for column, name in own]
    named = [f"{sql} AS {quoted(name)}" for name, sql in columns.items()]
    if flows:  # a row is a group, and no further one of it comes
        return found, rows.selectExpr(*groups, *named)
    if groups:
        grouped_rows = rows.groupBy(*map(expr, groups))
        return found, grouped_rows.agg(*map(expr, named))
    return found, rows.selectExpr(*named)


def plan_of(clause: Clause) -> MatchPlan:
    """What is aggregated: the matches that come out, of which a graph holds all."""
    plan = clause.plan_searched("aggregate")
    is_chosen = clause.plan.output is MatchOutput.NON_OVERLAPPING  # `why` looks at all matches
    return replace(plan, output=clause.plan.output) if is_chosen else plan


def check_names(columns: Iterable[str], groups: list[str]) -> None:
    """Raises MatchRecognizePlanError where two columns would have one name."""
    taken = {name.lower() for name in groups}
    for name in columns:
        if name.lower() in taken:
            raise duplicate_output_column(name, "aggregate")
        taken.add(name.lower())


def call_of(text: str, plan: MatchPlan) -> Call:
    """An aggregate as it is written. Raises MatchRecognizePlanError."""
    found, names = _CALL.fullmatch(text), {one.name.lower(): one.name for one in plan.measures}
    function = "" if found is None else found[1].lower()
    if found is None or function not in (("count",) if found[2] else FUNCTIONS):
        raise errors.no_aggregate(text, sorted(names.values()))
    _, star, word, name = found.groups()
    if star:
        return function, None
    measure = word or name.replace("``", "`")
    if measure.lower() not in names:
        raise errors.unknown_measure(measure, sorted(names.values()))
    return function, names[measure.lower()]


def over_matches(call: Call, rows: DataFrame) -> str:
    """SQL of an aggregate over matches that are built, of the type that it has else."""
    function, measure = call
    if function == "count":
        argument = "1" if measure is None else quoted(measure)
        return f"CAST(count({argument}) AS DECIMAL(38, 0))"
    assert measure is not None
    argument = quoted(measure)
    if function == "sum" and rows.schema[measure].dataType.simpleString() in _WHOLE:
        argument = f"CAST({argument} AS DECIMAL(38, 0))"
    return f"{function}({argument})"


def key_measures(plan: MatchPlan, grouped: Grouping) -> dict[str, Measure]:
    """What names the row with which a match starts or ends: the columns that rows are sorted by.

    A measure of the query may have the name of such a column.

    Raises MatchRecognizePlanError where none of these is a plain column.
    """
    if grouped is Grouping.PARTITION:
        return {}
    end = End.FIRST if grouped is Grouping.START else End.LAST
    read = Navigation(end=end, semantics=Semantics.FINAL)
    keys = {one.text for one in plan.partition_by}
    found = {
        text.strip("`"): Measure(
            f"__key_{number}", Term((ColumnReference(read, text),), one.expression.place)
        )
        for number, one in enumerate(plan.order_by)
        if _PLAIN_NAME.fullmatch(text := one.expression.text) and text not in keys
    }
    if not found:
        raise errors.no_column_of_order(grouped.value)
    return found
