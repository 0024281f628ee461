"""Decimals beside floating-point numbers: `price > 99.5`, where `price` is a DOUBLE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from pyspark.sql.types import DataType, DecimalType, DoubleType, FloatType

from matchrec.conditions.typing.arithmetic import MATHEMATICAL
from matchrec.plan.expression import (
    COMPARED_CHOICES,
    Aggregate,
    Operation,
    Scalar,
    Term,
    branches,
    literal,
    names_of,
    number_term,
    with_operations,
)
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.remarks import COMPARISONS
from matchrec.source import Span
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.session import Relation

COMPARED = COMPARISONS | {"BETWEEN", "IN"}
CHOICES = COMPARED_CHOICES | {"IF", "CASE"}
CHOSEN = frozenset({"COALESCE", "IFNULL", "NVL", "GREATEST", "LEAST"})
COMPUTED = frozenset({"+", "-", "*", "/", "%", "NEG", "ABS"})


class Fractional(Enum):
    """What a number is that is no whole number."""

    FLOATING = "floating"
    DECIMAL = "decimal"


# Mathematical functions that are not floating of whole numbers.
WHOLE = frozenset({"FLOOR", "CEIL", "CEILING", "ISNAN", "ROUND"})

# A number with an exponent or the letter of a DOUBLE or FLOAT: 0.5D, 2f, 1e3.
FLOATING_LITERAL = re.compile(
    r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+[df]?|[df])", re.ASCII | re.IGNORECASE
)

NAMED = {"DOUBLE": Fractional.FLOATING, "FLOAT": Fractional.FLOATING, "REAL": Fractional.FLOATING}

AVERAGES = frozenset({"avg", "mean"})  # aggregates that are floating of whole numbers

# Aggregates that are floating of floating numbers, and decimal of decimals.
ALIKE = AVERAGES | {"sum", "min", "max", "first", "last", "any_value", "first_value", "last_value"}


def with_doubles(
    plan: MatchPlan, relation: Relation, find: Callable[[tuple[str, ...]], str | None]
) -> MatchPlan:
    """The plan, in which decimals are doubles beside floating-point numbers.

    Spark makes them so by itself. Some sessions make decimals of both, of 15 digits after the
    point, to compare them: 0.1D + 0.2D equals 0.3 then, and NaN is an error; and of a FLOAT and a
    decimal they compute a FLOAT. There NULLIF is written as IF: it is of the type that is compared,
    and tells -0.0 from 0. find: the input's column of some names.
    """
    types = {one.name: number_of(one.dataType) for one in relation.rows.schema.fields}
    if not any(types.values()) or not compares_as_decimals(relation.runner.spark):
        return plan
    doubles = Doubles(lambda names: types.get(find(names) or ""))
    return with_expressions(plan, lambda scalar, _: with_operations(scalar, doubles.written))


def number_of(kind: DataType) -> Fractional | None:
    """What values of a type are."""
    if isinstance(kind, DecimalType):
        return Fractional.DECIMAL
    return Fractional.FLOATING if isinstance(kind, DoubleType | FloatType) else None


@dataclass(frozen=True)
class Doubles:
    """Writes decimals as doubles. of_column: what a column is, by its names."""

    of_column: Callable[[tuple[str, ...]], Fractional | None]

    def written(self, operation: Operation) -> Operation:
        """The operation, in which no decimal is brought together with a floating-point number."""
        match operation:
            case Operation("NULLIF", (first, second)):
                return self.null_where(first, second, operation.span)
            case Operation("NULLIFZERO", (first,)):
                return self.null_where(first, number_term(0, first.span), operation.span)
        every = self.together(operation)
        groups = [one for one in every if Fractional.FLOATING in map(self.number, one)]
        changed = {id(one) for group in groups for one in group}
        if not changed:
            return operation
        return operation.of_operands(lambda one: self.as_double(one) if id(one) in changed else one)

    def null_where(self, first: Scalar, second: Scalar, span: Span) -> Operation:
        """`NULLIF(a, b)` as `IF((a) = (b), NULL, a)`, which is what it means."""
        equal = Operation("=", ("(", first, ") = (", second, ")"), span)
        parts = "IF(", self.written(equal), ", ", literal("NULL", span), ", ", first, ")"
        return Operation("IF", parts, span)

    def together(self, operation: Operation) -> Iterator[tuple[Scalar, ...]]:
        """The operands that are compared or computed with each other, or of which it is one."""
        operator = operation.operator
        if operator in COMPARED | CHOSEN | COMPUTED:
            yield operation.operands
        if operator in COMPARED_CHOICES:
            yield branches(operation)[0]
        if operator in CHOICES:
            yield branches(operation)[1]

    def as_double(self, scalar: Scalar) -> Scalar:
        """A decimal as a DOUBLE, all else as it is."""
        if self.number(scalar) is not Fractional.DECIMAL:
            return scalar
        if isinstance(scalar, Term) and not scalar.references:
            return replace(scalar, pieces=("CAST(", *scalar.pieces, " AS DOUBLE)"))
        return Operation("CAST", ("CAST(", scalar, " AS DOUBLE)"), scalar.span, words=("DOUBLE",))

    def number(self, scalar: Scalar) -> Fractional | None:
        """What an expression is, as far as its text and its columns tell."""
        match scalar:
            case Operation("CAST", _):
                return NAMED.get(" ".join(scalar.words))
            case Operation(operator, operands) if operator in COMPUTED | CHOSEN:
                return self.common(operands)
            case Operation(operator) if operator in CHOICES:
                return self.common(branches(scalar)[1])
            case Operation("ROUND", (first, *_)):
                return self.number(first)
            case Operation(operator):
                is_floating = operator in MATHEMATICAL and operator not in WHOLE
                return Fractional.FLOATING if is_floating else None
            case Term((Aggregate(function, _, (argument, *_)),)):
                is_average = function in AVERAGES and names_of(argument) != ()
                found = self.number(argument) if function in ALIKE else None
                return Fractional.FLOATING if is_average and found is None else found
            case Term() if scalar.references:
                return self.of_column(names_of(scalar))
        return number_of_text("".join(map(str, scalar.pieces)))

    def common(self, scalars: Iterable[Scalar]) -> Fractional | None:
        """What some numbers are together: floating, if one of them is."""
        numbers = {*map(self.number, scalars)}
        return next((one for one in Fractional if one in numbers), None)


def number_of_text(text: str) -> Fractional | None:
    """What a literal is; None of a whole number and of what is no number.

    >>> [number_of_text(text) is Fractional.DECIMAL for text in ("(0.5)", "-.5", "5BD", "5")]
    [True, True, True, False]
    >>> [number_of_text(text) is Fractional.FLOATING for text in ("0.5D", "2f", "1e3", "5", "x1d")]
    [True, True, True, False, False]
    """
    number = text.strip("()+- ")
    if FLOATING_LITERAL.fullmatch(number):
        return Fractional.FLOATING
    digits = number.lower().removesuffix("bd")
    is_decimal = len(digits) < len(number) or "." in digits
    return Fractional.DECIMAL if is_decimal and digits.replace(".", "", 1).isdecimal() else None
