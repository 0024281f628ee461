"""Streams of events in short, for tests of SASE+: `a1=5@3 g1:b1` and the matches found in them.

a1      an event of type A that is named a1
=5      its attribute x; `=?` and none at all are NULL
@3      its time; else its position, from 1
g1:     its attribute k, else `g`; `?:` is NULL
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

import matchrec

SCHEMA = "query int, stream int, ts int, place int, event_type string, name string, k string, x int"
EVENT = re.compile(r"(?:(\w+|\?):)?([a-z])(\d*)(?:=(-?\d+|\?))?(?:@(\d+))?")

Read = Callable[[DataFrame, str], DataFrame]


@dataclass(frozen=True)
class Worked:
    """A query, and streams with the matches that are found by hand: names of events, by comma."""

    query: str
    streams: dict[str, str]
    output: str = "all"

    def expected(self) -> set[tuple[str, str]]:
        """Return pairs of a stream and a match in it."""
        return {
            (stream, match.strip())
            for stream, matches in self.streams.items()
            for match in matches.split(",")
            if match.strip()
        }


def events(query: int, worked: Worked) -> list[tuple[object, ...]]:
    return [
        (query, stream, *event(text, place))
        for stream, texts in enumerate(worked.streams)
        for place, text in enumerate(texts.split(), start=1)
    ]


def event(text: str, place: int) -> tuple[object, ...]:
    found = EVENT.fullmatch(text)
    assert found is not None, text
    key, letter, number, x, time = found.groups()
    return (
        int(time or place),
        place,
        letter.upper(),
        letter + number,
        None if key == "?" else key or "g",
        None if x in (None, "?") else int(x),
    )


def collect_matches(
    spark: SparkSession, cases: Sequence[Worked], read: Read
) -> list[set[tuple[str, str]]]:
    """Return the matches of each case, in one job. read: makes verbose rows of a frame and a query.

    A match that comes twice fails.
    """
    rows = [row for number, case in enumerate(cases) for row in events(number, case)]
    frame = spark.createDataFrame(rows, SCHEMA).localCheckpoint()
    results = [
        name_events(read(frame.where(f"query = {number}"), case.query), number)
        for number, case in enumerate(cases)
    ]
    matches: list[set[tuple[str, str]]] = [set() for _ in cases]
    for row in reduce(DataFrame.unionAll, results).collect():
        one = list(cases[row.query].streams)[row.stream], row.match
        assert one not in matches[row.query]
        matches[row.query].add(one)
    return matches


def name_events(result: DataFrame, number: int) -> DataFrame:
    """Verbose rows as a stream's number and the names of a match's events."""
    arrays = [name for name, kind in result.dtypes if kind.startswith("array")]
    names = ", ".join(f"`{array}`.name" for array in arrays)
    return result.selectExpr(f"{number} AS query", "stream", f"concat_ws(' ', {names}) AS match")


def match_verbose(output: str) -> Read:
    """Return the matches with all their events."""

    def read(frame: DataFrame, query: str) -> DataFrame:
        return matchrec.match_sase(
            frame, query, order_by=["ts", "place"], partition_by="stream", output=output
        )

    return read


def match_graph(frame: DataFrame, query: str) -> DataFrame:
    """Return all matches, out of the graph."""
    graph = matchrec.match_sase(
        frame, query, order_by=["ts", "place"], partition_by="stream", output="graph"
    )
    return matchrec.explode_graph(graph)
