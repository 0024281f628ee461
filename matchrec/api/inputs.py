"""The inputs of a query: its rows, the values of its parameters, and the DataFrames that it names.

Users pass SQL texts, Columns, values, and frames of several libraries. The functions here check
these and convert them:

    from                       by                 to
    order_by, partition_by     write_terms        SQL texts
    a frame of any library     to_dataframe       a DataFrame of Spark
    a DataFrame                build_relation     the `Relation` that a clause reads
    args and frames            build_runner       the `Runner` of the parts of a query
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession

from matchrec.arguments import Arguments, NamedArguments, find_library, is_dataframe, is_frame
from matchrec.errors import MatchRecognizeError
from matchrec.errors import frames as errors
from matchrec.errors.calls import (
    unknown_clause_parameter,
    unknown_parameter,
    wrong_number_of_values,
)
from matchrec.errors.kinds import locate_errors, with_source
from matchrec.errors.machine import stopped_session
from matchrec.errors.rule_sets import unbound_rule_parameter
from matchrec.errors.wording import describe_value, show_count
from matchrec.plan.parameters import name_parameter
from matchrec.plan.templates import View
from matchrec.plan.text import quote_name
from matchrec.source import Source, Span
from matchrec.spark.backends import find_backend, make_runner
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.frames import (
    find_beyond_bigint,
    find_changed_time,
    find_unfit_value,
    with_microseconds,
)
from matchrec.spark.nanoseconds import AMBIGUOUS_TIMES, find_ambiguous_times
from matchrec.spark.relation import Relation, Runner
from matchrec.spark.sail.probes import has_times_of_day
from matchrec.spark.sail.sent import remember_index
from matchrec.spark.session import is_stopped, shares_views
from matchrec.spark.transport import cast_to_spark_types
from matchrec.syntax.locate import QueryNode
from matchrec.syntax.named_parameters import find_parameters
from matchrec.syntax.query_pieces import fill_frames
from matchrec.syntax.tokens import SPARK, Dialect

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

# An argument that sorts or divides rows: SQL over one row, a Column that names a column of the
# DataFrame, or several of both.
ColumnsOrSql: TypeAlias = "str | Column | Sequence[str | Column]"

# The rows of a clause: a DataFrame of Spark, or a frame of pandas, Polars or Arrow.
Frame: TypeAlias = "DataFrame | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table"

# What may replace `{name}` in a query: a frame, or a value that is written into the text.
FrameOrLiteral: TypeAlias = (
    "Frame | Column | str | bool | int | float | Decimal"
    "| Sequence[str | bool | int | float | Decimal]"
)


# Texts and Columns


def find_quote_dialect(spark: SparkSession, *texts: object) -> Dialect:
    """Return the dialect of texts of a session: whether double quotes enclose strings or names.

    The settings of the session are read only if a text has double quotes.
    """
    if not any('"' in str(text) for text in texts):
        return SPARK
    settings = make_runner(spark).settings
    # Spark heeds the second setting in ANSI mode only.
    for setting in ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers"):
        if settings[setting] != "true":
            return SPARK
    return Dialect.QUOTED_NAMES


def write_terms(df: DataFrame, argument: str, terms: ColumnsOrSql) -> list[str]:
    """Return the SQL texts and Columns of an argument as SQL texts.

    Args:
        df: the DataFrame that the Columns belong to.
        argument: the name of the argument, for the error.
        terms: the value of the argument.

    Raises:
        MatchRecognizePlanError: a Column is computed, so it does not name a column of `df`.
    """
    texts = []
    for term in terms if isinstance(terms, list | tuple) else (terms,):
        if isinstance(term, str):
            texts.append(term)
            continue
        column_text = str(term).removeprefix("Column<'").removesuffix("'>")
        name = find_column_name(column_text, df.columns)
        if name is None:
            raise errors.computed_column(argument=argument, column=column_text)
        texts.append(quote_name(name))
    return texts


def find_column_name(column_text: str, names: Sequence[str]) -> str | None:
    """Return the name of the column that a Column stands for; None if it is anything else.

    Only the printed form of a Column shows what it is. A column is printed as `at` or, after
    `df.alias("t")`, as `t.at`. A field of a struct is printed as `place.at`, and is not a column.

    Args:
        column_text: the printed form of the Column.
        names: the names of the columns of the DataFrame.

    >>> texts = ("at", "t.at", "place.at", "upper(at)")
    >>> [find_column_name(text, ["at", "place"]) for text in texts]
    ['at', 'at', None, None]
    """
    if column_text in names:
        return column_text
    qualifier, _, name = column_text.rpartition(".")
    is_field = qualifier.split(".")[0].lower() in {column.lower() for column in names}
    return name if name in names and not is_field else None


# Frames


def build_relation(df: DataFrame, args: NamedArguments | None = None) -> Relation:
    """Return a DataFrame as the input of a clause.

    Args:
        df: the DataFrame.
        args: the values of the `:name` parameters of the clause.
    """
    backend = find_backend(df.sparkSession)
    rows = backend.keep_sent_rows(df)
    runner = Runner(backend, None if args is None else dict(args), {"df": rows})
    return Relation(runner, (View("df"),), all_rows=lambda: rows)


def cast_to_dataframe(frame: Frame) -> DataFrame:
    """Tell type checkers that a frame is a DataFrame of Spark.

    `check_arguments` has already converted the argument with `to_dataframe`.
    """
    return cast("DataFrame", frame)


def to_dataframe(spark: SparkSession, name: str, value: object) -> object:
    """Return a frame of pandas, Polars or Arrow as a DataFrame of Spark.

    Its rows are sent to the session once. Any value that is not a frame is returned unchanged.

    Args:
        spark: the session that gets the rows.
        name: what errors and warnings call the frame.
        value: the frame.

    Raises:
        MatchRecognizePlanError: the frame has values or types that Spark does not have, or would
            change. If the engine itself fails, its own error is raised.
    """
    if is_dataframe(value):
        return find_backend(spark).keep_sent_rows(cast("DataFrame", value))
    if not is_frame(value):
        return value
    frame = read_frame(value)
    is_table = is_arrow_table(frame)
    if not is_table:
        check_pandas(name, frame)
        frame = cast_pandas_columns(frame)
    elif spark.version.startswith("3."):
        raise errors.arrow_table_not_supported(version=spark.version, name=name)
    # Spark has microseconds, so this must be done while the frame still has nanoseconds.
    ambiguous_times = find_ambiguous_times(name, find_library(value), frame)
    if not is_table:
        frame = with_microseconds(frame)
    try:
        if is_table:
            frame = cast_to_spark_types(frame)
            check_times(spark, frame.schema)
        backend = find_backend(spark)
        with backend.use_arrow():
            df = remember_index(backend.create_frame(frame), getattr(value, "index", None))
    except MatchRecognizeError:
        raise
    except Exception as error:
        clearer_error = explain_failed_conversion(name, frame, error)
        if clearer_error is None:
            raise
        raise clearer_error from error
    vars(df)[AMBIGUOUS_TIMES] = ambiguous_times
    return df


def read_frame(value: Any) -> Any:
    """Return the rows of a frame of any library as a pandas frame or an Arrow table."""
    frame = value
    if hasattr(frame, "collect"):  # a lazy frame of Polars
        frame = frame.collect()
    if hasattr(frame, "to_arrow"):  # a frame of Polars
        frame = frame.to_arrow()
    return frame


def is_arrow_table(frame: Any) -> bool:
    """Return whether a frame is an Arrow table, rather than a pandas frame."""
    return type(frame).__name__ == "Table"


def explain_failed_conversion(
    name: str, frame: Any, error: Exception
) -> MatchRecognizeError | None:
    """Return the error for a frame that could not be sent; None if the engine's own is better.

    Args:
        name: what the error calls the frame.
        frame: the pandas frame or the Arrow table.
        error: the error of PyArrow, PySpark or the engine.
    """
    if not is_arrow_table(frame):
        value = find_unfit_value(frame)
        if value is not None:
            return errors.values_without_common_type(
                name=name, column=value.column, row=value.row, reason=value.reason
            )
    is_about_values = isinstance(error, TypeError | ValueError)
    if isinstance(error, PySparkException) and not is_about_values:
        return None
    reason = read_sentence(error)
    if not is_about_values:
        reason = f"{reason} ({type(error).__name__})"
    return errors.cannot_make_dataframe(name=name, reason=reason)


def check_times(spark: SparkSession, schema: Any) -> None:
    """Check that the session has the type of times of day, if an Arrow table has some.

    Raises:
        TypeError: a column has times of day, and the session does not have them.
    """
    for field in schema:
        if str(field.type).startswith("time64") and not has_times_of_day(spark):
            raise TypeError(f"column `{field.name}` is a time of day")


# Numeric types of pandas that Spark does not have, and the types to which they are cast, which have
# all of their values. Without the cast, a UINT8 of 200 would become a TINYINT of -56. Each type has
# up to three forms: of NumPy, of pandas with NULL, and of Arrow.
CASTS = {"float16": "float32", "halffloat[pyarrow]": "float[pyarrow]"}
for _bits in (8, 16, 32, 64):
    _wider = min(2 * _bits, 64)  # `check_pandas` rejects UINT64 values that a BIGINT does not have
    CASTS[f"uint{_bits}"] = f"int{_wider}"
    CASTS[f"UInt{_bits}"] = f"Int{_wider}"
    CASTS[f"uint{_bits}[pyarrow]"] = f"int{_wider}[pyarrow]"


def cast_pandas_columns(frame: Any) -> Any:
    """Return a pandas frame whose columns have types that PySpark sends without changing values."""
    types = {}
    for column, data_type in frame.dtypes.items():
        new_type = find_cast(data_type)
        if new_type is not None:
            types[column] = new_type
    return frame.astype(types) if types else frame


def find_cast(data_type: Any) -> Any:
    """Return the type to which a pandas column is cast before it is sent, or None for no cast.

    Arrow times become NumPy times, because PySpark drops the nanoseconds of these. Categories
    become their values.

    Args:
        data_type: the `dtype` of the column.

    >>> import pandas as pd
    >>> find_cast(pd.UInt8Dtype())
    'Int16'
    """
    if hasattr(data_type, "categories"):
        return find_cast(data_type.categories.dtype)
    arrow_type = getattr(data_type, "pyarrow_dtype", None)
    if arrow_type is None or str(data_type) in CASTS:
        return CASTS.get(str(data_type))
    is_dictionary = hasattr(arrow_type, "value_type") and hasattr(arrow_type, "index_type")
    if is_dictionary:
        return type(data_type)(arrow_type.value_type)
    is_time = data_type.kind in "mM"
    if not is_time:
        return None
    zone = getattr(arrow_type, "tz", None)
    return f"datetime64[{arrow_type.unit}, {zone}]" if zone else data_type.numpy_dtype


def check_pandas(name: str, frame: Any) -> None:
    """Check that Spark has all values of a pandas frame.

    Args:
        name: what the error calls the frame.
        frame: the frame.

    Raises:
        MatchRecognizePlanError: Spark does not have a value or a type, or would change a value.
    """
    if not len(frame.columns):
        raise errors.frame_without_columns(name=name)
    for column, values in frame.items():
        type_name = str(values.dtype)
        if type_name.lower().startswith("uint64") and (values > 2**63 - 1).any():
            raise errors.unsigned_number_beyond_bigint(column=column, name=name)
        if type_name.startswith("period"):
            reason = f"column `{column}` is of type {type_name}"
            raise errors.cannot_make_dataframe(name=name, reason=reason)
    number = find_beyond_bigint(frame)
    if number is not None:
        raise errors.whole_number_beyond_bigint(
            name=name, column=number.column, row=number.row, value=str(number.value)
        )
    time = find_changed_time(frame)
    if time is not None:
        raise errors.mixed_time_types(
            name=name, column=time.column, row=time.row, value=str(time.value), reason=time.reason
        )


# Values and frames of a query

Frames = dict[str, Any]  # what a query names as `{name}`


def build_runner(
    spark: SparkSession, query: QueryNode, args: Arguments | None, frames: Frames
) -> Runner:
    """Return the object that runs the parts of a query.

    Raises:
        MatchRecognizePlanError: the values do not fit the parameters, or a clause reads a `{name}`
            that is not a DataFrame of this session.
    """
    check_frames(spark, query, frames)
    values = name_values(query, args)
    return Runner(find_backend(spark), values, frames, partial(fill_frames, frames=frames))


def check_frames(spark: SparkSession, query: QueryNode, frames: Frames) -> None:
    """Check the values of the `{name}`s of a query.

    Raises:
        MatchRecognizePlanError: the input of a clause is not a DataFrame, or a DataFrame is of
            another session.
    """
    starts_of_inputs = {site.relation.start for site in query.sites}
    for name, span in query.frames:
        frame = frames[name]
        if is_dataframe(frame):
            if shares_views(spark, frame.sparkSession):
                continue
            if is_stopped(frame.sparkSession):
                raise stopped_session()
            raise with_source(errors.dataframe_of_another_session(span, name=name), query.source)
        if span.start in starts_of_inputs:
            error = errors.not_a_dataframe(span, name=name, value=describe_value(frame))
            raise with_source(error, query.source)


def name_values(query: QueryNode, args: Arguments | None) -> dict[str, Any] | None:
    """Return the values of a query's parameters by name.

    The values of `?` get names, because the query is run in parts, and each part has only some of
    the parameters.

    Raises:
        MatchRecognizePlanError: there are more or fewer values than positional parameters.
    """
    check_positional_values(query, args)
    if isinstance(args, list):
        names = [name_parameter(parameter) for parameter in query.positional_parameters]
        return dict(zip(names, args, strict=True))
    return None if args is None else dict(args)


def check_positional_values(query: QueryNode, args: Arguments | None) -> None:
    """Check that `args` is a list with a value for each `?` of a query, if it has some.

    Raises:
        MatchRecognizePlanError: there are more or fewer values than positional parameters.
    """
    parameters = query.positional_parameters
    values = args if isinstance(args, list) else []
    if len(values) == len(parameters):
        return
    if isinstance(args, Mapping):
        problem = "is a dict"
    elif values:
        problem = f"has {show_count(len(values), 'value')}"
    else:
        problem = "has no values"
    parameters_without_value = parameters[len(values) :]
    error = wrong_number_of_values(problem, len(parameters), *parameters_without_value[:1])
    raise with_source(error, query.source)


# Parameters of a clause

_POSSIBLE_PARAMETER = re.compile(r"[:@]\s*([^\W\d]\w*)")
_ENDS_WITH_NAME = re.compile(r"[\w`]$")


def find_clause_parameters(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the name and the location of each `:name` of a clause that stands for a value.

    The type of a field of a struct, as in `a:INT`, is not a parameter.

    >>> text = "x > :low AND CAST(y AS STRUCT<a:INT, b: INT>).a < :high"
    >>> [name for name, _ in find_clause_parameters(text)]
    ['low', 'high']
    """
    for name, span in find_parameters(text):
        has_space = text[span.start + 1 : span.end] != name
        follows_name = _ENDS_WITH_NAME.search(text[: span.start]) is not None
        if not has_space and not follows_name:
            yield name, span


