"""Write decimals as doubles if they are compared or computed with floating-point numbers.

    price > 99.5   →   price > 99.5D       if `price` is a DOUBLE or a FLOAT

Spark converts the decimals by itself. Sail may compare both numbers as decimals with 15 digits
after the point, so that 0.1D + 0.2D equals 0.3 and NaN is an error. Sail may also compute a FLOAT
from a FLOAT and a decimal. The steps of `correct_decimals`:

1. `has_fraction` and the types of the columns rule out most plans.
2. `DoubleWriter.write` gets each operation. `read_family` tells floating-point numbers and decimals
   apart by the text. If the text does not show it, `find_family` lets Sail analyse the expression.
3. If both are among the operands that must have one type, each decimal is written as a DOUBLE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.errors import PySparkException

from matchrec.conditions.types import Family, find_type
from matchrec.plan import build_expressions, expression
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import Aggregate, Operation, Scalar, Term, split_branches
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operators import (
    Coercion,
    OperatorKind,
    find_coercing_operators,
    find_operator_names,
)
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.relation import Relation
from matchrec.spark.runner import SUBQUERY_START
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.types import is_nested, iterate_types, to_value_type

# Operators that compare their operands with each other.
COMPARED = find_coercing_operators(Coercion.COMPARED)

# Operators that return the value of one of their branches, see `expression.split_branches`.
CHOICES = find_coercing_operators(Coercion.BRANCHES)

# Operators that return the value of one of their operands.
CHOSEN = find_coercing_operators(Coercion.CHOSEN)

# Operators that compute with their operands.
COMPUTED = find_coercing_operators(Coercion.COMPUTED)

# Operators whose value is floating-point, decimal or whole if all of their operands are.
FAMILY_OF_OPERANDS = (COMPUTED - {"/"}) | CHOSEN | {"NULLIF", "NULLIFZERO"}

# Mathematical functions whose value is floating even for whole numbers.
FLOATING_FUNCTIONS = find_operator_names(OperatorKind.MATHEMATICS) - {
    "FLOOR",
    "CEIL",
    "CEILING",
    "ISNAN",
    "ROUND",
}

# The families of numbers with a fraction.
FRACTIONS = frozenset({Family.FLOATING, Family.DECIMAL})

# A number with an exponent or the letter of a DOUBLE or FLOAT: 0.5D, 2f, 1e3.
FLOATING_LITERAL = re.compile(r"(?ai)(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+[df]?|[df])")

# Found in every text that has a decimal literal, a cast to a decimal, or NULLIF, and in some
# others.
POSSIBLE_FRACTION = re.compile(r"\d[.bdfe]|\.\d|DEC|NUMERIC|NULLIF", re.ASCII | re.IGNORECASE)

# A literal of a decimal: 0.5, 5BD.
DECIMAL_LITERAL = re.compile(r"([\d.]+)(?:bd)?", re.ASCII | re.IGNORECASE)

# Aggregates whose value is floating for whole numbers.
AVERAGES = frozenset({"avg", "mean"})

# Aggregates whose value is floating for floating-point numbers, and a decimal for decimals.
FAMILY_OF_ARGUMENT = AVERAGES | {
    "sum",
    "min",
    "max",
    "first",
    "last",
    "any_value",
    "first_value",
    "last_value",
}


def correct_decimals(
    plan: MatchPlan, relation: Relation, find_column: Callable[[tuple[str, ...]], str | None]
) -> MatchPlan:
    """Return the plan with decimals as doubles wherever they are used with floating-point numbers.

    A NULLIF of such numbers is written as IF: on Sail the value of NULLIF has the type in which the
    numbers are compared, and -0.0 is not equal to 0.

    Args:
        plan: the plan.
        relation: the input.
        find_column: returns the input's column of a name, which may have several parts, or None.
    """
    types = [field.dataType for field in relation.rows.schema.fields]
    fractional_types = [
        type_
        for type_ in types
        if any(to_value_type(part).family in FRACTIONS for part in iterate_types(type_))
    ]
    if not fractional_types and not any(has_fraction(scalar) for scalar in plan.expressions):
        return plan
    has_nested_fractions = any(is_nested(type_) for type_ in fractional_types)
    writer = DoubleWriter(relation, find_column, has_nested_fractions)
    return map_expressions(plan, lambda scalar, _: map_operations(scalar, writer.write))


def has_fraction(scalar: Scalar) -> bool:
    """Return whether an expression may contain a fraction although no column does."""
    for piece in scalar.pieces:
        if isinstance(piece, str) and POSSIBLE_FRACTION.search(piece) is not None:
            return True
        if isinstance(piece, Aggregate) and any(map(has_fraction, expression.list_inputs(piece))):
            return True
    return False


@dataclass(frozen=True)
class DoubleWriter:
    """A writer of decimals as doubles in the expressions over one input.

    In the families that the methods return, INTEGER stands for every type without a fraction, and
    None means that the family is not known.
    """

    # The input.
    relation: Relation
    # Returns the input's column of a name, see `correct_decimals`.
    find_column: Callable[[tuple[str, ...]], str | None]
    # Whether a field or an item of a column may have a fraction.
    has_nested_fractions: bool

    @cached_property
    def families(self) -> dict[str, Family]:
        """Return the family of each column of the input, by its name."""
        fields = self.relation.rows.schema.fields
        return {field.name: to_value_type(field.dataType).family for field in fields}

    @property
    def is_needed(self) -> bool:
        """Return whether the session compares a double with a decimal as decimals.

        The first call runs a query, so callers test everything else first.
        """
        return compares_as_decimals(self.relation.runner.spark)

    def write(self, operation: Operation) -> Operation:
        """Return the operation with decimals as doubles if it also has floating-point operands."""
        match operation:
            case Operation("NULLIF", (first, second)):
                return self.write_nullif(first, second, operation)
            case Operation("NULLIFZERO", (first,)):
                return self.write_nullif(
                    first, build_expressions.make_number(0, first.span), operation
                )
        decimal_ids = {
            id(decimal)
            for operands in group_operands(operation)
            for decimal in self.find_decimals_among_doubles(operands)
        }
        if not decimal_ids or not self.is_needed:
            return operation
        return operation.map_operands(
            lambda operand: write_double(operand) if id(operand) in decimal_ids else operand
        )

    def find_decimals_among_doubles(self, operands: Sequence[Scalar]) -> list[Scalar]:
        """Return the decimals among operands if there are floating-point numbers, too."""
        families = [self.read_family(operand) for operand in operands]
        if self.has_nested_fractions or FRACTIONS.intersection(families):
            families = [self.find_family(operand) for operand in operands]
        if not FRACTIONS.issubset(families):
            return []
        return [
            operand
            for operand, family in zip(operands, families, strict=True)
            if family is Family.DECIMAL
        ]

    def write_nullif(self, first: Scalar, second: Scalar, operation: Operation) -> Operation:
        """Return `NULLIF(a, b)` as `IF((a) = (b), NULL, a)`, if an operand has a fraction."""
        families = [self.find_family(operand) for operand in (first, second)]
        if not FRACTIONS.intersection(families) or not self.is_needed:
            return operation
        span = operation.span
        equal = Operation("=", ("(", first, ") = (", second, ")"), span)
        parts = (
            "IF(",
            self.write(equal),
            ", ",
            build_expressions.make_literal("NULL", span),
            ", ",
            first,
            ")",
        )
        return Operation("IF", parts, span)

    def find_family(self, scalar: Scalar) -> Family | None:
        """Return the family of an expression by its text, or else by Sail's analysis."""
        family = self.read_family(scalar)
        if family is not None or not expression.reads_columns_only(scalar) or not self.is_needed:
            return family
        # Sail rejects parts that are not expressions by themselves. Their family stays unknown.
        with silence_analysis(), suppress(PySparkException):
            type_ = self.relation.find_type(expression.write_row_sql(scalar))
            return to_value_type(type_).family
        return None

    def read_family(self, scalar: Scalar) -> Family | None:
        """Return the family of an expression by its text and the types of the input's columns."""
        match scalar:
            case Operation("CAST" | "TRY_CAST", _):
                target = find_type(scalar.words[0]) if scalar.words else None
                return None if target is None else target.family
            case Operation("/", operands):  # floating, unless there are only decimals and integers
                families = [self.find_family(operand) for operand in operands]
                has_only_decimals = FRACTIONS.intersection(families) == {Family.DECIMAL}
                return Family.DECIMAL if has_only_decimals else Family.FLOATING
            case Operation(operator, operands) if operator in FAMILY_OF_OPERANDS:
                return find_common_family(map(self.read_family, operands))
            case Operation(operator) if operator in CHOICES:
                return find_common_family(
                    self.read_family(result) for result in split_branches(scalar).results
                )
            case Operation("ROUND", (first, *_)):
                family = self.read_family(first)
                return family if family in FRACTIONS else None  # a text becomes a number
            case Operation(operator):
                return Family.FLOATING if operator in FLOATING_FUNCTIONS else None
            case Term((Aggregate(function, _, (argument, *_)),)):
                family = self.find_family(argument) if function in FAMILY_OF_ARGUMENT else None
                is_average = function in AVERAGES and expression.find_column_names(argument) != ()
                return Family.FLOATING if is_average and family not in FRACTIONS else family
            case Term() if scalar.references:
                column = self.find_column(expression.find_column_names(scalar))
                return None if column is None else self.families.get(column)
        return read_literal(expression.render(scalar, str))


