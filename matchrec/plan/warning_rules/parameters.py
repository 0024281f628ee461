"""Warnings about conditions that compare a value with a parameter whose value is NULL.

price > :low                     with args={"low": None}: never true
:low IS NULL OR price > :low     no warning: the user expects NULL
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping

from matchrec.errors import condition_warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    Term,
    render,
    split_conjuncts,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.parameters import find_positional_parameter
from matchrec.plan.warning_rules.references import show_users_operand

_PARAMETER = re.compile(r"\(*\s*:\s*(\w+)\s*\)*")

# Operations that are not true if an operand is NULL, although they are not always NULL then.
_NOT_TRUE_IF_NULL = frozenset({"BETWEEN", "NOT IN"})


# A string that is a parameter in quotes, perhaps with wildcards of LIKE: `':name'`, `'%:name%'`.
_PARAMETER_IN_QUOTES = re.compile(
    r"""(?P<quote>['"])(?P<before>[%_]*):(?P<name>[^\W\d]\w*)(?P<after>[%_]*)(?P=quote)"""
)


def warn_about_parameters(
    plan: MatchPlan, values: Mapping[str, object]
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each condition on a parameter that is NULL, and each one in quotes.

    Args:
        plan: a resolved plan.
        values: the values of the parameters, by their names.
    """
    null_parameters = [name for name, value in values.items() if value is None]
    if null_parameters:
        yield from warn_about_null_parameters(plan, null_parameters)
    for definition in plan.definitions:
        yield from warn_about_quotes(definition.condition, "DEFINE", values)
    for measure in plan.measures:
        yield from warn_about_quotes(measure.value, "MEASURES", values)


def warn_about_quotes(
    scalar: Scalar, clause: str, names: Container[str]
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each string in an expression that is a parameter in quotes.

    Args:
        scalar: the expression.
        clause: the clause of the expression.
        names: the names of the parameters that have a value.
    """
    for part in walk_scalar(scalar):
        if not isinstance(part, Term):
            continue
        for piece in part.pieces:
            text, span = piece, part.span
            if isinstance(piece, ColumnReference):
                text, span = piece.argument, piece.span or part.span
            if not isinstance(text, str):
                continue
            for string in _PARAMETER_IN_QUOTES.finditer(text):
                if string["name"] in names:
                    yield condition_warnings.parameter_in_quotes(
                        span, clause=clause, string=string[0], intended=remove_quotes(string)
                    )


def remove_quotes(string: re.Match[str]) -> str:
    """Return what was meant by a parameter in quotes: `'%' || :name || '%'` for `'%:name%'`."""
    quote = string["quote"]
    texts = [f"{quote}{text}{quote}" if text else "" for text in string.group("before", "after")]
    return " || ".join(filter(None, (texts[0], f":{string['name']}", texts[1])))


def warn_about_null_parameters(
    plan: MatchPlan, null_parameters: Collection[str]
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each part that must hold, but is NULL because of a parameter.

    Args:
        plan: a resolved plan.
        null_parameters: the names of the parameters whose value is NULL.
    """
    for definition in plan.definitions:
        for part in split_conjuncts(definition.condition):
            name = find_null_operand(part, null_parameters)
            if name is not None and isinstance(part, Operation):
                is_positional = find_positional_parameter(name) is not None
                yield condition_warnings.compared_with_null_parameter(
                    part.span,
                    name=None if is_positional else name,
                    condition=show_users_operand(part),
                )


def find_null_operand(scalar: Scalar, null_parameters: Collection[str]) -> str | None:
    """Return the name of a parameter with the value NULL that makes an expression not true.

    Returns:
        None if the expression can be true in spite of the parameters.
    """
    if isinstance(scalar, Term):
        parameter = None if scalar.references else _PARAMETER.fullmatch(render(scalar, str))
        return parameter[1] if parameter and parameter[1] in null_parameters else None
    entry = OPERATORS.get(scalar.operator)
    is_strict = entry is not None and entry.is_strict
    if not is_strict and scalar.operator not in _NOT_TRUE_IF_NULL:
        return None
    names = (find_null_operand(operand, null_parameters) for operand in scalar.operands)
    return next((name for name in names if name is not None), None)
