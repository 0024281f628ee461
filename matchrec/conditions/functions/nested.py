"""Functions of arrays: their size and elements, and what arrays have in common.

Python holds an array as a tuple in which NULL is None. Elements are compared as in Spark: NaN
equals NaN, and -0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matchrec.conditions.functions.comparisons import find_representative
from matchrec.conditions.functions.function import (
    ANY_TYPE,
    AnsiError,
    Compute,
    Function,
    FunctionUse,
    Value,
    split_names,
    use_for_all_types,
)
from matchrec.conditions.functions.number_conversions import wrap
from matchrec.conditions.types import BOOLEAN, INT, Family, ValueType
from matchrec.errors.wording import show_count

# Short, for the table.
ARRAY = Family.ARRAY
INTEGER = Family.INTEGER

# An array, as Python holds it.
ArrayValue = tuple[Value, ...]


# The types of results. They are None if the arguments do not fit.


def find_element_type(use: FunctionUse) -> ValueType | None:
    """Return the type of the elements of the first argument."""
    return use.types[0].element


def find_containment_type(use: FunctionUse) -> ValueType | None:
    """Return BOOLEAN for an array and a value of the type of its elements, which are ordered."""
    array_type, element_type = use.types
    if array_type.element != element_type or not array_type.is_ordered:
        return None
    return BOOLEAN


def find_intersection_type(use: FunctionUse) -> ValueType | None:
    """Return the type of two arrays of one type, whose elements are ordered."""
    left, right = use.types
    return left if left == right and left.is_ordered else None


def find_overlap_type(use: FunctionUse) -> ValueType | None:
    """Return BOOLEAN for two arrays of one type, whose elements are ordered."""
    return None if find_intersection_type(use) is None else BOOLEAN


# Functions.


def remove_repeats(values: Iterable[Value]) -> ArrayValue:
    """Return each value once, in the order in which they come first. -0.0 becomes 0.0."""
    return tuple(dict.fromkeys(map(find_representative, values)))


def contains(values: Sequence[Value], value: Value) -> bool | None:
    """Return whether an array contains a value, or NULL if the value can be one of its NULLs."""
    if find_representative(value) in map(find_representative, values):
        return True
    return None if None in values else False


def build_subscript(use: FunctionUse) -> Compute:
    """Return the function that returns an element by its index, from 0.

    An element beyond the array is NULL, or an error in ANSI mode. Only the lowest 32 bits of an
    index count, because Spark converts a bigint to an int of Java.
    """

    def compute(values: Sequence[Value], number: int) -> Value:
        """Return the element; beyond the array return NULL, or raise AnsiError in ANSI mode."""
        index = wrap(number, INT.bits)
        if 0 <= index < len(values):
            return values[index]
        if use.ansi:
            count = show_count(len(values), "element")
            raise AnsiError(f"the array has {count}, and none at this index")
        return None

    return compute


def intersect(left: ArrayValue, right: ArrayValue) -> ArrayValue:
    """Return each value once that is in both arrays, in the order of the left one."""
    right_values = set(map(find_representative, right))
    return remove_repeats(value for value in left if find_representative(value) in right_values)


def overlap(left: Sequence[Value], right: Sequence[Value]) -> bool | None:
    """Return whether arrays have a value in common.

    NULL if they do not, but neither is empty and one has a NULL, which can be such a value.
    """
    common_values = set(map(find_representative, left)) & set(map(find_representative, right))
    if common_values - {None}:
        return True
    has_null = None in left or None in right
    return None if left and right and has_null else False


def build_size(use: FunctionUse) -> Compute:
    """Return the function that counts elements. `size(NULL)` is -1 unless ANSI mode is on."""
    size_of_null = None if use.ansi else -1
    return lambda values: size_of_null if values is None else len(values)


NESTED_FUNCTIONS: Mapping[str, Function] = split_names(
    {
        "SIZE CARDINALITY": Function((ARRAY,), INT, build_size, takes_nulls=True),
        "ARRAY_SIZE": Function((ARRAY,), INT, use_for_all_types(len)),
        "ARRAY_CONTAINS": Function(
            (ARRAY, ANY_TYPE), find_containment_type, use_for_all_types(contains)
        ),
        "ARRAY_INTERSECT": Function(
            (ARRAY, ARRAY), find_intersection_type, use_for_all_types(intersect)
        ),
        "ARRAYS_OVERLAP": Function((ARRAY, ARRAY), find_overlap_type, use_for_all_types(overlap)),
        "[]": Function((ARRAY, INTEGER), find_element_type, build_subscript),
    }
)
