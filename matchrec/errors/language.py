"""The words that an error takes from the language of its query, and from where it is read.

A condition stands in DEFINE for SQL and in WHERE for SASE+. `shown_in` says which language is being
read; constructors ask for its words by what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from json import dumps
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Language:
    """parts: what it calls parts of the clause, by their names in SQL, where it calls them so.

    pattern, condition, rows, measures: what it calls these. smaller: what makes a pattern so.
    one, earlier and later, before and current: how it writes a value of one row of the match, and
    of two. one_value: what it calls the first of them. alone: a function of each row by itself.
    another: what it writes for a value of another row than the one that is tested. or_after: what
    else than the condition of a variable reads a row that comes later. of_rows: what reads other
    rows of the match.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    pattern: str = "the row pattern in PATTERN"
    smaller: str = "lower the bounds of nested {n,m}, or the number of parts of PERMUTE"
    condition: str = "a condition in DEFINE"
    rows: str = "rows"
    measures: str = "measures"
    one_value: str = "one navigation"
    one: str = "LAST(A.x)"
    earlier: str = "FIRST(A.x)"
    later: str = "LAST(A.x)"
    before: str = "LAST(A.x)"
    current: str = "x"
    alone: str = "f(LAST(A.x)) = f(x)"
    another: str = "PREV(x) for the row before, or A.x for the last row of another variable"
    or_after: str = ", or NEXT(...) for the row after"
    of_rows: str = "PREV, NEXT or an aggregate"


SQL = Language()
_ARGUMENTS = {"ORDER BY": "order_by", "PARTITION BY": "partition_by"}
SASE = Language(
    {**_ARGUMENTS, "DEFINE": "WHERE", "MEASURES": "RETURN"},
    smaller="leave out components of SEQ",
    condition="a condition in WHERE",
    rows="events",
    measures="items",
    one_value="one of them",
    one="a.x",
    earlier="a.x",
    later="b.x",
    before="a.x",
    current="b.x",
    alone="f(a[a.LEN].x)",
    another="a[i-1].x for the event before, or b.x for that of another variable",
    of_rows="a[i-1].x for the event before, or an aggregate over events, avg(a[..i-1].x)",
)
PATTERN_CALLS = Language(
    {**_ARGUMENTS, "DEFINE": "a condition", "PATTERN": "the pattern"},
    pattern="the pattern",
    smaller="lower the numbers of times(m, n), those of groups in one another first",
    condition="a condition",
    another="last(a.x) for the event that the stage a has accepted last",
    or_after="",
    of_rows="last(a.x) for the event before, or an aggregate over a stage, avg(a.x)",
)

_CURRENT: ContextVar[Language] = ContextVar("language of the query", default=SQL)


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def reading(language: Language | None) -> AbstractContextManager[None]:
    """Errors made inside are in the words of a language; with None, in those of the one around."""
    return holding(_CURRENT, language or _CURRENT.get())


def current() -> Language:
    return _CURRENT.get()


def part(name: str) -> str:
    """What the language that is being read calls a part of the clause.

    >>> part("DEFINE")
    'DEFINE'
    >>> with reading(SASE):
    ...     part("DEFINE")
    'WHERE'
    """
    return current().parts.get(name, name)


def as_note(sentence: str) -> str:
    """What a parser says, as one of an error's notes; a name in capitals stays.

    >>> as_note("Unexpected token"), as_note("TO_DATE needs a format")
    ('unexpected token', 'TO_DATE needs a format')
    """
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


# What is an argument in Python is an option in a shell and in the first line of a cell. Who opens
# the door says which it is, by `shown_on`; the constructors of errors ask for the words.

OF_OPTIONS = (
    "algorithm",
    "sort",
    "transport",
    "max_steps",
)  # what a call of Python has in `Options`

# Options of a shell whose names differ from the argument in Python.
IN_SHELLS = {"output": "result", "by": "series"}

# Arguments of Python whose values a cell takes without their names.
AXES = ("x", "y", "by")


