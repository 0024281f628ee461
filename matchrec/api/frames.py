"""Send frames of pandas, Polars and Arrow to a session, as DataFrames of Spark.

1. `read_frame` turns a frame of any library into a pandas frame or an Arrow table.
2. `check_pandas` rejects values that Spark would change, and `cast_pandas_columns` casts to types
   that Spark has.
3. `send_frame` sends the rows. If that fails, `explain_failed_conversion` finds a clearer error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.arguments import find_table_library, is_dataframe
from matchrec.errors import MatchRecognizeError
from matchrec.errors import frames as errors
from matchrec.spark.arrow_tables import cast_to_spark_types
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.frames import (
    cut_to_microseconds,
    find_changed_time,
    find_number_beyond_bigint,
    find_unfit_value,
    is_arrow_table,
)
from matchrec.spark.nanoseconds import AMBIGUOUS_TIMES, find_ambiguous_times
from matchrec.spark.sail.probes import has_times_of_day
from matchrec.spark.sent_rows import remember_index

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


# The rows of a clause: a DataFrame of Spark, or a frame of pandas, Polars or Arrow.
Frame: TypeAlias = "DataFrame | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table"


def cast_to_dataframe(frame: Frame) -> DataFrame:
    """Return a checked argument unchanged, as a DataFrame of Spark for type checkers.

    `check_arguments` has already converted the frame: see `argument_kinds.convert_frame`.
    """
    return cast("DataFrame", frame)


def to_dataframe(spark: SparkSession, name: str, value: object) -> object:
    """Return a frame of any library as a DataFrame of Spark; return any other value unchanged.

    The rows of a frame of pandas, Polars or Arrow are sent to the session, once.

    Args:
        spark: the session that gets the rows.
        name: what errors and warnings call the frame.
        value: the frame.

    Raises:
        MatchRecognizePlanError: the frame has values or types that Spark does not have, or would
            change.
        pyspark.errors.PySparkException: the engine itself fails.
    """
    if is_dataframe(value):
        return find_backend(spark).keep_sent_rows(cast("DataFrame", value))
    library = find_table_library(value)
    if library is None:
        return value
    frame = read_frame(value, library)
    if is_arrow_table(frame):
        if spark.version.startswith("3."):
            raise errors.arrow_table_not_supported(version=spark.version, name=name)
    else:
        check_pandas(name, frame)
        frame = cast_pandas_columns(frame)
    # Look for ambiguous times while the frame still has nanoseconds: Spark has only microseconds.
    ambiguous_times = find_ambiguous_times(name, library, frame)
    if not is_arrow_table(frame):
        frame = cut_to_microseconds(frame)
    try:
        df = send_frame(spark, frame, index=getattr(value, "index", None))
    except MatchRecognizeError:
        raise
    except Exception as error:
        clearer_error = explain_failed_conversion(name, frame, error)
        if clearer_error is None:
            raise
        raise clearer_error from error
    vars(df)[AMBIGUOUS_TIMES] = ambiguous_times
    return df


def send_frame(spark: SparkSession, frame: Any, index: Any) -> DataFrame:
    """Send the rows of a pandas frame or an Arrow table to a session.

    Args:
        spark: the session.
        frame: the rows, whose types Spark has.
        index: the index of the frame, whose names errors mention later; None if it has none.
    """
    if is_arrow_table(frame):
        frame = cast_to_spark_types(frame)
        check_times(spark, frame.schema)
    backend = find_backend(spark)
    with backend.use_arrow():
        return remember_index(backend.create_frame(frame), index)


def read_frame(value: Any, library: str) -> Any:
    """Return a frame of pandas or Arrow unchanged, and one of Polars as an Arrow table.

    Args:
        value: the frame. A LazyFrame of Polars is computed.
        library: the name of its library: "pandas", "polars" or "pyarrow".
    """
    if library != "polars":
        return value
    is_lazy = hasattr(value, "collect")
    frame = value.collect() if is_lazy else value
    return frame.to_arrow()


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
                name=name,
                column=value.column,
                row=value.row,
                value=value.value,
                types_before=value.types_before,
                reason=value.reason,
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


def build_casts() -> dict[str, str]:
    """Return the numeric types of pandas that Spark does not have, and the types of their casts.

    The new types have all values of the old ones. Without the cast, a UINT8 of 200 would become a
    TINYINT of -56. Each type has up to three forms: of NumPy, of pandas with NULL, and of Arrow.
    """
    casts = {"float16": "float32", "halffloat[pyarrow]": "float[pyarrow]"}
    for bits in (8, 16, 32, 64):
        # `check_pandas` rejects UINT64 values that a BIGINT does not have.
        wider_bits = min(2 * bits, 64)
        casts[f"uint{bits}"] = f"int{wider_bits}"
        casts[f"UInt{bits}"] = f"Int{wider_bits}"
        casts[f"uint{bits}[pyarrow]"] = f"int{wider_bits}[pyarrow]"
    return casts


CASTS = build_casts()


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
    number = find_number_beyond_bigint(frame)
    if number is not None:
        raise errors.whole_number_beyond_bigint(
            name=name, column=number.column, row=number.row, value=str(number.value)
        )
    time = find_changed_time(frame)
    if time is not None:
        raise errors.mixed_time_types(
            name=name, column=time.column, row=time.row, value=str(time.value), reason=time.reason
        )
