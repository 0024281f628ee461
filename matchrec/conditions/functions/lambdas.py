"""Functions that take a lambda function: of arrays and maps, of columns or collected of rows.

exists(collect_list(A.x), x -> x > B.y)      aggregate(B.xs, 0, (sum, x) -> sum + x * A.y)

Source: Spark's `higherOrderFunctions.scala`. Of its legacy settings, that of EXISTS counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key, reduce
from itertools import pairwise, zip_longest

from matchrec.conditions.functions.arrays import ARRAY, Array, sort_nulls_last
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionError,
    Result,
    UndecidedError,
    Use,
    Value,
    gives,
)
from matchrec.conditions.functions.structs_and_maps import (
    MAP,
    Pairs,
    as_map,
    map_type,
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


def of_two_elements(types: Types) -> Types:
    return types[0].parts * 2


def of_elements(types: Types) -> Types:
    """One of each array."""
    return (*types[0].parts, *types[1].parts)


def of_sum(types: Types) -> Types:
    """Of AGGREGATE: what has been merged, and an element; of the second, what has been merged."""
    return (types[1], *types[0].parts) if len(types) == 2 else (types[1],)


def of_both_values(types: Types) -> Types:
    """Of a key, and its values in two maps."""
    return (*types[0].parts, types[1].parts[1])


def where_boolean(type_: Callable[[Use], ValueType | None]) -> Result:
    """A type, where the lambda function says whether something is so."""
    return lambda use: type_(use) if use.types[-1].family is Family.BOOLEAN else None


def as_merged(use: Use) -> ValueType | None:
    """Of AGGREGATE: merging keeps the type of what it begins with."""
    return use.types[-1] if use.types[1] == use.types[2] else None


def as_sorted(use: Use) -> ValueType | None:
    """An array, by its own order or by a function that compares."""
    own = use.types[0]
    fits = own.is_ordered if len(use.types) == 1 else use.types[1] == INT
    return own if fits else None


def exists(use: Use) -> Compute:
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


def zip_with(one: Array, other: Array, combine: Compute) -> Array:
    """The shorter array is continued by NULLs."""
    return tuple(combine(*pair) for pair in zip_longest(one, other))


def sort_by(values: Array, compare: Compute | None = None) -> Array:
    """ARRAY_SORT. Raises UndecidedError where the function is no order: Java sorts otherwise."""
    if compare is None:
        return sort_nulls_last(values)

    def order(one: Value, other: Value) -> int:
        found: int | None = compare(one, other)
        if found is None:
            raise FunctionError("COMPARATOR_RETURNS_NULL: two elements do not compare")
        return found

    found = sorted(values, key=cmp_to_key(order))
    for one, other in pairwise(found):
        here, back = order(one, other), order(other, one)
        if one != other and not (here < 0 < back or here == back == 0):
            raise UndecidedError("elements are sorted by no order: each is before the other")
    return tuple(found)


def select_pairs(pairs: Pairs, holds: Compute) -> Pairs:
    return tuple(pair for pair in pairs if holds(*pair))


def change_keys(pairs: Pairs, change: Compute) -> Pairs:
    return as_map((change(key, value), value) for key, value in pairs)


def change_values(pairs: Pairs, change: Compute) -> Pairs:
    return tuple((key, change(key, value)) for key, value in pairs)


def zip_maps(one: Pairs, other: Pairs, combine: Compute) -> Pairs:
    """By key, the value of each map or NULL; keys of the first map come first."""
    left, right = ({normalized(key): value for key, value in pairs} for pairs in (one, other))
    keys = dict.fromkeys((*left, *right))
    return tuple((key, combine(key, left.get(key), right.get(key))) for key in keys)


def zipped_type(use: Use) -> ValueType | None:
    """Of two maps with keys of one type."""
    one, other, value = use.types
    return map_type(one.parts[0], value) if one.parts[0] == other.parts[0] else None


def taking(
    variables: Callable[[Types], Types],
    parameters: tuple[Family, ...],
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
    "ZIP_WITH": taking(of_elements, (ARRAY, ARRAY), lambda use: array(use.types[2]), zip_with),
    "ARRAY_SORT": Function(
        (ARRAY, None), as_sorted, lambda _: sort_by, least=1, variables=of_two_elements
    ),
    "MAP_FILTER": taking(of_element, (MAP,), where_boolean(lambda use: use.types[0]), select_pairs),
    "TRANSFORM_KEYS": taking(
        of_element,
        (MAP,),
        lambda use: map_type(use.types[1], use.types[0].parts[1]),
        change_keys,
    ),
    "TRANSFORM_VALUES": taking(
        of_element,
        (MAP,),
        lambda use: map_type(use.types[0].parts[0], use.types[1]),
        change_values,
    ),
    "MAP_ZIP_WITH": taking(of_both_values, (MAP, MAP), zipped_type, zip_maps),
}
