"""Functions of arrays: of columns, and of those that aggregates collect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    Result,
    UndecidedError,
    Use,
    Value,
    function,
    gives,
)
from matchrec.conditions.types import BIGINT, BOOLEAN, INT, STRING, Family, ValueType, array

ARRAY = Family.ARRAY
WHOLE = Family.INTEGER
MOST_ELEMENTS = (
    1 << 20
)  # of an array that is made longer: what Java has the memory for is not known

Array = tuple[Value, ...]


def of_element(use: Use) -> ValueType | None:
    return use.types[0].element


def of_ordered_element(use: Use) -> ValueType | None:
    return of_element(use) if use.types[0].is_ordered else None


def with_element(type_: ValueType) -> Result:
    """Of that type, of an array and one of its elements, which compare."""
    return lambda use: type_ if array_of_it(use) and use.types[0].is_ordered else None


def of_ordered(use: Use) -> ValueType | None:
    """Of the type of the array, whose elements compare."""
    return use.types[0] if use.types[0].is_ordered else None


def same_arrays(use: Use) -> ValueType | None:
    """Of the type of all, whose elements compare."""
    return of_ordered(use) if len(set(use.types)) == 1 else None


def overlap_type(use: Use) -> ValueType | None:
    return BOOLEAN if same_arrays(use) is not None else None


def array_of_it(use: Use) -> ValueType | None:
    """Of an array and one of its elements, that of the array."""
    return use.types[0] if use.types[0].element == use.types[1] else None


def without_it(use: Use) -> ValueType | None:
    return array_of_it(use) if use.types[0].is_ordered else None


def as_it_is(use: Use) -> ValueType | None:
    return use.types[0]


def as_all(use: Use) -> ValueType | None:
    """Of the type of all."""
    return use.types[0] if len(set(use.types)) == 1 else None


def array_of_all(use: Use) -> ValueType | None:
    type_ = as_all(use)
    return None if type_ is None else array(type_)


def of_inner(use: Use) -> ValueType | None:
    """Of an array of arrays, the type of these."""
    inner = use.types[0].element
    return inner if inner is not None and inner.family is ARRAY else None


def different(values: Iterable[Value]) -> Array:
    """Each value once, where it is first; 0.0 for -0.0."""
    return tuple(dict.fromkeys(map(normalized, values)))


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


def sort(values: Sequence[Value], ascending: bool = True) -> Array:
    """NULLs are first, or last where it descends."""
    known = sorted((one for one in values if one is not None), key=rank, reverse=not ascending)
    nulls = [None] * (len(values) - len(known))
    return tuple(nulls + known if ascending else known + nulls)


def sort_nulls_last(values: Sequence[Value]) -> Array:
    known = [one for one in values if one is not None]
    return (*sorted(known, key=rank), *[None] * (len(values) - len(known)))


def take(values: Array, start: int, length: int) -> Array:
    """SLICE: from the start-th element on, from 1, or from the end."""
    if start == 0 or length < 0:
        raise FunctionError("INVALID_PARAMETER_VALUE: a slice starts at 1, and has a length")
    begin = start - 1 if start > 0 else len(values) + start
    return values[begin : begin + length] if begin >= 0 else ()


def union(one: Array, other: Array) -> Array:
    return different((*one, *other))


def intersection(one: Array, other: Array) -> Array:
    keys = set(map(normalized, other))
    return different(value for value in one if normalized(value) in keys)


def difference(one: Array, other: Array) -> Array:
    keys = set(map(normalized, other))
    return different(value for value in one if normalized(value) not in keys)


def overlap(one: Sequence[Value], other: Sequence[Value]) -> bool | None:
    """NULL where a NULL may be what both have."""
    if (set(map(normalized, one)) & set(map(normalized, other))) - {None}:
        return True
    return None if one and other and (None in one or None in other) else False


def without(values: Array, unwanted: Value) -> Array:
    gone = (normalized(unwanted),)
    return tuple(one for one in values if normalized(one) not in gone)


def append(values: Array | None, value: Value) -> Array | None:
    return None if values is None else (*values, value)


def prepend(values: Array | None, value: Value) -> Array | None:
    return None if values is None else (value, *values)


def repeat(value: Value, times: int | None) -> Array | None:
    if times is not None and times > MOST_ELEMENTS:
        raise UndecidedError(f"an array of {times} elements is too long")
    return None if times is None else (value,) * times


def concat(*arrays: Array) -> Array:
    return tuple(chain.from_iterable(arrays))


def flatten(arrays: Sequence[Array | None]) -> Array | None:
    """NULL where one of the arrays is."""
    known = [one for one in arrays if one is not None]
    return concat(*known) if len(known) == len(arrays) else None


def sequence(start: int, stop: int, step: int | None = None) -> Array:
    """From the one to the other, upwards or downwards, both included."""
    by = (1 if start <= stop else -1) if step is None else step
    if (by == 0 and start != stop) or (by > 0 and start > stop) or (by < 0 and start < stop):
        raise FunctionError(f"INVALID_PARAMETER_VALUE: {start} to {stop} by {by} is no sequence")
    if by == 0:
        return (start,)
    if abs(stop - start) // abs(by) >= MOST_ELEMENTS:
        raise UndecidedError("a sequence is too long")
    return tuple(range(start, stop + (1 if by > 0 else -1), by))


def sequence_type(use: Use) -> ValueType | None:
    whole = all(one.family is WHOLE for one in use.types)
    return array_of_all(use) if whole else None


def together(*values: Value) -> Array:
    return values


def of_strings(use: Use) -> ValueType | None:
    return STRING if use.types[0].element == STRING else None


def of_element_or_null(_: Use) -> Compute:
    """TRY_ELEMENT_AT: NULL beyond the array."""
    return element_at(Use((), ansi=False))


def size(use: Use) -> Compute:
    """Of NULL without ANSI -1."""
    of_null = None if use.ansi else -1
    return lambda values: of_null if values is None else len(values)


SIZE = Function((ARRAY,), gives(INT), size, takes_nulls=True)
CONCAT = replace(function((ARRAY,), as_all, concat), repeats=True)
AT = Function((ARRAY, WHOLE), of_element, element_at)

ARRAYS: Mapping[str, Function] = {
    "SIZE": SIZE,
    "CARDINALITY": SIZE,
    "ARRAY_SIZE": function((ARRAY,), INT, len),
    "ARRAY_CONTAINS": function((ARRAY, None), with_element(BOOLEAN), contains),
    "ARRAY_POSITION": function((ARRAY, None), with_element(BIGINT), position),
    "ARRAY_REMOVE": function((ARRAY, None), without_it, without),
    "ARRAY_APPEND": function((ARRAY, None), array_of_it, append, takes_nulls=True),
    "ARRAY_PREPEND": function((ARRAY, None), array_of_it, prepend, takes_nulls=True),
    "ARRAY_REPEAT": function(
        (None, WHOLE), lambda use: array(use.types[0]), repeat, takes_nulls=True
    ),
    "ARRAY": Function((None,), array_of_all, lambda _: together, takes_nulls=True, repeats=True),
    "FLATTEN": function((ARRAY,), of_inner, flatten),
    "SEQUENCE": function((WHOLE, WHOLE, WHOLE), sequence_type, sequence, least=2),
    "ARRAY CONCAT": CONCAT,
    "ARRAY ||": CONCAT,
    "ARRAY REVERSE": function((ARRAY,), as_it_is, lambda values: values[::-1]),
    "ELEMENT_AT": AT,
    "TRY_ELEMENT_AT": Function((ARRAY, WHOLE), of_element, of_element_or_null),
    "[]": Function((ARRAY, WHOLE), of_element, subscript),
    "GET": function((ARRAY, WHOLE), of_element, element),
    "ARRAY_MIN": function((ARRAY,), of_ordered_element, extreme(min)),
    "ARRAY_MAX": function((ARRAY,), of_ordered_element, extreme(max)),
    "ARRAY_JOIN": function((ARRAY, Family.STRING, Family.STRING), of_strings, join, least=2),
    "ARRAY_DISTINCT": function((ARRAY,), of_ordered, different),
    "ARRAY_COMPACT": function(
        (ARRAY,), as_it_is, lambda values: tuple(one for one in values if one is not None)
    ),
    "SORT_ARRAY": function((ARRAY, Family.BOOLEAN), of_ordered, sort, least=1),
    "SLICE": function((ARRAY, WHOLE, WHOLE), as_it_is, take),
    "ARRAY_UNION": function((ARRAY, ARRAY), same_arrays, union),
    "ARRAY_INTERSECT": function((ARRAY, ARRAY), same_arrays, intersection),
    "ARRAY_EXCEPT": function((ARRAY, ARRAY), same_arrays, difference),
    "ARRAYS_OVERLAP": function((ARRAY, ARRAY), overlap_type, overlap),
}
