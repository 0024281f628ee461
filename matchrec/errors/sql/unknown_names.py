"""Errors about names of columns and functions that an expression cannot use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from matchrec.errors.kinds import MatchRecognizePlanError, point_at
from matchrec.errors.language import (
    PATTERN_CALLS,
    SQL,
    current_language,
    current_surface,
    name_part,
)
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.foreign_names import add_dialect_hint, find_function_hint
from matchrec.errors.wording import shorten, show_list, write_name
from matchrec.source import Span

BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")

# For names that Spark does not read as values: what to write instead.
_VALUES = {
    "NAN": "isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), "current_timestamp()"),
}
_CALLS = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")
_MATCH_FUNCTIONS = (*_CALLS, "PREV", "NEXT", "FIRST", "LAST", "MATCH_STATUS", "MATCH_TIMEOUT")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that an expression can use, for advice on a name that is unknown."""

    # The columns of the input, and the variables of PATTERN.
    columns: tuple[str, ...]
    variables: tuple[str, ...]
    # For each measure: its value so far, as a condition can compute it; "" if no condition can.
    measures: Mapping[str, str]
    # Names that PARTITION BY gives to columns of the result.
    keys: tuple[str, ...] = ()
    # The start of the function call around the name, or of the one that it is compared with, such
    # as `COUNT(`; "" if there is none.
    call: str = ""
    # A column for the advice.
    example: str = "x"
    # True if the expression is a function over a row pattern window.
    over_window: bool = False
    # The names of the index of a pandas frame; None for an index of times without a name.
    index: tuple[str | None, ...] = ()


def unknown_column(
    name: str, clause: str, names: KnownNames, span: Span | None
) -> MatchRecognizePlanError:
    """Return the error for a name that is not a column of the input.

    Args:
        name: the name, with its qualifier if it has one, such as `A.price`.
        clause: the clause of the expression.
        names: what the user could have meant.
        span: the name in the text of the query.
    """
    qualifier, _, column = name.rpartition(".")
    table, _, variable = qualifier.rpartition(".")
    is_variable = qualifier.upper() in names.variables
    if is_variable and clause in BEFORE_THE_MATCH:
        return _variable_before_match(span, qualifier=qualifier, clause=clause, column=column)
    if is_variable and names.over_window:
        return _variable_over_window(span, qualifier=qualifier)
    if table and variable.upper() in names.variables:
        return _variable_of_table(span, name=name, clause=clause, variable=variable, column=column)
    if qualifier and column in names.columns:
        return _unknown_qualifier(
            span, name=qualifier, clause=clause, variables=names.variables, column=column
        )
    note, hint = _explain_name(name, clause, names)
    error = MatchRecognizePlanError(
        f"unknown column `{shorten(name)}` in {name_part(clause)}",
        span,
        notes=(note, show_list("the input has", names.columns, "columns")),
        hint=hint,
        code="unknown-column",
    )
    return point_at(error, name)


def _variable_before_match(
    span: Span | None, *, qualifier: str, clause: str, column: str
) -> MatchRecognizePlanError:
    """Return the error for A.price in PARTITION BY, ORDER BY or WITHIN, for a variable A."""
    error = MatchRecognizePlanError(
        f"pattern variable `{qualifier}` is not allowed in {name_part(clause)}",
        span,
        notes=(f"{name_part(clause)} is evaluated before the match, on each row alone",),
        hint=f"write {column}",
        code="variable-before-match",
    )
    return point_at(error, qualifier)


def _variable_over_window(span: Span | None, *, qualifier: str) -> MatchRecognizePlanError:
    """Return the error for sum(A.price) OVER w in the SELECT list, for a variable A."""
    error = MatchRecognizePlanError(
        f"pattern variable `{qualifier}` is not allowed in a function over a window",
        span,
        notes=("outside MEASURES, functions see the rows of the match, but not its variables",),
        hint="make it a measure of the window: MEASURES ... AS m, then m OVER w",
        code="variable-over-window",
    )
    return point_at(error, qualifier)


def _variable_of_table(
    span: Span | None, *, name: str, clause: str, variable: str, column: str
) -> MatchRecognizePlanError:
    """Return the error for t.A.price, for a variable A."""
    error = MatchRecognizePlanError(
        f"unknown column `{name}` in {name_part(clause)}",
        span,
        notes=(f"`{variable}` is a pattern variable; no table name is allowed before it",),
        hint=f"write {variable}.{column}",
        code="unknown-column",
    )
    return point_at(error, name)


