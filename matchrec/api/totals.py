"""What is asked of all matches of a clause together, without the matches where that is possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.functions import expr

from matchrec.api.clause import Clause
from matchrec.errors import calls as errors
from matchrec.errors.conditions import duplicate_output_column
from matchrec.plan.clauses import Grouping, Measure, RowsPerMatch
from matchrec.plan.expression import MATCH_NUMBER, End, Navigation, Semantics, Term, column_term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import AVERAGE_OR_NULL, quoted, string_literal
from matchrec.plan.totals import DOUBLE, FUNCTIONS, AskedTotal, Totals
from matchrec.source import Span
from matchrec.spark.execute import ClauseResult, execute
from matchrec.spark.question import is_streaming
from matchrec.spark.types import in_one_form, scale_of, total_type

_CALL = re.compile(r"\s*(\w+)\s*\(\s*(?:(\*)|(\w+)|`((?:[^`]|``)+)`)\s*\)\s*")
_CAST = re.compile(
    r"\s*CAST\s*\((.+)\bAS\s+(?:(DOUBLE)|DECIMAL\s*\(\s*38\s*(?:,\s*(\d+)\s*)?\))\s*\)\s*",
    re.IGNORECASE | re.DOTALL,
)
A_COLUMN = Measure("__match", Term((MATCH_NUMBER,), Span(0, 0)))  # of matches that are counted


def aggregate(
    clause: Clause, aggregates: Mapping[str, str], per: str
) -> tuple[ClauseResult, DataFrame]:
    """Return how aggregates over all matches of a clause run, and a row for each group of `per`."""
    grouped, plan = Grouping[per.upper()], clause.plan_of_matches("aggregate")
    if is_streaming(clause.relation.rows) and grouped is not Grouping.END:
        raise errors.unfinished_groups(per=per)
    keys = key_measures(plan, grouped)
    calls = {name: call_of(text, plan) for name, text in aggregates.items()}
    asked = dict.fromkeys(part for call in calls.values() for part in parts_of(call))
    totals = Totals(tuple(asked), grouped, tuple(key.name for key in keys.values()))
    read = {total.measure for total in asked}
    measures = (*keys.values(), *(measure for measure in plan.measures if measure.name in read))
    plan = replace(plan, measures=measures, rows_per_match=RowsPerMatch.ONE_ROW)
    found = search_of(clause, plan, totals)
    rows = found.dataframe
    names = [*rows.columns[: len(plan.partition_by)], *keys]
    taken = {name.lower() for name in names}
    for name in calls:
        if name.lower() in taken:
            raise duplicate_output_column(name=name)
        taken.add(name.lower())
    readable = clause.relation.runner.readable
    written = ((name, readable(sql_of(call, found, totals))) for name, call in calls.items())
    columns = named_sql(written)
    fields = zip(names, rows.schema.fields, strict=False)
    if not names or is_streaming(rows):  # of a stream a row is a group, no further one comes
        groups = named_sql((name, quoted(one.name)) for name, one in fields)
        return found, rows.selectExpr(*groups, *columns)
    alike = named_sql((name, in_one_form(quoted(one.name), one.dataType)) for name, one in fields)
    return found, rows.groupBy(*map(expr, alike)).agg(*map(expr, columns))


def named_sql(columns: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{value} AS {quoted(name)}" for name, value in columns]


def search_of(clause: Clause, plan: MatchPlan, totals: Totals) -> ClauseResult:
    """Run the search with totals for each group, or else run it for the matches.

    The result of the second has the reason why the search cannot compute the totals.
    """
    flows, reason = is_streaming(clause.relation.rows), errors.BY_ONE_AT_A_TIME
    if flows or clause.options.algorithm != "backtracking":
        try:
            return execute(clause.build_question(replace(plan, totals=totals), clause.options))
        except errors.NotCarriedError as error:
            if flows:
                raise
            reason = error.reason
    plan = replace(plan, measures=plan.measures or (A_COLUMN,))
    return replace(execute(clause.build_question(plan, clause.options)), built=reason)


def sql_of(call: AskedTotal, found: ClauseResult, totals: Totals) -> str:
    """Return SQL of an aggregate over the rows of the search.

    In a stream, the search returns one row for each group, so the SQL has no aggregate function.
    """
    if found.executable.task.totals is None:
        return over_matches(call, found.dataframe)
    if not found.prepared.question.is_stream:
        return over_groups(call, found.dataframe, totals.columns)
    parts = [quoted(totals.columns[total]) for total in parts_of(call)]
    return quotient(*parts) if call.function == "avg" else parts[0]


def parts_of(call: AskedTotal) -> tuple[AskedTotal, ...]:
    """Return the totals that the search must compute for an aggregate.

    An average needs a sum and a count.
    """
    number = replace(call, function="count", cast=DOUBLE)
    return (call, number) if call.function == "avg" else (call,)


def call_of(text: str, plan: MatchPlan) -> AskedTotal:
    names = {one.name.lower(): one.name for one in plan.measures}
    call, cast = cast_of(text)
    known = FUNCTIONS if cast is None else ("count", "sum")
    found = _CALL.fullmatch(call)
    function = "" if found is None else found[1].lower()
    if found is None or function not in (("count",) if found[2] else known):
        raise errors.no_aggregate(text=text, measures=sorted(names.values()))
    _, star, word, name = found.groups()
    if star:
        return AskedTotal(function, None, cast)
    measure = word or name.replace("``", "`")
    if measure.lower() not in names:
        raise errors.unknown_measure(name=measure, measures=sorted(names.values()))
    return AskedTotal(function, names[measure.lower()], cast)


def cast_of(text: str) -> tuple[str, str | None]:
    """Return the text inside a CAST and its type. Without a CAST, return the text and None.

    >>> cast_of("cast(count(*) AS decimal(38,0))")
    ('count(*) ', 'DECIMAL(38, 0)')
    """
    if (found := _CAST.fullmatch(text)) is None:
        return text, None
    call, is_double, scale = found.groups()
    return call, DOUBLE if is_double else f"DECIMAL(38, {int(scale or 0)})"


def over_groups(call: AskedTotal, rows: DataFrame, columns: Mapping[AskedTotal, str]) -> str:
    """Return SQL of an aggregate over the rows of groups.

    Args:
        call: the aggregate.
        rows: the rows of groups.
        columns: the column of each total.
    """
    first, *others = (quoted(columns[one]) for one in parts_of(call))
    if call.function == "avg":
        return quotient(f"sum({first})", f"sum({others[0]})")
    type_ = rows.schema[columns[call]].dataType
    if call.function in ("min", "max"):
        return extreme(call.function, first, type_)
    total = added(call, first, type_)
    zero = f"CAST(0 AS {type_.simpleString()})"
    return f"coalesce({total}, {zero})" if call.function == "count" else total


def over_matches(call: AskedTotal, rows: DataFrame) -> str:
    """Return SQL of an aggregate over built matches, with the type that the search would return."""
    measure = None if call.measure is None else rows.schema[call.measure].dataType
    argument = "1" if call.measure is None else quoted(call.measure)
    match call.function:
        case "count":
            return f"CAST(count({argument}) AS {total_type(call, measure).simpleString()})"
        case "sum" if call.cast == DOUBLE:
            doubles = f"sum(CAST({argument} AS DOUBLE))"
            if not isinstance(measure, spark_types.DecimalType | spark_types.IntegralType):
                return doubles
            return f"coalesce(CAST({exact_sum(argument, measure)} AS DOUBLE), {doubles})"
        case "sum" if call.cast is not None or isinstance(measure, spark_types.NumericType):
            return added(call, argument, total_type(call, measure))
        case "avg":
            return checked(call, f"{AVERAGE_OR_NULL}({argument})", argument, "DECIMAL")
        case function:
            assert measure is not None, "only rows are counted without one"
            return extreme(function, argument, measure)


def extreme(function: str, argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of the least or the greatest value. NaN is the greatest, as in Spark."""
    plain = f"{function}({argument})"
    if not isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
        return plain
    # of NaN and numbers, Sail gives whichever comes last: so it is given no NaN beside others
    decides = f"isnan({argument})" if function == "max" else f"NOT isnan({argument})"
    return f"coalesce({function}(CASE WHEN {decides} THEN {argument} END), {plain})"


