"""Errors about columns that the input does not have, or that are not clear.

`column_advice` finds out what the user may have meant.
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeError, MatchRecognizePlanError, point_at
from matchrec.errors.language import name_part
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.column_advice import (
    KnownNames,
    MissingColumn,
    explain_column,
    find_field_path,
)
from matchrec.errors.sql.limits import unit_without_interval
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import shorten, show_list, write_name
from matchrec.source import Span


def unknown_column(
    name: str, clause: str, known_names: KnownNames, span: Span | None
) -> MatchRecognizeError:
    """Return the error for a name that is not a column of the input.

    Args:
        name: the name, with its qualifier if it has one, such as `A.price`.
        clause: the part of the clause that has the expression.
        known_names: the names that the expression can use.
        span: the name, or an expression with it, in the text of the query.
    """
    length = find_meant_length(name) if clause == "WITHIN" else None
    if length is not None:
        return unit_without_interval(span, text=name, length=length)
    column = MissingColumn(name, clause, known_names, span)
    qualifier_error = _explain_qualifier(column)
    if qualifier_error is not None:
        return qualifier_error
    advice = explain_column(column)
    columns_note = show_list("the input has", known_names.columns, "columns")
    if find_field_path(name, known_names.columns) is not None:
        columns_note = ""  # the advice lists the fields instead
    error = MatchRecognizePlanError(
        f"unknown column `{shorten(name)}` in {name_part(clause)}",
        span,
        notes=(advice.note, columns_note),
        hint=advice.hint,
        code="unknown-column",
    )
    return point_at(error, name)


def _explain_qualifier(column: MissingColumn) -> MatchRecognizePlanError | None:
    """Return the error for a name whose qualifier is the mistake; None for other names."""
    qualifier, _, unqualified = column.name.rpartition(".")
    table, _, variable = qualifier.rpartition(".")
    variables = column.known_names.variables
    if qualifier.upper() in variables:
        if column.is_before_match:
            return _variable_before_match(column, qualifier, unqualified)
        if column.known_names.is_over_window:
            return _variable_over_window(column, qualifier)
    if table and variable.upper() in variables:
        return _variable_of_table(column, variable, unqualified)
    variable_before = column.variable_before.removesuffix(".")
    if qualifier.upper() in variables and variable_before.upper() in variables:
        return _two_variables(column, (variable_before, qualifier), unqualified)
    if qualifier and unqualified in column.known_names.columns:
        return _unknown_qualifier(column, qualifier, unqualified)
    return None


def _variable_before_match(
    column: MissingColumn, variable: str, unqualified: str
) -> MatchRecognizePlanError:
    """Return the error for A.price in PARTITION BY, ORDER BY or WITHIN, for a variable A."""
    part = name_part(column.clause)
    error = MatchRecognizePlanError(
        f"pattern variable `{variable}` is not allowed in {part}",
        column.span,
        notes=(f"{part} is evaluated before the match, on each row alone",),
        hint=f"write {write_name(unqualified)}",
        code="variable-before-match",
    )
    return point_at(error, variable)


def _variable_over_window(column: MissingColumn, variable: str) -> MatchRecognizePlanError:
    """Return the error for sum(A.price) OVER w in the SELECT list, for a variable A."""
    error = MatchRecognizePlanError(
        f"pattern variable `{variable}` is not allowed in a function over a window",
        column.span,
        notes=("outside MEASURES, functions see the rows of the match, but not its variables",),
        hint="make it a measure of the window: MEASURES ... AS m, then m OVER w",
        code="variable-over-window",
    )
    return point_at(error, variable)


def _variable_of_table(
    column: MissingColumn, variable: str, unqualified: str
) -> MatchRecognizePlanError:
    """Return the error for t.A.price, for a variable A."""
    error = MatchRecognizePlanError(
        f"unknown column `{column.name}` in {name_part(column.clause)}",
        column.span,
        notes=(f"`{variable}` is a pattern variable; no table name is allowed before it",),
        hint=f"write {variable}.{write_name(unqualified)}",
        code="unknown-column",
    )
    return point_at(error, column.name)


def _two_variables(
    column: MissingColumn, variables: tuple[str, str], unqualified: str
) -> MatchRecognizePlanError:
    """Return the error for A.B.price, for variables A and B."""
    first, second = variables
    written_column = write_name(unqualified)
    path = f"{first}.{second}.{written_column}"
    error = MatchRecognizePlanError(
        f"`{path}` in {name_part(column.clause)} has two pattern variables",
        column.span,
        hint=f"write {first}.{written_column} or {second}.{written_column}",
        code="column-of-two-variables",
    )
    return point_at(error, path)


def _unknown_qualifier(
    column: MissingColumn, qualifier: str, unqualified: str
) -> MatchRecognizePlanError:
    """Return the error for Z.price if `price` is a column, but Z is not a variable."""
    written_column = write_name(unqualified)
    near = find_nearest(qualifier, column.known_names.variables)
    if near:
        hint = f"write {near}.{written_column}"
    elif qualifier.upper() in ("PREV", "NEXT", "FIRST", "LAST"):
        hint = f"write {qualifier}({written_column})"
    else:
        hint = f"write {written_column}, or add {qualifier} to {name_part('PATTERN')}"
    error = MatchRecognizePlanError(
        f"unknown pattern variable `{qualifier}` in {name_part(column.clause)}",
        column.span,
        notes=(
            show_list(f"{name_part('PATTERN')} has", column.known_names.variables, "variables"),
        ),
        hint=hint,
        code="unknown-variable",
    )
    return point_at(error, qualifier)


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
