"""What a function takes, what it gives, and how it is computed.

Values are Python's: bool, int, float, Decimal, str, bytes; NULL is None. A date is its day, a
timestamp or an interval its microseconds, a time of day its nanoseconds, all since 1970 began or
the day did. An array is a tuple of its elements, a struct of its fields, a map of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from matchrec.conditions.types import Family, ValueType

Value = Any
Meant = TypeVar("Meant")  # by a name
Compute = Callable[..., Value]


class FunctionError(Exception):
    """A value for which a function has no result; the message says why, in Spark's terms."""


class AnsiError(FunctionError):
    """A value for which a function has no result under ANSI; without, the result is NULL."""


class UndecidedError(FunctionError):
    """A value for which Spark's result depends on what Python does not know."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a session, in lower case.

    casts_in_utc: whether CAST takes the local time of an instant for that in UTC. cuts_decimals:
    whether decimals that have more than 38 digits together lose those after the point, as in Spark
    from 4.0 on. legacy_statistics, weighs_both: see `AggregateUse`.
    """

    time_zone: str = "UTC"
    legacy_statistics: bool = False
    timestamp_type: str = "timestamp_ltz"
    casts_in_utc: bool = False
    cuts_decimals: bool = True
    weighs_both: bool = False


@dataclass(frozen=True, slots=True)
class FunctionUse:
    """One call of a function, as far as it is known before there are values.

    types: of the arguments, after they have been brought to the function's parameters. words: what
    it takes that is no value, such as the unit of TIMESTAMPDIFF or the type of a CAST. ansi:
    whether what has no result is an error.
    """

    types: tuple[ValueType, ...]
    words: tuple[str, ...] = ()
    ansi: bool = True
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class AggregateUse:
    """One aggregate of a query.

    legacy_statistics: whether NaN is the statistic of a single row, not NULL. weighs_both: whether
    a percentile between two values adds a part of each, as in Spark before 4.3, and not a part of
    their distance to the lower one.
    """

    types: tuple[ValueType, ...]
    distinct: bool = False
    ignore_nulls: bool = False
    ansi: bool = True
    legacy_statistics: bool = False
    weighs_both: bool = False

    def under(self, session: Settings) -> AggregateUse:
        return replace(
            self, legacy_statistics=session.legacy_statistics, weighs_both=session.weighs_both
        )


Result = Callable[[FunctionUse], ValueType | None]

# What an argument is cast to implicitly; or the family that it must be of; or any type.
Parameter = ValueType | Family | None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Spark.

    parameters: Spark's own signature. returns: its type, or what tells it of a use. build: what
    computes it. least: how many arguments it takes at least; None: all of them.
    takes_nulls: whether it may give something for NULL; otherwise it is computed only where no
    argument is NULL. fails: whether it has no result for some values under ANSI; of casts their
    types tell. repeats: whether further arguments are as the last one.
    """

    parameters: tuple[Parameter, ...]
    returns: ValueType | Result
    build: Callable[[FunctionUse], Compute]
    least: int | None = None
    takes_nulls: bool = False
    repeats: bool = False
    fails: bool = False

    def parameter(self, place: int) -> Parameter:
        return self.parameters[min(place, len(self.parameters) - 1)]

    def takes(self, arguments: int) -> bool:
        most = len(self.parameters)
        least = most if self.least is None else self.least
        return least <= arguments and (self.repeats or arguments <= most)

    def result(self, use: FunctionUse) -> ValueType | None:
        """The type of its values, or None where the arguments do not fit."""
        return self.returns if isinstance(self.returns, ValueType) else self.returns(use)


def function(
    parameters: tuple[Parameter, ...], returns: ValueType | Result, compute: Compute, **more: Any
) -> Function:
    return Function(parameters, returns, lambda _: compute, **more)


def by_name(table: Mapping[str, Meant]) -> dict[str, Meant]:
    """A table of what has several names, such as `LENGTH LEN`."""
    return {name: one for names, one in table.items() for name in names.split()}