@dataclass(frozen=True, slots=True)
class Surface:
    """How advice is written; `{name}` is the name that it is about.

    values: what has those of parameters. row: to ask about one of the starting rows that were
    listed. parameter, marker, markers: to give `:name`, `?` and each `?` their values. frame: to
    say of which rows `{name}` is; table: of which a table is, if that is said here. query: what
    takes a whole query. clause: what to do with a text that only the call `{name}` takes.
    all_of_row: what names a row by all columns of ORDER BY. analyze: what asks `explain` to run it.
    ends: to say where a match lies.
    length: to give a parameter a length of time.
    asking: what asks why a row has no match, before partition and row; Python has a call for that.
    frames: what else than the frames of a call a query may name. file: to read a file as a table.
    own_function: what to do if `{name}` is a function that the user has written. relation: what
    `{name}` in braces stands for. quoted_file: how a query names a file. passed: a note on the
    DataFrames `{name}` that a query may name in braces. header: what to do if a file was read
    without the names in its first line. inner_view, session_view, statements, using: what to write
    instead of nested clauses, a global view, a script, and USING. recast, renamed: how to change
    the type or the name of column `{name}` of a table of labels.
    """

    is_cell: bool = False
    values: str = "args"
    row: str = "write row= one of these, with all ORDER BY columns as a tuple"
    parameter: str = 'pass args={{"{name}": value}}'
    marker: str = "call matchrec.sql(spark, query, args=[value])"
    markers: str = "pass a list with one value for each ?, in their order"
    frame: str = "pass it by name: {name}=dataframe"
    table: str = ""
    query: str = "matchrec.sql"
    all_of_row: str = "a tuple of all"
    analyze: str = "analyze=True"
    asking: str = ""
    length: str = "pass a timedelta, such as timedelta(minutes=10)"
    clause: str = "pass a clause or a text of SASE+ with its DataFrame, matchrec.{name}(df, ...)"
    ends: str = 'write between=("...", "..."), or match="..." for ALL ROWS PER MATCH'
    frames: tuple[str, ...] = ()
    file: str = "read a file into a DataFrame first, with its header, and write that in braces"
    own_function: str = "if {name} is a function of your own, register it with spark.udf.register"
    relation: str = "DataFrame"
    quoted_file: str = ""
    passed: str = "the call passes: {name}"
    header: str = (
        "read the file with the names in its first line: spark.read.csv(path, header=True, "
        "inferSchema=True)"
    )
    inner_view: str = (
        "make a view of an inner query, matchrec.sql(...).createOrReplaceTempView('inner'), and "
        "read FROM inner"
    )
    session_view: str = (
        'make the view from the result: spark.sql("SELECT ...").createGlobalTempView("name")'
    )
    statements: str = "pass the statements one by one, and write loops and branches in Python"
    using: str = (
        "pass the query itself, with args= for USING, and SET VARIABLE x = (SELECT ...) for INTO"
    )
    recast: str = 'convert it first: labels.withColumn("{name}", ...) with a CAST'
    renamed: str = 'write labels.withColumnRenamed("{name}", "label_{name}")'

    @property
    def is_python(self) -> bool:
        """Return whether the query is a string of a Python program, which may be an f-string."""
        return self is PYTHON

    def name_of_option(self, name: str) -> str:
        """Return the name of an option alone: `max_steps`, `--max-steps`."""
        if self.is_python or (self.is_cell and name in AXES):
            return name
        return f"--{IN_SHELLS.get(name, name).replace('_', '-')}"

    def option(self, name: str, *values: str | int) -> str:
        """An option with one of a few values: `algorithm="auto"`, `--algorithm auto`."""
        if self is not PYTHON:
            return f"{self.name_of_option(name)} {either(list(map(str, values)))}"
        written = f"{name}={either(list(map(dumps, values)))}"
        if name == "engine":
            return f"matchrec.session({written})"
        return f"options=matchrec.Options({written})" if name in OF_OPTIONS else written

    def keys(self, pairs: Sequence[tuple[str, str]]) -> str:
        """The partition that has these values, once for each column but in a cell.

        `partition={"sym": "X"}`, `--partition sym=X`.
        """
        if self is PYTHON:
            written = ", ".join(f'"{name}": {value}' for name, value in pairs)
            return f"partition={{{written}}}"
        again = " " if self.is_cell else " --partition "
        return f"--partition {again.join(f'{name}={bare(value)}' for name, value in pairs)}"

    def why(self, partition: Mapping[str, object], row: Sequence[object]) -> str:
        """What asks why a starting row has no match: `query.why(row=3)`, `matchrec why --row 3`."""
        if self is PYTHON:
            about = [f"partition={dict(partition)}"] if partition else []
            about += [f"row={(row[0] if len(row) == 1 else tuple(row))!r}"] if row else []
            return f"query.why({', '.join(about)})"
        keys = [(name, str(value)) for name, value in partition.items()]
        rows = [f"--row {bare(str(value))}" for value in row]
        return " ".join([self.asking, *([self.keys(keys)] if keys else []), *rows])


