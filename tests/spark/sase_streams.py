"""A short notation for streams of events in tests of SASE+: `a1=5@3 g1:b1`, and their matches.

a1      an event of type A with the name a1
=5      its attribute x; NULL if it is `=?` or missing
@3      its time; its position, from 1, if it is missing
g1:     its attribute k; `g` if it is missing, and NULL for `?:`
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
    """A query and its matches, worked out by hand."""

    query: str
    streams: dict[str, str]  # each stream, and its matches as names of events, with commas between
    output: str = "all"

    def list_expected(self) -> set[tuple[str, str]]:
        """Return pairs of a stream and a match in it."""
        return {
            (stream, match.strip())
            for stream, matches in self.streams.items()
            for match in matches.split(",")
            if match.strip()
        }


def list_events(query: int, worked: Worked) -> list[tuple[object, ...]]:
    """Return the events of all streams of a case as rows of SCHEMA."""
    return [
        (query, stream, *parse_event(text, position))
        for stream, texts in enumerate(worked.streams)
        for position, text in enumerate(texts.split(), start=1)
    ]


def parse_event(text: str, position: int) -> tuple[object, ...]:
    """Return the event that a text denotes, without the numbers of its query and stream."""
    parts = EVENT.fullmatch(text)
    assert parts is not None, text
    key, letter, number, x, time = parts.groups()
    return (
        int(time or position),
        position,
        letter.upper(),
        letter + number,
        None if key == "?" else key or "g",
        None if x in (None, "?") else int(x),
    )


def collect_matches(
    spark: SparkSession, cases: Sequence[Worked], read: Read
) -> list[set[tuple[str, str]]]:
    """Return the matches of each case, found in one job.

    Args:
        read: a function from events and a query to rows with all events of a match.

    Raises:
        AssertionError: a match is found twice.
    """
    rows = [row for number, case in enumerate(cases) for row in list_events(number, case)]
    frame = spark.createDataFrame(rows, SCHEMA).localCheckpoint()
    results = [
        name_events(read(frame.where(f"query = {number}"), case.query), number)
        for number, case in enumerate(cases)
    ]
    matches: list[set[tuple[str, str]]] = [set() for _ in cases]
    for row in reduce(DataFrame.unionAll, results).collect():
        match = list(cases[row.query].streams)[row.stream], row.match
        assert match not in matches[row.query]
        matches[row.query].add(match)
    return matches


def name_events(result: DataFrame, number: int) -> DataFrame:
    """Return the number of the stream and the names of the events of each match."""
    arrays = [name for name, kind in result.dtypes if kind.startswith("array")]
    names = ", ".join(f"`{array}`.name" for array in arrays)
    return result.selectExpr(f"{number} AS query", "stream", f"concat_ws(' ', {names}) AS match")


def match_verbose(output: str) -> Read:
    """Return a function that finds matches and returns them with all their events."""

    def read(frame: DataFrame, query: str) -> DataFrame:
        """Return the matches."""
        return matchrec.match_sase(
            frame, query, order_by=["ts", "place"], partition_by="stream", output=output
        )

    return read


def match_graph(frame: DataFrame, query: str) -> DataFrame:
    """Return all matches, expanded from their graph."""
    graph = matchrec.match_sase(
        frame, query, order_by=["ts", "place"], partition_by="stream", output="graph"
    )
    return matchrec.explode_graph(graph)
