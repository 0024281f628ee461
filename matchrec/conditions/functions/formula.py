"""Formulas: functions over one another and over values of the run, which Python computes.

levenshtein(upper(name || '.'), LAST(A.name))
LEVENSHTEIN( UPPER( ||(argument 0, argument 1) ), argument 2 )

exists(A.xs, x -> x > B.y)
EXISTS( argument 0, x -> Calculated( argument 0 > argument 1, of x and argument 1 ) )
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matchrec.conditions.types import ValueType
from matchrec.dataclass import dataclass
from matchrec.plan.expression import LambdaVariable

if TYPE_CHECKING:
    from matchrec.conditions.accumulators.aggregate import AggregateUse
    from matchrec.conditions.functions.function import FunctionUse


@dataclass(frozen=True, slots=True)
class Argument:
    """A value of the run, by its number among the arguments of the whole formula."""

    number: int
    type: ValueType


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, by its name in the catalogue, of the values of other formulas."""

    name: str
    parts: tuple[Formula, ...]
    use: FunctionUse
    type: ValueType


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate, by its name in the catalogue, of a list, by its number among the arguments."""

    name: str
    number: int
    use: AggregateUse
    type: ValueType


@dataclass(frozen=True, slots=True)
class LambdaValue:
    """A variable of a lambda function around."""

    variable: LambdaVariable
    type: ValueType


@dataclass(frozen=True, slots=True)
class LambdaFunction:
    """A lambda function. type: of its body."""

    variables: tuple[LambdaVariable, ...]
    body: Formula
    type: ValueType


@dataclass(frozen=True, slots=True)
class Calculated:
    """What an engine would compute, in the body of a lambda function, where no engine does.

    expression: a `run_condition.RunExpression`; where it calls for an argument, by its number, it
    takes the value of that part.
    """

    expression: Any
    parts: tuple[Formula, ...]
    type: ValueType


Formula = Argument | Apply | Aggregated | LambdaValue | LambdaFunction | Calculated


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """What a formula is directly made of."""
    match formula:
        case Apply(parts=parts) | Calculated(parts=parts):
            return parts
        case LambdaFunction(body=body):
            return (body,)
        case _:
            return ()


def with_arguments(formula: Formula, arguments: Sequence[Formula]) -> Formula:
    """The formula with others in the places of its arguments; lists stay arguments."""
    match formula:
        case Argument(number):
            return arguments[number]
        case Aggregated(number=number):
            one = arguments[number]
            assert isinstance(one, Argument)
            return replace(formula, number=one.number)
        case Apply() | Calculated():
            return replace(
                formula, parts=tuple(with_arguments(part, arguments) for part in formula.parts)
            )
        case LambdaFunction():
            return replace(formula, body=with_arguments(formula.body, arguments))
        case LambdaValue():
            return formula


def names_of(formula: Formula) -> Iterator[str]:
    """The functions of a formula, outermost first."""
    if isinstance(formula, Aggregated | Apply):
        yield formula.name
    for part in parts_of(formula):
        yield from names_of(part)
