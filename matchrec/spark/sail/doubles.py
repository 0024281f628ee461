"""Decimals beside floating-point numbers: `price > 99.5`, where `price` is a DOUBLE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.errors import PySparkException

from matchrec.conditions.types import Family, type_named
from matchrec.conditions.typing.arithmetic import MATHEMATICAL
from matchrec.plan import expression
from matchrec.plan.expression import Aggregate, Operation, Scalar, Term, branches, with_operations
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.remarks import COMPARISONS
from matchrec.spark.relation import Relation
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.session import SUBQUERY, quiet_analysis
from matchrec.spark.types import is_nested, parts_of, value_type

COMPARED = COMPARISONS | {"IS DISTINCT FROM", "IS NOT DISTINCT FROM", "EQUAL_NULL", "BETWEEN", "IN"}
CHOICES = expression.COMPARED_CHOICES | {"IF", "CASE"}
CHOSEN = frozenset({"COALESCE", "IFNULL", "NVL", "GREATEST", "LEAST", "NANVL"})
COMPUTED = frozenset({"+", "-", "*", "/", "%", "MOD", "PMOD", "NEG", "ABS"})

# Operators whose values are of the kind of their operands.
OF_THEIR_KIND = (COMPUTED - {"/"}) | CHOSEN | {"NULLIF", "NULLIFZERO"}

# Mathematical functions that are floating of whole numbers.
OF_FLOATING = MATHEMATICAL - {"FLOOR", "CEIL", "CEILING", "ISNAN", "ROUND"}

FRACTIONS = frozenset({Family.FLOATING, Family.DECIMAL})  # what a number is that is no whole number

# A number with an exponent or the letter of a DOUBLE or FLOAT: 0.5D, 2f, 1e3.
FLOATING_LITERAL = re.compile(r"(?ai)(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+[df]?|[df])")

# What stands in a text in which a decimal, or a fraction that NULLIF compares, may be.
FRACTION = re.compile(r"\d[.bdfe]|\.\d|DEC|NUMERIC|NULLIF", re.ASCII | re.IGNORECASE)

DECIMAL_LITERAL = re.compile(r"([\d.]+)(?:bd)?", re.ASCII | re.IGNORECASE)

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
    kinds = [one.dataType for one in relation.rows.schema.fields]
    fractional = [one for one in kinds if FRACTIONS & {value_type(p).family for p in parts_of(one)}]
    if not (fractional or any(map(has_fraction, plan.expressions))):
        return plan
    doubles = Doubles(relation, find, any(map(is_nested, fractional)))
    return with_expressions(plan, lambda scalar, _: with_operations(scalar, doubles.written))


def has_fraction(scalar: Scalar) -> bool:
    """Whether an expression may have a fractional number in it, over columns that are none."""
    return any(
        FRACTION.search(piece) is not None
        if isinstance(piece, str)
        else isinstance(piece, Aggregate) and any(map(has_fraction, expression.terms(piece)))
        for piece in scalar.pieces
    )


@dataclass(frozen=True)
class Doubles:
    """Writes decimals as doubles. find: as of `with_doubles`. inner: whether a field may be
    fractional. What an expression is, is a family, INTEGER of all that has no fraction; None where
    that is not known.
    """

    relation: Relation
    find: Callable[[tuple[str, ...]], str | None]
    inner: bool

    @cached_property
    def columns(self) -> dict[str, Family]:
        return {one.name: value_type(one.dataType).family for one in self.relation.rows.schema}

    @property
    def is_needed(self) -> bool:
        """Whether the session does otherwise by itself. It is asked where it matters only."""
        return compares_as_decimals(self.relation.runner.spark)

    def written(self, operation: Operation) -> Operation:
        """The operation, in which no decimal is brought together with a floating-point number."""
        match operation:
            case Operation("NULLIF", (first, second)):
                return self.null_where(first, second, operation)
            case Operation("NULLIFZERO", (first,)):
                return self.null_where(first, expression.number_term(0, first.span), operation)
        decimals: set[int] = set()
        for group in self.together(operation):
            numbers = [*map(self.number, group)]
            if self.inner or FRACTIONS.intersection(numbers):
                numbers = [*map(self.found, group)]
            if FRACTIONS.issubset(numbers):
                found = zip(group, numbers, strict=True)
                decimals |= {id(one) for one, number in found if number is Family.DECIMAL}
        if not decimals or not self.is_needed:
            return operation
        return operation.of_operands(lambda one: as_double(one) if id(one) in decimals else one)

    def null_where(self, first: Scalar, second: Scalar, operation: Operation) -> Operation:
        """`NULLIF(a, b)` as `IF((a) = (b), NULL, a)`, which is what it means."""
        if not (FRACTIONS.intersection(map(self.found, (first, second))) and self.is_needed):
            return operation
        span = operation.span
        equal = Operation("=", ("(", first, ") = (", second, ")"), span)
        parts = "IF(", self.written(equal), ", ", expression.literal("NULL", span), ", ", first, ")"
        return Operation("IF", parts, span)

    def together(self, operation: Operation) -> Iterator[tuple[Scalar, ...]]:
        """The operands that are compared or computed with each other, or of which it is one."""
        operator = operation.operator
        if operator in COMPARED | CHOSEN | COMPUTED:
            yield operation.operands
        if operator == "NVL2":
            yield operation.operands[1:]
        if operator in expression.COMPARED_CHOICES:
            yield branches(operation)[0]
        if operator in CHOICES:
            yield branches(operation)[1]

    def found(self, scalar: Scalar) -> Family | None:
        """What an expression is, by its text, or else as the session says."""
        told = self.number(scalar)
        if told is None and expression.looks_at_columns_only(scalar) and self.is_needed:
            with quiet_analysis(), suppress(PySparkException):  # of what is no expression alone
                return value_type(self.relation.type_of(expression.row_text(scalar))).family
        return told

    def number(self, scalar: Scalar) -> Family | None:
        """What an expression is, as far as its text and its columns tell."""
        match scalar:
            case Operation("CAST" | "TRY_CAST", _):
                target = type_named(scalar.words[0]) if scalar.words else None
                return None if target is None else target.family
            case Operation("/", operands):  # floating, but for decimals and whole numbers
                found = FRACTIONS.intersection(map(self.found, operands))
                return Family.DECIMAL if found == {Family.DECIMAL} else Family.FLOATING
            case Operation(operator, operands) if operator in OF_THEIR_KIND:
                return common(map(self.number, operands))
            case Operation(operator) if operator in CHOICES:
                return common(map(self.number, branches(scalar)[1]))
            case Operation("ROUND", (first, *_)):
                rounded = self.number(first)
                return rounded if rounded in FRACTIONS else None  # a text becomes a number
            case Operation(operator):
                return Family.FLOATING if operator in OF_FLOATING else None
            case Term((Aggregate(function, _, (argument, *_)),)):
                of_values = self.found(argument) if function in ALIKE else None
                is_average = function in AVERAGES and expression.names_of(argument) != ()
                is_known = of_values in FRACTIONS or not is_average
                return of_values if is_known else Family.FLOATING
            case Term() if scalar.references:
                return self.columns.get(self.find(expression.names_of(scalar)) or "")
        return number_of_text(expression.render(scalar, str))


def common(numbers: Iterable[Family | None]) -> Family | None:
    """What some numbers are together: floating, if one of them is, or else decimal."""
    known = {*numbers}
    order = Family.FLOATING, Family.DECIMAL, None
    return next((one for one in order if one in known), Family.INTEGER)


def as_double(decimal: Scalar) -> Scalar:
    if isinstance(decimal, Term) and not decimal.references:
        text = expression.render(decimal, str)
        if number_of_text(text) is Family.DECIMAL:
            return replace(decimal, pieces=(DECIMAL_LITERAL.sub(r"\1D", text),))
    return Operation("CAST", ("CAST(", decimal, " AS DOUBLE)"), decimal.span, words=("DOUBLE",))


def number_of_text(text: str) -> Family | None:
    """What a literal is; INTEGER also of what is no number, None of a subquery.

    >>> [number_of_text(text) is Family.DECIMAL for text in ("(0.5)", "-.5", "5BD", "5")]
    [True, True, True, False]
    >>> [number_of_text(text) is Family.FLOATING for text in ("0.5D", "2f", "1e3", "5", "x1d")]
    [True, True, True, False, False]
    """
    number = text.strip("()+- ")
    if FLOATING_LITERAL.fullmatch(number):
        return Family.FLOATING
    digits = number.lower().removesuffix("bd")
    if (len(digits) < len(number) or "." in digits) and digits.replace(".", "", 1).isdecimal():
        return Family.DECIMAL
    return None if SUBQUERY.search(text) else Family.INTEGER
