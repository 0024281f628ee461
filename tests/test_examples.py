"""Each query in sql_examples returns what plain loops over the same data find."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.references.answers import ANSWERS

pytestmark = pytest.mark.one_of(2)

EXAMPLES = Path(__file__).parent.parent / "sql_examples"
QUERIES = sorted(EXAMPLES.glob("*.sql"))
DATA = sorted(path for path in (EXAMPLES / "data").iterdir() if path.suffix != ".md")


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield a session with a view for each data file, named like the file."""
    for path in DATA:
        reader = spark.read.options(header=True, inferSchema=True)
        frame = reader.csv(str(path)) if path.suffix == ".csv" else reader.parquet(str(path))
        frame.createOrReplaceTempView(path.stem)
    yield spark
    for path in DATA:
        spark.catalog.dropTempView(path.stem)


def make_rows_comparable(rows: Iterator[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows in an order that depends on their values only, with numbers of one type."""
    return sorted((tuple(map(make_comparable, row)) for row in rows), key=repr)


def make_comparable(value: Any) -> Any:
    """Return a number as a rounded float, so that equal numbers of several types are equal."""
    return round(float(value), 6) if isinstance(value, (int, float, Decimal)) else value


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_example_returns_what_plain_loops_find(path: Path, tables: SparkSession) -> None:
    result = matchrec.sql(tables, path.read_text(encoding="utf-8")).collect()
    expected = make_rows_comparable(ANSWERS[path.stem]())
    assert expected, "an example that finds nothing shows nothing"
    assert make_rows_comparable(tuple(row) for row in result) == expected


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_example_says_first_what_it_finds(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("-- ")
    assert len(first) > 40


def test_every_answer_has_an_example() -> None:
    assert set(ANSWERS) == {path.stem for path in QUERIES}


def test_index_lists_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = [line.split("](")[1].split(")")[0] for line in index.splitlines() if "| [" in line]
    assert sorted(listed) == [path.name for path in QUERIES]


def test_every_data_file_has_its_source_and_stays_small() -> None:
    source = (EXAMPLES / "data" / "README.md").read_text(encoding="utf-8")
    for path in DATA:
        assert f"## {path.name}" in source
    assert sum(path.stat().st_size for path in DATA) < 5_000_000
