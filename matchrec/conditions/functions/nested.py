"""Functions of arrays, and those that take a lambda function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    FunctionUse,
    Result,
    Value,
    by_name,
    function,
)
from matchrec.conditions.functions.numerals import wrap
from matchrec.conditions.types import (
    BOOLEAN,
    INT,
    Family,
    ValueType,
    array,
)

ARRAY, INTEGER = Family.ARRAY, Family.INTEGER

Array = tuple[Value, ...]


def element_type(use: FunctionUse) -> ValueType | None:
    return use.types[0].element


def counted_element_type(use: FunctionUse) -> ValueType | None:
    """Spark takes no bigint as a number from 1 on."""
    return element_type(use) if use.types[1].bits <= INT.bits else None


def where_contained(use: FunctionUse) -> ValueType | None:
    """A truth value, of an array and one of its elements, which compare."""
    own, element = use.types
    return BOOLEAN if own.element == element and own.is_ordered else None


def same_arrays(use: FunctionUse) -> ValueType | None:
    """Of the type of both, whose elements compare."""
    own, other = use.types
    return own if own == other and own.is_ordered else None


def where_alike(use: FunctionUse) -> ValueType | None:
    return BOOLEAN if same_arrays(use) is not None else None


def different(values: Iterable[Value]) -> Array:
    """Each value once, where it is first; 0.0 for -0.0."""
    return tuple(dict.fromkeys(map(normalized, values)))


def contains(values: Sequence[Value], wanted: Value) -> bool | None:
    """NULL where it may be one of the NULLs."""
    if normalized(wanted) in map(normalized, values):
        return True
    return None if None in values else False


def element_at(use: FunctionUse) -> Compute:
    """From 1, or from the end; beyond it NULL, or an error under ANSI."""

    def compute(values: Sequence[Value], number: int) -> Value:
        if number == 0:
            raise FunctionError("INVALID_INDEX_OF_ZERO: elements are counted from 1")
        return at(values, number - 1 if number > 0 else len(values) + number, use.ansi)

    return compute


def subscript(use: FunctionUse) -> Compute:
    """`x[i]`, from 0; of a bigint Java takes 32 bits."""
    return lambda values, place: at(values, wrap(place, INT.bits), use.ansi)


def at(values: Sequence[Value], place: int, ansi: bool) -> Value:
    if 0 <= place < len(values):
        return values[place]
    if ansi:
        raise AnsiError(f"INVALID_ARRAY_INDEX: an array of {len(values)} elements")
    return None


def intersection(one: Array, other: Array) -> Array:
    keys = set(map(normalized, other))
    return different(value for value in one if normalized(value) in keys)


def overlap(one: Sequence[Value], other: Sequence[Value]) -> bool | None:
    """NULL where a NULL may be what both have."""
    if (set(map(normalized, one)) & set(map(normalized, other))) - {None}:
        return True
    return None if one and other and (None in one or None in other) else False


def try_element_at(_: FunctionUse) -> Compute:
    """TRY_ELEMENT_AT: NULL beyond the array."""
    return element_at(FunctionUse((), ansi=False))


def size(use: FunctionUse) -> Compute:
    """Of NULL without ANSI -1."""
    of_null = None if use.ansi else -1
    return lambda values: of_null if values is None else len(values)


# Functions that take a lambda function: of arrays, of columns or collected of rows.
#
# exists(collect_list(A.x), x -> x > B.y)      aggregate(B.xs, 0, (sum, x) -> sum + x * A.y)
#
# Source: Spark's `higherOrderFunctions.scala`. Of its legacy settings, that of EXISTS counts.


TWO_VALUED = "TWO-VALUED"
"""The word of an EXISTS that is false where it is unknown."""

PLACE_MAY_BE_ASKED = frozenset({"TRANSFORM", "FILTER"})
"""Those whose lambda functions may have the place of an element as a second variable."""

Types = Sequence[ValueType]


def element_types(types: Types) -> Types:
    return types[0].parts


def types_with_place(types: Types) -> Types:
    return (*types[0].parts, INT)


def fold_types(types: Types) -> Types:
    """Of AGGREGATE: what has been merged, and an element; of the second, what has been merged."""
    return (types[1], *types[0].parts) if len(types) == 2 else (types[1],)


def where_boolean(type_: Callable[[FunctionUse], ValueType | None]) -> Result:
    """A type, where the lambda function says whether something is so."""
    return lambda use: type_(use) if use.types[-1].family is Family.BOOLEAN else None


def as_merged(use: FunctionUse) -> ValueType | None:
    """Of AGGREGATE: merging keeps the type of what it begins with."""
    return use.types[-1] if use.types[1] == use.types[2] else None


def settled_by(decisive: bool) -> Callable[[FunctionUse], Compute]:
    """EXISTS, which holds if it does for one, or FORALL, which fails if it does for one.

    NULL where none decides and one is unknown.
    """

    def build(use: FunctionUse) -> Compute:
        if_unknown = False if TWO_VALUED in use.words else None

        def compute(values: Array, holds: Compute) -> bool | None:
            unknown = False
            for one in values:
                found = holds(one)
                if found is not None and bool(found) is decisive:
                    return decisive
                unknown = unknown or found is None
            return if_unknown if unknown else not decisive

        return compute

    return build


def quantifier(decisive: bool) -> Function:
    """EXISTS or FORALL."""
    returns = where_boolean(lambda _: BOOLEAN)
    return Function((ARRAY, None), returns, settled_by(decisive), variables=element_types)


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


def over_array(returns: Result, compute: Compute) -> Function:
    """A function of an array and a lambda function, which may have the places of elements."""
    return Function((ARRAY, None), returns, lambda _: compute, variables=types_with_place)


NESTED_FUNCTIONS: Mapping[str, Function] = by_name(
    {
        "SIZE CARDINALITY": Function((ARRAY,), INT, size, takes_nulls=True),
        "ARRAY_SIZE": function((ARRAY,), INT, len),
        "ARRAY_CONTAINS": function((ARRAY, None), where_contained, contains),
        "ARRAY_INTERSECT": function((ARRAY, ARRAY), same_arrays, intersection),
        "ARRAYS_OVERLAP": function((ARRAY, ARRAY), where_alike, overlap),
        "ELEMENT_AT": Function((ARRAY, INTEGER), counted_element_type, element_at, fails=True),
        "TRY_ELEMENT_AT": Function((ARRAY, INTEGER), counted_element_type, try_element_at),
        "[]": Function((ARRAY, INTEGER), element_type, subscript, fails=True),
        "EXISTS": quantifier(True),
        "FORALL": quantifier(False),
        "FILTER": over_array(where_boolean(lambda use: use.types[0]), select),
        "TRANSFORM": over_array(lambda use: array(use.types[1]), transform),
        "AGGREGATE REDUCE": Function(
            (ARRAY, None, None, None), as_merged, lambda _: aggregate, 3, True, variables=fold_types
        ),
    }
)
