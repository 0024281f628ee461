"""Explain a name that is not a column of the input, and say what to write instead.

`explain_column` tries the functions in `_EXPLAINERS` one after the other, and returns the first
explanation that fits. A field of a struct, `point.x`, is read like a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from shlex import quote
from typing import NamedTuple

from matchrec.errors.language import PATTERN_CALLS, SQL, current_language
from matchrec.errors.misspellings import find_nearest, find_nearest_or_part
from matchrec.errors.run.origins import TextAround, read_users_text, read_users_text_around
from matchrec.errors.sql.foreign_names import add_dialect_hint, find_keyword_argument_hint
from matchrec.errors.sql.select_columns import Advice
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names, list_candidates, shorten, write_name, write_string
from matchrec.source import Span

# The parts of the clause that are evaluated before the match, on each row alone.
BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")


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


@dataclass(frozen=True)
class MissingColumn:
    """A name in an expression that is not a column of the input."""

    # The name, with its qualifier if it has one, such as `A.price`.
    name: str
    # The part of the clause that has the expression.
    clause: str
    # The names that the expression can use.
    known_names: KnownNames
    # The name, or an expression with it, in the text of the query; None without a text.
    span: Span | None

    @property
    def key(self) -> str:
        """Return the name in upper case, to compare it with variables and keywords."""
        return self.name.upper()

    @property
    def is_before_match(self) -> bool:
        """Return whether the expression is evaluated before the match, on each row alone."""
        return self.clause in BEFORE_THE_MATCH

    @cached_property
    def text_around(self) -> TextAround:
        """Return what the user wrote around the name."""
        return read_users_text_around(self.span)

    @cached_property
    def variable_before(self) -> str:
        """Return the pattern variable, with its dot, that the user wrote before the name, or ""."""
        text = "" if self.span is None else read_users_text(self.span) or ""
        path = r"\.".join(f"`?{re.escape(part)}`?" for part in self.name.split("."))
        match = re.search(rf"(?<![\w.`])(\w+\.){path}(?!\w)", text)
        return match[1] if match else ""

    @cached_property
    def is_compared(self) -> bool:
        """Return whether the name is after `=`, `<>`, LIKE or IN, as in `side = buy`."""
        values = r"(?:'?\w+'?\s*,\s*)*"
        comparison = rf"(?i)(?:=|<>|\b(?:LIKE|IN)\b)[\s(]*{values}{re.escape(self.name)}(?![\w.(])"
        text, start = self.text_around
        return any(match.end() > start for match in re.finditer(comparison, text))

    @property
    def resembles_column(self) -> bool:
        """Return whether the name is probably a misspelt column of the input."""
        return find_nearest(self.name, self.known_names.columns) is not None


def explain_column(column: MissingColumn) -> Advice:
    """Explain a name that is not a column, by the first explanation that fits.

    The note says what the name is instead, such as a measure, and the hint what to write.
    """
    for explain in _EXPLAINERS:
        advice = explain(column)
        if advice is not None:
            return advice
    return _explain_misspelling(column)


# The functions below return None for names that they do not explain.


def _explain_keyword_argument(column: MissingColumn) -> Advice | None:
    """Explain a unit or a type as an argument, as in DATEPART(hour, ts)."""
    text, start = column.text_around
    hint = find_keyword_argument_hint(column.name, text, start)
    return None if hint is None else Advice("", hint)


def _explain_columns_of_file(column: MissingColumn) -> Advice | None:
    """Explain an input whose columns show that a file was not read as meant."""
    columns = column.known_names.columns
    if not columns:
        return Advice("", "if the input is a folder, check that it has files")
    if columns[0] == "_c0":  # Spark's name for the first column of a file without names
        return Advice("", current_surface().advice_on_header)
    delimiter = current_surface().csv_delimiter
    if delimiter and len(columns) == 1:
        return _explain_delimiter(delimiter, columns[0])
    return None


# How the command line writes delimiters of CSV files that people use.
_DELIMITERS = {",": ",", ";": "';'", "|": "'|'", "\t": "tab"}


def _explain_delimiter(delimiter: str, column: str) -> Advice | None:
    """Explain a file that has only one column because of `--delimiter`.

    Returns None if the name of the column has no delimiter.

    Args:
        delimiter: the delimiter that the user set.
        column: the name of the column, which is the first line of the file.

    >>> _explain_delimiter(";", "ts,price").hint
    'leave out --delimiter, or write --delimiter ,'
    """
    written = _DELIMITERS.get(delimiter, quote(delimiter))
    for other_delimiter, other_written in _DELIMITERS.items():
        if other_delimiter in column:
            return Advice(
                f"--delimiter {written} makes one column of the file",
                f"leave out --delimiter, or write --delimiter {other_written}",
            )
    return None


# For names that Spark does not read as values: what to write instead.
_HINTS_FOR_VALUES = {
    "NAN": "isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), "current_timestamp()"),
}
# Functions of the match whose parentheses are often forgotten.
CALLS_OF_MATCH = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")
# What other products call the number of a row.
_ROW_NUMBERS = ("ROWNUM", "ROW_NUMBER", "ROWNUMBER")


def _explain_spelling(column: MissingColumn) -> Advice | None:
    """Explain a value or a function that is spelled differently in Spark, such as SYSDATE."""
    hint = _find_number_hint(column.name) or _find_spelling_hint(column)
    return None if hint is None else Advice("", hint)


def _find_number_hint(name: str) -> str | None:
    """Return what to write for a number that Spark does not read as one; None for other names.

    >>> _find_number_hint("1_000"), _find_number_hint("5k")
    ('write 1000 for a number, `1_000` for a name', 'write 5000 for a number, `5k` for a name')
    """
    number = re.fullmatch(r"(?P<digits>_*\d[\d_]*)(?P<factor>[km]?)", name, re.IGNORECASE)
    if number is None:
        return None
    zeros = {"": "", "K": "000", "M": "000000"}[number["factor"].upper()]
    return f"write {number['digits'].replace('_', '')}{zeros} for a number, `{name}` for a name"


def _find_spelling_hint(column: MissingColumn) -> str | None:
    """Return what to write for a function without parentheses; None for other names."""
    if column.key == "CLASSIFIER":
        return add_dialect_hint(f"write {column.name}()", "snowflake")
    if column.key in CALLS_OF_MATCH:
        return f"write {column.name}()"
    if column.key in _ROW_NUMBERS and current_language() is SQL:
        if column.is_before_match:
            return "write a column of the input: FROM (SELECT *, row_number() OVER (...) AS x ...)"
        return "write count(*) for the number of rows of the match so far"
    if column.key in _HINTS_FOR_VALUES and not column.resembles_column:
        return f"write {_HINTS_FOR_VALUES[column.key]}"
    return None


class FieldPath(NamedTuple):
    """A name of a field: `t.point.x` has the qualifier `t.`, the column `point`, the field `x`."""

    # The qualifier with its dot; "" if there is none.
    qualifier: str
    # The column, as the input has it.
    column: str
    # The field; for a field of a field, both with a dot between them.
    field: str


def find_field_path(name: str, columns: Sequence[str]) -> FieldPath | None:
    """Return the column and the field that a name reads; None for a name without a field.

    >>> find_field_path("t.POINT.z", ["point"])
    FieldPath(qualifier='t.', column='point', field='z')
    >>> find_field_path("point", ["point"])
    """
    column_by_key = {column.lower(): column for column in columns}
    qualifier, _, unqualified = name.partition(".")
    for prefix, path in (("", name), (f"{qualifier}.", unqualified)):
        first, _, field_path = path.partition(".")
        if field_path and first.lower() in column_by_key:
            return FieldPath(prefix, column_by_key[first.lower()], field_path)
    return None


def _explain_field(unknown: MissingColumn) -> Advice | None:
    """Explain `column.field` for a column without the field, and `column.A` for a variable A."""
    path = find_field_path(unknown.name, unknown.known_names.columns)
    if path is None:
        return None
    if path.field.upper() in unknown.known_names.variables and not unknown.is_before_match:
        hint = f"write {path.field}.{write_name(path.column)}"
        return Advice(f"`{path.field}` is a pattern variable", hint)
    prefix = f"{unknown.variable_before}{path.qualifier}"
    name = f"{path.column}.{path.field}"
    types = unknown.known_names.types
    parent = _find_parent(name, types)
    type_name = types.get(parent, "")
    missing_field = name[len(parent) + 1 :].partition(".")[0]
    written_parent = f"{prefix}{_write_path(parent)}"
    if type_name.startswith("struct"):
        fields = _list_fields(parent, types)
        near = find_nearest_or_part(missing_field, fields)
        candidates = [
            f"{written_parent}.{write_name(candidate)}"
            for candidate in (fields if near is None else [near])
        ]
        return Advice(
            f"`{parent}` has the fields: {join_names(fields)}",
            f"write {list_candidates(candidates)}",
        )
    if type_name.startswith("map"):
        return Advice(
            f"`{parent}` is of type {type_name}, which has keys instead of fields",
            f"write {written_parent}[{write_string(missing_field)}]",
        )
    if type_name:
        note = f"`{parent}` is of type {type_name}, which has no fields"
        return Advice(note, f"write {written_parent}")
    return Advice(
        f"`{path.column}` is a column without the field `{path.field}`",
        f"write {prefix}{write_name(path.column)}[{write_string(path.field)}] if it is a map",
    )


def _list_fields(struct: str, types: Mapping[str, str]) -> list[str]:
    """Return the fields of a struct, but not the fields of its fields.

    >>> _list_fields("s", {"s": "struct", "s.point": "struct", "s.point.x": "int", "t": "int"})
    ['point']
    """
    paths = [path[len(struct) + 1 :] for path in types if path.startswith(f"{struct}.")]
    return [path for path in paths if "." not in path]


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


def _explain_variable(column: MissingColumn) -> Advice | None:
    """Explain a pattern variable where a value is needed."""
    if column.key not in column.known_names.variables or column.is_before_match:
        return None
    variable = column.name
    note = f"`{variable}` is a pattern variable, which stands for rows"
    hint = _write_column_of_variable(variable, column.text_around) or _replace_variable(
        variable, column.known_names
    )
    if not column.known_names.call and column.is_compared:
        hint += f", or '{variable}' for a string"
    return Advice(note, hint)


def _write_column_of_variable(variable: str, around: TextAround) -> str | None:
    """Return what to write for `LAST(A).x`, `A[1].x` and `CLASIFIER(A)`; None for other texts.

    Args:
        variable: the variable.
        around: what the user wrote around the variable.
    """
    # Enough for `FIRST (` right before the variable. Other calls before it are not about it.
    text = around.text[max(around.start - 8, 0) :]
    name = re.escape(variable)
    call = re.search(rf"(?i)\b(FIRST|LAST|PREV|NEXT)\s*\(\s*{name}\s*\)\.(\w+)", text)
    if call is not None:
        return f"write {call[1]}({variable}.{call[2]})"
    element = re.search(rf"(?i)(?<!\w){name}\[(\d+)\]\.(\w+)", text)
    if element is not None:
        return f"write FIRST({variable}.{element[2]}, {element[1]}), which counts rows from 0"
    call = re.search(rf"(?i)(\w+)\s*\(\s*{name}\s*\)", text)
    if call is not None and find_nearest(call[1], ("CLASSIFIER", "CLASS")) == "CLASSIFIER":
        return f"write CLASSIFIER({variable})"
    return None


def _replace_variable(variable: str, known_names: KnownNames) -> str:
    """Return what to write instead of a pattern variable where a value is needed."""
    match known_names.call:
        case "":
            return f"write a column of its row: {variable}.{known_names.example}"
        case "CLASSIFIER(":
            return f"write its name as a string: CLASSIFIER() = '{variable.upper()}'"
        case "COUNT(":
            return f"write COUNT({variable}.*) for the number of its rows"
        case call:
            return f"write a column of its rows: {call}{variable}.{known_names.example})"


def _explain_measure(column: MissingColumn) -> Advice | None:
    """Explain the name of a measure where a column is needed."""
    name = column.name
    if name not in column.known_names.measures:
        return None
    value_so_far = column.known_names.measures[name]
    if column.clause != "DEFINE":
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


def _explain_index(column: MissingColumn) -> Advice | None:
    """Explain the index of a pandas frame, which is not a column.

    In ORDER BY, a name that resembles no column is probably the index of times without a name.
    """
    if column.name in column.known_names.index_names:
        return Advice("", _HINT_FOR_INDEX.format("reset_index()"))
    has_unnamed_index = None in column.known_names.index_names
    if column.clause == "ORDER BY" and has_unnamed_index and not column.resembles_column:
        return Advice("", _HINT_FOR_INDEX.format(f'rename_axis("{column.name}").reset_index()'))
    return None


def _explain_key(column: MissingColumn) -> Advice | None:
    """Explain a name that PARTITION BY gives to a column of the result."""
    if column.name not in column.known_names.keys:
        return None
    return Advice(
        f"`{column.name}` is a name that PARTITION BY gives to a column of the result",
        f"repeat the expression before AS {column.name}",
    )


def _explain_keyword(column: MissingColumn) -> Advice | None:
    """Explain PATTERN after a comma in MEASURES, and DESC without a key."""
    if current_language() is not SQL:
        return None
    if column.clause == "ORDER BY" and column.key in ("ASC", "DESC"):
        return Advice(f"{column.key} is a direction", f"write a column before {column.key}")
    is_keyword = column.clause == "MEASURES" and column.key == "PATTERN"
    if not is_keyword or column.resembles_column:
        return None
    hint = f"write an expression, such as {column.known_names.example} AS x"
    return Advice("PATTERN is a keyword", hint)


def _explain_none(column: MissingColumn) -> Advice | None:
    """Explain None, as Python writes NULL."""
    if column.name != "None" or column.resembles_column:
        return None
    return Advice(
        "None is the NULL of Python",
        "write IS NULL instead of = None, and IS NOT NULL instead of <> None",
    )


def _explain_unquoted_string(column: MissingColumn) -> Advice | None:
    """Explain a string without quotes, as in `side = buy`."""
    is_string = column.is_compared and column.name.isidentifier()
    if not is_string or find_nearest_or_part(column.name, column.known_names.columns):
        return None
    return Advice("", f"write '{column.name}' for a string, or one of these columns")


# A number, a date or a time, which is probably a value and not a name.
_NUMBER_OR_DATE = re.compile(r"[-+]?\d[\d.:/T -]*")


def _explain_first_row(column: MissingColumn) -> Advice | None:
    """Explain an input whose columns have the values of a row as names."""
    advice = current_surface().advice_on_first_row
    has_values = any(map(_NUMBER_OR_DATE.fullmatch, column.known_names.columns))
    if not advice or not has_values or column.resembles_column:
        return None
    return Advice("", advice)


def _explain_misspelling(column: MissingColumn) -> Advice:
    """Suggest the most similar column or, if none is similar, any of the columns."""
    near = find_nearest_or_part(column.name, column.known_names.columns)
    hint = f"write {write_name(near)}" if near else "write one of these"
    advice_on_column = current_surface().advice_on_column
    if advice_on_column and column.name.isidentifier():
        hint += f", or {advice_on_column.format(name=column.name)}"
    return Advice("", hint)


# The explanations in the order in which they are tried: the most specific ones come first.
_EXPLAINERS: tuple[Callable[[MissingColumn], Advice | None], ...] = (
    _explain_keyword_argument,
    _explain_columns_of_file,
    _explain_spelling,
    _explain_field,
    _explain_variable,
    _explain_measure,
    _explain_index,
    _explain_key,
    _explain_keyword,
    _explain_none,
    _explain_unquoted_string,
    _explain_first_row,
)