def group_operands(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """Yield the groups of operands that must have one type.

    The operands of a group are compared or computed with each other, or one of them is the value.
    """
    operator = operation.operator
    if operator in COMPARED | CHOSEN | COMPUTED:
        yield operation.operands
    if operator == "NVL2":
        yield operation.operands[1:]
    if operator in expression.COMPARED_CHOICES:
        yield split_branches(operation).tests
    if operator in CHOICES:
        yield split_branches(operation).results


def find_common_family(operands: Iterable[Family | None]) -> Family | None:
    """Return the family of a value that is computed from operands of some families.

    The result is FLOATING if one of them is, else DECIMAL if one of them is, else None if one of
    them is not known, else INTEGER.
    """
    families = {*operands}
    for family in (Family.FLOATING, Family.DECIMAL, None):
        if family in families:
            return family
    return Family.INTEGER


def write_double(decimal: Scalar) -> Scalar:
    """Return a decimal as a DOUBLE: a literal as another literal, anything else as a CAST."""
    if isinstance(decimal, Term) and not decimal.references:
        text = expression.render(decimal, str)
        if read_literal(text) is Family.DECIMAL:
            return replace(decimal, pieces=(DECIMAL_LITERAL.sub(r"\1D", text),))
    return Operation("CAST", ("CAST(", decimal, " AS DOUBLE)"), decimal.span, words=("DOUBLE",))


def read_literal(text: str) -> Family | None:
    """Return the family of a literal; INTEGER for any other text, but None for a subquery.

    >>> [read_literal(text) is Family.DECIMAL for text in ("(0.5)", "-.5", "5BD", "5")]
    [True, True, True, False]
    >>> [read_literal(text) is Family.FLOATING for text in ("0.5D", "2f", "1e3", "5", "x1d")]
    [True, True, True, False, False]
    """
    number = text.strip("()+- ")
    if FLOATING_LITERAL.fullmatch(number):
        return Family.FLOATING
    digits = number.lower().removesuffix("bd")
    if (len(digits) < len(number) or "." in digits) and digits.replace(".", "", 1).isdecimal():
        return Family.DECIMAL
    return None if SUBQUERY_START.search(text) else Family.INTEGER
