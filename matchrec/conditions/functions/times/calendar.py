"""Days, months and years of the Gregorian calendar, for all of time; Python's dates end with 9999.

A day is counted from 1970-01-01. Source: Spark's dates are those of ISO 8601, also before 1582.
"""

from __future__ import annotations

DAYS_OF_400_YEARS = 146_097
DAYS_BEFORE_1970 = 719_468  # from 0000-03-01, with which a year ends with its leap day
DAY = 86_400_000_000  # in microseconds
SECOND = 1_000_000

MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip
WEEK_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def day_of(year: int, month: int, day: int) -> int:
    """The day of a date."""
    months = year * 12 + month - 3  # since the March of year 0
    era, year_of_era = divmod(months // 12, 400)
    month_of_year = months % 12
    within = (153 * month_of_year + 2) // 5 + day - 1
    leap = year_of_era // 4 - year_of_era // 100
    return era * DAYS_OF_400_YEARS + year_of_era * 365 + leap + within - DAYS_BEFORE_1970


def date_of(day: int) -> tuple[int, int, int]:
    """The year, month and day of a day."""
    era, within = divmod(day + DAYS_BEFORE_1970, DAYS_OF_400_YEARS)
    year = (within - within // 1460 + within // 36_524 - within // 146_096) // 365
    rest = within - (365 * year + year // 4 - year // 100)
    month = (5 * rest + 2) // 153
    first = (153 * month + 2) // 5
    return era * 400 + year + (month >= 10), (month + 2) % 12 + 1, rest - first + 1


def length_of_month(year: int, month: int) -> int:
    """How many days a month has."""
    return day_of(year + month // 12, month % 12 + 1, 1) - day_of(year, month, 1)


def add_months(day: int, months: int) -> int:
    """The same day of another month, or its last one."""
    year, month, of_month = date_of(day)
    year, month = divmod(year * 12 + month - 1 + months, 12)
    return day_of(year, month + 1, min(of_month, length_of_month(year, month + 1)))


def months_of(day: int) -> int:
    """How many months lie between year 0 and that of a day."""
    year, month, _ = date_of(day)
    return year * 12 + month - 1


def day_of_year(day: int) -> int:
    """From 1."""
    return day - day_of(date_of(day)[0], 1, 1) + 1


def week_day(day: int) -> int:
    """Monday is 0."""
    return (day + 3) % 7


def iso_week(day: int) -> tuple[int, int]:
    """The year and the number of the week, of which the year has the Thursday."""
    thursday = day - week_day(day) + 3
    return date_of(thursday)[0], (day_of_year(thursday) - 1) // 7 + 1


def show_day(day: int) -> str:
    """The day as Spark writes it."""
    year, month, of_month = date_of(day)
    return f"{show_year(year)}-{month:02d}-{of_month:02d}"


def show_year(year: int) -> str:
    """At least four digits, with a sign where there are more, or before year 0."""
    if year < 0:
        return f"-{-year:04d}"
    return f"{year:04d}" if year <= 9999 else f"+{year}"


def show_time(microseconds: int) -> str:
    """A local time as Spark writes it: no more of the fraction than there is."""
    day, within = divmod(microseconds, DAY)
    seconds, fraction = divmod(within, SECOND)
    minutes, second = divmod(seconds, 60)
    text = f"{show_day(day)} {minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") if fraction else text
