"""Rows of this program that an engine keeps, so that they are sent to it once.

Over Connect, a DataFrame of such rows has them in its plan, which some twenty calls of one query
send, each with no more than 128 MiB. Spark's server is given many rows apart from plans, but makes
a table of them for each call. So they become a temporary view, and the plan has its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from typing import Any, cast
from uuid import uuid4
from weakref import finalize

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.errors.calls import too_much_to_send
from matchrec.spark.sail.probes import engine_name
from matchrec.spark.session import is_connect

BYTES_A_CALL = 32 << 20  # of rows that are sent at once, as far as their size is known before
MOST_BYTES = 127 << 20  # of the rows of one plan: what a call takes, but for the plan itself
FEW_BYTES = 1 << 18  # of rows that each call may send
FEW_ROWS = 1000  # of a frame, which tell the types of most columns

# Where a plan has the DataFrame over its view, a session the views that nobody needs now, and a
# DataFrame the names of an index of pandas.
KEPT, LEFT, INDEX = "_matchrec_kept", "_matchrec_left", "_matchrec_index"


def frame_of(spark: SparkSession, rows: Any) -> DataFrame:
    """A DataFrame of pandas or a table of Arrow, sent once. Raises as `createDataFrame`."""
    if is_connect(spark) and is_arrow(rows) and not len(rows):
        import pyarrow as pa

        nulls = [pa.nulls(1, kind) for kind in rows.schema.types]  # no rows tell no types
        row = pa.Table.from_arrays(nulls, names=rows.schema.names)
        return spark.createDataFrame(row).where("FALSE")
    if is_connect(spark) and (count := pieces_of(rows)) > 1 and engine_name(spark) == "Sail":
        with suppress(TypeError, ValueError):  # of a later value; all rows tell the types
            return reduce(DataFrame.unionAll, map(kept, in_pieces(spark, rows, count)))
    return kept(spark.createDataFrame(rows))


def in_pieces(spark: SparkSession, rows: Any, count: int) -> Iterator[DataFrame]:
    each = -(-len(rows) // count)
    schema = None if is_arrow(rows) else spark.createDataFrame(telling(rows)).schema
    for begin in range(0, len(rows), each):
        part = rows.slice(begin, each) if is_arrow(rows) else rows.iloc[begin : begin + each]
        yield spark.createDataFrame(part, schema)


def is_arrow(rows: Any) -> bool:
    return hasattr(rows, "slice")


def pieces_of(rows: Any) -> int:
    """In how many pieces rows are sent; the first ones tell how long texts of pandas are."""
    if is_arrow(rows):
        size = rows.nbytes
    else:
        some = rows.head(FEW_ROWS)
        size = some.memory_usage(deep=True).sum() * len(rows) // max(1, len(some))
    return max(1, min(len(rows), -(-int(size) // BYTES_A_CALL)))


def telling(rows: Any) -> Any:
    """Rows of a frame of pandas that tell its types: the first ones, and of each column a value."""
    known = (rows.iloc[:, place].notna().to_numpy() for place in range(rows.shape[1]))
    return rows.iloc[sorted({*range(min(FEW_ROWS, len(rows))), *(one.argmax() for one in known)})]


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
    if not is_connect(spark):
        return frame
    plan = cast("Any", frame)._plan
    if (size := bytes_in(plan)) < FEW_BYTES:
        return frame
    if known := vars(plan).get(KEPT):
        return cast("DataFrame", known)
    if size > MOST_BYTES:
        raise too_much_to_send(size=size >> 20, most=MOST_BYTES >> 20)
    left: list[str] = vars(spark).setdefault(LEFT, [])
    with suppress(PySparkException):  # as after the session's end
        while left:
            spark.catalog.dropTempView(left.pop())
    name = f"matchrec_{uuid4().hex}"
    try:
        frame.createTempView(name)
    except AnalysisException:  # two columns have one name, or there is none such
        return frame
    found = vars(plan)[KEPT] = spark.table(name)
    finalize(cast("Any", found)._plan, left.append, name).atexit = False
    return found


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
