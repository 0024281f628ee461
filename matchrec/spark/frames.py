"""Prepare pandas frames that are sent to a session, and find values that cannot be sent.

The values of an object column, which has Python objects, decide its type. So the whole column is
converted to Arrow before its rows are sent in several calls: all calls then have the type of the
whole column. Values that would be changed are found before anything is sent.

Pandas takes a second to load, and most queries do not need it. So functions import it, and frames
and columns have the type Any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from matchrec.arguments import find_table_library

# The results of `infer_dtype` of pandas for object columns of times. A column of "date" can also
# have datetimes.
TIME_KINDS = {"date", "datetime", "datetime64"}

# The exceptions that PyArrow raises for a column whose values have no common type. PyArrow's own
# exceptions are subclasses of them.
CONVERSION_ERRORS = (ValueError, TypeError, OverflowError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class UnfitValue:
    """A value that cannot be sent unchanged with the other values of its column."""

    column: str
    row: int  # the position of its row, from 0
    value: object
    reason: str  # why it cannot be sent unchanged, for the error
    # The names of the classes of the values in the rows before, each once and without NULL. Empty
    # if `find_unfit_value` has not made this record.
    types_before: tuple[str, ...] = ()


def is_arrow_table(frame: Any) -> bool:
    """Return whether a frame is an Arrow table, not a pandas frame.

    The class decides: a pandas frame has an attribute for each column, whatever the column's name.
    """
    return find_table_library(frame) == "pyarrow"


def make_sample_frame(frame: Any) -> Any:
    """Return a frame of one row whose columns have the types of an empty frame.

    An object column, which has no type, gets a string.
    """
    import pandas as pd

    samples = {index: make_sample(dtype) for index, dtype in enumerate(frame.dtypes)}
    sample = pd.DataFrame(samples)
    sample.columns = frame.columns
    return sample


def make_sample(dtype: Any) -> Any:
    """Return an array with one value of a type, the `dtype` of a pandas column.

    >>> import numpy as np, pandas as pd
    >>> make_sample(np.dtype("int16")), make_sample(np.dtype("O"))
    (array([0], dtype=int16), array([''], dtype=object))
    >>> make_sample(pd.Int8Dtype()).dtype
    Int8Dtype()
    """
    import numpy as np
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return make_sample(dtype.categories.dtype)
    if dtype == np.dtype(object):
        return np.array([""], dtype=object)
    if isinstance(dtype, np.dtype):
        return np.zeros(1, dtype)
    return pd.array([make_empty_value(dtype)], dtype=dtype)


def make_empty_value(dtype: Any) -> object:
    """Return a value of a pandas extension type: NULL, or an empty list, map or struct.

    PySpark Classic accepts no NULL in a column of lists, maps or structs.
    """
    import pandas as pd
    import pyarrow as pa

    arrow_type = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else pa.null()
    if pa.types.is_struct(arrow_type):
        return {}
    return [] if pa.types.is_nested(arrow_type) else pd.NA


def convert_objects_to_arrow(frame: Any) -> Any:
    """Return a frame with its columns of Python objects converted to Arrow.

    Raises:
        Exception: one of `CONVERSION_ERRORS`, if the values of a column have no common type.
    """
    return replace_columns(frame, find_arrow_array)


def merge_chunks(frame: Any) -> Any:
    """Return a frame with each Arrow column in one chunk, as PySpark needs it."""
    return replace_columns(frame, merge_arrow_chunks)


def cut_to_microseconds(frame: Any) -> Any:
    """Return a frame with its times cut to microseconds.

    In ANSI mode, PySpark cannot send nanoseconds by Arrow, and would send the rows without Arrow.
    """
    return replace_columns(frame, cast_to_microseconds)


def cast_to_microseconds(column: Any) -> Any:
    """Return the times of a column of nanoseconds, cut to microseconds; None for other columns."""
    if column.dtype.kind not in "mM" or getattr(column.dt, "unit", "") != "ns":
        return None
    return column.dt.as_unit("us").array


def replace_columns(frame: Any, make_array: Callable[[Any], Any]) -> Any:
    """Return a frame with some columns replaced.

    Args:
        frame: a pandas frame. Several of its columns can have the same name.
        make_array: returns the new array of a column, or None to keep the column.
    """
    import pandas as pd

    new_arrays = {}
    for index, (_, column) in enumerate(frame.items()):
        array = make_array(column)
        if array is not None:
            new_arrays[index] = array
    if not new_arrays:
        return frame
    old_arrays = {index: frame.iloc[:, index].array for index in range(frame.shape[1])}
    result = pd.DataFrame(old_arrays | new_arrays, copy=False)
    result.columns = frame.columns
    return result


def find_arrow_array(column: Any) -> Any:
    """Return the Arrow-backed array of a column of Python objects; None for other columns."""
    import pandas as pd

    if not has_objects(column):
        return None
    return pd.arrays.ArrowExtensionArray(convert_column(column))


def has_objects(column: Any) -> bool:
    """Return whether a column can have Python objects, whose size in bytes pandas does not know.

    The categories of a categorical column can be Python objects.
    """
    import pandas as pd

    return column.dtype == object or isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype)


def convert_column(column: Any) -> Any:
    """Return the Arrow array that PySpark would make of a column.

    The result has several chunks if the values take more than 2 GiB.

    Raises:
        Exception: one of `CONVERSION_ERRORS`, if the values have no common type.
    """
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.dtype.categories.dtype)
    # PyArrow itself finds the NULLs of an array that pandas converts.
    is_null = None if hasattr(column.array, "__arrow_array__") else column.isnull()
    return pa.Array.from_pandas(column, mask=is_null, safe=False)


def merge_arrow_chunks(column: Any) -> Any:
    """Return a column of several Arrow chunks as an array of one chunk; None for other columns."""
    import pandas as pd
    import pyarrow as pa

    if not isinstance(column.dtype, pd.ArrowDtype | pd.StringDtype):
        return None
    chunks = pa.Array.from_pandas(column)
    if not isinstance(chunks, pa.ChunkedArray) or chunks.num_chunks < 2:
        return None
    return pd.arrays.ArrowExtensionArray(pa.chunked_array([chunks.combine_chunks()]))


def iterate_object_columns(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and the values of each object column."""
    for name, column in frame.items():
        if column.dtype == object:
            yield str(name), column


