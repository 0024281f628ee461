"""Compute the rows of the examples on glucose readings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.references.answers.tables import Row, find_end_of_run, read_data_file, round_half_up


def read_glucose() -> list[Any]:
    """Return all readings in the order of time."""
    return sorted(read_data_file("glucose"))


def sensor_sessions() -> Iterator[Row]:
    """Yield the groups of readings with at most half an hour between neighbours."""
    sessions: list[list[Any]] = []
    for row in read_glucose():
        gap = row.measured_at - sessions[-1][-1].measured_at if sessions else None
        if gap is not None and gap <= timedelta(minutes=30):
            sessions[-1].append(row)
        else:
            sessions.append([row])
    for number, rows in enumerate(sessions, start=1):
        average = round_half_up(sum(row.glucose for row in rows) / len(rows), 1)
        yield number, rows[0].measured_at, rows[-1].measured_at, len(rows), average


def glucose_spikes() -> Iterator[Row]:
    """Yield rises by 80 or more within an hour, from a reading under 140."""
    rows = read_glucose()
    start = 0
    while start < len(rows):
        base = rows[start]
        end = start + 1
        while end < len(rows) and rows[end].glucose < base.glucose + 80:
            end += 1
        in_time = end < len(rows) and rows[end].measured_at - base.measured_at <= timedelta(hours=1)
        if base.glucose < 140 and in_time:
            spike = rows[end]
            times = base.measured_at, spike.measured_at
            yield *times, base.glucose, spike.glucose, end - start + 1
            start = end
        start += 1


def glucose_lows() -> Iterator[Row]:
    """Yield the readings before and after six or more readings under 60."""
    rows = read_glucose()
    near = timedelta(minutes=10)
    episode = 0
    for start, before in enumerate(rows):
        end = find_end_of_run(
            rows, start, lambda a, b: b.glucose < 60 and b.measured_at - a.measured_at <= near
        )
        if before.glucose < 60 or end - start < 6 or end + 1 == len(rows):
            continue
        after = rows[end + 1]
        if after.glucose >= 60 and after.measured_at - rows[end].measured_at <= near:
            episode += 1
            low = end - start, min(row.glucose for row in rows[start + 1 : end + 1])
            yield episode, "BEFORE", before.measured_at, before.glucose, *low
            yield episode, "AFTER", after.measured_at, after.glucose, *low
