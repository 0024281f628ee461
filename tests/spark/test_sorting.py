"""A worker sorts rows, and finds their partitions, as Spark does, for each type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from matchrec.spark.substitutes import encode_columns
from matchrec.spark.types import can_workers_sort
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.sorting.sort import sort_batches

pytestmark = pytest.mark.one_of(8)
NINES = "9" * 33
VALUES = {
    "boolean": "true false",
    "tinyint": "-128 127 0",
    "smallint": "-32768 32767 0",
    "int": "-2147483648 2147483647 0",
    "bigint": "-9223372036854775808 9223372036854775807 0",
    "float": "NaN Infinity -Infinity 0.0 -0.0 1.4e-45 -1.4e-45 0.0",
    "double": "NaN Infinity -Infinity 0.0 -0.0 4.9e-324 -4.9e-324 NaN",
    "decimal(9,2)": "-9999999.99 9999999.99 0",
    "decimal(38,5)": f"-{NINES} {NINES} 0 -0.00001 184467440737095.51616 -184467440737095.51617",
    "string": "a ab B é \U0001f600 \uffff \ue000 \uffff twelve-bytes",
    "binary": "a \U0001f600 \uffff a-value-of-more-than-sixteen-bytes",
    "date": "0001-01-01 9999-12-31 1969-12-31 1582-10-04",
    "timestamp": "0001-01-01T00:00:00Z 9999-12-31T23:59:59.999999Z 1969-12-31T23:59:59.999999Z",
    "timestamp_ntz": "0001-01-01T00:00:00 9999-12-31T23:59:59.999999 1969-12-31T23:59:59.999999",
    "interval day": "-106751991 106751991 0",
    "interval day to second": "-106751991 106751991 0",
    "interval year to month": "-178956970 178956970 0",
}
UNSORTED_TYPES = ("array<int>", "struct<a: int>", "map<int, int>", "interval", "void")
DIRECTIONS = ((False, True), (True, False))  # descending, NULLs first


def write_value(kind: str, text: str | None) -> str:
    """Return a value as SQL."""
    if text is None:
        return f"CAST(NULL AS {kind})"
    if kind.startswith("interval day"):
        return f"CAST(make_dt_interval({text}) AS {kind})"
    if kind.startswith("interval year"):
        return f"CAST(make_ym_interval(0, {text}) AS {kind})"
    return f"CAST('{text}' AS {kind})"


def make_table(spark: SparkSession) -> DataFrame:
    """Return a table with a column of each type, which has two NULLs and a repeated value.

    The column `i` numbers the rows.
    """
    words = [(kind, texts.split()) for kind, texts in VALUES.items()]
    lists = [(kind, [None, *texts, texts[0], None]) for kind, texts in words]
    rows = (
        ", ".join(write_value(kind, texts[row % len(texts)]) for kind, texts in lists)
        for row in range(max(len(texts) for _, texts in lists))
    )
    listed = ", ".join(f"({number}, 0, {row})" for number, row in enumerate(rows))
    names = ", ".join(f"c{index}" for index in range(len(VALUES)))
    return spark.sql(f"SELECT * FROM VALUES {listed} AS t(i, __bits0, {names})").coalesce(1)


def sort_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the row numbers, sorted by each column in both directions, then by its partitions."""
    batches = [*batches]
    for index in range(len(VALUES)):
        for descending, nulls_first in DIRECTIONS:
            item = SortColumn(f"c{index}", descending=descending, nulls_first=nulls_first)
            yield list_numbers(index, batches, Sorting((), (item,)))
        yield list_numbers(index, batches, Sorting((f"c{index}",), ()))


def list_numbers(column: int, batches: list[pa.RecordBatch], sorting: Sorting) -> pa.RecordBatch:
    """Return the sorted row numbers, and for each row 1 if a partition starts there."""
    table = pa.Table.from_batches(sort_batches(batches, sorting, 1 << 18))
    starts = table["__bits0"].to_pylist()
    rows = table["i"].to_pylist()
    return pa.record_batch([[column], [rows], [starts]], ["column", "rows", "starts"])


@pytest.fixture(scope="module")
def sorted_rows(spark: SparkSession) -> list[list[Row]]:
    """Return the three results of `sort_all` for each column."""
    rows = encode_columns(make_table(spark))
    schema = "column LONG, rows ARRAY<LONG>, starts ARRAY<LONG>"
    results = rows.mapInArrow(sort_all, schema).collect()
    return [results[first : first + 3] for first in range(0, len(results), 3)]


@pytest.mark.parametrize("kind", VALUES)
def test_the_order_is_that_of_spark(
    spark: SparkSession, sorted_rows: list[list[Row]], kind: str
) -> None:
    index = [*VALUES].index(kind)
    rows = make_table(spark)
    expected = rows.selectExpr(
        "i",
        f"row_number() OVER (ORDER BY c{index} ASC NULLS FIRST, i) AS up",
        f"row_number() OVER (ORDER BY c{index} DESC NULLS LAST, i) AS down",
        f"min(i) OVER (PARTITION BY c{index}) AS first",
    ).collect()
    up, down, partitions = sorted_rows[index]
    assert up.rows == [row.i for row in sorted(expected, key=lambda row: row.up)]
    assert down.rows == [row.i for row in sorted(expected, key=lambda row: row.down)]
    assert find_first_rows(partitions) == {row.i: row.first for row in expected}
    assert can_workers_sort(rows.schema[f"c{index}"].dataType)


def find_first_rows(partitions: Row) -> dict[int, int]:
    """Return for each row the least row of its partition."""
    least: dict[int, int] = {}
    numbers = [*accumulate(partitions.starts)]
    for partition, row in zip(numbers, partitions.rows, strict=True):
        least[partition] = min(row, least.get(partition, row))
    return {row: least[partition] for partition, row in zip(numbers, partitions.rows, strict=True)}


@pytest.mark.parametrize("kind", UNSORTED_TYPES)
def test_other_types_stay_with_spark(spark: SparkSession, kind: str) -> None:
    type_ = spark.sql(f"SELECT CAST(NULL AS {kind}) AS c").schema["c"].dataType
    assert not can_workers_sort(type_)
