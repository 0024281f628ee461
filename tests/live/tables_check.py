"""Delta and Iceberg tables as inputs and as targets, checked row by row on a session of its own.

    python -m tests.live.tables_check delta
    python -m tests.live.tables_check iceberg
    python -m tests.live.tables_check delta --jars delta-spark.jar,delta-storage.jar

Needs Java 17 and a PySpark for which the format has a release: Delta 4.4 and Iceberg 1.12 have
one for PySpark 4.1. Without --jars Spark fetches the jars from Maven Central. Prints a line a
check; the exit code is that of a failure when any row is not as expected.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec

Rows = list[tuple[Any, ...]]

SPARK = ".".join(pyspark.__version__.split(".")[:2])
SCALA = "2.12" if SPARK < "4" else "2.13"
CLAUSE = """MATCH_RECOGNIZE (PARTITION BY sym ORDER BY at
    MEASURES LAST(at) AS at, LAST(price) AS low PATTERN (A D+) DEFINE D AS price < PREV(price))"""
FALLS = f"ticks {CLAUSE}"


@dataclass(frozen=True)
class Format:
    """A table format: what its session needs, and which versions of `ticks` it has.

    versions: a command whose rows are the versions, and the columns with their names and times.
    """

    name: str
    package: str
    settings: dict[str, str]
    versions: tuple[str, str, str]


def delta(folder: str) -> Format:
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": folder,
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    package = f"io.delta:delta-spark_{SPARK}_{SCALA}:4.4.0"
    return Format("delta", package, settings, ("DESCRIBE HISTORY ticks", "version", "timestamp"))


def iceberg(folder: str) -> Format:
    extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    settings = {
        "spark.sql.extensions": extensions,
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": folder,
        "spark.sql.defaultCatalog": "lake",
        "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled": "false",
    }
    package = f"org.apache.iceberg:iceberg-spark-runtime-{SPARK}_{SCALA}:1.12.0"
    versions = ("SELECT * FROM ticks.snapshots", "snapshot_id", "committed_at")
    return Format("iceberg", package, settings, versions)


FORMATS: dict[str, Callable[[str], Format]] = {"delta": delta, "iceberg": iceberg}


def session(chosen: Format, jars: str | None) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    builder = builder.config("spark.ui.showConsoleProgress", False)
    source = ("spark.jars", jars) if jars else ("spark.jars.packages", chosen.package)
    builder = builder.config(*source).config("spark.sql.shuffle.partitions", 2)
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    for key, value in chosen.settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def day(number: int) -> datetime:
    return datetime(2024, 1, number)


def money(text: str) -> Decimal:
    return Decimal(text)


class Check:
    """One format's tables; each method that checks yields what it did, the rows, the expected."""

    def __init__(self, spark: SparkSession, chosen: Format) -> None:
        self.spark, self.format = spark, chosen

    def make_input(self) -> None:
        """ticks, partitioned by the key: first X falls to 80.25, a later write lets Y fall to 4."""
        self.spark.sql(
            "CREATE TABLE ticks (sym string, at timestamp, price decimal(10, 2))"
            f" USING {self.format.name} PARTITIONED BY (sym)"
        )
        self.spark.sql("INSERT INTO ticks VALUES " + row("X", 1, "90") + row("X", 2, "80.25", ""))
        self.spark.sql("INSERT INTO ticks VALUES " + row("Y", 1, "10") + row("Y", 2, "4", ""))

    def rows(self, query: str) -> Rows:
        return sorted(tuple(one) for one in matchrec.sql(self.spark, query).collect())

    def lows(self) -> Rows:
        return self.rows("SELECT sym, at, low FROM lows")

    def checks(self) -> Iterator[tuple[str, Rows, Rows]]:
        first = [("X", day(2), money("80.25"))]
        both = [*first, ("Y", day(2), money("4.00"))]
        yield "SELECT", self.rows(f"SELECT * FROM {FALLS}"), both
        yield from self.time_travel(first)
        yield from self.types()
        yield from self.statements(both)
        yield from self.writers(both)
        yield from self.merges()
        yield from self.changes()

    def time_travel(self, first: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        """The version before the last has the first write only."""
        command, version, instant = self.format.versions
        versions = self.spark.sql(command).orderBy(instant).selectExpr(version, f"'' || {instant}")
        name, at = versions.collect()[-2]
        old = f"ticks VERSION AS OF {name}"
        yield "VERSION AS OF", self.rows(f"SELECT * FROM {old} {CLAUSE}"), first
        yield "alias", self.rows(f"SELECT m.* FROM {old} AS t {CLAUSE} AS m"), first
        old = f"ticks TIMESTAMP AS OF '{at}'"
        yield "TIMESTAMP AS OF", self.rows(f"SELECT * FROM {old} {CLAUSE}"), first

    def types(self) -> Iterator[tuple[str, Rows, Rows]]:
        schema = matchrec.sql(self.spark, f"SELECT * FROM {FALLS}").schema
        types = [(field.name, field.dataType.simpleString()) for field in schema]
        expected = [("sym", "string"), ("at", "timestamp"), ("low", "decimal(10,2)")]
        yield "types", types, expected

    def statements(self, both: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        head = f"TABLE lows USING {self.format.name} PARTITIONED BY (sym)"
        matchrec.sql(self.spark, f"CREATE {head} AS SELECT * FROM {FALLS}")
        yield "CREATE TABLE AS", self.lows(), both
        matchrec.sql(self.spark, f"INSERT INTO lows SELECT * FROM {FALLS} WHERE sym = 'X'")
        yield "INSERT INTO", self.lows(), [both[0], *both]
        matchrec.sql(self.spark, f"INSERT OVERWRITE lows SELECT * FROM {FALLS}")
        yield "INSERT OVERWRITE", self.lows(), both
        matchrec.sql(self.spark, f"INSERT INTO lows BY NAME SELECT low, sym, at FROM {FALLS}")
        yield "INSERT BY NAME", self.lows(), sorted(both * 2)
        matchrec.sql(self.spark, f"CREATE OR REPLACE {head} AS SELECT * FROM {FALLS}")
        yield "CREATE OR REPLACE TABLE AS", self.lows(), both
        matchrec.sql(self.spark, f"INSERT OVERWRITE lows SELECT * FROM {FALLS} WHERE sym = 'X'")
        yield "INSERT OVERWRITE, fewer", self.lows(), both[:1]

    def writers(self, both: Rows) -> Iterator[tuple[str, Rows, Rows]]:
        """The result as a DataFrame, by both of Spark's writers."""
        result = matchrec.sql(self.spark, f"SELECT * FROM {FALLS}")
        result.writeTo("lows").append()
        yield "writeTo, append", self.lows(), both[:1] + both
        result.writeTo("lows").overwritePartitions()
        yield "writeTo, overwritePartitions", self.lows(), both
        result.write.insertInto("lows")
        yield "insertInto", self.lows(), sorted(both * 2)
        if self.format.name == "delta":  # cannot be overwritten after CREATE OR REPLACE TABLE
            self.spark.sql("DROP TABLE lows")
        writer = result.write.format(self.format.name).mode("overwrite").partitionBy("sym")
        writer.saveAsTable("lows")
        yield "saveAsTable", self.lows(), both
        self.spark.sql("DELETE FROM lows WHERE sym = 'Y'")

    def merges(self) -> Iterator[tuple[str, Rows, Rows]]:
        """lows has X: MERGE changes it and adds Y, from a query and from the clause itself."""
        merged = [("X", day(2), money("160.50")), ("Y", day(2), money("4.00"))]
        matchrec.sql(self.spark, merge(f"(SELECT * FROM {FALLS}) AS f", "t.low + f.low"))
        yield "MERGE, a query", self.lows(), merged
        matchrec.sql(self.spark, merge(f"{FALLS} AS f", "t.low - f.low"))
        zero = money("0.00")
        yield "MERGE, a clause", self.lows(), [("X", day(2), money("80.25")), ("Y", day(2), zero)]
        with_delete = f"""MERGE INTO lows AS t USING {FALLS} AS f ON t.sym = f.sym AND t.low = f.low
            WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET low = 1"""
        matchrec.sql(self.spark, with_delete)
        yield "MERGE, DELETE and BY SOURCE", self.lows(), [("Y", day(2), money("1.00"))]

    def changes(self) -> Iterator[tuple[str, Rows, Rows]]:
        """A clause in a condition of DELETE and UPDATE, and a target that is its own input.

        Delta takes no subquery in the conditions of DELETE and UPDATE.
        """
        part = f"sym IN (SELECT sym FROM {FALLS})"
        if self.format.name != "delta":
            matchrec.sql(self.spark, f"UPDATE lows SET low = 2 WHERE {part}")
            yield "UPDATE", self.lows(), [("Y", day(2), money("2.00"))]
            matchrec.sql(self.spark, f"DELETE FROM lows WHERE {part}")
            yield "DELETE", self.lows(), []
        added = f"INSERT INTO ticks SELECT sym, at + INTERVAL 1 DAY, low - 1 FROM {FALLS}"
        matchrec.sql(self.spark, added)
        falls = [("X", day(3), money("79.25")), ("Y", day(3), money("3.00"))]
        yield "INSERT into the input", self.rows(f"SELECT * FROM {FALLS}"), falls


def row(sym: str, number: int, price: str, end: str = ", ") -> str:
    return f"('{sym}', timestamp '2024-01-{number:02}', {price}){end}"


def merge(source: str, low: str) -> str:
    return f"""MERGE INTO lows AS t USING {source} ON t.sym = f.sym
        WHEN MATCHED THEN UPDATE SET low = {low} WHEN NOT MATCHED THEN INSERT *"""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("format", choices=FORMATS)
    arguments.add_argument("--jars", help="jars of the format, instead of Maven Central's")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = FORMATS[given.format](folder)
        check = Check(session(chosen, given.jars), chosen)
        try:
            check.make_input()
            return judge(check)
        finally:
            check.spark.stop()


def judge(check: Check) -> int:
    """1 if any rows are not as expected."""
    wrong = 0
    try:
        for what, found, expected in check.checks():
            agrees = found == expected
            wrong += not agrees
            print(f"{what}: {len(found)} rows, " + ("right" if agrees else f"WRONG: {found}"))
    except (PySparkException, matchrec.MatchRecognizeError) as error:
        print(f"FAILED: {error}")
        wrong += 1
    print(f"{check.format.name} on PySpark {pyspark.__version__}: {wrong} failures")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
