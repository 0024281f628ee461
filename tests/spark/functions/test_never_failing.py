"""Functions and operators that the table says cannot fail do not fail on edge values."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.plan.operations import NEVER_FAILING, NEVER_FAILING_FUNCTIONS
from matchrec.spark.analysis_log import silence_analysis
from tests.quick.scale import some_of

pytestmark = pytest.mark.larger  # a query for each function of Spark

# Edge values of each type. NULL is added to each.
EDGES = {
    "tinyint": "-128Y 127Y 0Y",
    "smallint": "-32768S 32767S 0S",
    "int": "-2147483648 2147483647 0 -1",
    "bigint": "-9223372036854775808L 9223372036854775807L 0L -1L",
    "float": "float('NaN') float('-Infinity') float('Infinity') 3.4E38F -0.0F",
    "double": "double('NaN') double('-Infinity') double('Infinity') 1.7E308D 4.9E-324D -0.0D",
    "decimal(9,2)": "-9999999.99BD 9999999.99BD 0.00BD",
    "string": "'' 'x' '%\\\\\\\\' 'é😀' '(' '\\\\0' repeat('ab',500) '2024-02-30'",
    "binary": "X'' X'00FF80'",
    "boolean": "TRUE FALSE",
    "date": "DATE'0001-01-01' DATE'9999-12-31' DATE'2024-02-29'",
    "timestamp": "TIMESTAMP'0001-01-02' TIMESTAMP'9999-12-30' TIMESTAMP'1970-01-01'",
    "timestamp_ntz": "TIMESTAMP_NTZ'0001-01-01' TIMESTAMP_NTZ'9999-12-31'",
    "interval day to second": "INTERVAL'106751991'DAY INTERVAL'-106751991'DAY INTERVAL'0'DAY",
    "interval year to month": "INTERVAL'178956970'YEAR INTERVAL'-178956970'YEAR INTERVAL'0'YEAR",
    "array<int>": "array() array(NULL) array(2147483647,-2147483648)",
    "array<string>": "array() array('',NULL)",
    "array<array<int>>": "array() array(NULL,array(1))",
    "map<string,int>": "map() map('',2147483647)",
    "struct<a:int>": "named_struct('a',2147483647)",
}

TYPES = tuple(EDGES)
# The types that are combined in calls with two and with three arguments.
PAIRED_TYPES = (
    "int",
    "bigint",
    "double",
    "string",
    "date",
    "timestamp",
    "array<int>",
    "map<string,int>",
)
TRIPLED_TYPES = "int", "string", "date"

UNITS = "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "nonsense"
FUNCTIONS_WITH_UNIT = "DATEDIFF", "DATE_DIFF", "DATE_PART", "DATE_TRUNC", "TIMESTAMPDIFF", "TRUNC"
FIELDS = *UNITS[:-1], "DAYOFWEEK", "DOY"
TIMES = "date", "timestamp", "timestamp_ntz"
LAMBDAS = (
    "aggregate({}, 0, (sum, element) -> element)",
    "reduce({}, 0, (sum, element) -> element)",
    "exists({}, element -> element IS NULL)",
    "filter({}, element -> element IS NULL)",
    "forall({}, element -> element IS NULL)",
    "transform({}, (element, index) -> index)",
)
OPERATORS = (
    "{} / 2", "{} % 3", "{} DIV 2", "2 < {}", "{0} = {1}", "{0} <=> {1}", "{0} <> {1}", "{0} < {1}",
    "{0} <= {1}", "{0} > {1}", "{0} >= {1}", "{0} BETWEEN {1} AND {0}", "{0} IN ({1}, NULL)",
    "{0} IS NULL", "{0} IS NOT DISTINCT FROM {1}", "CASE WHEN {0} = {1} THEN {0} ELSE {1} END",
    "CASE {0} WHEN {1} THEN 1 END", "{0} & {1}", "{0} | {1}", "{0} ^ {1}", "~ {0}",
    "{0} || {1}", "{0} AND {1} OR NOT {0}", "{0} IS TRUE", "{0} IS NOT UNKNOWN",
    "{0} LIKE 'a%_'", "{0} ILIKE '%b'", "{0} RLIKE '^(a|b)*$'", "{0} NOT LIKE 'a!%' ESCAPE '!'",
    "{0} COLLATE UNICODE", "{0}.a", "try_cast({0} AS INT)", "try_cast({0} AS DATE)",
    "try_cast({0} AS STRING)", "trim(LEADING {0} FROM {1})", "position({0} IN {1})", "current_date",
    "if({0} IS NULL, {0}, {1})", "current_timestamp", "localtimestamp", "struct({0} AS a, {1})",
)  # fmt: skip


@pytest.fixture(scope="module")
def edges(spark: SparkSession) -> DataFrame:
    """Return rows of edge values, drawn at random: three columns of each type."""
    generator = random.Random(1)
    values = [EDGES[name].split(" ") for name in TYPES for _ in range(3)]
    rows = (
        ", ".join(generator.choice([*choices, "NULL"]) for choices in values) for _ in range(200)
    )
    names = ", ".join(f"c{number}" for number in range(len(values)))
    drawn_rows = f"SELECT * FROM VALUES {', '.join(f'({row})' for row in rows)} AS t({names})"
    columns = (
        f"CAST(c{3 * index + number} AS {name}) AS {name_column(name, number)}"
        for index, name in enumerate(TYPES)
        for number in range(3)
    )
    return spark.sql(f"SELECT {', '.join(columns)} FROM ({drawn_rows})").localCheckpoint()


def name_column(type_name: str, number: int = 0) -> str:
    """Return the name of one of the three columns of a type."""
    return f"c_{TYPES.index(type_name)}_{number}"


def list_calls(function: str) -> Iterator[str]:
    """Yield calls of a function with columns of many combinations of types."""
    yield f"{function}()"
    same = ((name,) * count for count in (1, 2, 3) for name in TYPES)
    for chosen in (*same, *product(PAIRED_TYPES, repeat=2), *product(TRIPLED_TYPES, repeat=3)):
        arguments = (name_column(name, number) for number, name in enumerate(chosen))
        yield f"{function}({', '.join(arguments)})"
    for unit, name in product(UNITS, TIMES) if function in FUNCTIONS_WITH_UNIT else ():
        yield f"{function}('{unit}', {name_column(name)})"
        yield f"{function}({name_column(name)}, '{unit}')"
        yield f"{function}({unit}, {name_column(name)}, {name_column(name, 1)})"
    for name in TYPES:
        yield f"{function}({name_column(name)}, -3)"
        if function == "NAMED_STRUCT":
            yield f"{function}('a', {name_column(name)}, 'b', {name_column(name, 1)})"


def list_other_expressions() -> Iterator[str]:
    """Yield expressions other than plain calls: lambdas, operators and EXTRACT."""
    for form in (*LAMBDAS, *OPERATORS):
        for name in TYPES:
            yield form.format(name_column(name), name_column(name, 1))
    for field, name in product(FIELDS, TIMES):
        yield f"extract({field} FROM {name_column(name)})"


def keep_analysed(edges: DataFrame, expressions: Iterable[str]) -> Iterator[str]:
    """Yield the expressions that Spark accepts without a cast that may fail.

    Spark casts an argument of another type, and such a cast may fail where the function cannot.
    """
    units = [f"cast({unit} as" for unit in UNITS]
    for expression in dict.fromkeys(expressions):
        try:
            with silence_analysis():
                frame = edges.selectExpr(f"{expression} AS value")
                plan = frame._jdf.queryExecution().optimizedPlan().toString()
        except (PySparkException, Py4JJavaError):  # also for a constant that is not a date
            continue
        casts = (cast.groups() for cast in CAST.finditer(plan))
        if not any(text in plan for text in units) and not any(map(can_fail, casts)):
            yield expression


CAST = re.compile(r"cast\(c_(\d+)_\d#\d+L? as (\w+)")
NUMBERS = "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"


def can_fail(cast: Sequence[str | Any]) -> bool:
    """Return whether a cast of a column may fail.

    Args:
        cast: the index of the type of the column, and the type that it becomes.
    """
    source, target = TYPES[int(cast[0])].partition("(")[0], cast[1]
    if source == "string":
        return target not in ("string", "binary")
    if source not in NUMBERS or target not in NUMBERS[:4]:
        return False
    return NUMBERS.index(target) < NUMBERS.index(source)


def find_failing(edges: DataFrame, expressions: Sequence[str]) -> list[str]:
    """Return the expressions that fail on some row."""
    if not expressions:
        return []
    names = (f"{text} AS v{index}" for index, text in enumerate(expressions))
    try:
        edges.selectExpr(*names).write.format("noop").mode("overwrite").save()
    except PySparkException as error:
        if len(expressions) == 1:
            return [f"{expressions[0]}: {error.getCondition()}"]
        middle = len(expressions) // 2
        return [
            *find_failing(edges, expressions[:middle]),
            *find_failing(edges, expressions[middle:]),
        ]
    return []


@pytest.mark.night  # five seconds each
@pytest.mark.parametrize("function", some_of(sorted(NEVER_FAILING_FUNCTIONS)))
def test_no_function_of_the_table_fails(edges: DataFrame, function: str) -> None:
    accepted = [*keep_analysed(edges, list_calls(function))]
    assert find_failing(edges, accepted) == []
    lambdas = any(form.startswith(f"{function.lower()}(") for form in (*LAMBDAS, *OPERATORS))
    assert accepted or lambdas or function in ("EXTRACT", "CAST"), "Spark accepts none of the calls"


def test_no_operator_of_the_table_fails(edges: DataFrame) -> None:
    assert find_failing(edges, [*keep_analysed(edges, some_of([*list_other_expressions()]))]) == []


def test_new_functions_of_spark_can_fail(spark: SparkSession) -> None:
    known = {row["function"].upper() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert known > {"RAISE_ERROR", "ASSERT_TRUE", "ELEMENT_AT", "TO_DATE", "PARSE_JSON"}
    safe = {name for name in known if f"{name}()" in NEVER_FAILING}
    assert not safe & {"RAISE_ERROR", "ASSERT_TRUE", "ELEMENT_AT", "TO_DATE", "PARSE_JSON"}
    assert safe <= NEVER_FAILING_FUNCTIONS
