"""Columns that the search computes instead of Spark.

Spark computes a column for every row before the match. There are two reasons not to let it:

1. The column is a formula of other columns, which the search has anyway: see `type_formula`.
2. The expression can fail, and guards over other rows decide whether it is evaluated. Then it must
   be computed during the match: see `type_deferred`.

       A.ok AND CAST(B.s AS INT) > A.x    a row whose `s` is not a number must not fail after an A
                                          that is not ok
"""

from __future__ import annotations

from matchrec.conditions.residual import ColumnRead, TypedStep, find_column_reads
from matchrec.conditions.types import DOUBLE, Family, ValueType
from matchrec.conditions.typing.constants import find_constant
from matchrec.conditions.typing.typer import Typer
from matchrec.errors import MatchRecognizeUnsupportedError


def type_formula(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a formula of integers and doubles, which the search computes.

    None if the step has no formula, or if only Spark can compute it.
    """
    type_ = typer.types[step.column]
    if step.formula is None or not can_compute(type_):
        return None
    for read in find_column_reads(step.formula):
        read_type = typer.types[read.column]
        if not can_compute(read_type) and find_constant(read, read_type) is None:
            return None
    typed = typer.type_step(step.formula)
    return typed if typed.type == type_ else None


def can_compute(type_: ValueType) -> bool:
    """Return whether the search holds all values of a type and computes with them as Spark does."""
    return type_ == DOUBLE or type_.family is Family.INTEGER


def type_deferred(typer: Typer, step: ColumnRead) -> TypedStep | None:
    """Return the value of a step as the search computes it during the match, if it can fail.

    None if it cannot fail, or if the search cannot compute it. Spark then computes the column.
    """
    if step.deferred is None or not typer.ansi:
        return None
    try:
        typed = typer.type_step(step.deferred)
    except MatchRecognizeUnsupportedError:
        return None
    return typed if typed.may_fail else None
