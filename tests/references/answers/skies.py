"""Compute the rows of the examples on hourly weather."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from tests.references.answers.tables import (
    Row,
    read_data_file,
    round_half_up,
    split_into_partitions,
)


def read_weather() -> list[Any]:
    """Return a list of hours for each airport."""
    return split_into_partitions(
        read_data_file("weather"), lambda row: row.origin, lambda row: row.hour_utc
    )


class Day(NamedTuple):
    """A day at one airport."""

    origin: str
    day: date
    high: float
    rain: float


def read_days() -> list[list[Day]]:
    """Return a list of days for each airport."""
    result = []
    for hours in read_weather():
        by_day = groupby(hours, key=lambda row: row.hour_local.date())
        result.append([summarize_day(day, list(group)) for day, group in by_day])
    return result


def summarize_day(day: date, hours: list[Any]) -> Day:
    """Return the highest temperature and the rain of a day."""
    temperatures = [hour.temp for hour in hours if hour.temp is not None]
    return Day(hours[0].origin, day, max(temperatures), math.fsum(hour.precip for hour in hours))


def heat_waves() -> Iterator[Row]:
    """Yield three or more days in a row with 90 degrees or more."""
    for rows in read_days():
        for _, wave in groupby(
            enumerate(find_hot_days(rows)), lambda item: item[1].day.toordinal() - item[0]
        ):
            wave_days = [day for _, day in wave]
            if len(wave_days) >= 3:
                first = wave_days[0]
                last = wave_days[-1]
                hottest = max(day.high for day in wave_days)
                yield first.origin, first.day, last.day, len(wave_days), hottest


def find_hot_days(rows: list[Day]) -> list[Day]:
    """Return the days with 90 degrees or more."""
    return [day for day in rows if day.high >= 90]


def dry_spells() -> Iterator[Row]:
    """Yield ten or more days in a row without rain."""
    for rows in read_days():
        wet = [-1, *(index for index, day in enumerate(rows) if day.rain > 0), len(rows)]
        for before, after in pairwise(wet):
            if after - before - 1 >= 10:
                rain = round_half_up(rows[after].rain, 2) if after < len(rows) else None
                yield rows[0].origin, rows[before + 1].day, after - before - 1, rain


def pressure_drops() -> Iterator[Row]:
    """Yield falls of the pressure by 12 or more, hour after hour."""
    for rows in read_weather():
        start = 0
        while start < len(rows):
            end = start
            while end + 1 < len(rows) and is_not_rising(rows[end], rows[end + 1]):
                end += 1
                if rows[end].pressure <= rows[start].pressure - 12:
                    break
            high = rows[start]
            deep = rows[end]
            if end == start or deep.pressure > high.pressure - 12:
                start += 1
                continue
            wind = max(
                row.wind_speed for row in rows[start : end + 1] if row.wind_speed is not None
            )
            span = high.hour_local, deep.hour_local, end - start
            yield high.origin, *span, high.pressure, deep.pressure, round_half_up(wind, 1)
            start = end + 1


def is_not_rising(before: Any, after: Any) -> bool:
    """Return whether the pressure is known in both hours and does not rise."""
    if before.pressure is None or after.pressure is None:
        return False
    return bool(after.pressure <= before.pressure)


def storm_funnel() -> Iterator[Row]:
    """Yield falls of the pressure over three hours, then rain within 12 hours, then a clear sky."""
    for rows in read_weather():
        start = 0
        while start < len(rows):
            positions = find_rain_and_clear_sky(rows, start)
            if positions is None:
                start += 1
                continue
            rain, clear = positions
            rainfall = math.fsum(row.precip for row in rows[rain:clear])
            times = rows[start + 2].hour_local, rows[rain].hour_local, rows[clear].hour_local
            yield rows[start].origin, *times, rain - start - 2, round_half_up(rainfall, 2)
            start = clear + 1


def find_rain_and_clear_sky(rows: list[Any], start: int) -> tuple[int, int] | None:
    """Return the positions of the first rain and of the clear sky after it.

    None if the pressure does not fall in three hours from `start` on, or if no rain and clear sky
    follow soon enough.
    """
    hours = range(start, start + 3)
    if not all(1 <= hour < len(rows) and is_falling(rows, hour) for hour in hours):
        return None
    for rain in range(start + 3, min(start + 15, len(rows))):
        if rows[rain].precip >= 0.2:
            for clear in range(rain + 1, min(rain + 13, len(rows))):
                if is_clear(rows, clear):
                    return rain, clear
    return None


def is_falling(rows: list[Any], hour: int) -> bool:
    """Return whether the pressure falls by 0.5 or more from the hour before."""
    before = rows[hour - 1].pressure
    now = rows[hour].pressure
    return before is not None and now is not None and now <= before - 0.5


def is_clear(rows: list[Any], hour: int) -> bool:
    """Return whether the sky is clear and the pressure rises."""
    before = rows[hour - 1]
    now = rows[hour]
    if before.pressure is None or now.pressure is None:
        return False
    return bool(now.visib == 10 and now.precip == 0 and now.pressure > before.pressure)


def weather_calendar() -> Iterator[Row]:
    """Yield the days of July at one airport, each with the hot or wet spell that it belongs to."""
    rows = [day for day in read_days()[1] if day.day.month == 7]
    assert rows[0].origin == "JFK"
    start = 0
    while start < len(rows):
        hot = count_days(rows, start, lambda day: day.high >= 85)
        wet = count_days(rows, start, lambda day: day.rain >= 0.05)
        kind, count = ("hot", hot) if hot >= 2 else ("wet", wet) if wet >= 2 else ("neither", 1)
        for number_in_spell, day in enumerate(rows[start : start + count], start=1):
            number = None if kind == "neither" else number_in_spell
            yield day.day, day.high, round_half_up(day.rain, 2), kind, number
        start += count


def count_days(rows: list[Day], start: int, holds: Callable[[Day], bool]) -> int:
    """Return for how many days in a row, from `start` on, a condition holds."""
    end = start
    while end < len(rows) and holds(rows[end]):
        end += 1
    return end - start


def storm_delays() -> Iterator[Row]:
    """Yield three or more hours of bad weather with the departures in them."""
    flights: dict[Row, list[Any]] = defaultdict(list)
    for row in read_data_file("flights"):
        hour = row.scheduled.replace(minute=0)
        flights[row.origin, hour].append(row)
    for rows in read_weather():
        for is_bad, group in groupby(rows, lambda row: row.visib < 5 or row.precip >= 0.1):
            hours = [row.hour_local for row in group]
            if is_bad and len(hours) >= 3:
                yield from summarize_delays(rows[0].origin, hours, flights)


def summarize_delays(origin: str, hours: list[Any], flights: dict[Row, list[Any]]) -> Iterator[Row]:
    """Yield the row for some hours of bad weather, unless there were no departures."""
    span = int((hours[-1] - hours[0]) / timedelta(hours=1)) + 1
    clock = [hours[0] + timedelta(hours=hour) for hour in range(span)]
    departures = [flight for hour in clock for flight in flights[origin, hour]]
    delays = [flight.dep_delay for flight in departures if flight.dep_delay is not None]
    if departures:
        average = round_half_up(sum(delays) / len(delays))
        yield origin, hours[0], len(hours), len(departures), average, len(departures) - len(delays)
