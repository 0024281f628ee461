"""Types what Python computes: functions over one another, and over values of the run.

    levenshtein(name || '.', LAST(A.name))   →   LEVENSHTEIN(||(name, '.'), name at A)

Arguments are brought to what a function takes, as Spark does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from matchrec.conditions.functions import functions
from matchrec.conditions.functions.calendar import has_one_offset, is_known
from matchrec.conditions.functions.function import FunctionUse, Parameter
from matchrec.conditions.residual import BASIC, COMPARISONS, LOGIC, Typed, TypedOperation
from matchrec.conditions.run_condition import (
    Apply,
    ArithmeticOperator,
    Basic,
    Call,
    Operate,
    ReadValue,
    Reduce,
    RunExpression,
)
from matchrec.conditions.types import (
    BOOLEAN,
    INT,
    INTERVAL,
    NESTED,
    NUMBERS,
    STRING,
    TIMESTAMP_NTZ,
    VOID,
    Family,
    ValueType,
    array,
    common_type,
    decimal,
    is_ranked,
    is_wide_decimal,
    unnamed,
)
from matchrec.conditions.typing.numbers import common_nested, compute_times, widen
from matchrec.conditions.typing.typer import Typer, are_columns, cast_may_fail, null
from matchrec.errors import conditions

# Basic operations that the engine does, whatever their values are.
NEVER_IN_PYTHON = LOGIC | {"DIV", "IF"}


def needs_python(typer: Typer, step: TypedOperation) -> bool:
    """Whether Python computes an operation: nothing else can, or it alone has what it is of."""
    if step.operator in NEVER_IN_PYTHON:
        return False
    if step.operator not in BASIC:
        return step.operator in functions()
    return any(map(in_python, step.operands)) or needs_values(typer, step)


def needs_values(typer: Typer, step: TypedOperation) -> bool:
    """Whether it is of numbers of which the engine knows some by their rank, and needs more.

    Ranks of one type compare; columns of two types are brought to one by Spark.
    """
    numbers = [operand for operand in step.operands if operand.type.family in NUMBERS]
    ranked = [is_wide_decimal(one.type) and is_rank(one.expression, typer) for one in numbers]
    if not any(ranked) or step.operator == "NEG":
        return any(ranked)
    of_one_type = all(ranked) and len({number.type for number in numbers}) == 1
    return not of_one_type and not are_columns(*numbers)


def is_rank(expression: RunExpression, typer: Typer) -> bool:
    """Whether the engine knows of a decimal its rank; computed ones have their digits."""
    reads = (one for one in choices(expression) if isinstance(one, ReadValue | Reduce))
    return any(typer.drafted[one.column].by_rank for one in reads if one.column is not None)


def in_python(part: Typed) -> bool:
    """Whether only Python has the value of a step, or may have it."""
    return is_ranked(part.type) and any(isinstance(one, Call) for one in choices(part.expression))


def choices(expression: RunExpression) -> Iterator[RunExpression]:
    """What an expression is one of: itself, or what conditions choose."""
    match expression:
        case Operate(Basic.CHOOSE, (_, *values)):
            for value in values:
                yield from choices(value)
        case _:
            yield expression


def type_chosen(typer: Typer, step: TypedOperation) -> tuple[Typed, Typed]:
    """The two values of IF as one type; what only Python has of it, Python computes."""
    _, then, otherwise = step.operands
    one, other = then.type, otherwise.type
    if not (in_python(then) or in_python(otherwise) or needs_values(typer, step)):
        return typer.unify(step, then, otherwise)
    if {one.family, other.family} <= NUMBERS:
        # decimals that have more than 38 digits together keep all places
        widest = decimal(one.precision + other.precision, max(one.scale, other.scale))
        type_ = common_type(one, other, typer.ansi) or widest
    else:
        then, otherwise = typer.unify(step, then, otherwise)
        type_ = then.type
    return as_chosen(typer, step, then, type_), as_chosen(typer, step, otherwise, type_)


def as_chosen(typer: Typer, step: TypedOperation, part: Typed, type_: ValueType) -> Typed:
    """A value as one that Python may have: a rank, or what Python computes or makes of it."""
    known = in_python(part) or is_rank(part.expression, typer) or not is_ranked(type_)
    is_null = part.expression == null(type_).expression
    if part.type == type_ and (known or is_null):
        return part
    return cast_by_python(typer, step, part, type_)


def cast_by_python(typer: Typer, step: TypedOperation, part: Typed, target: ValueType) -> Typed:
    own = part.type
    use = FunctionUse((own,), (target.name.upper(),), typer.ansi, typer.settings.time_zone)
    if functions()["CAST"].result(use) is None:
        raise conditions.cannot_combine(step.operator, own.name, target.name, step.span)
    return Typed(Apply("CAST", (part.expression,), use, target), target)


def type_call(typer: Typer, step: TypedOperation) -> Typed:
    from matchrec.conditions.functions.casts import CASTS

    name = step.operator
    function = functions()[name]
    parts = [
        as_argument(typer, step, part, function.parameter(place))
        for place, part in enumerate(step.operands)
    ]
    parts = unify(typer, step, name, parts)
    words = step.words
    if name in CASTS and typer.settings.timestamp_type == "timestamp_ntz":
        words = tuple("TIMESTAMP_NTZ" if word == "TIMESTAMP" else word for word in words)
    use = FunctionUse(tuple(one.type for one in parts), words, typer.ansi, typer.settings.time_zone)
    if not function.takes(len(parts)):
        raise conditions.not_known_during_the_match(step.span, what=step.operator)
    type_ = function.result(use)
    if type_ is None:
        names = [part.type.name for part in parts]
        if len(names) == 1:
            value = f"{names[0]} as {step.words[0]}" if step.words else names[0]
            raise conditions.does_not_take(step.span, function=step.operator, value=value)
        raise conditions.cannot_combine(step.operator, ", ".join(names[:-1]), names[-1], step.span)
    zone, instants = typer.settings.time_zone, (*use.types, type_)
    if any(one.family is Family.TIMESTAMP for one in instants) and not is_known(zone):
        raise conditions.unknown_time_zone(step.span, function=name, name=zone)
    return Typed(Apply(name, tuple(part.expression for part in parts), use, type_), type_)


def type_of_times(typer: Typer, step: TypedOperation) -> Typed:
    """Arithmetic of a time or an interval.

    What is between two instants, or an interval from one, is counted in local time. Where clocks
    change, two columns are cast to local times by Spark; anything else is Python's.
    """
    one, other = parts = step.operands
    families = {one.type.family, other.type.family}
    of_instants = Family.TIMESTAMP in families and families <= {Family.TIMESTAMP, Family.INTERVAL}
    by_engine = not of_instants or has_one_offset(typer.settings.time_zone)
    is_distance = step.operator == "-" and families == {Family.TIMESTAMP}
    if not by_engine and is_distance and are_columns(one, other):
        by_engine = True
        parts = tuple(typer.cast_column(part, TIMESTAMP_NTZ) for part in parts)
    found = compute_times(ArithmeticOperator(step.operator), *parts) if by_engine else None
    if found is not None:
        return found
    is_turned = one.type == INTERVAL and step.operator == "+"
    parts = (other, one) if is_turned else step.operands
    use = FunctionUse(tuple(part.type for part in parts))
    name = f"TIME {step.operator}"
    function = functions().get(name)
    if function is None or function.result(use) is None:
        raise conditions.cannot_combine(step.operator, one.type.name, other.type.name, step.span)
    return type_call(typer, replace(step, operator=name, operands=parts))


# Arguments as functions take them: what Spark casts implicitly is cast here, and nowhere else.
#
# left(A.s, B.l)     left(A.s, CAST(B.l AS INT)): without ANSI 4294967297 is 1, under ANSI an error
#
# What a function takes is its signature, the `parameters` in `functions`. Source: Spark's rules of
# implicit casts, `TypeCoercion.implicitCast`; the tests ask Spark which types it takes.

OF_NUMBERS = NUMBERS | {Family.STRING}

# What Spark casts to a type of a family. Of binary values it has functions by the same names.
IMPLICIT: Mapping[Family, frozenset[Family]] = {
    Family.INTEGER: OF_NUMBERS,
    Family.FLOATING: OF_NUMBERS,
    Family.STRING: frozenset(Family) - NESTED - {Family.BINARY, Family.OTHER},
}

# What Spark casts NULL to where any type of a family is taken.
OF_NULL = {Family.BOOLEAN: BOOLEAN, Family.INTEGER: INT, Family.STRING: STRING}


def as_argument(typer: Typer, step: TypedOperation, part: Typed, parameter: Parameter) -> Typed:
    own = part.type
    if parameter is None:
        return part
    if isinstance(parameter, Family):
        if own == VOID and parameter in OF_NULL:
            return null(OF_NULL[parameter])
        if own.family is not parameter:
            raise conditions.does_not_take(step.span, function=step.operator, value=own.name)
        return part
    if own == VOID:
        return null(parameter)
    if own.family not in IMPLICIT[parameter.family]:
        raise conditions.does_not_take(step.span, function=step.operator, value=own.name)
    if own.family is parameter.family and own.bits <= parameter.bits:
        return part if own.family is Family.STRING else Typed(part.expression, parameter)
    if part.value is not None and not (typer.ansi and cast_may_fail(own, parameter)):
        return typer.cast_column(part, parameter)  # by Spark, which cannot fail on any row
    if parameter.family is Family.FLOATING and own.family in NUMBERS and not is_wide_decimal(own):
        return widen(part, parameter)
    return cast_by_python(typer, step, part, parameter)


# Brings nested values and their elements to one type, as Spark does before it computes.
#
# array_contains(A.tags, B.name)     collect_list(A.i) = B.longs

BROUGHT_TO_ONE = COMPARISONS | frozenset({"ARRAY_INTERSECT", "ARRAYS_OVERLAP"})


def unify(typer: Typer, step: TypedOperation, name: str, parts: Sequence[Typed]) -> list[Typed]:
    """The arguments of a function, those that Spark brings to one type as values of that type."""
    types, targets = [part.type for part in parts], list[ValueType]()
    if name == "ARRAY_CONTAINS" and types[0].element is not None:
        if (element := common_nested(types[0].element, types[1], typer.ansi)) is not None:
            targets = [array(element), element]
    elif name in BROUGHT_TO_ONE and any(type_.family in NESTED for type_ in types):
        common = common_nested(types[0], types[1], typer.ansi)
        is_compared = name in COMPARISONS and len(set(map(unnamed, types))) == 1
        if common is not None and not is_compared:
            targets = [common, common]
    if not targets:
        return list(parts)
    return [typer.convert(step, *one) for one in zip(parts, targets, strict=True)]
