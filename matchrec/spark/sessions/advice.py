"""What would make a query faster and is the user's to decide: a setting of Spark's session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)


def advice_on(spark: SparkSession) -> str:
    """What could be set; empty where it is, and where Spark has no such setting.

    Spark adds up the bytes of all columns of a batch after each row, but not where there is no
    limit. A batch then has as many rows as another setting says, by default 10,000.
    """
    limit = spark.conf.get(MAX_BYTES, None)
    if limit is None or limit.rstrip("b") == UNLIMITED:
        return ""
    why = "as Spark then does not add up their bytes after each row"
    return f'faster where values are short, {why}:\n  spark.conf.set("{MAX_BYTES}", {UNLIMITED})'
