"""Each documented example returns the rows on its page. `documented.py` explains the format."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import matchrec
from tests.cases.test_queries import write_table
from tests.spark.dialects.documented import (
    RULES,
    Example,
    list_examples,
    list_products,
    make_tables,
    read_pages,
    show_value,
)

pytestmark = pytest.mark.one_of(16)

ALL = list(list_examples())
EXAMPLES_PAGE = Path(__file__).parents[3] / "docs" / "contributing" / "documented_examples.md"


@pytest.mark.filterwarnings("ignore::matchrec.warnings.EmptyMatchesWarning")
@pytest.mark.filterwarnings("ignore::matchrec.warnings.ReluctantEndWarning")
@pytest.mark.parametrize("example", ALL, ids=str)
def test_documented_queries_give_their_documented_rows(
    spark: SparkSession, example: Example
) -> None:
    make_tables(spark, example.product)
    record = example.record
    if message := record.head.note_of("refused"):
        raised = pytest.raises((matchrec.MatchRecognizeError, AnalysisException), match=message)
        with warnings.catch_warnings(), raised:
            warnings.simplefilter("ignore")
            matchrec.sql(spark, record.sql, example.args, dialect=example.product)
        return
    with warnings.catch_warnings():
        if message := record.head.note_of("warns"):
            warnings.filterwarnings("ignore", f".*{message}")
        frame = matchrec.sql(spark, record.sql, example.args, dialect=example.product)
    rows = [tuple(map(show_value, row)) for row in frame.collect()]
    assert [name.upper() for name in frame.columns] == [name.upper() for name in record.columns]
    if Counter(rows) != Counter(record.rows):
        assert write_table(record.columns, rows) == write_table(record.columns, list(record.rows))


def test_each_example_has_its_own_page_and_title() -> None:
    for name in list_products():
        examples = [example for example in ALL if example.product == name]
        assert {example.page for example in examples} - {RULES} == set(read_pages(name))
        assert len({str(example) for example in examples}) == len(examples)


def test_the_documentation_counts_the_examples() -> None:
    counted = Counter(example.product for example in ALL if example.page != RULES)
    rows = re.findall(
        r"^\| `(\w+)` \| (\d+) \|", EXAMPLES_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {name: int(count) for name, count in rows} == counted
