"""Report ties from the workers to the program that runs the query.

Two rows *tie* if ORDER BY does not tell them apart. Then the result may depend on their order,
unless they are equal in all other columns that the query reads. Workers that sort rows count the
ties of unequal rows: see `worker.sorting.ties`. How a count reaches the program depends on the
worker:

    threads of the program (Sail)    put it into `reported_ties`
    processes of Spark Classic       add it to an accumulator of Spark, which puts it into
                                     `reported_ties` in the program
    all others                       cannot report it: see `spark.ties`

When the query has run, the program takes the ties from `reported_ties`, and issues a warning: see
`spark.ties`. Spark can run a task twice; then its ties are counted twice.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol
from uuid import uuid4

_PROGRAM_ID = uuid4().hex  # a fork of the process has the same value, but another process id


def identify_process() -> str:
    """Return an id of this process."""
    return f"{os.getpid()}-{_PROGRAM_ID}"


@dataclass(frozen=True, slots=True)
class TieCount:
    """The number of ties that workers have found in the rows of one query, with an example."""

    # How many rows tie with the row before them, and differ from it in another column.
    row_count: int
    clause: str  # the name of ORDER BY in the language of the query, for the warning
    example: str  # the keys and ORDER BY values of one of the rows, such as `sym = 'X', ts = 3`

    def combine(self, other: TieCount) -> TieCount:
        """Return the ties of two workers together, with the example of `self`."""
        return replace(self, row_count=self.row_count + other.row_count)


TiesByQuery = Mapping[str, TieCount]  # by the id of the query


class ReportedTies:
    """Ties that were reported to this program and are not taken yet. Thread-safe."""

    def __init__(self) -> None:
        self._ties: dict[str, TieCount] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        """Return whether any ties are waiting to be taken."""
        return bool(self._ties)

    def add(self, ties: TiesByQuery) -> None:
        """Add the ties of some queries."""
        with self._lock:
            merge_ties(self._ties, ties)

    def take(self) -> TiesByQuery:
        """Return all ties that were reported since the last call. The caller owns the mapping."""
        with self._lock:
            ties = self._ties
            self._ties = {}
        return ties


def merge_ties(totals: dict[str, TieCount], ties: TiesByQuery) -> None:
    """Add the ties of some queries to `totals`, in place."""
    for query_id, tie_count in ties.items():
        previous = totals.get(query_id)
        totals[query_id] = tie_count if previous is None else previous.combine(tie_count)


# The ties that workers have reported to this program.
reported_ties = ReportedTies()


class TieChannel(Protocol):
    """How a worker reports ties to the program that runs the query. Picklable."""

    def report(self, ties: TiesByQuery) -> None:
        """Report the ties of some queries."""


@dataclass(frozen=True, slots=True)
class ThreadTieChannel:
    """The channel of workers that are threads of the program.

    In any other process, it reports nothing.
    """

    program_id: str  # the id of the program's process, see `identify_process`

    def report(self, ties: TiesByQuery) -> None:
        """Report the ties of some queries, if this process is the program."""
        if self.program_id == identify_process():
            reported_ties.add(ties)


class TiesAccumulator(Protocol):
    """An accumulator of PySpark that adds up ties."""

    def add(self, term: TiesByQuery) -> None:
        """Add the ties of some queries."""


@dataclass(frozen=True, slots=True)
class AccumulatorTieChannel:
    """The channel of Spark Classic, whose workers are other processes."""

    accumulator: TiesAccumulator  # was created with a `TiesAccumulatorParam`

    def report(self, ties: TiesByQuery) -> None:
        """Report the ties of some queries."""
        self.accumulator.add(ties)


@dataclass(frozen=True, slots=True)
class TiesAccumulatorParam:
    """The rule by which an accumulator adds up ties: an `AccumulatorParam` of PySpark.

    In a worker, the accumulator adds up the ties of a task. In the program that runs the query,
    Spark adds the ties of each finished task to the accumulator. There they go to `reported_ties`
    instead, so that the value of the accumulator stays empty and no tie is reported twice.
    """

    program_id: str  # the id of the program's process, see `identify_process`

    def zero(self, _value: TiesByQuery) -> TiesByQuery:
        """Return the first value of an accumulator: no ties."""
        return {}

    def addInPlace(self, total: TiesByQuery, ties: TiesByQuery) -> TiesByQuery:  # noqa: N802 -- PySpark's name
        """Return the ties of both arguments together. In the program, report `ties` instead."""
        if self.program_id == identify_process():
            reported_ties.add(ties)
            return {}
        merged = dict(total)
        merge_ties(merged, ties)
        return merged
