"""Find in the variables of a notebook what a cell needs: the session, DataFrames and values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from matchrec.api.argument_kinds import are_parameter_values, can_fill_hole
from matchrec.arguments import is_dataframe, is_foreign_table, is_session
from matchrec.notebook.messages import print_notice
from matchrec.spark.start.running_session import describe_engine
from matchrec.spark.start.sessions import start_session

# `{name}` in a query: the name of a DataFrame.
HOLE = re.compile(r"\{(\w+)\}")
# `:name` in a query: a parameter. It is not a part of `::`, nor of a time such as 12:30.
PARAMETER = re.compile(r"(?<![:\w]):([^\W\d]\w*)")


def find_running_session(variables: Mapping[str, Any]) -> SparkSession | None:
    """Return the session that the notebook calls `spark`, or else the active one, if any."""
    spark = variables.get("spark")
    return spark if is_session(spark) else SparkSession.getActiveSession()


def find_or_start_session(variables: dict[str, Any]) -> SparkSession:
    """Return the running session, or a new one.

    The new session becomes the variable `spark`, unless this variable has a value already.
    """
    session = find_running_session(variables)
    if session is not None:
        return session
    spark = start_session()
    is_variable = variables.setdefault("spark", spark) is spark
    print_notice(
        f"started {describe_engine(spark)}: {'`spark`' if is_variable else 'matchrec.session()'}"
    )
    return spark


def find_frames(query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that a query names in braces, such as `{stocks}`, by their names.

    Variables whose value cannot replace a name in braces are left out.

    >>> find_frames("SELECT {n} FROM t MATCH_RECOGNIZE (... A{2} {- B -})", {"n": 1, "B": 2})
    {'n': 1}
    """
    named = {name: variables[name] for name in HOLE.findall(query) if name in variables}
    return {name: value for name, value in named.items() if can_fill_hole(value)}


def list_frames(variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the DataFrames of a notebook, without IPython's own, such as `_12`."""
    return tuple(
        name
        for name, value in variables.items()
        if not name.startswith("_") and (is_dataframe(value) or is_foreign_table(value))
    )


def list_values(variables: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the variables of a notebook that can be values of parameters.

    >>> list_values({"days": 3, "_12": 3, "show": print})
    ('days',)
    """
    return tuple(
        name
        for name, value in variables.items()
        if not name.startswith("_") and are_parameter_values([value])
    )


def find_values(query: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values of the parameters of a query: `:days` is the variable `days`.

    None if no variable has both the name of a parameter and a value that Spark accepts.

    >>> find_values("SELECT a::int, '12:30' FROM t WHERE n > :days", {"days": 3, "int": 1})
    {'days': 3}
    """
    named = {name: variables[name] for name in PARAMETER.findall(query) if name in variables}
    return {name: value for name, value in named.items() if are_parameter_values([value])} or None
