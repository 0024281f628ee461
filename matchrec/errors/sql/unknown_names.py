"""Errors about unknown columns and functions, with the name that the user may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    about_argument,
    point_at,
)
from matchrec.errors.language import (
    PATTERN_CALLS,
    SQL,
    current_language,
    current_surface,
    name_part,
)
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import find_nearest, find_nearest_or_part
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.clause import unit_without_interval
from matchrec.errors.sql.foreign_names import (
    add_dialect_hint,
    find_function_hint,
    find_keyword_argument_hint,
    write_arguments,
)
from matchrec.errors.sql.query import Advice
from matchrec.errors.wording import (
    join_names,
    list_candidates,
    shorten,
    show_list,
    write_name,
    write_string,
)
from matchrec.source import Span

# The parts of the clause that are evaluated before the match, on each row alone.
BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")

# For names that Spark does not read as values: what to write instead.
_HINTS_FOR_VALUES = {
    "NAN": "isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), "current_timestamp()"),
}
# What other products call the number of a row.
ROW_NUMBERS = ("ROWNUM", "ROW_NUMBER", "ROWNUMBER")
# Functions of the match whose parentheses are often forgotten.
_CALLS_OF_MATCH = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")
_MATCH_FUNCTIONS = (
    *_CALLS_OF_MATCH,
    "PREV",
    "NEXT",
    "FIRST",
    "LAST",
    "MATCH_STATUS",
    "MATCH_TIMEOUT",
)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that an expression can use, for advice on a name that is unknown."""

    # The columns of the input.
    columns: tuple[str, ...]
    # The primary variables and the union variables, in upper case unless they are quoted.
    variables: tuple[str, ...]
    # For each measure: its value so far, as a condition can compute it; "" if no condition can.
    measures: Mapping[str, str]
    # Names that PARTITION BY gives to columns of the result.
    keys: tuple[str, ...] = ()
    # The beginning of the function call around the name, or of the call with which the name is
    # compared, such as `COUNT(`; "" if there is no call.
    call: str = ""
    # A column for the advice.
    example: str = "x"
    # True if the expression is a function over a row pattern window.
    is_over_window: bool = False
    # The names of the index of a pandas frame; None for an index of times without a name.
    index_names: tuple[str | None, ...] = ()
    # For each column, its type; for each field of a struct, such as `point.x`, the type of the
    # field. Empty if the types are not known.
    types: Mapping[str, str] = field(default_factory=dict)


def unknown_column(
    name: str, clause: str, names: KnownNames, span: Span | None
) -> MatchRecognizeError:
    """Return the error for a name that is not a column of the input.

    Args:
        name: the name, with its qualifier if it has one, such as `A.price`.
        clause: the clause of the expression.
        names: the names that the expression can use.
        span: the name in the text of the query.
    """
    length = find_meant_length(name) if clause == "WITHIN" else None
    if length is not None:
        return unit_without_interval(span, text=name, length=length)
    qualifier, _, column = name.rpartition(".")
    table, _, variable = qualifier.rpartition(".")
    is_variable = qualifier.upper() in names.variables
    if is_variable and clause in BEFORE_THE_MATCH:
        return _variable_before_match(span, qualifier=qualifier, clause=clause, column=column)
    if is_variable and names.is_over_window:
        return _variable_over_window(span, qualifier=qualifier)
    if table and variable.upper() in names.variables:
        return _variable_of_table(span, name=name, clause=clause, variable=variable, column=column)
    variable_before = find_variable_before(name, span).removesuffix(".")
    if is_variable and variable_before.upper() in names.variables:
        return _two_variables(
            span, variables=(variable_before, qualifier), clause=clause, column=column
        )
    if qualifier and column in names.columns:
        return _unknown_qualifier(
            span, name=qualifier, clause=clause, variables=names.variables, column=column
        )
    advice = _explain_keyword_argument(name, span) or _explain_name(
        name, clause, names, find_variable_before(name, span), span
    )
    columns = show_list("the input has", names.columns, "columns")
    is_field = find_column_of_field(name, names.columns) is not None
    error = MatchRecognizePlanError(
        f"unknown column `{shorten(name)}` in {name_part(clause)}",
        span,
        notes=(advice.note, "" if is_field else columns),
        hint=advice.hint,
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
        hint=f"write {write_name(column)}",
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
        hint=f"write {variable}.{write_name(column)}",
        code="unknown-column",
    )
    return point_at(error, name)


