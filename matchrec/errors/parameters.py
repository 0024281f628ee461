"""Errors in the parameters of a query, `:low` or `?`, and in the values for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names, show_count, show_list
from matchrec.source import Span


def unknown_clause_parameter(*, name: str, parameters: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a name in the grid of a sweep that is not in the clause."""
    near = parameters[0] if len(parameters) == 1 else find_nearest(name, parameters)
    if near:
        hint = f"write {near} instead of {name}, or leave {name} out"
    else:
        hint = f"write :{name} in the clause, or leave {name} out"
    shown_parameters = [f":{parameter}" for parameter in parameters]
    return MatchRecognizePlanError(
        f"the clause has no parameter `:{name}`",
        notes=(show_list("the clause has", shown_parameters, "parameters"),),
        hint=hint,
        code="unknown-clause-parameter",
    )


def sweep_parameter_without_values(
    span: Span, *, name: str, parameters: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a parameter in the clause of a sweep without values in the grid.

    Args:
        span: the parameter in the clause.
        name: the name of the parameter.
        parameters: the parameters that have values in the grid.
    """
    near = find_nearest(name, parameters)
    grid = current_surface().name_option("grid")
    hint = f"add values of {name} to {grid}, or write a value instead of :{name}"
    if near:
        hint = f"write :{near}, or add values of {name}"
    note = "there are no values"
    if parameters:
        note = f"there are values of: {join_names(parameters)}"
    return MatchRecognizePlanError(
        f"missing values of parameter `:{name}`",
        span,
        notes=(note,),
        hint=hint,
        code="sweep-parameter-without-values",
    )


def wrong_number_of_values(
    values: str, count: int, first_without_value: Span | None
) -> MatchRecognizePlanError:
    """Return the error for more or fewer values than the query has positional parameters (?).

    Only calls of Python pass values by position.

    Args:
        values: the predicate of a sentence about the argument `args`, such as "has 2 values".
        count: the number of positional parameters in the query.
        first_without_value: the first positional parameter without a value; None if each has one.
    """
    if first_without_value is not None and not current_surface().has_python_calls:
        return positional_parameter_without_value(first_without_value)
    if count:
        parameters = show_count(count, "positional parameter")
        hint = "pass a list with one value for each ?, in their order"
    else:
        parameters = "no positional parameters"
        hint = 'write ? for each value, or :name and args={"name": value}, or leave args out'
    return MatchRecognizePlanError(
        f"the query has {parameters} (?), but args {values}",
        first_without_value,
        hint=hint,
        code="wrong-number-of-values",
    )


def positional_parameter_without_value(span: Span) -> MatchRecognizePlanError:
    """Return the error for `?` in a text for which no list of values can be passed."""
    surface = current_surface()
    return MatchRecognizePlanError(
        "positional parameter `?` has no value",
        span,
        hint=f"write the value itself, or {surface.advice_on_positional_parameter}",
        code="positional-parameter-without-value",
    )


def unbound_parameter(
    span: Span | None, *, name: str, parameters: Collection[str]
) -> MatchRecognizePlanError:
    """Return the error for `:name` in a query whose args have no such name."""
    surface = current_surface()
    near = find_nearest(name, (*parameters, *surface.notebook_values))
    hint = f"{surface.advice_on_parameter.format(name=name)}, or write the value itself"
    if near in parameters:
        hint = f"write :{near} in the query, or {name} instead of {near} in "
        hint += surface.source_of_values
    elif near:
        hint = f"write :{near}, or {surface.advice_on_parameter.format(name=name)}"
    note = ""
    if parameters:
        note = f"{surface.source_of_values} has: {join_names(parameters)}"
    elif surface.has_python_calls:
        note = f"{surface.source_of_values} has no values"
    return MatchRecognizePlanError(
        f"parameter `:{name}` has no value",
        span,
        notes=(note,),
        hint=hint,
        code="parameter-without-value",
    )


# The setting with which Spark replaces parameters only by constants.
CONSTANTS_ONLY = "spark.sql.legacy.parameterSubstitution.constantsOnly"


def parameter_value_lost(span: Span | None, *, parameter: str) -> MatchRecognizePlanError:
    """Return the error for a parameter whose value the session ignores.

    Args:
        span: the parameter in the text of the query.
        parameter: the parameter as the query writes it, `:low` or `?`.
    """
    surface = current_surface()
    return MatchRecognizePlanError(
        f"this session ignores the value of {parameter} in {surface.source_of_values}",
        span,
        notes=(
            "spark.sql without a clause ignores it too; the cause is an extension such as Delta's",
        ),
        hint=(f"write the value itself, or {surface.write_setting(CONSTANTS_ONLY, 'true')}"),
        code="parameter-value-lost",
    )


def unknown_parameter(*, name: str, parameters: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a value in args whose name the query does not have."""
    surface = current_surface()
    near = find_nearest(name, parameters)
    hint = f"write :{name} in the query instead of a value, or leave {name} out of "
    hint += surface.source_of_values
    if near:
        hint = surface.advice_on_parameter.format(name=near)
    return MatchRecognizePlanError(
        f"the query has no `:{name}`",
        notes=(f"its parameters are: {join_names(parameters)}" if parameters else "",),
        hint=hint,
        code="unknown-parameter",
    )
