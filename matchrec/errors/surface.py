"""The words of messages that depend on the program in which the user writes, called the surface.

An argument of a Python call is an option in a shell, in the first line of a notebook's cell, or a
setting for clients of the gateway. The code that reads the user's input says where it was written,
by `use_surface`. The surface is in effect inside of a `with` statement. Messages that are made
there take their words from `current_surface`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum, auto
from json import dumps

from matchrec.errors.context import set_variable
from matchrec.errors.quoting import quote_for_python, quote_for_shell, quote_setting
from matchrec.errors.wording import SHORT, describe_value, join_alternatives

# The fields of `matchrec.Options`.
FIELDS_OF_OPTIONS = ("algorithm", "sort", "transport", "max_steps")

# Arguments of `plot` in Python. A cell has only their values: `--plot day price`.
PLOT_COLUMNS = ("x", "y", "by")


def find_no_file(_: str) -> None:
    """Return None: only the command line looks for the files of tables."""


class ProgramKind(Enum):
    """The kinds of programs in which users write queries."""

    # A Python program: options are arguments, `max_steps=5`.
    PYTHON = auto()
    # A shell: options are `--max-steps 5`.
    COMMAND_LINE = auto()
    # A cell of a notebook, whose first line has options in the form of a shell.
    CELL = auto()
    # A client of the gateway, in any language: options are settings, `SET matchrec.max_steps = 5`.
    GATEWAY = auto()


@dataclass(frozen=True, slots=True)
class Surface:
    """The words of messages for one program. The defaults are for Python.

    Advice is formatted by `str.format`: `{name}` in it is the name of the parameter, table, column
    or call that the advice is about. Advice that the surface never needs is "".
    """

    program: ProgramKind = ProgramKind.PYTHON

    # Options and calls.

    # The options that the surface writes in its own form, such as `--max-steps`, by their names in
    # Python; None for all options. The field does not matter for Python, which has no such options.
    own_options: frozenset[str] | None = None
    # For each argument in Python whose option has another name: this name. `--result` needs
    # `{"output": "result"}`.
    option_names: Mapping[str, str] = field(default_factory=dict)
    # The call or command that runs a whole query.
    query_call: str = "matchrec.sql"
    # The call or command that returns runs that timed out, for patterns that are not in SQL.
    timeouts_call: str = "matchrec.match_pattern with timeouts=True"
    # The option that lets `explain` run the query.
    analyze_option: str = "analyze=True"
    # The beginning of a command that asks why a row has no match. Python has a call instead: see
    # `write_why`.
    why_command: str = ""
    # How to write the values of a row in all columns of ORDER BY.
    all_order_values: str = "a tuple of all"

    # Values and parameters.

    # The argument or option that has the values of parameters.
    source_of_values: str = "args"
    # How to give a value to the parameter `:name`.
    advice_on_parameter: str = 'pass args={{"{name}": value}}'
    # How to give a value to a `?`.
    advice_on_positional_parameter: str = "call matchrec.sql(spark, query, args=[value])"
    # How to give a length of time to the parameter `{parameter}`, which is `:name` or `?`. For `?`,
    # `{name}` is "name". See `advise_on_length`.
    advice_on_length: str = "pass a timedelta, such as timedelta(minutes=10)"

    # Tables, DataFrames and files.

    # The word for what `{name}` in braces stands for.
    relation_noun: str = "DataFrame"
    # How to pass the rows that `{name}` in braces stands for.
    advice_on_frame: str = "pass it by name: {name}=dataframe"
    # A note that lists the DataFrames `{name}` that a query may name in braces.
    note_on_frames: str = "the call passes: {name}"
    # The note if the query may name no DataFrames in braces.
    note_without_frames: str = "the call passes no DataFrames"
    # The names of the DataFrames in the variables of a notebook, which a cell may name in braces.
    notebook_frames: tuple[str, ...] = ()
    # The names of the variables of a notebook that can be values of parameters.
    notebook_values: tuple[str, ...] = ()
    # The beginning of the note that lists the tables of the session.
    note_on_tables: str = "the session has"
    # How to pass a table `{name}` that the session does not have.
    advice_on_table: str = (
        'make a view of your DataFrame, df.createOrReplaceTempView("{name}"), or write '
        "{{{name}}} and pass {name}=df"
    )
    # Returns the file with the rows of a table that the session does not have, if there is one.
    find_table_file: Callable[[str], str | None] = find_no_file
    # How to give a table the column `{name}`, which it lacks; empty if its rows have the columns.
    advice_on_column: str = ""
    # How to read a file as a table.
    advice_on_file: str = (
        "read a file into a DataFrame first, with its header, and write that in braces"
    )
    # What to do if the name of a file `{name}` was passed instead of its text.
    advice_on_query_file: str = "pass its text: open({name!r}).read()"
    # How a query names a file.
    advice_on_file_name: str = ""
    # What to do if a file was read without the names in its first line.
    advice_on_header: str = (
        "read the file with the names in its first line: spark.read.csv(path, header=True, "
        "inferSchema=True)"
    )
    # What to do if the first line of a file is a row, but was read as names; "" if not known.
    advice_on_first_row: str = ""
    # The delimiter that the user set for CSV files; "" if none.
    csv_delimiter: str = ""
    # How to change the type of a column of a table of labels: `{name}` is its name in SQL,
    # `{literal}` in Python.
    advice_on_label_type: str = "convert it first: labels.withColumn({literal}, ...) with a CAST"
    # How to give the column another name: `{new_name}` in SQL, `{new_literal}` in Python.
    advice_on_label_name: str = "write labels.withColumnRenamed({literal}, {new_literal})"

    # Other advice on what to write.

    # What to do with a text that only the call `{name}` takes.
    advice_on_clause: str = (
        "pass a clause or a SASE+ query with its DataFrame, matchrec.{name}(df, ...)"
    )
    # How to say where a match begins and ends, with the columns `{first}` and `{last}`.
    advice_on_match_ends: str = 'write between=("{first}", "{last}")'
    # The two columns in this advice if it is not clear which columns they are.
    example_match_ends: tuple[str, str] = ("...", "...")
    # What to do if `{name}` is a function that the user has written.
    advice_on_own_function: str = (
        "if {name} is your own function, register it with spark.udf.register"
    )
    # What to write instead of nested clauses.
    advice_on_inner_view: str = (
        "make a view of an inner query, matchrec.sql(...).createOrReplaceTempView('inner'), and "
        "read FROM inner"
    )
    # What to write instead of a global view.
    advice_on_global_view: str = (
        'make the view from the result: spark.sql("SELECT ...").createGlobalTempView("name")'
    )
    # What to write instead of a script.
    advice_on_script: str = "pass the statements one by one, and write loops and branches in Python"
    # What to write instead of EXECUTE IMMEDIATE.
    advice_on_execute_immediate: str = (
        "pass the query itself, with args= for USING, and SET VARIABLE x = (SELECT ...) for INTO"
    )

    @property
    def has_python_calls(self) -> bool:
        """Return whether messages name functions of Python and their arguments.

        A client of the gateway reads them too, unless the surface has words of its own for it.
        """
        return self.program in (ProgramKind.PYTHON, ProgramKind.GATEWAY)

    @property
    def has_values_of_python(self) -> bool:
        """Return whether the values of parameters are objects of the user's Python program."""
        return self.program in (ProgramKind.PYTHON, ProgramKind.CELL)

    def rename_options(self, **names: str) -> Surface:
        """Return this surface with other names of some options, as one function has them."""
        return replace(self, option_names={**self.option_names, **names})

    def has_own_option(self, name: str) -> bool:
        """Return whether the surface has its own form of an option, such as `--max-steps`."""
        return not self.has_python_calls and (self.own_options is None or name in self.own_options)

    def name_option(self, name: str) -> str:
        """Return an option without a value: `max_steps`, `--max-steps`."""
        own_name = self.option_names.get(name, name)
        if not self.has_own_option(name) or (
            self.program is ProgramKind.CELL and name in PLOT_COLUMNS
        ):
            return own_name
        return f"--{own_name.replace('_', '-')}"

    def write_option(self, name: str, *values: str | int) -> str:
        """Return an option with its values: `sort="engine"`, `--dialect oracle or trino`.

        If only functions of Python have the option, the text says so.
        """
        plain_values = join_alternatives([str(value) for value in values])
        if self.has_own_option(name):
            return f"{self.name_option(name)} {plain_values}"
        if self.program is ProgramKind.GATEWAY and name in ("dialect", *FIELDS_OF_OPTIONS):
            return f"SET matchrec.{name} = {plain_values}"
        if self.program is ProgramKind.GATEWAY and name == "engine":
            return f"matchrec serve --engine {plain_values}"
        quoted_values = join_alternatives([dumps(value) for value in values])
        argument = f"{self.name_option(name)}={quoted_values}"
        if name == "engine":
            return f"matchrec.session({argument})"
        if name in FIELDS_OF_OPTIONS:
            argument = f"options=matchrec.Options({argument})"
        return argument if self.has_python_calls else f"{argument} in a call of Python"

    def advise_on_table(self, name: str) -> str:
        """Return how to pass a table that the session does not have."""
        file = self.find_table_file(name)
        path = "FILE" if file is None else shlex.quote(file)
        return self.advice_on_table.format(name=name, file=path)

    def advise_on_length(self, parameter: str) -> str:
        """Return how to give a length of time to a parameter.

        Args:
            parameter: the parameter in the user's text: `:gap`, or `?`, which has no name.
        """
        name = parameter.lstrip(":?") or "name"
        return self.advice_on_length.format(name=name, parameter=parameter)

    def write_setting(self, name: str, value: str) -> str:
        """Return advice to set a property of Spark: `set x to UTC`, `pass --conf x=UTC`."""
        if self.program is not ProgramKind.COMMAND_LINE:
            return f"set {name} to {value}"
        return f"pass --conf {name}={value}"

    def write_partition(self, pairs: Sequence[tuple[str, object]]) -> str:
        """Return the option that chooses a partition: `partition={"sym": "X"}`.

        In a shell the option is repeated for each column, `--partition sym=X --partition day=1`. In
        a cell, all columns follow one option, `--partition sym=X day=1`.

        Args:
            pairs: the names of the columns, each with its value; `...` for any value.
        """
        if self.has_python_calls:
            items = ", ".join(
                f"{quote_for_python(name)}: {quote_for_python(value)}" for name, value in pairs
            )
            return f"partition={{{items}}}"
        separator = " " if self.program is ProgramKind.CELL else " --partition "
        settings = [quote_setting(name, value) for name, value in pairs]
        return f"--partition {separator.join(settings)}"

    def write_why(self, partition: Mapping[str, object], row: Sequence[object]) -> str:
        """Return the call or command that explains a row: `query.why(row=3)`, `matchrec why ...`.

        Args:
            partition: the values of the row's partition, by column name; empty for the only
                partition.
            row: the values of the row in the ORDER BY columns; may be empty.
        """
        if self.has_python_calls:
            arguments = []
            if partition:
                arguments.append(f"partition={dict(partition)}")
            if row:
                arguments.append(self.write_row(row))
            return f"query.why({', '.join(arguments)})"
        words = [self.why_command]
        if partition:
            words.append(self.write_partition(list(partition.items())))
        if row:
            words.append(self.write_row(row))
        return " ".join(words)

    def write_row(self, row: Sequence[object]) -> str:
        """Return the option that chooses a row by its ORDER BY values: `row=3`, `--row 3`."""
        if self.has_python_calls:
            row_value = row[0] if len(row) == 1 else tuple(row)
            return f"row={row_value!r}"
        return " ".join(f"--row {quote_for_shell(value)}" for value in row)


