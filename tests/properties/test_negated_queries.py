"""Random queries with NOT: both algorithms give the rows of the reference.

A long run:

    MATCHREC_EXAMPLES=2000 pytest tests/properties/test_negated_queries.py
"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.generators.negations import draw_negated_batch
from tests.properties.test_queries import compute_answers, find_differences
from tests.quick.scale import SEED, examples

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

QUERIES_PER_BATCH = 50
EXAMPLES = examples(25)
REFUSALS = (  # as the documentation describes them
    "PATTERN may end with one NOT or with another",
    "which is under NOT",
)


@pytest.mark.night
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // QUERIES_PER_BATCH)))
def test_both_algorithms_give_the_rows_of_the_reference(spark: SparkSession, seed: int) -> None:
    batch = draw_negated_batch(seed, QUERIES_PER_BATCH)
    messages = find_differences(spark, batch, compute_answers(batch))
    unexpected = [text for text in messages if not any(words in text for words in REFUSALS)]
    assert unexpected == []
    assert len(messages) < 0.5 * len(batch.queries)
