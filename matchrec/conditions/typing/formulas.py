"""Columns that no row need bring: constants, and arithmetic of columns that cross anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.conditions.residual import Value, values_in
from matchrec.conditions.run_condition import Constant
from matchrec.conditions.types import DOUBLE, Family, Kind, ValueType, is_wide_decimal
from matchrec.conditions.typing.numbers import Typed
from matchrec.plan.text.amounts import Amount, amount

if TYPE_CHECKING:
    from matchrec.conditions.typing.typer import Typer


def constant_of(step: Value, type_: ValueType) -> Typed | None:
    """A column as a constant of a type, if a number or an interval is all that it is."""
    if step.navigation is not None or not step.column.looks_at_one_row:
        return None
    found = amount(step.column.text)
    if found is None or found.is_time is not (type_.family is Family.INTERVAL):
        return None
    if type_ == DOUBLE:
        return Typed(Constant(float(found.value), Kind.FLOATING), DOUBLE)
    held = as_held(found, type_)
    return None if held is None else Typed(Constant(held, Kind.INTEGER), type_)


def as_held(written: Amount, type_: ValueType) -> int | None:
    """The same as the number that holds a value of a type; None where there is none."""
    if is_wide_decimal(type_):
        return None
    if type_.family is Family.DECIMAL:
        held, limit = written.value * 10**type_.scale, 10**type_.precision
    elif type_.family in (Family.INTEGER, Family.INTERVAL):
        held, limit = written.value, 2 ** (type_.bits - 1)
    else:
        return None
    return held.numerator if held.denominator == 1 and held < limit else None


def type_formula(typer: Typer, step: Value) -> Typed | None:
    """The value of a formula of integers and doubles; None where it is Spark's to compute."""
    type_ = typer.types[step.column]
    if step.formula is None or not is_plain(type_):
        return None
    if not all(is_known(typer, one) for one in values_in(step.formula)):
        return None
    return typer.type_step(step.formula) if typer.type_of(step.formula) == type_ else None


def is_known(typer: Typer, step: Value) -> bool:
    """Whether it is a number that the engine holds as it is, or a constant."""
    type_ = typer.types[step.column]
    return is_plain(type_) or constant_of(step, type_) is not None


def is_plain(type_: ValueType) -> bool:
    """Whether the engine computes with values of a type as Spark does, and holds the results."""
    return type_ == DOUBLE or type_.family is Family.INTEGER
