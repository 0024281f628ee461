"""Clients of a gateway for tests, which are PySpark's, over a channel of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession
from pyspark.sql.connect.session import SparkSession as ConnectSession

TICKS = "VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)"
FALLS = """SELECT * FROM ticks MATCH_RECOGNIZE (
    ORDER BY day
    MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    PATTERN (DOWN+)
    DEFINE DOWN AS price < PREV(price)
)"""
# The rows of `FALLS` over `TICKS`.
FALL = [(2, 70)]

NewClient = Callable[[], SparkSession]


def connect(address: str, session: str | None = None) -> Any:
    """Return a client with a session of its own, or with the id of another client's session.

    Args:
        address: the address of a server, to which parameters may be added.
        session: the id of the session.
    """
    separator = ";" if "/;" in address else "/;"
    # For `remote("local")`, PySpark has made a token, which it sends without TLS only to localhost.
    address = address.replace("127.0.0.1", "localhost")
    # The constructor makes no session the active one of this program.
    return ConnectSession(f"{address}{separator}user_id=reader;session_id={session or uuid4()}")
