"""Documented examples of other systems: `examples/PRODUCT.test`, in the format of the case files.

A record begins with `query PAGE, SECTION`. Its query is as on the page, except for the names of
tables. The head of a file lists its pages, `# page PAGE: title`. The page `Rules` does not exist:
its queries are ours, for what a page says in words. The rows are as on the page, unless the note of
the record, or the head of the file, says that they were worked out by hand. A note can also have
the lines `# args: {"name": value}`, `# warns: words`, and `# refused: words`, where the rows are
those of the product.

    MATCHREC_EXAMPLES=1 pytest --collect-only -q tests/spark/dialects/test_documented.py
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import matchrec
from tests.cases.case_file import CaseFile, QueryRecord, read_case_file
from tests.cases.test_queries import register_tables, write_value

EXAMPLES = Path(__file__).parent / "examples"
RULES = "Rules"


@dataclass(frozen=True, slots=True)
class Example:
    """A record of the file of a product."""

    product: str
    record: QueryRecord

    @property
    def page(self) -> str:
        """Return the page that has the example."""
        return self.record.head.rest.partition(",")[0]

    @property
    def args(self) -> dict[str, Any] | None:
        """Return the parameters of the query."""
        note = self.record.head.note_of("args")
        return ast.literal_eval(note) if note else None

    def __str__(self) -> str:
        return f"{self.product}: {self.record.head.rest}"


def list_products() -> list[str]:
    """Return the products that have a file of examples."""
    return sorted(path.stem for path in EXAMPLES.glob("*.test"))


def find_file(product: str) -> CaseFile:
    """Return the file of a product."""
    return read_case_file(EXAMPLES / f"{product}.test")


def list_examples() -> Iterator[Example]:
    """Yield all examples of all products."""
    for product in list_products():
        for record in find_file(product).queries:
            yield Example(product, record)


def read_pages(product: str) -> dict[str, str]:
    """Return the title of each page, by the name that records use."""
    return dict(re.findall(r"^# page ([^:\n]+): (.+)$", find_file(product).text, re.MULTILINE))


def make_tables(spark: SparkSession, product: str) -> None:
    """Create views of the tables in the file of a product."""
    register_tables(spark, find_file(product))


def show_value(value: Any) -> str | None:
    """Return a value as in a case file, a float with the ten digits that products print."""
    return f"{value:.10g}" if isinstance(value, float) else write_value(value)


def write_answer(spark: SparkSession, query: str, dialect: str) -> list[str]:
    """Return each row of a query as a line of text, with `-` for NULL."""
    rows = matchrec.sql(spark, query, dialect=dialect).collect()
    return [" ".join(show_value(value) or "-" for value in row) for row in rows]
