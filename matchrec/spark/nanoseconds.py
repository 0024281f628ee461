"""Find times of a frame that differ only in their nanoseconds, which Spark drops.

Spark's times have microseconds, so rows with such times become equal in ORDER BY:

    10:00:00.000001 001      after Spark has dropped the last three digits, these two rows
    10:00:00.000001 002      have the same time, and their order is lost

When a frame is sent, `find_ambiguous_times` returns these rows with their nanoseconds, which are
stored with the DataFrame. When a clause divides and sorts the rows by some columns,
`find_nanosecond_ties` counts the rows whose order depends on the nanoseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.spark.frames import is_arrow_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The attribute of a DataFrame that holds the `AmbiguousTimes` of the frame it was made from.
AMBIGUOUS_TIMES = "_matchrec_ambiguous_times"


@dataclass(frozen=True, slots=True)
class AmbiguousTimes:
    """The rows of a frame with the same microsecond as another row, but other nanoseconds."""

    # The name of the frame in messages.
    frame_name: str
    # A pandas frame of these rows.
    rows: Any
    # The times of these rows in nanoseconds, int64[n], by column.
    nanoseconds: Mapping[str, Any]
    # An expression in the user's library that adds a column `ns` of nanoseconds, by column.
    expressions: Mapping[str, str]

    def count_ties(self, order: Sequence[str], keys: Collection[str]) -> int:
        """Return the number of rows that differ from another row only in nanoseconds.

        Args:
            order: the columns of ORDER BY. If the frame lacks one of them, the result is 0, because
                the values of this column may differ, too.
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
                values[name] = self.nanoseconds[name] // 1000
            else:
                values[name] = make_groupable(self.rows.iloc[:, frame_columns.index(name)])
        # The rows of a group have equal keys and equal order in Spark.
        groups = pd.DataFrame(values).groupby(list(values), dropna=False, sort=False).ngroup()
        differs_in_group = pd.Series(False, groups.index)
        for name in time_columns:
            times = pd.Series(self.nanoseconds[name]).groupby(groups)
            differs_in_group |= times.transform("min") != times.transform("max")
        return int(differs_in_group.sum())


def make_groupable(column: Any) -> Any:
    """Return the values of a pandas column as an array that pandas can group by.

    Python objects, which pandas may be unable to group by, are replaced by their `repr`.
    """
    if column.dtype == object:
        return column.where(column.notna(), None).map(repr).to_numpy()
    return column.array


def find_ambiguous_times(frame_name: str, library: str, frame: Any) -> AmbiguousTimes | None:
    """Return the rows with the same microsecond as another row, but other nanoseconds.

    Returns None if the frame has no such rows.

    Args:
        frame_name: the name of the frame in messages.
        library: the library of the user's frame, such as `polars`.
        frame: the rows as a pandas frame or an Arrow table, with nanoseconds.
    """
    import numpy as np

    is_arrow = is_arrow_table(frame)
    nanoseconds = {}
    is_ambiguous = np.zeros(len(frame), bool)
    for name, values in read_nanosecond_columns(frame, is_arrow=is_arrow):
        is_ambiguous_here = find_ambiguous_rows(values)
        if is_ambiguous_here.any():
            nanoseconds[name] = values
            is_ambiguous |= is_ambiguous_here
    if not nanoseconds:
        return None
    if is_arrow:
        rows = frame.filter(is_ambiguous).to_pandas(ignore_metadata=True)
    else:
        rows = frame[is_ambiguous]
    return AmbiguousTimes(
        frame_name=frame_name,
        rows=rows.reset_index(drop=True),
        nanoseconds={name: values[is_ambiguous] for name, values in nanoseconds.items()},
        expressions={name: write_nanoseconds(frame_name, name, library) for name in nanoseconds},
    )


def read_nanosecond_columns(frame: Any, *, is_arrow: bool) -> Iterator[tuple[str, Any]]:
    """Yield the name and the values, as int64, of each column whose times have nanoseconds.

    Args:
        frame: a pandas frame or an Arrow table.
        is_arrow: whether the frame is an Arrow table.
    """
    names = frame.column_names if is_arrow else frame.columns
    for index, name in enumerate(names):
        if is_arrow:
            values = read_arrow_nanoseconds(frame.column(index))
        else:
            values = read_pandas_nanoseconds(frame.iloc[:, index])
        if values is not None:
            yield str(name), values


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
    if not (times % 1000 != 0).any():
        return is_ambiguous
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    # A group is the rows of one microsecond. It is ambiguous if two neighbours in it differ.
    has_same_microsecond = np.diff(sorted_times // 1000) == 0
    group = np.concatenate([[0], np.cumsum(~has_same_microsecond)])
    differs = has_same_microsecond & (np.diff(sorted_times) != 0)
    is_ambiguous_group = np.zeros(group[-1] + 1, bool)
    is_ambiguous_group[group[1:][differs]] = True
    is_ambiguous[order] = is_ambiguous_group[group]
    return is_ambiguous


def write_nanoseconds(frame_name: str, column: str, library: str) -> str:
    """Return the expression, in the user's library, that adds a column `ns` of nanoseconds."""
    time = f'{frame_name}["{column}"]'
    if library == "pandas":
        return f'{frame_name}.assign(ns={time}.astype("int64") % 1000)'
    if library == "polars":
        return f"{frame_name}.with_columns(ns={time}.to_physical() % 1000)"
    return f'{frame_name}.append_column("ns", {time}.cast("int64"))'


def find_nanosecond_ties(
    frames: Collection[DataFrame], order: Sequence[str], keys: Collection[str]
) -> Iterator[tuple[AmbiguousTimes, str, int]]:
    """Yield each frame with rows whose order depends on nanoseconds.

    Each item has the ambiguous times of the frame, the first ORDER BY column with such times, and
    the number of rows.

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
        count = times.count_ties(order, keys)
        if count:
            yield times, column, count