def check_parameter_names(text: str, names: Iterable[str]) -> None:
    """Check that a clause has a parameter with each of these names.

    Raises:
        MatchRecognizePlanError: it lacks one.
    """
    parameter_names = tuple(dict.fromkeys(name for name, _ in find_clause_parameters(text)))
    for name in names:
        if name not in parameter_names:
            raise unknown_clause_parameter(name=name, parameters=parameter_names)


def find_possible_parameters(text: str) -> tuple[str, ...]:
    """Return the names after `:` and `@` in a text of any language, also inside its strings."""
    return tuple(dict.fromkeys(_POSSIBLE_PARAMETER.findall(text)))


def reject_unused(text: str, values: Mapping[str, object]) -> None:
    """Check that every value has a parameter in the text. Only the command line calls this.

    `sql` accepts unused values, as PySpark does, because one dict may serve several queries.

    If a parameter has no value, nothing is checked here: a later check reports it with its
    location.

    Raises:
        MatchRecognizePlanError: the name of a value is not in the text.
    """
    if any(name not in values for name, _ in find_clause_parameters(text)):
        return
    possible_names = find_possible_parameters(text)
    for name in values:
        if name not in possible_names:
            raise unknown_parameter(name=name, parameters=possible_names)


def fill_parameters(source: Source, values: Mapping[str, str]) -> Source:
    """Return a clause with values instead of its parameters.

    Args:
        source: the clause.
        values: the values as SQL, by the names of their parameters.

    Raises:
        MatchRecognizePlanError: a parameter has no value, or a value has no parameter.
    """
    from matchrec.dialects.edits import Edit, apply_edits

    with locate_errors(source):
        edits = []
        for name, span in find_clause_parameters(source.text):
            if name not in values:
                raise unbound_rule_parameter(span, name=name, parameters=tuple(values))
            edits.append(Edit(span, values[name]))
        check_parameter_names(source.text, values)
    return apply_edits(source.text, edits).make_source(source) if edits else source
