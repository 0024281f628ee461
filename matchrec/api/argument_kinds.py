"""The kinds of arguments of the public functions, for `check_arguments`.

`ARGUMENTS` has the kind of each argument that is the same in all functions, by its name. A function
names the kinds of its other arguments:

    @check_arguments(**{**ARGUMENTS, "args": NAMED_VALUES, "output": SASE_OUTPUT})

First come the tests of values and their conversions, then the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, get_args

from matchrec.api.text_kinds import CLAUSE_OR_SASE_START, SASE_START, is_query
from matchrec.arguments import (
    COUNT,
    FLAG,
    SESSION,
    TERMS,
    TEXT,
    TEXTS,
    AggregatePer,
    ArgumentKind,
    DialectName,
    PatternOutput,
    SaseOutput,
    TargetDialect,
    find_library,
    is_column,
    is_dataframe,
    is_foreign_table,
    is_whole,
    make_class_test,
    make_dict_test,
    make_word_kind,
)
from matchrec.dialects.products import PRODUCTS
from matchrec.errors.inspection import PARTITION_DESCRIPTION
from matchrec.errors.quoting import quote_for_python
from matchrec.spark.request import OPTIONS as OPTION_KINDS
from matchrec.spark.request import Options

# Classes of Python values for which Spark has literals.
LITERAL_CLASSES = (
    bool,
    int,
    float,
    str,
    bytes,
    bytearray,
    Decimal,
    date,
    time,
    timedelta,
    Enum,
    list,
)
# Classes of values that can replace `{name}` in a text.
TEXT_CLASSES = (bool, int, float, str, Decimal)


def is_value(value: object) -> bool:
    """Return whether a value is a Column, or Spark can make a literal of it."""
    if value is None or isinstance(value, LITERAL_CLASSES) or is_column(value):
        return True
    return find_library(value) in ("numpy", "pandas", "pyspark")


def are_parameter_values(values: object) -> bool:
    """Return whether `values` is None, a dict with values for `:name`, or a list for `?`."""
    if values is None:
        return True
    if isinstance(values, list):
        return all(is_value(value) for value in values)
    return make_dict_test(is_value)(values)


def convert_numpy_value(value: Any) -> Any:
    """Return a NumPy value as a Python value, which Spark accepts. Return others unchanged."""
    if type(value).__module__ != "numpy" or value.ndim:
        return value
    kind = value.dtype.kind
    if kind in "mM":
        value = value.astype(f"{kind}8[us]")  # Python's times have microseconds
    return value.item()


def convert_values(_argument: str, values: Any) -> Any:
    """Return the values of parameters with NumPy values as Python values.

    Args:
        _argument: the name of the argument, which every converter gets.
        values: values that `are_parameter_values` accepts.
    """
    if values is None:
        return None
    if isinstance(values, list):
        return [convert_numpy_value(value) for value in values]
    return {name: convert_numpy_value(value) for name, value in values.items()}


def can_name_row(value: object) -> bool:
    """Return whether a value or a tuple can be compared with ORDER BY columns, to find a row."""
    if value is None or isinstance(value, (*TEXT_CLASSES, date, timedelta, tuple)):
        return True
    return find_library(value) in ("numpy", "pandas")


def can_fill_hole(value: object) -> bool:
    """Return whether a value may replace `{name}` in a text, as in Spark's `sql`."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, TEXT_CLASSES) for item in value)
    if isinstance(value, TEXT_CLASSES):
        return True
    return is_dataframe(value) or is_column(value) or is_foreign_table(value)


def is_pattern(value: object) -> bool:
    """Return whether a value is a Pattern.

    The class is imported here, so that queries in SQL never load it.
    """
    from matchrec.patterns.stages.builder import Pattern

    return isinstance(value, Pattern)


def convert_frame(argument: str, value: Any) -> Any:
    """Return a frame as a DataFrame of Spark.

    The rows of a frame of another library are sent to the running session.

    Args:
        argument: the name of the argument, for errors.
        value: the frame.
    """
    if not is_foreign_table(value):
        return value
    import matchrec  # for its session, as if the user had called it
    from matchrec.api.frames import to_dataframe

    return to_dataframe(matchrec.session(), argument, value)


