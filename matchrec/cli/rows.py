"""Fetch the rows of a result as texts, and write them to stdout or a file.

The engine computes the texts in parallel, as columns that `formats` builds. `write_rows` fetches
the texts in the order of the rows and writes them line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from matchrec.cli.formats import OutputFormat, RowTexts, TableFormat, cast_to_texts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# The number of rows that a table shows unless the user sets a limit.
SHOWN_ROWS = 20

# Shows the progress of the engine's jobs in a `with` statement.
ProgressDisplay: TypeAlias = AbstractContextManager[None]
NO_PROGRESS: ProgressDisplay = nullcontext()


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What `write_rows` has written."""

    # The number of rows that were written.
    count: int
    # Whether the result has more rows than the limit.
    has_more: bool


@dataclass(frozen=True, slots=True)
class CachedRows:
    """The rows of a DataFrame in the cache of the engine."""

    frame: DataFrame
    # The number of rows.
    count: int


@dataclass(slots=True)
class LimitedRows(Iterator[RowTexts]):
    """The first rows of an iterator, which are counted as they are read."""

    rows: Iterator[RowTexts]
    # The largest number of rows; None for all.
    limit: int | None
    # The number of rows that were read so far.
    count: int = 0

    def __next__(self) -> RowTexts:
        """Return the next row."""
        if self.count == self.limit:
            raise StopIteration
        row = next(self.rows)
        self.count += 1
        return row


def write_rows(
    frame: DataFrame,
    output_format: OutputFormat,
    stream: TextIO,
    *,
    limit: int | None = None,
    progress: ProgressDisplay = NO_PROGRESS,
) -> WrittenRows:
    """Write the rows of a DataFrame to a stream.

    Args:
        frame: the DataFrame.
        output_format: the format of the lines.
        stream: the stream, which is flushed but not closed.
        limit: the largest number of rows that are written; None for all.
        progress: shows the progress of the engine's jobs.
    """
    texts = output_format.build_text_columns(frame.schema, find_session_zone(frame))
    with compute_texts(frame, texts, limit, progress) as rows:
        first_rows = LimitedRows(rows, limit)
        for line in output_format.format_lines(frame.dtypes, first_rows):
            stream.write(f"{line}\n")
        stream.flush()
        # All rows up to the limit have been formatted, so a further row is beyond the limit.
        has_more = next(rows, None) is not None
    return WrittenRows(first_rows.count, has_more)


def find_session_zone(frame: DataFrame) -> str:
    """Return the time zone of the session of a DataFrame."""
    return str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))


@contextmanager
def compute_texts(
    frame: DataFrame, texts: Sequence[Column], limit: int | None, progress: ProgressDisplay
) -> Iterator[Iterator[RowTexts]]:
    """Yield an iterator over the texts of the rows, which the engine computes in parallel.

    With a limit, the iterator has one row more if the DataFrame has more rows than the limit.

    Args:
        frame: the DataFrame.
        texts: the texts of a row, over the columns `c0`, `c1` …
        limit: the number of rows that are needed; None for all.
        progress: shows the progress of the engine's jobs.
    """
    # Columns get new names, because several can have the same.
    renamed_frame = frame.toDF(*(f"c{index}" for index in range(len(frame.columns))))
    if arrives_as_arrow(frame):
        with progress:
            batches = select_in_order(renamed_frame, texts, limit).toArrow().to_batches()
        yield iterate_rows(batches)
    elif limit is not None:
        with progress:
            rows = renamed_frame.select(*texts).take(limit + 1)
        yield iter(rows)
    else:
        with cache_rows(renamed_frame.select(*texts), progress) as cached_rows:
            yield iter(cached_rows.frame.toLocalIterator())


def iterate_rows(batches: Iterable[Any]) -> Iterator[RowTexts]:
    """Yield the texts of each row.

    Args:
        batches: the rows of `select_in_order`, as record batches of Arrow.
    """
    for batch in batches:
        # The first column is the number of the row.
        text_columns = [column.to_pylist() for column in batch.columns[1:]]
        yield from zip(*text_columns, strict=True)


def select_in_order(
    renamed_frame: DataFrame, texts: Sequence[Column], limit: int | None
) -> DataFrame:
    """Return the number of each row and its texts, in the order of the rows.

    With a limit, there is at most one row more than the limit.

    Sail divides sorted rows among its tasks to compute texts, and returns them in any order. So a
    window function, which reads the rows one by one, numbers them first.
    """
    from pyspark.sql.functions import expr

    rows = renamed_frame if limit is None else renamed_frame.limit(limit + 1)
    rows_with_number = rows.select("*", expr("row_number() OVER (ORDER BY 1) AS row_number"))
    return rows_with_number.select("row_number", *texts).orderBy("row_number")


def arrives_as_arrow(frame: DataFrame) -> bool:
    """Return whether all rows are fetched at once, as an Arrow table.

    Sail does not keep cached rows, so it would compute them again for every job.
    """
    from matchrec.spark.backends import find_backend

    return not find_backend(frame.sparkSession).can_cache_rows


@contextmanager
def cache_rows(frame: DataFrame, progress: ProgressDisplay) -> Iterator[CachedRows]:
    """Compute the rows of a DataFrame in parallel, and cache them inside of the `with` block.

    Without the cache, fetching the rows in order would compute one partition after the other, and
    fetching them all at once would need memory for all of them on the driver.
    """
    cached_frame = frame.cache()
    try:
        with progress:
            row_count = cached_frame.count()
        yield CachedRows(cached_frame, row_count)
    finally:
        cached_frame.unpersist()


def fetch_first_texts(frame: DataFrame, limit: int) -> list[RowTexts]:
    """Return the first rows, with values as the engine casts them to texts.

    The result has one row more than the limit if the DataFrame has more rows.

    Args:
        frame: the rows.
        limit: the number of rows that are needed.
    """
    with compute_texts(frame, cast_to_texts(frame.schema), limit, NO_PROGRESS) as rows:
        return list(rows)


def format_first_rows(frame: DataFrame, limit: int) -> str:
    """Return at most `limit` rows as an aligned table."""
    rows = fetch_first_texts(frame, limit)[:limit]
    return "\n".join(TableFormat().format_lines(frame.dtypes, rows))
