"""Fill the holes of a query text, such as `{ticks}`, with DataFrames.

Spark's SQL can only name a table or a view. So there are two ways to fill a hole:

- A temporary view of the DataFrame exists while Spark analyses the text, which contains the name of
  the view: `create_views`.
- Over Connect, a text is analysed again for every action, so the view would have to stay. So
  PySpark sends the DataFrame along: `spark.sql("SELECT * FROM {ticks}", ticks=frame)`. It runs
  `str.format` over the text, so `escape_for_pyspark` doubles its other braces.

If the value of a hole is not a DataFrame, PySpark writes it as a literal.
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
    """Return whether a value is a DataFrame of Spark or of Connect, which can become a view."""
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
        The name of each view, by the name of its DataFrame. A view gets a new name, because it
        would hide a table with the same name from the whole session.
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

    The arguments are as in `create_views`.

    Yields:
        The name of each view, by the name of its DataFrame.
    """
    with ExitStack() as views:
        yield create_views(spark, frames, names, views)
        views.pop_all()  # so that closing the stack does not drop the views


def escape_for_pyspark(piece: str | View, frames: Mapping[str, Any]) -> str:
    """Return a piece of a text as it is written for PySpark, which runs `str.format` over the text.

    The name of a DataFrame is padded to the width of the hole in the user's query, so that the
    positions in Spark's errors can be found in the query.

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
