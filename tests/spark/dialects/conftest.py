"""The tables of the vendors' pages, and how their printed results are compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

ABCD = [50, 36, 39, 42, 30, 47, 71, 80, 75, 63]
XYZ = [89, 24, 37, 63, 65, 56, 50, 54, 30, 32]


@pytest.fixture(scope="session")
def stock_price_history(spark: SparkSession) -> Iterator[None]:
    """Snowflake's table of prices of two companies on ten days."""
    rows = [
        (company, f"2020-10-{day:02}", price)
        for company, series in (("ABCD", ABCD), ("XYZ", XYZ))
        for day, price in enumerate(series, 1)
    ]
    frame = spark.createDataFrame(rows, "company string, day string, price int")
    frame = frame.selectExpr("company", "to_date(day) AS price_date", "price")
    frame.createOrReplaceTempView("stock_price_history")
    yield
    spark.catalog.dropTempView("stock_price_history")
