"""Measure a query on a live Trino, over its statement protocol, with the rows in Trino's memory.

The rows of the result are not fetched. Trino counts them, and computes a checksum of every column,
so that it must compute all measures. The CPU seconds are those of Trino's statistics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

from pyspark.sql import DataFrame

from tests.benchmarks.measure import RunTime, Times, count_seconds

NAME = "Trino"
TIME = "timestamp(6)"
HEADERS = {"X-Trino-User": "benchmark", "X-Trino-Catalog": "memory", "X-Trino-Schema": "default"}
MAX_STATEMENT = 900_000  # characters; Trino accepts a million
READ_PARTITIONS = 64  # of a table; the driver holds one of them at a time


class TrinoError(Exception):
    """Trino's own message for a statement that it refuses."""


@dataclass(frozen=True)
class Result:
    """The result of a statement."""

    rows: list[list[Any]]
    cpu: float  # CPU seconds, as Trino counts them


@dataclass(frozen=True)
class Trino:
    """A Trino server."""

    url: str  # its address

    def run(self, statement: str) -> Result:
        """Run a statement and return all its rows.

        Raises:
            TrinoError: Trino refuses the statement.
        """
        body = statement.encode()
        page = self.request_page(Request(f"{self.url.rstrip('/')}/v1/statement", body, HEADERS))
        rows = page.get("data", [])
        while "nextUri" in page:
            page = self.request_page(Request(page["nextUri"], headers=HEADERS))
            rows += page.get("data", [])
        return Result(rows, page["stats"]["cpuTimeMillis"] / 1000)

    def request_page(self, request: Request) -> dict[str, Any]:
        """Send a request and return the page that Trino answers with.

        Raises:
            TrinoError: the page has an error.
        """
        with urlopen(request) as answer:
            page: dict[str, Any] = json.load(answer)
        if "error" in page:
            raise TrinoError(page["error"]["message"])
        return page

    def load(self, table: DataFrame, name: str) -> None:
        """Copy a frame to a table of Trino, unless the table exists and has as many rows."""
        types = {
            field.name: translate_type(field.dataType.simpleString())
            for field in table.schema.fields
        }
        columns = ", ".join(f"{name} {type_name}" for name, type_name in types.items())
        self.run(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
        if self.run(f"SELECT count(*) FROM {name}").rows == [[table.count()]]:
            return
        self.run(f"DROP TABLE {name}")
        self.run(f"CREATE TABLE {name} ({columns})")
        json_columns = columns.replace(TIME, "varchar")  # JSON has no times
        cells = ", ".join(f"CAST({column} AS {type_name})" for column, type_name in types.items())
        for rows in split_rows(table):
            text = rows.replace("'", "''")
            self.run(
                f"INSERT INTO {name} SELECT {cells} FROM "
                f"UNNEST(CAST(json_parse('{text}') AS ARRAY(ROW({json_columns}))))"
            )

    def measure(self, query: str, columns: list[str], rounds: int) -> tuple[Times, int]:
        """Run a query once more than `rounds`, and return the times without the first run.

        Also return the number of its rows. Checksums of its columns are computed, so that Trino
        cannot leave columns out.
        """
        sums = ", ".join(f"checksum({column})" for column in columns)
        statement = f"SELECT count(*), {sums} FROM ({query})"
        rows = self.run(statement).rows[0][0]
        return Times(tuple(self.time_statement(statement) for _ in range(rounds))), rows

    def time_statement(self, statement: str) -> RunTime:
        """Run a statement and return its time."""
        results: list[Result] = []
        clock = count_seconds(lambda: results.append(self.run(statement)))
        return RunTime(clock, results[0].cpu)


def translate_type(spark_type: str) -> str:
    """Return Trino's name for a type of Spark."""
    return {"string": "varchar", "timestamp": TIME, "int": "integer"}.get(spark_type, spark_type)


def split_rows(table: DataFrame) -> Iterator[str]:
    """Yield the rows as JSON arrays of objects, each short enough for a statement."""
    json_options = "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    chunk: list[str] = []
    length = 0
    lines = table.selectExpr(f"to_json(struct(*), {json_options})").repartition(READ_PARTITIONS)
    for (line,) in lines.toLocalIterator():
        if chunk and length + len(line) > MAX_STATEMENT:
            yield f"[{','.join(chunk)}]"
            chunk, length = [], 0
        chunk.append(line)
        length += len(line) + 1
    if chunk:
        yield f"[{','.join(chunk)}]"
