"""Report ties that workers have found to the program that runs the query.

    workers of Sail, which are threads of that program    put ties into `reported_ties` themselves
    workers of Spark Classic                              add ties to an accumulator, and Spark
                                                          brings its updates to the program, which
                                                          puts them into `reported_ties`

When the query has run, the program takes the ties from `reported_ties`, and issues a warning: see
`spark.ties`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol
from uuid import uuid4

_PROGRAM = uuid4().hex  # a fork of the process has the same value, but another process id


def identify_process() -> str:
    """Return an id of this process."""
    return f"{os.getpid()}-{_PROGRAM}"


@dataclass(frozen=True, slots=True)
class TiedRows:
    """Ties that workers have found in the rows of one query."""

    row_count: int  # how many rows tie with the row before them
    clause: str  # what the language of the query calls ORDER BY
    example: str  # the keys and ORDER BY values of one of the rows, such as `sym = 'X', ts = 3`

    def add(self, other: TiedRows) -> TiedRows:
        """Return the ties of two workers together. The example is the one of `self`."""
        return replace(self, row_count=self.row_count + other.row_count)


TiesOfQueries = Mapping[str, TiedRows]  # maps the id of a query to its ties


class ReportedTies:
    """Ties that were reported to a program and not taken yet. Several threads may use an object."""

    def __init__(self) -> None:
        self._ties: dict[str, TiedRows] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        """Return whether there are ties that nobody has taken."""
        return bool(self._ties)

    def add(self, ties: TiesOfQueries) -> None:
        """Add the ties of some queries."""
        with self._lock:
            merge_ties(self._ties, ties)

    def take(self) -> TiesOfQueries:
        """Return all ties that were reported since the last call."""
        with self._lock:
            ties = self._ties
            self._ties = {}
        return ties


def merge_ties(totals: dict[str, TiedRows], ties: TiesOfQueries) -> None:
    """Add the ties of some queries to `totals`, in place."""
    for query_id, tied_rows in ties.items():
        known_ties = totals.get(query_id)
        totals[query_id] = tied_rows if known_ties is None else known_ties.add(tied_rows)


# The ties that workers have reported to this program.
reported_ties = ReportedTies()


class Channel(Protocol):
    """A way by which a worker reports ties to the program that runs the query. Picklable."""

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""


@dataclass(frozen=True, slots=True)
class ThreadChannel:
    """The channel of workers that are threads of the program. Other workers report nothing."""

    program: str  # the id of the program's process, see `identify_process`

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries, if this process is the program."""
        if self.program == identify_process():
            reported_ties.add(ties)


class TiesAccumulator(Protocol):
    """An accumulator of PySpark that adds up ties."""

    def add(self, term: TiesOfQueries) -> None:
        """Add the ties of some queries."""


@dataclass(frozen=True, slots=True)
class AccumulatorChannel:
    """The channel of Spark Classic, whose workers are other processes."""

    accumulator: TiesAccumulator  # adds up with `TiesAccumulatorParam`

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""
        self.accumulator.add(ties)


@dataclass(frozen=True, slots=True)
class TiesAccumulatorParam:
    """The rule by which an accumulator adds up ties: an `AccumulatorParam` of PySpark.

    In a worker, the accumulator adds up the ties of a task. In the program that runs the query, it
    puts the ties into `reported_ties`.
    """

    program: str  # the id of the program's process, see `identify_process`

    def zero(self, _value: TiesOfQueries) -> TiesOfQueries:
        """Return the first value of an accumulator: no ties."""
        return {}

    def addInPlace(self, before: TiesOfQueries, ties: TiesOfQueries) -> TiesOfQueries:  # noqa: N802 -- PySpark's name
        """Return the ties of both arguments together. In the program, report `ties` instead.

        The program returns no ties, so that none is reported twice.
        """
        if self.program == identify_process():
            reported_ties.add(ties)
            return {}
        merged = dict(before)
        merge_ties(merged, ties)
        return merged
