"""Decimals beside floating-point numbers: `price > 99.5`, where `price` is a DOUBLE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache

from pyspark.errors import PySparkException
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
    looks_at_columns_only,
    names_of,
    number_term,
    render,
    row_text,
    terms,
    with_operations,
)
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.remarks import COMPARISONS
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.session import SUBQUERY, Relation, quiet_analysis
from matchrec.spark.types import is_nested, parts_of

DISTINCTIONS = {"IS DISTINCT FROM", "IS NOT DISTINCT FROM", "EQUAL_NULL"}
COMPARED = COMPARISONS | DISTINCTIONS | {"BETWEEN", "IN"}
CHOICES = COMPARED_CHOICES | {"IF", "CASE"}
CHOSEN = frozenset({"COALESCE", "IFNULL", "NVL", "GREATEST", "LEAST", "NANVL"})
COMPUTED = frozenset({"+", "-", "*", "/", "%", "MOD", "PMOD", "NEG", "ABS"})

# Operators that are whole of whole numbers.
OF_THEIR_KIND = (COMPUTED - {"/"}) | CHOSEN | {"NULLIF", "NULLIFZERO"}


class Fractional(Enum):
    """What a number is that is no whole number."""

    FLOATING = "floating"
    DECIMAL = "decimal"


# Mathematical functions that are not floating of whole numbers.
WHOLE = frozenset({"FLOOR", "CEIL", "CEILING", "ISNAN", "ROUND"})

# A number with an exponent or the letter of a DOUBLE or FLOAT: 0.5D, 2f, 1e3.
FLOATING_LITERAL = re.compile(r"(?ai)(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+[df]?|[df])")

# What stands in a text in which a decimal, or a fraction that NULLIF compares, may be.
FRACTION = re.compile(r"\d[.bdfe]|\.\d|DEC|NUMERIC|NULLIF", re.ASCII | re.IGNORECASE)

DECIMAL_LITERAL = re.compile(r"([\d.]+)(?:bd)?", re.ASCII | re.IGNORECASE)
NAMED = {
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), Fractional.FLOATING),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), Fractional.DECIMAL),
}

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

    def is_needed() -> bool:
        return compares_as_decimals(relation.runner.spark)

    columns = {one.name: one.dataType for one in relation.rows.schema.fields}
    fractional = [kind for kind in columns.values() if any(map(number_of, parts_of(kind)))]
    if not (fractional or any(map(has_fraction, plan.expressions))):
        return plan
    inner = any(map(is_nested, fractional))
    doubles = Doubles(
        lambda names: columns.get(find(names) or ""), typing_of(relation), is_needed, inner
    )
    return with_expressions(plan, lambda scalar, _: with_operations(scalar, doubles.written))


def has_fraction(scalar: Scalar) -> bool:
    """Whether an expression may have a fractional number in it, over columns that are none."""
    return any(
        FRACTION.search(piece) is not None
        if isinstance(piece, str)
        else isinstance(piece, Aggregate) and any(map(has_fraction, terms(piece)))
        for piece in scalar.pieces
    )


def typing_of(relation: Relation) -> Callable[[str], DataType | None]:
    """What tells the type of an expression over a relation; None of what is none."""

    def type_of(text: str) -> DataType | None:
        with quiet_analysis(), suppress(PySparkException):
            return relation.type_of(text)
        return None

    return cache(type_of)


def number_of(kind: DataType | None) -> Fractional | None:
    if isinstance(kind, DecimalType):
        return Fractional.DECIMAL
    return Fractional.FLOATING if isinstance(kind, DoubleType | FloatType) else None


@dataclass(frozen=True)
class Doubles:
    """Writes decimals as doubles.

    type_of_column: of a column, by its names. type_of: of SQL over one row. is_needed: whether the
    session does otherwise by itself. inner: whether a field may be fractional. The session is asked
    where it matters only.
    """

    type_of_column: Callable[[tuple[str, ...]], DataType | None]
    type_of: Callable[[str], DataType | None]
    is_needed: Callable[[], bool]
    inner: bool = False

    def written(self, operation: Operation) -> Operation:
        """The operation, in which no decimal is brought together with a floating-point number."""
        match operation:
            case Operation("NULLIF", (first, second)):
                return self.null_where(first, second, operation)
            case Operation("NULLIFZERO", (first,)):
                return self.null_where(first, number_term(0, first.span), operation)
        decimals: set[int] = set()
        for group in self.together(operation):
            numbers = self.numbers(group)
            if {*Fractional} <= {*numbers}:
                found = zip(group, numbers, strict=True)
                decimals |= {id(one) for one, number in found if number is Fractional.DECIMAL}
        if not decimals or not self.is_needed():
            return operation
        return operation.of_operands(lambda one: as_double(one) if id(one) in decimals else one)

    def null_where(self, first: Scalar, second: Scalar, operation: Operation) -> Operation:
        """`NULLIF(a, b)` as `IF((a) = (b), NULL, a)`, which is what it means."""
        if not any(map(self.found, (first, second))) or not self.is_needed():
            return operation
        span = operation.span
        equal = Operation("=", ("(", first, ") = (", second, ")"), span)
        parts = "IF(", self.written(equal), ", ", literal("NULL", span), ", ", first, ")"
        return Operation("IF", parts, span)

    def together(self, operation: Operation) -> Iterator[tuple[Scalar, ...]]:
        """The operands that are compared or computed with each other, or of which it is one."""
        operator = operation.operator
        if operator in COMPARED | CHOSEN | COMPUTED:
            yield operation.operands
        if operator == "NVL2":
            yield operation.operands[1:]
        if operator in COMPARED_CHOICES:
            yield branches(operation)[0]
        if operator in CHOICES:
            yield branches(operation)[1]

    def numbers(self, group: Sequence[Scalar]) -> tuple[Fractional | None, ...]:
        """What the values are that are brought together."""
        told = tuple(map(self.number, group))
        return tuple(map(self.found, group)) if self.inner or any(told) else told

    def found(self, scalar: Scalar) -> Fractional | None:
        """What an expression is, by its text, or else as the session says."""
        told = self.number(scalar)
        if told is not None or self.is_whole(scalar) or not looks_at_columns_only(scalar):
            return told
        if not self.is_needed():
            return None
        return number_of(self.type_of(row_text(scalar)))

    def is_whole(self, scalar: Scalar) -> bool:
        """Whether the text and the columns tell that it is no fractional number."""
        match scalar:
            case Operation(operator, operands) if operator in OF_THEIR_KIND:
                return all(map(self.is_whole, operands))
            case Operation():
                return False
            case Term() if scalar.references:
                column = self.type_of_column(names_of(scalar))
                return column is not None and number_of(column) is None
        text = render(scalar, str)
        return number_of_text(text) is None and not SUBQUERY.search(text)

    def number(self, scalar: Scalar) -> Fractional | None:
        """What an expression is, as far as its text and its columns tell."""
        match scalar:
            case Operation("CAST" | "TRY_CAST", _):
                return NAMED.get(scalar.words[0].partition("(")[0]) if scalar.words else None
            case Operation("/", operands):
                return self.quotient(operands)
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
                found = self.found(argument) if function in ALIKE else None
                return Fractional.FLOATING if is_average and found is None else found
            case Term() if scalar.references:
                return number_of(self.type_of_column(names_of(scalar)))
        return number_of_text(render(scalar, str))

    def quotient(self, operands: Sequence[Scalar]) -> Fractional:
        """What a quotient is: floating, but for decimals and whole numbers."""
        found = {*map(self.found, operands)}
        is_decimal = Fractional.DECIMAL in found and Fractional.FLOATING not in found
        return Fractional.DECIMAL if is_decimal else Fractional.FLOATING

    def common(self, scalars: Iterable[Scalar]) -> Fractional | None:
        """What some numbers are together: floating, if one of them is."""
        numbers = {*map(self.number, scalars)}
        return next((one for one in Fractional if one in numbers), None)


def as_double(decimal: Scalar) -> Scalar:
    if isinstance(decimal, Term) and not decimal.references:
        text = render(decimal, str)
        if number_of_text(text) is not None:
            return replace(decimal, pieces=(DECIMAL_LITERAL.sub(r"\1D", text),))
    return Operation("CAST", ("CAST(", decimal, " AS DOUBLE)"), decimal.span, words=("DOUBLE",))


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
