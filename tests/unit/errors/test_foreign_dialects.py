"""Each dialect that a message suggests understands the function of the message."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from sqlglot import Dialect

from matchrec.dialects.products import PRODUCTS, SPARK
from matchrec.dialects.translate import translate_query
from matchrec.errors.sql.foreign_names import find_function_hint, read_foreign_functions

ARGUMENTS = ("x", "x, y", "s, 'x'", "'%Y', s", "x, y, x", "1, 2, 3, 4, 5, 6", "")
SPARK_FUNCTIONS = {"DATEADD", "RLIKE", "TIMESTAMPADD"}
CLAUSE = (
    "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES {} AS m PATTERN (A) DEFINE A AS TRUE)"
)


def list_advised() -> Iterator[tuple[str, str]]:
    """Yield the dialect and the name of each function whose message suggests a dialect."""
    products = [product for product in PRODUCTS if product not in ("flink", "azure", "standard")]
    dialects = (Dialect.get_or_raise(PRODUCTS[product].sqlglot_dialect) for product in products)
    dialect_functions = {name for dialect in dialects for name in dialect.parser_class.FUNCTIONS}
    hinted_functions = {name for name in read_foreign_functions() if "(" not in name}
    for name in sorted((dialect_functions | hinted_functions) - SPARK_FUNCTIONS):
        if match := re.search('dialect="(\\w+)"', find_function_hint(name) or ""):
            yield match[1], name


NAMED = list(list_advised())


def test_a_function_of_one_product_names_its_dialect() -> None:
    for pair in (("snowflake", "IFF"), ("bigquery", "FORMAT_DATE"), ("trino", "DATE_PARSE")):
        assert pair in NAMED


@pytest.mark.parametrize(("dialect", "name"), NAMED)
def test_the_dialect_reads_the_name(dialect: str, name: str) -> None:
    calls = [f"{name}({arguments})" for arguments in ARGUMENTS]
    texts = [f"SELECT {call} FROM t" for call in [*calls, name]]
    texts += [CLAUSE.format(call) for call in calls]
    assert any(not re.search(rf"\b{name}\b", translate_text(text, dialect)) for text in texts)


def translate_text(text: str, dialect: str) -> str:
    """Return the text as Spark SQL; itself where the dialect has no such arguments."""
    try:
        return translate_query(text, PRODUCTS[dialect], SPARK).text.upper()
    except (ValueError, IndexError, AttributeError):
        return text
