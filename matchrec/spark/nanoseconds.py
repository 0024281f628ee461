"""Find the times of a frame that differ only in their nanoseconds, which Spark drops.

Spark's times have microseconds, so such times become equal, and ORDER BY no longer tells their rows
apart:

    10:00:00.000001001      becomes 10:00:00.000001
    10:00:00.000001002      becomes 10:00:00.000001

When a frame is sent, `find_ambiguous_times` returns the rows of such times with their nanoseconds,
which are stored with the DataFrame. When a clause reads the DataFrame, `find_nanosecond_ties`
counts the rows whose order depends on the nanoseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from matchrec.spark.frames import is_arrow_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The attribute of a DataFrame that holds the `AmbiguousTimes` of the frame it was made from.
AMBIGUOUS_TIMES = "_matchrec_ambiguous_times"

NANOSECONDS_PER_MICROSECOND = 1000


@dataclass(frozen=True, slots=True)
class AmbiguousTimes:
    """The rows of a frame with the same microsecond as another row, but other nanoseconds."""

    # The name of the frame in messages.
    frame_name: str
    # These rows as a pandas frame, with all columns.
    rows: Any
    # By the name of each column that has such times: its times in these rows, in nanoseconds,
    # int64[n].
    nanoseconds: Mapping[str, Any]
    # By the name of such a column: an expression of the user's library that returns the frame with
    # the column's nanoseconds in a new column `ns`.
    expressions: Mapping[str, str]

    def count_ties(self, order: Sequence[str], keys: Collection[str]) -> int:
        """Return the number of rows that only nanoseconds tell apart from another row.

        Args:
            order: the columns of ORDER BY. If the frame lacks one of them, the result is 0, because
                this column can tell the rows apart, too.
            keys: the columns of PARTITION BY. Columns that the frame lacks are ignored.
        """
        import pandas as pd

        frame_columns = [str(name) for name in self.rows.columns]
        if any(frame_columns.count(name) != 1 for name in order):
            return 0
        time_columns = [name for name in order if name in self.nanoseconds]
        values = {}
        for name in {*order, *keys} & {*frame_columns}:
            if name in time_columns:
                values[name] = self.nanoseconds[name] // NANOSECONDS_PER_MICROSECOND
            else:
                values[name] = make_groupable(self.rows.iloc[:, frame_columns.index(name)])
        # For each row, the number of its group: the rows that Spark does not tell apart.
        groups = pd.DataFrame(values).groupby(list(values), dropna=False, sort=False).ngroup()
        differs_in_group = pd.Series(False, groups.index)
        for name in time_columns:
            times = pd.Series(self.nanoseconds[name]).groupby(groups)
            differs_in_group |= times.transform("min") != times.transform("max")
        return int(differs_in_group.sum())


def make_groupable(column: Any) -> Any:
    """Return the values of a pandas column as an array that pandas can group by.

    Python objects are replaced by their `repr`, because pandas cannot group by all of them.
    """
    if column.dtype == object:
        return column.where(column.notna(), None).map(repr).to_numpy()
    return column.array


def find_ambiguous_times(frame_name: str, library: str, frame: Any) -> AmbiguousTimes | None:
    """Return the rows with the same microsecond as another row, but other nanoseconds.

    Returns None if the frame has no such rows.

    Args:
        frame_name: the name of the frame in messages.
        library: the library of the user's frame: `pandas`, `polars` or `pyarrow`.
        frame: the rows as a pandas frame or an Arrow table, before any times are cut to
            microseconds.
    """
    import numpy as np

    is_arrow = is_arrow_table(frame)
    nanoseconds = {}
    is_ambiguous = np.zeros(len(frame), bool)  # for each row, in any column
    for name, times in read_nanosecond_columns(frame, is_arrow=is_arrow):
        is_ambiguous_in_column = find_ambiguous_rows(times)
        if is_ambiguous_in_column.any():
            nanoseconds[name] = times
            is_ambiguous |= is_ambiguous_in_column
    if not nanoseconds:
        return None
    if is_arrow:
        rows = frame.filter(is_ambiguous).to_pandas(
            ignore_metadata=True, types_mapper=find_pandas_type
        )
    else:
        rows = frame[is_ambiguous]
    return AmbiguousTimes(
        frame_name=frame_name,
        rows=rows.reset_index(drop=True),
        nanoseconds={name: times[is_ambiguous] for name, times in nanoseconds.items()},
        expressions={name: write_nanoseconds(frame_name, name, library) for name in nanoseconds},
    )


def find_pandas_type(arrow_type: Any) -> Any:
    """Return the type of pandas that keeps the nanoseconds of times of day; None for others."""
    import pandas as pd
    import pyarrow as pa

    return pd.ArrowDtype(arrow_type) if pa.types.is_time64(arrow_type) else None


def read_nanosecond_columns(frame: Any, *, is_arrow: bool) -> Iterator[tuple[str, Any]]:
    """Yield the name and the times, as int64[n], of each column whose times have nanoseconds.

    Args:
        frame: a pandas frame or an Arrow table.
        is_arrow: whether the frame is an Arrow table.
    """
    names = frame.column_names if is_arrow else frame.columns
    for index, name in enumerate(names):
        if is_arrow:
            times = read_arrow_nanoseconds(frame.column(index))
        else:
            times = read_pandas_nanoseconds(frame.iloc[:, index])
        if times is not None:
            yield str(name), times


def read_pandas_nanoseconds(column: Any) -> Any:
    """Return the times of a pandas column as nanoseconds, int64[n]; None if it has no nanoseconds.

    Python objects of times become nanoseconds, too. A missing time is the least int64.
    """
    import numpy as np
    import pandas as pd

    if column.dtype == object:
        value_kind = pd.api.types.infer_dtype(column, skipna=True)
        # A time that does not fit into nanoseconds, such as one in the year 9999, cannot have
        # nanoseconds. It counts as missing.
        if value_kind in ("datetime", "datetime64"):
            column = pd.to_datetime(column, utc=True, errors="coerce")
        elif value_kind in ("timedelta", "timedelta64"):
            column = pd.to_timedelta(column, errors="coerce")
    if column.dtype.kind not in "mM" or getattr(column.dt, "unit", "") != "ns":
        return None
    numpy_type = "datetime64[ns]" if column.dtype.kind == "M" else "timedelta64[ns]"
    return column.to_numpy(dtype=numpy_type).view(np.int64)


def read_arrow_nanoseconds(column: Any) -> Any:
    """Return the times of an Arrow column as nanoseconds, int64[n]; None if it has no nanoseconds.

    A missing time is the least int64.
    """
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_temporal(column.type) or getattr(column.type, "unit", "") != "ns":
        return None
    return column.cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy()


def find_ambiguous_rows(times: Any) -> Any:
    """Return, for each row, whether another row has the same microsecond and other nanoseconds.

    Args:
        times: int64[n], the times of the rows in nanoseconds.

    >>> import numpy as np
    >>> find_ambiguous_rows(np.array([1_001, 2_000, 1_002, 2_000, 3_000])).tolist()
    [True, False, True, False, False]
    """
    import numpy as np

    is_ambiguous = np.zeros(len(times), bool)
    if not (times % NANOSECONDS_PER_MICROSECOND).any():
        return is_ambiguous
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    # A group is the rows of one microsecond. It is ambiguous if two neighbours in it differ.
    has_same_microsecond = np.diff(sorted_times // NANOSECONDS_PER_MICROSECOND) == 0
    group = np.concatenate([[0], np.cumsum(~has_same_microsecond)])
    differs = has_same_microsecond & (np.diff(sorted_times) != 0)
    is_ambiguous_group = np.zeros(group[-1] + 1, bool)
    is_ambiguous_group[group[1:][differs]] = True
    is_ambiguous[order] = is_ambiguous_group[group]
    return is_ambiguous


def write_nanoseconds(frame_name: str, column: str, library: str) -> str:
    """Return an expression that returns a frame with a new column `ns` of nanoseconds.

    Args:
        frame_name: the name of the frame.
        column: the name of the column of times.
        library: the library of the frame: `pandas`, `polars` or `pyarrow`.

    >>> write_nanoseconds("df", "ts", "pandas")
    'df.assign(ns=df["ts"].astype("int64") % 1000)'
    """
    time = f'{frame_name}["{column}"]'
    if library == "pandas":
        return f'{frame_name}.assign(ns={time}.astype("int64") % 1000)'
    if library == "polars":
        return f"{frame_name}.with_columns(ns={time}.to_physical() % 1000)"
    return f'{frame_name}.append_column("ns", {time}.cast("int64"))'


class NanosecondTies(NamedTuple):
    """The rows of a frame whose order in a clause depends on nanoseconds."""

    times: AmbiguousTimes  # the ambiguous times of the frame
    column: str  # the first ORDER BY column that has such times
    row_count: int  # the number of rows


def find_nanosecond_ties(
    frames: Collection[DataFrame], order: Sequence[str], keys: Collection[str]
) -> Iterator[NanosecondTies]:
    """Yield the ties of each frame that has rows whose order depends on nanoseconds.

    Args:
        frames: the DataFrames that a clause reads.
        order: the columns of ORDER BY.
        keys: the columns of PARTITION BY.
    """
    for frame in frames:
        times: AmbiguousTimes | None = getattr(frame, "__dict__", {}).get(AMBIGUOUS_TIMES)
        if times is None:
            continue
        column = next((name for name in order if name in times.nanoseconds), None)
        if column is None:
            continue
        row_count = times.count_ties(order, keys)
        if row_count:
            yield NanosecondTies(times, column, row_count)
