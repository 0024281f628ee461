"""Functions of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    FunctionUse,
    Value,
    by_name,
    function,
)
from matchrec.conditions.functions.numerals import wrap
from matchrec.conditions.types import BOOLEAN, INT, Family, ValueType

ARRAY, INTEGER = Family.ARRAY, Family.INTEGER

Array = tuple[Value, ...]


def element_type(use: FunctionUse) -> ValueType | None:
    return use.types[0].element


def counted_element_type(use: FunctionUse) -> ValueType | None:
    """Spark takes no bigint as a number from 1 on."""
    return element_type(use) if use.types[1].bits <= INT.bits else None


def where_contained(use: FunctionUse) -> ValueType | None:
    own, element = use.types
    return BOOLEAN if own.element == element and own.is_ordered else None


def same_arrays(use: FunctionUse) -> ValueType | None:
    own, other = use.types
    return own if own == other and own.is_ordered else None


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


def intersection(left: Array, right: Array) -> Array:
    keys = set(map(normalized, right))
    return different(value for value in left if normalized(value) in keys)


def overlap(left: Sequence[Value], right: Sequence[Value]) -> bool | None:
    """NULL where a NULL may be what both have."""
    if (set(map(normalized, left)) & set(map(normalized, right))) - {None}:
        return True
    return None if left and right and (None in left or None in right) else False


def try_element_at(_: FunctionUse) -> Compute:
    return element_at(FunctionUse((), ansi=False))


def size(use: FunctionUse) -> Compute:
    """Of NULL without ANSI -1."""
    of_null = None if use.ansi else -1
    return lambda values: of_null if values is None else len(values)


NESTED_FUNCTIONS: Mapping[str, Function] = by_name(
    {
        "SIZE CARDINALITY": Function((ARRAY,), INT, size, takes_nulls=True),
        "ARRAY_SIZE": function((ARRAY,), INT, len),
        "ARRAY_CONTAINS": function((ARRAY, None), where_contained, contains),
        "ARRAY_INTERSECT": function((ARRAY, ARRAY), same_arrays, intersection),
        "ARRAYS_OVERLAP": function(
            (ARRAY, ARRAY), lambda use: same_arrays(use) and BOOLEAN, overlap
        ),
        "ELEMENT_AT": Function((ARRAY, INTEGER), counted_element_type, element_at, fails=True),
        "TRY_ELEMENT_AT": Function((ARRAY, INTEGER), counted_element_type, try_element_at),
        "[]": Function((ARRAY, INTEGER), element_type, subscript, fails=True),
    }
)
