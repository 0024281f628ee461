"""What may fail, where other rows tell whether it is asked: computed then, not before the match.

    A.ok AND CAST(B.s AS INT) > A.x    on a row whose `s` is no number, after an A that is not ok

Spark computes a column for every row; it would fail there. Types tell what may fail at all, such as
sums of integers, but not of doubles.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.conditions.guards import text_may_fail
from matchrec.conditions.residual import Combined, Lambda, Step, Value
from matchrec.conditions.types import NUMBERS, TIMES, Family, ValueType
from matchrec.conditions.typing.constants import constant_of
from matchrec.conditions.typing.numbers import Typed
from matchrec.conditions.typing.typer import Typer
from matchrec.errors import MatchRecognizeUnsupportedError

SUMS = frozenset({"+", "-", "*", "NEG", "NEGATIVE", "ABS"})
QUOTIENTS = frozenset({"/", "%", "DIV", "MOD", "PMOD"})
MOST_DIGITS = 38
OF_MAPS = frozenset({"[]", "ELEMENT_AT"})  # NULL without such a key


def type_late(typer: Typer, step: Value) -> Typed | None:
    """The value as the engine computes it; None where it cannot fail, or is Spark's alone."""
    if step.late is None or not typer.ansi:
        return None
    try:
        fails = any(may_fail(typer, one) for one in operations(step.late))
    except MatchRecognizeUnsupportedError:
        return None
    return typer.type_step(step.late) if fails else None


def operations(step: Step) -> Iterator[Combined]:
    """All that the engine would compute of a step."""
    if isinstance(step, Value) and step.late is not None:
        yield from operations(step.late)
    elif isinstance(step, Lambda):
        yield from operations(step.body)
    elif isinstance(step, Combined):
        yield step
        for operand in step.operands:
            yield from operations(operand)


def may_fail(typer: Typer, step: Combined) -> bool:
    """Whether an operation may have no result, by its types; its operands are not looked at."""
    type_ = typer.type_of(step)
    from matchrec.conditions.functions.casts import CASTS

    if step.operator in SUMS:
        return overflows(type_)
    if step.operator in QUOTIENTS:
        return overflows(type_) or not is_nonzero(typer, step.operands[1])
    if step.operator in OF_MAPS and typer.type_of(step.operands[0]).family is Family.MAP:
        return False
    if step.operator in CASTS:
        return cast_may_fail(typer.type_of(step.operands[0]), type_)
    return text_may_fail(step.operator)


def overflows(type_: ValueType) -> bool:
    """Whether sums of a type may have too many digits for it; those of times hardly have."""
    wide = type_.family is Family.DECIMAL and type_.precision == MOST_DIGITS
    return wide or type_.family is Family.INTEGER


def is_nonzero(typer: Typer, step: Step) -> bool:
    """Whether it is a number that is written there, and not zero."""
    found = constant_of(step, typer.type_of(step)) if isinstance(step, Value) else None
    return found is not None and getattr(found.expression, "value", None) != 0


def cast_may_fail(own: ValueType, target: ValueType) -> bool:
    """Whether a value of one type may have none of the other."""
    if own == target or target.family in (Family.STRING, Family.BINARY):
        return False
    if own.family in NUMBERS and target.family in NUMBERS:
        is_wider = own.family is target.family is Family.INTEGER and own.bits <= target.bits
        return not (is_wider or target.family is Family.FLOATING)
    return not {own.family, target.family} <= TIMES