def find_unfit_value(frame: Any) -> UnfitValue | None:
    """Return the first value that stops PyArrow from converting an object column; None for none."""
    for name, column in iterate_object_columns(frame):
        if find_conversion_error(column) is None:
            continue
        row = find_unfit_row(column)
        reason = find_conversion_error(column.iloc[: row + 1]) or ""
        values_before = column.iloc[:row].dropna()
        types_before = dict.fromkeys(type(value).__name__ for value in values_before)
        return UnfitValue(
            column=name,
            row=row,
            value=column.iloc[row],
            reason=reason,
            types_before=tuple(types_before),
        )
    return None


def find_unfit_row(column: Any) -> int:
    """Return the position of the first value that stops PyArrow from converting a column.

    PyArrow converts the rows before this value, and fails as soon as the value is among the rows.
    So bisection over the number of rows finds it.

    Args:
        column: a pandas column that PyArrow cannot convert.
    """

    def fails(row_count: int) -> bool:
        """Return whether PyArrow fails to convert the first rows."""
        return find_conversion_error(column.iloc[:row_count]) is not None

    row_counts = range(1, len(column) + 1)
    return bisect_left(row_counts, True, key=fails)


def find_conversion_error(column: Any) -> str | None:
    """Return the first line of PyArrow's error for a column; None if it can be converted."""
    try:
        convert_column(column)
    except CONVERSION_ERRORS as error:
        return str(error).partition("\n")[0]
    return None


def find_changed_time(frame: Any) -> UnfitValue | None:
    """Return the first time in an object column that would be changed without an error, or None.

    Some versions of PyArrow and PySpark drop the time of day of a datetime among dates, and the
    time zone of a time among times without one.
    """
    import pandas as pd

    for name, column in iterate_object_columns(frame):
        if pd.api.types.infer_dtype(column, skipna=True) not in TIME_KINDS:
            continue
        values = column.to_numpy()
        rows = column.notna().to_numpy().nonzero()[0]
        first_description = describe_time(values[rows[0]])
        for row in rows:
            description = describe_time(values[row])
            if description != first_description:
                reason = f"{description}; values before it are {first_description}"
                return UnfitValue(name, int(row), values[row], reason)
    return None


def describe_time(value: Any) -> str:
    """Return how errors describe a value in a column of times.

    The values of a column can be sent unchanged only if all of them have the same description.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return "a date"
    return f"a time {'with' if getattr(value, 'tzinfo', None) else 'without'} a time zone"


def find_number_beyond_bigint(frame: Any) -> UnfitValue | None:
    """Return the first whole number of an object column that is not a BIGINT; None for none."""
    import pandas as pd

    for name, column in iterate_object_columns(frame):
        if pd.api.types.infer_dtype(column, skipna=True) != "integer":
            continue
        numbers = column[column.notna()]
        if is_bigint(numbers.min()) and is_bigint(numbers.max()):
            continue
        for row, value in enumerate(column):
            if not pd.isna(value) and not is_bigint(value):
                return UnfitValue(name, row, value, "beyond BIGINT")
    return None


def is_bigint(number: int) -> bool:
    """Return whether a number fits into a BIGINT."""
    return -(2**63) <= number < 2**63
