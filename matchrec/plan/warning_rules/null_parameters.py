"""Warnings about conditions that compare a value with a parameter whose value is NULL.

price > :low                     with args={"low": None}: never true
:low IS NULL OR price > :low     no warning: the user expects NULL
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from matchrec.errors import condition_warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.expression import Operation, Scalar, Term, render, split_conjuncts
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.parameters import find_positional_parameter
from matchrec.plan.warning_rules.references import show_users_operand

_PARAMETER = re.compile(r"\(*\s*:\s*(\w+)\s*\)*")

# Operations that are not true if an operand is NULL, although they are not always NULL then.
_NOT_TRUE_IF_NULL = frozenset({"BETWEEN", "NOT IN"})


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
