"""Errors about the tables, DataFrames and Columns that a call passes.

In the arguments, `name` is the variable of the DataFrame or frame in the user's program, and `row`
is the number of a row, from 0, as pandas counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.wording import describe_value, join_with_and, shorten, uncapitalise
from matchrec.source import Span


def not_a_dataframe(span: Span, *, name: str, value: str) -> MatchRecognizePlanError:
    """Return the error for {name} before MATCH_RECOGNIZE if its value is not a table.

    Args:
        span: the name with its braces.
        name: the name in braces.
        value: the value, in words.
    """
    return MatchRecognizePlanError(
        f"`{{{name}}}` before MATCH_RECOGNIZE must be a DataFrame, but is {value}",
        span,
        hint=f"pass a DataFrame: {name}=df",
        code="not-a-dataframe",
    )


def dataframe_of_another_session(span: Span, *, name: str) -> MatchRecognizePlanError:
    """Return the error for a DataFrame that belongs to another session than the query."""
    return MatchRecognizePlanError(
        f"`{{{name}}}` is a DataFrame of another session",
        span,
        notes=("a session knows its own temporary views, and no others",),
        hint=f"ask that session, {name}.sparkSession, or read the rows of {name} in this one",
        code="dataframe-of-another-session",
    )


def computed_column(*, argument: str, column: str) -> MatchRecognizePlanError:
    """Return the error for a Column that computes something where a plain column is needed."""
    return MatchRecognizePlanError(
        f"a Column in `{argument}` must be a column of the DataFrame, not `{column}`",
        hint=f'add it by df.withColumn("name", ...), or write it as SQL: {argument}="upper(name)"',
        code="computed-column",
    )


def arrow_table_not_supported(*, version: str, name: str) -> MatchRecognizePlanError:
    """Return the error for an Arrow table with a PySpark that cannot read it."""
    return MatchRecognizePlanError(
        f"PySpark {version} cannot make a DataFrame of the Arrow table `{name}`",
        notes=("PySpark 4.0 and newer can",),
        hint=f"pass {name}=spark.createDataFrame({name}.to_pandas())",
        code="arrow-table-not-supported",
    )


def dataframe_too_large_to_send(*, size: int, most: int) -> MatchRecognizePlanError:
    """Return the error for rows of this program that are too large for one call to the engine.

    An engine that gets rows only within calls cannot take them in parts.

    Args:
        size: the size of the rows in MiB.
        most: the largest size of a call in MiB.
    """
    return MatchRecognizePlanError(
        f"a DataFrame with {size:,} MiB of this program's rows cannot be sent to the engine, "
        f"which takes {most:,} MiB at once",
        hint=(
            "pass the pandas, Polars or Arrow frame itself, which is sent in parts, or read the "
            "rows from a file"
        ),
        code="dataframe-too-large-to-send",
    )


def row_too_large_to_send(*, row: int, size: int, most: int) -> MatchRecognizePlanError:
    """Return the error for a single row that is too large for a call to the engine.

    Args:
        row: the number of the row.
        size: the size of the row in MiB.
        most: the largest size of a call in MiB.
    """
    return MatchRecognizePlanError(
        f"row {row:,} has {size:,} MiB, and the engine takes {most:,} MiB at once",
        notes=("rows are counted from 0",),
        hint="shorten the values of this row, or write the rows to a Parquet file and read it",
        code="row-too-large-to-send",
    )


def frame_without_columns(*, name: str) -> MatchRecognizePlanError:
    """Return the error for a pandas frame without columns."""
    return MatchRecognizePlanError(
        f"`{name}` is a pandas frame without columns",
        hint=(
            'give it columns with types, such as pandas.DataFrame({"symbol": '
            'pandas.Series(dtype="string")})'
        ),
        code="frame-without-columns",
    )


def unsigned_number_beyond_bigint(*, column: str, name: str) -> MatchRecognizePlanError:
    """Return the error for a column of type uint64 whose numbers do not fit into BIGINT."""
    return MatchRecognizePlanError(
        f"column `{column}` of `{name}` has type uint64 and numbers beyond BIGINT, which PySpark "
        "would make negative",
        hint=(
            f"pass {name}=pyarrow.Table.from_pandas({name}), which gives a DECIMAL(20, 0), or cast "
            "it"
        ),
        code="unsigned-number-beyond-bigint",
    )


def whole_number_beyond_bigint(
    *, column: str, name: str, row: int, value: str
) -> MatchRecognizePlanError:
    """Return the error for a column of Python integers that do not fit into BIGINT.

    Args:
        column: the column.
        name: the frame.
        row: the first row with such an integer.
        value: the integer.
    """
    return MatchRecognizePlanError(
        f"column `{column}` of `{name}` has whole numbers beyond BIGINT",
        notes=(f"row {row:,}, counted from 0, has {value}",),
        hint=(
            f'pass {name}.assign({column}={name}["{column}"].map(decimal.Decimal, '
            'na_action="ignore"))'
        ),
        code="whole-number-beyond-bigint",
    )


def mixed_time_types(
    *, column: str, name: str, row: int, value: str, reason: str
) -> MatchRecognizePlanError:
    """Return the error for a column with times that PySpark would convert in different ways.

    Args:
        column: the column.
        name: the frame.
        row: the first row whose time PySpark would convert in another way.
        value: the time in this row.
        reason: how this time differs from the times before it, to follow a comma.
    """
    return MatchRecognizePlanError(
        f"column `{column}` of `{name}` has times of different types",
        notes=(f"row {row:,}, counted from 0, has {value}, {reason}",),
        hint=f'convert them first, such as by pandas.to_datetime({name}["{column}"], utc=True)',
        code="mixed-time-types",
    )


def values_without_common_type(  # noqa: PLR0913 -- the parts of one sentence
    *, column: str, name: str, row: int, value: object, types_before: Sequence[str], reason: str
) -> MatchRecognizePlanError:
    """Return the error for a column whose values have no type in common.

    Args:
        column: the column.
        name: the frame.
        row: the first row whose value does not have the type of the values before it.
        value: this value.
        types_before: the types of the values before it, without NULL; empty if there are none.
        reason: why PySpark or Arrow cannot convert this value. The message says it only if the
            types do not explain the error, such as for two lists.
    """
    note = f"row {row:,}, counted from 0, is {describe_value(value)}"
    if types_before and type(value).__name__ not in types_before:
        note += f", and earlier rows are {join_with_and(types_before)}"
    else:
        note += f", which does not fit: {uncapitalise(reason)}"
    return MatchRecognizePlanError(
        f"column `{column}` of `{name}` has values without a common type",
        notes=(note,),
        hint=(
            f'convert them to one type first, such as by {name}["{column}"].astype("string"), or '
            "leave the column out"
        ),
        code="values-without-common-type",
    )


def cannot_make_dataframe(*, name: str, reason: str) -> MatchRecognizePlanError:
    """Return the error for a frame of another library that PySpark cannot convert."""
    return MatchRecognizePlanError(
        f"PySpark cannot make a DataFrame of `{name}`: {uncapitalise(reason)}",
        hint="cast the columns to other types first, or leave them out",
        code="cannot-make-dataframe",
    )


_COLUMN = re.compile(r"Column<'(?P<text>.*)'>", re.DOTALL)
# Spark Connect prints `x > 1` as `>(x, 1)`.
_PREFIX_OPERATION = re.compile(r"(?P<sign>[<>=!+*/%-]+)\((?P<left>[^(),]+), (?P<right>[^(),]+)\)")


def _unwrap_column(text: str) -> str:
    """Return the expression in the text that PySpark prints for a Column; other texts unchanged.

    >>> _unwrap_column("Column<'>(price, 1)'>"), _unwrap_column("Column<'(price > 1)'>")
    ('price > 1', '(price > 1)')
    >>> _unwrap_column("price")
    'price'
    """
    column = _COLUMN.fullmatch(text)
    expression = column["text"] if column else text
    operation = _PREFIX_OPERATION.fullmatch(expression)
    if operation:
        return f"{operation['left']} {operation['sign']} {operation['right']}"
    return expression


def condition_rejected_by_engine(
    *, engine: str, column: str, reason: str
) -> MatchRecognizePlanError:
    """Return the error for a Column as a condition that the engine cannot analyse.

    Args:
        engine: Spark or Sail.
        column: the Column as PySpark prints it.
        reason: the sentence of the engine.
    """
    condition = shorten(_unwrap_column(column))
    return MatchRecognizePlanError(
        f"{engine} cannot evaluate the condition `{condition}`",
        notes=(reason, "a condition can read the columns of one event only"),
        hint=(
            "use only columns of the DataFrame; or add the condition as a column, "
            'df.withColumn("...", ...), and write where("...")'
        ),
        code="condition-rejected-by-engine",
    )


def condition_not_boolean(*, column: str, type_name: str) -> MatchRecognizePlanError:
    """Return the error for a Column as a condition that is not boolean."""
    text = _unwrap_column(column)
    value = f'col("{text}")' if text.isidentifier() else f"({shorten(text)})"
    return MatchRecognizePlanError(
        f"a condition must be boolean, but `{shorten(text)}` is {type_name}",
        hint=(
            f"compare it, such as {value} > 0; declare the type of your own function: "
            'udf(f, "boolean")'
        ),
        code="condition-not-boolean",
    )
