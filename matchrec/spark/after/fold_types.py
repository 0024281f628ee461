"""The records of folds. A fold computes an aggregate as SQL over an array of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql.types import DataType, DecimalType

from matchrec.conditions.types import MAX_DIGITS, keeps_digits


@dataclass(frozen=True)
class FoldedValues:
    """The values of an aggregate, one for each row that counts, and the type of its result."""

    # The column that holds the values as an array. A row does not count if one of the arguments in
    # `Fold.required_arguments` is NULL.
    array: str
    # The type of a value. If only one argument differs from row to row and there is no sort key,
    # the value is this argument. Otherwise it is a struct of the arguments a0, a1, ... and of the
    # sort keys o0, o1, ...
    value_type: DataType
    # The type of the result, as Spark gives it.
    result_type: DataType
    # SQL of the arguments that have the same value on all rows.
    constants: tuple[str, ...] = ()
    # The words after each sort key of WITHIN GROUP, such as DESC.
    ordering: tuple[str, ...] = ()
    # Whether IGNORE NULLS is written.
    ignore_nulls: bool = False
    # SQL for a statistic that would divide by zero: NULL, or NaN with a legacy setting.
    undefined: str = "NULL"

    @property
    def type_name(self) -> str:
        """Return the type of the result, as SQL."""
        return self.result_type.simpleString()


# A function that returns SQL of an aggregate of some values, or SQL of an array of them.
WriteSql = Callable[[FoldedValues], str]


@dataclass(frozen=True, slots=True)
class Fold:
    """How an aggregate is computed over an array."""

    # Returns SQL of the aggregate.
    write: WriteSql
    # How many arguments, from the first one on, can differ from row to row; None for all. It is 1
    # for `listagg(name, ', ')`, whose delimiter is the same on all rows.
    max_row_arguments: int | None = None
    # The indices of the arguments that must not be NULL for a row to count; None for all arguments
    # that can differ from row to row.
    required_arguments: tuple[int, ...] | None = None
    # The largest number of digits of a decimal result that the fold computes without losing digits,
    # see `conditions.types.keeps_digits`.
    max_digits: int = MAX_DIGITS

    def count_row_arguments(self, argument_count: int) -> int:
        """Return how many of the arguments of an aggregate can differ from row to row.

        Args:
            argument_count: how many arguments the aggregate has.
        """
        if self.max_row_arguments is None:
            return argument_count
        return min(self.max_row_arguments, argument_count)

    def keeps_digits(self, result_type: DataType) -> bool:
        """Return whether the fold computes a result of this type without losing digits."""
        if not isinstance(result_type, DecimalType):
            return True
        return keeps_digits(result_type.precision, result_type.scale, self.max_digits)


def write_field(structs: str, field: str) -> str:
    """Return SQL of the array of one field of the structs in an array."""
    return f"transform({structs}, x -> x.{field})"
