"""What a query is about: the DataFrame of its events, the dialect of its text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeAlias

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession

from matchrec.arguments import is_dataframe, is_frame
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import library_of, shown, shown_in
from matchrec.errors.run.failures import rule_marker_without_value
from matchrec.plan.text import Template, View, parameter_name, quoted, template
from matchrec.source import Source, Span, counted
from matchrec.spark.backends import backend_of, runner_of
from matchrec.spark.errors.diagnose import first_line, lost_value_of, unbound_name
from matchrec.spark.frames import (
    find_beyond_bigint,
    find_changed_time,
    find_unfit_value,
    with_microseconds,
)
from matchrec.spark.nanoseconds import CLOSE_TIMES, find_close_times
from matchrec.spark.relation import Relation, Runner
from matchrec.spark.sail.probes import has_times_of_day
from matchrec.spark.sail.sent import without_index
from matchrec.spark.session import is_stopped, shares_views
from matchrec.spark.transport import with_known_types
from matchrec.syntax.locate import QueryNode, fill_frames, named_parameters, places_of_parameters
from matchrec.syntax.tokens import SPARK, Dialect

_SETTING = Lock()  # a setting of a session, for as long as it is another one

# SQL over one row, or a Column that is one of a DataFrame's; or several of both.
Terms: TypeAlias = "str | Column | Sequence[str | Column]"

# What functions over a DataFrame take: one of Spark, or a frame of pandas, Polars or Arrow.
Frame: TypeAlias = "DataFrame | Any"


def find_quote_dialect(spark: SparkSession, *texts: object) -> Dialect:
    """Return how a session reads texts. It is asked only if they have double quotes."""
    if '"' not in "".join(map(str, texts)):
        return SPARK
    runner = runner_of(spark)
    settings = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")
    names = all(runner.settings[name] == "true" for name in settings)  # heeded in ANSI mode only
    return Dialect.QUOTED_NAMES if names else SPARK


def write_terms(df: DataFrame, argument: str, terms: Terms) -> list[str]:
    """Return terms as SQL.

    Raises:
        MatchRecognizePlanError: a term is a Column, but not a column of the DataFrame.
    """
    found = []
    for term in terms if isinstance(terms, list | tuple) else (terms,):
        if isinstance(term, str):
            found.append(term)
            continue
        written = str(term).removeprefix("Column<'").removesuffix("'>")
        if (name := name_of_column(written, df.columns)) is None:
            raise errors.computed_column(argument=argument, written=written)
        found.append(quoted(name))
    return found


def name_of_column(written: str, columns: Sequence[str]) -> str | None:
    """Return the column that a Column names, by its printed form, or None.

    The form is `at` or `t.at`; a field of a struct is not a column.

    >>> [name_of_column(one, ["at", "place"]) for one in ("at", "t.at", "place.at", "upper(at)")]
    ['at', 'at', None, None]
    """
    if written in columns:
        return written
    qualifier, _, name = written.rpartition(".")
    is_field = qualifier.split(".")[0].lower() in {column.lower() for column in columns}
    return name if name in columns and not is_field else None


def relation_of(df: DataFrame, args: dict[str, Any] | None = None) -> Relation:
    """Return a DataFrame as the input of a clause.

    Args:
        df: the DataFrame.
        args: the values of the `:name` markers of the clause.
    """
    backend = backend_of(df.sparkSession)
    rows = backend.keep_sent_rows(df)
    runner = Runner(backend, args, {"df": rows})
    return Relation(
        runner, lambda items: template("SELECT ", items, " FROM ", View("df")), lambda: rows
    )


def as_dataframe(spark: SparkSession, name: str, given: object) -> object:
    """Return a frame of pandas, Polars or Arrow as a DataFrame of Spark.

    Its rows are sent to the session once. Any other value is returned unchanged.
    """
    found: Any = given
    if is_dataframe(found):
        return backend_of(spark).keep_sent_rows(found)
    if not is_frame(found):
        return found
    if hasattr(found, "collect"):  # Polars' lazy frames
        found = found.collect()
    if hasattr(found, "to_arrow"):
        found = found.to_arrow()
    is_table = type(found).__name__ == "Table"
    if not is_table:
        check_pandas(name, found)
        kinds = {column: crossing_kind(kind) for column, kind in found.dtypes.items()}
        if others := {column: kind for column, kind in kinds.items() if kind is not None}:
            found = found.astype(others)
    elif spark.version.startswith("3."):
        raise errors.no_arrow_tables(version=spark.version, name=name)
    close_times = find_close_times(name, library_of(given), found)
    found = found if is_table else with_microseconds(found)
    try:
        if is_table:
            found = with_known_types(found)
            check_times(spark, found.schema)
        backend = backend_of(spark)
        with backend.creating_frames():
            sent = without_index(backend.create_frame(found), getattr(given, "index", None))
    except MatchRecognizeError:
        raise
    except Exception as error:
        if not is_table and (unfit := find_unfit_value(found)) is not None:
            raise errors.values_without_common_type(
                name=name, column=unfit.column, row=unfit.row, reason=unfit.reason
            ) from error
        of_values = isinstance(error, TypeError | ValueError)
        if isinstance(error, PySparkException) and not of_values:
            raise  # what the engine says
        reason = first_line(error) if of_values else f"{first_line(error)} ({type(error).__name__})"
        raise errors.no_dataframe_of(name=name, reason=reason) from error
    vars(sent)[CLOSE_TIMES] = close_times
    return sent


def check_times(spark: SparkSession, schema: Any) -> None:
    """Raise TypeError for a column with times of day if the session does not have them."""
    for one in schema:
        if str(one.type).startswith("time64") and not has_times_of_day(spark):
            raise TypeError(f"column `{one.name}` is a time of day")


# Types of pandas' numbers that Spark has not, and those that have all of their values: a UINT8 of
# 200 would cross as a TINYINT, -56. Each is NumPy's, pandas' with NULL, or Arrow's.
CROSSING = {"float16": "float32", "halffloat[pyarrow]": "float[pyarrow]"} | {
    form.format(f"{unsigned}{bits}"): form.format(f"{signed}{min(2 * bits, 64)}")
    for bits in (8, 16, 32, 64)
    for unsigned, signed, form in (
        ("uint", "int", "{}"),
        ("UInt", "Int", "{}"),
        ("uint", "int", "{}[pyarrow]"),
    )
}


def crossing_kind(kind: Any) -> Any:
    """Return the type to which a pandas column is cast before it is sent, or None for no cast.

    Arrow times become NumPy times, of which PySpark drops the nanoseconds. Categories become
    their values.

    >>> import pandas as pd
    >>> crossing_kind(pd.UInt8Dtype())
    'Int16'
    """
    if hasattr(kind, "categories"):
        return crossing_kind(kind.categories.dtype)
    arrow = getattr(kind, "pyarrow_dtype", None)
    if arrow is None or str(kind) in CROSSING:
        return CROSSING.get(str(kind))
    if hasattr(arrow, "value_type") and hasattr(arrow, "index_type"):
        return type(kind)(arrow.value_type)
    if kind.kind not in "mM":
        return None
    zone = getattr(arrow, "tz", None)
    return f"datetime64[{arrow.unit}, {zone}]" if zone else kind.numpy_dtype


def check_pandas(name: str, frame: Any) -> None:
    """Raise MatchRecognizePlanError for a pandas frame whose values Spark would change."""
    if not len(frame.columns):
        raise errors.no_columns(name=name)
    for column, values in frame.items():
        kind = str(values.dtype)
        if kind.lower().startswith("uint64") and (values > 2**63 - 1).any():
            raise errors.beyond_bigint(column=column, name=name)
        if kind.startswith("period"):
            raise errors.no_dataframe_of(name=name, reason=f"column `{column}` is of type {kind}")
    if (number := find_beyond_bigint(frame)) is not None:
        raise errors.whole_number_beyond_bigint(
            name=name, column=number.column, row=number.row, value=str(number.value)
        )
    if (time := find_changed_time(frame)) is not None:
        raise errors.time_would_change(
            name=name, column=time.column, row=time.row, value=str(time.value), reason=time.reason
        )


NamedValues = dict[str, Any] | None
Arguments = NamedValues | list[Any]
Frames = dict[str, Any]  # what a query names as `{name}`


def runner_for(spark: SparkSession, query: QueryNode, args: Arguments, frames: Frames) -> Runner:
    """Return the object that runs the parts of a query.

    Positional arguments get names, because each part has only some of them.
    """
    relations = {site.relation.start for site in query.sites}
    for name, span in query.frames:
        frame = frames[name]
        if is_dataframe(frame) and not shares_views(spark, frame.sparkSession):
            if is_stopped(frame.sparkSession):
                raise errors.stopped_session()
            raise errors.table_of_another_session(span, name=name).located(query.source)
        if span.start in relations and not is_dataframe(frame):
            raise errors.no_table(span, name=name, value=shown(frame)).located(query.source)
    markers, count = query.markers, len(args) if isinstance(args, list) else 0
    if count != len(markers):
        given = f"has {counted(count, 'value') if count else 'no values'}"
        given = "is a dict" if isinstance(args, dict) else given
        first = markers[count : count + 1]
        raise errors.other_number_of_values(given, len(markers), *first).located(query.source)
    if isinstance(args, list):
        args = {parameter_name(one): value for one, value in zip(markers, args, strict=True)}
    return Runner(backend_of(spark), args, frames, partial(fill_frames, frames=frames))


_MARKER = re.compile(r"[:@]\s*([^\W\d]\w*)")
_NAME_BEFORE = re.compile(r"[\w`]$")


def markers(text: str) -> Iterator[tuple[str, Span]]:
    """Yield each `:name` of a clause that stands for a value, with its place.

    The type of a field of a struct, as in `a:INT`, is not a marker.

    >>> [name for name, _ in markers("x > :low AND CAST(y AS STRUCT<a:INT, b: INT>).a < :high")]
    ['low', 'high']
    """
    for name, span in places_of_parameters(text):
        is_apart = text[span.start + 1 : span.end] != name
        if not (is_apart or _NAME_BEFORE.search(text[: span.start])):
            yield name, span


def check_names(text: str, names: Iterable[str]) -> None:
    """Raise MatchRecognizePlanError for a name without a marker in the clause."""
    known = {name for name, _ in markers(text)}
    for name in names:
        if name not in known:
            raise errors.no_such_marker(name=name)


def find_possible_markers(text: str) -> tuple[str, ...]:
    """Return the names after `:` and `@` in a text of any language, in its strings, too."""
    return tuple(dict.fromkeys(_MARKER.findall(text)))


def refuse_unused(text: str, values: Mapping[str, object]) -> None:
    """Raise an error for a value whose name the text does not have.

    Do nothing if a marker has no value, because a later check reports that with its place.
    """
    if any(name not in values for name, _ in markers(text)):
        return  # the error of others, which know its place
    known = find_possible_markers(text)
    for name in values:
        if name not in known:
            raise errors.unused_value(name=name, known=known)


def with_values(source: Source, values: Mapping[str, str]) -> Source:
    """Return a clause with values, as SQL, instead of its markers.

    Raises:
        MatchRecognizePlanError: a marker has no value, or a value has no marker.
    """
    from matchrec.dialects.edits import Edit, edited

    with shown_in(source):
        found = list(markers(source.text))
        for name, span in found:
            if name not in values:
                raise rule_marker_without_value(span, name=name, known=tuple(values))
        check_names(source.text, values)
    if not found:
        return source
    return edited(source.text, (Edit(span, values[name]) for name, span in found)).source(source)


def run_around(query: QueryNode, runner: Runner, text: Template) -> DataFrame:
    """Run the query around the clauses.

    Raises:
        MatchRecognizePlanError: a parameter has no value; the error shows its place.
    """
    parameters = named_parameters(query.source.text)
    known = tuple(runner.args) if isinstance(runner.args, dict) else ()
    try:
        found = runner.stored(text) if query.keeps_text else runner.sql(text)
        if not parameters.keys() <= set(known):
            runner.analyse(found)
        return backend_of(runner.spark).finish(found, keeps_text=query.keeps_text)
    except AnalysisException as error:
        raise unbound(error, query, known) or error from None


def unbound(
    error: AnalysisException, query: QueryNode, known: Collection[str]
) -> MatchRecognizeError | None:
    """Return the error for a `:name` without a value; None if Spark reports another error."""
    if (name := unbound_name(error)) is None:
        return None
    place = named_parameters(query.source.text).get(name)
    if name in known:
        return lost_value_of(name, place).located(query.source)
    return errors.unbound_parameter(place, name=name, known=known).located(query.source)
