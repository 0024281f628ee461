"""What quick, full and long runs differ in."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.quick import scale


@pytest.mark.parametrize(
    ("full", "long_run", "examples", "cases", "half", "groups"),
    [
        (False, None, 25, [0], [0, 2, 4, 6], 1),
        (True, None, 200, [*range(7)], [1, 3, 5], 7),
        (False, "9", 9, [*range(7)], [*range(7)], 7),
    ],
)
def test_how_much_is_done(
    monkeypatch: pytest.MonkeyPatch,
    full: bool,
    long_run: str | None,
    examples: int,
    cases: list[int],
    half: list[int],
    groups: int,
) -> None:
    monkeypatch.setattr(scale, "FULL", full)
    monkeypatch.setattr(scale, "LONG_RUN", long_run)
    assert scale.examples(200) == examples
    assert scale.some_of([*range(7)]) == cases
    assert scale.half_of([*range(7)]) == half
    assert len(scale.together([*range(7)])) == groups


def test_queries_are_compiled_where_spark_has_its_own_settings(spark: SparkSession) -> None:
    compiled = spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    assert compiled == scale.OWN_SPARK
