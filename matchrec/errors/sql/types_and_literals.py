"""Types and literals that Spark SQL does not have, with what to write instead."""

from __future__ import annotations

import re

from matchrec.errors.kinds import MatchRecognizePlanError, point_at
from matchrec.errors.language import name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.source import Span

# A valid literal of each type.
_LITERALS = {
    "DATE": "DATE'2026-01-31'",
    "TIMESTAMP": "TIMESTAMP'2026-01-31 12:00:00'",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
    "TIMESTAMP_LTZ": "TIMESTAMP_LTZ'2026-01-31 12:00:00'",
    "INTERVAL": "INTERVAL '10' MINUTE",
}
# For the names of types in other databases: the types of Spark SQL to write instead.
_FOREIGN_TYPES = {
    **dict.fromkeys(("NUMBER", "NUMERIC", "BIGNUMERIC"), "DECIMAL(18, 2), BIGINT or DOUBLE"),
    **dict.fromkeys(
        ("TEXT", "VARCHAR", "VARCHAR2", "NVARCHAR", "NVARCHAR2", "CLOB", "UUID"), "STRING"
    ),
    **dict.fromkeys(("DATETIME", "TIMESTAMPTZ"), "TIMESTAMP"),
    **dict.fromkeys(("INT64", "INT8", "HUGEINT"), "BIGINT"),
    **dict.fromkeys(("FLOAT64", "FLOAT8"), "DOUBLE"),
    **dict.fromkeys(("BYTES", "BYTEA", "BLOB", "VARBINARY"), "BINARY"),
    "BOOL": "BOOLEAN",
}
# The types of Spark SQL that a misspelt name may mean.
_SPARK_TYPES = (
    *("STRING", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BOOLEAN", "BINARY", "VARCHAR", "CHAR"),
)


def find_spark_type_hint(name: str) -> str:
    """Return what to write instead of a type that Spark SQL does not have."""
    examples = "a type of Spark SQL, such as STRING, BIGINT, DOUBLE, DECIMAL(18, 2) or TIMESTAMP"
    spark_types = _FOREIGN_TYPES.get(name.upper()) or find_nearest(name, _SPARK_TYPES) or examples
    return f"write {spark_types}"


def unknown_type(span: Span, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a CAST to a type that Spark SQL does not have.

    Args:
        span: the CAST in the text of the query.
        name: the type.
        clause: the clause of the CAST.
    """
    error = MatchRecognizePlanError(
        f"unknown type `{name}` in {name_part(clause)}",
        span,
        hint=find_spark_type_hint(name),
        code="unknown-type",
    )
    return point_at(error, name)


def find_cast_type_hint(text: str) -> str | None:
    """Return the hint for a text that ends with the type of a CAST; None if it does not.

    >>> find_cast_type_hint("SELECT CAST(x AS NUMBER")
    'write DECIMAL(18, 2), BIGINT or DOUBLE'
    >>> find_cast_type_hint("SELECT x AS NUMBER")
    """
    cast = re.search(r"(?i)\b(?:try_)?cast\s*\([^()]*\bAS\s+(?P<name>\w+)$", text)
    return find_spark_type_hint(cast["name"]) if cast else None


def write_literal_hint(type_name: str) -> str:
    """Return the hint for a literal whose text is not a value of its type.

    >>> write_literal_hint("DATE")
    "write a valid DATE, such as DATE'2026-01-31'"
    """
    example = _LITERALS.get(type_name, f"{type_name}'...'")
    return f"write a valid {type_name}, such as {example}"


def find_literal_hint(text: str) -> str | None:
    """Return the hint for a text that is a literal with a type, such as `DATE'x'`; else None.

    >>> find_literal_hint("DATE 'tomorrow'")
    "write a valid DATE, such as DATE'2026-01-31'"
    >>> find_literal_hint("tomorrow")
    """
    literal = re.fullmatch(r"(?P<type>[A-Za-z_]+)\s*(?P<text>'.*')", text)
    if literal is None or literal["type"].upper() not in _LITERALS:
        return None
    return write_literal_hint(literal["type"].upper())


def find_typed_literal_hint(type_name: str) -> str | None:
    """Return the hint if Spark reads SELECT as the type of a literal, as in `IN (SELECT 'a')`.

    Returns None for any other word.

    >>> find_typed_literal_hint('"SELECT"')
    "give the string a name: SELECT 'a' AS name"
    """
    is_query = type_name.strip('"').upper() == "SELECT"
    return "give the string a name: SELECT 'a' AS name" if is_query else None
