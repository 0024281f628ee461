"""Answers of the examples on hourly weather."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from tests.references.answers.tables import Row, partitions, rounded, table


def weather() -> list[Any]:
    """One list of hours for each airport."""
    return partitions(table("weather"), lambda row: row.origin, lambda row: row.hour_utc)


class Day(NamedTuple):
    """A day at one airport."""

    origin: str
    day: date
    high: float
    rain: float


def days() -> list[list[Day]]:
    """One list of days for each airport."""
    result = []
    for hours in weather():
        by_day = groupby(hours, key=lambda row: row.hour_local.date())
        result.append([one_day(day, list(group)) for day, group in by_day])
    return result


def one_day(day: date, hours: list[Any]) -> Day:
    """The highest temperature and the sum of rain."""
    temperatures = [hour.temp for hour in hours if hour.temp is not None]
    return Day(hours[0].origin, day, max(temperatures), math.fsum(hour.precip for hour in hours))


def heat_waves() -> Iterator[Row]:
    for rows in days():
        for _, wave in groupby(
            enumerate(hot_days(rows)), lambda item: item[1].day.toordinal() - item[0]
        ):
            wave_days = [day for _, day in wave]
            if len(wave_days) >= 3:
                first, last = wave_days[0], wave_days[-1]
                hottest = max(day.high for day in wave_days)
                yield first.origin, first.day, last.day, len(wave_days), hottest


def hot_days(rows: list[Day]) -> list[Day]:
    return [day for day in rows if day.high >= 90]


def dry_spells() -> Iterator[Row]:
    for rows in days():
        wet = [-1, *(at for at, day in enumerate(rows) if day.rain > 0), len(rows)]
        for before, after in pairwise(wet):
            if after - before - 1 >= 10:
                rain = rounded(rows[after].rain, 2) if after < len(rows) else None
                yield rows[0].origin, rows[before + 1].day, after - before - 1, rain


def pressure_drops() -> Iterator[Row]:
    for rows in weather():
        start = 0
        while start < len(rows):
            end = start
            while end + 1 < len(rows) and not_rising(rows[end], rows[end + 1]):
                end += 1
                if rows[end].pressure <= rows[start].pressure - 12:
                    break
            high, deep = rows[start], rows[end]
            if end == start or deep.pressure > high.pressure - 12:
                start += 1
                continue
            wind = max(
                row.wind_speed for row in rows[start : end + 1] if row.wind_speed is not None
            )
            span = high.hour_local, deep.hour_local, end - start
            yield high.origin, *span, high.pressure, deep.pressure, rounded(wind, 1)
            start = end + 1


def not_rising(before: Any, after: Any) -> bool:
    if before.pressure is None or after.pressure is None:
        return False
    return bool(after.pressure <= before.pressure)


def storm_funnel() -> Iterator[Row]:
    for rows in weather():
        start = 0
        while start < len(rows):
            found = funnel_at(rows, start)
            if found is None:
                start += 1
                continue
            rain, clear = found
            fallen = math.fsum(row.precip for row in rows[rain:clear])
            times = rows[start + 2].hour_local, rows[rain].hour_local, rows[clear].hour_local
            yield rows[start].origin, *times, rain - start - 2, rounded(fallen, 2)
            start = clear + 1


def funnel_at(rows: list[Any], start: int) -> tuple[int, int] | None:
    """Positions of the rain and of the clear sky: the first pair, the rain's place coming first."""
    if not all(1 <= at < len(rows) and dropping(rows, at) for at in range(start, start + 3)):
        return None
    for rain in range(start + 3, min(start + 15, len(rows))):
        if rows[rain].precip >= 0.2:
            for clear in range(rain + 1, min(rain + 13, len(rows))):
                if clears(rows, clear):
                    return rain, clear
    return None


def dropping(rows: list[Any], at: int) -> bool:
    before, now = rows[at - 1].pressure, rows[at].pressure
    return before is not None and now is not None and now <= before - 0.5


def clears(rows: list[Any], at: int) -> bool:
    before, now = rows[at - 1], rows[at]
    if before.pressure is None or now.pressure is None:
        return False
    return bool(now.visib == 10 and now.precip == 0 and now.pressure > before.pressure)


def weather_calendar() -> Iterator[Row]:
    rows = [day for day in days()[1] if day.day.month == 7]
    assert rows[0].origin == "JFK"
    at = 0
    while at < len(rows):
        hot = length(rows, at, lambda day: day.high >= 85)
        wet = length(rows, at, lambda day: day.rain >= 0.05)
        kind, count = ("hot", hot) if hot >= 2 else ("wet", wet) if wet >= 2 else ("neither", 1)
        for place, day in enumerate(rows[at : at + count], start=1):
            number = None if kind == "neither" else place
            yield day.day, day.high, rounded(day.rain, 2), kind, number
        at += count


def length(rows: list[Day], at: int, holds: Callable[[Day], bool]) -> int:
    """How many rows from `at` on hold."""
    end = at
    while end < len(rows) and holds(rows[end]):
        end += 1
    return end - at


def storm_delays() -> Iterator[Row]:
    flights: dict[Row, list[Any]] = defaultdict(list)
    for row in table("flights"):
        hour = row.scheduled.replace(minute=0)
        flights[row.origin, hour].append(row)
    for rows in weather():
        for bad, group in groupby(rows, lambda row: row.visib < 5 or row.precip >= 0.1):
            hours = [row.hour_local for row in group]
            if bad and len(hours) >= 3:
                yield from spell_delays(rows[0].origin, hours, flights)


def spell_delays(origin: str, hours: list[Any], flights: dict[Row, list[Any]]) -> Iterator[Row]:
    span = int((hours[-1] - hours[0]) / timedelta(hours=1)) + 1
    clock = [hours[0] + timedelta(hours=hour) for hour in range(span)]
    hit = [flight for hour in clock for flight in flights[origin, hour]]
    delays = [flight.dep_delay for flight in hit if flight.dep_delay is not None]
    if hit:
        average = rounded(sum(delays) / len(delays))
        yield origin, hours[0], len(hours), len(hit), average, len(hit) - len(delays)
