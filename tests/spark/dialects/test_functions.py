"""Functions and operators of other products have the right value, a warning or an error.

A line of `functions/PRODUCT.txt` is `expression => value`, where `-` is NULL, or a whole query.
Instead of a value, `warned` and `refused` mean a warning or an error, and `right` a query with
neither. The values are from the pages of the product; those of Trino were also checked on a live
server.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.dialects.differences import find_differences, read_differences
from matchrec.dialects.product_tokens import read_product_tokens
from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_query
from tests.spark.dialects.documented import show_value

FUNCTIONS = Path(__file__).parent / "functions"
NAMES = sorted(path.stem for path in FUNCTIONS.glob("*.txt"))
ANSWERS = ("warned", "refused", "right")


@cache
def list_functions(product: str) -> list[tuple[str, str]]:
    """Return the expressions and queries of a product, each with its value or answer."""
    lines = (FUNCTIONS / f"{product}.txt").read_text(encoding="utf-8").splitlines()
    return [
        (text, value.removeprefix(" "))
        for text, _, value in (line.rpartition(" =>") for line in lines)
    ]


def write_query(text: str) -> str:
    """Return a query of an expression; a text that is a query stays as it is."""
    return text if text.startswith("SELECT ") else f"SELECT {text} AS v"


def classify_translation(product: str, text: str) -> str:
    """Return `refused`, `warned` or `right` for the translation of a text."""
    try:
        translation = translate_query(write_query(text), PRODUCTS[product], PRODUCTS["spark"])
    except matchrec.MatchRecognizeUnsupportedError:
        return "refused"
    return "warned" if translation.notes else "right"


@pytest.mark.one_of(2)
@pytest.mark.parametrize("product", NAMES)
def test_values_are_those_of_the_product(spark: SparkSession, product: str) -> None:
    functions = [function for function in list_functions(product) if function[1] not in ANSWERS]
    items = ",\n".join(f"{text} AS v{number}" for number, (text, _) in enumerate(functions))
    row = matchrec.sql(spark, f"SELECT {items}", dialect=product).first()
    assert row is not None
    values = ["-" if value is None else str(show_value(value)) for value in row]
    wrong = [
        (text, expected, value)
        for (text, expected), value in zip(functions, values, strict=True)
        if expected != value
    ]
    assert not wrong


@pytest.mark.parametrize("product", NAMES)
def test_functions_with_other_values_are_warned_of_or_rejected(product: str) -> None:
    answers = [
        (text, value if value in ANSWERS else "right") for text, value in list_functions(product)
    ]
    assert [(text, classify_translation(product, text)) for text, _ in answers] == answers


def test_each_row_of_the_table_has_a_text() -> None:
    used_rows = set()
    for name in NAMES:
        product = PRODUCTS[name]
        for text, _ in list_functions(name):
            tokens = read_product_tokens(write_query(text), product)
            used_rows |= {
                id(row) for row, _ in find_differences(tokens, product, PRODUCTS["spark"])
            }
    rows = [
        row
        for row in read_differences()
        if not any(">" in product_name for product_name in row.products)
    ]
    assert [row for row in rows if id(row) not in used_rows] == []


def test_the_message_has_a_location_and_a_hint() -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES TIME_SLICE(x, 2, 'DAY') AS m PATTERN (A))"
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError) as raised:
        translate_query(query, PRODUCTS["snowflake"], PRODUCTS["spark"])
    assert str(raised.value).splitlines() == [
        "Spark SQL has no equivalent of this TIME_SLICE [no-equivalent-in-product]",
        "  line 1, column 43",
        f"      {query}",
        f"      {' ' * 42}{'^' * 23}",
        "  note: Spark has no TIME_SLICE",
        "  help: write DATE_TRUNC",
    ]
