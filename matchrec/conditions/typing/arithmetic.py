"""Types arithmetic: `numbers` has what is compiled, `calls` leaves the rest to Python."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from math import nan

from matchrec.conditions.residual import COMPARISONS, Typed, TypedOperation
from matchrec.conditions.run_condition import (
    WHOLE,
    Apply,
    Arithmetic,
    ArithmeticOperator,
    Basic,
    Call,
    Comparison,
    Constant,
    MathFunction,
    Operate,
    RunExpression,
    operate,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NUMBERS,
    Family,
    Kind,
    ValueType,
    as_decimal,
    common_type,
    decimal,
    is_wide_decimal,
)
from matchrec.conditions.typing import calls
from matchrec.conditions.typing.numbers import (
    compute,
    compute_days,
    integer_arithmetic,
    negate,
    widen_clamped,
)
from matchrec.conditions.typing.typer import Typer, are_columns, are_different_times
from matchrec.errors.conditions import (
    aggregate_cannot_take,
    cannot_combine,
    not_known_during_the_match,
)

# Functions that are NULL where the operator would be an error.
TRYING = {
    "TRY_ADD": "+",
    "TRY_SUBTRACT": "-",
    "TRY_MULTIPLY": "*",
    "TRY_DIVIDE": "/",
    "TRY_MOD": "%",
}

# What Spark brings to one type, also more than two operands, before it computes.
OF_ONE_TYPE = frozenset({"COALESCE", "GREATEST", "LEAST", "IN", "CASE"})

# What is one of its operands, or compares them.
CHOOSING = OF_ONE_TYPE | {"IF", "IFNULL", "NVL", "NVL2"}


def type_arithmetic(typer: Typer, step: TypedOperation) -> Typed:
    if step.operator == "DIV":
        return type_quotient(typer, step)
    if step.operator == "NEG":
        value = step.operands[0]
        if value.type.family not in NUMBERS | {Family.INTERVAL}:
            raise aggregate_cannot_take("-", [value.type.name], step.span)
        return negate(value, typer.ansi)
    if step.operator == "DATEDIFF":
        if not are_columns(*step.operands):
            return calls.type_call(typer, step)
        days = (typer.cast_column(part, DATE) for part in step.operands)
        return Typed(compute_days(ArithmeticOperator.SUBTRACT, *days), INT)
    left, right = step.operands
    one, other = left.type, right.type
    if one.family in NUMBERS and other.family in NUMBERS:
        return type_of_numbers(typer, step, left, right)
    if step.operator == "-" and are_different_times(one, other):
        times = typer.unify_times(step, left, right)
        return type_arithmetic(typer, replace(step, operands=times))
    return calls.type_of_times(typer, step)


def type_of_numbers(typer: Typer, step: TypedOperation, left: Typed, right: Typed) -> Typed:
    one, other = left.type, right.type
    operator = ArithmeticOperator(step.operator)
    families = {one.family, other.family}
    too_wide = is_wide_decimal(one) or is_wide_decimal(other)
    if is_on_decimals(one, other) and (operator is ArithmeticOperator.DIVIDE or too_wide):
        return calls.type_call(typer, step)
    if operator is ArithmeticOperator.DIVIDE:
        values = typer.convert_number(step, left, DOUBLE), typer.convert_number(step, right, DOUBLE)
    elif operator is ArithmeticOperator.MULTIPLY and Family.FLOATING not in families:
        values = typer.convert_number(step, left, one), typer.convert_number(step, right, other)
    else:
        common = common_type(one, other, typer.ansi) or one
        values = typer.convert_number(step, left, common), typer.convert_number(step, right, common)
    found = compute(operator, values[0], values[1], typer.ansi)
    if found is None:
        raise cannot_combine(step.operator, one.name, other.name, step.span)
    return found


def is_on_decimals(one: ValueType, other: ValueType) -> bool:
    """Whether arithmetic of two numbers has a decimal, or a quotient of decimals."""
    families = {one.family, other.family}
    return Family.DECIMAL in families and Family.FLOATING not in families


def type_trying(typer: Typer, step: TypedOperation) -> Typed:
    """An operation on numbers that is NULL where it has no result."""
    one, other = (part.type for part in step.operands)
    if not {one.family, other.family} <= NUMBERS:
        raise cannot_combine(step.operator, one.name, other.name, step.span)
    basic = replace(step, operator=TRYING[step.operator])
    # What does not fit an int64 is no error here, and may be a decimal.
    is_call = is_on_decimals(one, other)
    found = calls.type_call(typer, basic) if is_call else typer.type_operation(basic)
    return Typed(trying(found.expression), found.type)


def trying(expression: RunExpression) -> RunExpression:
    match expression:
        case Arithmetic():
            return replace(expression, tries=True)
        case Operate(Basic.NARROW, (value,)):
            return operate(Basic.NARROW, trying(value))
        case Apply(use=use):
            return replace(expression, use=replace(use, ansi=False))
        case _:
            raise AssertionError(expression)


def unify_compared(typer: Typer, step: TypedOperation) -> tuple[Typed, Typed]:
    """The operands of a comparison as one type, an integer beside a decimal within an int64."""
    left, right = step.operands
    one, other = left.type, right.type
    is_one_of_each = {one.family, other.family} == {Family.INTEGER, Family.DECIMAL}
    is_narrow = not (is_wide_decimal(one) or is_wide_decimal(other))
    common = common_type(one, other, typer.ansi) if is_one_of_each and is_narrow else None
    if common is None or not is_wide_decimal(common) or are_columns(left, right):
        return typer.unify(step, left, right)

    def typed(part: Typed) -> Typed:
        if part.type.family is Family.INTEGER:
            return widen_clamped(part, common)
        return typer.convert_number(step, part, common)

    return typed(left), typed(right)


def limit_to_38_digits(typer: Typer, step: TypedOperation) -> TypedOperation:
    """The step with decimals rounded where Spark has no 38 digits for all of theirs.

    It cuts them after the point, to compare them or to choose one: 3.33 = 3 of a DECIMAL(38, 0) is
    true. A whole number that is written has its own digits where it is compared.
    Source: Spark's DecimalType.boundedPreferIntegralDigits, from version 4.0 on.
    """
    written = step.operator in COMPARISONS
    if not (written or step.operator in CHOOSING) or not typer.settings.cuts_decimals:
        return step
    types = {
        written_type(part) if written else part.type
        for part in step.operands
        if part.type.family in NUMBERS
    }
    if not any(map(is_wide_decimal, types)) or Family.FLOATING in {one.family for one in types}:
        return step
    whole = max(as_decimal(type_).precision - type_.scale for type_ in types)
    if whole + max(type_.scale for type_ in types) <= 38:
        return step
    word = decimal(38, 38 - whole).name.upper()

    def rounded(part: Typed) -> Typed:
        if part.type.family not in NUMBERS:
            return part
        return typer.type_operation(TypedOperation("CAST", (part,), step.span, (word,)))

    return replace(step, operands=tuple(map(rounded, step.operands)))


def written_type(part: Typed) -> ValueType:
    """The type of a number, of a whole one that is written the decimal that just holds it.

    Source: Spark's DecimalPrecision, integral literals.
    """
    match part.expression:
        case Constant(int(value)) if part.type.family is Family.INTEGER:
            return decimal(len(str(abs(value))), 0)
    return part.type


def unify_with_floats(typer: Typer, step: TypedOperation) -> TypedOperation:
    """Numbers of which some are floats, that Spark brings to one type, as values of it.

    9007199254740993 IN (0.5, 9007199254740992) is true. Without `ansi` IN compares numbers and
    texts as texts, which is an error.
    """
    if step.operator not in OF_ONE_TYPE:
        return step
    types = [part.type for part in step.operands]
    numbers = [type_ for type_ in types if type_.family in NUMBERS]
    texts = [type_ for type_ in types if type_.family is Family.STRING]
    if step.operator == "IN" and numbers and texts and not typer.ansi:
        raise cannot_combine(step.operator, types[0].name, (numbers + texts)[0].name, step.span)
    floats = [type_ for type_ in numbers if type_.family is Family.FLOATING]
    if not floats:
        return step
    target = reduce(lambda a, b: common_type(a, b, typer.ansi) or DOUBLE, numbers, floats[0])
    parts = (
        as_float(typer, step, part, target) if part.type.family in NUMBERS else part
        for part in step.operands
    )
    return replace(step, operands=tuple(parts))


# Types mathematical functions of several rows of a run: round, floor, ln, sqrt, power and so on.
#
# Floats and the rounding of narrow decimals are compiled; the rest Python computes, also ROUND of a
# float near the middle between two.

MATHEMATICS = {function.value: function for function in MathFunction} | {
    "POW": MathFunction.POWER,
    "CEILING": MathFunction.CEILING,
    "SIGNUM": MathFunction.SIGN,
}
MATHEMATICAL = MATHEMATICS.keys() | {"ISNAN", "ROUND"}  # of numbers, or made of texts
TWO = frozenset({MathFunction.POWER, MathFunction.LOG})
MOST_PLACES = 18


def type_mathematics(typer: Typer, step: TypedOperation) -> Typed:
    if step.operator == "ROUND":
        return type_rounding(typer, step)
    function = MATHEMATICS.get(step.operator)
    if function is MathFunction.LOG and len(step.operands) == 1:
        function = MathFunction.LN
    if len(step.operands) != (2 if function in TWO else 1):
        raise not_known_during_the_match(step.span, what=step.operator)
    family = step.operands[0].type.family
    if function in WHOLE and family is Family.INTEGER:
        return Typed(step.operands[0].expression, BIGINT)
    if function in WHOLE and family is Family.DECIMAL:
        return calls.type_call(typer, replace(step, operator=function.value))
    arguments = tuple(as_float(typer, step, part).expression for part in step.operands)
    if function is not None:
        return Typed(Operate(function, arguments), BIGINT if function in WHOLE else DOUBLE)
    is_nan = operate(Comparison.EQUAL, *arguments, Constant(nan, Kind.FLOATING))
    is_there = operate(Basic.NOT, operate(Basic.IS_NULL, *arguments))  # NULL is a number to ISNAN
    return Typed(operate(Basic.AND, is_there, is_nan), BOOLEAN)


def as_float(typer: Typer, step: TypedOperation, part: Typed, target: ValueType = DOUBLE) -> Typed:
    own = part.type
    if own.family in NUMBERS and not is_wide_decimal(own):
        return typer.convert_number(step, part, target)
    return calls.as_argument(typer, step, part, target)


def type_rounding(typer: Typer, step: TypedOperation) -> Typed:
    part, places = step.operands[0], places_of(step)
    own = part.type
    if own.family is Family.INTEGER and places >= 0:
        return Typed(part.expression, own)
    if own.family is Family.DECIMAL and not is_wide_decimal(own) and places >= 0:
        left = min(own.scale, places)
        type_ = decimal(own.precision - own.scale + 1 + left, left)
        if left == own.scale:
            return Typed(part.expression, type_)
        unit = Constant(10 ** (own.scale - left), Kind.INTEGER)  # whole numbers round half away
        return Typed(integer_arithmetic(ArithmeticOperator.DIVIDE, part.expression, unit), type_)
    exact = calls.type_call(typer, replace(step, operands=(part,), words=(str(places),)))
    if own.family is not Family.FLOATING or isinstance(part.expression, Call):
        return exact
    value = as_float(typer, step, part).expression, Constant(float(places), Kind.FLOATING)
    quick = Operate(MathFunction.ROUND, value)
    quick = operate(Basic.NARROW, quick) if own == FLOAT else quick
    is_uncertain = operate(Basic.IS_NULL, quick)
    return Typed(operate(Basic.CHOOSE, is_uncertain, exact.expression, quick), own)


def places_of(step: TypedOperation) -> int:
    """The second argument of ROUND, a whole number that is written there."""
    if len(step.operands) == 1:
        return 0
    match step.operands[1:]:
        case (Typed(Constant(int() as places), type_),) if type_ == INT:
            if abs(places) <= MOST_PLACES:
                return places
    raise not_known_during_the_match(step.span, what=step.operator)


def type_quotient(typer: Typer, step: TypedOperation) -> Typed:
    """`a DIV b` of integers: a bigint, rounded towards zero."""
    left, right = (part.type for part in step.operands)
    if left.family is not Family.INTEGER or right.family is not Family.INTEGER:
        raise cannot_combine("DIV", left.name, right.name, step.span)
    one, other = (part.expression for part in step.operands)
    whole = partial(Arithmetic, kind=Kind.INTEGER, ansi=typer.ansi)
    rest = whole(ArithmeticOperator.REMAINDER, (one, other))
    exact = whole(ArithmeticOperator.SUBTRACT, (one, rest))
    return Typed(whole(ArithmeticOperator.DIVIDE, (exact, other)), BIGINT)
