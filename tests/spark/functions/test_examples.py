"""Parse the examples in Spark's own documentation of its functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

from matchrec.plan.expression import render
from matchrec.plan.show import show_reference
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.function_names import AGGREGATES, FUNCTIONS_OF_MATCH, WINDOW_ONLY
from matchrec.syntax.tokenize import read_tokens

pytestmark = pytest.mark.night  # a query for each function of Spark

EXAMPLE = re.compile(r">\s*SELECT (.*?);\s*\n", re.DOTALL)
QUERY_SYNTAX = re.compile(
    r"\b(?:FROM \w+|OVER|LATERAL|WHERE|SELECT)\b|\bAS \w+\s*(?:,|$)", re.IGNORECASE
)
NOT_SCALAR = AGGREGATES | FUNCTIONS_OF_MATCH | WINDOW_ONLY


def find_examples(spark: SparkSession) -> Iterator[str]:
    """Yield the scalar expressions in the descriptions of all functions."""
    for (name,) in spark.sql("SHOW FUNCTIONS").collect():
        if name.upper() not in NOT_SCALAR:
            rows = spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect()
            for text in EXAMPLE.findall("\n".join(row[0] for row in rows)):
                if not QUERY_SYNTAX.search(text) and is_one_expression(text):
                    yield text.strip()


def is_one_expression(text: str) -> bool:
    """Return whether Spark parses a text as one expression without an alias."""
    try:
        expr(f"({text})")
    except ParseException:
        return False
    return True


def test_every_example_is_read_and_stays_as_it_is_written(spark: SparkSession) -> None:
    texts = list(find_examples(spark))
    scope = Scope(ClausePart.MEASURES)
    for text in texts:
        assert render(parse_scalar(read_tokens(text), scope), show_reference) == text
    assert len(texts) > 700
