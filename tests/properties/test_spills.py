"""Whether a query gives the same if its tasks spill nearly every batch as if they spill none.

Partitions are larger than the memory of their task: a budget of a few bytes, batches of a few rows,
few files to a merge, and pieces of a few rows. Clauses are random: all output kinds, skip modes,
running and final measures; keys are NULL, nested, decimals, doubles, texts with a collation. On
Sail the tasks run in this process, so the tests also count the spills, and merge few at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.shortcuts import ALL, Shortcuts, in_force
from matchrec.worker.sorting import sort as spilling
from tests.generators import clauses
from tests.properties.test_shortcuts import NO_ROOM, RUN_ERROR, differences, told
from tests.quick.scale import LONG_RUN, SEED, examples

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

WHOLE = replace(ALL, sort_bytes=1 << 30, rows_a_call=16)
SPILLED = replace(WHOLE, sort_bytes=64)
ROWS_A_BATCH = 5
ROWS_A_BATCH_OF_SPARK = "spark.sql.execution.arrow.maxRecordsPerBatch"

KEYS = {
    "": "",
    "k": "k",
    "several": "k, s",
    "double": "nullif(y, 0.5D)",
    "decimal": "CAST(x AS DECIMAL(38, 6))",
    "time": "timestamp_seconds(x)",
    "struct": "struct(k, x)",
    "array": "array(s, k)",
    "nested": "struct(array(x), struct(s AS a, y AS b))",
}
COLLATED = "k COLLATE UTF8_LCASE"  # Sail has no collations
MEASURES_OF_ROWS = (
    "FINAL LAST(id) AS final_id",
    "RUNNING LAST(id) AS running_id",
    "FINAL sum(x) AS final_sum",
    "RUNNING count(B.id) AS running_count",
    "RUNNING avg(x) AS running_average",
    "collect_list(id) AS ids",
    "count(DISTINCT k) AS keys",
)
MODES = (
    "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW",
    "ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW",
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES AFTER MATCH SKIP PAST LAST ROW",
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES AFTER MATCH SKIP TO NEXT ROW",
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO LAST B",
    "ALL ROWS PER MATCH AFTER MATCH SKIP TO FIRST B",
)
CONDITIONS = (
    "DEFINE B AS x >= PREV(x)",
    "DEFINE B AS x >= FIRST(x)",
    "DEFINE A AS s IS NOT NULL, B AS y > PREV(y) OR x IS NULL",
    "DEFINE B AS B.id <> NEXT(id) AND count(*) < 6",
)
PATTERNS = ("A B+", "A B*", "A B+? C?", "(A B)+", "A {- B+ -} C", "A B | B+")


def is_sail(spark: SparkSession) -> bool:
    return not hasattr(spark, "_jvm")


def in_small_batches(
    batches: Iterator[pa.RecordBatch], *others: object
) -> Iterator[pa.RecordBatch]:
    small = (
        batch.slice(begin, ROWS_A_BATCH)
        for batch in batches
        for begin in range(0, batch.num_rows, ROWS_A_BATCH)
    )
    return sorted_tables(small, *others)  # type: ignore[arg-type]


sorted_tables = spilling.sort_tables


@pytest.fixture
def spills(spark: SparkSession) -> Iterator[Counter[int]]:
    """How many files were written by their level, on Sail; batches of few rows on both engines."""
    levels: Counter[int] = Counter()
    put = spilling.Spills.put

    def counted(self: spilling.Spills, one: object, level: int) -> None:
        levels[level] += 1
        put(self, one, level)  # type: ignore[arg-type]

    before = None if is_sail(spark) else spark.conf.get(ROWS_A_BATCH_OF_SPARK)
    if before is not None:
        spark.conf.set(ROWS_A_BATCH_OF_SPARK, str(ROWS_A_BATCH))
    with (
        patch.multiple(spilling, SPILLS_A_MERGE=3, sort_tables=in_small_batches),
        patch.object(spilling.Spills, "put", counted),
    ):
        yield levels
    if before is not None:
        spark.conf.set(ROWS_A_BATCH_OF_SPARK, before)


Answer = Counter[str] | str


def answer(rows: DataFrame, clause: str, shortcuts: Shortcuts, sort: str) -> Answer:
    """The rows, each as text; or why there are none."""
    with in_force(shortcuts):
        try:
            options = matchrec.Options(sort=sort)  # type: ignore[arg-type]
            found = matchrec.match_recognize(rows, clause, options=options)
            return Counter(map(str, found.collect()))
        except MatchRecognizeError as error:
            return f"{type(error).__name__}: {error.message}"
        except PySparkException as error:
            return told(error)


def compare(rows: DataFrame, clause: str) -> bool:
    """Compare the rows with spills and without; return whether there are any."""
    sort = "worker"
    expected = answer(rows, clause, WHOLE, sort)
    if isinstance(expected, str) and "sort" in expected:  # only Spark sorts this
        sort = "auto"
        expected = answer(rows, clause, WHOLE, sort)
    found = answer(rows, clause, SPILLED, sort)
    both_fail = RUN_ERROR in str(expected) and RUN_ERROR in str(found)  # which row first is chance
    if not both_fail and NO_ROOM not in str(expected):
        assert found == expected, f"{clause}: {differences(found, expected)}"
    return not isinstance(expected, str) and bool(expected)


def drawn_rows(spark: SparkSession, random: Random, count: int) -> DataFrame:
    """Rows that come from several tasks, so that each task of the search has several batches."""
    listed = clauses.random_rows(random, count)
    return spark.createDataFrame(listed, clauses.COLUMNS).repartition(3)


def random_clause(random: Random, keys: str) -> str:
    """A clause of which each part is drawn by itself."""
    define = random.choice(CONDITIONS)
    pattern = random.choice(PATTERNS)
    measures = random.sample(MEASURES_OF_ROWS, random.randint(1, 4))
    order = random.choice(["id", "t, id", "s DESC NULLS LAST, id", "y, id DESC"])
    partition = f"PARTITION BY {keys} " if keys else ""
    return (
        f"{partition}ORDER BY {order} MEASURES {', '.join(measures)} {random.choice(MODES)} "
        f"PATTERN ({pattern}) {define}"
    )


def test_random_clauses_over_spilled_rows(spark: SparkSession, spills: Counter[int]) -> None:
    """All that `tests/generators/clauses.py` has."""
    random = Random(f"{SEED if LONG_RUN else 0} clauses")
    answered = 0
    count = max(examples(64), 6)
    for number in range(count):
        if number % 6 == 0:
            rows = drawn_rows(spark, random, random.randint(30, 150))
        answered += compare(rows, clauses.random_clause(random).text)
    assert answered > 0.3 * count
    if is_sail(spark):
        assert spills[0] > 10 * count
        assert spills[1] > count, "spills are merged to spills"


def test_partitions_by_any_key_that_are_spilled(spark: SparkSession, spills: Counter[int]) -> None:
    """Every kind of key, every output kind and skip mode, running and final measures."""
    random = Random(f"{SEED if LONG_RUN else 0} keys")
    answered = 0
    kinds = [*KEYS.values(), *([] if is_sail(spark) else [COLLATED])]
    rows = drawn_rows(spark, random, 120)
    times = max(1, examples(96) // len(kinds))
    for keys in kinds:
        for _ in range(times):
            answered += compare(rows, random_clause(random, keys))
    assert answered > 0.6 * times * len(kinds)
    if is_sail(spark):
        assert spills[0] > 10 * times * len(kinds)


def test_rows_of_a_spilled_partition(spark: SparkSession, spills: Counter[int]) -> None:
    """By hand: ids fall in the input, and each ten of them rise by their values."""
    rows = spark.range(0, 200, 1, 4).selectExpr("199 - id AS id", "(199 - id) % 10 AS x")
    clause = """ORDER BY id MEASURES FIRST(id) AS first, FINAL LAST(id) AS last, count(*) AS n
        PATTERN (A B+) DEFINE B AS x > PREV(x)"""
    with in_force(SPILLED):
        found = matchrec.match_recognize(rows, clause).collect()
    assert sorted(map(tuple, found)) == [(ten, ten + 9, 10) for ten in range(0, 200, 10)]
    if is_sail(spark):
        assert spills[0] >= 200 // ROWS_A_BATCH - 4


def test_a_folder_for_spills_that_is_gone(
    spark: SparkSession, spills: Counter[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The query ends with an error that names it; the workers of Spark are other processes."""
    gone = tmp_path / "gone"
    if is_sail(spark):
        monkeypatch.setattr(spilling, "find_folder", lambda: str(gone))
    clause = "ORDER BY id MEASURES LAST(id) AS l PATTERN (A B) DEFINE B AS id > PREV(id)"
    rows = spark.range(0, 200, 1, 4).selectExpr("199 - id AS id")
    with in_force(SPILLED):
        found = matchrec.match_recognize(rows, clause)
        if not is_sail(spark):
            assert len(found.collect()) == 100
            return
        with pytest.raises(Exception, match="cannot be written to") as raised:
            found.collect()
    error = MatchRecognizeRunError.from_exception(raised.value)
    assert error is not None
    assert (
        f"the folder {gone}, where rows are sorted, cannot be written to: No such" in error.message
    )
