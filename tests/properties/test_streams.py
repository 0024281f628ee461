"""Random queries over streams: the output so far is that of the reference.

The reference is `tests/references/queries`. A long run:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_streams.py
"""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.split import RowScope
from matchrec.worker.column_roles import SortColumn
from tests.generators.queries import Batch, Query, random_streams
from tests.properties.test_queries import (
    ALGORITHMS,
    INTERPRETED,
    cast_to_text,
    compute_answers,
    count_rows,
    list_partitions_without_failure,
    settings,
    temporary_view,
)
from tests.quick.scale import batches
from tests.references.queries import compute_partition_rows
from tests.tasks.query_batches import QueryBatch
from tests.tasks.query_streams import StreamRun

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

QUERIES = 8  # in a batch; each is over ten streams
TIME = build_row_column("`t`")
NUMBER = build_row_column("`n`")


@pytest.mark.parametrize("seed", batches(2, size=10 * QUERIES))
def test_streams_give_what_is_decided_of_the_reference(spark: SparkSession, seed: int) -> None:
    batch = random_streams(seed, QUERIES)
    answers = compute_answers(batch)
    texts = {query: batch.text(query, "random_rows") for query in answers}
    falls = batch.order[1].descending
    second_column = SortColumn("__o0", falls, nulls_first=not falls)
    with temporary_view(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        queries = QueryBatch(spark, "random_rows", list(texts.values()), RowScope.SEARCH)
        linked = queries.link(ALGORITHMS[seed % 2])
        assert queries.refused == {}
        prepared = queries.prepared(linked.values(), (TIME, NUMBER, build_row_column("`k`")))
        runs = []
        for query, text in texts.items():
            partitions = list_partitions_without_failure(answers[query], batch, prepared)
            run = StreamRun(
                linked[text], prepared, partitions, 1, TIME, NUMBER, second_column, seed
            )
            runs.append(run)
        results = queries.answers(runs)
    for query, run, result in zip(answers, runs, results, strict=True):
        assert count_rows(batch, query, result) == compute_expected_rows(batch, query, run), texts[
            query
        ]


def compute_expected_rows(
    batch: Batch, query: Query, run: StreamRun
) -> Counter[tuple[str | None, ...]]:
    """Return the rows of the reference up to the first undecided starting row of each partition."""
    keys = run.prepared.columns[build_row_column("`k`")].filter(run.prepared.starts)
    rows = []
    partitions = batch.partitions()
    for number, decided in run.decided.items():
        partition = partitions[(keys[number].as_py(),)]
        rows += compute_partition_rows(batch, query, partition, decided)
        if query.window is not None and not run.compiled_query.lookaround.rows_after:
            assert decided == len(partition), "each window has ended"
    counts = count_rows(batch, query, [tuple(map(cast_to_text, row)) for row in rows])
    assert isinstance(counts, Counter)
    return counts
