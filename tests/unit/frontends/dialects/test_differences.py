"""The table of differences: each page of docs/how-to/migration shows the rows of its product."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from matchrec.frontends.dialects.differences import Difference, table
from matchrec.frontends.dialects.products import PRODUCTS

PAGES = Path(__file__).parents[4] / "docs" / "how-to" / "migration"
TITLE = "## Warned of and refused\n"
HEAD = """
sqlglot translates these, and its translation gives other rows in Spark, or an error.

| there | answer | why | write |
|---|---|---|---|
"""


def section(product: str) -> str:
    """The rows of a product as a page has them."""
    rows = (row for row in table() if row.products & {product, "others"})
    return TITLE + HEAD + "".join(map(line, rows)) + "\n"


def line(row: Difference) -> str:
    name = f"`{row.name}`".replace("|", r"\|")
    least = row.counts.start
    if len(row.counts) == 1:
        name += f" of {least} arguments"
    elif least:
        name += f" of {least} arguments or more"
    elif row.where:
        name += " in some forms"
    cells = (name, "refused" if row.is_refused else "warned", row.sentence, row.cure)
    escaped = (re.sub(r"([|*])", r"\\\1", cell) for cell in cells[2:])
    return f"| {' | '.join([*cells[:2], *escaped])} |\n".replace("  |", " |")


@pytest.mark.parametrize("product", ["azure", "bigquery", "flink", "oracle", "snowflake", "trino"])
def test_the_page_of_a_product_has_its_rows(product: str, request: pytest.FixtureRequest) -> None:
    path = PAGES / f"{product}.md"
    text = path.read_text(encoding="utf-8")
    start = text.index(TITLE)
    end = text.index("\n## ", start) + 1
    if request.config.getoption("--update"):
        path.write_text(text[:start] + section(product) + text[end:], encoding="utf-8")
    assert text[start:end] == section(product)


def test_the_rows_are_of_products() -> None:
    names = {*PRODUCTS, "others"}
    for row in table():
        assert {one.rpartition(">")[2] for one in row.products} <= names
        assert row.sentence