def advise_on_order(value: object) -> str | None:
    """Return the advice for columns in the place of `args`; None for other values.

    >>> advise_on_order("day"), advise_on_order(["day", "id"])
    ('write order_by="day"', 'write order_by=["day", "id"]')
    """
    if is_column(value):
        return "write order_by=..., with this Column"
    names = value if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    quoted_names = [quote_for_python(name) for name in names]
    text = quoted_names[0] if isinstance(value, str) else f"[{', '.join(quoted_names)}]"
    return f"write order_by={text}"


def advise_on_pattern(value: object) -> str | None:
    """Return the advice for a text of another language in the place of a Pattern.

    Returns None for other values.

    >>> advise_on_pattern("PATTERN SEQ(Shelf a)")
    'pass a SASE+ text to matchrec.match_sase'
    >>> advise_on_pattern("ORDER BY day PATTERN (A+) DEFINE A AS price > 3")
    'pass a clause to matchrec.match_recognize'
    >>> advise_on_pattern("SELECT 1")
    'pass a query in SQL to matchrec.sql'
    """
    if not isinstance(value, str):
        return None
    if SASE_START.match(value):
        return "pass a SASE+ text to matchrec.match_sase"
    if CLAUSE_OR_SASE_START.match(value):
        return "pass a clause to matchrec.match_recognize"
    return "pass a query in SQL to matchrec.sql" if is_query(value) else None


# Values.
VALUE = ArgumentKind(
    "a number, a string, a date, None or another value with a literal in Spark",
    is_value,
    "convert it first, for example with int(...) or str(...)",
)
# The values of parameters of a query, by their names or in the order of `?`.
PARAMETER_VALUES = ArgumentKind(
    "a dict that maps parameter names to values, or a list with a value for each ?",
    are_parameter_values,
    'write args={"name": value} for :name, args=[value] for ?, or df=df for a DataFrame {df}',
    converter=convert_values,
    value_kind=VALUE,
    right_types=(dict, list),
)
# The values of parameters of a clause or a pattern, which has no `?`.
NAMED_VALUES = ArgumentKind(
    "a dict that maps parameter names to values",
    lambda value: not isinstance(value, list) and are_parameter_values(value),
    'write :name in the clause, and args={"name": value}',
    converter=convert_values,
    value_kind=VALUE,
    right_types=(dict,),
)
# The values of parameters of SASE+ or of a Pattern, which need `order_by` as well.
EVENT_VALUES = replace(
    NAMED_VALUES, hint='write args={"name": value} for :name', find_hint=advise_on_order
)
# The values of PARTITION BY columns, which choose a partition. A value without its column is
# rejected by `TargetFinder`, whose error names the columns.
PARTITION = ArgumentKind(
    PARTITION_DESCRIPTION,
    lambda value: not isinstance(value, Mapping) or make_dict_test(lambda _: True)(value),
    "write the names of the columns as strings",
    right_types=(dict,),
)
# The values of ORDER BY columns, which choose a row.
ROW = ArgumentKind(
    "a value of an ORDER BY column, or a tuple of values of several",
    can_name_row,
    "write row=value, or leave it out",
)

# Inputs.
FRAME = ArgumentKind(
    "a DataFrame of Spark, pandas, Polars or Arrow",
    lambda value: is_dataframe(value) or is_foreign_table(value),
    "pass a frame, such as spark.table(...), spark.read... or pandas.read_csv(...)",
    converter=convert_frame,
)
# A value for a `{name}` in a query: a keyword argument that has no other meaning.
HOLE_VALUE = ArgumentKind(
    "a DataFrame or a literal",
    can_fill_hole,
    "pass {argument}=df; for other values write :{argument} in the query and pass args",
)
# The input of a query: the session of a query in SQL, or else a DataFrame.
QUERY_INPUT = ArgumentKind(
    "a SparkSession or a DataFrame",
    FRAME.accepts,
    "pass spark=, the session of a query in SQL, or df=, the DataFrame of a clause, of SASE+ or of "
    "a Pattern",
)
# The input of a query in SASE+, in the text of a query.
EVENTS = ArgumentKind(
    "the name of a table, or a name in braces",
    lambda value: isinstance(value, str) and bool(value.strip()),
    'write events="name"',
    right_types=(str,),
)

