"""Report ties that workers have found to the program that runs the query.

    workers of Sail, which are threads of that program    put them into `reported_ties` themselves
    workers of Spark Classic                              add them to an accumulator, and Spark
                                                          brings its updates to the program

The program takes them from there when the query has run, to warn of them: see `spark.ties`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol
from uuid import uuid4

_PROGRAM = uuid4().hex  # a fork has the same one, but another process id


def identify_process() -> str:
    """Return an id of this process."""
    return f"{os.getpid()}-{_PROGRAM}"


@dataclass(frozen=True, slots=True)
class TiedRows:
    """Ties that workers have found in the rows of one query."""

    number: int  # how many rows tie with the row before them
    clause: str  # what the language of the query calls ORDER BY
    example: str  # `sym = 'X', ts = 3`, of one of the ties

    def add(self, other: TiedRows) -> TiedRows:
        """Return the sum of the ties of two workers. The example is the first worker's."""
        return replace(self, number=self.number + other.number)


TiesOfQueries = Mapping[str, TiedRows]  # by the ids of queries


class ReportedTies:
    """Ties that were reported to a program and not taken yet. Several threads may use it."""

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
    for query, tied_rows in ties.items():
        totals[query] = totals[query].add(tied_rows) if query in totals else tied_rows


# The ties that workers have reported to this program.
reported_ties = ReportedTies()


class Channel(Protocol):
    """A way by which a worker reports ties to the program that runs the query. Picklable."""

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""


@dataclass(frozen=True, slots=True)
class ThreadChannel:
    """The channel of workers that are threads of the program. Other workers report nothing."""

    program: str  # its id, see `identify_process`

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
    """The channel of Spark Classic."""

    accumulator: TiesAccumulator  # of the program, with `TiesAccumulatorParam`

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""
        self.accumulator.add(ties)


@dataclass(frozen=True, slots=True)
class TiesAccumulatorParam:
    """The rule by which an accumulator adds up ties: an `AccumulatorParam` of PySpark.

    In a worker it adds up the ties of a task. In the program that runs the query it reports them.
    """

    program: str  # its id, see `identify_process`

    def zero(self, _value: TiesOfQueries) -> TiesOfQueries:
        """Return the first value of an accumulator."""
        return {}

    def addInPlace(self, before: TiesOfQueries, ties: TiesOfQueries) -> TiesOfQueries:  # noqa: N802 -- PySpark's name
        """Return the sum of ties. In the program they are reported, and nothing is kept."""
        if self.program == identify_process():
            reported_ties.add(ties)
            return {}
        merged = dict(before)
        merge_ties(merged, ties)
        return merged
