"""LIKE has the values that Spark computes."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.types import STRING
from tests.spark.functions import arguments
from tests.spark.functions.spark_checks import ArgumentTable, FunctionCall

LIKE_PATTERNS = (
    "", "%", "_", "a%", "%b%", "_b_", "a\\%", "\\\\", "\\_%", "%%", "A%", "!%", "!!", "a!_",
    "\\a", "a\\", "__", "日_語", "%😀", "😀_", "%\n%", "[a]", ".*", "(", "İ%", "Σ%",
)  # fmt: skip


def test_like_gives_the_values_of_spark(spark: SparkSession) -> None:
    rows = arguments.make_rows(
        (arguments.TEXTS, LIKE_PATTERNS),
        (arguments.draw_text, lambda generator: generator.choice(LIKE_PATTERNS)),
        200,
    )
    ArgumentTable((STRING, STRING), rows).check(
        spark, [FunctionCall("LIKE", "{0} LIKE {1}", (0, 1))]
    )


def test_like_with_an_escape_has_sparks_values(spark: SparkSession) -> None:
    rows = arguments.make_rows(
        (arguments.TEXTS, LIKE_PATTERNS, ("!",)), (arguments.draw_text,) * 2 + (lambda _: "!",), 100
    )
    case = FunctionCall("LIKE", "{0} LIKE {1} ESCAPE '!'", (0, 1, 2))
    ArgumentTable((STRING,) * 3, rows).check(spark, [case])
