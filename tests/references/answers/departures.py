"""Compute the rows of the examples on departures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.references.answers.tables import (
    Row,
    find_end_of_run,
    read_data_file,
    split_into_partitions,
)


def read_legs() -> list[Any]:
    """Return the departures of each aircraft and day that were not cancelled."""
    departures = [row for row in read_data_file("flights") if row.dep_delay is not None]
    return split_into_partitions(
        departures,
        lambda row: (row.tailnum, row.scheduled.date()),
        lambda row: (row.scheduled, row.flight),
    )


def delay_cascades() -> Iterator[Row]:
    """Yield delays that grow leg after leg, by an hour or more in total, and then shrink."""
    for rows in read_legs():
        if rows[0].tailnum is None:
            continue
        start = 0
        while start < len(rows):
            worst = find_end_of_run(rows, start, lambda a, b: b.dep_delay > a.dep_delay)
            end = find_end_of_run(rows, worst, lambda a, b: b.dep_delay < a.dep_delay)
            first = rows[start]
            peak = rows[worst]
            last = rows[end]
            if worst - start < 2 or end == worst or peak.dep_delay < first.dep_delay + 60:
                start += 1
                continue
            times = first.tailnum, first.scheduled.date(), first.scheduled, peak.scheduled
            yield *times, end - start + 1, first.dep_delay, peak.dep_delay, last.dep_delay
            start = end


def delay_recovery() -> Iterator[Row]:
    """Yield the legs over which a delay of two hours shrinks to at most 15 minutes."""
    for rows in read_legs():
        start = 0
        while start < len(rows):
            end = find_end_of_run(
                rows, start, lambda a, b: b.dep_delay < a.dep_delay and b.dep_delay > 15
            )
            back = end + 1
            late = rows[start].dep_delay
            if late < 120 or back == len(rows) or rows[back].dep_delay > 15:
                start += 1
                continue
            phases = ["LATE", *["CATCHING_UP"] * (end - start), "ON_TIME"]
            for leg, (row, phase) in enumerate(zip(rows[start:], phases, strict=False), start=1):
                departure = row.scheduled, row.origin, row.dest, row.dep_delay
                yield (
                    row.tailnum,
                    row.scheduled.date(),
                    *departure,
                    phase,
                    leg,
                    late - row.dep_delay,
                )
            start = back + 1


def three_airports() -> Iterator[Row]:
    """Yield how often an aircraft leaves three different airports in a row, by first and last."""
    times: Counter[Row] = Counter()
    aircraft: dict[Row, set[str]] = defaultdict(set)
    departures = [row for row in read_data_file("flights") if row.tailnum is not None]
    for rows in split_into_partitions(
        departures, lambda row: row.tailnum, lambda row: (row.scheduled, row.flight)
    ):
        start = 0
        while start < len(rows):
            triple = [row.origin for row in rows[start : start + 3]]
            if len(set(triple)) == 3:
                times[triple[0], triple[2]] += 1
                aircraft[triple[0], triple[2]].add(rows[0].tailnum)
                start += 2
            start += 1
    for ends, count in times.items():
        yield *ends, count, len(aircraft[ends])
