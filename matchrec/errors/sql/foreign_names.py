"""Functions of other engines that Spark lacks, each with what to write in Spark SQL.

sqlglot is asked what Spark calls a function, and which product knows it; `foreign_names.txt` has
what it cannot know, or gets wrong. In a cure of ours x and y are numbers, s is a text, d a date, a
an array; t, t1 and t2 are timestamps. The tests run each of them, and ask Spark whether it has come
to know a name. Sources: the references of SQL functions of Oracle, Snowflake, Trino, Flink,
BigQuery, Databricks, SQL Server and DuckDB.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from matchrec.errors.surface import here
from matchrec.source import read_table

_PRODUCTS = ("snowflake", "bigquery", "trino", "oracle")
_OTHERS = ("tsql", "duckdb")
_UNREAD = {"DAYOFWEEKISO", "DOW", "GET", "TIMEDIFF", "TO_TIME"}  # refused with `dialect=` too
_ARGUMENTS = ("", "x", "x, y", "x, y, z")
_SIMPLE = re.compile(r"(\w+)\([\w ,']*\)|x ([&|^]|RLIKE) y")


def cure_of(name: str) -> str | None:
    """What to write for a function of another engine, or None.

    >>> cure_of("match_rowtime"), cure_of("ARG_MAX")
    ('write LAST(t), with the column of ORDER BY', 'write MAX_BY(x, y)')
    """
    upper = name.upper()
    cure, product = cures().get(upper, (None, ""))
    cure = cure or _translated(upper)
    dialect = product or _only_product(upper) if cure else None
    return _written(cure) if dialect is None else or_dialect(_written(cure), dialect)


@cache
def cures() -> dict[str, tuple[str, str]]:
    """What to write for a name, and the product that alone knows it, if that has to be said."""
    found = {}
    for cure, names in read_table("matchrec.errors.sql", "foreign_names.txt"):
        for one in names.split():
            name, _, product = one.partition("@")
            found[name] = cure, product
    return found


def _translated(name: str) -> str | None:
    """A call of a function as sqlglot writes it for Spark, None where it has no word for it."""
    from sqlglot import Dialect
    from sqlglot.errors import ErrorLevel, SqlglotError

    spark = Dialect.get_or_raise("spark").generator_class
    for product in (*_PRODUCTS, *_OTHERS):
        dialect = Dialect.get_or_raise(product)
        for arguments in _ARGUMENTS if name in dialect.parser_class.FUNCTIONS else ():
            text = f"{name}({arguments})"
            try:
                (call,) = dialect.parser().parse(dialect.tokenize(text), text)
                if call is None or lacks_argument(call):
                    continue
                written = call.sql("spark", unsupported_level=ErrorLevel.IGNORE)
            except (SqlglotError, LookupError, AttributeError, TypeError, ValueError):
                continue  # it takes other arguments
            knows = type(call) in spark.TRANSFORMS or hasattr(spark, f"{call.key}_sql")
            found = _SIMPLE.fullmatch(written) if knows else None
            return written if found and found[1] != name else None
    return None


def lacks_argument(call: Any) -> bool:
    """Whether sqlglot has read a call without an argument that it needs, as it raises for none.

    Its own `error_messages` raises in a process that has loaded unittest, in its oldest version.
    """
    needed = (name for name, is_needed in call.arg_types.items() if is_needed)
    return any(call.args.get(name) in (None, []) for name in needed)


def _only_product(name: str) -> str | None:
    """The product that alone knows a function, and reads it by `dialect=`."""
    from sqlglot import Dialect, Parser

    known = [
        product
        for product in _PRODUCTS
        if name in Dialect.get_or_raise(product).parser_class.FUNCTIONS
    ]
    is_own = len(known) == 1 and name not in Parser.FUNCTIONS and name not in _UNREAD
    return known[0] if is_own else None


def cure_of_arguments(name: str) -> str | None:
    """What to write where another engine's function takes other arguments than Spark's, or None."""
    cure, _ = cures().get(f"{name.upper()}(", (None, ""))
    return _written(cure)


def cure_of_table(name: str) -> str | None:
    """What to write for a table that is not there, if the name tells, or the surface has tables.

    >>> cure_of_table("`dual`")
    'leave FROM dual out: SELECT without FROM gives one row'
    """
    if name.strip("`").upper() != "DUAL":
        plain = name.replace("`", "")
        return here().table.format(name=plain) or None if name else None
    return "leave FROM dual out: SELECT without FROM gives one row"


def or_dialect(cure: str | None, *dialects: str) -> str:
    """The cure of a spelling that `dialect=` understands, and that; None is no other cure.

    >>> or_dialect("write CLASSIFIER()", "snowflake")
    'write CLASSIFIER(), or pass dialect="snowflake"'
    """
    passed = f"pass {here().option('dialect', *dialects)}"
    return f"{cure}, or {passed}" if cure else passed


def _written(cure: str | None) -> str | None:
    return None if cure is None else f"write {cure}"
