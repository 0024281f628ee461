"""Clients of a gateway for tests: PySpark's clients, each with its own channel."""

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
    """Return a client with a new session, or with the session of another client.

    Args:
        address: the address of a server, with parameters or without.
        session: the id of the other client's session.
    """
    separator = ";" if "/;" in address else "/;"
    # For `remote("local")`, PySpark has made a token, which it sends without TLS only to localhost.
    address = address.replace("127.0.0.1", "localhost")
    # Unlike the builder, the constructor does not make its session the active one.
    return ConnectSession(f"{address}{separator}user_id=reader;session_id={session or uuid4()}")
