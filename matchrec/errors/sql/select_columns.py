"""Advice on columns that a query around a clause reads, and that its tables do not have.

`api.missing_columns` and `api.table_columns` add an `Advice` to an error of the engine about an
unknown column. `column_advice` advises on the columns that the clause itself reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from matchrec.errors.misspellings import find_nearest_or_part, find_query_keyword
from matchrec.errors.wording import show_list, write_name


class Advice(NamedTuple):
    """The note and the help of an error about a column that does not exist."""

    # A fact; "" if the error needs none.
    note: str
    # What to write instead.
    hint: str


def advise_on_input_column(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column of the input that the result of the clause lacks.

    Args:
        name: the column.
        columns: the columns of the result.
    """
    written_name = write_name(name)
    hint = f"add LAST({written_name}) AS {written_name} to MEASURES, or write ALL ROWS PER MATCH"
    return Advice(show_list("the clause returns", columns, "columns"), hint)


def advise_on_unknown_column(name: str, columns: Iterable[str]) -> Advice:
    """Advise on a column that neither the result nor the input of the clause has.

    Args:
        name: the column.
        columns: the columns of the result.
    """
    columns = tuple(columns)
    if not columns:
        return Advice(
            "the clause returns no columns",
            f"write MEASURES ... AS {write_name(name)} in the clause",
        )
    near = find_nearest_or_part(name, columns)
    hint = f"write {write_name(near)}" if near else "write one of these"
    if near is None and find_query_keyword(name) == "DISTINCT":
        hint = "write DISTINCT"
    elif near is None and name.upper() == "ROWNUM":
        hint = "write LIMIT n at the end for the first rows, or row_number() OVER (ORDER BY ...)"
    return Advice(show_list("the clause returns", columns, "columns"), hint)


# How a note names the clause among the tables of a SELECT.
CLAUSE = "the clause"


def advise_on_table_columns(
    name: str, columns_by_table: Mapping[str, Sequence[str]], qualifier: str = ""
) -> Advice:
    """Advise on a column that no table of its SELECT has.

    Args:
        name: the column, without its qualifier.
        columns_by_table: the columns of each table, or of `CLAUSE`.
        qualifier: the qualifier of the column, which the help repeats; "" if it has none.

    >>> advise_on_table_columns("dya", {"ticks": ["sym", "day"]})
    Advice(note='ticks has: sym, day', hint='write day')
    >>> advise_on_table_columns("dya", {"ticks": ["sym", "day"], "names": ["sym", "name"]})
    Advice(note='ticks has: sym, day; names has: sym, name', hint='write day')
    """
    all_columns = [column for columns in columns_by_table.values() for column in columns]
    near = find_nearest_or_part(name, dict.fromkeys(all_columns))
    lists = []
    for table, columns in columns_by_table.items():
        verb = "returns" if table == CLAUSE else "has"
        lists.append(show_list(f"{table} {verb}", columns, "columns"))
    # The lists of several tables are no advice: only the user knows which table is meant.
    hint = "write one of these" if len(columns_by_table) == 1 else ""
    if near:
        hint = f"write {write_name(near)}"
        if qualifier:
            hint = f"write {write_name(qualifier)}.{write_name(near)}"
    return Advice("; ".join(lists), hint)


def advise_on_field(column: str) -> Advice:
    """Advise on a field of a column of the clause that is not a struct, such as `price.x`.

    Args:
        column: the column.
    """
    hint = f"write {write_name(column)} alone: x.y is for structs and maps"
    return Advice(f"{column} is a column of the clause", hint)


def advise_on_ungrouped(name: str) -> Advice:
    """Advise on a column of the clause that a query with GROUP BY reads outside an aggregate."""
    written_name = write_name(name)
    hint = (
        f"add {written_name} to GROUP BY, or write an aggregate of it, such as max({written_name})"
    )
    return Advice(f"the clause gives {name}, but the groups of rows do not have it", hint)


def advise_on_qualifier(name: str, alias: str | None) -> Advice:
    """Advise on a column of the clause that is qualified by a name that its rows do not have.

    Args:
        name: the column, or `*`.
        alias: the name of the rows of the clause; None if they have no name.
    """
    written_name = "*" if name == "*" else write_name(name)
    if alias is not None:
        hint = f"write {write_name(alias)}.{written_name}"
        return Advice(f"the rows of the clause are called {alias}", hint)
    note = "the rows of the clause have no name"
    return Advice(note, f"write {written_name}, or MATCH_RECOGNIZE (...) AS m")


def advise_on_variable(variable: str, name: str) -> Advice:
    """Advise on a column of a pattern variable that is read outside the clause.

    Args:
        variable: the variable.
        name: the column, or `*`.
    """
    value = f"count({variable}.*)" if name == "*" else f"LAST({variable}.{write_name(name)})"
    hint = f"write {value} AS x in MEASURES, and select x"
    return Advice(f"{variable} is known only inside the clause", hint)
