"""Functions and operators that Spark spells or counts otherwise, with the values of their product.

`functions/PRODUCT.txt` has a line each, `expression => value`, where `-` is NULL. The values are by
the pages of the product; those of Trino were asked of a live server, too.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import shown

pytestmark = pytest.mark.one_of(2)

FUNCTIONS = Path(__file__).parent / "functions"
PRODUCTS = sorted(path.stem for path in FUNCTIONS.glob("*.txt"))


def functions(product: str) -> list[tuple[str, str]]:
    """The expressions of a product, each with its value."""
    lines = (FUNCTIONS / f"{product}.txt").read_text(encoding="utf-8").splitlines()
    return [
        (text, value.removeprefix(" "))
        for text, _, value in (one.partition(" =>") for one in lines)
    ]


@pytest.mark.parametrize("product", PRODUCTS)
def test_values_are_those_of_the_product(spark: SparkSession, product: str) -> None:
    found = functions(product)
    items = ",\n".join(f"{text} AS v{number}" for number, (text, _) in enumerate(found))
    row = matchrec.sql(spark, f"SELECT {items}", dialect=product).first()
    assert row is not None
    values = ["-" if value is None else str(shown(value)) for value in row]
    assert [*zip(map(str, dict(found)), values, strict=True)] == found
