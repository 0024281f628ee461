"""Random row pattern windows: both algorithms against the reference, a frame of which is a list.

A long run: MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_windows.py
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import product
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generators.queries import Batch, random_batch
from tests.generators.windows import WindowQuery, random_window
from tests.properties.test_queries import ALGORITHMS, INTERPRETED, settings, table, text_of
from tests.quick.scale import SEED, examples
from tests.references.matcher import Failure
from tests.references.queries import TooManyWords
from tests.references.windows import window_rows
from tests.tasks.query_batches import QueryBatch, Run

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

WINDOWS_A_BATCH = 6
EXAMPLES = examples(24)
BY_NAME = ("SEEK is not supported", "may be outside the window's frame", "if the frame's")

Texts = Counter[tuple[str | None, ...]]


def answer(query: WindowQuery, batch: Batch) -> Texts | None:
    """The rows of all partitions; None where one fails."""
    found: Texts = Counter()
    try:
        for rows in batch.partitions().values():
            found.update(tuple(map(text_of, one)) for one in window_rows(query, rows))
    except Failure:
        return None
    return found


def own_columns(text: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """A row without the other columns of the input: k, x, y, s, t, b."""
    return (text[1], *text[7:])


def with_python_doubles(row: tuple[str | None, ...], query: WindowQuery) -> tuple[str | None, ...]:
    """n and what was called, with doubles as Python writes them."""
    floating = [False, *(one.type.value == "double" for one in query.measures)]
    return tuple(
        str(float(text)) if place < len(floating) and floating[place] and text else text
        for place, text in enumerate(row)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // WINDOWS_A_BATCH)))
def test_both_engines_give_the_rows_of_the_reference(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    batch = random_batch(seed, 0)
    expected: dict[WindowQuery, Texts] = {}
    while len(expected) < WINDOWS_A_BATCH:
        query = random_window(random)
        with suppress(TooManyWords):
            found = answer(query, batch)
            if found is not None:
                expected[query] = found
    texts = {query: query.text(batch, "random_rows") for query in expected}
    with table(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        queries = QueryBatch(spark, "random_rows", list(texts.values()))
        linked = {algorithm: queries.link(algorithm) for algorithm in ALGORITHMS}
        assert all(any(one in said for one in BY_NAME) for said in queries.refused.values())
        assert len(queries.refused) < WINDOWS_A_BATCH
        prepared = queries.prepared(linked[ALGORITHMS[0]].values())
        cases = [
            (
                algorithm,
                query,
                Run(linked[algorithm][texts[query]], prepared, None, (2, 1 << 20)[turn]),
            )
            for algorithm, (place, query) in product(ALGORITHMS, enumerate(expected))
            if (turn := place % 2) in (0, 1) and texts[query] not in queries.refused
        ]
        results = queries.answers([run for *_, run in cases])
    for (algorithm, query, _), result in zip(cases, results, strict=True):
        assert not isinstance(result, str), (algorithm, texts[query], result)
        found = Counter(with_python_doubles(own_columns(row), query) for row in result)
        assert found == expected[query], (algorithm, texts[query])
