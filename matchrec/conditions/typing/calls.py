"""Types what Python computes: functions and aggregates become formulas over values of the run.

    levenshtein(name || '.', LAST(A.name))   →   LEVENSHTEIN(||(0, 1), 2) over three values

`parameters` brings arguments to what a function takes, as Spark does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.conditions.functions import functions
from matchrec.conditions.functions.formula import Apply, LambdaFunction
from matchrec.conditions.functions.function import Function, FunctionError, FunctionUse
from matchrec.conditions.functions.times.calendar import has_one_offset, is_known
from matchrec.conditions.operations import ArithmeticOperator
from matchrec.conditions.residual import BASIC, BITS, LOGIC, Combined, Lambda, Step, Value
from matchrec.conditions.run_condition import (
    Call,
    Choose,
    ReadValue,
    Reduce,
    RunExpression,
)
from matchrec.conditions.types import (
    NUMBERS,
    SPANS,
    TIMES,
    TIMESTAMP_NTZ,
    Family,
    Kind,
    ValueType,
    is_ranked,
    is_wide_decimal,
)
from matchrec.conditions.typing.arguments import Arguments
from matchrec.conditions.typing.nested import alike, overloaded
from matchrec.conditions.typing.numbers import Typed, on_times
from matchrec.conditions.typing.parameters import bring, check_literal
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import (
    cannot_combine,
    does_not_take,
    not_known_during_the_match,
    pattern_not_read,
    unknown_time_zone,
)
from matchrec.plan.text import literal_text

NEVER_PYTHONS = LOGIC | BITS | {"DIV"}
"""Basic operations of which the engine has all values."""


def is_pythons(typer: Typer, step: Combined) -> bool:
    """Whether Python computes an operation: nothing else can, or it alone has what it is of."""
    if step.operator in NEVER_PYTHONS:
        return False
    if step.operator not in BASIC:
        return step.operator in functions()
    return any(in_python(typer, part) for part in step.operands) or needs_values(typer, step)


def needs_values(typer: Typer, step: Combined) -> bool:
    """Whether it is of numbers of which the engine knows some by their rank, and needs more.

    Ranks of one type compare; columns of two types are brought to one by Spark.
    """
    numbers = [one for one in step.operands if typer.type_of(one).family in NUMBERS]
    ranked = [has_rank(typer, one) for one in numbers]
    if not any(ranked) or step.operator == "NEG":
        return any(ranked)
    of_one_type = all(ranked) and len({typer.type_of(one) for one in numbers}) == 1
    return not of_one_type and not all(isinstance(one, Value) for one in numbers)


def has_rank(typer: Typer, step: Step) -> bool:
    """Whether the engine knows of a decimal its rank; computed ones have their digits."""
    typed = typer.draft.type_step(step)
    return is_wide_decimal(typed.type) and is_rank(typed.expression, typer.draft)


def is_rank(expression: RunExpression, typer: Typer) -> bool:
    match expression:
        case ReadValue(column=int(column), kind=Kind.INTEGER) | Reduce(column=int(column)):
            return column in typer.columns.ranks
        case Choose(_, then, otherwise):
            return is_rank(then, typer) or is_rank(otherwise, typer)
        case _:
            return False


def in_python(typer: Typer, step: Step) -> bool:
    """Whether only Python has the value of a step."""
    typed = typer.draft.type_step(step)
    return isinstance(typed.expression, Call) and is_ranked(typed.type)


def type_call(typer: Typer, step: Combined) -> Typed:
    """A function that Python computes."""
    from matchrec.conditions.functions.casts import CASTS
    from matchrec.conditions.functions.lambdas import TWO_VALUED

    if step.operator == "TO_TIMESTAMP" and typer.settings.timestamp_type == TIMESTAMP_NTZ.name:
        return type_call(typer, replace(step, operator="CAST", words=("TIMESTAMP",)))
    name = overloaded(typer, step)
    function = functions()[name]
    parts: list[Typed] = []
    for place, part in enumerate(step.operands):
        if isinstance(part, Lambda):
            parts.append(type_lambda(typer, step, function, part, [one.type for one in parts]))
        else:
            parts.append(bring(typer, step, part, function.parameter(place)))
    parts = alike(typer, step, name, parts)
    words = step.words
    if name in CASTS:
        words = tuple(meant_type(typer, word) for word in words)
    if name == "EXISTS" and typer.settings.two_valued_exists:
        words = (TWO_VALUED,)
    use = FunctionUse(tuple(one.type for one in parts), words, typer.ansi, typer.settings.time_zone)
    if not function.takes(len(parts)):
        raise not_known_during_the_match(step.operator, step.span)
    type_ = function.result(use)
    if type_ is None:
        names = [one.type.name for one in parts]
        if len(names) == 1:
            raise does_not_take(step.operator, names[0], step.words, step.span)
        raise cannot_combine(step.operator, ", ".join(names[:-1]), names[-1], step.span)
    check_zone(typer, step, (*use.types, type_))
    check_pattern(typer, step)
    check_literal(typer, step)
    arguments = Arguments()
    if name == "IF":  # what is not chosen is not computed
        formulas = tuple(arguments.within(part.expression, part.type) for part in parts)
    else:
        formulas = tuple(map(arguments.add, parts))
    return arguments.call(Apply(name, formulas, use, type_))


def type_lambda(
    typer: Typer, step: Combined, function: Function, part: Lambda, before: Sequence[ValueType]
) -> Typed:
    """A lambda function after arguments of such types; its type is that of its body."""
    from matchrec.conditions.functions.lambdas import PLACE_MAY_BE_ASKED

    known: Sequence[ValueType] = ()
    if function.variables is not None and len(before) + 1 >= max(function.least or 0, 2):
        known = function.variables(before)
    least = len(known) - (step.operator in PLACE_MAY_BE_ASKED)
    if not least <= len(part.variables) <= len(known) or not known:
        raise not_known_during_the_match(step.operator, step.span)
    typer.bound.update(zip(part.variables, known, strict=False))
    body = typer.type_step(part.body)
    arguments = Arguments()
    found = arguments.within(body.expression, body.type)
    return arguments.call(LambdaFunction(part.variables, found, body.type))


def meant_type(typer: Typer, word: str) -> str:
    """What TIMESTAMP means in the session; any other word is itself."""
    without_zone = typer.settings.timestamp_type == "timestamp_ntz"
    return "TIMESTAMP_NTZ" if word == "TIMESTAMP" and without_zone else word


def check_zone(typer: Typer, step: Combined, types: tuple[ValueType, ...]) -> None:
    """Raises where local times of instants are asked for that Python does not know."""
    name = typer.settings.time_zone
    if any(one.family is Family.TIMESTAMP for one in types) and not is_known(name):
        raise unknown_time_zone(step.operator, name, step.span)


def check_pattern(typer: Typer, step: Combined) -> None:
    """Raises for a regular expression, known now, that is refused."""
    from matchrec.conditions.functions.texts.patterns import PATTERNS, known_pattern

    pattern = step.operands[1] if step.operator in PATTERNS else None
    if not isinstance(pattern, Value) or pattern.navigation or not pattern.column.looks_at_one_row:
        return
    settings = typer.settings
    text = literal_text(pattern.column.text, settings.quotes, keeps_escapes=settings.keeps_escapes)
    try:
        known_pattern(text or "")
    except FunctionError as error:
        raise pattern_not_read(step.operator, str(error), pattern.span) from error


def is_along_calendar(one: ValueType, other: ValueType, time_zone: str) -> bool:
    """Whether what is between two instants, or an interval from one, is counted in local time."""
    families = {one.family, other.family}
    of_instants = Family.TIMESTAMP in families and families <= {Family.TIMESTAMP, Family.INTERVAL}
    return of_instants and not has_one_offset(time_zone)


def type_along_calendar(typer: Typer, step: Combined) -> Typed:
    """Two columns are cast to local times by Spark; anything else is Python's."""
    left, right = step.operands
    both = {typer.type_of(left).family, typer.type_of(right).family} == {Family.TIMESTAMP}
    if step.operator == "-" and both and isinstance(left, Value) and isinstance(right, Value):
        local = (typer.cast_column(part, TIMESTAMP_NTZ) for part in step.operands)
        found = on_times(ArithmeticOperator.SUBTRACT, *local)
        assert found is not None
        return found
    return type_of_times(typer, step)


def type_of_times(typer: Typer, step: Combined) -> Typed:
    """Arithmetic of a time or an interval that Python computes."""
    parts = time_first(typer, step)
    use = FunctionUse(tuple(typer.type_of(part) for part in parts))
    name = f"TIME {step.operator}"
    function = functions().get(name)
    if function is None or function.result(use) is None:
        one, other = (typer.type_of(part).name for part in step.operands)
        raise cannot_combine(step.operator, one, other, step.span)
    return type_call(typer, replace(step, operator=name, operands=parts))


def time_first(typer: Typer, step: Combined) -> tuple[Step, ...]:
    """`3 * x` as `x * 3`, and an interval behind the time to which it is added."""
    left, right = step.operands
    one, other = typer.type_of(left).family, typer.type_of(right).family
    turns = one in NUMBERS or (one in SPANS and other in TIMES)
    return (right, left) if turns and step.operator in ("+", "*") else (left, right)