# Queries, and parts of them.
QUERY = ArgumentKind(
    "a string or a Pattern",
    lambda value: isinstance(value, str) or is_pattern(value),
    'write "SELECT ...", or matchrec.Pattern.begin("a")...',
)
PATTERN = ArgumentKind(
    "a Pattern", is_pattern, 'write matchrec.Pattern.begin("a")...', find_hint=advise_on_pattern
)
CLAUSE = ArgumentKind(
    "the number of a clause, or the alias of its result",
    lambda value: isinstance(value, str) or (is_whole(value) and abs(value) < 2**31),
    "write clause=1",
).allow_none()
AGGREGATES = ArgumentKind(
    "a dict that maps column names to aggregates",
    lambda value: make_dict_test(make_class_test(str))(value) and len(value) > 0,
    'write {argument}={"matches": "count(*)"}',
    right_types=(dict,),
)

# Columns.
NAME = ArgumentKind(
    "the name of a column",
    make_class_test(str),
    'write {argument}="...", with the name of a column',
)
KEY_COLUMNS = ArgumentKind(
    "the name of a column, or a list of names", TEXTS.accepts, TEXTS.hint
).allow_none()
SPAN_COLUMNS = ArgumentKind(
    "the names of two columns, in which a match begins and ends",
    lambda value: (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(map(make_class_test(str), value))
    ),
    'write {argument}=("first", "last")',
    right_types=(list, tuple),
)


def suggest_options(value: object) -> str | None:
    """Return how to write a dict of options as Options; None for any other value.

    >>> suggest_options({"sort": "auto"}), suggest_options({"x": 1})
    ('write options=matchrec.Options(sort="auto")', None)
    """
    if not isinstance(value, dict) or not value or not set(value) <= set(OPTION_KINDS):
        return None
    items = ", ".join(f"{name}={quote_for_python(item)}" for name, item in value.items())
    return f"write options=matchrec.Options({items})"


# Words and options.
DIALECT = make_word_kind(get_args(DialectName))
# A product to write queries for.
TARGET_DIALECT = make_word_kind(
    get_args(TargetDialect),
    unlisted=tuple(name for name, product in PRODUCTS.items() if not product.is_translation_target),
)
# A language to read queries in.
SOURCE_LANGUAGE = make_word_kind((*PRODUCTS, "sase"))
SASE_OUTPUT = make_word_kind(get_args(SaseOutput))
PATTERN_OUTPUT = make_word_kind(get_args(PatternOutput))
AGGREGATE_PER = make_word_kind(get_args(AggregatePer))
OPTIONS = ArgumentKind(
    "an Options object",
    make_class_test(Options),
    "write options=matchrec.Options(max_steps=1_000_000), or leave it out",
    find_hint=suggest_options,
    fields=tuple(OPTION_KINDS),
).allow_none()

# The kinds of the arguments that mean the same in all functions.
ARGUMENTS: Mapping[str, ArgumentKind] = {
    **dict.fromkeys(("x", "y"), NAME),
    **dict.fromkeys(("by", "match"), NAME.allow_none()),
    **dict.fromkeys(("limit", "page", "panels"), COUNT),
    **dict.fromkeys(("order_by", "partition_by"), TERMS),
    **dict.fromkeys(("text", "type_column"), TEXT),
    "analyze": FLAG,
    "args": PARAMETER_VALUES,
    "between": SPAN_COLUMNS.allow_none(),
    "clause": CLAUSE,
    "df": FRAME,
    "dialect": DIALECT,
    "events": EVENTS,
    "frames": HOLE_VALUE,
    "options": OPTIONS,
    "partition": PARTITION,
    "pattern": PATTERN,
    "row": ROW,
    "spark": SESSION,
}