def quotient(total: str, number: str) -> str:
    """Return SQL of one double divided by another one; NULL if the divisor is 0."""
    return f"({total} / nullif({number}, 0D))"


def added(call: AskedTotal, argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of a sum of numbers that is an error in every mode if it is too large."""
    if isinstance(type_, spark_types.DoubleType):
        return f"sum(CAST({argument} AS DOUBLE))"
    name = type_.simpleString().upper()
    total = f"try_cast({exact_sum(argument, type_)} AS {name})"
    return checked(call, total, argument, name.replace(",", ", "))


def exact_sum(argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of a sum with all digits; NULL if it has more than 38.

    Args:
        argument: SQL of the numbers.
        type_: the type of the numbers.
    """
    return f"try_sum(CAST({argument} AS DECIMAL(38, {scale_of(type_)})))"


def checked(call: AskedTotal, value: str, argument: str, type_name: str) -> str:
    """Return SQL of an aggregate that raises an error if it is NULL despite values to add."""
    message = string_literal(errors.too_large_together(type_name, str(call)))
    return f"coalesce({value}, if(count({argument}) = 0, NULL, raise_error({message})))"


def key_measures(plan: MatchPlan, grouped: Grouping) -> dict[str, Measure]:
    """Return measures of the ORDER BY columns on the first or last row of a match."""
    if grouped is Grouping.PARTITION:
        return {}
    end = End.FIRST if grouped is Grouping.START else End.LAST
    read = Navigation(end=end, semantics=Semantics.FINAL)
    keys = {key.text for key in plan.partition_by}
    found = {  # a measure of the query may have the name of such a column
        key.names[0]: Measure(
            f"__key_{number}", replace(column_term(read, key.text, names=key.names), span=key.place)
        )
        for number, key in enumerate(item.expression for item in plan.order_by)
        if len(key.names) == 1 and key.text not in keys
    }
    if not found:
        raise errors.no_column_of_order(per=grouped.value)
    return found
