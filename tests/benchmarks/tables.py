"""The tables of the workloads: the same rows each time, in no order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name Spark users know

MILLION = 1_000_000


def hash_below(salt: int, bound: int) -> Any:
    """Return a column of pseudo-random integers below a bound."""
    return F.pmod(F.xxhash64(F.col("id") + salt), F.lit(bound))


def ticks(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Return shuffled ticks of some symbols."""
    tick = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("S%06d", F.col("id") % keys).alias("symbol"),
        F.timestamp_seconds(1_700_000_000 + tick).alias("ts"),
        (100 + hash_below(0, 1000) / 10.0).alias("price"),
        hash_below(7, 1000).alias("volume"),
    )


def orders(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Return ticks with values of other types."""
    tick = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("S%06d", F.col("id") % keys).alias("symbol"),
        F.timestamp_seconds(1_700_000_000 + tick).alias("ts"),
        (100 + hash_below(0, 1000) / 10.0).alias("price"),
        F.format_string("note %d", hash_below(9, 5000)).alias("note"),
        (hash_below(11, 100_000) / 100).cast("decimal(12,2)").alias("fee"),
        F.date_add(F.lit("2024-01-01").cast("date"), hash_below(13, 365).cast("int")).alias("day"),
    )


def visits(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Return shuffled page events of some users: view, cart, purchase and others."""
    kinds = F.array(*(F.lit(kind) for kind in ["view"] * 5 + ["search"] * 12 + ["cart", "help"]))
    rare = F.when(hash_below(5, 60) == 0, F.lit("purchase"))
    step = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("U%06d", F.col("id") % keys).alias("user"),
        F.timestamp_seconds(1_700_000_000 + step * 40 + hash_below(3, 30)).alias("ts"),
        F.coalesce(rare, F.element_at(kinds, (hash_below(1, 19) + 1).cast("int"))).alias("event"),
        hash_below(2, 500).alias("page"),
    )


@dataclass(frozen=True)
class Table:
    """A table with its rows and keys at scale 1; keys have the same number of rows at any scale."""

    make: Callable[[SparkSession, int, int], DataFrame]
    rows: int
    keys: int

    def frame(self, spark: SparkSession, scale: float = 1.0) -> DataFrame:
        """Return the table at a scale."""
        keys = max(1, round(self.keys * scale))
        return self.make(spark, keys * (self.rows // self.keys), keys)


TABLES = {
    "ticks": Table(ticks, 2 * MILLION, 1_000),
    "orders": Table(orders, 2 * MILLION, 1_000),
    "half": Table(ticks, MILLION // 2, 250),
    "visits": Table(visits, MILLION, 10_000),
}
