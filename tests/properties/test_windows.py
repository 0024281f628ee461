"""Random row pattern windows: both engines against the reference, a frame of which is a list.

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
from tests.properties.test_queries import ENGINES, INTERPRETED, settings, table, text_of
from tests.quick.scale import SEED, examples
from tests.references.matcher import Failure
from tests.references.queries import TooManyWords
from tests.references.windows import window_rows
from tests.tasks.query_batches import QueryBatch, Run

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.MatchRecognizeWarning")  # random queries

WINDOWS_A_BATCH = 20
EXAMPLES = examples(80)
BY_NAME = (
    "SEEK is not supported",
    "may lie outside of the window's frame",
    "how long their frames",
)

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


def as_python(texts: list[tuple[str | None, ...]], query: WindowQuery) -> Texts:
    """The rows with doubles as Python writes them; other columns of the input left out."""
    floating = [False, *(one.type.value == "double" for one in query.measures)]
    found: Texts = Counter()
    for row in texts:
        own = (row[1], *row[7:])  # k, n, x, y, s, t, b
        fixed = (
            str(float(text)) if place < len(floating) and floating[place] and text else text
            for place, text in enumerate(own)
        )
        found[tuple(fixed)] += 1
    return found


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
        linked = {engine: queries.link(engine) for engine in ENGINES}
        assert all(any(one in said for one in BY_NAME) for said in queries.refused.values())
        assert len(queries.refused) < WINDOWS_A_BATCH / 2
        prepared = queries.prepared(linked[ENGINES[0]].values())
        cases = [
            (engine, query, Run(linked[engine][texts[query]], prepared, None, (2, 1 << 20)[turn]))
            for engine, (place, query) in product(ENGINES, enumerate(expected))
            if (turn := place % 2) in (0, 1) and texts[query] not in queries.refused
        ]
        results = queries.answers([run for *_, run in cases])
    for (engine, query, _), result in zip(cases, results, strict=True):
        assert not isinstance(result, str), (engine, texts[query], result)
        assert as_python(result, query) == expected[query], (engine, texts[query])
