"""The records of folds: a fold is an aggregate that is computed as SQL over an array of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql.types import DataType, DecimalType

from matchrec.conditions.types import MAX_DIGITS, keeps_digits


@dataclass(frozen=True)
class FoldedValues:
    """The values of an aggregate, one for each row that counts, and the type of its result."""

    # The column that holds the values as an array, without the rows that do not count because an
    # argument is NULL: see `Fold.required`.
    array: str
    # The type of a value. For an aggregate of one term it is the type of its argument. For several
    # terms it is a struct of the arguments a0, a1, ... and the sort keys o0, o1, ...
    element: DataType
    # The type of the result, as Spark gives it.
    type: DataType
    # SQL of the arguments that have the same value on all rows.
    constants: tuple[str, ...] = ()
    # The words after each term of WITHIN GROUP, such as DESC.
    ordering: tuple[str, ...] = ()
    # Whether IGNORE NULLS is written.
    ignore_nulls: bool = False
    # SQL of a statistic that would divide by zero: NULL, or NaN with a legacy setting.
    undefined: str = "NULL"

    @property
    def type_name(self) -> str:
        """Return the type of the result, as SQL."""
        return self.type.simpleString()


# Returns SQL of an aggregate, or of an array, for some values.
WriteSql = Callable[[FoldedValues], str]


@dataclass(frozen=True, slots=True)
class Fold:
    """How an aggregate is computed over an array."""

    # Returns SQL of the aggregate.
    write: WriteSql
    # How many arguments, from the first one on, may differ from row to row; None for all. It is 1
    # for `listagg(name, ', ')`, whose delimiter is the same on all rows.
    row_arguments: int | None = None
    # The indices of the arguments that must not be NULL for a row to count; None for all arguments
    # that may differ from row to row.
    required: tuple[int, ...] | None = None
    # The most digits of a decimal result, see `conditions.types.keeps_digits`.
    most_digits: int = MAX_DIGITS

    def count_row_arguments(self, arguments: int) -> int:
        """Return how many of the arguments of an aggregate may differ from row to row."""
        return arguments if self.row_arguments is None else min(self.row_arguments, arguments)

    def keeps_digits(self, result_type: DataType) -> bool:
        """Return whether the fold computes a result of this type without losing digits."""
        if not isinstance(result_type, DecimalType):
            return True
        return keeps_digits(result_type.precision, result_type.scale, self.most_digits)


def write_field(structs: str, field: str) -> str:
    """Return SQL of the array of one field of the structs in an array."""
    return f"transform({structs}, x -> x.{field})"
