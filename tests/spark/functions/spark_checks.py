"""Check functions that matchrec computes in Python against Spark, over the same arguments.

A `FunctionCall` is SQL of one call over arguments `{0}`, `{1}` and so on. An `ArgumentTable` has
rows of such arguments, and checks many calls over all of its rows in one query of Spark. Without
ANSI mode, each row must have the same value in Python and in Spark. In ANSI mode, Spark must also
fail on those rows for which Python raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import FunctionError, FunctionUse, UndecidedError, Value
from matchrec.conditions.types import Family, ValueType
from tests.quick.scale import FULL

ANSI, TIME_ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
SHOWN_DIFFERENCES = 20
# For how many failing rows of each call Spark is run, too. Each of them needs its own query.
CHECKED_FAILURES = 2 if FULL else 0

# For types that Python computes with as numbers: the SQL that makes an argument from a number.
ARGUMENT_FROM_NUMBER: Mapping[Family, str] = {
    Family.DATE: "date_add(DATE'1970-01-01', CAST({} AS INT))",
    Family.TIMESTAMP: "timestamp_micros({})",
    Family.TIMESTAMP_NTZ: "timestampadd(MICROSECOND, {}, TIMESTAMP_NTZ'1970-01-01')",
    Family.INTERVAL: "({} * INTERVAL '0.000001' SECOND)",
    Family.MONTHS: "make_ym_interval(0, CAST({} AS INT))",
}
# The SQL that turns a result into the number that Python computes.
NUMBER_FROM_RESULT: Mapping[Family, str] = {
    Family.DATE: "unix_date({})",
    Family.TIMESTAMP: "unix_micros({})",
    Family.TIMESTAMP_NTZ: "unix_micros(CAST(CAST({} AS STRING) || 'Z' AS TIMESTAMP))",
    Family.MONTHS: "extract(YEAR FROM {0}) * 12 + extract(MONTH FROM {0})",
}


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function over columns of an `ArgumentTable`."""

    # The name under which `load_functions` has the function.
    name: str
    # The SQL of the call, with `{0}` for the first column of the table.
    sql: str
    # The indices of the columns that the function gets as arguments.
    columns: tuple[int, ...]
    # Arguments that are not values: see `FunctionUse`.
    words: tuple[str, ...] = ()

    def build_python_function(self, use: FunctionUse) -> Callable[..., Value]:
        """Return the Python function that computes the call. It also takes NULLs."""
        function = load_functions()[self.name]
        compute = function.build(use)
        if function.takes_nulls:
            return compute
        return lambda *values: None if None in values else compute(*values)


def call(name: str, *columns: int) -> FunctionCall:
    """Return the call `name({0}, {1})` over columns 0 and 1, and so on."""
    arguments = ", ".join(f"{{{column}}}" for column in columns)
    return FunctionCall(name.upper(), f"{name}({arguments})", columns)


@dataclass(frozen=True, slots=True)
class RaisedError:
    """The result of a call for which Python raised an error."""

    # Whether Spark must raise an error, too; otherwise Python could not decide it.
    is_certain: bool