PYTHON = Surface()
# Advice that is the same in a shell, in a cell and in SQL that a client sends.
_ADVICE_ON_INNER_VIEW = (
    "make a view of an inner query, CREATE TEMPORARY VIEW inner AS SELECT ..., and read FROM inner"
)
_ADVICE_ON_GLOBAL_VIEW = "write CREATE TEMPORARY VIEW without GLOBAL"
_ADVICE_ON_MATCH_ENDS = "write --between {first} {last}"
# A client of the gateway, which sends SQL from any language.
GATEWAY = Surface(
    program=ProgramKind.GATEWAY,
    advice_on_table="make a view: CREATE TEMPORARY VIEW {name} AS SELECT ...",
    query_call="the server",
    advice_on_parameter="bind a value to :{name}",
    advice_on_positional_parameter="bind a value to ?",
    advice_on_length="bind an interval to {parameter}, such as INTERVAL '10' MINUTE",
    source_of_values="the call",
    advice_on_header="write OPTIONS (path 'FILE.csv', header true) when you make the view",
    advice_on_clause="send a whole query, SELECT * FROM t MATCH_RECOGNIZE (...)",
    advice_on_own_function="if {name} is your own function, register it in your session first",
    advice_on_inner_view=_ADVICE_ON_INNER_VIEW,
    advice_on_global_view=_ADVICE_ON_GLOBAL_VIEW,
    advice_on_script="send the statements one by one, without BEGIN and END",
    advice_on_execute_immediate="send the query itself, and bind values to its parameters",
    advice_on_query_file="pass the text of the file {name}",
    advice_on_file=(
        "make a view of the file: CREATE TEMPORARY VIEW name USING csv OPTIONS (path 'FILE.csv', "
        "header true)"
    ),
)
COMMAND_LINE = Surface(
    program=ProgramKind.COMMAND_LINE,
    option_names={"output": "result"},
    query_call="matchrec run",
    timeouts_call="a Pattern with --timeouts",
    analyze_option="--analyze",
    why_command="matchrec why",
    all_order_values="--row once for each",
    source_of_values="--arg",
    advice_on_parameter="pass --arg {name}=VALUE",
    advice_on_positional_parameter="write :name instead of it, and pass --arg name=VALUE",
    advice_on_length="pass --arg {name}=\"INTERVAL '10' MINUTE\"",
    relation_noun="table",
    advice_on_frame="write {name} without braces, and pass --table {name}=FILE",
    note_on_frames="",
    note_without_frames="",
    note_on_tables="the tables are",
    advice_on_table="pass --table {name}={file}",
    advice_on_file=(
        "pass --table NAME=FILE for a file, or name one that ends with .csv, .parquet or .json"
    ),
    advice_on_query_file="leave -c out: matchrec reads the query in a file by its name, {name}",
    advice_on_file_name="write the path of a file in quotes, as in FROM 'prices.csv'",
    advice_on_header=(
        "write FROM 'FILE.csv', or pass --table NAME=FILE: both read the names in the first line"
    ),
    advice_on_first_row=(
        "if the first line of the file is a row, pass --no-header, and write _c0, _c1, ..."
    ),
    advice_on_label_type=(
        "make a view of the labels in a statement before the query, with a CAST of {name}"
    ),
    advice_on_label_name=(
        "make a view of the labels in a statement before the query: CREATE TEMPORARY VIEW v AS "
        "SELECT {name} AS {new_name}, ...; and pass --labels v"
    ),
    advice_on_clause="write --language sase for a text of SASE+",
    advice_on_match_ends=(
        "write --between {first} {last}, or --match COLUMN for ALL ROWS PER MATCH"
    ),
    example_match_ends=("FIRST", "LAST"),
    advice_on_own_function=(
        "if {name} is your own function, run the query from Python, after spark.udf.register"
    ),
    advice_on_inner_view=_ADVICE_ON_INNER_VIEW,
    advice_on_global_view=_ADVICE_ON_GLOBAL_VIEW,
    advice_on_script="write the statements one after the other, without BEGIN and END",
    advice_on_execute_immediate="write the query itself, and pass --arg for the values of USING",
)
# Advice on a file that was read with --no-header, instead of `advice_on_header`.
ADVICE_ON_NO_HEADER = "if the first line of the file has the names, leave out --no-header"
# The command `check`, for which `--schema` declares tables.
CHECKED_COMMAND_LINE = replace(
    COMMAND_LINE,
    advice_on_table="pass --schema '{name}: COLUMN TYPE, ...', or --table {name}={file}",
)
# The command `sweep`, whose values of parameters are in `--grid`.
SWEEP_COMMAND_LINE = replace(
    COMMAND_LINE,
    source_of_values="--grid",
    advice_on_parameter="pass --grid {name}=VALUE,VALUE",
    advice_on_positional_parameter="write :name instead of it, and pass --grid name=VALUE,VALUE",
    advice_on_length="pass --grid {name}='10 minutes,1 hour'",
)
CELL = Surface(
    program=ProgramKind.CELL,
    own_options=frozenset(
        {
            *("algorithm", "dialect", "events", "order_by", "partition_by", "type_column"),
            *("partition", "row", "plot", "between", *PLOT_COLUMNS),
        }
    ),
    query_call="%%matchrec without --events",
    why_command="%%matchrec --why",
    all_order_values="all of them one after the other",
    source_of_values="the notebook",
    advice_on_parameter="give the Python variable {name} a value",
    advice_on_positional_parameter=(
        "write :name instead of it, for the value of the Python variable `name`"
    ),
    advice_on_length=("give the Python variable {name} a timedelta, such as timedelta(minutes=10)"),
    advice_on_frame="give the Python variable {name} a DataFrame",
    note_on_frames="the notebook has the DataFrames: {name}",
    note_without_frames="the notebook has no DataFrames",
    advice_on_table=(
        "write {{{name}}} for the DataFrame of a Python variable, or register the table"
    ),
    advice_on_clause="name the DataFrame of a clause or a text of SASE+, --events stocks",
    advice_on_match_ends=_ADVICE_ON_MATCH_ENDS,
    example_match_ends=("FIRST", "LAST"),
    advice_on_inner_view=_ADVICE_ON_INNER_VIEW,
    advice_on_global_view=_ADVICE_ON_GLOBAL_VIEW,
    advice_on_script="write each statement in its own cell, and loops and branches in Python",
    advice_on_execute_immediate=(
        "write the query itself, with :name for the value of a Python variable"
    ),
)

