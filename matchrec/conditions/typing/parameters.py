"""Arguments as functions take them: what Spark casts implicitly is cast here, and nowhere else.

left(A.s, B.l)     left(A.s, CAST(B.l AS INT)): without ANSI 4294967297 is 1, under ANSI an error

What a function takes is its signature, the `parameters` in `functions`. Source: Spark's rules of
implicit casts, `TypeCoercion.implicitCast`; the tests ask Spark which types it takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from matchrec.conditions.functions import functions
from matchrec.conditions.functions.formula import Apply
from matchrec.conditions.functions.function import FunctionUse, Parameter
from matchrec.conditions.residual import Combined, Step, Value
from matchrec.conditions.types import (
    BOOLEAN,
    INT,
    NESTED,
    NUMBERS,
    STRING,
    VOID,
    Family,
    ValueType,
    is_wide_decimal,
)
from matchrec.conditions.typing.arguments import Arguments
from matchrec.conditions.typing.late import cast_may_fail
from matchrec.conditions.typing.numbers import Typed, widen
from matchrec.conditions.typing.typer import Typer, null
from matchrec.errors.conditions import cannot_combine, does_not_take

OF_NUMBERS = NUMBERS | {Family.STRING}
IMPLICIT: Mapping[Family, frozenset[Family]] = {
    Family.INTEGER: OF_NUMBERS,
    Family.FLOATING: OF_NUMBERS,
    Family.STRING: frozenset(Family) - NESTED - {Family.BINARY, Family.OTHER},
}
"""What Spark casts to a type of a family. Of binary values it has functions by the same names."""


OF_NULL = {Family.BOOLEAN: BOOLEAN, Family.INTEGER: INT, Family.STRING: STRING}
"""What Spark casts NULL to where any type of a family is taken."""


LITERALS: Mapping[str, int] = {"SORT_ARRAY": 1}
"""Arguments that Spark knows before there are rows, by their places."""


def check_literal(typer: Typer, step: Combined) -> None:
    """Raises where Spark asks for a literal and there is none."""
    place = LITERALS.get(step.operator, len(step.operands))
    for part in step.operands[place : place + 1]:
        own = isinstance(part, Value) and part.navigation is None and part.column.looks_at_one_row
        text = part.column.text.strip("() ") if isinstance(part, Value) and own else ""
        if re.fullmatch(r"true|false|null|-? *[0-9]+", text, re.IGNORECASE) is None:
            type_ = typer.type_of(part).name
            raise does_not_take(step.operator, f"{type_} that is no literal", (), step.span)


def bring(typer: Typer, step: Combined, part: Step, parameter: Parameter) -> Typed:
    """An argument as its parameter takes it."""
    own = typer.type_of(part)
    if parameter is None:
        return typer.type_step(part)
    if isinstance(parameter, Family):
        if own == VOID and parameter in OF_NULL:
            return null(OF_NULL[parameter])
        if own.family is not parameter:
            raise does_not_take(step.operator, own.name, (), step.span)
        return typer.type_step(part)
    if own == VOID:
        return null(parameter)
    if own.family not in IMPLICIT[parameter.family]:
        raise does_not_take(step.operator, own.name, (), step.span)
    if own.family is parameter.family and own.bits <= parameter.bits:
        held = typer.type_step(part)
        return held if own.family is Family.STRING else Typed(held.expression, parameter)
    return cast_implicitly(typer, step, part, parameter)


def cast_implicitly(typer: Typer, step: Combined, part: Step, target: ValueType) -> Typed:
    """A value as another type: Spark casts a column, where that cannot fail on any row."""
    own = typer.type_of(part)
    if isinstance(part, Value) and not (typer.ansi and cast_may_fail(own, target)):
        return typer.cast_column(part, target)
    if target.family is Family.FLOATING and own.family in NUMBERS and not is_wide_decimal(own):
        return widen(typer.type_step(part), target)
    use = FunctionUse((own,), (target.name.upper(),), typer.ansi, typer.settings.time_zone)
    if functions()["CAST"].result(use) is None:
        raise cannot_combine(step.operator, own.name, target.name, step.span)
    arguments = Arguments()
    inner = arguments.add(typer.type_step(part))
    return arguments.call(Apply("CAST", (inner,), use, target))