def _two_variables(
    span: Span | None, *, variables: tuple[str, str], clause: str, column: str
) -> MatchRecognizePlanError:
    """Return the error for A.B.price, for variables A and B."""
    first, second = variables
    column = write_name(column)
    written = f"{first}.{second}.{column}"
    error = MatchRecognizePlanError(
        f"`{written}` in {name_part(clause)} has two pattern variables",
        span,
        hint=f"write {first}.{column} or {second}.{column}",
        code="column-of-two-variables",
    )
    return point_at(error, written)


def _unknown_qualifier(
    span: Span | None, *, name: str, clause: str, variables: Sequence[str], column: str
) -> MatchRecognizePlanError:
    """Return the error for Z.price if `price` is a column, but Z is not a variable."""
    near = find_nearest(name, variables)
    hint = f"write {write_name(column)}, or add {name} to {name_part('PATTERN')}"
    if near:
        hint = f"write {near}.{write_name(column)}"
    elif name.upper() in ("PREV", "NEXT", "FIRST", "LAST"):
        hint = f"write {name}({write_name(column)})"
    error = MatchRecognizePlanError(
        f"unknown pattern variable `{name}` in {name_part(clause)}",
        span,
        notes=(show_list(f"{name_part('PATTERN')} has", variables, "variables"),),
        hint=hint,
        code="unknown-variable",
    )
    return point_at(error, name)


def find_variable_before(name: str, span: Span | None) -> str:
    """Return the variable, with its dot, that the user wrote before a name; "" if there is none.

    Args:
        name: the name without the variable, such as `point.x`.
        span: an expression with the name, in the text of the query.
    """
    text = "" if span is None else read_users_text(span) or ""
    path = r"\.".join(f"`?{re.escape(part)}`?" for part in name.split("."))
    match = re.search(rf"(?<![\w.`])(\w+\.){path}(?!\w)", text)
    return match[1] if match else ""


def _explain_name(
    name: str, clause: str, names: KnownNames, variable: str, span: Span | None
) -> Advice:
    """Explain a name that is not a column, by the first explanation that fits.

    The note says what the name is instead, such as a measure, and the hint what to write.

    Args:
        name: the name.
        clause: the clause of the expression.
        names: the names that the expression can use.
        variable: what `find_variable_before` returns.
        span: the name, or an expression with it, in the text of the query.
    """
    return (
        _explain_columns_of_file(names)
        or _explain_spelling(name, clause, names)
        or _explain_field(name, clause, names, variable)
        or _explain_variable(name, clause, names, span)
        or _explain_measure(name, clause, names)
        or _explain_index(name, clause, names)
        or _explain_key(name, names)
        or _explain_keyword(name, clause, names)
        or _explain_none(name, names)
        or _explain_unquoted_string(name, names, _is_compared(name, span))
        or _explain_misspelling(name, names)
    )


def _explain_keyword_argument(name: str, span: Span | None) -> Advice | None:
    """Explain a unit or a type as an argument, as in DATEPART(hour, ts); else None."""
    text, start = ("", 0) if span is None else read_users_text_around(span)
    hint = find_keyword_argument_hint(name, text, start)
    return None if hint is None else Advice("", hint)


def _explain_columns_of_file(names: KnownNames) -> Advice | None:
    """Explain an input whose columns show that a file was not read as meant; else None."""
    if not names.columns:
        return Advice("", "if the input is a folder, check that it has files")
    if names.columns[0] == "_c0":  # Spark's name for the first column of a file without names
        return Advice("", current_surface().advice_on_header)
    delimiter = current_surface().csv_delimiter
    if delimiter and len(names.columns) == 1:
        return _explain_delimiter(delimiter, names.columns[0])
    return None


