"""Types mathematical functions of several rows of a run: round, floor, ln, sqrt, power and so on.

Floats are computed by compiled functions. Rounding a decimal or an integer is arithmetic of whole
numbers; what that cannot do, such as rounding half to even, Python does.
"""

from __future__ import annotations

from functools import partial
from math import nan

from matchrec.conditions.functions.formula import Apply
from matchrec.conditions.functions.function import FunctionUse
from matchrec.conditions.operations import ArithmeticOperator, Comparison, MathFunction
from matchrec.conditions.residual import Combined, Step, Value
from matchrec.conditions.run_condition import (
    And,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Constant,
    IsNull,
    Mathematics,
    Narrow,
    Not,
    RunExpression,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    NUMBERS,
    Family,
    Kind,
    decimal,
    is_wide_decimal,
)
from matchrec.conditions.typing.arguments import Arguments
from matchrec.conditions.typing.numbers import Typed, integer_arithmetic
from matchrec.conditions.typing.parameters import bring
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import cannot_combine, not_known_during_the_match

MATHEMATICS = {one.value: one for one in MathFunction} | {
    "POW": MathFunction.POWER,
    "CEILING": MathFunction.CEILING,
    "SIGNUM": MathFunction.SIGN,
}
NAMES = MATHEMATICS.keys() | {"BROUND", "ISNAN"}
TWO = frozenset({MathFunction.POWER, MathFunction.LOG})
MOST_PLACES = 18


def is_mathematics(step: Combined) -> bool:
    """Whether an operation is a function of numbers that the engine has, or makes of texts."""
    return step.operator in NAMES


def type_mathematics(typer: Typer, step: Combined) -> Typed:
    """A function of numbers."""
    if step.operator in ("ROUND", "BROUND"):
        return type_rounding(typer, step)
    function = MATHEMATICS.get(step.operator)
    if function is MathFunction.LOG and len(step.operands) == 1:
        function = MathFunction.LN
    if len(step.operands) != (2 if function in TWO else 1):
        raise not_known_during_the_match(step.operator, step.span)
    if function is None:
        return type_isnan(typer, step)
    if function in (MathFunction.FLOOR, MathFunction.CEILING):
        return type_floor(typer, step, function)
    arguments = tuple(as_double(typer, step, part).expression for part in step.operands)
    return Typed(Mathematics(function, arguments), DOUBLE)


def type_isnan(typer: Typer, step: Combined) -> Typed:
    """ISNAN(x), which is false of NULL."""
    (part,) = step.operands
    value = as_double(typer, step, part).expression
    is_nan = Compare(Comparison.EQUAL, value, Constant(nan, Kind.FLOATING))
    return Typed(And((Not(IsNull(value)), is_nan)), BOOLEAN)


def as_double(typer: Typer, step: Combined, part: Step) -> Typed:
    """An argument as a float."""
    own = typer.type_of(part)
    if own.family in NUMBERS and not is_wide_decimal(own):
        return typer.as_number(step, part, DOUBLE)
    return bring(typer, step, part, DOUBLE)


def type_floor(typer: Typer, step: Combined, function: MathFunction) -> Typed:
    """FLOOR and CEIL: of a float a bigint, of a decimal one without places after the point."""
    (part,) = step.operands
    own = typer.type_of(part)
    if own.family is Family.INTEGER:
        return Typed(typer.type_step(part).expression, BIGINT)
    if is_wide_decimal(own):
        raise not_known_during_the_match(step.operator, step.span)
    if own.family is not Family.DECIMAL:
        return Typed(Mathematics(function, (as_double(typer, step, part).expression,)), BIGINT)
    digits = typer.type_step(part).expression
    type_ = decimal(own.precision - own.scale + 1, 0)
    if own.scale == 0:
        return Typed(digits, type_)
    one = Constant(10**own.scale, Kind.INTEGER)
    rest = integer_arithmetic(ArithmeticOperator.REMAINDER, digits, one)
    truncated = integer_arithmetic(ArithmeticOperator.SUBTRACT, digits, rest)
    down = function is MathFunction.FLOOR
    beyond = Compare(
        Comparison.LESS if down else Comparison.GREATER, rest, Constant(0, Kind.INTEGER)
    )
    further = ArithmeticOperator.SUBTRACT if down else ArithmeticOperator.ADD
    chosen = Choose(beyond, integer_arithmetic(further, truncated, one), truncated)
    return Typed(integer_arithmetic(ArithmeticOperator.DIVIDE, chosen, one), type_)


