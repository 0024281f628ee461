"""LIKE, against Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.conditions.types import STRING
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table

LIKED = (
    "", "%", "_", "a%", "%b%", "_b_", "a\\%", "\\\\", "\\_%", "%%", "A%", "!%", "!!", "a!_",
    "\\a", "a\\", "__", "日_語", "%😀", "😀_", "%\n%", "[a]", ".*", "(", "İ%", "Σ%",
)  # fmt: skip


def test_like(spark: SparkSession) -> None:
    rows = some.make_rows((some.TEXTS, LIKED), (some.draw_text, lambda one: one.choice(LIKED)), 200)
    Table((STRING, STRING), rows).check(spark, [Case("LIKE", "{0} LIKE {1}", (0, 1))])


def test_like_with_an_escape(spark: SparkSession) -> None:
    rows = some.make_rows(
        (some.TEXTS, LIKED, ("!",)), (some.draw_text,) * 2 + (lambda _: "!",), 100
    )
    case = Case("LIKE", "{0} LIKE {1} ESCAPE '!'", (0, 1, 2))
    Table((STRING,) * 3, rows).check(spark, [case])
