"""Each aggregate that Python computes has the value that Spark computes, row by row.

The rows are those of random groups. Spark's window functions add row after row, as the accumulators
do, so results agree to the last bit. DISTINCT aggregates and percentiles are not window functions;
for them, Spark groups the first n rows of each group, for each n.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession, types

from matchrec.conditions.accumulators.sums import build_decimal
from matchrec.conditions.accumulators.table import AGGREGATES
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.spark.sail.probes import find_spark_version
from matchrec.spark.types import to_value_type
from matchrec.syntax.tokens import split_words
from tests.quick.scale import SEED, examples

GROUPS = examples(20)
MAX_GROUPS = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
COLUMNS = {
    "i": "int",
    "h": "tinyint",
    "l": "bigint",
    "d": "double",
    "e": "double",
    "f": "float",
    "c": "decimal(5,2)",
    "k": "decimal(18,6)",
    "w": "decimal(30,4)",
    "s": "string",
    "y": "binary",
    "b": "boolean",
    "v": "interval day to second",
    "m": "interval year to month",
    "z": "date",
}
DOUBLES = [0.0, -0.0, 1.0, -2.5, 1e-9, 0.1, 0.3, 1e150, math.nan, math.inf]


@dataclass(frozen=True)
class Case:
    """A call of an aggregate."""

    function: str
    columns: str = ""  # the arguments: columns, expressions and literals
    distinct: bool = False
    nulls: str = ""

    @property
    def sql(self) -> str:
        """Return the call as SQL."""
        distinct = "DISTINCT " if self.distinct else ""
        return f"{self.function}({distinct}{self.columns}) {self.nulls}".strip()

    @property
    def terms(self) -> list[str]:
        """Return the arguments."""
        return self.columns.split(", ") if self.columns else []


NUMBERS = ("i", "l", "d", "f", "c", "w")
STATISTICS = split_words("stddev stddev_samp std stddev_pop variance var_samp var_pop")
STATISTICS_OF_PAIRS = split_words("regr_slope")
COLUMNS_OF_ALL_TYPES = ("i", "d", "f", "c", "w", "s", "y", "b", "v", "m", "z")


def list_cases() -> Iterator[Case]:
    """Yield the aggregates that Spark computes as window functions."""
    for column in (*NUMBERS, "h", "k", "v", "m"):
        for function in ("sum", "avg", "mean"):
            yield Case(function, column)
    for function in sorted(STATISTICS):
        yield from (Case(function, column) for column in NUMBERS)
    for function in sorted(STATISTICS_OF_PAIRS):
        yield from (Case(function, f"{left}, {right}") for left, right in ("de", "ic", "fd", "wl"))
    for column in COLUMNS_OF_ALL_TYPES:
        for function in ("min", "max", "any_value", "first_value", "last_value"):
            yield Case(function, column)
        yield Case("first_value", column, nulls="IGNORE NULLS")
        yield Case("last_value", f"{column}, TRUE")
        yield Case("max_by", f"{column}, i")
        yield Case("min_by", f"i, {column}")
        yield Case("collect_list", column)
        yield Case("mode", f"{column}, TRUE")
        yield Case("count", f"{column}, i")
    for function in ("count_if", "bool_and", "bool_or", "every", "some", "any"):
        yield Case(function, "b")
    yield Case("array_agg", "s")


def list_group_cases() -> Iterator[Case]:
    """Yield the aggregates that Spark computes only for groups."""
    for column in COLUMNS_OF_ALL_TYPES:
        yield Case("count", column, distinct=True)
        yield Case("collect_set", column)
        yield Case("collect_list", column, distinct=True)
        yield Case("min", column, distinct=True)
    for column in (*NUMBERS, "v", "m"):
        yield Case("median", column)
        yield from (Case("percentile", f"{column}, {part}") for part in (0, 0.3, 0.75, 1))
    yield Case("count", "i, s", distinct=True)
    yield Case("count_if", "b", distinct=True)
    for column in ("i", "c", "w", "k", "v", "m"):
        yield from (Case(name, column, distinct=True) for name in ("sum", "avg"))
    for column in (*NUMBERS, "v", "m"):
        yield Case("median", column, distinct=True)
    yield Case("listagg", "s")
    yield Case("string_agg", "s, '-'")
    yield Case("listagg", "s, NULL")
    yield Case("listagg", "y, X'00'")


def draw_value(source: random.Random, type_: str) -> Value:
    """Return a random value. Some values are frequent, so that equal ones occur."""
    if source.random() < 0.2:
        return None
    frequent = source.choice([-3, 0, 1, 1, 2, 7])
    match type_.partition("(")[0]:
        case "int" | "bigint" | "tinyint":
            return frequent if source.random() < 0.8 else source.randrange(-120, 120)
        case "double":
            return source.choice(DOUBLES[:7] if source.random() < 0.95 else DOUBLES)
        case "float":
            return source.choice([0.5, -0.0, 0.0, 3.25, 0.10000000149011612])
        case "decimal":
            scale = int(type_.rstrip(")").partition(",")[2])
            digits = {2: 10**4, 6: 10**17, 4: 10**29}[scale]
            return build_decimal(
                source.choice([frequent, source.randrange(-digits, digits)]), scale
            )
        case "string":
            return source.choice(["", "a", "b", "é", "zz", "𐏿", "￿"])
        case "binary":
            return source.choice([b"", b"\x00", b"\xff", b"a"])
        case "boolean":
            return frequent > 0
        case _:
            return frequent


def write_value(type_: str, value: Value) -> str:
    """Return a value as SQL."""
    if value is None:
        return f"CAST(NULL AS {type_})"
    if type_ == "binary":
        return f"X'{value.hex()}'"
    if type_ == "interval day to second":
        return f"make_dt_interval(0, 0, 0, {value} * 1.000001BD)"
    if type_ == "interval year to month":
        return f"make_ym_interval(0, {value})"
    if type_ == "date":
        return f"date_from_unix_date({value})"
    return f"CAST('{value}' AS {type_})"


def convert_for_accumulator(type_: str, value: Value) -> Value:
    """Return a value of a column as an accumulator gets it."""
    if type_ == "interval day to second" and value is not None:
        return int(value * 1000001)
    return value


Rows = list[dict[str, Value]]


def draw_groups(source: random.Random) -> list[Rows]:
    """Return random groups of one to eight rows."""
    return [
        [
            {name: draw_value(source, type_) for name, type_ in COLUMNS.items()}
            for _ in range(source.randrange(1, 9))
        ]
        for _ in range(GROUPS)
    ]


@pytest.fixture(scope="module")
def groups(spark: SparkSession) -> list[Rows]:
    """Return random groups of rows, and create the view `aggregated` of them."""
    drawn = draw_groups(random.Random(SEED))
    rows = []
    for number, group in enumerate(drawn):
        for position, row in enumerate(group):
            values = (
                f"{write_value(COLUMNS[name], value)} AS {name}" for name, value in row.items()
            )
            rows.append(f"SELECT {number} AS g, {position} AS t, {', '.join(values)}")
    fields = ", ".join(f"x.{name}" for name in ("g", "t", *COLUMNS))
    structs = ", ".join(f"struct({row.removeprefix('SELECT ')})" for row in rows)
    table = f"SELECT {fields} FROM (SELECT explode(array({structs})) AS x)"
    frame = spark.sql(table).coalesce(1).sortWithinPartitions("g", "t").cache()
    frame.createOrReplaceTempView("aggregated")
    return drawn


def write_plain(type_: types.DataType, expression: str) -> str:
    """Return SQL that converts an aggregate to a type that PySpark can collect."""
    if type_.simpleString() == "interval year to month":
        return f"12 * extract(YEAR FROM {expression}) + extract(MONTH FROM {expression})"
    if type_.simpleString() == "array<interval year to month>":
        return f"transform({expression}, x -> 12 * extract(YEAR FROM x) + extract(MONTH FROM x))"
    if type_.simpleString() == "date":
        return f"unix_date({expression})"
    if type_.simpleString() == "array<date>":
        return f"transform({expression}, x -> unix_date(x))"
    return expression


def make_comparable(value: Value) -> object:
    """Return a value in a form in which equal bits are equal: NaN equals NaN, and 0.0 not -0.0."""
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack("<d", value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list | tuple):
        return [make_comparable(part) for part in value]
    return value


def accumulate(
    case: Case, group: Rows, column_types: dict[str, types.DataType], *, weighs_both_values: bool
) -> tuple[str, list[Value]]:
    """Return the type of an aggregate, and its value after each row of the group.

    Args:
        column_types: the type of each argument, by its SQL.
        weighs_both_values: see `AggregateUse`.
    """
    arguments = case.terms
    function = AGGREGATES[case.function]
    types_of_arguments = [to_value_type(column_types[term]) for term in arguments]
    ignores_nulls = "IGNORE" in case.nulls
    use = AggregateUse(
        tuple(types_of_arguments),
        case.distinct,
        ignores_nulls,
        weighs_both_values=weighs_both_values,
    )
    type_ = function.find_type(use)
    assert type_ is not None, case.sql
    accumulator = function.begin(use)
    results = []
    for row in group:
        accumulator.add(*(find_argument(term, row) for term in arguments))
        results.append(accumulator.compute_result())
    return type_.name, results


def find_argument(term: str, row: dict[str, Value]) -> Value:
    """Return the value of an argument in a row."""
    if term in row:
        return convert_for_accumulator(COLUMNS[term], row[term])
    if term == "abs(i)":
        return None if row["i"] is None else abs(row["i"])
    literals = {"TRUE": True, "NULL": None, "X'00'": b"\0"}
    if term in literals:
        return literals[term]
    if "'" in term:
        return term.strip("'")
    return int(term) if term.isdigit() else Decimal(term)


def check_aggregates(
    spark: SparkSession, groups: list[Rows], cases: Sequence[Case], query: str, over: str = ""
) -> None:
    """Check that aggregates have Spark's types and values.

    Args:
        query: the query in Spark, with `{}` for the aggregates.
        over: text after each aggregate, such as an OVER clause.
    """
    terms = dict.fromkeys(term for case in cases for term in case.terms)
    items = ", ".join(f"{term} AS `{term}`" for term in terms)
    column_types = {
        field.name: field.dataType for field in spark.sql(f"SELECT {items} FROM aggregated").schema
    }
    aggregates = ", ".join(f"{case.sql}{over} AS a{i}" for i, case in enumerate(cases))
    schema = spark.sql(query.format(aggregates)).schema
    converted = ", ".join(
        f"{write_plain(schema[f'a{i}'].dataType, f'a{i}')}" for i in range(len(cases))
    )
    rows = spark.sql(f"SELECT g, t, {converted} FROM ({query.format(aggregates)})").collect()
    expected = {(row[0], row[1]): row[2:] for row in rows}
    for index, case in enumerate(cases):
        for number, group in enumerate(groups):
            type_, results = accumulate(
                case, group, column_types, weighs_both_values=find_spark_version(spark) < (4, 3)
            )
            assert type_ == schema[f"a{index}"].dataType.simpleString(), case.sql
            for last, result in enumerate(results):
                spark_result = expected[number, last][index]
                assert are_equal(case, result, spark_result), (
                    case.sql,
                    group[: last + 1],
                    result,
                    spark_result,
                )


SETS = {"collect_set", "collect_union"}


def are_equal(case: Case, result: Value, spark_result: Value) -> bool:
    """Return whether two results are equal.

    The order of a set does not count, because Spark does not define it. For aggregates that hash
    their values, neither does the sign of zero: among zeros of both signs, Spark takes the one with
    the first hash.
    """
    hashed = case.distinct or case.function.startswith(("median", "percentile"))
    if hashed and isinstance(result, float) and result == 0:
        return spark_result == 0.0
    comparable = [make_comparable(result), make_comparable(spark_result)]
    if isinstance(result, tuple) and (case.distinct or case.function in SETS):
        comparable = [sorted(values, key=repr) for values in comparable]  # type: ignore[call-overload]
    if isinstance(comparable[0], Decimal) and isinstance(comparable[1], Decimal):
        return comparable[0].as_tuple() == comparable[1].as_tuple()
    return type(comparable[0]) is type(comparable[1]) and comparable[0] == comparable[1]


def test_running_aggregates_have_sparks_values(spark: SparkSession, groups: list[Rows]) -> None:
    rows = " OVER (PARTITION BY g ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    check_aggregates(spark, groups, list(list_cases()), "SELECT g, t, {} FROM aggregated", rows)


def test_aggregates_of_groups_have_sparks_values(spark: SparkSession, groups: list[Rows]) -> None:
    query = """SELECT g, n AS t, {} FROM (
      SELECT *, explode(sequence(t, 9)) AS n FROM aggregated) GROUP BY g, n"""
    cases = list(list_group_cases())
    distinct_columns = sorted({case.columns for case in cases if case.distinct})
    # Each DISTINCT list has a query to itself, because several would change the order of rows.
    for columns in distinct_columns:
        cases_of_columns = [case for case in cases if case.distinct and case.columns == columns]
        check_aggregates(spark, groups, cases_of_columns, query)
    # Above this number of groups Spark sorts, and loses the order.
    spark.conf.set(MAX_GROUPS, 100_000)
    try:
        check_aggregates(spark, groups, [case for case in cases if not case.distinct], query)
    finally:
        spark.conf.unset(MAX_GROUPS)
