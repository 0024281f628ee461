"""Comparisons and choices among values that only Python holds, such as texts put together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from matchrec.conditions.functions.function import Function, Use, Value, function
from matchrec.conditions.types import BOOLEAN, VOID, Family, ValueType


def same_type(use: Use) -> ValueType | None:
    """Boolean, if both are of one family."""
    return None if common(use.types) is None else BOOLEAN


def comparison(compare: Callable[[Value, Value], bool]) -> Function:
    return function((None, None), same_type, compare)


def type_of_choice(use: Use) -> ValueType | None:
    """The type of what is chosen between."""
    return common(use.types[1:])


def common(types: Sequence[ValueType]) -> ValueType | None:
    """The type of values that are all of one family, NULL left out, or None."""
    known = [one for one in types if one != VOID]
    return known[0] if len({one.family for one in known}) == 1 else None


def choose(condition: Value, then: Value, otherwise: Value = None) -> Value:
    return then if condition else otherwise


COMPARISONS: Mapping[str, Function] = {
    "=": comparison(operator.eq),
    "<>": comparison(operator.ne),
    "<": comparison(operator.lt),
    "<=": comparison(operator.le),
    ">": comparison(operator.gt),
    ">=": comparison(operator.ge),
    "<=>": function((None, None), same_type, operator.eq, takes_nulls=True),
    "IS NULL": function((None,), BOOLEAN, lambda value: value is None, takes_nulls=True),
    "IF": function((Family.BOOLEAN, None, None), type_of_choice, choose, least=2, takes_nulls=True),
}
