"""What each argument of the public functions may be."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, get_args

from matchrec.arguments import (
    COUNT,
    FLAG,
    SESSION,
    TERMS,
    TEXT,
    TEXTS,
    ArgumentKind,
    DialectName,
    PatternOutput,
    Per,
    SaseOutput,
    by_name,
    instance_of,
    is_column,
    is_dataframe,
    is_frame,
    is_whole,
    library_of,
    one_of,
)
from matchrec.dialects.products import PRODUCTS
from matchrec.spark.question import OPTIONS as FIELDS
from matchrec.spark.question import Options

VALUES = (bool, int, float, str, bytes, bytearray, Decimal, date, time, timedelta, Enum, list)
TEXT_VALUES = (bool, int, float, str, Decimal)


def is_value(given: object) -> bool:
    """Return whether Spark can make a literal of a value, or it is a Column."""
    known = library_of(given) in ("numpy", "pandas", "pyspark")
    return given is None or isinstance(given, VALUES) or known or is_column(given)


def are_values(given: object) -> bool:
    """Return whether these are the values of `:name` by name, or those of each `?`."""
    listed = isinstance(given, list) and all(map(is_value, given))
    return given is None or listed or by_name(is_value)(given)


def as_spark_takes(given: Any) -> Any:
    """Return a NumPy value as a Python value, which Spark accepts, and others unchanged."""
    if type(given).__module__ != "numpy" or given.ndim:
        return given
    kind = given.dtype.kind
    return (given.astype(f"{kind}8[us]") if kind in "mM" else given).item()


def take_values(_: str, given: Any) -> Any:
    """Return values that `are_values` accepts, with NumPy values as Python values."""
    if isinstance(given, list):
        return [as_spark_takes(one) for one in given]
    return given and {name: as_spark_takes(one) for name, one in given.items()}


def names_row(given: object) -> bool:
    """Return whether a value can be compared with ORDER BY columns."""
    known = library_of(given) in ("numpy", "pandas")
    return given is None or known or isinstance(given, (*TEXT_VALUES, date, timedelta, tuple))


def fills_hole(given: object) -> bool:
    """Return whether a value may replace `{name}` in a text, as in Spark's `sql`."""
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(one, TEXT_VALUES) for one in given)
    is_text = isinstance(given, TEXT_VALUES)
    return is_text or is_dataframe(given) or is_column(given) or is_frame(given)


def is_pattern(given: object) -> bool:
    """Return whether a value is a Pattern.

    The class is imported here, so that queries in SQL never load it.
    """
    from matchrec.patterns.stages.builder import Pattern

    return isinstance(given, Pattern)


def take_frame(argument: str, given: Any) -> Any:
    """Return a DataFrame of Spark. A frame of another library is sent to the running session."""
    if not is_frame(given):
        return given
    import matchrec  # whose session is as if the user had called it
    from matchrec.api.inputs import as_dataframe

    return as_dataframe(matchrec.session(), argument, given)


FRAME = ArgumentKind(
    "a DataFrame of Spark, pandas, Polars or Arrow",
    lambda given: is_dataframe(given) or is_frame(given),
    "pass one, such as spark.table(...), spark.read... or pandas.read_csv(...)",
    take=take_frame,
)
ARGS = ArgumentKind(
    "a dict of values by the names of their markers, or a list with a value for each ?",
    are_values,
    'write args={"name": value} for :name, or args=[value] for ?; for a DataFrame, df=df and {df}',
    take=take_values,
)
NAMED = ArgumentKind(
    "a dict of values by the names of their markers",
    lambda given: not isinstance(given, list) and are_values(given),
    'write :name in the clause, and args={"name": value}',
    take=take_values,
)
FRAMES = ArgumentKind(
    "a DataFrame, for {name} in the query, or a literal",
    fills_hole,
    "pass {argument}=df; for other values write :{argument} in the query and pass args",
)
DIALECT = one_of(get_args(DialectName))
SASE_OUTPUT = one_of(get_args(SaseOutput))
PATTERN_OUTPUT = one_of(get_args(PatternOutput))
OPTIONS = ArgumentKind(
    "Options",
    instance_of(Options),
    'write options=matchrec.Options(algorithm="backtracking"), or leave it out',
    fields=tuple(FIELDS),
).or_none()
READS = one_of((*PRODUCTS, "sase"))
QUERY = ArgumentKind(
    "a text or a Pattern",
    lambda given: isinstance(given, str) or is_pattern(given),
    'write "SELECT ...", or matchrec.Pattern.begin("a")...',
)
QUERIED = ArgumentKind(
    "a SparkSession or a DataFrame",
    FRAME.accepts,
    "pass the session of a query in SQL, or the DataFrame of a clause, of SASE+ or of a Pattern",
)
EVENTS = ArgumentKind(
    "the name of a table, or {hole}",
    lambda given: isinstance(given, str) and bool(given.strip()),
    'write events="name"',
)
PATTERN = ArgumentKind("a Pattern", is_pattern, 'write matchrec.Pattern.begin("a")...')
PARTITION = ArgumentKind(
    "a dict of values by the names of the PARTITION BY columns",
    by_name(lambda _: True),
    'write partition={"name": value}',
).or_none()
ROW = ArgumentKind(
    "a value of an ORDER BY column, or a tuple of values of several",
    names_row,
    "write row=value, or leave it out",
)
CLAUSE = ArgumentKind(
    "the number of a clause, or the alias of its result",
    lambda given: isinstance(given, str) or (is_whole(given) and abs(given) < 2**31),
    "write clause=1",
).or_none()

NAME = ArgumentKind("the name of a column", instance_of(str), 'write {argument}="name"')
KEY = ArgumentKind("the name of a column, or a list of names", TEXTS.accepts, TEXTS.cure).or_none()
NAMES = ArgumentKind(
    "the names of two columns, in which a match begins and ends",
    lambda given: (
        isinstance(given, tuple | list) and len(given) == 2 and all(map(instance_of(str), given))
    ),
    'write {argument}=("first", "last")',
)
AGGREGATES = ArgumentKind(
    "a dict of aggregates by the names of columns",
    lambda given: by_name(instance_of(str))(given) and len(given) > 0,
    '{argument}={"matches": "count(*)"}',
)
PER = one_of(get_args(Per))

# The arguments whose name means the same in all functions; what others mean stands at each.
ARGUMENTS: Mapping[str, ArgumentKind] = {
    **dict.fromkeys(("x", "y"), NAME),
    **dict.fromkeys(("by", "match"), NAME.or_none()),
    **dict.fromkeys(("limit", "page", "panels"), COUNT),
    **dict.fromkeys(("order_by", "partition_by"), TERMS),
    **dict.fromkeys(("text", "type_column"), TEXT),
    "analyze": FLAG,
    "args": ARGS,
    "between": NAMES.or_none(),
    "clause": CLAUSE,
    "df": FRAME,
    "dialect": DIALECT,
    "events": EVENTS,
    "frames": FRAMES,
    "options": OPTIONS,
    "partition": PARTITION,
    "pattern": PATTERN,
    "row": ROW,
    "spark": SESSION,
}
