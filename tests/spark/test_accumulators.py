"""Every aggregate that Python computes gives what Spark gives, of all beginnings of random groups.

Where Spark's window function takes an aggregate it adds row after row, as we do: results agree to
the last bit. DISTINCT and percentiles are no window functions; there each beginning
is a group.
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

from matchrec.conditions.accumulators import AGGREGATES, build_decimal
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.spark.sail.probes import spark_version
from matchrec.spark.types import to_value_type
from matchrec.syntax.tokens import split_words
from tests.quick.scale import SEED, examples

GROUPS = examples(20)
MOST_GROUPS = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
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
    """An aggregate. columns: its arguments, literals among them."""

    function: str
    columns: str = ""
    distinct: bool = False
    nulls: str = ""

    @property
    def sql(self) -> str:
        distinct = "DISTINCT " if self.distinct else ""
        return f"{self.function}({distinct}{self.columns}) {self.nulls}".strip()

    @property
    def terms(self) -> list[str]:
        return self.columns.split(", ") if self.columns else []


NUMBERS = ("i", "l", "d", "f", "c", "w")
STATISTICS = split_words("stddev stddev_samp std stddev_pop variance var_samp var_pop")
STATISTICS_OF_PAIRS = split_words("regr_slope")
ANY = ("i", "d", "f", "c", "w", "s", "y", "b", "v", "m", "z")


def cases() -> Iterator[Case]:
    for column in (*NUMBERS, "h", "k", "v", "m"):
        for function in ("sum", "avg", "mean"):
            yield Case(function, column)
    for function in sorted(STATISTICS):
        yield from (Case(function, column) for column in NUMBERS)
    for function in sorted(STATISTICS_OF_PAIRS):
        yield from (Case(function, f"{one}, {two}") for one, two in ("de", "ic", "fd", "wl"))
    for column in ANY:
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


def cases_of_groups() -> Iterator[Case]:
    for column in ANY:
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
        yield from (Case(one, column, distinct=True) for one in ("sum", "avg"))
    for column in (*NUMBERS, "v", "m"):
        yield Case("median", column, distinct=True)
    yield Case("listagg", "s")
    yield Case("string_agg", "s, '-'")
    yield Case("listagg", "s, NULL")
    yield Case("listagg", "y, X'00'")


def draw_value(source: random.Random, type_: str) -> Value:
    """Return a random value; a few are frequent, so that there are equal ones."""
    if source.random() < 0.2:
        return None
    few = source.choice([-3, 0, 1, 1, 2, 7])
    match type_.partition("(")[0]:
        case "int" | "bigint" | "tinyint":
            return few if source.random() < 0.8 else source.randrange(-120, 120)
        case "double":
            return source.choice(DOUBLES[:7] if source.random() < 0.95 else DOUBLES)
        case "float":
            return source.choice([0.5, -0.0, 0.0, 3.25, 0.10000000149011612])
        case "decimal":
            places = int(type_.rstrip(")").partition(",")[2])
            digits = {2: 10**4, 6: 10**17, 4: 10**29}[places]
            return build_decimal(source.choice([few, source.randrange(-digits, digits)]), places)
        case "string":
            return source.choice(["", "a", "b", "é", "zz", "𐏿", "￿"])
        case "binary":
            return source.choice([b"", b"\x00", b"\xff", b"a"])
        case "boolean":
            return few > 0
        case _:
            return few


def write_value(type_: str, one: Value) -> str:
    """Return a value as SQL."""
    if one is None:
        return f"CAST(NULL AS {type_})"
    if type_ == "binary":
        return f"X'{one.hex()}'"
    if type_ == "interval day to second":
        return f"make_dt_interval(0, 0, 0, {one} * 1.000001BD)"
    if type_ == "interval year to month":
        return f"make_ym_interval(0, {one})"
    if type_ == "date":
        return f"date_from_unix_date({one})"
    return f"CAST('{one}' AS {type_})"


def convert_for_accumulator(type_: str, one: Value) -> Value:
    """Return a value of a column as an accumulator gets it."""
    if type_ == "interval day to second" and one is not None:
        return int(one * 1000001)
    return one


Rows = list[dict[str, Value]]


def random_groups(source: random.Random) -> list[Rows]:
    return [
        [
            {name: draw_value(source, type_) for name, type_ in COLUMNS.items()}
            for _ in range(source.randrange(1, 9))
        ]
        for _ in range(GROUPS)
    ]


@pytest.fixture(scope="module")
def groups(spark: SparkSession) -> list[Rows]:
    """Random groups of rows, which Spark has as the view `aggregated`."""
    found = random_groups(random.Random(SEED))
    rows = []
    for number, group in enumerate(found):
        for place, row in enumerate(group):
            values = (f"{write_value(COLUMNS[name], one)} AS {name}" for name, one in row.items())
            rows.append(f"SELECT {number} AS g, {place} AS t, {', '.join(values)}")
    fields = ", ".join(f"x.{name}" for name in ("g", "t", *COLUMNS))
    structs = ", ".join(f"struct({row.removeprefix('SELECT ')})" for row in rows)
    table = f"SELECT {fields} FROM (SELECT explode(array({structs})) AS x)"
    frame = spark.sql(table).coalesce(1).sortWithinPartitions("g", "t").cache()
    frame.createOrReplaceTempView("aggregated")
    return found


def write_plain(type_: types.DataType, expression: str) -> str:
    """Return an aggregate as PySpark can hand it over."""
    if type_.simpleString() == "interval year to month":
        return f"12 * extract(YEAR FROM {expression}) + extract(MONTH FROM {expression})"
    if type_.simpleString() == "array<interval year to month>":
        return f"transform({expression}, x -> 12 * extract(YEAR FROM x) + extract(MONTH FROM x))"
    if type_.simpleString() == "date":
        return f"unix_date({expression})"
    if type_.simpleString() == "array<date>":
        return f"transform({expression}, x -> unix_date(x))"
    return expression


def make_comparable(one: Value) -> object:
    """Return a value by its type and bits."""
    if isinstance(one, timedelta):
        return one // timedelta(microseconds=1)
    if isinstance(one, float):
        return "NaN" if one != one else struct.pack("<d", one)
    if isinstance(one, bytearray):
        return bytes(one)
    if isinstance(one, list | tuple):
        return [make_comparable(part) for part in one]
    return one


def accumulate(
    case: Case, group: Rows, known: dict[str, types.DataType], *, weighs_both: bool
) -> tuple[str, list[Value]]:
    """Return the type of an aggregate, and its value after each row of the group.

    Args:
        weighs_both: see `AggregateUse`.
    """
    arguments, function = case.terms, AGGREGATES[case.function]
    found = [to_value_type(known[term]) for term in arguments]
    nulls = "IGNORE" in case.nulls
    use = AggregateUse(tuple(found), case.distinct, nulls, weighs_both=weighs_both)
    type_ = function.find_type(use)
    assert type_ is not None, case.sql
    rows, results = function.begin(use), []
    for row in group:
        rows.add(*(argument(term, row) for term in arguments))
        results.append(rows.compute_result())
    return type_.name, results


def argument(term: str, row: dict[str, Value]) -> Value:
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


def check(
    spark: SparkSession, groups: list[Rows], chosen: Sequence[Case], query: str, over: str = ""
) -> None:
    """query: with a hole for the aggregates. over: after each of them."""
    terms = dict.fromkeys(term for case in chosen for term in case.terms)
    items = ", ".join(f"{term} AS `{term}`" for term in terms)
    known = {one.name: one.dataType for one in spark.sql(f"SELECT {items} FROM aggregated").schema}
    named = ", ".join(f"{case.sql}{over} AS a{i}" for i, case in enumerate(chosen))
    schema = spark.sql(query.format(named)).schema
    parts = ", ".join(
        f"{write_plain(schema[f'a{i}'].dataType, f'a{i}')}" for i in range(len(chosen))
    )
    found = spark.sql(f"SELECT g, t, {parts} FROM ({query.format(named)})").collect()
    expected = {(row[0], row[1]): row[2:] for row in found}
    for place, case in enumerate(chosen):
        for number, group in enumerate(groups):
            type_, results = accumulate(
                case, group, known, weighs_both=spark_version(spark) < (4, 3)
            )
            assert type_ == schema[f"a{place}"].dataType.simpleString(), case.sql
            for at, result in enumerate(results):
                other = expected[number, at][place]
                assert are_equal(case, result, other), (case.sql, group[: at + 1], result, other)


SETS = {"collect_set", "collect_union"}


def are_equal(case: Case, one: Value, other: Value) -> bool:
    """Return whether two results are equal; the order of sets is not Spark's to say.

    Nor is the sign of a zero among zeros of both signs, which it finds in the order of hashes.
    """
    hashed = case.distinct or case.function.startswith(("median", "percentile"))
    if hashed and isinstance(one, float) and one == 0:
        return other == 0.0
    found = [make_comparable(one), make_comparable(other)]
    if isinstance(one, tuple) and (case.distinct or case.function in SETS):
        found = [sorted(part, key=repr) for part in found]  # type: ignore[call-overload]
    if isinstance(found[0], Decimal) and isinstance(found[1], Decimal):
        return found[0].as_tuple() == found[1].as_tuple()
    return type(found[0]) is type(found[1]) and found[0] == found[1]


def test_row_after_row(spark: SparkSession, groups: list[Rows]) -> None:
    rows = " OVER (PARTITION BY g ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    check(spark, groups, list(cases()), "SELECT g, t, {} FROM aggregated", rows)


def test_distinct_and_within_group(spark: SparkSession, groups: list[Rows]) -> None:
    query = """SELECT g, n AS t, {} FROM (
      SELECT *, explode(sequence(t, 9)) AS n FROM aggregated) GROUP BY g, n"""
    several = list(cases_of_groups())
    distinct = sorted({case.columns for case in several if case.distinct})
    for columns in distinct:  # Spark adds rows in another order where they are distinct twice
        alike = [case for case in several if case.distinct and case.columns == columns]
        check(spark, groups, alike, query)
    spark.conf.set(MOST_GROUPS, 100_000)  # with more it sorts rows by their groups, in any order
    try:
        check(spark, groups, [case for case in several if not case.distinct], query)
    finally:
        spark.conf.unset(MOST_GROUPS)
