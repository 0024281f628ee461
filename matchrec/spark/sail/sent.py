"""Rows of this program that an engine keeps, so that they are sent to it once.

Over Connect, a DataFrame of such rows has them in its plan, which some twenty calls of one query
send, each with no more than 128 MiB. Spark's server is given many rows apart from plans, but makes
a table of them for each call. So they become a temporary view, and the plan has its name.
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

from matchrec.errors.calls import row_too_long, too_much_to_send
from matchrec.spark.frames import with_arrow_columns, with_sample_row, with_single_chunks

BYTES_A_CALL = 32 << 20  # of rows that are sent at once
MOST_BYTES = 127 << 20  # of the rows of one plan: what a call takes, but for the plan itself
FEW_BYTES = 1 << 18  # of rows that each call may send

# Where a plan has the DataFrame over its view, a session the views that nobody needs now, and a
# DataFrame the names of an index of pandas.
KEPT, LEFT, INDEX = "_matchrec_kept", "_matchrec_left", "_matchrec_index"


def with_types_of_all_rows(rows: Any) -> Any:
    """Return rows whose columns have the types of all values, not of the first thousand.

    Args:
        rows: an Arrow table, which is returned as it is, or a pandas frame.
    """
    return rows if is_arrow(rows) else with_arrow_columns(rows)


def sample_row(rows: Any) -> Any:
    """Return one row with the types of an empty frame or table, which tells them to a session."""
    if not is_arrow(rows):
        return with_sample_row(rows)
    import pyarrow as pa

    nulls = [pa.nulls(1, kind) for kind in rows.schema.types]
    return pa.Table.from_arrays(nulls, names=rows.schema.names)


def send_halves(spark: SparkSession, rows: Any, first_row: int) -> DataFrame:
    """Return the DataFrame of some rows: sent at once, or the union of their two halves.

    Half of the rows need not have half of the bytes, so each half is measured in turn. The unions
    are as deep as the number of halvings: protobuf bounds how deep a plan may be.

    Args:
        spark: a session on Sail.
        rows: a pandas frame whose columns have the types of all rows, or an Arrow table.
        first_row: the number of the first of these rows in the user's frame.
    """
    middle = len(rows) // 2
    if middle == 0 or not is_large(rows):
        frame = spark.createDataFrame(combine_chunks(rows))
        size = bytes_in(cast("Any", frame)._plan)
        if middle == 0 and size > MOST_BYTES:
            raise row_too_long(row=first_row, size=size >> 20, most=MOST_BYTES >> 20)
        if middle == 0 or size <= MOST_BYTES:
            return kept(frame)
    left = rows.slice(0, middle) if is_arrow(rows) else rows.iloc[:middle]
    right = rows.slice(middle) if is_arrow(rows) else rows.iloc[middle:]
    sent = send_halves(spark, left, first_row)
    return sent.unionAll(send_halves(spark, right, first_row + middle))


def combine_chunks(rows: Any) -> Any:
    """Return rows with each column in one chunk, because a chunk costs some hundred bytes."""
    return rows.combine_chunks() if is_arrow(rows) else with_single_chunks(rows)


def is_arrow(rows: Any) -> bool:
    return hasattr(rows, "slice")


def is_large(rows: Any) -> bool:
    """Return whether rows are too many for one call.

    Args:
        rows: an Arrow table, or a pandas frame without columns of Python objects.
    """
    size = rows.nbytes if is_arrow(rows) else rows.memory_usage(index=False).sum()
    return int(size) > BYTES_A_CALL


def without_index(frame: DataFrame, index: Any) -> DataFrame:
    """The DataFrame of a frame of pandas, which knows how the index was called that it has not."""
    is_time = type(index).__name__ == "DatetimeIndex"  # which one may take for a column
    names = tuple(name for name in getattr(index, "names", ()) if name is not None or is_time)
    vars(frame)[INDEX] = names
    return frame


def index_names(frames: Iterable[Any]) -> tuple[str | None, ...]:
    """How the indexes of pandas were called that these DataFrames have not."""
    return tuple(name for frame in frames for name in getattr(frame, "__dict__", {}).get(INDEX, ()))


def kept(frame: DataFrame) -> DataFrame:
    """A DataFrame over a view, where one has rows of this program that are more than a few. The
    view is there as long as a plan names it. It is dropped when rows are sent again: a plan may end
    while the session is being asked something. Raises MatchRecognizePlanError for more rows than
    can be sent at once.
    """
    spark = frame.sparkSession
    plan = cast("Any", frame)._plan
    if (size := bytes_in(plan)) < FEW_BYTES:
        return frame
    if known := vars(plan).get(KEPT):
        return cast("DataFrame", known)
    if size > MOST_BYTES:
        raise too_much_to_send(size=size >> 20, most=MOST_BYTES >> 20)
    left = drop_unread_views(spark)
    name = f"matchrec_{uuid4().hex}"
    try:
        frame.createTempView(name)
    except AnalysisException:  # two columns have one name, or there is none such
        return frame
    found = vars(plan)[KEPT] = spark.table(name)
    finalize(cast("Any", found)._plan, left.append, name).atexit = False
    return found


def drop_unread_views(spark: SparkSession) -> list[str]:
    """Drop the views that no DataFrame reads any more.

    Returns the session's list of views without a plan, to which the end of a plan adds its view.
    """
    left: list[str] = vars(spark).setdefault(LEFT, [])
    names = []
    while left:
        names.append(left.pop())
    if not names:
        return left
    read = names_in_results_of_sql(names)
    left.extend(read)
    with suppress(PySparkException):  # as after the session's end
        for name in set(names) - read:
            spark.catalog.dropTempView(name)
    return left


def names_in_results_of_sql(names: Collection[str]) -> set[str]:
    """Return the names of views that a DataFrame of `spark.sql` reads.

    `spark.sql("SELECT ... FROM {d}", d=frame)` gives a DataFrame with the server's answer as its
    plan. The answer has the names of views, and nothing in it refers to the plan of `frame`. So the
    answers that are still in use are searched for the names.
    """
    from pyspark.sql.connect.plan import CachedRelation

    answers = [vars(one).get("_plan") for one in gc.get_objects() if type(one) is CachedRelation]
    messages = [answer.SerializeToString() for answer in answers if answer is not None]
    return {name for name in names if any(name.encode() in message for message in messages)}


def bytes_in(plan: Any) -> int:
    """The bytes of the rows in a plan, as far as its first inputs have them; not more than make a
    view where the server has been given them.
    """
    while plan is not None:
        if type(plan).__name__.endswith("CachedLocalRelation"):
            return FEW_BYTES
        if (table := getattr(plan, "_table", None)) is not None:
            return int(getattr(table, "nbytes", 0))
        plan = getattr(plan, "_child", None)
    return 0
