"""The words that an advice takes from the place where it is read: Python, a shell, a cell.

What is an argument in Python is an option in a shell and in the first line of a cell. Who opens the
door says which it is, by `shown_on`; the constructors of errors ask for the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from json import dumps

from matchrec.errors.language import holding

OF_OPTIONS = ("engine", "sort", "transport", "max_steps")
"""What a call of Python has in `Options`."""


@dataclass(frozen=True, slots=True)
class Surface:
    """How advice is written; `{name}` is the name that it is about.

    values: what has those of parameters. row: to ask about one of the starting rows that were
    listed. parameter, marker, markers: to give `:name`, `?` and each `?` their values. frame: to
    say of which rows `{name}` is; table: of which a table is, if that is said here.
    """

    values: str
    row: str
    parameter: str
    marker: str
    markers: str
    frame: str
    table: str = ""

    def option(self, name: str, *values: str | int) -> str:
        """An option with one of a few values: `engine="auto"`, `--engine auto`."""
        if self is not PYTHON:
            return f"--{name.replace('_', '-')} {either(list(map(str, values)))}"
        written = f"{name}={either(list(map(dumps, values)))}"
        return f"options=matchrec.Options({written})" if name in OF_OPTIONS else written

    def keys(self, pairs: Sequence[tuple[str, str]]) -> str:
        """The partition that has these values, once for each column but in a cell.

        `partition={"sym": "X"}`, `--partition sym=X`.
        """
        if self is PYTHON:
            written = ", ".join(f'"{name}": {value}' for name, value in pairs)
            return f"partition={{{written}}}"
        again = " " if self is CELL else " --partition "
        return f"--partition {again.join(f'{name}={bare(value)}' for name, value in pairs)}"


PYTHON = Surface(
    values="args",
    row="write row= one of these, with all ORDER BY columns as a tuple",
    parameter='pass args={{"{name}": value}}',
    marker="call matchrec.sql(spark, query, args=[value])",
    markers="pass a list with one value for each ?, in their order",
    frame="pass it by name: {name}=dataframe",
)
_MARKER = "write :name in its place, and pass --param name=VALUE"
COMMAND_LINE = Surface(
    values="--param",
    row="write --row VALUE with one of these, once for each ORDER BY column",
    parameter="pass --param {name}=VALUE",
    marker=_MARKER,
    markers=_MARKER,
    frame="write {name} without braces, and pass --table {name}=FILE",
    table="pass --table {name}=FILE for a file that the query is to read as {name}",
)
_VARIABLE = "write :name in its place, for the value of the Python variable `name`"
CELL = Surface(
    values="the notebook",
    row="write --row with one of these, all ORDER BY columns one after the other",
    parameter="give the Python variable {name} a value",
    marker=_VARIABLE,
    markers=_VARIABLE,
    frame="give the Python variable {name} a DataFrame",
    table="write {{{name}}} for the DataFrame of a Python variable, or register the table",
)

_CURRENT: ContextVar[Surface] = ContextVar("where errors are shown", default=PYTHON)


def shown_on(surface: Surface) -> AbstractContextManager[None]:
    """Errors made inside are in the words of a surface."""
    return holding(_CURRENT, surface)


def current_surface() -> Surface:
    """Where an error that is made now will be shown.

    >>> current_surface().option("dialect", "oracle", "trino")
    'dialect="oracle" or "trino"'
    >>> with shown_on(COMMAND_LINE):
    ...     current_surface().option("type_column", "kind")
    '--type-column kind'
    """
    return _CURRENT.get()


def either(texts: Sequence[str]) -> str:
    """A choice: `a, b or c`."""
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def bare(value: str) -> str:
    """A value as a shell takes it, given as Python writes it."""
    text = value.strip('"')
    return f"'{text}'" if not text.replace("-", "").replace(".", "").isalnum() else text
