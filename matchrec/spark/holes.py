"""Fill the holes of a query text, `{name}`, with DataFrames.

Spark's SQL reads DataFrames by name only. There are two ways to fill a hole:

- A temporary view of the DataFrame exists while Spark analyses the text (`create_views`). The text
  has the name of the view.
- Over Connect, where a text is analysed again for every action, the view would have to stay. So the
  DataFrame is sent along with the text: `spark.sql("SELECT * FROM {ticks}", ticks=frame)`. PySpark
  runs `str.format` over the text, so its other braces are doubled (`escape_for_pyspark`).

PySpark fills in values that are not DataFrames, as literals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from matchrec.plan.templates import Template, View
from matchrec.spark.errors import filled_template


def list_holes(text: Template) -> tuple[str, ...]:
    """Return the names of the holes in a text, each once.

    >>> list_holes(("SELECT * FROM ", View("a"), " JOIN ", View("b"), " JOIN ", View("a")))
    ('a', 'b')
    """
    return tuple(dict.fromkeys(piece.name for piece in text if isinstance(piece, View)))


def is_dataframe(value: object) -> bool:
    """Return whether a hole is filled with a view of the value, not with a literal."""
    return hasattr(value, "createTempView")


def create_views(
    spark: SparkSession, frames: Mapping[str, Any], names: Iterable[str], views: ExitStack
) -> dict[str, str]:
    """Create temporary views of some DataFrames.

    Args:
        spark: the session.
        frames: DataFrames and other values, by their names.
        names: the names of the DataFrames that get a view.
        views: drops the views when it is closed.

    Returns:
        The name of the view of each DataFrame. It is a new name, because a view hides a table with
        the same name from the whole session.
    """
    view_names = {name: f"{name}_{uuid4().hex[:8]}" for name in names}
    for name, view_name in view_names.items():
        frames[name].createTempView(view_name)
        views.callback(spark.catalog.dropTempView, view_name)
    return view_names


@contextmanager
def create_lasting_views(
    spark: SparkSession, frames: Mapping[str, Any], names: Iterable[str]
) -> Iterator[dict[str, str]]:
    """Create temporary views that stay, unless the `with` block raises an error.

    Yields:
        The name of the view of each DataFrame.
    """
    with ExitStack() as views:
        yield create_views(spark, frames, names, views)
        views.pop_all()  # so that nothing drops the views


def escape_for_pyspark(piece: str | View, frames: Mapping[str, Any]) -> str:
    """Return a piece of a text in the form for PySpark, which runs `str.format` over the text.

    A hole is as wide as in the user's query, so that positions in errors of Spark can be found.

    Args:
        piece: SQL, whose braces are doubled, or a hole that PySpark fills.
        frames: the DataFrames and other values that fill the holes, by the names of the holes.

    >>> escape_for_pyspark("SELECT '{}'", {})
    "SELECT '{{}}'"
    >>> escape_for_pyspark(View("limit"), {"limit": 3})
    '{limit}'
    """
    if isinstance(piece, str):
        return piece.replace("{", "{{").replace("}", "}}")
    if not is_dataframe(frames[piece.name]):
        return f"{{{piece.name}}}"
    return f"{{{piece.name}:<{max(piece.width, filled_template.PYSPARK_LENGTH)}}}"