def _explain_spelling(name: str, clause: str, names: KnownNames) -> Advice | None:
    """Explain a value or a function that is spelled differently in Spark; else None."""
    hint = _find_spelling_in_spark(name, clause, names)
    return None if hint is None else Advice("", hint)


def find_column_of_field(name: str, columns: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the qualifier, with its dot, the column and the field of a name; None without a field.

    >>> find_column_of_field("t.POINT.z", ["point"]), find_column_of_field("point", ["point"])
    (('t.', 'point', 'z'), None)
    """
    column_by_key = {column.lower(): column for column in columns}
    qualifier, _, unqualified = name.partition(".")
    for prefix, path in (("", name), (f"{qualifier}.", unqualified)):
        first, _, field_path = path.partition(".")
        if field_path and first.lower() in column_by_key:
            return prefix, column_by_key[first.lower()], field_path
    return None


def _explain_field(name: str, clause: str, names: KnownNames, variable: str) -> Advice | None:
    """Explain `column.field` for a column without the field, or `column.A`; else None."""
    split_name = find_column_of_field(name, names.columns)
    if split_name is None:
        return None
    qualifier, column, field_path = split_name
    if field_path.upper() in names.variables and clause not in BEFORE_THE_MATCH:
        hint = f"write {field_path}.{write_name(column)}"
        return Advice(f"`{field_path}` is a pattern variable", hint)
    prefix = f"{variable}{qualifier}"
    name = f"{column}.{field_path}"
    parent = _find_parent(name, names.types)
    type_name = names.types.get(parent, "")
    field_name = name[len(parent) + 1 :].partition(".")[0]
    if type_name.startswith("struct"):
        paths = [path for path in names.types if path.startswith(f"{parent}.")]
        paths_in_parent = [path[len(parent) + 1 :] for path in paths]
        fields = [path for path in paths_in_parent if "." not in path]  # not fields of fields
        similar_field = find_nearest_or_part(field_name, fields)
        suggested_fields = fields if similar_field is None else [similar_field]
        candidates = [
            f"{prefix}{_write_path(parent)}.{write_name(field)}" for field in suggested_fields
        ]
        return Advice(
            f"`{parent}` has the fields: {join_names(fields)}",
            f"write {list_candidates(candidates)}",
        )
    if type_name.startswith("map"):
        return Advice(
            f"`{parent}` is of type {type_name}, which has keys instead of fields",
            f"write {prefix}{_write_path(parent)}[{write_string(field_name)}]",
        )
    if type_name:
        note = f"`{parent}` is of type {type_name}, which has no fields"
        return Advice(note, f"write {prefix}{_write_path(parent)}")
    return Advice(
        f"`{column}` is a column without the field `{field_path}`",
        f"write {prefix}{write_name(column)}[{write_string(field_path)}] if it is a map",
    )


def _write_path(path: str) -> str:
    """Return a column and its fields as a query has them: in backticks where they need them.

    >>> _write_path("event info.city")
    '`event info`.city'
    """
    return ".".join(write_name(part) for part in path.split("."))


def _find_parent(name: str, types: Mapping[str, str]) -> str:
    """Return the longest beginning of a name that is a column or a field.

    >>> _find_parent("s.point.z", {"s": "struct", "s.point": "struct", "s.point.x": "int"})
    's.point'
    """
    parent = name.rpartition(".")[0]
    while parent not in types and "." in parent:
        parent = parent.rpartition(".")[0]
    return parent


def _explain_variable(
    name: str, clause: str, names: KnownNames, span: Span | None
) -> Advice | None:
    """Explain a pattern variable where a value is needed; None for other names."""
    if name.upper() not in names.variables or clause in BEFORE_THE_MATCH:
        return None
    note = f"`{name}` is a pattern variable, which stands for rows"
    hint = _write_column_of_variable(name, span) or _replace_variable(name, names)
    if not names.call and _is_compared(name, span):
        hint += f", or '{name}' for a string"
    return Advice(note, hint)


def _write_column_of_variable(name: str, span: Span | None) -> str | None:
    """Return what to write for `LAST(A).x` and `A[1].x`; None for other texts.

    Args:
        name: the variable.
        span: the name, or an expression with it, in the text of the query.
    """
    text, start = ("", 0) if span is None else read_users_text_around(span)
    text = text[max(start - 8, 0) :]
    call = re.search(rf"(?i)\b(FIRST|LAST|PREV|NEXT)\s*\(\s*{re.escape(name)}\s*\)\.(\w+)", text)
    if call is not None:
        return f"write {call[1]}({name}.{call[2]})"
    element = re.search(rf"(?i)(?<!\w){re.escape(name)}\[(\d+)\]\.(\w+)", text)
    if element is not None:
        return f"write FIRST({name}.{element[2]}, {element[1]}), which counts rows from 0"
    call = re.search(rf"(?i)(\w+)\s*\(\s*{re.escape(name)}\s*\)", text)
    if call is not None and find_nearest(call[1], ("CLASSIFIER", "CLASS")) == "CLASSIFIER":
        return f"write CLASSIFIER({name})"
    return None


def _explain_index(name: str, clause: str, names: KnownNames) -> Advice | None:
    """Explain the index of a pandas frame, which is not a column; None for other names.

    In ORDER BY, a name that resembles no column is probably the index of times without a name.
    """
    if name in names.index_names:
        return Advice("", _HINT_FOR_INDEX.format("reset_index()"))
    has_unnamed_index = None in names.index_names
    if clause == "ORDER BY" and has_unnamed_index and not find_nearest(name, names.columns):
        return Advice("", _HINT_FOR_INDEX.format(f'rename_axis("{name}").reset_index()'))
    return None


def _explain_key(name: str, names: KnownNames) -> Advice | None:
    """Explain a name that PARTITION BY gives to a column of the result; None for other names."""
    if name not in names.keys:
        return None
    return Advice(
        f"`{name}` is a name that PARTITION BY gives to a column of the result",
        f"repeat the expression before AS {name}",
    )


def _explain_keyword(name: str, clause: str, names: KnownNames) -> Advice | None:
    """Explain PATTERN after a comma in MEASURES, and DESC without a key; None for other names."""
    if clause == "ORDER BY" and name.upper() in ("ASC", "DESC") and current_language() is SQL:
        return Advice(f"{name.upper()} is a direction", f"write a column before {name.upper()}")
    is_in_measures = clause == "MEASURES" and current_language() is SQL
    is_keyword = is_in_measures and name.upper() == "PATTERN"
    if not is_keyword or find_nearest(name, names.columns):
        return None
    return Advice("PATTERN is a keyword", f"write an expression, such as {names.example} AS x")


def _explain_none(name: str, names: KnownNames) -> Advice | None:
    """Explain None, as Python writes NULL; None for other names."""
    if name != "None" or find_nearest(name, names.columns):
        return None
    return Advice(
        "None is the NULL of Python",
        "write IS NULL instead of = None, and IS NOT NULL instead of <> None",
    )


def _is_compared(name: str, span: Span | None) -> bool:
    """Return whether a name is after `=`, `<>`, LIKE or IN, as in `side = buy`.

    Args:
        name: the name.
        span: the name, or an expression with it, in the text of the query.
    """
    if span is None:
        return False
    text, start = read_users_text_around(span)
    values = r"(?:'?\w+'?\s*,\s*)*"
    comparison = rf"(?i)(?:=|<>|\b(?:LIKE|IN)\b)[\s(]*{values}{re.escape(name)}(?![\w.(])"
    return any(match.end() > start for match in re.finditer(comparison, text))


def _explain_unquoted_string(name: str, names: KnownNames, compared: bool) -> Advice | None:
    """Explain a string without quotes, as in `side = buy`; None for other names.

    Args:
        name: the name.
        names: the names that the expression can use.
        compared: whether a value before the name is compared with it.
    """
    if not compared or not name.isidentifier() or find_nearest_or_part(name, names.columns):
        return None
    return Advice("", f"write '{name}' for a string, or one of these columns")


def _explain_misspelling(name: str, names: KnownNames) -> Advice:
    """Suggest the most similar column or, if none is similar, any of the columns."""
    near = find_nearest_or_part(name, names.columns)
    hint = f"write {write_name(near)}" if near else "write one of these"
    advice_on_column = current_surface().advice_on_column
    if advice_on_column and name.isidentifier():
        hint += f", or {advice_on_column.format(name=name)}"
    return Advice("", hint)


# How the command line writes delimiters of CSV files that people use.
_DELIMITERS = {",": ",", ";": "';'", "|": "'|'", "\t": "tab"}


def _explain_delimiter(delimiter: str, column: str) -> Advice | None:
    """Explain a file that has only one column because of `--delimiter`.

    Returns None if the name of the column has no delimiter.

    Args:
        delimiter: the delimiter that the user set.
        column: the name of the column, which is the first line of the file.

    >>> print(*_explain_delimiter(";", "ts,price"), sep="\\n")
    --delimiter ';' makes one column of the file
    leave out --delimiter, or write --delimiter ,
    """
    written = _DELIMITERS.get(delimiter, quote(delimiter))
    for other_delimiter, other_written in _DELIMITERS.items():
        if other_delimiter in column:
            return Advice(
                f"--delimiter {written} makes one column of the file",
                f"leave out --delimiter, or write --delimiter {other_written}",
            )
    return None


def _explain_measure(name: str, clause: str, names: KnownNames) -> Advice | None:
    """Explain the name of a measure where a column is needed; None for other names."""
    if name not in names.measures:
        return None
    value_so_far = names.measures[name]
    if clause != "DEFINE":
        note = f"`{name}` is a measure; only a later measure can read it, by its name alone"
        hint = f"repeat its expression, or compute with {name} in the SELECT around the clause"
        return Advice(note, hint)
    if value_so_far and current_language() is PATTERN_CALLS:
        note = f"`{name}` is a stage, which has one or several events"
        return Advice(note, f"write {current_language().advice_on_other_rows}")
    hint = f"test {name} in a query around this one: SELECT * FROM (SELECT ...) WHERE {name} ..."
    if value_so_far:
        hint = f"write {shorten(value_so_far)} for its value so far, or {hint}"
    return Advice(f"`{name}` is a measure, which has no value before the match is complete", hint)


# The help for the index of a pandas frame; `{}` is the call that makes a column of the index.
_HINT_FOR_INDEX = "write df.{} for the pandas DataFrame: its index is not a column"


def _find_spelling_in_spark(name: str, clause: str, names: KnownNames) -> str | None:
    """Return what to write for a value or a function that Spark spells differently; else None.

    Examples are SYSDATE, CLASSIFIER without parentheses, and 1_000 for a number.
    """
    if name.upper() == "CLASSIFIER":
        return add_dialect_hint(f"write {name}()", "snowflake")
    if name.upper() in _CALLS_OF_MATCH:
        return f"write {name}()"
    digits = name.replace("_", "")
    if digits.isdigit():
        return f"write {digits} for a number, `{name}` for a name"
    amount = re.fullmatch(r"([\d_]+)([kKmM])", name)
    if amount is not None:
        zeros = "000" if amount[2] in "kK" else "000000"
        return f"write {amount[1].replace('_', '')}{zeros} for a number, `{name}` for a name"
    if name.upper() in ROW_NUMBERS and current_language() is SQL:
        if clause in BEFORE_THE_MATCH:
            return "write a column of the input: FROM (SELECT *, row_number() OVER (...) AS x ...)"
        return "write count(*) for the number of rows of the match so far"
    if name.upper() in _HINTS_FOR_VALUES and not find_nearest(name, names.columns):
        return f"write {_HINTS_FOR_VALUES[name.upper()]}"
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


# The column of the event types if the user names none.
DEFAULT_TYPE_COLUMN = "event_type"


def unknown_type_column(
    *, name: str, columns: Sequence[str], text_columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for type_column with a name that the input does not have.

    Args:
        name: the name.
        columns: the columns of the input.
        text_columns: the columns whose values are strings, as types of events are.
    """
    surface = current_surface()
    option = surface.name_option("type_column")
    near = find_nearest(name, columns)
    if near is None and DEFAULT_TYPE_COLUMN in columns:
        near = DEFAULT_TYPE_COLUMN
    notes = [show_list("the input has", columns, "columns")]
    if near is not None:
        hint = f"write {surface.write_option('type_column', write_name(near))}"
    else:
        # Any of the columns may have the types, also if only one of them has strings.
        notes.append(
            f"its columns of strings: {', '.join(text_columns)}"
            if text_columns
            else "none of its columns has strings"
        )
        hint = (
            f"name the column of the event types in {option}, or write ANY instead of each event "
            "type if events have no types"
        )
    if name == DEFAULT_TYPE_COLUMN:
        notes.append(f"`{name}` is the default of {option}")
    return about_argument(
        MatchRecognizePlanError(
            f"unknown column `{name}` in {option}",
            notes=tuple(notes),
            hint=hint,
            code="unknown-type-column",
        ),
        "type_column",
    )


def type_column_without_texts(*, type_name: str, name: str) -> MatchRecognizePlanError:
    """Return the error for a type_column that does not have strings."""
    surface = current_surface()
    return about_argument(
        MatchRecognizePlanError(
            f"{surface.name_option('type_column')} has type {type_name}, but event types in SEQ "
            "are strings",
            hint=f"write {surface.write_option('type_column', f'CAST({name} AS STRING)')}",
            code="type-column-without-texts",
        ),
        "type_column",
    )


def ambiguous_column(span: Span | None, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a name that several columns of the input have."""
    example = f", such as {name}2," if name.isidentifier() else ""
    noun = current_surface().relation_noun
    error = MatchRecognizePlanError(
        f"column `{name}` in {name_part(clause)} is ambiguous",
        span,
        notes=("several columns of the input have this name",),
        hint=f"give one of them another name{example} in the {noun}, or in a subquery in FROM",
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
    """Return the error for a function that does not exist.

    Args:
        name: the function.
        clause: the clause of the call.
        functions: the functions that the session has.
        span: the call in the text of the query.
    """
    hint = find_unknown_function_hint(name, (*functions, *_MATCH_FUNCTIONS))
    if name.upper() in ("FINAL", "RUNNING"):
        hint = f"write {name} before each FIRST, LAST and aggregate in the parentheses"
    elif name.upper() == "ALL":
        hint = "write one condition for each value: x LIKE 'a' AND x LIKE 'b'"
    elif span is not None:
        keyword_hint = find_keyword_argument_hint(name, *read_users_text_around(span))
        is_method_of_pandas = hint.startswith("write PREV(")  # `price.shift(1)`
        if not is_method_of_pandas:
            keyword_hint = keyword_hint or _find_method_hint(name, span)
        hint = keyword_hint or write_arguments(hint, read_users_text(span), name)
    if clause == "ORDER BY" and hint.startswith("write current_timestamp()"):
        hint = "write the column with the time of each row: ORDER BY needs a value for each row"
    error = MatchRecognizePlanError(
        f"unknown function `{name}` in {name_part(clause)}",
        span,
        hint=hint,
        code="unknown-function",
    )
    return point_at(error, name)


def _find_method_hint(name: str, span: Span) -> str | None:
    """Return what to write for `A.LAST(price)` and `A.price(1)`; None for other calls.

    Args:
        name: the function with its qualifier.
        span: the call in the text of the query.
    """
    qualifier, _, plain = name.rpartition(".")
    text, start = read_users_text_around(span)
    call = re.search(rf"(?i){re.escape(plain)}\s*\(\s*(\w+)\s*\)", text[start:])
    if not qualifier or "." in qualifier or call is None:
        return None
    if call[1].isdecimal():
        return (
            f"write FIRST({qualifier}.{plain}, {call[1]}) or LAST({qualifier}.{plain}, {call[1]})"
        )
    if plain.upper() in _MATCH_FUNCTIONS or plain.upper() in ("SUM", "AVG", "MIN", "MAX", "COUNT"):
        return f"write {plain}({qualifier}.{call[1]})"
    return None


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
    missing_letters = len(function) - len(name)
    if abs(missing_letters) > 2:
        return False
    has_same_letters = sorted(name.upper()) == sorted(function.upper())
    return len(name) > 4 or has_same_letters or missing_letters == 1
