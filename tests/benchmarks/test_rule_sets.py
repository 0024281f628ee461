"""The rules of the benchmark `rule_sets`, on few rows."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.benchmarks.rule_sets import make_rules, match_alone, match_together
from tests.benchmarks.tables import TABLES

pytestmark = pytest.mark.bench


def test_rules_together_find_as_many_matches_as_each_alone(spark: SparkSession) -> None:
    ticks = TABLES["ticks"].frame(spark, 0.02)
    counts = match_together(ticks, 6).groupBy("rule").count().collect()
    counts_together = {row.rule: row["count"] for row in counts}
    counts_alone = {name: match_alone(ticks, rule).count() for name, rule in make_rules(6).items()}
    assert counts_together == counts_alone