@dataclass(frozen=True)
class ArgumentTable:
    """Rows of arguments of some types."""

    types: tuple[ValueType, ...]
    rows: Sequence[tuple[Value, ...]]

    def check(
        self, spark: SparkSession, calls: Sequence[FunctionCall], time_zone: str = "UTC"
    ) -> None:
        """Assert that Python and Spark compute the same, with ANSI mode and without."""
        for function_call in calls:
            function = load_functions()[function_call.name]
            assert function.takes_count(len(function_call.columns)), function_call
        frame = self.build_frame(spark)
        with restore_settings(spark):
            spark.conf.set(TIME_ZONE, time_zone)
            self.check_types(frame, calls, time_zone)
            for ansi in (False, True):
                spark.conf.set(ANSI, str(ansi).lower())
                self.check_values(frame, calls, ansi, time_zone)

    def build_frame(self, spark: SparkSession) -> DataFrame:
        """Return the rows as columns x0, x1, ..., and `n`, the index of the row."""
        columns = ", ".join(
            f"x{index} {find_column_type(type_)}" for index, type_ in enumerate(self.types)
        )
        rows = [(*row, index) for index, row in enumerate(self.rows)]
        return spark.createDataFrame(rows, f"{columns}, n INT").cache()

    def build_use(self, function_call: FunctionCall, ansi: bool, time_zone: str) -> FunctionUse:
        """Return what a function knows about a call before there are values."""
        types = tuple(self.types[column] for column in function_call.columns)
        return FunctionUse(types, function_call.words, ansi, time_zone)

    def write_call(self, function_call: FunctionCall) -> str:
        """Return the SQL of a call over the columns of the frame."""
        arguments = (write_argument(f"x{index}", type_) for index, type_ in enumerate(self.types))
        return function_call.sql.format(*arguments)

    def check_types(self, frame: DataFrame, calls: Sequence[FunctionCall], time_zone: str) -> None:
        """Assert that the results have the types that Spark gives them."""
        columns = [
            f"{self.write_call(function_call)} AS r{index}"
            for index, function_call in enumerate(calls)
        ]
        schema = frame.selectExpr(*columns).schema
        for function_call, field in zip(calls, schema, strict=True):
            function = load_functions()[function_call.name]
            result_type = function.find_type(self.build_use(function_call, True, time_zone))
            assert result_type is not None, function_call
            assert result_type.name == field.dataType.simpleString(), function_call

    def check_values(
        self, frame: DataFrame, calls: Sequence[FunctionCall], ansi: bool, time_zone: str
    ) -> None:
        """Assert that the results have Spark's values, wherever Python has a value."""
        results = [list(self.compute(function_call, ansi, time_zone)) for function_call in calls]
        columns = []
        for index, (function_call, values) in enumerate(zip(calls, results, strict=True)):
            function = load_functions()[function_call.name]
            result_type = function.find_type(self.build_use(function_call, ansi, time_zone))
            assert result_type is not None
            raising = [row for row, value in enumerate(values) if isinstance(value, RaisedError)]
            sql = NUMBER_FROM_RESULT.get(result_type.family, "{}").format(
                self.write_call(function_call)
            )
            if raising:  # Spark would fail for the whole query
                sql = f"IF(n IN ({', '.join(map(str, raising))}), NULL, {sql})"
            certain = [row for row in raising if values[row].is_certain]
            if certain and CHECKED_FAILURES:
                distance = -(-len(certain) // CHECKED_FAILURES)
                self.check_failures(frame, function_call, certain[::distance])
            columns.append(f"{sql} AS r{index}")
        differences = []
        for row in frame.selectExpr(*columns, "n").collect():
            for index, function_call in enumerate(calls):
                spark_value = convert_value(row[index])
                python_value = results[index][row["n"]]
                if isinstance(python_value, RaisedError) or are_alike(python_value, spark_value):
                    continue
                arguments = self.find_arguments(function_call, row["n"])
                differences.append(
                    f"{function_call.name} {function_call.words} of {arguments!r}, ansi {ansi},"
                    f" {time_zone}: {python_value!r}, Spark's is {spark_value!r}"
                )
        assert not differences, "\n".join(differences[:SHOWN_DIFFERENCES])

    def check_failures(
        self, frame: DataFrame, function_call: FunctionCall, rows: Sequence[int]
    ) -> None:
        """Assert that Spark raises an error for a call over each of some rows."""
        for row in rows:
            try:
                values = frame.where(f"n = {row}").selectExpr(self.write_call(function_call))
                result = values.collect()
            except (PySparkException, Py4JJavaError):
                continue
            arguments = self.find_arguments(function_call, row)
            raise AssertionError(f"{function_call} of {arguments!r}: an error, Spark's is {result}")

    def compute(self, function_call: FunctionCall, ansi: bool, time_zone: str) -> Iterator[Value]:
        """Yield the result of a call in Python for each row."""
        compute = function_call.build_python_function(
            self.build_use(function_call, ansi, time_zone)
        )
        for row in range(len(self.rows)):
            yield compute_or_catch(compute, self.find_arguments(function_call, row))

    def find_arguments(self, function_call: FunctionCall, row: int) -> list[Value]:
        """Return the arguments of a call in a row."""
        return [self.rows[row][column] for column in function_call.columns]


@contextmanager
def restore_settings(spark: SparkSession) -> Iterator[None]:
    """Restore the ANSI mode and the time zone of a session at the end."""
    before = {name: spark.conf.get(name) for name in (ANSI, TIME_ZONE)}
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def compute_or_catch(compute: Callable[..., Value], arguments: Sequence[Value]) -> Value:
    """Return the value of a call, or a `RaisedError`."""
    try:
        return compute(*arguments)
    except (FunctionError, OverflowError) as error:
        return RaisedError(is_certain=not isinstance(error, UndecidedError))


def find_column_type(type_: ValueType) -> str:
    """Return the type of the column that holds arguments of a type."""
    return "BIGINT" if type_.family in ARGUMENT_FROM_NUMBER else type_.name


def write_argument(column: str, type_: ValueType) -> str:
    """Return the SQL of an argument that is held in a column."""
    return ARGUMENT_FROM_NUMBER.get(type_.family, "{}").format(column)


def convert_value(value: Value) -> Value:
    """Return a value from Spark as Python computes with it."""
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, list):
        return tuple(map(convert_value, value))
    return bytes(value) if isinstance(value, bytearray) else value


def are_alike(left: Value, right: Value) -> bool:
    """Return whether two values and their types are the same, NaN and the sign of zero included."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(are_alike, left, right))
    if isinstance(left, float) and isinstance(right, float):
        same_sign = math.copysign(1, left) == math.copysign(1, right)
        both_nan = math.isnan(left) and math.isnan(right)
        return both_nan or (left == right and same_sign)
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return left.as_tuple() == right.as_tuple()
    return type(left) is type(right) and bool(left == right)
