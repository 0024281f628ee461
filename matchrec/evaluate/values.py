"""Values of columns and of the stack as Python's, made of the bits that hold them, and back."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from matchrec.conditions.functions.function import Value
from matchrec.conditions.run_condition import Choose, Read, Reduce, RunExpression
from matchrec.conditions.types import Family, ValueType, is_ranked
from matchrec.dataclass import dataclass

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Decode = Callable[[int], Value]
Ranked = Mapping[int, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Source:
    """The rows. columns, valid: see `evaluate.kernels`.

    ranked: by integer column, the values in the order of their ranks, of which the first is 1.
    """

    columns: IntArray
    valid: BoolArray
    ranked: Ranked


def ranked_values(source: Source, column: int | None) -> Sequence[Value] | None:
    """The values of which a column has the ranks; None of what is no rank."""
    return None if column is None else source.ranked.get(column)


def ranked_column(expression: RunExpression) -> int | None:
    """The integer column among whose values those of a ranked expression have their ranks."""
    match expression:
        case Read(column=column) | Reduce(column=column):
            return column
        case Choose(_, then, otherwise):
            found = ranked_column(then)
            return ranked_column(otherwise) if found is None else found
        case _:
            return None


def decoder(type_: ValueType, ranked: Sequence[Value] | None) -> Decode:
    """How a value of a type is made of the bits that hold it, or of its rank."""
    if is_ranked(type_) and ranked is not None:
        return lambda bits: ranked[bits - 1]
    match type_.family:
        case Family.BOOLEAN:
            return bool
        case Family.FLOATING:
            return lambda bits: struct.unpack("<d", struct.pack("<q", bits))[0]
        case Family.DECIMAL:
            return lambda bits: Decimal(bits).scaleb(-type_.scale)
        case _:
            return int


def encoder(type_: ValueType) -> Callable[[Value], int]:
    """The bits that hold a value of a type. Raises OverflowError where they cannot."""
    match type_.family:
        case Family.FLOATING:
            return lambda value: struct.unpack("<q", struct.pack("<d", value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int
