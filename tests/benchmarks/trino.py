"""A live Trino beside the others, over its statement protocol, with the rows in its memory.

Its result stays with it: the rows are counted and every column goes into a checksum, so that no
measure is left out. Processor seconds are those of its own statistics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

from pyspark.sql import DataFrame

from tests.benchmarks.measure import Taken, Times, clocked

NAME = "Trino"
TIME = "timestamp(6)"
HEADERS = {"X-Trino-User": "benchmark", "X-Trino-Catalog": "memory", "X-Trino-Schema": "default"}
LONGEST = 900_000  # characters of a statement; Trino takes a million
PARTS = 64  # of a table, of which one at a time is in the driver's memory


class TrinoError(Exception):
    """Trino's own message for a statement that it refuses."""


@dataclass(frozen=True)
class Result:
    """The rows of a statement, and what Trino says of its run."""

    rows: list[list[Any]]
    processor: float


@dataclass(frozen=True)
class Trino:
    """A server. url: its address."""

    url: str

    def run(self, statement: str) -> Result:
        """Runs a statement to its end. Raises TrinoError."""
        body = statement.encode()
        page = self.page(Request(f"{self.url.rstrip('/')}/v1/statement", body, HEADERS))
        rows = page.get("data", [])
        while "nextUri" in page:
            page = self.page(Request(page["nextUri"], headers=HEADERS))
            rows += page.get("data", [])
        return Result(rows, page["stats"]["cpuTimeMillis"] / 1000)

    def page(self, request: Request) -> dict[str, Any]:
        """One answer of the protocol."""
        with urlopen(request) as answer:
            page: dict[str, Any] = json.load(answer)
        if "error" in page:
            raise TrinoError(page["error"]["message"])
        return page

    def load(self, table: DataFrame, name: str) -> None:
        """Makes a table of the frame's rows, unless there is one with as many."""
        kinds = {one.name: type_of(one.dataType.simpleString()) for one in table.schema.fields}
        typed = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        self.run(f"CREATE TABLE IF NOT EXISTS {name} ({typed})")
        if self.run(f"SELECT count(*) FROM {name}").rows == [[table.count()]]:
            return
        self.run(f"DROP TABLE {name}")
        self.run(f"CREATE TABLE {name} ({typed})")
        read = typed.replace(TIME, "varchar")  # JSON has no times
        cells = ", ".join(f"CAST({column} AS {kind})" for column, kind in kinds.items())
        for rows in chunks(table):
            text = rows.replace("'", "''")
            self.run(
                f"INSERT INTO {name} SELECT {cells} FROM "
                f"UNNEST(CAST(json_parse('{text}') AS ARRAY(ROW({read}))))"
            )

    def measured(self, query: str, columns: list[str], rounds: int) -> tuple[Times, int]:
        """Times of a query that gives these columns, after one run, and how many rows it gives."""
        sums = ", ".join(f"checksum({one})" for one in columns)
        statement = f"SELECT count(*), {sums} FROM ({query})"
        rows = self.run(statement).rows[0][0]
        return Times(tuple(self.taken(statement) for _ in range(rounds))), rows

    def taken(self, statement: str) -> Taken:
        """One run."""
        results: list[Result] = []
        clock = clocked(lambda: results.append(self.run(statement)))
        return Taken(clock, results[0].processor)


def type_of(kind: str) -> str:
    """Trino's name of a type of Spark's."""
    return {"string": "varchar", "timestamp": TIME, "int": "integer"}.get(kind, kind)


def chunks(table: DataFrame) -> Iterator[str]:
    """The rows as JSON arrays of objects, each short enough for a statement."""
    form = "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    waiting: list[str] = []
    length = 0
    lines = table.selectExpr(f"to_json(struct(*), {form})").repartition(PARTS)
    for (line,) in lines.toLocalIterator():
        if waiting and length + len(line) > LONGEST:
            yield f"[{','.join(waiting)}]"
            waiting, length = [], 0
        waiting.append(line)
        length += len(line) + 1
    if waiting:
        yield f"[{','.join(waiting)}]"
