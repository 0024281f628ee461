"""Check Delta and Iceberg tables as inputs and as targets of queries, row by row.

    python -m tests.live.tables_check delta
    python -m tests.live.tables_check iceberg
    python -m tests.live.tables_check delta --jars delta-spark.jar,delta-storage.jar

This needs Java 17 and a PySpark for which the format has a release: Delta 4.4 and Iceberg 1.12 have
one for PySpark 4.1. Without --jars, Spark fetches the jars from Maven Central. The program prints a
line for each check. Its exit code is 1 if any rows differ from the expected ones.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec

# The rows of a table, sorted.
Rows = list[tuple[Any, ...]]

# The versions in the names of jars.
SPARK_VERSION = ".".join(pyspark.__version__.split(".")[:2])
SCALA_VERSION = "2.12" if SPARK_VERSION < "4" else "2.13"

CLAUSE = """MATCH_RECOGNIZE (PARTITION BY sym ORDER BY at
    MEASURES LAST(at) AS at, LAST(price) AS low PATTERN (A D+) DEFINE D AS price < PREV(price))"""
# The falls of each price in the table `ticks`.
FALLS = f"ticks {CLAUSE}"


@dataclass(frozen=True)
class VersionQuery:
    """A query that returns the versions of the table `ticks`."""

    text: str
    # The columns with the name of a version, and with the time at which it was written.
    name_column: str
    time_column: str


@dataclass(frozen=True)
class TableFormat:
    """A table format, and what a session needs to use it."""

    name: str
    # The Maven coordinates of the jar.
    package: str
    settings: dict[str, str]
    version_query: VersionQuery


def make_delta_format(folder: str) -> TableFormat:
    """Return the format Delta, with its tables in a folder."""
    return TableFormat(
        name="delta",
        package=f"io.delta:delta-spark_{SPARK_VERSION}_{SCALA_VERSION}:4.4.0",
        settings={
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.warehouse.dir": folder,
            "spark.databricks.delta.snapshotPartitions": "1",
        },
        version_query=VersionQuery("DESCRIBE HISTORY ticks", "version", "timestamp"),
    )


def make_iceberg_format(folder: str) -> TableFormat:
    """Return the format Iceberg, with its tables in a folder."""
    extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    return TableFormat(
        name="iceberg",
        package=(
            f"org.apache.iceberg:iceberg-spark-runtime-{SPARK_VERSION}_{SCALA_VERSION}:1.12.0"
        ),
        settings={
            "spark.sql.extensions": extensions,
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": folder,
            "spark.sql.defaultCatalog": "lake",
            "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled": "false",
        },
        version_query=VersionQuery("SELECT * FROM ticks.snapshots", "snapshot_id", "committed_at"),
    )


# The functions that make the formats, by the argument of the program.
FORMATS: dict[str, Callable[[str], TableFormat]] = {
    "delta": make_delta_format,
    "iceberg": make_iceberg_format,
}


def open_session(table_format: TableFormat, jars: str | None) -> SparkSession:
    """Open a local session that can use a format.

    Args:
        table_format: the format.
        jars: the jars of the format, with commas; None to fetch them from Maven Central.
    """
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        **table_format.settings,
    }
    if jars:
        settings["spark.jars"] = jars
    else:
        settings["spark.jars.packages"] = table_format.package
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make_time(day: int) -> datetime:
    """Return the beginning of a day of January 2024."""
    return datetime(2024, 1, day)


class CheckResult(NamedTuple):
    """The rows after a step, and the rows that are expected."""

    # What was done, such as `INSERT INTO`.
    step: str
    actual: Rows
    expected: Rows


class TableChecks:
    """The checks of one format.

    They are steps of one story: a check finds the tables as the check before it has left them. Each
    method with checks yields their results in order.
    """

    def __init__(self, spark: SparkSession, table_format: TableFormat) -> None:
        self.spark = spark
        self.format = table_format
        # The only fall of X, which the first version of `ticks` has.
        self.fall_of_x: Rows = [("X", make_time(2), Decimal("80.25"))]
        # The falls of the last version.
        self.all_falls: Rows = [*self.fall_of_x, ("Y", make_time(2), Decimal("4.00"))]

    def create_ticks(self) -> None:
        """Create the table `ticks`, partitioned by the symbol, with two writes.

        In the first write, X falls to 80.25. In the second write, Y falls to 4.
        """
        self.spark.sql(
            "CREATE TABLE ticks (sym string, at timestamp, price decimal(10, 2))"
            f" USING {self.format.name} PARTITIONED BY (sym)"
        )
        for symbol, first_price, last_price in (("X", "90", "80.25"), ("Y", "10", "4")):
            self.spark.sql(
                f"INSERT INTO ticks VALUES ('{symbol}', timestamp '2024-01-01', {first_price}),"
                f" ('{symbol}', timestamp '2024-01-02', {last_price})"
            )

    def run_statement(self, statement: str) -> None:
        """Run a statement that changes a table."""
        matchrec.sql(self.spark, statement)

    def read_rows(self, query: str) -> Rows:
        """Return the rows of a query, sorted."""
        return sorted(tuple(row) for row in matchrec.sql(self.spark, query).collect())

    def read_lows(self) -> Rows:
        """Return the rows of the table `lows`, to which the checks write falls."""
        return self.read_rows("SELECT sym, at, low FROM lows")

    def run_all(self) -> Iterator[CheckResult]:
        """Run all checks."""
        yield CheckResult("SELECT", self.read_rows(f"SELECT * FROM {FALLS}"), self.all_falls)
        yield from self.check_time_travel()
        yield self.check_types()
        yield from self.check_statements()
        yield from self.check_writers()
        yield from self.check_merges()
        yield from self.check_conditions_of_changes()
        yield self.check_insert_into_input()

    def check_time_travel(self) -> Iterator[CheckResult]:
        """Read the version before the last one, which has only the first write."""
        query = self.format.version_query
        versions = self.spark.sql(query.text).orderBy(query.time_column)
        version_rows = versions.selectExpr(
            query.name_column, f"'' || {query.time_column}"
        ).collect()
        name, time = version_rows[-2]
        by_name = f"ticks VERSION AS OF {name}"
        by_time = f"ticks TIMESTAMP AS OF '{time}'"
        queries = {
            "VERSION AS OF": f"SELECT * FROM {by_name} {CLAUSE}",
            "alias": f"SELECT m.* FROM {by_name} AS t {CLAUSE} AS m",
            "TIMESTAMP AS OF": f"SELECT * FROM {by_time} {CLAUSE}",
        }
        for step, text in queries.items():
            yield CheckResult(step, self.read_rows(text), self.fall_of_x)

    def check_types(self) -> CheckResult:
        """Check the types of the columns of a clause."""
        schema = matchrec.sql(self.spark, f"SELECT * FROM {FALLS}").schema
        types: Rows = [(field.name, field.dataType.simpleString()) for field in schema]
        return CheckResult(
            "types",
            types,
            expected=[("sym", "string"), ("at", "timestamp"), ("low", "decimal(10,2)")],
        )

    def check_statements(self) -> Iterator[CheckResult]:
        """Write falls to `lows` by statements of SQL. In the end, it has the fall of X."""
        table = f"TABLE lows USING {self.format.name} PARTITIONED BY (sym)"
        falls = self.all_falls
        self.run_statement(f"CREATE {table} AS SELECT * FROM {FALLS}")
        yield CheckResult("CREATE TABLE AS", self.read_lows(), falls)
        self.run_statement(f"INSERT INTO lows SELECT * FROM {FALLS} WHERE sym = 'X'")
        yield CheckResult("INSERT INTO", self.read_lows(), [*self.fall_of_x, *falls])
        self.run_statement(f"INSERT OVERWRITE lows SELECT * FROM {FALLS}")
        yield CheckResult("INSERT OVERWRITE", self.read_lows(), falls)
        self.run_statement(f"INSERT INTO lows BY NAME SELECT low, sym, at FROM {FALLS}")
        yield CheckResult("INSERT BY NAME", self.read_lows(), sorted(falls * 2))
        self.run_statement(f"CREATE OR REPLACE {table} AS SELECT * FROM {FALLS}")
        yield CheckResult("CREATE OR REPLACE TABLE AS", self.read_lows(), falls)
        self.run_statement(f"INSERT OVERWRITE lows SELECT * FROM {FALLS} WHERE sym = 'X'")
        yield CheckResult("INSERT OVERWRITE, fewer", self.read_lows(), self.fall_of_x)

    def check_writers(self) -> Iterator[CheckResult]:
        """Write falls by both of Spark's writers of DataFrames. In the end, `lows` has only X."""
        falls = self.all_falls
        result = matchrec.sql(self.spark, f"SELECT * FROM {FALLS}")
        result.writeTo("lows").append()
        yield CheckResult("writeTo, append", self.read_lows(), [*self.fall_of_x, *falls])
        result.writeTo("lows").overwritePartitions()
        yield CheckResult("writeTo, overwritePartitions", self.read_lows(), falls)
        result.write.insertInto("lows")
        yield CheckResult("insertInto", self.read_lows(), sorted(falls * 2))
        if self.format.name == "delta":
            # Delta does not overwrite a table after CREATE OR REPLACE TABLE.
            self.spark.sql("DROP TABLE lows")
        writer = result.write.format(self.format.name).mode("overwrite").partitionBy("sym")
        writer.saveAsTable("lows")
        yield CheckResult("saveAsTable", self.read_lows(), falls)
        self.spark.sql("DELETE FROM lows WHERE sym = 'Y'")

    def check_merges(self) -> Iterator[CheckResult]:
        """Merge falls into `lows`, which has X: MERGE changes X and adds Y."""
        time = make_time(2)
        self.run_statement(write_merge(f"(SELECT * FROM {FALLS}) AS f", "t.low + f.low"))
        doubled_x = ("X", time, Decimal("160.50"))
        yield CheckResult("MERGE, a query", self.read_lows(), [doubled_x, self.all_falls[1]])
        self.run_statement(write_merge(f"{FALLS} AS f", "t.low - f.low"))
        zero_of_y = ("Y", time, Decimal("0.00"))
        yield CheckResult("MERGE, a clause", self.read_lows(), [*self.fall_of_x, zero_of_y])
        self.run_statement(
            f"MERGE INTO lows AS t USING {FALLS} AS f ON t.sym = f.sym AND t.low = f.low"
            " WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET low = 1"
        )
        one_of_y = ("Y", time, Decimal("1.00"))
        yield CheckResult("MERGE, DELETE and BY SOURCE", self.read_lows(), [one_of_y])

    def check_conditions_of_changes(self) -> Iterator[CheckResult]:
        """Use a clause in the conditions of UPDATE and DELETE.

        Delta does not accept subqueries in these conditions, so it has no such check.
        """
        if self.format.name == "delta":
            return
        has_fall = f"sym IN (SELECT sym FROM {FALLS})"
        self.run_statement(f"UPDATE lows SET low = 2 WHERE {has_fall}")
        yield CheckResult("UPDATE", self.read_lows(), [("Y", make_time(2), Decimal("2.00"))])
        self.run_statement(f"DELETE FROM lows WHERE {has_fall}")
        yield CheckResult("DELETE", self.read_lows(), [])

    def check_insert_into_input(self) -> CheckResult:
        """Write to the table that the clause reads."""
        self.run_statement(
            f"INSERT INTO ticks SELECT sym, at + INTERVAL 1 DAY, low - 1 FROM {FALLS}"
        )
        expected = [("X", make_time(3), Decimal("79.25")), ("Y", make_time(3), Decimal("3.00"))]
        actual = self.read_rows(f"SELECT * FROM {FALLS}")
        return CheckResult("INSERT into the input", actual, expected)


