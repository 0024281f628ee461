"""Types what Python computes: functions and aggregates become formulas over values of the run.

    levenshtein(name || '.', LAST(A.name))   →   LEVENSHTEIN(||(0, 1), 2) over three values

Arguments are brought to what a function takes, as Spark does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from matchrec.conditions.functions import functions
from matchrec.conditions.functions.calendar import has_one_offset, is_known
from matchrec.conditions.functions.function import (
    Apply,
    Argument,
    Calculated,
    Formula,
    Function,
    FunctionError,
    FunctionUse,
    LambdaFunction,
    Parameter,
    with_arguments,
)
from matchrec.conditions.residual import (
    BASIC,
    BITS,
    COMPARISONS,
    LOGIC,
    Combined,
    Lambda,
    Step,
    Value,
)
from matchrec.conditions.run_condition import (
    ArithmeticOperator,
    Call,
    Choose,
    Collect,
    Constant,
    ReadValue,
    Reduce,
    RunExpression,
    kind_of,
    operands_of,
    with_operands,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    NESTED,
    NUMBERS,
    SPANS,
    STRING,
    TIMES,
    TIMESTAMP_NTZ,
    VOID,
    Family,
    Kind,
    ValueType,
    array,
    is_ranked,
    is_wide_decimal,
    map_of,
    unnamed,
)
from matchrec.conditions.typing.numbers import Typed, common_nested, on_times, widen
from matchrec.conditions.typing.typer import Typer, cast_may_fail, null
from matchrec.dataclass import dataclass
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
    from matchrec.conditions.functions.nested import TWO_VALUED

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
    from matchrec.conditions.functions.nested import PLACE_MAY_BE_ASKED

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
    from matchrec.conditions.functions.texts import OF_PATTERNS, known_pattern

    pattern = step.operands[1] if step.operator in OF_PATTERNS else None
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


# Arguments as functions take them: what Spark casts implicitly is cast here, and nowhere else.
#
# left(A.s, B.l)     left(A.s, CAST(B.l AS INT)): without ANSI 4294967297 is 1, under ANSI an error
#
# What a function takes is its signature, the `parameters` in `functions`. Source: Spark's rules of
# implicit casts, `TypeCoercion.implicitCast`; the tests ask Spark which types it takes.


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


# Brings nested values and their elements to one type, as Spark does before it computes.
#
# array_contains(A.tags, B.name)     collect_list(A.i) = B.longs     A.prices[B.item]


OF_AN_ELEMENT = frozenset({"ARRAY_CONTAINS", "ARRAY_POSITION"})
OF_A_KEY = frozenset({"MAP []", "MAP ELEMENT_AT", "MAP TRY_ELEMENT_AT", "MAP_CONTAINS_KEY"})
BROUGHT_TO_ONE = COMPARISONS | frozenset(
    {"ARRAY", "ARRAY_UNION", "ARRAY_INTERSECT", "ARRAYS_OVERLAP", "ARRAY CONCAT", "ARRAY ||"}
)


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
    if name not in BROUGHT_TO_ONE | {"IF"}:
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


# The arguments of a formula: what the engine computes of the run before it asks Python.


@dataclass(slots=True)
class Arguments:
    """The arguments of a formula, as they are found."""

    expressions: list[RunExpression | Collect] = field(default_factory=list)
    types: list[ValueType] = field(default_factory=list)

    def add(self, typed: Typed) -> Formula:
        """What stands for a value in the formula: a formula of its own is a part of it."""
        one = typed.expression
        if isinstance(one, Call):
            pairs = zip(one.arguments, one.types, strict=True)
            return with_arguments(one.formula, [self.new(*pair) for pair in pairs])
        return self.new(one, typed.type)

    def new(self, expression: RunExpression | Collect, type_: ValueType) -> Argument:
        """One more argument."""
        self.expressions.append(expression)
        self.types.append(type_)
        return Argument(len(self.expressions) - 1, type_)

    def within(self, expression: RunExpression | Collect, type_: ValueType) -> Formula:
        """What stands for a value in the body of a lambda function.

        It is computed when it is asked for, so the arguments are no more than what is read.
        """
        if isinstance(expression, Call):
            pairs = zip(expression.arguments, expression.types, strict=True)
            return with_arguments(expression.formula, [self.within(*pair) for pair in pairs])
        if isinstance(expression, Collect) or not operands_of(expression):
            return self.new(expression, type_)
        if isinstance(expression, Choose) and is_ranked(type_):  # of ranks, Python has the values
            return self.choice(expression, type_)
        parts: list[Formula] = []
        return Calculated(self.calculated(expression, parts), tuple(parts), type_)

    def choice(self, expression: Choose, type_: ValueType) -> Formula:
        """One of two values that an engine knows by their ranks."""
        types = (BOOLEAN, type_, type_)
        pairs = zip(operands_of(expression), types, strict=True)
        return Apply("IF", tuple(self.within(*pair) for pair in pairs), FunctionUse(types), type_)

    def calculated(self, expression: RunExpression, parts: list[Formula]) -> RunExpression:
        """The expression over parts, to which those that it needs are added."""
        if isinstance(expression, Constant):
            return expression
        operands = operands_of(expression)
        if not isinstance(expression, Call) and operands:
            new = [self.calculated(operand, parts) for operand in operands]
            return with_operands(expression, new)
        type_ = BIGINT if kind_of(expression) is Kind.INTEGER else DOUBLE
        if isinstance(expression, Call):
            type_ = expression.formula.type
        parts.append(self.within(expression, type_))
        return Call(Argument(len(parts) - 1, type_), (), ())

    def call(self, formula: Formula) -> Typed:
        """The value of a formula over these arguments."""
        return Typed(Call(formula, tuple(self.expressions), tuple(self.types)), formula.type)
