"""Fixtures: a folder with a query and its table, and commands that use the session of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.quick.embedded import commands_in

STREAKS = """
SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(price) AS low, LAST(price) AS high, COUNT(*) AS n
  PATTERN (A UP+) DEFINE UP AS price > PREV(price))
"""
PRICES = "sym,ts,price\nX,1,10\nX,2,11\nX,3,12\nY,1,5\nY,2,4\nY,3,9\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder, in which the test runs."""
    (tmp_path / "streaks.sql").write_text(STREAKS)
    (tmp_path / "prices.csv").write_text(PRICES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def embedded(spark: SparkSession, files: Path) -> Iterator[Path]:
    """Yield the folder of `files`, where commands run in the session of the tests."""
    with commands_in(spark):
        yield files


def list_names(folder: Path) -> list[str]:
    """Return the names of the files in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())
