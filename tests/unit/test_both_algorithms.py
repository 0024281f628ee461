"""The comparison of both algorithms in the workers of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from matchrec.automaton.run_endings import A_MATCH, TIMED_OUT
from matchrec.errors.run.failures import overflow_in_condition
from matchrec.search.matches import RunFailure, make_empty_matches
from tests.quick import scale
from tests.quick.both_algorithms import Outcome, check_same

ONE = replace(
    make_empty_matches(),
    partition=np.array([0]),
    number=np.array([1]),
    start=np.array([4]),
    offsets=np.array([0, 1]),
    classifiers=np.array([2], np.int16),
    is_excluded=np.array([False]),
    rows=np.array([4]),
)
FAILED = RunFailure(overflow_in_condition, 4, {"variable": "A"})


def test_equal_outcomes_pass_the_comparison() -> None:
    check_same(Outcome([ONE]), Outcome([make_empty_matches(), ONE]))
    check_same(Outcome(failure=FAILED), Outcome([ONE], FAILED))


def test_runs_may_come_between_other_matches() -> None:
    """Two chunks, which end within the partition, against one."""
    matches = replace(
        make_empty_matches(),
        partition=np.array([0, 0, 0]),
        number=np.array([1, -1, 2]),
        start=np.array([4, 3, 6]),
        offsets=np.array([0, 1, 3, 5]),
        classifiers=np.array([2, 1, 1, 2, 3], np.int16),
        is_excluded=np.zeros(5, np.bool_),
        rows=np.array([4, 3, 5, 6, 7]),
        completing_rows=np.array([4, 5, 7]),
        kind=np.array([A_MATCH, TIMED_OUT, A_MATCH]),
    )
    others = replace(
        matches,
        number=np.array([1, 2, -1]),
        start=np.array([4, 6, 3]),
        offsets=np.array([0, 1, 3, 5]),
        classifiers=np.array([2, 2, 3, 1, 1], np.int16),
        rows=np.array([4, 6, 7, 3, 5]),
        completing_rows=np.array([4, 7, 5]),
        kind=np.array([A_MATCH, A_MATCH, TIMED_OUT]),
    )
    check_same(Outcome([matches]), Outcome([others]))
    with pytest.raises(AssertionError):
        check_same(Outcome([matches]), Outcome([replace(others, rows=matches.rows)]))


@pytest.mark.parametrize(
    "other",
    [
        Outcome(),
        Outcome([replace(ONE, start=np.array([5]))]),
        Outcome([replace(ONE, classifiers=np.array([1], np.int16))]),
        Outcome([ONE], FAILED),
    ],
    ids=["nothing", "another row", "another variable", "a failure"],
)
def test_different_outcomes_fail_the_comparison(other: Outcome) -> None:
    with pytest.raises(AssertionError):
        check_same(Outcome([ONE]), other)


def test_workers_run_both_algorithms_unless_spark_has_its_own_settings(spark: SparkSession) -> None:
    def name_of_search(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from matchrec.worker.match import PieceWorker

        yield pa.RecordBatch.from_pydict({"name": [PieceWorker.find_matches.__name__]})

    (row,) = spark.range(0, 1, 1, 1).mapInArrow(name_of_search, "name string").collect()
    assert (row.name == "find_on_both") == (not scale.OWN_SPARK)
