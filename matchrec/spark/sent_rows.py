"""Send rows of this program to an engine once, and keep them there.

Over Connect, the plan of a DataFrame of rows of this program has the rows in it. One query sends
this plan in some twenty calls, and a call has at most 128 MiB. Many rows are sent to Spark's server
separately from the plan, but the server makes a table of them in each call. So the rows become a
temporary view, and the plan has the name of the view:

1. `send_in_several_calls` divides rows that are too many for one call.
2. `keep_in_view` makes a view of the rows of a call.
3. When no plan names a view any more, its name is added to a list. `drop_unread_views` drops the
   views in this list when rows are sent again.

Rows are a pandas frame or an Arrow table.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, cast
from uuid import uuid4
from weakref import finalize

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.errors.frames import dataframe_too_large_to_send, row_too_large_to_send
from matchrec.spark.frames import (
    convert_objects_to_arrow,
    is_arrow_table,
    make_sample_frame,
    merge_chunks,
)

# How many bytes of rows one call sends.
BYTES_PER_CALL = 32 << 20

# How many bytes of rows a plan can have: the limit of a call, less some space for the plan itself.
MAX_BYTES_PER_PLAN = 127 << 20

# Rows with fewer bytes than this get no view. They are sent with each call.
MIN_BYTES_OF_VIEW = 1 << 18

# The attribute of a plan that holds the DataFrame over the view of its rows.
VIEW_OF_PLAN = "_matchrec_kept"

# The attribute of a session that holds the names of the views that no plan names any more.
UNREAD_VIEWS = "_matchrec_left"

# The attribute of a DataFrame that holds the names of the index of its pandas frame.
INDEX_NAMES = "_matchrec_index"


def with_types_of_all_rows(rows: Any) -> Any:
    """Return rows whose columns have types that fit all their values.

    Without this step, the first thousand values would decide on the type.

    Args:
        rows: an Arrow table, which is returned unchanged, or a pandas frame, whose columns of
            Python objects become columns of Arrow.
    """
    return rows if is_arrow_table(rows) else convert_objects_to_arrow(rows)


def make_sample_row(rows: Any) -> Any:
    """Return one row with the column types of an empty frame or table.

    A session reads the types from the row.
    """
    if not is_arrow_table(rows):
        return make_sample_frame(rows)
    import pyarrow as pa

    nulls = [pa.nulls(1, type_) for type_ in rows.schema.types]
    return pa.Table.from_arrays(nulls, names=rows.schema.names)


def send_in_several_calls(spark: SparkSession, rows: Any, first_row: int) -> DataFrame:
    """Return the DataFrame of some rows: sent in one call, or the union of their two halves.

    Half of the rows need not have half of the bytes, so each half is measured in turn. The plan is
    only as deep as the number of halvings, because protobuf bounds the depth of a plan.

    Args:
        spark: a session on Sail.
        rows: at least one row, as `with_types_of_all_rows` returns them.
        first_row: the index of the first of these rows in the user's frame.

    Raises:
        MatchRecognizePlanError: a single row has more bytes than one call can send.
    """
    middle = len(rows) // 2
    is_single_row = middle == 0
    if is_single_row or not is_large(rows):
        frame = spark.createDataFrame(combine_chunks(rows))
        size = count_bytes(cast("Any", frame)._plan)
        if size <= MAX_BYTES_PER_PLAN:
            return keep_in_view(frame)
        if is_single_row:
            max_mebibytes = MAX_BYTES_PER_PLAN >> 20
            raise row_too_large_to_send(row=first_row, size=size >> 20, most=max_mebibytes)
    first_half = rows.slice(0, middle) if is_arrow_table(rows) else rows.iloc[:middle]
    second_half = rows.slice(middle) if is_arrow_table(rows) else rows.iloc[middle:]
    first_frame = send_in_several_calls(spark, first_half, first_row)
    second_frame = send_in_several_calls(spark, second_half, first_row + middle)
    return first_frame.unionAll(second_frame)


def combine_chunks(rows: Any) -> Any:
    """Return rows with each column in one chunk, because a chunk costs some hundred bytes."""
    return rows.combine_chunks() if is_arrow_table(rows) else merge_chunks(rows)


def is_large(rows: Any) -> bool:
    """Return whether rows have more than BYTES_PER_CALL bytes, and are sent in several calls.

    Args:
        rows: an Arrow table, or a pandas frame without columns of Python objects.
    """
    size = rows.nbytes if is_arrow_table(rows) else rows.memory_usage(index=False).sum()
    return int(size) > BYTES_PER_CALL


def remember_index(frame: DataFrame, index: Any) -> DataFrame:
    """Store the names of a pandas index in a DataFrame, which has no index, and return it.

    Errors about unknown columns mention these names. An index of times is stored as None if it has
    no name, because users can take the times for a column.

    Args:
        frame: the DataFrame of a pandas frame.
        index: the index of the pandas frame.
    """
    has_times = type(index).__name__ == "DatetimeIndex"
    names = tuple(name for name in getattr(index, "names", ()) if name is not None or has_times)
    vars(frame)[INDEX_NAMES] = names
    return frame


def list_index_names(frames: Iterable[Any]) -> tuple[str | None, ...]:
    """Return the names of the pandas indexes of some DataFrames, see `remember_index`."""
    names: list[str | None] = []
    for frame in frames:
        names += getattr(frame, "__dict__", {}).get(INDEX_NAMES, ())
    return tuple(names)


def keep_in_view(frame: DataFrame) -> DataFrame:
    """Return a DataFrame over a temporary view of the rows of a DataFrame.

    If the rows have less than MIN_BYTES_OF_VIEW bytes, the DataFrame is returned as it is. The view
    is needed as long as a plan names it. It is dropped when rows are sent again, not when the plan
    is deleted, because Python can delete a plan in the middle of another call of the session.

    Raises:
        MatchRecognizePlanError: the rows have more bytes than one call can send.
    """
    spark = frame.sparkSession
    plan = cast("Any", frame)._plan
    size = count_bytes(plan)
    if size < MIN_BYTES_OF_VIEW:
        return frame
    earlier_view = vars(plan).get(VIEW_OF_PLAN)
    if earlier_view is not None:
        return cast("DataFrame", earlier_view)
    if size > MAX_BYTES_PER_PLAN:
        raise dataframe_too_large_to_send(size=size >> 20, most=MAX_BYTES_PER_PLAN >> 20)
    drop_unread_views(spark)
    name = f"matchrec_{uuid4().hex}"
    try:
        frame.createTempView(name)
    except AnalysisException:  # two columns have the same name, or a column has none
        return frame
    view = spark.table(name)
    vars(plan)[VIEW_OF_PLAN] = view
    finalize(cast("Any", view)._plan, find_unread_views(spark).append, name).atexit = False
    return view


def find_unread_views(spark: SparkSession) -> list[str]:
    """Return a session's list of the views that no plan names any more.

    When a plan is deleted, its view is added. `drop_unread_views` empties the list.
    """
    unread_views: list[str] = vars(spark).setdefault(UNREAD_VIEWS, [])
    return unread_views


def drop_unread_views(spark: SparkSession) -> None:
    """Drop the views that no DataFrame reads any more."""
    unread_views = find_unread_views(spark)
    names = []
    while unread_views:  # other threads can add names meanwhile
        names.append(unread_views.pop())
    if not names:
        return
    views_still_read = find_views_in_sql(names)
    unread_views.extend(views_still_read)
    with suppress(PySparkException):  # raised if the session has ended
        for name in set(names) - views_still_read:
            spark.catalog.dropTempView(name)


def find_views_in_sql(names: Collection[str]) -> set[str]:
    """Return the views among these that a DataFrame of `spark.sql` still reads.

    The plan of `spark.sql("SELECT ... FROM {d}", d=frame)` is the server's answer. The answer has
    the names of views, but does not refer to the plan of `frame`, so it does not keep that plan
    alive. So all answers in this program are searched for the names.
    """
    from pyspark.sql.connect.plan import CachedRelation

    relations = [value for value in gc.get_objects() if type(value) is CachedRelation]
    answers = [vars(relation).get("_plan") for relation in relations]
    answer_bytes = [answer.SerializeToString() for answer in answers if answer is not None]
    return {name for name in names if any(name.encode() in data for data in answer_bytes)}


def count_bytes(plan: Any) -> int:
    """Return the number of bytes of the rows in a plan.

    Only the first input of each operator is followed. For rows that were sent to the server
    separately from a plan, the result is MIN_BYTES_OF_VIEW, so that `keep_in_view` makes a view.
    """
    while plan is not None:
        if type(plan).__name__.endswith("CachedLocalRelation"):
            return MIN_BYTES_OF_VIEW
        table = getattr(plan, "_table", None)
        if table is not None:
            return int(getattr(table, "nbytes", 0))
        plan = getattr(plan, "_child", None)
    return 0
