"""Columns that the engine computes instead of Spark.

What may fail, where other rows tell whether it is asked, is computed then, not before the match:

    A.ok AND CAST(B.s AS INT) > A.x    on a row whose `s` is no number, after an A that is not ok

Spark computes a column for every row; it would fail there. Types tell what may fail at all, such as
sums of integers, but not of doubles.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.conditions.guards import is_total
from matchrec.conditions.residual import Combined, Lambda, Step, Value, values_in
from matchrec.conditions.types import DOUBLE, NUMBERS, TIMES, Family, ValueType
from matchrec.conditions.typing.numbers import Typed
from matchrec.conditions.typing.typer import Typer, constant_of
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.text import literal_text


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


SUMS = frozenset({"+", "-", "*", "NEG", "NEGATIVE", "ABS"})
QUOTIENTS = frozenset({"/", "%", "DIV", "MOD", "PMOD"})
PATTERNS = frozenset({"LIKE", "ILIKE", "RLIKE", "REGEXP", "REGEXP_LIKE"})
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
    if step.operator in PATTERNS:
        return not is_literal(typer, step.operands[1])
    return step.operator == "[]" or (step.operator.isidentifier() and not is_total(step.operator))


def is_literal(typer: Typer, step: Step) -> bool:
    """Whether it is a text that is written there."""
    if not isinstance(step, Value) or step.navigation or not step.column.looks_at_one_row:
        return False
    settings = typer.settings
    text = step.column.text
    return literal_text(text, settings.quotes, keeps_escapes=settings.keeps_escapes) is not None


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
