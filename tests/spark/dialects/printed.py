"""Results as the products' clients print them: a line of column names, then a line for each row."""

from __future__ import annotations

from pyspark.sql import Row, SparkSession

import matchrec


def answer(spark: SparkSession, query: str, dialect: str, **args: object) -> list[list[str]]:
    """The columns and the rows of a query."""
    found = matchrec.sql(spark, query, args or None, dialect=dialect)
    return [found.columns, *([shown(value) for value in row] for row in found.collect())]


def shown(value: object) -> str:
    """A value as it is printed."""
    if isinstance(value, Row):
        return f"{{{', '.join(map(shown, value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return "NULL" if value is None else str(value)


def table(text: str) -> list[list[str]]:
    """A printed table: values between bars, without the lines of dashes."""
    lines = [line.strip().strip("|") for line in text.strip().splitlines()]
    return [
        [v.strip() for v in line.split("|")] for line in lines if not line.startswith(("-", "+"))
    ]


def folded(rows: list[list[str]]) -> list[list[str]]:
    """The same with names of columns in upper case, as products print those without quotes."""
    return [[name.upper() for name in rows[0]], *rows[1:]]