PYTHON = Surface()
_MARKER = "write :name in its place, and pass --arg name=VALUE"
_INNER_VIEW = (
    "make a view of an inner query, CREATE TEMPORARY VIEW inner AS SELECT ..., and read FROM inner"
)
COMMAND_LINE = Surface(
    values="--arg",
    row="write --row VALUE with one of these, once for each ORDER BY column",
    parameter="pass --arg {name}=VALUE",
    marker=_MARKER,
    markers=_MARKER,
    frame="write {name} without braces, and pass --table {name}=FILE",
    table="pass --table {name}=FILE for a file that the query is to read as {name}",
    own_function="if {name} is a function of your own, run the query from Python, after "
    "spark.udf.register",
    relation="table",
    quoted_file="write the path of a file in quotes, as in FROM 'prices.csv'",
    passed="",
    header="write FROM 'FILE.csv', or pass --table NAME=FILE: both read names in the first line",
    inner_view=_INNER_VIEW,
    session_view="write CREATE TEMPORARY VIEW without GLOBAL",
    statements="write the statements one after the other, without BEGIN and END",
    using="write the query itself, and pass --arg for the values of USING",
    recast="make a view of the labels in a statement before the query, with a CAST of {name}",
    renamed="make a view of the labels in a statement before the query: CREATE TEMPORARY VIEW v AS "
    "SELECT {name} AS label_{name}, ...; and pass --labels v",
    file="pass --table NAME=FILE for a file, or name one that ends with .csv, .parquet or .json",
    query="matchrec run",
    all_of_row="--row once for each",
    analyze="--analyze",
    asking="matchrec why",
    ends="write --between FIRST LAST, or MATCH_NUMBER() AS match_number for ALL ROWS PER MATCH",
    clause="write --language sase for a text of SASE+",
    length="pass --arg name=\"INTERVAL '10' MINUTE\"",
)
_VARIABLE = "write :name in its place, for the value of the Python variable `name`"
CELL = Surface(
    is_cell=True,
    values="the notebook",
    row="write --row with one of these, all ORDER BY columns one after the other",
    parameter="give the Python variable {name} a value",
    marker=_VARIABLE,
    markers=_VARIABLE,
    frame="give the Python variable {name} a DataFrame",
    table="write {{{name}}} for the DataFrame of a Python variable, or register the table",
    query="%%matchrec without --events",
    all_of_row="all of them one after the other",
    passed="the notebook has the DataFrames: {name}",
    inner_view=_INNER_VIEW,
    session_view="write CREATE TEMPORARY VIEW without GLOBAL",
    statements="write each statement in a cell of its own, and loops and branches in Python",
    using="write the query itself, with :name for the value of a Python variable",
    clause="name the DataFrame of a clause or a text of SASE+, --events stocks",
    ends="write --between FIRST LAST, or MATCH_NUMBER() AS match_number for ALL ROWS PER MATCH",
    asking="%%matchrec --why",
)

_SURFACE: ContextVar[Surface] = ContextVar("where errors are shown", default=PYTHON)


def shown_on(surface: Surface) -> AbstractContextManager[None]:
    return holding(_SURFACE, surface)


def current_surface() -> Surface:
    """Where an error that is made now will be shown.

    >>> current_surface().option("dialect", "oracle", "trino")
    'dialect="oracle" or "trino"'
    >>> with shown_on(COMMAND_LINE):
    ...     current_surface().option("type_column", "kind")
    '--type-column kind'
    """
    return _SURFACE.get()


def either(texts: Sequence[str]) -> str:
    """A choice: `a, b or c`."""
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def bare(value: str) -> str:
    """A value as a shell takes it, given as Python writes it."""
    if value == "None":
        return "NULL"
    text = value.strip('"')
    return f"'{text}'" if not text.replace("-", "").replace(".", "").isalnum() else text
