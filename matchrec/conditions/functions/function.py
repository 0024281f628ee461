"""What a function of Spark takes and returns, and how Python computes it.

A `Function` is an entry of a table whose keys are names. When a query calls it, `typing.calls`
makes a `FunctionUse` of the call: the types of its arguments, after implicit casts, and whatever
else its value depends on. From this the `Function` finds the type of the value, and builds the
Python function that computes it. An `AggregateUse` is the same for an aggregate.

Values of SQL are these values of Python:

    NULL                             None
    boolean, numbers, texts, binary  bool, int, float, Decimal, str, bytes
    date                             int: days since 1970-01-01
    timestamp                        int: microseconds since 1970-01-01
    time of day                      int: nanoseconds since midnight
    day-time interval                int: microseconds
    year-month interval              int: months
    array, struct, map               tuple of the elements, of the fields, of pairs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from matchrec.conditions.types import Family, ValueType

# A value of SQL, see above.
Value = Any
# Computes a value from the arguments of a call. Raises FunctionError if there is no value.
Compute = Callable[..., Value]
# An entry of a table whose keys are names.
Entry = TypeVar("Entry")


class FunctionError(Exception):
    """A function has no result for a value. The message says why, in Spark's terms."""


class AnsiError(FunctionError):
    """A function has no result for a value in ANSI mode. Without ANSI, the result is NULL."""


class UndecidedError(FunctionError):
    """The result of Spark depends on something that Python does not know."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of a session that functions and aggregates depend on."""

    # A region or an offset.
    time_zone: str = "UTC"
    # Whether the statistic of a single row is NaN, not NULL.
    legacy_statistics: bool = False
    # What the session calls TIMESTAMP: `timestamp_ltz` or `timestamp_ntz`.
    timestamp_type: str = "timestamp_ltz"
    # Whether CAST of an instant to a TIMESTAMP_NTZ returns the time in UTC, not the local time.
    casts_in_utc: bool = False
    # Whether decimals that have more than 38 digits together lose digits after the point, as in
    # Spark from 4.0 on.
    cuts_decimals: bool = True
    # Whether a percentile between two values adds up a fraction of each, as in Spark before 4.3.
    # Otherwise it is the lower value plus a fraction of the distance between the values.
    weighs_both_values: bool = False


# The settings for a query that does not depend on any of them.
DEFAULT_SETTINGS = SessionSettings()


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """Everything about one call of a function that is known before there are values."""

    # The types of the arguments, after casts to the function's parameters.
    types: tuple[ValueType, ...]
    # Arguments that are not values, such as the unit of TIMESTAMPDIFF or the type of CAST.
    words: tuple[str, ...] = ()
    # Whether the function raises an error if there is no result; otherwise the result is NULL.
    ansi: bool = True
    # The time zone of the session.
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class AggregateUse:
    """Everything about one aggregate of a query that is known before there are values."""

    # The types of the arguments.
    types: tuple[ValueType, ...]
    # Whether the aggregate is written with DISTINCT.
    distinct: bool = False
    # Whether the aggregate is written with IGNORE NULLS.
    ignore_nulls: bool = False
    # Whether the aggregate raises an error if there is no result; otherwise the result is NULL.
    ansi: bool = True
    # Both as in `SessionSettings`.
    legacy_statistics: bool = False
    weighs_both_values: bool = False

    def with_settings(self, settings: SessionSettings) -> AggregateUse:
        """Return the same aggregate with the settings of a session."""
        return replace(
            self,
            legacy_statistics=settings.legacy_statistics,
            weighs_both_values=settings.weighs_both_values,
        )


# Returns the type of a call's value, or None if the arguments do not fit.
FindType = Callable[[FunctionUse], ValueType | None]

# Returns the Python function that computes the value of a call from its arguments.
Build = Callable[[FunctionUse], Compute]

# What a function takes as an argument: values of a type, to which Spark casts implicitly; values of
# any type of a family; or ANY_TYPE.
ParameterType = ValueType | Family | None

# A parameter that takes values of any type.
ANY_TYPE = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Spark, for example LEVENSHTEIN:

        Function(
            (STRING, STRING, INT),
            INT,
            use_for_all_types(compute_levenshtein_distance),
            min_arguments=2,
        )

    Whether it can fail is in `plan.operators` if it has an entry there, else in `plan/words.txt`.
    """

    # What the function takes as its first, second and further arguments. It takes them by position.
    parameters: tuple[ParameterType, ...]
    # The type of the value, or a function that finds it.
    returns: ValueType | FindType
    # Builds the Python function that computes a call. `use_for_all_types` makes it if one Python
    # function computes all calls.
    build: Build
    # The smallest number of arguments; None if there must be one for each parameter.
    min_arguments: int | None = None
    # Whether the function is computed even if an argument is NULL. Otherwise its value is NULL.
    takes_nulls: bool = False
    # Whether the last parameter can be repeated: any number of further arguments are like it.
    repeats_last_parameter: bool = False

    def find_parameter(self, index: int) -> ParameterType:
        """Return the parameter for the argument with this index, from 0.

        An argument after the last parameter is one of its repeats, see `repeats_last_parameter`.
        """
        return self.parameters[min(index, len(self.parameters) - 1)]

    def takes_count(self, argument_count: int) -> bool:
        """Return whether the function takes this number of arguments."""
        parameter_count = len(self.parameters)
        if argument_count > parameter_count and not self.repeats_last_parameter:
            return False
        min_arguments = parameter_count if self.min_arguments is None else self.min_arguments
        return argument_count >= min_arguments

    def find_type(self, use: FunctionUse) -> ValueType | None:
        """Return the type of a call's value, or None if the arguments do not fit."""
        return self.returns if isinstance(self.returns, ValueType) else self.returns(use)


def use_for_all_types(compute: Compute) -> Build:
    """Return the `build` of a function that is computed in the same way for all calls."""
    return lambda _: compute


def split_names(table: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return a table with one name to a key, from a table with several names to a key.

    >>> split_names({"SIZE CARDINALITY": 1, "ARRAY_SIZE": 2})
    {'SIZE': 1, 'CARDINALITY': 1, 'ARRAY_SIZE': 2}
    """
    return {name: entry for names, entry in table.items() for name in names.split()}