def write_merge(source: str, low: str) -> str:
    """Return a MERGE into `lows` (alias `t`) that adds the rows that it lacks.

    Args:
        source: the rows to merge, with the alias `f`.
        low: the new value of the column `low` of a row that exists, as SQL over both.
    """
    return (
        f"MERGE INTO lows AS t USING {source} ON t.sym = f.sym"
        f" WHEN MATCHED THEN UPDATE SET low = {low} WHEN NOT MATCHED THEN INSERT *"
    )


def count_failures(checks: TableChecks) -> int:
    """Run the checks, print a line for each, and return how many have failed.

    The first error ends the checks, because later ones depend on earlier ones.
    """
    failures = 0
    try:
        for result in checks.run_all():
            is_right = result.actual == result.expected
            failures += not is_right
            verdict = "right" if is_right else f"WRONG: {result.actual}"
            print(f"{result.step}: {len(result.actual)} rows, {verdict}")
    except (PySparkException, matchrec.MatchRecognizeError) as error:
        failures += 1
        print(f"FAILED: {error}")
    return failures


def main() -> int:
    """Check the format that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--jars", help="jars of the format, instead of Maven Central's")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table_format = FORMATS[arguments.format](folder)
        spark = open_session(table_format, arguments.jars)
        try:
            checks = TableChecks(spark, table_format)
            checks.create_ticks()
            failures = count_failures(checks)
        finally:
            spark.stop()
    print(f"{table_format.name} on PySpark {pyspark.__version__}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
