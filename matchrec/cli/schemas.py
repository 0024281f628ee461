"""The columns of `--schema`: make an empty DataFrame with them, or find the mistake in them.

The engine parses the columns as a whole, and its errors do not name the column that is wrong. So if
it rejects them, each column is tried by itself:

    ticker STRIN, price DECIMAL(10, 2)   ->   unknown type `STRIN` of column `ticker` in `--schema`
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.cli.engine_errors import explain_engine_error, is_engine_error
from matchrec.errors import MatchRecognizeError
from matchrec.errors import schemas as errors
from matchrec.errors.misspellings import find_nearest_choice
from matchrec.errors.wording import write_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

# The types of columns, as errors list them.
TYPES = (
    "STRING",
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10, 2)",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "BINARY",
    "ARRAY<INT>",
    "MAP<STRING, INT>",
    "STRUCT<x: INT>",
)
# The types that are a single word.
SIMPLE_TYPES = tuple(name for name in TYPES if name.isidentifier())

# Spark's types by names that other products give them.
TYPES_BY_FOREIGN_NAME = {
    **dict.fromkeys(("TEXT", "VARCHAR", "VARCHAR2", "NVARCHAR", "CHAR", "STR"), "STRING"),
    **dict.fromkeys(("INT64", "INT8", "NUMBER"), "BIGINT"),
    **dict.fromkeys(("INT32", "INT4"), "INT"),
    **dict.fromkeys(("FLOAT64", "FLOAT8", "REAL"), "DOUBLE"),
    **dict.fromkeys(("DATETIME", "TIMESTAMPTZ"), "TIMESTAMP"),
    "BOOL": "BOOLEAN",
    "BYTES": "BINARY",
}

# A name in backticks, a comma or a bracket. Commas outside of names and brackets separate columns.
NAME_OR_SEPARATOR = re.compile(r"`(?:[^`]|``)*`|[,()<>]")

# The name of a column, and its type, which can be missing. A colon can separate them.
COLUMN = re.compile(r"(?P<name>`(?:[^`]|``)*`|[^\s:`]*)\s*:?\s*(?P<type>.*)", re.DOTALL)

# The largest number of digits of a DECIMAL.
MAX_DIGITS = 38
# A DECIMAL with its number of digits and, as `scale`, the number of digits after the point.
DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC)\s*\(\s*\d+\s*(?:,\s*(?P<scale>\d+)\s*)?\)", re.I)


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column as `--schema` declares it."""

    # The name, with the user's backticks; "" if a comma has no column on one side.
    name: str
    # The type as the user wrote it; "" if it is missing.
    type_name: str


def split_columns(columns: str) -> Iterator[DeclaredColumn]:
    """Yield the columns between the commas outside of parentheses and angle brackets.

    >>> [column.type_name for column in split_columns("x DECIMAL(10, 2), ts, id INT")]
    ['DECIMAL(10, 2)', '', 'INT']
    """
    depth = 0
    start = 0
    for token in NAME_OR_SEPARATOR.finditer(f"{columns},"):
        if token[0] in ("(", "<"):
            depth += 1
        elif token[0] in (")", ">"):
            depth -= 1
        elif token[0] == "," and depth <= 0:
            column = COLUMN.fullmatch(columns[start : token.start()].strip())
            if column is not None:
                yield DeclaredColumn(column["name"], column["type"].strip())
            start = token.end()


def make_empty_frame(spark: SparkSession, table: str, columns: str) -> DataFrame:
    """Return a DataFrame with these columns and without rows.

    Args:
        spark: the session.
        table: the name of the table, for errors.
        columns: the names and types, as in CREATE TABLE.

    Raises:
        MatchRecognizeError: a column has no type or an unknown one, two columns have the same name,
            or the text is not a list of columns.
    """
    try:
        frame = spark.createDataFrame([], columns)
        fields = frame.schema.fields
    except Exception as error:
        if not is_engine_error(error):
            raise
        for column in split_columns(columns):
            check_column(spark, column)
        raise errors.invalid_schema(name=table, reason=explain_engine_error(error)) from error
    lower_names = [field.name.lower() for field in fields]
    for field in fields:
        if lower_names.count(field.name.lower()) > 1:
            raise errors.repeated_schema_column(table=table, name=field.name)
        if has_too_many_digits(field.dataType):  # Sail accepts such a type here, but not in a query
            raise make_type_error(write_name(field.name), field.dataType.simpleString().upper())
    return frame


def has_too_many_digits(data_type: DataType) -> bool:
    """Return whether a type is a DECIMAL with more than `MAX_DIGITS` digits."""
    from pyspark.sql.types import DecimalType

    return isinstance(data_type, DecimalType) and data_type.precision > MAX_DIGITS


def check_column(spark: SparkSession, column: DeclaredColumn) -> None:
    """Check that a column has a name and a type that the engine accepts.

    Raises:
        MatchRecognizeError: the name or the type is missing, or the engine rejects the type.
    """
    if not column.name:
        raise errors.missing_schema_column()
    if not column.type_name:
        raise errors.missing_schema_type(column=column.name)
    try:
        # On a server, an error is raised only when the columns are read.
        _ = spark.createDataFrame([], f"{column.name} {column.type_name}").columns
    except Exception as error:
        if not is_engine_error(error):
            raise
        raise make_type_error(column.name, column.type_name) from error


def make_type_error(column: str, type_name: str) -> MatchRecognizeError:
    """Return the error for a column with a type that the engine does not have."""
    similar_type = suggest_type(type_name)
    return errors.unknown_schema_type(
        column=column, type_name=type_name, near=similar_type, types=TYPES
    )


def suggest_type(type_name: str) -> str | None:
    """Return the type that the user probably means; None if none is similar.

    >>> suggest_type("STRIN"), suggest_type("ARRAY<TEXT>"), suggest_type("DECIMAL(50, 2)")
    ('STRING', 'ARRAY<STRING>', 'DECIMAL(38, 2)')
    >>> suggest_type("INT price DOUBLE"), suggest_type("xyz")
    ('INT, price DOUBLE', None)
    """
    decimal = DECIMAL.fullmatch(type_name)
    if decimal is not None:
        return f"DECIMAL({MAX_DIGITS}, {decimal['scale'] or 0})"
    first_word, _, others = type_name.partition(" ")
    if others and first_word.upper() in SIMPLE_TYPES:  # a comma is missing
        return f"{first_word}, {others.strip()}"
    suggested = re.sub(r"\w+", lambda word: suggest_word(word[0]), type_name)
    return suggested if suggested != type_name else None


def suggest_word(word: str) -> str:
    """Return the name of a type that the user probably means by a word, or else the word itself."""
    if word.upper() in (*SIMPLE_TYPES, "ARRAY", "MAP", "STRUCT"):
        return word
    similar_type = TYPES_BY_FOREIGN_NAME.get(word.upper()) or find_nearest_choice(
        word, SIMPLE_TYPES
    )
    return similar_type or word
