"""Brings nested values and their elements to one type, as Spark does before it computes.

array_contains(A.tags, B.name)     collect_list(A.i) = B.longs     A.prices[B.item]
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.conditions.functions import functions
from matchrec.conditions.residual import COMPARISONS, Combined, Step, Value
from matchrec.conditions.types import (
    NESTED,
    NUMBERS,
    VOID,
    Family,
    ValueType,
    array,
    map_of,
    unnamed,
)
from matchrec.conditions.typing.numbers import Typed, common_nested
from matchrec.conditions.typing.typer import Typer, null

OF_AN_ELEMENT = frozenset({"ARRAY_CONTAINS", "ARRAY_POSITION"})
OF_A_KEY = frozenset({"MAP []", "MAP ELEMENT_AT", "MAP TRY_ELEMENT_AT", "MAP_CONTAINS_KEY"})
OF_ONE_TYPE = COMPARISONS | frozenset(["ARRAY", "ARRAY_UNION", "ARRAY_INTERSECT", "ARRAYS_OVERLAP"])
OF_ONE_TYPE |= {"ARRAY CONCAT", "ARRAY ||"}


def overloaded(typer: Typer, step: Combined) -> str:
    """The name of the function that is meant: arrays and maps have some of the names of others."""
    if not step.operands:
        return step.operator
    family = typer.type_of(step.operands[0]).family
    name = f"{family.name} {step.operator}"
    return name if family in NESTED and name in functions() else step.operator


def alike(typer: Typer, step: Combined, name: str, parts: Sequence[Typed]) -> list[Typed]:
    """The arguments of a function, those that Spark brings to one type as values of that type."""
    types = [part.type for part in parts]
    targets = common_types(typer, name, types)
    if targets is None or targets == types:
        return list(parts)
    arguments = zip(step.operands, parts, targets, strict=True)
    return [as_type(typer, step, operand, part, type_) for operand, part, type_ in arguments]


def common_types(typer: Typer, name: str, types: list[ValueType]) -> list[ValueType] | None:
    """What the arguments become; None where they stay what they are."""

    def common(*types: ValueType | None) -> ValueType | None:
        found: ValueType | None = VOID
        for one in types:
            if found is None or one is None:
                return None
            found = common_nested(found, one, typer.ansi)
        return found

    if name in OF_AN_ELEMENT:
        element = common(types[0].element, types[1])
        return None if element is None else [array(element), element]
    if name in OF_A_KEY:
        key = common(types[0].parts[0], types[1])
        return None if key is None else [map_of(key, types[0].parts[1]), key]
    chosen = 1 if name == "IF" else 0
    if name not in OF_ONE_TYPE | {"IF"}:
        return None
    if name != "ARRAY" and not any(one.family in NESTED for one in types[chosen:]):
        return None
    if name in COMPARISONS and len(set(map(unnamed, types))) == 1:
        return None
    found = common(*types[chosen:])
    return None if found is None else [*types[:chosen], *[found] * (len(types) - chosen)]


def as_type(typer: Typer, step: Combined, operand: Step, part: Typed, type_: ValueType) -> Typed:
    """A value as another type: Spark casts a column; integers are the same in any width."""
    if part.type == type_:
        return part
    if part.type == VOID:
        return null(type_)
    if isinstance(operand, Value):
        return typer.cast_column(operand, type_)
    if holds_the_same(part.type, type_):
        return Typed(part.expression, type_)
    if part.type.family in NUMBERS and type_.family in NUMBERS:
        return typer.as_number(step, operand, type_)
    return part


def holds_the_same(own: ValueType, type_: ValueType) -> bool:
    """Whether values of one type are the same to Python as values of another."""
    if own in (type_, VOID) or own.family is type_.family is Family.INTEGER:
        return True
    alike_in_form = own.family is type_.family and own.family in NESTED
    return alike_in_form and all(map(holds_the_same, own.parts, type_.parts))
