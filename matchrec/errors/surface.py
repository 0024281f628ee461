"""The words that an advice takes from the place where it is read: Python, a shell, a cell.

What is an argument in Python is an option in a shell and in the first line of a cell. Who opens the
door says which it is, by `shown_on`; the constructors of errors ask for the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from json import dumps

OF_OPTIONS = ("engine", "sort", "transport", "max_steps")
"""What a call of Python has in `Options`."""


class Python:
    """A call of one of the functions.

    values: what has those of parameters.
    """

    values = "args"

    def option(self, name: str, *values: str | int) -> str:
        """An option with one of a few values: `engine="auto"`."""
        written = f"{name}={either([dumps(value) for value in values])}"
        return f"options=matchrec.Options({written})" if name in OF_OPTIONS else written

    def keys(self, pairs: Sequence[tuple[str, str]]) -> str:
        """The partition that has these values: `partition={"sym": "X"}`."""
        written = (f'"{name}": {value}' for name, value in pairs)
        return f"partition={{{', '.join(written)}}}"

    def row(self) -> str:
        """A starting row with one of the values that were listed: a value, or a tuple."""
        return "write row= one of these, with all ORDER BY columns as a tuple"

    def parameter(self, name: str) -> str:
        """To give `:name` its value, in `args`."""
        return f'pass args={{"{name}": value}}'

    def marker(self) -> str:
        """To give `?` its value, in `args`."""
        return "call matchrec.sql(spark, query, args=[value])"

    def markers(self) -> str:
        """To give each `?` its value, in a list."""
        return "pass a list with one value for each ?, in their order"

    def frame(self, name: str) -> str:
        """To say of which rows `{name}` is: by the name."""
        return f"pass it by name: {name}=dataframe"

    def table(self, name: str) -> None:
        """To say of which rows a table is: tables are the session's."""


class CommandLine:
    """The command line: options, and files for tables."""

    values = "--param"

    def option(self, name: str, *values: str | int) -> str:
        """`--engine auto`."""
        return f"--{name.replace('_', '-')} {either([str(value) for value in values])}"

    def keys(self, pairs: Sequence[tuple[str, str]]) -> str:
        """`--partition sym=X`, once for each column."""
        return " ".join(f"--partition {name}={bare(value)}" for name, value in pairs)

    def row(self) -> str:
        """`--row`, once for each column."""
        return "write --row VALUE with one of these, once for each ORDER BY column"

    def parameter(self, name: str) -> str:
        """`--param`."""
        return f"pass --param {name}=VALUE"

    def marker(self) -> str:
        """Positions have no option."""
        return "write :name in its place, and pass --param name=VALUE"

    def markers(self) -> str:
        """As of one."""
        return self.marker()

    def frame(self, name: str) -> str:
        """A table in its place."""
        return f"write {name} without braces, and pass --table {name}=FILE"

    def table(self, name: str) -> str:
        """`--table`."""
        return f"pass --table {name}=FILE for a file that the query is to read as {name}"


class Cell(CommandLine):
    """The first line of a cell, and the variables of its notebook."""

    values = "the notebook"

    def keys(self, pairs: Sequence[tuple[str, str]]) -> str:
        """`--partition sym=X day=1`."""
        return f"--partition {' '.join(f'{name}={bare(value)}' for name, value in pairs)}"

    def row(self) -> str:
        """`--row`, with several values."""
        return "write --row with one of these, all ORDER BY columns one after the other"

    def parameter(self, name: str) -> str:
        """A variable."""
        return f"give the Python variable {name} a value"

    def marker(self) -> str:
        """A variable."""
        return "write :name in its place, for the value of the Python variable `name`"

    def frame(self, name: str) -> str:
        """A variable."""
        return f"give the Python variable {name} a DataFrame"

    def table(self, name: str) -> str:
        """A variable, or the session."""
        return f"write {{{name}}} for the DataFrame of a Python variable, or register the table"


Surface = Python | CommandLine
PYTHON, COMMAND_LINE, CELL = Python(), CommandLine(), Cell()

_CURRENT: ContextVar[Surface] = ContextVar("where errors are shown", default=PYTHON)


@contextmanager
def shown_on(surface: Surface) -> Iterator[None]:
    """Errors made inside are in the words of a surface."""
    token = _CURRENT.set(surface)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def here() -> Surface:
    """Where an error that is made now will be shown.

    >>> here().option("dialect", "oracle", "trino")
    'dialect="oracle" or "trino"'
    >>> with shown_on(COMMAND_LINE):
    ...     here().option("type_column", "kind")
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
