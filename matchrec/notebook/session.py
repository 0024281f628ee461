"""The session of a notebook, and what of its Python variables a query names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matchrec.api.signatures import are_values, fills_hole
from matchrec.arguments import is_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOLE = re.compile(r"\{(\w+)\}")
MARKER = re.compile(r"(?<![:\w]):([^\W\d]\w*)")


def running_session(variables: Mapping[str, Any]) -> SparkSession | None:
    """The session that the notebook calls `spark`, else the active one, if there is any."""
    from pyspark.sql import SparkSession

    spark = variables.get("spark")
    return spark if is_session(spark) else SparkSession.getActiveSession()


def session_of(variables: Mapping[str, Any]) -> SparkSession:
    """The running session, or a new one."""
    from pyspark.sql import SparkSession

    return running_session(variables) or SparkSession.builder.getOrCreate()


def frames_in(query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """What the holes of a query stand for: `{stocks}` is the DataFrame of that name.

    >>> frames_in("SELECT {n} FROM t MATCH_RECOGNIZE (... A{2} {- B -})", {"n": 1, "B": 2})
    {'n': 1}
    """
    named = {name: variables[name] for name in HOLE.findall(query) if name in variables}
    return {name: value for name, value in named.items() if fills_hole(value)}


def values_in(query: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of the markers of a query: `:days` is the variable `days`.

    >>> values_in("SELECT a::int, '12:30' FROM t WHERE n > :days", {"days": 3, "int": 1})
    {'days': 3}
    """
    named = {name: variables[name] for name in MARKER.findall(query) if name in variables}
    return {name: value for name, value in named.items() if are_values([value])} or None