_SURFACE: ContextVar[Surface] = ContextVar("where errors are shown", default=PYTHON)


def use_surface(surface: Surface) -> AbstractContextManager[None]:
    """Use the words of a surface in errors made inside of the `with` statement."""
    return set_variable(_SURFACE, surface)


def current_surface() -> Surface:
    """Return the surface on which an error that is made now will be shown.

    >>> current_surface().write_option("dialect", "oracle", "trino")
    'dialect="oracle" or "trino"'
    >>> with use_surface(COMMAND_LINE):
    ...     current_surface().write_option("type_column", "kind")
    '--type-column kind'
    >>> with use_surface(CELL):
    ...     current_surface().write_option("sort", "engine")
    'options=matchrec.Options(sort="engine") in a call of Python'
    """
    return _SURFACE.get()


def describe_passed_value(value: object) -> str:
    """Return the value of a parameter as a message shows it, with its type if that is Python's.

    >>> describe_passed_value("x")
    "'x', of type str"
    >>> with use_surface(COMMAND_LINE):
    ...     [describe_passed_value(value) for value in ("x", None, Decimal("1.5"), True)]
    ["'x'", 'NULL', '1.5', 'true']
    """
    if current_surface().has_values_of_python:
        return describe_value(value)
    match value:
        case None:
            return "NULL"
        case Decimal() | bool():
            return str(value).lower()
        case _:
            return SHORT.repr(value)
