"""`Query.aggregate`: aggregates over all matches, without building the matches if possible.

1. Each aggregate, such as `avg(days)`, is parsed, and split into the totals that it is computed
   from: the sum and the count of `days`.
2. The search computes these totals, and returns a row for each group of matches. If it cannot
   compute them, it returns the matches.
3. SQL computes the aggregates from these rows: see `write_over_groups` and `write_over_matches`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.functions import expr

from matchrec.api.clause import Clause
from matchrec.errors import match_totals as errors
from matchrec.errors.conditions import duplicate_output_column
from matchrec.plan.clauses import Grouping, Measure, RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics, make_column, make_literal
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import AVERAGE_OR_NULL, quote_name, quote_string
from matchrec.plan.totals import DOUBLE, FUNCTIONS, MATCH_NAME, TotalAggregate, Totals, name_key
from matchrec.source import Span
from matchrec.spark.clause_result import ClauseResult
from matchrec.spark.read_types import find_total_type
from matchrec.spark.request import is_streaming
from matchrec.spark.types import find_scale, normalize_value

# An aggregate: its function, then `*`, a name, or a name in backticks.
_CALL = re.compile(r"\s*(\w+)\s*\(\s*(?:(\*)|(\w+)|`((?:[^`]|``)+)`)\s*\)\s*")
# A cast of an aggregate: the aggregate, then DOUBLE or the scale of a decimal.
_CAST = re.compile(
    r"\s*CAST\s*\((.+)\bAS\s+(?:(DOUBLE)|DECIMAL\s*\(\s*38\s*(?:,\s*(\d+)\s*)?\))\s*\)\s*",
    re.IGNORECASE | re.DOTALL,
)
# Matches that are only counted have this measure, because rows need a column.
MATCH_COLUMN = Measure(MATCH_NAME, make_literal("TRUE", Span(0, 0)))


def aggregate(
    clause: Clause, aggregates: Mapping[str, str], per: str
) -> tuple[ClauseResult, DataFrame]:
    """Return the aggregates over all matches of a clause, and how the clause was run for them.

    Args:
        clause: the clause.
        aggregates: as for `Query.aggregate`.
        per: as for `Query.aggregate`.

    Returns:
        The result of the search, for explanations; and a DataFrame with a row for each group.

    Raises:
        MatchRecognizePlanError: a text is not an aggregate of a measure, or two columns of the
            result have the same name.
        MatchRecognizeUnsupportedError: the clause reads a stream, and the groups never end, or the
            search cannot compute the totals.
    """
    grouping = Grouping[per.upper()]
    plan = clause.find_plan_of_matches("aggregate")
    is_stream = is_streaming(clause.relation.rows)
    if is_stream and grouping is not Grouping.END:
        raise errors.unfinished_groups_over_stream(per=per)

    key_measures = find_key_measures(plan, grouping)
    calls = {name: parse_call(text, plan) for name, text in aggregates.items()}
    needed_totals = [total for call in calls.values() for total in find_totals(call)]
    totals = Totals(
        aggregates=tuple(dict.fromkeys(needed_totals)),
        grouped=grouping,
        keys=tuple(measure.name for measure in key_measures.values()),
    )

    used_names = {total.measure for total in totals.aggregates}
    used_measures = [measure for measure in plan.measures if measure.name in used_names]
    plan = replace(
        plan, measures=(*key_measures.values(), *used_measures), rows_per_match=RowsPerMatch.ONE_ROW
    )
    result = run_search(clause, plan, totals)

    rows = result.dataframe
    group_names = [*rows.columns[: len(plan.partition_by)], *key_measures]
    check_names(calls, group_names)
    write_for_engine = clause.relation.runner.write_for_engine
    columns = [
        f"{write_for_engine(write_call(call, result, totals))} AS {quote_name(name)}"
        for name, call in calls.items()
    ]
    return result, group_rows(rows, group_names, columns)


def group_rows(rows: DataFrame, group_names: Sequence[str], aggregates: Sequence[str]) -> DataFrame:
    """Return a row with the aggregates for each group.

    Args:
        rows: the rows of the search. Their first columns say which group a row belongs to.
        group_names: the names that these columns get.
        aggregates: the other columns of the result, as SQL.
    """
    fields = list(zip(group_names, rows.schema.fields, strict=False))
    if not group_names or is_streaming(rows):
        # In a stream, each row is a complete group. Without columns of groups, all rows are one
        # group.
        groups = [f"{quote_name(field.name)} AS {quote_name(name)}" for name, field in fields]
        return rows.selectExpr(*groups, *aggregates)
    # Equal values may have several forms, such as 0.0 and -0.0.
    groups = [
        f"{normalize_value(quote_name(field.name), field.dataType)} AS {quote_name(name)}"
        for name, field in fields
    ]
    return rows.groupBy(*map(expr, groups)).agg(*map(expr, aggregates))


def run_search(clause: Clause, plan: MatchPlan, totals: Totals) -> ClauseResult:
    """Run the search for totals of each group, or for matches if it cannot compute totals.

    In the second case, the result has the reason in `reason_for_building_matches`.

    Raises:
        MatchRecognizeUnsupportedError: the clause reads a stream, and the search cannot compute the
            totals.
    """
    is_stream = is_streaming(clause.relation.rows)
    reason = errors.BY_ONE_AT_A_TIME
    # Backtracking finds one match at a time. It is used only if the options name it.
    if is_stream or clause.options.algorithm != "backtracking":
        try:
            return clause.evaluate_plan(replace(plan, totals=totals))
        except errors.MustBuildMatchesError as error:
            if is_stream:
                raise
            reason = error.reason
    plan = replace(plan, measures=plan.measures or (MATCH_COLUMN,))
    return replace(clause.evaluate_plan(plan), reason_for_building_matches=reason)


def check_names(names: Iterable[str], group_names: Iterable[str]) -> None:
    """Check that the columns of the result have different names.

    Args:
        names: the names of the aggregates.
        group_names: the names of the columns that say which group it is.

    Raises:
        MatchRecognizePlanError: two columns have the same name, ignoring case.
    """
    used_names = {name.lower() for name in group_names}
    for name in names:
        if name.lower() in used_names:
            raise duplicate_output_column(name=name)
        used_names.add(name.lower())


def write_call(call: TotalAggregate, result: ClauseResult, totals: Totals) -> str:
    """Return SQL of an aggregate over the rows of the search.

    In a stream, the search returns one row for each group, so the SQL has no aggregate function.
    """
    if result.compiled_query.task.totals is None:
        return write_over_matches(call, result.dataframe)
    if not result.reads_stream:
        return write_over_groups(call, result.dataframe, totals.columns)
    columns = [quote_name(totals.columns[total]) for total in find_totals(call)]
    return write_quotient(*columns) if call.function == "avg" else columns[0]


def find_totals(call: TotalAggregate) -> tuple[TotalAggregate, ...]:
    """Return the totals that the search must compute for an aggregate.

    An average needs a sum and a count. For `avg` the search computes the sum.
    """
    if call.function != "avg":
        return (call,)
    return (call, replace(call, function="count", cast=DOUBLE))


def parse_call(text: str, plan: MatchPlan) -> TotalAggregate:
    """Return an aggregate as the user wrote it.

    Raises:
        MatchRecognizePlanError: it is not an aggregate of a measure of the plan.
    """
    measure_names = {measure.name.lower(): measure.name for measure in plan.measures}
    call_text, cast = split_cast(text)
    match = _CALL.fullmatch(call_text)
    if match is None:
        raise errors.not_an_aggregate(text=text, measures=sorted(measure_names.values()))
    function, star, word, name_in_backticks = match.groups()
    function = function.lower()
    if function not in find_allowed_functions(has_star=bool(star), has_cast=cast is not None):
        raise errors.not_an_aggregate(text=text, measures=sorted(measure_names.values()))
    if star:
        return TotalAggregate(function, None, cast)
    name = word or name_in_backticks.replace("``", "`")
    if name.lower() not in measure_names:
        raise errors.unknown_measure(name=name, measures=sorted(measure_names.values()))
    return TotalAggregate(function, measure_names[name.lower()], cast)


def find_allowed_functions(*, has_star: bool, has_cast: bool) -> Collection[str]:
    """Return the functions that an aggregate may call.

    Args:
        has_star: whether the argument is `*`.
        has_cast: whether there is a CAST around the call.
    """
    if has_star:
        return ("count",)
    if has_cast:
        return ("count", "sum")
    return FUNCTIONS


def split_cast(text: str) -> tuple[str, str | None]:
    """Return the text inside a CAST and its type. Without a CAST, return the text and None.

    >>> split_cast("cast(count(*) AS decimal(38,0))")
    ('count(*) ', 'DECIMAL(38, 0)')
    """
    match = _CAST.fullmatch(text)
    if match is None:
        return text, None
    call_text, double, scale = match.groups()
    return call_text, DOUBLE if double else f"DECIMAL(38, {int(scale or 0)})"


def write_over_groups(
    call: TotalAggregate, rows: DataFrame, columns: Mapping[TotalAggregate, str]
) -> str:
    """Return SQL of an aggregate over rows of totals, such as `sum(total)` for a count.

    Args:
        call: the aggregate.
        rows: the rows of the search. Several of them may belong to one group.
        columns: the column of each total.
    """
    if call.function == "avg":
        sum_column, count_column = (quote_name(columns[total]) for total in find_totals(call))
        return write_quotient(f"sum({sum_column})", f"sum({count_column})")
    column = quote_name(columns[call])
    type_ = rows.schema[columns[call]].dataType
    if call.function in ("min", "max"):
        return write_extreme(call.function, column, type_)
    total = write_sum(call, column, type_)
    if call.function == "count":
        return f"coalesce({total}, CAST(0 AS {type_.simpleString()}))"
    return total


def write_over_matches(call: TotalAggregate, rows: DataFrame) -> str:
    """Return SQL of an aggregate over built matches, with the type that the search would return.

    Args:
        call: the aggregate.
        rows: the matches with their measures.
    """
    if call.measure is None:
        argument, type_ = "1", None
    else:
        argument, type_ = quote_name(call.measure), rows.schema[call.measure].dataType
    match call.function:
        case "count":
            return f"CAST(count({argument}) AS {find_total_type(call, type_).simpleString()})"
        case "sum" if call.cast == DOUBLE:
            doubles = f"sum(CAST({argument} AS DOUBLE))"
            if not isinstance(type_, spark_types.DecimalType | spark_types.IntegralType):
                return doubles
            return f"coalesce(CAST({write_exact_sum(argument, type_)} AS DOUBLE), {doubles})"
        case "sum" if call.cast is not None or isinstance(type_, spark_types.NumericType):
            return write_sum(call, argument, find_total_type(call, type_))
        case "avg":
            return fail_on_null(call, f"{AVERAGE_OR_NULL}({argument})", argument, "DECIMAL")
        case function:
            assert type_ is not None, "only a count can do without a measure"
            return write_extreme(function, argument, type_)


def write_extreme(function: str, argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of the least or the greatest value. NaN is the greatest, as in Spark."""
    plain = f"{function}({argument})"
    if not isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
        return plain
    # Among NaN and numbers, Sail returns whichever comes last. So if there is a NaN, max gets only
    # the NaNs, and min gets only the numbers as long as there are any.
    preferred = f"isnan({argument})" if function == "max" else f"NOT isnan({argument})"
    return f"coalesce({function}(CASE WHEN {preferred} THEN {argument} END), {plain})"


