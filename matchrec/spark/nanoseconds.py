"""Find times of a frame that differ only in their nanoseconds, which Spark's times do not have.

Rows with such times are equal in ORDER BY. They are found when a frame is sent, and counted when a
clause divides and sorts the rows by some columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The attribute of a DataFrame that holds the `CloseTimes` of the frame it was made from.
CLOSE_TIMES = "_matchrec_close_times"


@dataclass(frozen=True, slots=True)
class CloseTimes:
    """The rows of a frame that have the microsecond of another row, but other nanoseconds."""

    frame: str  # the name of the frame in messages
    rows: Any  # a pandas frame of these rows
    times: Mapping[str, Any]  # the nanoseconds of these rows, by column
    parts: Mapping[str, str]  # an expression for the nanoseconds in the user's library, by column

    def count_ties(self, order: Sequence[str], keys: Iterable[str]) -> int:
        """Return the number of rows that only nanoseconds tell apart from another row.

        Args:
            order: the columns of ORDER BY; 0 is returned if the frame lacks one, as the values of
                that column may tell the rows apart.
            keys: the columns of PARTITION BY; those that the frame lacks do not count.
        """
        import pandas as pd

        names = [str(name) for name in self.rows.columns]
        if any(names.count(name) != 1 for name in order):
            return 0
        columns = {
            name: self.rows.iloc[:, names.index(name)] for name in {*order, *keys} & {*names}
        }
        values = {name: comparable(column) for name, column in columns.items()}
        times = [name for name in order if name in self.times]
        values |= {name: self.times[name] // 1000 for name in times}
        groups = pd.DataFrame(values).groupby(list(values), dropna=False, sort=False).ngroup()
        apart = pd.Series(False, groups.index)
        for name in times:
            same_group = pd.Series(self.times[name]).groupby(groups)
            apart |= same_group.transform("min") != same_group.transform("max")
        return int(apart.sum())


def comparable(column: Any) -> Any:
    """Return the values of a column as an array that pandas can group by."""
    if column.dtype == object:
        return column.where(column.notna(), None).map(repr).to_numpy()
    return column.array


def find_close_times(name: str, library: str | None, rows: Any) -> CloseTimes | None:
    """Return the close times of a pandas frame or an Arrow table; None if there are none.

    Args:
        name: what messages call the frame.
        library: the library of the user's frame, such as `polars`.
        rows: the frame or the table, with nanoseconds.
    """
    import numpy as np

    is_arrow = hasattr(rows, "slice")
    find = read_arrow_nanoseconds if is_arrow else read_pandas_nanoseconds
    names = [str(column) for column in (rows.column_names if is_arrow else rows.columns)]
    times = {}
    is_close = np.zeros(len(rows), bool)
    for index, column_name in enumerate(names):
        values = find(rows.column(index) if is_arrow else rows.iloc[:, index])
        if values is None:
            continue
        is_close_here = close_rows(values)
        if is_close_here.any():
            times[column_name] = values
            is_close |= is_close_here
    if not times:
        return None
    if is_arrow:
        close_frame = rows.filter(is_close).to_pandas(ignore_metadata=True)
    else:
        close_frame = rows[is_close]
    return CloseTimes(
        frame=name,
        rows=close_frame.reset_index(drop=True),
        times={column: values[is_close] for column, values in times.items()},
        parts={column: write_nanosecond_column(name, column, library) for column in times},
    )


def read_pandas_nanoseconds(column: Any) -> Any:
    """Return the times of a pandas column as int64; None for a column without nanoseconds."""
    import numpy as np
    import pandas as pd

    if column.dtype == object:
        value_kind = pd.api.types.infer_dtype(column, skipna=True)
        if value_kind in ("datetime", "datetime64"):
            column = pd.to_datetime(column, utc=True)
        elif value_kind in ("timedelta", "timedelta64"):
            column = pd.to_timedelta(column)
    if column.dtype.kind not in "mM" or getattr(column.dt, "unit", "") != "ns":
        return None
    numpy_type = "datetime64[ns]" if column.dtype.kind == "M" else "timedelta64[ns]"
    return column.to_numpy(dtype=numpy_type).view(np.int64)


def read_arrow_nanoseconds(column: Any) -> Any:
    """Return the times of an Arrow column as int64; None for a column without nanoseconds."""
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_temporal(column.type) or getattr(column.type, "unit", "") != "ns":
        return None
    return column.cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy()


def close_rows(times: Any) -> Any:
    """Return, for each row, whether another row has the same microsecond and other nanoseconds.

    >>> import numpy as np
    >>> close_rows(np.array([1_001, 2_000, 1_002, 2_000, 3_000])).tolist()
    [True, False, True, False, False]
    """
    import numpy as np

    result = np.zeros(len(times), bool)
    if not (times % 1000 != 0).any():
        return result
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    same_microsecond = np.diff(sorted_times // 1000) == 0
    group = np.concatenate([[0], np.cumsum(~same_microsecond)])
    has_others = np.zeros(group[-1] + 1, bool)
    has_others[group[1:][same_microsecond & (np.diff(sorted_times) != 0)]] = True
    result[order] = has_others[group]
    return result


def write_nanosecond_column(name: str, column: str, library: str | None) -> str:
    """Return the expression, in the user's library, that adds a column `ns` of nanoseconds."""
    time = f'{name}["{column}"]'
    if library == "pandas":
        return f'{name}.assign(ns={time}.astype("int64") % 1000)'
    if library == "polars":
        return f"{name}.with_columns(ns={time}.to_physical() % 1000)"
    return f'{name}.append_column("ns", {time}.cast("int64"))'


def find_nanosecond_ties(
    frames: Iterable[DataFrame], order: Sequence[str], keys: Collection[str]
) -> Iterable[tuple[CloseTimes, str, int]]:
    """Yield each frame with rows that only nanoseconds tell apart.

    Each item is the frame's close times, the name of the ORDER BY column, and the number of rows.

    Args:
        frames: the DataFrames that a clause reads.
        order: the columns of ORDER BY.
        keys: the columns of PARTITION BY.
    """
    for frame in frames:
        close: CloseTimes | None = getattr(frame, "__dict__", {}).get(CLOSE_TIMES)
        if close is None:
            continue
        column = next((name for name in order if name in close.times), None)
        if column is None:
            continue
        count = close.count_ties(order, keys)
        if count:
            yield close, column, count
