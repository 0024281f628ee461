"""The incremental model of docs/how-to/dbt.md finds, in several runs, what one search finds.

dbt itself does not run here: `render` does the little that the model needs of it. See
tests/live/dbt_check.py for the whole project.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.pages.blocks import read_files

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "dbt.md"
MODELS = read_files(PAGE)
SHARES = ("X", "Y", "Z", None)

# A share, a day and a price.
Tick = tuple[str | None, int, int | None]
# A share, the last day of a fall and its lowest price.
Fall = tuple[str | None, int, int]


def render(model: str, *, is_incremental: bool) -> str:
    """Return the SQL of a model, as dbt would render it, over the views `ticks` and `found`."""
    text = re.sub(r"\{\{ config\(.*?\) \}\}", "", MODELS[f"models/{model}.sql"])
    kept = r"\1" if is_incremental else ""
    text = re.sub(r"\{% if is_incremental\(\) %\}(.*?)\{% endif %\}", kept, text, flags=re.S)
    text = text.replace("{{ ref('ticks') }}", "ticks").replace("{{ this }}", "found")
    assert re.search(r"\{[{%]", text) is None
    return text


def search(
    spark: SparkSession, model: str, ticks: list[Tick], found: list[Fall] | None = None
) -> list[Fall]:
    """Return the rows that a run of a model finds.

    Args:
        spark: the session.
        model: the name of the model.
        ticks: the rows of its input.
        found: the rows of its table, maybe none; None in the first run, which has no table.
    """
    spark.createDataFrame(ticks, "sym string, day int, price int").createOrReplaceTempView("ticks")
    table = spark.createDataFrame(found or [], "sym string, last_day int, low int")
    table.createOrReplaceTempView("found")
    text = render(model, is_incremental=found is not None)
    return [tuple(row) for row in matchrec.sql(spark, text).collect()]


def has_ended(fall: Fall, ticks: list[Tick]) -> bool:
    """Return whether its share has a row after a fall."""
    return any(share == fall[0] and day > fall[1] for share, day, _ in ticks)


def sort(falls: list[Fall]) -> list[Fall]:
    return sorted(falls, key=lambda fall: (str(fall[0]), *fall[1:]))


def make_ticks(numbers: random.Random) -> list[Tick]:
    """Return the prices of all shares by day. Days may be missing, and prices may be NULL."""
    prices = (None, *range(6))
    return [
        (share, day, numbers.choice(prices))
        for day in range(14)
        for share in SHARES
        if numbers.random() < 0.8
    ]


@pytest.mark.parametrize("seed", range(6))
def test_runs_of_the_incremental_model_find_each_ended_fall_once(
    spark: SparkSession, seed: int
) -> None:
    """After each run, its table has the falls of the model `falls`, except those that go on.

    Each share is known up to a day of its own, as if some shares arrived late.
    """
    numbers = random.Random(seed)
    ticks = make_ticks(numbers)
    known_until = dict.fromkeys(SHARES, 0)
    table: list[Fall] = []
    for run in range(4):
        for share in SHARES:
            known_until[share] += numbers.randrange(7)
        known = [tick for tick in ticks if tick[1] <= known_until[tick[0]]]
        table += search(spark, "ended_falls", known, table if run else None)
        all_falls = search(spark, "falls", known)
        assert sort(table) == sort([fall for fall in all_falls if has_ended(fall, known)])
    assert len(table) > 4  # otherwise the test would compare little


def test_a_fall_across_two_runs_is_found_though_another_share_has_matched_later(
    spark: SparkSession,
) -> None:
    x: list[Tick] = [("X", 1, 90), ("X", 2, 80), ("X", 3, 85)]
    y: list[Tick] = [("Y", 1, 10), ("Y", 2, 8), ("Y", 3, 4), ("Y", 4, 5)]
    first = search(spark, "ended_falls", x + y[:2])
    assert first == [("X", 2, 80)]
    assert search(spark, "ended_falls", x + y, first) == [("Y", 3, 4)]
