"""What a function takes and returns, and how it is computed.

Values are those of Python: bool, int, float, Decimal, str, bytes, and None for NULL. A date is a
number of days since 1970-01-01. A timestamp is a number of microseconds since then, an interval one
of microseconds, a time of day one of nanoseconds since midnight. An array is a tuple of its
elements, a struct a tuple of its fields, a map a tuple of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from matchrec.conditions.types import Family, ValueType

Value = Any
Named = TypeVar("Named")
Compute = Callable[..., Value]


class FunctionError(Exception):
    """A function has no result for a value. The message says why, in Spark's terms."""


class AnsiError(FunctionError):
    """A function has no result for a value in ANSI mode. Without ANSI, the result is NULL."""


class UndecidedError(FunctionError):
    """The result of Spark depends on something that Python does not know."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of a session that functions and aggregates depend on, in lower case."""

    time_zone: str = "UTC"
    # See `AggregateUse`.
    legacy_statistics: bool = False
    # What the session calls TIMESTAMP: `timestamp_ltz` or `timestamp_ntz`.
    timestamp_type: str = "timestamp_ltz"
    # Whether CAST of an instant to a TIMESTAMP_NTZ returns the time in UTC, not the local time.
    casts_in_utc: bool = False
    # Whether decimals that have more than 38 digits together lose digits after the point, as in
    # Spark from 4.0 on.
    cuts_decimals: bool = True
    # See `AggregateUse`.
    weighs_both: bool = False


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """One call of a function: everything that is known before there are values."""

    # The types of the arguments, after casts to the function's parameters.
    types: tuple[ValueType, ...]
    # What the function takes besides values, such as the unit of TIMESTAMPDIFF or the type of CAST.
    words: tuple[str, ...] = ()
    # Whether it is an error if there is no result; else it is NULL.
    ansi: bool = True
    # The time zone of the session.
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class AggregateUse:
    """One aggregate of a query."""

    # The types of the arguments.
    types: tuple[ValueType, ...]
    distinct: bool = False
    ignore_nulls: bool = False
    # Whether it is an error if there is no result; else it is NULL.
    ansi: bool = True
    # Whether the statistic of a single row is NaN, not NULL.
    legacy_statistics: bool = False
    # Whether a percentile between two values adds up a part of each, as in Spark before 4.3. Else
    # it is the lower value plus a part of their distance.
    weighs_both: bool = False

    def with_settings(self, session: SessionSettings) -> AggregateUse:
        """Return the same aggregate with the settings of a session."""
        return replace(
            self, legacy_statistics=session.legacy_statistics, weighs_both=session.weighs_both
        )


FindType = Callable[[FunctionUse], ValueType | None]

# What a function takes as an argument: a type, to which Spark casts implicitly, any type of a
# family, or, if it is None, any type.
ParameterType = ValueType | Family | None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Spark.

    Whether it can fail is in `plan.operators` if it has an entry there, else in `words.txt`.
    """

    # The signature. All parameters are positional.
    parameters: tuple[ParameterType, ...]
    # The type of the values, or a function that returns it: None if the arguments do not fit.
    returns: ValueType | FindType
    # Returns what computes a value from the arguments.
    build: Callable[[FunctionUse], Compute]
    # The least number of arguments; None if it takes exactly as many as the signature has.
    least: int | None = None
    # Whether the value may depend on arguments that are NULL. Else it is NULL without being
    # computed if any argument is.
    takes_nulls: bool = False
    # Whether any number of further arguments may follow, which are like the last one.
    repeats: bool = False

    def parameter(self, index: int) -> ParameterType:
        """Return what the argument with an index must be."""
        return self.parameters[min(index, len(self.parameters) - 1)]

    def takes(self, arguments: int) -> bool:
        """Return whether the function takes this number of arguments."""
        most = len(self.parameters)
        least = most if self.least is None else self.least
        return least <= arguments and (self.repeats or arguments <= most)

    def result(self, use: FunctionUse) -> ValueType | None:
        """Return the type of the values, or None if the arguments do not fit."""
        return self.returns if isinstance(self.returns, ValueType) else self.returns(use)


def make_function(
    parameters: tuple[ParameterType, ...],
    returns: ValueType | FindType,
    compute: Compute,
    **options: Any,
) -> Function:
    """Return a function that is computed in the same way wherever it is used.

    Args:
        parameters: see `Function`.
        returns: see `Function`.
        compute: computes a value from the arguments.
        options: other fields of `Function`.
    """
    return Function(parameters, returns, lambda _: compute, **options)


def list_by_name(table: Mapping[str, Named]) -> dict[str, Named]:
    """Return a table with one entry for each of the names that an entry has.

    >>> list_by_name({"SIZE CARDINALITY": 1, "ARRAY_SIZE": 2})
    {'SIZE': 1, 'CARDINALITY': 1, 'ARRAY_SIZE': 2}
    """
    return {name: named for names, named in table.items() for name in names.split()}
