"""Functions that take a lambda function: of arrays, of columns or collected of rows.

exists(collect_list(A.x), x -> x > B.y)      aggregate(B.xs, 0, (sum, x) -> sum + x * A.y)

Source: Spark's `higherOrderFunctions.scala`. Of its legacy settings, that of EXISTS counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from matchrec.conditions.functions.arrays import ARRAY, Array
from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionUse,
    Parameter,
    Result,
    Value,
    gives,
)
from matchrec.conditions.types import BOOLEAN, INT, Family, ValueType, array

TWO_VALUED = "TWO-VALUED"
"""The word of an EXISTS that is false where it is unknown."""

PLACE_MAY_BE_ASKED = frozenset({"TRANSFORM", "FILTER"})
"""Those whose lambda functions may have the place of an element as a second variable."""

Types = Sequence[ValueType]


def of_element(types: Types) -> Types:
    return types[0].parts


def of_element_and_place(types: Types) -> Types:
    return (*types[0].parts, INT)


def of_sum(types: Types) -> Types:
    """Of AGGREGATE: what has been merged, and an element; of the second, what has been merged."""
    return (types[1], *types[0].parts) if len(types) == 2 else (types[1],)


def where_boolean(type_: Callable[[FunctionUse], ValueType | None]) -> Result:
    """A type, where the lambda function says whether something is so."""
    return lambda use: type_(use) if use.types[-1].family is Family.BOOLEAN else None


def as_merged(use: FunctionUse) -> ValueType | None:
    """Of AGGREGATE: merging keeps the type of what it begins with."""
    return use.types[-1] if use.types[1] == use.types[2] else None


def exists(use: FunctionUse) -> Compute:
    """NULL where it holds for none, and is unknown for one."""
    if_unknown = False if TWO_VALUED in use.words else None

    def compute(values: Array, holds: Compute) -> bool | None:
        unknown = False
        for one in values:
            found = holds(one)
            if found:
                return True
            unknown = unknown or found is None
        return if_unknown if unknown else False

    return compute


def holds_for_all(values: Array, holds: Compute) -> bool | None:
    """FORALL: NULL where it fails for none, and is unknown for one."""
    unknown = False
    for one in values:
        found = holds(one)
        if found is not None and not found:
            return False
        unknown = unknown or found is None
    return None if unknown else True


def select(values: Array, holds: Compute) -> Array:
    return tuple(one for place, one in enumerate(values) if holds(one, place))


def transform(values: Array, change: Compute) -> Array:
    return tuple(change(one, place) for place, one in enumerate(values))


def aggregate(
    values: Array | None, start: Value, merge: Compute, finish: Compute | None = None
) -> Value:
    """What begins may be NULL, the array may not."""
    if values is None:
        return None
    found = reduce(merge, values, start)
    return found if finish is None else finish(found)


def taking(
    variables: Callable[[Types], Types],
    parameters: tuple[Parameter, ...],
    type_: ValueType | Result,
    compute: Compute,
) -> Function:
    """A function whose last argument is a lambda function."""
    result = gives(type_) if isinstance(type_, ValueType) else type_
    return Function((*parameters, None), result, lambda _: compute, variables=variables)


AGGREGATE = Function(
    (ARRAY, None, None, None),
    as_merged,
    lambda _: aggregate,
    least=3,
    takes_nulls=True,
    variables=of_sum,
)

LAMBDAS: Mapping[str, Function] = {
    "EXISTS": Function((ARRAY, None), where_boolean(gives(BOOLEAN)), exists, variables=of_element),
    "FORALL": taking(of_element, (ARRAY,), where_boolean(gives(BOOLEAN)), holds_for_all),
    "FILTER": taking(
        of_element_and_place, (ARRAY,), where_boolean(lambda use: use.types[0]), select
    ),
    "TRANSFORM": taking(of_element_and_place, (ARRAY,), lambda use: array(use.types[1]), transform),
    "AGGREGATE": AGGREGATE,
    "REDUCE": AGGREGATE,
}
