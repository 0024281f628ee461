"""Read an engine's refusal: the name, the parameter or the function that it is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pyspark.errors import PySparkException

from matchrec.spark.errors.name_conditions import PARAMETER_WITHOUT_VALUE, UNKNOWN_FUNCTION
from matchrec.spark.sail.refusals import simplify_refusal
from matchrec.spark.sail.refused_names import RefusedName, find_name_refused_by_sail

# A text literal or a quoted name. In it, `:name` and `{name}` are only characters.
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`"""

# A parameter `:name`, or something quoted. After a word, a quote, a bracket or another `:`, a `:`
# does not begin a parameter: it reads a field, or is a cast `::`.
PARAMETER = re.compile(rf"{QUOTED}|(?<![\w`:\])]):(?P<name>[A-Za-z_]\w*)", re.DOTALL)

# A name in braces, for which PySpark fills in a value of the user, or something quoted.
VALUE_IN_BRACES = re.compile(rf"{QUOTED}|\{{\s*(?P<name>[^\W\d]\w*)\s*\}}", re.DOTALL)


def find_refused_name(error_text: str, refused_text: str = "") -> RefusedName | None:
    """Return the name that a refusal is about; None if it is not about a name.

    >>> find_refused_name("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column ... with name `t`.`prise`")
    RefusedName(condition='UNRESOLVED_COLUMN', name='t.prise', parts=())

    Args:
        error_text: the engine's message.
        refused_text: the expression that the engine refuses; "" if it is not known. For `x.f()`,
            Sail does not say which function is unknown.
    """
    if "qualified function" in error_text:
        call = re.search(r"[\w`]+\.\w+(?=\s*\()", refused_text)
        if call is not None:  # for instance a method of pandas, `price.shift(1)`
            return RefusedName(UNKNOWN_FUNCTION.condition, call[0].replace("`", ""))
    spark_message = re.match(
        r"\[(?P<condition>[A-Z_]+).*?(?P<name>(?:`[^`]*`\.?)+)", error_text, re.DOTALL
    )
    if spark_message is not None:
        name = spark_message["name"].replace("`", "").rstrip(".")
        return RefusedName(spark_message["condition"], name)
    return find_name_refused_by_sail(error_text)


def list_parameters_without_value(text: str, parameters: Sequence[str]) -> list[str]:
    """Return the names of the parameters in a text that have no value.

    Args:
        text: SQL of an expression.
        parameters: the names of the parameters that have a value.

    >>> list_parameters_without_value("price > :low AND price < :high AND t = ':no'", ["low"])
    ['high']
    >>> list_parameters_without_value('t = "see :no" AND `a :no` > 1', [])
    []
    """
    names = [parameter["name"] for parameter in PARAMETER.finditer(text)]
    return [name for name in names if name and name not in parameters]


def list_braces_without_value(text: str, values: Collection[str]) -> list[str]:
    """Return the names in braces in a text that have no value.

    Args:
        text: SQL of an expression.
        values: the names that have a value.

    >>> list_braces_without_value("price > { low } AND price < {high} AND t = '{no}'", ["low"])
    ['high']
    """
    names = [braces["name"] for braces in VALUE_IN_BRACES.finditer(text)]
    return [name for name in names if name and name not in values]


def find_unbound_name(refusal: PySparkException) -> str | None:
    """Return the name of the parameter without a value that a refusal is about.

    Returns None if the refusal is about something else.
    """
    spark_message = re.search(r"\[UNBOUND_SQL_PARAMETER\].*?: `?(?P<name>\w+)", str(refusal))
    if spark_message is not None:
        return spark_message["name"]
    refused_name = find_name_refused_by_sail(str(refusal))
    if refused_name is None or refused_name.condition != PARAMETER_WITHOUT_VALUE.condition:
        return None
    return refused_name.name


def find_refused_function(refusal: PySparkException) -> str:
    """Return the name of the function whose call a refusal is about; "" if it has none."""
    parameters = refusal.getMessageParameters() or {}
    function = parameters.get("functionName", "").strip("`")
    if function:
        return function
    call = re.match(r"\W*(\w+)\(", parameters.get("sqlExpr") or "")
    return call[1] if call else ""


def read_sentence(error: Exception) -> str:
    """Return the engine's sentence, without its error condition, SQLSTATE and query context.

    >>> read_sentence(Exception("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\\n== SQL =="))
    'Division by zero'
    """
    text = simplify_refusal(str(error)).sentence.strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text)
    text = re.sub(r"\s*Please, refer to '[^']*' for a fix\.", "", text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", text).rstrip(". ")
