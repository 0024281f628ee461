"""Random whole queries with NOT: both engines against an oracle in plain Python.

A long run: MATCHREC_EXAMPLES=2000 pytest tests/properties/test_negated_queries.py
"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.generators.negations import negated_batch
from tests.properties.test_queries import answers, matched
from tests.quick.scale import SEED, examples

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries

QUERIES_A_BATCH = 50
EXAMPLES = examples(25)
REFUSED = (  # by name, as the documentation says
    "PATTERN may end with one NOT or with another",
    "which is under NOT",
)


@pytest.mark.night
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, EXAMPLES // QUERIES_A_BATCH)))
def test_both_engines_give_the_rows_of_the_oracle(spark: SparkSession, seed: int) -> None:
    batch = negated_batch(seed, QUERIES_A_BATCH)
    found = matched(spark, batch, answers(batch))
    assert [one for one in found if not any(words in one for words in REFUSED)] == []
    assert len(found) < 0.5 * len(batch.queries)
