"""Functions of other engines that Spark lacks, each with what to write in Spark SQL.

All is in one table, `foreign_names.txt`. In a cure x and y are numbers, s is a text, d a date, a an
array; t, t1 and t2 are timestamps. The tests run each of them, and ask Spark whether it has come to
know a name. Sources: the references of SQL functions of Oracle, Snowflake, Trino, Flink, BigQuery,
Databricks, SQL Server and DuckDB, and sqlglot's translations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from matchrec.errors.kinds import find_nearest
from matchrec.errors.language import current_surface
from matchrec.source import read_table

FILE_ENDINGS = ("csv", "tsv", "json", "jsonl", "parquet")  # of a path without quotes

OF_CLAUSES = frozenset({"CLASSIFIER", "MATCH_NUMBER", "MATCH_ROW_NUMBER", "PREV", "NEXT"})

# What sees the rows of a match, and what to do about it elsewhere.
INSIDE = "write it in MEASURES of the clause, with a name, and select that name"


@cache
def cures() -> dict[str, tuple[str, str]]:
    """What to write for a name, and the product that alone knows it, "" if several do."""
    found = {}
    for cure, names in read_table("matchrec.errors.sql", "foreign_names.txt"):
        for each in names.split():
            name, _, product = each.partition("@")
            found[name] = f"write {cure}", product
    return found


def cure_of(name: str) -> str | None:
    """What to write for a function of another engine, or of a clause; or None.

    >>> cure_of("match_rowtime"), cure_of("ARG_MAX")
    ('write LAST(t), with the column of ORDER BY', 'write max_by(x, y)')
    """
    if name.upper() in OF_CLAUSES:
        return INSIDE
    cure, product = cures().get(name.upper(), (None, ""))
    return or_dialect(cure, product) if product else cure


def cure_of_arguments(name: str) -> str | None:
    """What to write where another engine's function takes other arguments than Spark's, or None."""
    cure, _ = cures().get(f"{name.upper()}(", (None, ""))
    return cure


def cure_of_table(name: str, known: Iterable[str] = ()) -> str | None:
    """What to write for a table that is not there, if the name tells, or the surface has tables.

    known: names of some that are there.

    >>> cure_of_table("`dual`")
    'leave FROM dual out: SELECT without FROM gives one row'
    >>> cure_of_table("`tiks`", ["trades", "ticks"]), cure_of_table("`events`", ["Events"])
    ('write ticks', 'write Events')
    """
    plain = name.replace("`", "")
    if plain.upper() == "DUAL":
        return "leave FROM dual out: SELECT without FROM gives one row"
    near = find_nearest(plain, known)
    quoted_file = current_surface().quoted_file
    if quoted_file and near is None and plain.rpartition(".")[2].lower() in FILE_ENDINGS:
        return quoted_file
    cures = (near and f"write {near}", current_surface().table.format(name=plain))
    return ", or ".join(filter(None, cures)) or None if name else None


def cure_of_syntax(text: str) -> str | None:
    """What to write where Spark stumbles at the end of a text, if another product reads it.

    >>> cure_of_syntax("SELECT TOP 5 *"), cure_of_syntax('SELECT * FROM "ticks"')
    ('write LIMIT 5 at the end, or pass dialect="snowflake"', 'write `ticks` in backticks')
    >>> cure_of_syntax("SELEC")
    'write SELECT'
    """
    if top := re.search(r"\bTOP\s*\(?\s*(\d+)\s*\)?\s*\S?$", text, re.IGNORECASE):
        return or_dialect(f"write LIMIT {top[1]} at the end", "snowflake")
    if re.search(r"\bQUALIFY$", text, re.IGNORECASE):
        return or_dialect("write SELECT * FROM (SELECT ...) WHERE ... around it", "snowflake")
    if re.search(r"\b(RUNNING|FINAL)\s+\w+\s*\($", text, re.IGNORECASE):
        return INSIDE
    if first := re.fullmatch(r"\s*(\w+)", text):
        near = find_nearest(
            first[1].upper(), ("SELECT", "WITH", "FROM", "VALUES", "INSERT", "CREATE")
        )
        return f"write {near}" if near and near != first[1].upper() else None
    name = re.search(r'"([^"\n]+)"$', text)
    return f"write `{name[1]}` in backticks" if name else None


def or_dialect(cure: str | None, *dialects: str) -> str:
    """The cure of a spelling that `dialect=` understands, and that; None is no other cure.

    >>> or_dialect("write CLASSIFIER()", "snowflake")
    'write CLASSIFIER(), or pass dialect="snowflake"'
    """
    passed = f"pass {current_surface().option('dialect', *dialects)}"
    return f"{cure}, or {passed}" if cure else passed
