"""Compute the rows of the examples on daily share prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

from tests.references.answers.tables import (
    Row,
    find_end_of_run,
    read_data_file,
    round_half_up,
    split_into_partitions,
)


def read_stocks() -> list[Any]:
    """Return a list of days for each share."""
    days = [row._replace(date=date.fromisoformat(row.date)) for row in read_data_file("stocks")]
    return split_into_partitions(days, lambda row: row.ticker, lambda row: row.date)


def falls(before: Any, after: Any) -> bool:
    """Return whether a share closed lower than the day before."""
    return bool(after.close < before.close)


def rises(before: Any, after: Any) -> bool:
    """Return whether a share closed higher than the day before."""
    return bool(after.close > before.close)


def v_shapes() -> Iterator[Row]:
    """Yield falls by 5 % over three days or more, and the rise back to the price at their start."""
    for rows in read_stocks():
        start = 0
        while start < len(rows):
            bottom = find_end_of_run(rows, start, falls)
            top = rows[start]
            back = bottom
            while back + 1 < len(rows) and rises(rows[back], rows[back + 1]):
                back += 1
                if rows[back].close >= top.close:
                    break
            if bottom - start < 3 or back == bottom or rows[back].close < top.close:
                start += 1
                continue
            low = rows[bottom]
            if low.close <= 0.95 * top.close:
                fall = round_half_up(100 * (1 - low.close / top.close), 1)
                yield top.ticker, top.date, low.date, rows[back].date, fall
            start = back


def w_shapes() -> Iterator[Row]:
    """Yield two falls and rises of two days or more whose lows differ by at most 2 %."""
    for rows in read_stocks():
        start = 0
        while start < len(rows):
            first = find_end_of_run(rows, start, falls)
            middle = find_end_of_run(rows, first, rises)
            second = find_end_of_run(rows, middle, falls)
            end = find_end_of_run(rows, second, rises)
            ends = [start, first, middle, second, end]
            ratio = rows[second].close / rows[first].close
            if min(b - a for a, b in pairwise(ends)) >= 2 and 0.98 <= ratio <= 1.02:
                low1 = rows[first]
                low2 = rows[second]
                last = rows[end]
                lows = low1.ticker, low1.date, low2.date, low1.close, low2.close
                yield *lows, last.date, last.close
                start = middle
            else:
                start += 1


def price_streaks() -> Iterator[Row]:
    """Yield rises over seven days or more."""
    for rows in read_stocks():
        start = 0
        while start < len(rows):
            end = find_end_of_run(rows, start, rises)
            if end - start >= 7:
                gain = round_half_up(100 * (rows[end].close / rows[start].close - 1), 1)
                first = rows[start + 1]
                last = rows[end]
                yield first.ticker, first.date, last.date, end - start, gain
            start = end + 1


def unfinished_streaks() -> Iterator[Row]:
    """Yield the rise or fall of each share that goes on at the end of the data."""
    for rows in read_stocks():
        newest_first = rows[::-1]
        for name, earlier in (("RISE", falls), ("FALL", rises)):
            length = find_end_of_run(newest_first, 0, earlier)
            if length:
                yield rows[-1].ticker, name, length, rows[-1].close


def volume_spikes() -> Iterator[Row]:
    """Yield days with more than four times the average volume of the 20 days before."""
    for rows in read_stocks():
        for day in range(20, len(rows)):
            spike = rows[day]
            calm = sum(row.volume for row in rows[day - 20 : day])
            if spike.volume > 4 * calm / 20:
                averages = (round_half_up(calm / 20), round_half_up((calm + spike.volume) / 21))
                percent = round_half_up(100 * (spike.close / rows[day - 1].close - 1), 1)
                yield spike.ticker, spike.date, spike.volume, *averages, percent
