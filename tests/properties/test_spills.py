"""A query has the same result if its tasks spill nearly every batch and if they spill none.

A task may hold a few bytes, so its partitions do not fit into memory. Batches, pieces and merges
are small, too. Clauses are random: all outputs and skip strategies, running and final measures;
keys are NULL, nested, decimals, doubles, or texts with a collation. On Sail the tasks run in this
process, so the tests also count the spills.
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
from matchrec.shortcuts import ALL, Shortcuts, use_shortcuts
from matchrec.worker.sorting import sort
from matchrec.worker.sorting import spills as spilled_rows
from tests.generators import clauses
from tests.properties.test_shortcuts import (
    RUN_ERROR,
    TOO_LITTLE_MEMORY,
    find_own_message,
    show_difference,
)
from tests.quick.scale import LONG_RUN, SEED, examples

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

IN_MEMORY = replace(ALL, max_sort_bytes=1 << 30, rows_per_call=16)
SPILLED = replace(IN_MEMORY, max_sort_bytes=64)
ROWS_PER_BATCH = 5
ROWS_PER_BATCH_OF_SPARK = "spark.sql.execution.arrow.maxRecordsPerBatch"

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
OUTPUTS_AND_SKIPS = (
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
    """Return whether the engine is Sail."""
    return not hasattr(spark, "_jvm")


def sort_small_batches(
    batches: Iterator[pa.RecordBatch], *others: object
) -> Iterator[pa.RecordBatch]:
    """Sort tables as `sort_tables` does, but from batches of a few rows."""
    small_batches = (
        batch.slice(begin, ROWS_PER_BATCH)
        for batch in batches
        for begin in range(0, batch.num_rows, ROWS_PER_BATCH)
    )
    return original_sort_tables(small_batches, *others)  # type: ignore[arg-type]


original_sort_tables = sort.sort_tables


@pytest.fixture
def spills(spark: SparkSession) -> Iterator[Counter[int]]:
    """Make batches small, and count the files that are written on Sail, by their level."""
    levels: Counter[int] = Counter()
    put = spilled_rows.Spills.add_to_level

    def put_and_count(self: spilled_rows.Spills, spill: object, level: int) -> None:
        """Write a file, and count it."""
        levels[level] += 1
        put(self, spill, level)  # type: ignore[arg-type]

    usual_size = None if is_sail(spark) else spark.conf.get(ROWS_PER_BATCH_OF_SPARK)
    if usual_size is not None:
        spark.conf.set(ROWS_PER_BATCH_OF_SPARK, str(ROWS_PER_BATCH))
    with (
        patch.object(spilled_rows, "SPILLS_PER_MERGE", 3),
        patch.object(sort, "sort_tables", sort_small_batches),
        patch.object(spilled_rows.Spills, "add_to_level", put_and_count),
    ):
        yield levels
    if usual_size is not None:
        spark.conf.set(ROWS_PER_BATCH_OF_SPARK, usual_size)


Answer = Counter[str] | str


def answer(rows: DataFrame, clause: str, shortcuts: Shortcuts, sort: str) -> Answer:
    """Return the rows as texts, or the text of the error that the query raises."""
    with use_shortcuts(shortcuts):
        try:
            options = matchrec.Options(sort=sort)  # type: ignore[arg-type]
            matches = matchrec.match_recognize(rows, clause, options=options)
            return Counter(map(str, matches.collect()))
        except MatchRecognizeError as error:
            return f"{type(error).__name__}: {error.message}"
        except PySparkException as error:
            return find_own_message(error)


def compare(rows: DataFrame, clause: str) -> bool:
    """Compare the results with spills and without, and return whether there are any rows."""
    sort = "worker"
    expected = answer(rows, clause, IN_MEMORY, sort)
    if isinstance(expected, str) and "sort" in expected:  # only Spark can sort the rows
        sort = "auto"
        expected = answer(rows, clause, IN_MEMORY, sort)
    spilled = answer(rows, clause, SPILLED, sort)
    # Which row fails first is chance.
    both_fail = RUN_ERROR in str(expected) and RUN_ERROR in str(spilled)
    if not both_fail and TOO_LITTLE_MEMORY not in str(expected):
        assert spilled == expected, f"{clause}: {show_difference(spilled, expected)}"
    return not isinstance(expected, str) and bool(expected)


def draw_rows(spark: SparkSession, random: Random, count: int) -> DataFrame:
    """Return rows from several tasks, so that each task of the search has several batches."""
    rows = clauses.random_rows(random, count)
    return spark.createDataFrame(rows, clauses.COLUMNS).repartition(3)


def random_clause(random: Random, keys: str) -> str:
    """Return a clause whose parts are drawn independently."""
    define = random.choice(CONDITIONS)
    pattern = random.choice(PATTERNS)
    measures = random.sample(MEASURES_OF_ROWS, random.randint(1, 4))
    order = random.choice(["id", "t, id", "s DESC NULLS LAST, id", "y, id DESC"])
    output_and_skip = random.choice(OUTPUTS_AND_SKIPS)
    partition = f"PARTITION BY {keys} " if keys else ""
    return (
        f"{partition}ORDER BY {order} MEASURES {', '.join(measures)} {output_and_skip} "
        f"PATTERN ({pattern}) {define}"
    )


def test_random_clauses_over_spilled_rows(spark: SparkSession, spills: Counter[int]) -> None:
    """Use the clauses of `tests/generators/clauses.py`."""
    random = Random(f"{SEED if LONG_RUN else 0} clauses")
    answered = 0
    count = max(examples(64), 6)
    for number in range(count):
        if number % 6 == 0:
            rows = draw_rows(spark, random, random.randint(30, 150))
        answered += compare(rows, clauses.random_clause(random).text)
    assert answered > (0.3 * count if count > 32 else 0)  # of a few, chance decides
    if is_sail(spark):
        assert spills[0] > 10 * count
        assert spills[1] > count, "spills are merged to spills"


def test_partitions_by_any_key_that_are_spilled(spark: SparkSession, spills: Counter[int]) -> None:
    """Use all types of keys, outputs and skip strategies, running and final measures."""
    random = Random(f"{SEED if LONG_RUN else 0} keys")
    answered = 0
    kinds = [*KEYS.values(), *([] if is_sail(spark) else [COLLATED])]
    rows = draw_rows(spark, random, 120)
    clauses_a_key = max(1, examples(96) // len(kinds))
    for keys in kinds:
        for _ in range(clauses_a_key):
            answered += compare(rows, random_clause(random, keys))
    assert answered > 0.6 * clauses_a_key * len(kinds)
    if is_sail(spark):
        assert spills[0] > 10 * clauses_a_key * len(kinds)


def test_rows_of_a_spilled_partition(spark: SparkSession, spills: Counter[int]) -> None:
    """Ids descend in the input, and x rises over each ten of them; worked out by hand."""
    rows = spark.range(0, 200, 1, 4).selectExpr("199 - id AS id", "(199 - id) % 10 AS x")
    clause = """ORDER BY id MEASURES FIRST(id) AS first, FINAL LAST(id) AS last, count(*) AS n
        PATTERN (A B+) DEFINE B AS x > PREV(x)"""
    with use_shortcuts(SPILLED):
        matches = matchrec.match_recognize(rows, clause).collect()
    assert sorted(map(tuple, matches)) == [(ten, ten + 9, 10) for ten in range(0, 200, 10)]
    if is_sail(spark):
        assert spills[0] >= 200 // ROWS_PER_BATCH - 4


def test_a_folder_for_spills_that_is_gone(
    spark: SparkSession, spills: Counter[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the folder. Spark's workers are other processes, so they still have it."""
    missing_folder = tmp_path / "gone"
    if is_sail(spark):
        monkeypatch.setattr(spilled_rows, "find_folder", lambda: str(missing_folder))
    clause = "ORDER BY id MEASURES LAST(id) AS l PATTERN (A B) DEFINE B AS id > PREV(id)"
    rows = spark.range(0, 200, 1, 4).selectExpr("199 - id AS id")
    with use_shortcuts(SPILLED):
        matches = matchrec.match_recognize(rows, clause)
        if not is_sail(spark):
            assert len(matches.collect()) == 100
            return
        with pytest.raises(Exception, match="cannot be written to") as raised:
            matches.collect()
    error = MatchRecognizeRunError.from_exception(raised.value)
    assert error is not None
    assert (
        f"the folder {missing_folder}, where rows are sorted, cannot be written to: No such"
        in error.message
    )
