"""Queries pasted from documentation: their tables, and the rows that come out as lines."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import NamedTuple

from pyspark.sql import SparkSession

import matchrec


class Pasted(NamedTuple):
    """A query as its page prints it. rows: a line each, in any order."""

    source: str
    query: str
    rows: list[str]


class Table(NamedTuple):
    """A table: the names and types of its columns, and a line of values for each row."""

    name: str
    columns: str
    rows: Iterable[str]


def create(spark: SparkSession, tables: Iterable[Table]) -> None:
    """Makes views of tables; values are strings that Spark casts, and `-` is NULL."""
    for table in tables:
        columns = [column.strip().split(" ") for column in table.columns.split(",")]
        values = [tuple(line.split("|")) for line in table.rows]
        texts = spark.createDataFrame(values, ", ".join(f"{name} string" for name, _ in columns))
        casts = [f"CAST(NULLIF(TRIM({name}), '-') AS {type_}) AS {name}" for name, type_ in columns]
        texts.selectExpr(*casts).createOrReplaceTempView(table.name)


def answer(spark: SparkSession, query: str, dialect: str) -> list[str]:
    """The rows of a query, a line each."""
    found = matchrec.sql(spark, query, dialect=dialect).collect()
    return [" ".join(map(shown, row)) for row in found]


def shown(value: object) -> str:
    """A value as documentation would print it."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S")
    if isinstance(value, float):
        return f"{value:.10g}"
    return "-" if value is None else str(value)