def write_quotient(dividend: str, divisor: str) -> str:
    """Return SQL of one double divided by another one; NULL if the divisor is 0."""
    return f"({dividend} / nullif({divisor}, 0D))"


def write_sum(call: TotalAggregate, argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of a sum of numbers. It raises an error if the sum is too large, in every mode."""
    if isinstance(type_, spark_types.DoubleType):
        return f"sum(CAST({argument} AS DOUBLE))"
    type_name = type_.simpleString().upper()
    total = f"try_cast({write_exact_sum(argument, type_)} AS {type_name})"
    return fail_on_null(call, total, argument, type_name.replace(",", ", "))


def write_exact_sum(argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of a sum with all digits; NULL if it has more than 38.

    Args:
        argument: SQL of the numbers.
        type_: the type of the numbers.
    """
    return f"try_sum(CAST({argument} AS DECIMAL(38, {find_scale(type_)})))"


def fail_on_null(call: TotalAggregate, value: str, argument: str, type_name: str) -> str:
    """Return SQL of an aggregate that raises an error if it is NULL although there are values.

    Args:
        call: the aggregate, for the message.
        value: SQL of the aggregate, which is NULL if the result is too large.
        argument: SQL of the values.
        type_name: the type of the result, for the message.
    """
    message = quote_string(errors.write_total_message(type_name, str(call)))
    return f"coalesce({value}, if(count({argument}) = 0, NULL, raise_error({message})))"


def find_key_measures(plan: MatchPlan, grouping: Grouping) -> dict[str, Measure]:
    """Return measures of the ORDER BY columns on the first or last row of a match, by column.

    They tell groups apart: the matches of a group start, or end, with the same row. Groups by
    partition need no such measures. The names of the measures are internal, because a measure of
    the query may have the name of a column.

    Raises:
        MatchRecognizePlanError: no item of ORDER BY is a column, other than a partition column.
    """
    if grouping is Grouping.PARTITION:
        return {}
    end = End.FIRST if grouping is Grouping.START else End.LAST
    navigation = Navigation(end=end, semantics=Semantics.FINAL)
    partition_texts = {key.text for key in plan.partition_by}
    measures = {}
    for number, item in enumerate(plan.order_by):
        key = item.expression
        if len(key.names) == 1 and key.text not in partition_texts:
            term = replace(
                make_column(navigation, key.text, names=key.names), span=key.span_or_start
            )
            measures[key.names[0]] = Measure(name_key(number), term)
    if not measures:
        raise errors.no_sort_column(per=grouping.value)
    return measures
