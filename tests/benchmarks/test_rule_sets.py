"""The rules of the benchmark `rule_sets` on few rows: each finds what it finds alone."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.benchmarks.rule_sets import alone, rules, together
from tests.benchmarks.tables import TABLES

pytestmark = pytest.mark.bench


def test_rules_find_as_many_matches_as_alone(spark: SparkSession) -> None:
    ticks = TABLES["ticks"].frame(spark, 0.02)
    found = {row.rule: row["count"] for row in together(ticks, 6).groupBy("rule").count().collect()}
    assert found == {name: alone(ticks, one).count() for name, one in rules(6).items()}
