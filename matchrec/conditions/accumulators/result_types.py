"""The types of aggregates, from the types of their arguments.

A function that finds the type of an aggregate takes an `AggregateUse`, and returns None if the
arguments do not fit. The functions `require_...` build it from a simpler function, which gets only
the type of the single argument:

    max    require_one_argument(keep_type)    one argument of any type; max has this type, too
    sum    require_number(find_sum_type)      one number or interval
    every  require_truth_value(BOOLEAN)       one truth value
"""

from __future__ import annotations

from collections.abc import Callable

from matchrec.conditions.accumulators.accumulator import FindAggregateType
from matchrec.conditions.functions.function import AggregateUse
from matchrec.conditions.types import DOUBLE, INTERVAL_TYPES, NUMBERS, VOID, Family, ValueType


def require_one_argument(find_type: Callable[[ValueType], ValueType | None]) -> FindAggregateType:
    """Return a function that finds the type of an aggregate that takes one argument.

    Args:
        find_type: returns the type of the aggregate from the type of the argument, or None.
    """
    return lambda use: find_type(use.types[0]) if len(use.types) == 1 else None


def require_number(find_type: Callable[[ValueType], ValueType]) -> FindAggregateType:
    """Return a function that finds the type of an aggregate that takes one number or interval.

    Args:
        find_type: returns the type of the aggregate from the type of the numbers. An aggregate of
            intervals has the type that `INTERVAL_TYPES` has for them.
    """

    def find_type_of_argument(type_: ValueType) -> ValueType | None:
        """Return the type of the aggregate of a number or an interval; None for other types."""
        if type_.family in NUMBERS:
            return find_type(type_)
        return INTERVAL_TYPES.get(type_.family)

    return require_one_argument(find_type_of_argument)


def require_truth_value(result_type: ValueType) -> FindAggregateType:
    """Return a function that finds `result_type` for an aggregate that takes one truth value."""
    return require_one_argument(
        lambda type_: result_type if type_.family is Family.BOOLEAN else None
    )


def keep_type(type_: ValueType) -> ValueType:
    """Return the type of the argument, which is the type of the aggregate."""
    return type_


def find_median_type(type_: ValueType) -> ValueType | None:
    """Return the type of a median, or of another percentile, of values of a type.

    DOUBLE for numbers. A time of day keeps its type, an interval has the type that `INTERVAL_TYPES`
    has for it. None for any other type.
    """
    if type_.family in NUMBERS:
        return DOUBLE
    if type_.family is Family.TIME:
        return type_
    return INTERVAL_TYPES.get(type_.family)


def find_type_of_chosen_value(use: AggregateUse) -> ValueType | None:
    """Return the type of MIN_BY and MAX_BY: the type of the first of two arguments.

    Spark takes a third argument, the number of values to return. It is not supported.
    """
    return use.types[0] if len(use.types) == 2 else None


def find_type_of_first_argument(use: AggregateUse) -> ValueType | None:
    """Return the type of the first argument: of ANY_VALUE, FIRST_VALUE, LAST_VALUE or MODE.

    A second argument must be a truth value. It says whether to ignore NULL, or for MODE whether to
    return the least of equally frequent values, which MODE does here in any case.
    """
    option_families = [type_.family for type_ in use.types[1:]]
    return use.types[0] if use.types and option_families in ([], [Family.BOOLEAN]) else None


def find_listagg_type(use: AggregateUse) -> ValueType | None:
    """Return the type of LISTAGG, which is the type of its texts and of its delimiter."""
    if not use.types or len(use.types) > 2:
        return None
    family = use.types[0].family
    if family not in (Family.STRING, Family.BINARY):
        return None
    has_one_family = all(type_.family is family or type_ == VOID for type_ in use.types)
    return use.types[0] if has_one_family else None


def find_percentile_type(use: AggregateUse) -> ValueType | None:
    """Return the type of PERCENTILE from the types of the value and the fraction.

    Spark takes a third argument, how many times a value counts. It is not supported.
    """
    if len(use.types) != 2 or use.types[1].family not in NUMBERS:
        return None
    return find_median_type(use.types[0])
