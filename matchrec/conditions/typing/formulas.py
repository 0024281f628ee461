"""Columns that no row need bring: arithmetic of columns that cross anyway."""

from __future__ import annotations

from matchrec.conditions.residual import Value, values_in
from matchrec.conditions.types import DOUBLE, Family, ValueType
from matchrec.conditions.typing.constants import constant_of
from matchrec.conditions.typing.numbers import Typed
from matchrec.conditions.typing.typer import Typer


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
