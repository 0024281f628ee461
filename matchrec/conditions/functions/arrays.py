"""Functions of arrays, such as those that aggregates collect. An array is a list of values.

Functions that take a lambda are not here: `exists(collect_list(x), v -> v > 1)` is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    Result,
    Use,
    Value,
    function,
)
from matchrec.conditions.types import BIGINT, BOOLEAN, INT, STRING, Family, ValueType

ARRAY = Family.ARRAY
WHOLE = Family.INTEGER


def given(type_: ValueType) -> Result:
    """Of that type, of any array."""
    return lambda use: type_ if use.types[0].element is not None else None


def of_element(use: Use) -> ValueType | None:
    return use.types[0].element


def with_element(type_: ValueType) -> Result:
    """Of that type, of an array and one of its elements."""
    return lambda use: type_ if use.types[0].element == use.types[1] else None


def same_arrays(use: Use) -> ValueType | None:
    """Of the type of both."""
    return use.types[0] if use.types[0] == use.types[1] else None


def overlap_type(use: Use) -> ValueType | None:
    return BOOLEAN if same_arrays(use) is not None else None


def array_of_it(use: Use) -> ValueType | None:
    """Of an array and one of its elements, that of the array."""
    return use.types[0] if use.types[0].element == use.types[1] else None


def as_it_is(use: Use) -> ValueType | None:
    return use.types[0]


def different(values: Iterable[Value]) -> list[Value]:
    """Each value once, where it is first; 0.0 for -0.0."""
    return list(dict.fromkeys(map(normalized, values)))


def contains(values: Sequence[Value], wanted: Value) -> bool | None:
    """NULL where it may be one of the NULLs."""
    if normalized(wanted) in map(normalized, values):
        return True
    return None if None in values else False


def position(values: Sequence[Value], wanted: Value) -> int:
    """From 1; 0 where it is not in the array."""
    keys, key = list(map(normalized, values)), normalized(wanted)
    return keys.index(key) + 1 if key in keys else 0


def element_at(use: Use) -> Compute:
    """From 1, or from the end; beyond it NULL, or an error under ANSI."""

    def compute(values: Sequence[Value], number: int) -> Value:
        if number == 0:
            raise FunctionError("INVALID_INDEX_OF_ZERO: elements are counted from 1")
        return at(values, number - 1 if number > 0 else len(values) + number, use.ansi)

    return compute


def subscript(use: Use) -> Compute:
    """`x[i]`, from 0."""
    return lambda values, place: at(values, place, use.ansi)


def at(values: Sequence[Value], place: int, ansi: bool) -> Value:
    if 0 <= place < len(values):
        return values[place]
    if ansi:
        raise AnsiError(f"INVALID_ARRAY_INDEX: an array of {len(values)} elements")
    return None


def element(values: Sequence[Value], place: int) -> Value:
    """GET: NULL beyond the array."""
    return at(values, place, False)


def extreme(choose: Callable[..., Value]) -> Compute:
    """The least or the greatest value, NULLs left out."""

    def compute(values: Sequence[Value]) -> Value:
        return choose((one for one in values if one is not None), key=rank, default=None)

    return compute


def join(values: Sequence[str | None], separator: str, instead: str | None = None) -> str:
    """NULLs are left out, or have a text instead."""
    known = (instead if one is None else one for one in values)
    return separator.join(one for one in known if one is not None)


def sort(values: Sequence[Value], ascending: bool = True) -> list[Value]:
    """NULLs are first, or last where it descends."""
    known = sorted((one for one in values if one is not None), key=rank, reverse=not ascending)
    nulls = [None] * (len(values) - len(known))
    return nulls + known if ascending else known + nulls


def sort_nulls_last(values: Sequence[Value]) -> list[Value]:
    known = [one for one in values if one is not None]
    return sorted(known, key=rank) + [None] * (len(values) - len(known))


def take(values: Sequence[Value], start: int, length: int) -> list[Value]:
    """SLICE: from the start-th element on, from 1, or from the end."""
    if start == 0 or length < 0:
        raise FunctionError("INVALID_PARAMETER_VALUE: a slice starts at 1, and has a length")
    begin = start - 1 if start > 0 else len(values) + start
    return list(values[begin : begin + length]) if begin >= 0 else []


def union(one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    return different((*one, *other))


def intersection(one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    keys = set(map(normalized, other))
    return different(value for value in one if normalized(value) in keys)


def difference(one: Sequence[Value], other: Sequence[Value]) -> list[Value]:
    keys = set(map(normalized, other))
    return different(value for value in one if normalized(value) not in keys)


def overlap(one: Sequence[Value], other: Sequence[Value]) -> bool | None:
    """NULL where a NULL may be what both have."""
    if (set(map(normalized, one)) & set(map(normalized, other))) - {None}:
        return True
    return None if one and other and (None in one or None in other) else False


def without(values: Sequence[Value], unwanted: Value) -> list[Value]:
    gone = (normalized(unwanted),)
    return [one for one in values if normalized(one) not in gone]


def of_strings(use: Use) -> ValueType | None:
    return STRING if use.types[0].element == STRING else None


def size(use: Use) -> Compute:
    """Of NULL without ANSI -1."""
    of_null = None if use.ansi else -1
    return lambda values: of_null if values is None else len(values)


SIZE = Function((ARRAY,), given(INT), size, takes_nulls=True)
AT = Function((ARRAY, WHOLE), of_element, element_at)

ARRAYS: Mapping[str, Function] = {
    "SIZE": SIZE,
    "CARDINALITY": SIZE,
    "ARRAY_SIZE": function((ARRAY,), given(INT), len),
    "ARRAY_CONTAINS": function((ARRAY, None), with_element(BOOLEAN), contains),
    "ARRAY_POSITION": function((ARRAY, None), with_element(BIGINT), position),
    "ARRAY_REMOVE": function((ARRAY, None), array_of_it, without),
    "ELEMENT_AT": AT,
    "[]": Function((ARRAY, WHOLE), of_element, subscript),
    "GET": function((ARRAY, WHOLE), of_element, element),
    "ARRAY_MIN": function((ARRAY,), of_element, extreme(min)),
    "ARRAY_MAX": function((ARRAY,), of_element, extreme(max)),
    "ARRAY_JOIN": function((ARRAY, Family.STRING, Family.STRING), of_strings, join, least=2),
    "ARRAY_DISTINCT": function((ARRAY,), as_it_is, different),
    "ARRAY_COMPACT": function(
        (ARRAY,), as_it_is, lambda values: [one for one in values if one is not None]
    ),
    "SORT_ARRAY": function((ARRAY, Family.BOOLEAN), as_it_is, sort, least=1),
    "ARRAY_SORT": function((ARRAY,), as_it_is, sort_nulls_last),
    "SLICE": function((ARRAY, WHOLE, WHOLE), as_it_is, take),
    "ARRAY_UNION": function((ARRAY, ARRAY), same_arrays, union),
    "ARRAY_INTERSECT": function((ARRAY, ARRAY), same_arrays, intersection),
    "ARRAY_EXCEPT": function((ARRAY, ARRAY), same_arrays, difference),
    "ARRAYS_OVERLAP": function((ARRAY, ARRAY), overlap_type, overlap),
}
