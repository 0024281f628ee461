"""Aggregates that the worker adds up row by row are the same as Spark computes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.conditions.aggregate_table import AGGREGATE_ENTRIES, STATISTICS
from matchrec.shortcuts import ALL, use_shortcuts
from matchrec.spark.session import is_connect
from tests.quick.scale import SEED, examples

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

NUMBERS = ["i", "d", "f", "m"]
COLUMNS = [*NUMBERS, "s", "b", "day", "ts"]
VALUES = {
    "i": ["NULL", "-7", "0", "3", "9007199254740993"],
    "d": ["NULL", "'NaN'", "-0.0", "0.0", "0.1", "1e300", "-2.5"],
    "f": ["NULL", "'NaN'", "0.1", "7"],
    "m": ["NULL", "-0.01", "0.10", "99.99"],
    "s": ["NULL", "''", "'a'", "'A '", "'ä'"],
    "b": ["NULL", "TRUE", "FALSE"],
    "day": ["NULL", "'1500-02-28'", "'1970-01-01'", "'2024-02-29'"],
    "ts": ["NULL", "'1582-10-04 12:00:00'", "'2024-10-27 02:30:00.000001'"],
}
TYPES = {"i": "BIGINT", "d": "DOUBLE", "f": "FLOAT", "m": "DECIMAL(6,2)", "s": "STRING"}
TYPES |= {"b": "BOOLEAN", "day": "DATE", "ts": "TIMESTAMP"}
# Aggregates that return the value of one of the rows, such as `first_value` and `max_by`.
ROW_CHOOSING_AGGREGATES = sorted(name for name, entry in AGGREGATE_ENTRIES.items() if entry.choice)


def draw_values(random: Random, rows: int) -> Iterator[str]:
    """Yield random rows as items of VALUES."""
    for number in range(rows):
        texts = (f"CAST({random.choice(VALUES[column])} AS {TYPES[column]})" for column in COLUMNS)
        yield f"({number}, '{random.choice('pq')}', {random.randrange(4)}, {', '.join(texts)})"


def create_table(spark: SparkSession, random: Random, rows: int) -> DataFrame:
    """Return a DataFrame of random rows in two partitions."""
    names = ", ".join(["id", "k", "n", *COLUMNS])
    frame = spark.sql(f"SELECT * FROM VALUES {', '.join(draw_values(random, rows))} AS t({names})")
    return frame.repartition(2)


def draw_call(random: Random, *, ignores_nulls: bool) -> str:
    """Draw an aggregate over the rows of a variable, or over all rows."""
    name = random.choice([*ROW_CHOOSING_AGGREGATES, *sorted(STATISTICS), "count", "count"])
    prefix = random.choice(["", "A.", "B.", "U."])
    column = random.choice(NUMBERS if name in STATISTICS else COLUMNS)
    arguments = f"{prefix}{column}"
    if name in ("max_by", "min_by", "regr_slope") or (name == "count" and random.random() < 0.3):
        second = random.choice(NUMBERS if name == "regr_slope" else COLUMNS)
        arguments += f", {prefix}{second}"
    distinct = "DISTINCT " if name == "count" or random.random() < 0.1 else ""
    if name == "last_value":  # rejected with DISTINCT
        distinct = ""
    text = f"{name}({distinct}{arguments})"
    if ignores_nulls and name in ("any_value", "first_value", "last_value"):
        text += " IGNORE NULLS"
    if random.random() < 0.2:
        text += f" FILTER (WHERE {prefix}n < 3)"
    return f"{random.choice(['', 'RUNNING ', 'FINAL '])}{text}"


def write_clause(random: Random, *, ignores_nulls: bool) -> str:
    """Draw a clause with three aggregates."""
    rows = random.choice(["", " OMIT EMPTY MATCHES", " WITH UNMATCHED ROWS"])
    pattern = random.choice(["A* B?", "A+ B*", "(A | B)+", "A {- B+ -} A", "A*? B"])
    if "-}" in pattern:
        rows = ""
    skip = random.choice(["PAST LAST ROW", "TO NEXT ROW"])
    texts = (draw_call(random, ignores_nulls=ignores_nulls) for _ in range(3))
    calls = ", ".join(f"{text} AS x{number}" for number, text in enumerate(texts))
    return f"""PARTITION BY k ORDER BY id MEASURES {calls} ALL ROWS PER MATCH{rows}
        AFTER MATCH SKIP {skip} PATTERN ({pattern}) SUBSET U = (A, B)
        DEFINE A AS n < 3, B AS n > 1"""


@pytest.mark.parametrize("number", range(examples(40)))
@pytest.mark.parametrize("size", [12, 300])
def test_random_measures_are_those_of_spark(spark: SparkSession, number: int, size: int) -> None:
    """Rows and types are the same to the last bit. On Sail, no median is compared."""
    random = Random(f"{SEED} {number} {size}")
    ignores_nulls = not is_connect(spark) and random.random() < 0.5  # Sail needs OVER for it
    rows = create_table(spark, random, size)
    text = write_clause(random, ignores_nulls=ignores_nulls)
    if is_connect(spark):
        text = text.replace("median(", "stddev(")
    result = matchrec.match_recognize(rows, text)
    with use_shortcuts(replace(ALL, accumulators=False)):
        expected = matchrec.match_recognize(rows, text)
    assert result.dtypes == expected.dtypes, text
    assert sorted(map(str, result.collect())) == sorted(map(str, expected.collect())), text


def test_running_aggregates_of_a_long_match_fit_into_memory(spark: SparkSession) -> None:
    """The memory for a row does not depend on the length of its match.

    With a copy of its match for each row, this match would take 30 GB.
    """
    rows = spark.range(50_000).selectExpr("id", "id % 4 AS c", "CAST(id AS DOUBLE) AS x")
    result = matchrec.match_recognize(
        rows,
        """ORDER BY id MEASURES count(DISTINCT c) AS n, FINAL stddev_pop(x) AS s,
        last_value(x) AS x1, max_by(id, c) AS best
        ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS x >= 0""",
    )
    (first, *_, last) = result.orderBy("id").select("n", "s", "x1", "best").collect()
    deviation = ((50_000**2 - 1) / 12) ** 0.5  # of the numbers from 0 to 49,999
    assert first == (1, pytest.approx(deviation), 0.0, 0)
    assert last == (4, pytest.approx(deviation), 49_999.0, 49_999)
