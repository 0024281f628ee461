"""docs/how-to/migration/window_functions.md says things in two ways: both give the same rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.pages.blocks import read_blocks

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "migration" / "window_functions.md"
DAY = timedelta(days=1)
BEGINNING = datetime(2024, 1, 1)

Rows = list[tuple[Any, ...]]


def list_pairs() -> list[tuple[str, str]]:
    """Return the window SQL and the clause of each task: sql blocks with the same output."""
    queries = [block for block in read_blocks(PAGE) if block.language == "sql" and block.printed]
    return [
        (first.code, second.code)
        for first, second in pairwise(queries)
        if first.printed == second.printed
    ]


def draw_keys_and_times(
    generator: random.Random, step: timedelta
) -> Iterator[tuple[str, datetime]]:
    """Draw keys and times. Each key has a time at most once, and some times are missing."""
    for key in "XYZ":
        for at in range(400):
            if generator.random() < 0.9:
                yield key, BEGINNING + at * step


def flights(generator: random.Random) -> Rows:
    """Draw delays of flights."""
    delays = (200, 200, 200, 10, None)
    return [
        (key, at, 1, generator.choice(delays)) for key, at in draw_keys_and_times(generator, DAY)
    ]


def weather(generator: random.Random) -> Rows:
    """Draw temperatures of days."""
    highs = (91.0, 95.0, 80.0, None)
    return [(key, at, generator.choice(highs)) for key, at in draw_keys_and_times(generator, DAY)]


def stocks(generator: random.Random) -> Rows:
    """Draw prices that rise and fall for some days. Some stay the same or are missing."""
    rows: Rows = []
    step = 1
    price = 500.0
    for key, at in draw_keys_and_times(generator, DAY):
        step = -step if generator.random() < 0.15 else step
        price += 0 if generator.random() < 0.03 else step
        rows.append((key, at.date(), price if generator.random() < 0.98 else None))
    return rows


def glucose(generator: random.Random) -> Rows:
    """Return readings every five minutes. Some sessions are long enough to be printed."""
    times, at = [], BEGINNING
    for _ in range(20_000):
        at += timedelta(minutes=40 if generator.random() < 0.0008 else 5)
        times.append((at, 100))
    return times


def clicks(generator: random.Random) -> Rows:
    """Draw clicks on pages."""
    pages = ("product", "cart", "pay", "help")
    return [
        (key, at, generator.choice(pages))
        for key, at in draw_keys_and_times(generator, timedelta(minutes=3))
    ]


TABLES: dict[str, tuple[Callable[[random.Random], Rows], str]] = {
    "flights": (flights, "tailnum string, scheduled timestamp, flight int, dep_delay int"),
    "weather": (weather, "origin string, hour_local timestamp, temp double"),
    "glucose": (glucose, "measured_at timestamp, glucose int"),
    "stocks": (stocks, "ticker string, date date, close double"),
    "clicks": (clicks, "who string, at timestamp, page string"),
}


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield a session with random rows in the tables of the page."""
    for name, (rows, schema) in TABLES.items():
        drawn = rows(random.Random(name))
        spark.createDataFrame(drawn, schema).createOrReplaceTempView(name)
    yield spark
    for name in TABLES:
        spark.catalog.dropTempView(name)


def test_the_page_has_six_tasks() -> None:
    assert len(list_pairs()) == 6


@pytest.mark.slow
@pytest.mark.parametrize("pair", list_pairs())
def test_both_return_the_same_random_rows(pair: tuple[str, str], tables: SparkSession) -> None:
    window, clause = (matchrec.sql(tables, query).collect() for query in pair)
    assert window, "rows that no query finds show nothing"
    assert sorted(map(tuple, window)) == sorted(map(tuple, clause))