def _unknown_qualifier(
    span: Span | None, *, name: str, clause: str, variables: Sequence[str], column: str
) -> MatchRecognizePlanError:
    """Return the error for Z.price if `price` is a column, but Z is not a variable."""
    near = find_nearest(name, variables)
    hint = f"write {column}, or add {name} to {name_part('PATTERN')}"
    if near:
        hint = f"write {near}.{column}"
    error = MatchRecognizePlanError(
        f"unknown pattern variable `{name}` in {name_part(clause)}",
        span,
        notes=(show_list(f"{name_part('PATTERN')} has", variables, "variables"),),
        hint=hint,
        code="unknown-variable",
    )
    return point_at(error, name)


def _explain_name(name: str, clause: str, names: KnownNames) -> tuple[str, str]:
    """Explain a name that is not a column.

    Returns:
        note: what the name is instead, such as a measure; "" if it is nothing.
        hint: what to write.
    """
    if not names.columns:
        return "", "if the input is a folder, check that it has files"
    if names.columns[0] == "_c0":
        return "", current_surface().advice_on_header
    if len(names.columns) == 1 and current_surface().csv_delimiter:
        explanation = _explain_delimiter(current_surface().csv_delimiter, names.columns[0])
        if explanation is not None:
            return explanation
    hint = _find_spelling_in_spark(name, names)
    if hint:
        return "", hint
    first, _, field = name.partition(".")
    is_variable = field.upper() in names.variables and clause not in BEFORE_THE_MATCH
    if is_variable and first in names.columns:
        return f"`{field}` is a pattern variable", f"write {field}.{first}"
    if field and first in names.columns:
        shown = "printSchema() shows the fields of a struct"
        hint = f"write {first}['{field}'] if it is a map; {shown}"
        return f"`{first}` is a column without the field `{field}`", hint
    if name.upper() in names.variables and clause not in BEFORE_THE_MATCH:
        hint = _replace_variable(name, names)
        return f"`{name}` is a pattern variable, which stands for rows", hint
    if name in names.measures:
        return _explain_measure(name, clause, names.measures[name])
    if name in names.index:
        return "", _OF_INDEX.format("reset_index()")
    near = find_nearest(name, names.columns)
    if clause == "ORDER BY" and None in names.index and not near:
        return "", _OF_INDEX.format(f'rename_axis("{name}").reset_index()')
    if name in names.keys:
        note = f"`{name}` is a name that PARTITION BY gives to a column of the result"
        return note, f"repeat the expression before AS {name}"
    is_measure = clause == "MEASURES" and current_language() is SQL
    if is_measure and name.upper() == "PATTERN" and not near:
        return "PATTERN is a keyword", f"write an expression, such as {names.example} AS x"
    hint = f"write {write_name(near)}" if near else "write one of these"
    addition = current_surface().advice_on_column
    if addition and name.isidentifier():
        hint += f", or {addition.format(name=name)}"
    return "", hint


# How the command line writes delimiters of CSV files that people use.
_DELIMITERS = {",": ",", ";": "';'", "|": "'|'", "\t": "tab"}


def _explain_delimiter(delimiter: str, column: str) -> tuple[str, str] | None:
    """Explain a file that has only one column because of `--delimiter`.

    Args:
        delimiter: the delimiter that the user set.
        column: the name of the column, which is the first line of the file.

    Returns:
        The note and the hint, as `_explain_name` returns them; None if the name has no delimiter.

    >>> print(*_explain_delimiter(";", "ts,price"), sep="\\n")
    --delimiter ';' makes one column of the file
    leave out --delimiter, or write --delimiter ,
    """
    written = _DELIMITERS.get(delimiter, quote(delimiter))
    for meant, meant_as_written in _DELIMITERS.items():
        if meant in column:
            return (
                f"--delimiter {written} makes one column of the file",
                f"leave out --delimiter, or write --delimiter {meant_as_written}",
            )
    return None


def _explain_measure(name: str, clause: str, so_far: str) -> tuple[str, str]:
    """Explain the name of a measure where a column is needed.

    Args:
        name: the measure.
        clause: the clause that uses it.
        so_far: its value so far as a condition can compute it, or "".

    Returns:
        The note and the hint, as `_explain_name` returns them.
    """
    if clause != "DEFINE":
        note = f"`{name}` is a measure; only a later measure can read it, by its name alone"
        hint = f"repeat its expression, or compute with {name} in the SELECT around the clause"
        return note, hint
    if so_far and current_language() is PATTERN_CALLS:
        note = f"`{name}` is a stage, which has one or several events"
        return note, f"write {current_language().advice_on_other_rows}"
    hint = f"test {name} in a query around this one: SELECT * FROM (SELECT ...) WHERE {name} ..."
    if so_far:
        hint = f"write {shorten(so_far)} for its value so far, or {hint}"
    return f"`{name}` is a measure, which has no value before the match is complete", hint


_OF_INDEX = "write df.{} for the pandas DataFrame: its index is not a column"


