"""Send rows of this program to an engine once, and keep them there.

Over Connect, a DataFrame of rows of this program has the rows in its plan. One query sends this
plan in some twenty calls, and a call has at most 128 MiB. Spark's server gets many rows separately
from the plan, but makes a table of them in each call. So the rows become a temporary view, and the
plan has the name of the view:

1. `send_halves` divides rows that are too many for one call.
2. `keep_rows` makes a view of the rows of a call.
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

# How many bytes of rows a plan may have: the limit of a call, with some space for the plan itself.
MAX_BYTES = 127 << 20

# Rows with fewer bytes than this are sent with each call.
FEW_BYTES = 1 << 18

# The attribute of a plan that holds the DataFrame over the view of its rows.
VIEW_OF_PLAN = "_matchrec_kept"

# The attribute of a session that holds the names of the views that no plan names any more.
UNREAD_VIEWS = "_matchrec_left"

# The attribute of a DataFrame that holds the names of the index of its pandas frame.
INDEX_NAMES = "_matchrec_index"


def with_types_of_all_rows(rows: Any) -> Any:
    """Return rows whose columns have the types of all their values.

    Without this step, the first thousand values would decide.

    Args:
        rows: an Arrow table, which is returned unchanged, or a pandas frame, whose columns of
            Python objects become columns of Arrow.
    """
    return rows if is_arrow_table(rows) else convert_objects_to_arrow(rows)


def make_sample_row(rows: Any) -> Any:
    """Return one row with the types of an empty frame or table, from which a session reads them."""
    if not is_arrow_table(rows):
        return make_sample_frame(rows)
    import pyarrow as pa

    nulls = [pa.nulls(1, type_) for type_ in rows.schema.types]
    return pa.Table.from_arrays(nulls, names=rows.schema.names)


def send_halves(spark: SparkSession, rows: Any, first_row: int) -> DataFrame:
    """Return the DataFrame of some rows: sent in one call, or the union of their two halves.

    Half of the rows need not have half of the bytes, so each half is measured in turn. The plan is
    only as deep as the number of halvings, because protobuf bounds the depth of a plan.

    Args:
        spark: a session on Sail.
        rows: a pandas frame whose columns have the types of all rows, or an Arrow table.
        first_row: the number of the first of these rows in the user's frame.
    """
    middle = len(rows) // 2
    is_single_row = middle == 0
    if is_single_row or not is_large(rows):
        frame = spark.createDataFrame(combine_chunks(rows))
        size = count_bytes(cast("Any", frame)._plan)
        if size <= MAX_BYTES:
            return keep_rows(frame)
        if is_single_row:
            raise row_too_large_to_send(row=first_row, size=size >> 20, most=MAX_BYTES >> 20)
    first_half = rows.slice(0, middle) if is_arrow_table(rows) else rows.iloc[:middle]
    second_half = rows.slice(middle) if is_arrow_table(rows) else rows.iloc[middle:]
    sent = send_halves(spark, first_half, first_row)
    return sent.unionAll(send_halves(spark, second_half, first_row + middle))


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
    """Store the names of the index that a DataFrame does not have, and return the DataFrame.

    Errors about unknown columns mention these names. An index of times is stored even if it has no
    name, as None, because users may take the times for a column.

    Args:
        frame: the DataFrame of a pandas frame.
        index: the index of the pandas frame.
    """
    is_time = type(index).__name__ == "DatetimeIndex"
    names = tuple(name for name in getattr(index, "names", ()) if name is not None or is_time)
    vars(frame)[INDEX_NAMES] = names
    return frame


def list_index_names(frames: Iterable[Any]) -> tuple[str | None, ...]:
    """Return the names of the pandas indexes that some DataFrames have lost."""
    names: list[str | None] = []
    for frame in frames:
        names += getattr(frame, "__dict__", {}).get(INDEX_NAMES, ())
    return tuple(names)


def keep_rows(frame: DataFrame) -> DataFrame:
    """Return a DataFrame over a temporary view of the rows of a DataFrame.

    If the rows have less than FEW_BYTES bytes, the DataFrame is returned as it is. The view is
    needed as long as a plan names it. It is dropped when rows are sent again, not when the plan
    ends, because a plan may end in the middle of another call of the session.

    Raises:
        MatchRecognizePlanError: the rows have more bytes than one call can send.
    """
    spark = frame.sparkSession
    plan = cast("Any", frame)._plan
    size = count_bytes(plan)
    if size < FEW_BYTES:
        return frame
    earlier_view = vars(plan).get(VIEW_OF_PLAN)
    if earlier_view is not None:
        return cast("DataFrame", earlier_view)
    if size > MAX_BYTES:
        raise dataframe_too_large_to_send(size=size >> 20, most=MAX_BYTES >> 20)
    unread_views = drop_unread_views(spark)
    name = f"matchrec_{uuid4().hex}"
    try:
        frame.createTempView(name)
    except AnalysisException:  # two columns have the same name, or a column has none
        return frame
    view = spark.table(name)
    vars(plan)[VIEW_OF_PLAN] = view
    finalize(cast("Any", view)._plan, unread_views.append, name).atexit = False
    return view


def drop_unread_views(spark: SparkSession) -> list[str]:
    """Drop the views that no DataFrame reads any more.

    Returns:
        The session's list of the views that no plan names. When a plan ends, its view is added.
    """
    unread_views: list[str] = vars(spark).setdefault(UNREAD_VIEWS, [])
    names = []
    while unread_views:  # other threads may add names meanwhile
        names.append(unread_views.pop())
    if not names:
        return unread_views
    views_still_read = find_views_in_sql(names)
    unread_views.extend(views_still_read)
    with suppress(PySparkException):  # the session may have ended
        for name in set(names) - views_still_read:
            spark.catalog.dropTempView(name)
    return unread_views


def find_views_in_sql(names: Collection[str]) -> set[str]:
    """Return the views among these that a DataFrame of `spark.sql` still reads.

    The plan of `spark.sql("SELECT ... FROM {d}", d=frame)` is the server's answer. The answer has
    the names of views, and does not refer to the plan of `frame`. So the answers that are still in
    use are searched for the names.
    """
    from pyspark.sql.connect.plan import CachedRelation

    relations = [item for item in gc.get_objects() if type(item) is CachedRelation]
    answers = [vars(relation).get("_plan") for relation in relations]
    messages = [answer.SerializeToString() for answer in answers if answer is not None]
    return {name for name in names if any(name.encode() in message for message in messages)}


def count_bytes(plan: Any) -> int:
    """Return the number of bytes of the rows in a plan.

    Only the first input of each operator is followed. For rows that the server has already got
    separately from a plan, the result is FEW_BYTES, so that `keep_rows` makes a view of them.
    """
    while plan is not None:
        if type(plan).__name__.endswith("CachedLocalRelation"):
            return FEW_BYTES
        table = getattr(plan, "_table", None)
        if table is not None:
            return int(getattr(table, "nbytes", 0))
        plan = getattr(plan, "_child", None)
    return 0
