"""Let users leave out the session in calls of `sql` and `query`: the running session is used.

sql("SELECT 1")                 becomes sql(running_session, "SELECT 1")
sql("SELECT 1", spark=spark)    becomes sql(spark, "SELECT 1")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from matchrec.arguments import is_session
from matchrec.errors.machine import missing_session


def with_running_session(function: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Let a function with the parameters `spark, query, ...` be called without `spark`.

    The function then gets the running session. A call raises MatchRecognizePlanError if there is
    none.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> DataFrame:
        """Call the function, with the running session if the call has a query but no session."""
        args = move_session_to_front(args, kwargs)
        if lacks_only_session(args, kwargs):
            args = (find_running_session(), *args)
        elif not args and "spark" not in kwargs:
            # The call has no query either. The error must be about the query, not the session.
            kwargs["spark"] = None
        return function(*args, **kwargs)

    return call


def move_session_to_front(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments of a call, with the keyword argument `spark` before a query.

    In `sql("SELECT 1", spark=spark)`, the query is the first positional argument, where the
    function has the parameter `spark`. Other calls keep their arguments.

    Args:
        args: positional arguments.
        kwargs: keyword arguments. `spark` is removed if it becomes a positional argument.
    """
    if args and isinstance(args[0], str) and "spark" in kwargs and "query" not in kwargs:
        return (kwargs.pop("spark"), *args)
    return args


def lacks_only_session(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a call of a function with `spark, query, ...` has a query but no `spark`.

    In `sql("SELECT 1", spark)` and in `sql("local", "SELECT 1")`, the first text is a wrong value
    for `spark`. The result is False for such a call, so that the error is about `spark`.
    """
    if "spark" in kwargs:
        return False
    if not args:
        return "query" in kwargs
    has_wrong_session = len(args) > 1 and (isinstance(args[1], str) or is_session(args[1]))
    return isinstance(args[0], str) and not has_wrong_session


def find_running_session() -> SparkSession:
    """Return the running session.

    Raises:
        MatchRecognizePlanError: no session is running.
    """
    session = SparkSession.getActiveSession()
    if session is None:
        raise missing_session()
    return session
