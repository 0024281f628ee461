"""docs/reference/dialect_differences.md shows all rows of differences.txt and limits.txt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matchrec import dialects
from matchrec.dialects.differences import Difference, read_differences
from matchrec.dialects.products import PRODUCTS
from matchrec.source import read_package_table

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "dialect_differences.md"
SOURCE = Path(dialects.__file__).parent / "differences.txt"
# The products whose queries are read, and their titles in the page.
READ = {
    "oracle": "Oracle",
    "trino": "Trino",
    "snowflake": "Snowflake",
    "flink": "Flink",
    "bigquery": "BigQuery",
    "azure": "Azure",
}
# The products whose SQL is written, and their titles in the page.
WRITTEN = {
    "oracle": "Oracle",
    "trino": "Trino",
    "snowflake": "Snowflake",
    "flink": "Flink",
    "bigquery": "BigQuery",
    "databricks": "Databricks",
    "standard": "standard",
}


def write_differences() -> str:
    """Return a table for each topic of differences.txt, with a column for each product."""
    text = ""
    for topic, rows in read_topics():
        lines = "".join(write_topic_lines(rows))
        titles = write_head("in the query", "what differs", "write", names=READ)
        text += f"\n### {topic}\n\n{titles}{lines}"
    return text + "\n"


def read_topics() -> Iterator[tuple[str, list[Difference]]]:
    """Yield each comment of one line in differences.txt and the rows below it that are read."""
    rows = iter(read_differences())
    topic = ""
    differences: list[Difference] = []
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            if differences:
                yield topic.capitalize(), differences
            topic = line.removeprefix("# ")
            differences = []
        elif line:
            row = next(rows)
            if not any(">" in product for product in row.products):
                differences.append(row)
    if differences:
        yield topic.capitalize(), differences


def write_topic_lines(rows: list[Difference]) -> Iterator[str]:
    """Yield a line for the rows that have all in common except the name of the function."""
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for row in rows:
        groups.setdefault(
            (row.products, row.is_rejected, row.sentence, row.replacement), []
        ).append(row)
    for group in groups.values():
        first = group[0]
        names = ", ".join(dict.fromkeys(map(describe_calls, group)))
        mark = "error" if first.is_rejected else "warning"
        marks = [mark if first.products & {product, "others"} else "" for product in READ]
        escaped = [re.sub(r"([|*])", r"\\\1", cell) for cell in (first.sentence, first.replacement)]
        yield write_line(names, *escaped, *marks)


def describe_calls(row: Difference) -> str:
    """Return the function or the words of a row, and which calls are meant."""
    if row.form:
        return row.form
    name = f"`{row.name}`".replace("|", r"\|")
    least = row.argument_counts.start
    if len(row.argument_counts) == 1:
        return f"{name} with {least} argument{'s' if least > 1 else ''}"
    if least:
        return f"{name} with {least} or more arguments"
    return name


def write_limits() -> str:
    """Return the table of the parts of a clause that products lack."""
    text = "\n" + write_head("the query has", "write", names=WRITTEN)
    for _, words, products, *replacement in read_package_table("matchrec.dialects", "limits.txt"):
        lacking = products.split()
        marks = [
            "error" if name in lacking else "note" if f"({name})" in lacking else ""
            for name in WRITTEN
        ]
        text += write_line(words.replace("|", r"\|"), "".join(replacement), *marks)
    return text + "\n"


def write_head(*titles: str, names: dict[str, str]) -> str:
    """Return the first two lines of a Markdown table."""
    columns = [*titles, *names.values()]
    return write_line(*columns) + f"|{'---|' * len(titles)}{':-:|' * len(names)}\n"


def write_line(*cells: str) -> str:
    """Return a line of a Markdown table."""
    return re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cells)} |\n")


@pytest.mark.parametrize(
    ("mark", "write_rows"), [("differences", write_differences), ("limits", write_limits)]
)
def test_the_page_has_the_rows(
    mark: str, write_rows: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    begin = f"<!-- {mark} -->\n"
    end = f"<!-- end {mark} -->\n"
    text = PAGE.read_text(encoding="utf-8")
    before, _, after_begin = text.partition(begin)
    old, _, after_end = after_begin.partition(end)
    new = write_rows()
    if request.config.getoption("--update"):
        PAGE.write_text(f"{before}{begin}{new}{end}{after_end}", encoding="utf-8")
        old = new
    assert old == new


def test_the_rows_are_of_products() -> None:
    names = {*PRODUCTS, "others"}
    for row in read_differences():
        assert {product.rpartition(">")[2] for product in row.products} <= names
        assert row.sentence


def test_the_page_says_which_form_is_meant() -> None:
    """A row that is about some calls only says which, so that readers can recognise them."""
    read = [row for row in read_differences() if not any(">" in name for name in row.products)]
    assert [row.name for row in read if row.required_text and not row.form] == []
