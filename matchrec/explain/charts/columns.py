"""Find the columns of a chart, and write SQL for them.

A type is named as `DataFrame.dtypes` names it, such as `decimal(10,2)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.errors import plots as errors
from matchrec.errors.sql.type_kinds import NUMBER_TYPES
from matchrec.plan.text import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The types of numbers that can be infinite or NaN.
FLOATS = ("float", "double")


def find_column(frame: DataFrame, argument: str, name: str) -> str:
    """Return the name of the column that the user names, spelled as in the DataFrame.

    Args:
        frame: a DataFrame.
        argument: the argument in which the user names the column, for the error.
        name: the name, in any case.

    Raises:
        MatchRecognizePlanError: there is no such column, or several.
    """
    column = find_single_column(frame, name)
    if column is None:
        raise errors.unknown_plot_column(argument=argument, name=name, columns=frame.columns)
    return column


def find_single_column(frame: DataFrame, name: str) -> str | None:
    """Return the name of the only column with a name in any case.

    None if there is no such column, or more than one.
    """
    columns = [column for column in frame.columns if column.lower() == name.lower()]
    return columns[0] if len(columns) == 1 else None


def write_column_name(name: str) -> str:
    """Return a column's name for SQL in which `{rows}` is a DataFrame, so other braces are doubled.

    >>> write_column_name("a{b}")
    '`a{{b}}`'
    """
    return quote_name(name).replace("{", "{{").replace("}", "}}")


def write_series_name(key: str, type_name: str) -> str:
    """Return SQL for the name of a series: its key as text, or `NULL`. See `write_key_text`.

    The string `NULL` has the name `'NULL'`, with quotes, so that it is not the series of NULL.
    """
    text = write_key_text(key, type_name)
    if type_name == "string":
        text = f"CASE WHEN {key} = 'NULL' THEN concat(chr(39), {key}, chr(39)) ELSE {text} END"
    return f"coalesce({text}, 'NULL')"


def write_key_text(key: str, type_name: str) -> str:
    """Return SQL for a key as text, the same for equal keys; NULL if the key is NULL.

    Args:
        key: SQL of the key, such as a column.
        type_name: the type of the key.
    """
    if type_name == "binary":  # bytes need not be text
        key = f"concat('X', chr(39), hex({key}), chr(39))"
    elif type_name in FLOATS:
        # 0.0 and -0.0 are equal, so they must have one name: -0.0 + 0.0 is 0.0.
        key = f"{key} + CAST(0 AS {type_name})"
    return f"CAST({key} AS STRING)"


def is_number_type(type_name: str) -> bool:
    """Return whether the values of a type are numbers.

    >>> is_number_type("decimal(10,2)"), is_number_type("string")
    (True, False)
    """
    return type_name.partition("(")[0] in NUMBER_TYPES


def name_comparable_type(type_name: str) -> str:
    """Return a name that is the same for types whose values can be compared with each other.

    >>> name_comparable_type("int"), name_comparable_type("decimal(10,2)")
    ('number', 'number')
    >>> name_comparable_type("timestamp_ntz"), name_comparable_type("date")
    ('timestamp', 'date')
    """
    if is_number_type(type_name):
        return "number"
    return "timestamp" if type_name == "timestamp_ntz" else type_name


def has_positions(type_name: str) -> bool:
    """Return whether values of a type have positions on an axis: numbers, dates and times."""
    return is_number_type(type_name) or type_name in ("date", "timestamp", "timestamp_ntz")