def type_rounding(typer: Typer, step: Combined) -> Typed:
    """ROUND(x) and ROUND(x, places), half away from zero; BROUND, half to even, of floats."""
    part = step.operands[0]
    own, places = typer.type_of(part), places_of(step)
    half_up = step.operator == "ROUND"
    if own.family is Family.DECIMAL and not is_wide_decimal(own) and half_up:
        return round_decimal(typer.type_step(part), places)
    if own.family is Family.INTEGER and half_up:
        value = typer.type_step(part)
        rounded = round_digits(value.expression, -places, own.bits, typer.ansi)
        return Typed(rounded, own)
    if own.family is not Family.FLOATING:
        raise not_known_during_the_match(step.operator, step.span)
    rounded = round_floating(typer, step, places)
    return Typed(Narrow(rounded) if own == FLOAT else rounded, own)


def round_floating(typer: Typer, step: Combined, places: int) -> RunExpression:
    """A float of fewer decimal places, in 64 bits."""
    value = as_double(typer, step, step.operands[0])
    use = FunctionUse((DOUBLE,), (str(places),), typer.ansi, typer.settings.time_zone)
    arguments = Arguments()
    exact = arguments.call(Apply(step.operator, (arguments.add(value),), use, DOUBLE)).expression
    if isinstance(value.expression, Call) or step.operator == "BROUND":
        return exact
    assert isinstance(exact, Call)
    by_places = value.expression, Constant(places, Kind.INTEGER)
    return Mathematics(MathFunction.ROUND, by_places, exact)


def places_of(step: Combined) -> int:
    """The second argument of ROUND, a whole number that is written there."""
    if len(step.operands) == 1:
        return 0
    written = step.operands[1] if len(step.operands) == 2 else None
    if isinstance(written, Value) and written.column.looks_at_one_row:
        text = written.column.text.replace(" ", "").strip("()")
        if text.removeprefix("-").isdigit() and abs(int(text)) <= MOST_PLACES:
            return int(text)
    raise not_known_during_the_match(step.operator, step.span)


def round_decimal(value: Typed, places: int) -> Typed:
    """A decimal of fewer places."""
    digits, scale = value.expression, value.type.scale
    before = value.type.precision - scale + 1
    if places < 0:
        rounded = round_digits(digits, scale - places)
        return Typed(shortened(rounded, scale), decimal(max(before, 1 - places), 0))
    left = min(scale, places)
    return Typed(shortened(digits, scale - left), decimal(before + left, left))


def round_digits(
    digits: RunExpression, dropped: int, bits: int = 64, ansi: bool = True
) -> RunExpression:
    """A whole number with its last digits zero, if some are dropped."""
    if dropped <= 0:
        return digits
    if dropped > MOST_PLACES:
        return integer_arithmetic(ArithmeticOperator.MULTIPLY, digits, Constant(0, Kind.INTEGER))
    power = Constant(10**dropped, Kind.INTEGER)
    multiply = ArithmeticOperator.MULTIPLY
    return Arithmetic(multiply, shortened(digits, dropped), power, Kind.INTEGER, bits, ansi)


def shortened(digits: RunExpression, dropped: int) -> RunExpression:
    """A whole number without its last digits, rounded half away from zero."""
    if dropped == 0:
        return digits
    power = Constant(10**dropped, Kind.INTEGER)
    return integer_arithmetic(ArithmeticOperator.DIVIDE, digits, power)


def type_quotient(typer: Typer, step: Combined) -> Typed:
    """`a DIV b` of integers: a bigint, rounded towards zero."""
    left, right = (typer.type_of(part) for part in step.operands)
    if left.family is not Family.INTEGER or right.family is not Family.INTEGER:
        raise cannot_combine("DIV", left.name, right.name, step.span)
    one, other = (typer.type_step(part).expression for part in step.operands)
    whole = partial(Arithmetic, kind=Kind.INTEGER, ansi=typer.ansi)
    exact = whole(ArithmeticOperator.SUBTRACT, one, whole(ArithmeticOperator.REMAINDER, one, other))
    return Typed(whole(ArithmeticOperator.DIVIDE, exact, other), BIGINT)
