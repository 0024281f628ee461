"""Write the SQL of aggregates over matches.

`write_aggregate` writes the SQL over the rows that the search returns:

    the search returns                        function               SQL of count(*)
    one row for each match                    `write_over_matches`   CAST(count(1) AS BIGINT)
    rows of totals, several for each group    `write_over_groups`    coalesce(sum(total), 0)
    in a stream, one row for each group       `write_aggregate` itself    total

A total or a sum that is too large raises an error, in every mode of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.errors import match_totals as errors
from matchrec.plan.text import AVERAGE_OR_NULL, quote_name, quote_string
from matchrec.plan.totals import DOUBLE, TotalAggregate, Totals
from matchrec.spark.clause_result import ClauseResult
from matchrec.spark.read_types import find_total_type
from matchrec.spark.types import find_scale


def write_aggregate(aggregate: TotalAggregate, result: ClauseResult, totals: Totals) -> str:
    """Return SQL of an aggregate over the rows of the search.

    In a stream, the search returns one row for each group, so the SQL has no aggregate function.
    """
    if result.compiled_query.task.totals is None:
        return write_over_matches(aggregate, result.dataframe)
    if not result.reads_stream:
        return write_over_groups(aggregate, result.dataframe, totals.columns)
    columns = [quote_name(totals.columns[total]) for total in find_totals(aggregate)]
    return write_quotient(*columns) if aggregate.function == "avg" else columns[0]


def find_totals(aggregate: TotalAggregate) -> tuple[TotalAggregate, ...]:
    """Return the totals that the search must compute for an aggregate.

    An average needs a sum and a count. For `avg` the search computes the sum.
    """
    if aggregate.function != "avg":
        return (aggregate,)
    return (aggregate, replace(aggregate, function="count", cast=DOUBLE))


def write_over_groups(
    aggregate: TotalAggregate, rows: DataFrame, columns: Mapping[TotalAggregate, str]
) -> str:
    """Return SQL of an aggregate over rows of totals, such as `sum(total)` for a count.

    Args:
        aggregate: the aggregate.
        rows: the rows of the search. Several of them may belong to one group.
        columns: the column of each total.
    """
    if aggregate.function == "avg":
        sum_column, count_column = (quote_name(columns[total]) for total in find_totals(aggregate))
        return write_quotient(f"sum({sum_column})", f"sum({count_column})")
    column = quote_name(columns[aggregate])
    data_type = rows.schema[columns[aggregate]].dataType
    if aggregate.function in ("min", "max"):
        return write_extreme(aggregate.function, column, data_type)
    total = write_sum(aggregate, column, data_type)
    if aggregate.function == "count":
        return f"coalesce({total}, CAST(0 AS {data_type.simpleString()}))"
    return total


def write_over_matches(aggregate: TotalAggregate, rows: DataFrame) -> str:
    """Return SQL of an aggregate over built matches, with the type that the search would return.

    Args:
        aggregate: the aggregate.
        rows: the matches with their measures.
    """
    if aggregate.measure is None:  # count(*)
        return write_count("1", find_total_type(aggregate, None))
    argument = quote_name(aggregate.measure)
    data_type = rows.schema[aggregate.measure].dataType
    match aggregate.function:
        case "count":
            return write_count(argument, find_total_type(aggregate, data_type))
        case "sum":
            return write_sum_over_matches(aggregate, argument, data_type)
        case "avg":
            return fail_on_null(aggregate, f"{AVERAGE_OR_NULL}({argument})", argument, "DECIMAL")
        case function:
            return write_extreme(function, argument, data_type)


def write_count(argument: str, type_: spark_types.DataType) -> str:
    """Return SQL of the number of values that are not NULL, in a type."""
    return f"CAST(count({argument}) AS {type_.simpleString()})"


def write_sum_over_matches(
    aggregate: TotalAggregate, argument: str, data_type: spark_types.DataType
) -> str:
    """Return SQL of a sum of a measure over built matches.

    The sum of anything else than numbers, such as intervals, is left to the engine.

    Args:
        aggregate: the sum, perhaps with a CAST around it.
        argument: SQL of the measure.
        data_type: the type of the measure.
    """
    if aggregate.cast == DOUBLE:
        sum_of_doubles = f"sum(CAST({argument} AS DOUBLE))"
        if not isinstance(data_type, spark_types.DecimalType | spark_types.IntegralType):
            return sum_of_doubles
        # The exact sum is NULL if it has more than 38 digits.
        exact_sum = f"CAST({write_exact_sum(argument, data_type)} AS DOUBLE)"
        return f"coalesce({exact_sum}, {sum_of_doubles})"
    if aggregate.cast is not None or isinstance(data_type, spark_types.NumericType):
        return write_sum(aggregate, argument, find_total_type(aggregate, data_type))
    return f"sum({argument})"


def write_extreme(function: str, argument: str, data_type: spark_types.DataType) -> str:
    """Return SQL of the least or the greatest value. NaN is the greatest, as in Spark."""
    plain = f"{function}({argument})"
    if not isinstance(data_type, spark_types.FloatType | spark_types.DoubleType):
        return plain
    # Among NaN and numbers, Sail returns whichever comes last. So if there is a NaN, max gets only
    # the NaNs, and min gets only the numbers as long as there are any.
    preferred = f"isnan({argument})" if function == "max" else f"NOT isnan({argument})"
    return f"coalesce({function}(CASE WHEN {preferred} THEN {argument} END), {plain})"


def write_quotient(dividend: str, divisor: str) -> str:
    """Return SQL of one double divided by another one; NULL if the divisor is 0."""
    return f"({dividend} / nullif({divisor}, 0D))"


def write_sum(aggregate: TotalAggregate, argument: str, data_type: spark_types.DataType) -> str:
    """Return SQL of a sum of numbers, which raises an error if the sum is too large, in every mode.

    Args:
        aggregate: the aggregate, for the message.
        argument: SQL of the numbers.
        data_type: the type of the sum.
    """
    if isinstance(data_type, spark_types.DoubleType):
        return f"sum(CAST({argument} AS DOUBLE))"
    type_name = data_type.simpleString().upper()
    total = f"try_cast({write_exact_sum(argument, data_type)} AS {type_name})"
    return fail_on_null(aggregate, total, argument, type_name.replace(",", ", "))


def write_exact_sum(argument: str, data_type: spark_types.DataType) -> str:
    """Return SQL of a sum with all digits; NULL if it has more than 38.

    Args:
        argument: SQL of the numbers.
        data_type: the type of the numbers.
    """
    return f"try_sum(CAST({argument} AS DECIMAL(38, {find_scale(data_type)})))"


def fail_on_null(aggregate: TotalAggregate, value: str, argument: str, type_name: str) -> str:
    """Return SQL of an aggregate that raises an error if it is NULL although there are values.

    Args:
        aggregate: the aggregate, for the message.
        value: SQL of the aggregate, which is NULL if the result is too large.
        argument: SQL of the values.
        type_name: the type of the result, for the message.
    """
    message = quote_string(errors.write_total_message(type_name, str(aggregate)))
    return f"coalesce({value}, if(count({argument}) = 0, NULL, raise_error({message})))"
