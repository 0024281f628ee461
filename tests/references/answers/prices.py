"""Answers of the examples on daily share prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Any

from tests.references.answers.tables import Row, partitions, rounded, run, table


def stocks() -> list[Any]:
    """One list of days for each share."""
    days = [row._replace(date=date.fromisoformat(row.date)) for row in table("stocks")]
    return partitions(days, lambda row: row.ticker, lambda row: row.date)


def falls(before: Any, after: Any) -> bool:
    """The share closed lower than the day before."""
    return bool(after.close < before.close)


def rises(before: Any, after: Any) -> bool:
    """The share closed higher than the day before."""
    return bool(after.close > before.close)


def v_shapes() -> Iterator[Row]:
    for rows in stocks():
        start = 0
        while start < len(rows):
            bottom = run(rows, start, falls)
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
                fall = rounded(100 * (1 - low.close / top.close), 1)
                yield top.ticker, top.date, low.date, rows[back].date, fall
            start = back


def w_shapes() -> Iterator[Row]:
    for rows in stocks():
        start = 0
        while start < len(rows):
            first = run(rows, start, falls)
            middle = run(rows, first, rises)
            second = run(rows, middle, falls)
            end = run(rows, second, rises)
            ends = [start, first, middle, second, end]
            ratio = rows[second].close / rows[first].close
            if min(b - a for a, b in pairwise(ends)) >= 2 and 0.98 <= ratio <= 1.02:
                low1, low2, last = rows[first], rows[second], rows[end]
                yield (low1.ticker, low1.date, low2.date, low1.close, low2.close, *last_close(last))
                start = middle + 1
            else:
                start += 1


def last_close(row: Any) -> Row:
    return row.date, row.close


def price_streaks() -> Iterator[Row]:
    for rows in stocks():
        start = 0
        while start < len(rows):
            end = run(rows, start, rises)
            if end - start >= 7:
                gain = rounded(100 * (rows[end].close / rows[start].close - 1), 1)
                first, last = rows[start + 1], rows[end]
                yield first.ticker, first.date, last.date, end - start, gain
            start = end + 1


def unfinished_streaks() -> Iterator[Row]:
    for rows in stocks():
        newest_first = rows[::-1]
        for name, earlier in (("UP", falls), ("DOWN", rises)):
            length = run(newest_first, 0, earlier)
            if length:
                yield rows[-1].ticker, name, length, rows[-1].close


def volume_spikes() -> Iterator[Row]:
    for rows in stocks():
        for at in range(20, len(rows)):
            spike, calm = rows[at], [row.volume for row in rows[at - 20 : at]]
            if spike.volume > 4 * sum(calm) / 20:
                averages = rounded(sum(calm) / 20), rounded((sum(calm) + spike.volume) / 21)
                percent = rounded(100 * (spike.close / rows[at - 1].close - 1), 1)
                yield spike.ticker, spike.date, spike.volume, *averages, percent