def _find_spelling_in_spark(name: str, names: KnownNames) -> str | None:
    """Return what to write for something that is spelled differently in Spark; else None.

    Examples are SYSDATE, CLASSIFIER without parentheses, and 1_000 for a number.
    """
    if name.upper() == "CLASSIFIER":
        return add_dialect_hint(f"write {name}()", "snowflake")
    if name.upper() in _CALLS:
        return f"write {name}()"
    digits = name.replace("_", "")
    if digits.isdigit():
        return f"write {digits} for a number, `{name}` for a name"
    if name.upper() in _VALUES and not find_nearest(name, names.columns):
        return f"write {_VALUES[name.upper()]}"
    return None


def _replace_variable(name: str, names: KnownNames) -> str:
    """Return what to write instead of a pattern variable where a value is needed."""
    hints = {
        "": f"write a column of its row: {name}.{names.example}",
        "CLASSIFIER(": f"write its name as a string: CLASSIFIER() = '{name.upper()}'",
        "COUNT(": f"write COUNT({name}.*) for the number of its rows",
    }
    argument = f"write a column of its rows: {names.call}{name}.{names.example})"
    return hints.get(names.call, argument)


def unknown_type_column(*, name: str, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for type_column with a name that the input does not have."""
    surface = current_surface()
    near = find_nearest(name, columns)
    hint = (
        f"write {surface.write_option('type_column', write_name(near))}"
        if near
        else f"write {surface.write_option('type_column', '...')} with the column of the types of "
        "events, or SEQ(ANY a, ANY b) if events have no types"
    )
    return MatchRecognizePlanError(
        f"unknown column `{name}` in {surface.name_option('type_column')}",
        notes=(show_list("the input has", columns, "columns"),),
        hint=hint,
        code="unknown-type-column",
    )


def type_column_without_texts(*, type_name: str, name: str) -> MatchRecognizePlanError:
    """Return the error for a type_column that does not have strings."""
    surface = current_surface()
    return MatchRecognizePlanError(
        f"{surface.name_option('type_column')} has type {type_name}, but event types in SEQ are "
        "strings",
        hint=f"write {surface.write_option('type_column', f'CAST({name} AS STRING)')}",
        code="type-column-without-texts",
    )


def ambiguous_column(span: Span | None, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a name that several columns of the input have."""
    error = MatchRecognizePlanError(
        f"column `{name}` in {name_part(clause)} is ambiguous",
        span,
        notes=("several columns of the input have this name",),
        hint="rename them in a subquery in FROM: SELECT a.x, b.x AS x2 FROM ...",
        code="ambiguous-column",
    )
    return point_at(error, name)


def column_named_like_function(span: Span, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a bare name such as current_date that the input also has as a column."""
    error = MatchRecognizePlanError(
        f"`{name}` in {name_part(clause)} is both a column of the input and a function of Spark",
        span,
        hint=(
            f"write A.{name}, with the pattern variable of the row, for the column, or {name}() "
            "for the function"
        ),
        code="column-named-like-function",
    )
    return point_at(error, name)


def unknown_function(
    name: str, clause: str, functions: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """Return the error for a function that does not exist; `functions` are those that do."""
    hint = find_unknown_function_hint(name, (*functions, *_MATCH_FUNCTIONS))
    if name.upper() in ("FINAL", "RUNNING"):
        hint = f"write {name} before each FIRST, LAST and aggregate in the parentheses"
    error = MatchRecognizePlanError(
        f"unknown function `{name}` in {name_part(clause)}",
        span,
        hint=hint,
        code="unknown-function",
    )
    return point_at(error, name)


def find_unknown_function_hint(name: str, functions: Iterable[str]) -> str:
    """Return what to write for a function that the session does not have.

    Args:
        name: the function, with a qualifier as in `price.shift`.
        functions: the functions that the session has.
    """
    qualifier, _, plain = name.rpartition(".")
    hint = find_function_hint(plain)
    if hint:
        return hint
    if qualifier:
        return f"write {plain}(x): a function comes before its argument"
    candidates = (function for function in functions if _is_similar(name, function))
    near = find_nearest(name, candidates)
    if near is None:
        return current_surface().advice_on_own_function.format(name=name)
    return f"write {near.upper() if name.isupper() else near.lower()}"


def _is_similar(name: str, function: str) -> bool:
    """Return whether `name` may be a misspelling of a function.

    A name of at most 4 letters may lack a letter or have its letters in another order. A wrong
    letter does not count, because every short name would be similar to many functions.
    """
    swapped = sorted(name.upper()) == sorted(function.upper())
    longer = len(function) - len(name)
    return -2 <= longer <= 2 and (len(name) > 4 or swapped or longer == 1)
