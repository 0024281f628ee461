"""The names of engines, as users write them: sail, spark, and the addresses of servers.

This module does not import PySpark, which takes most of a second.
"""

from __future__ import annotations

from matchrec.spark.start.addresses import SERVER_ADDRESS

SAIL = "sail"
SPARK = "spark"


def is_engine_name(text: str) -> bool:
    """Return whether a text is the name of an engine or the address of a server.

    >>> [is_engine_name(text) for text in ("sail", "sc://there:15002", "sc://", "flink")]
    [True, True, False, False]
    """
    return text in (SAIL, SPARK) or SERVER_ADDRESS.fullmatch(text) is not None
