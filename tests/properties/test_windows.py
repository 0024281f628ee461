"""Random row pattern windows: both algorithms give the rows of the reference.

The reference copies the rows of each frame into a list. A long run:

    MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/properties/test_windows.py
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
from tests.properties.test_queries import (
    ALGORITHMS,
    INTERPRETED,
    cast_to_text,
    settings,
    temporary_view,
)
from tests.quick.scale import SEED, examples
from tests.references.matcher import Failure
from tests.references.queries import TooManyWords
from tests.references.windows import compute_window_rows
from tests.tasks.query_batches import QueryBatch, Run

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

WINDOWS_PER_BATCH = 6
EXAMPLES = examples(24)
REFUSALS = ("SEEK is not supported", "may be outside the window's frame", "if the frame's")

# The rows of a result. Values are texts.
Texts = Counter[tuple[str | None, ...]]


def find_rows(query: WindowQuery, batch: Batch) -> Texts | None:
    """Return the rows of the reference over all partitions; None if one raises an error."""
    texts: Texts = Counter()
    try:
        for rows in batch.partitions().values():
            texts.update(tuple(map(cast_to_text, row)) for row in compute_window_rows(query, rows))
    except Failure:
        return None
    return texts


def drop_input_columns(row: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return n and the columns of the window, without the other input columns k, x, y, s, t, b."""
    return (row[1], *row[7:])


def respell_doubles(row: tuple[str | None, ...], query: WindowQuery) -> tuple[str | None, ...]:
    """Return n and the columns of the window, with doubles as Python writes them."""
    are_doubles = [False, *(measure.type.value == "double" for measure in query.measures)]
    are_doubles += [False] * (len(row) - len(are_doubles))
    return tuple(
        str(float(text)) if is_double and text else text
        for text, is_double in zip(row, are_doubles, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // WINDOWS_PER_BATCH)))
def test_both_algorithms_give_the_rows_of_the_reference(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    batch = random_batch(seed, 0)
    expected: dict[WindowQuery, Texts] = {}
    while len(expected) < WINDOWS_PER_BATCH:
        query = random_window(random)
        with suppress(TooManyWords):
            rows = find_rows(query, batch)
            if rows is not None:
                expected[query] = rows
    texts = {query: query.text(batch, "random_rows") for query in expected}
    with temporary_view(spark, batch, "random_rows"), settings(spark, **INTERPRETED):
        queries = QueryBatch(spark, "random_rows", list(texts.values()))
        linked = {algorithm: queries.link(algorithm) for algorithm in ALGORITHMS}
        assert all(
            any(refusal in message for refusal in REFUSALS) for message in queries.refused.values()
        )
        assert len(queries.refused) < WINDOWS_PER_BATCH
        prepared = queries.prepared(linked[ALGORITHMS[0]].values())
        cases = []
        for algorithm, (number, query) in product(ALGORITHMS, enumerate(expected)):
            if texts[query] not in queries.refused:
                rows_per_call = 1 << 20 if number % 2 else 2
                run = Run(linked[algorithm][texts[query]], prepared, None, rows_per_call)
                cases.append((algorithm, query, run))
        results = queries.answers([run for *_, run in cases])
    for (algorithm, query, _), result in zip(cases, results, strict=True):
        assert not isinstance(result, str), (algorithm, texts[query], result)
        rows_found = Counter(respell_doubles(drop_input_columns(row), query) for row in result)
        assert rows_found == expected[query], (algorithm, texts[query])
