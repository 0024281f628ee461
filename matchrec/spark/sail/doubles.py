"""Write decimals as doubles if they are compared or computed with floating-point numbers.

    price > 99.5   →   price > 99.5D       if `price` is a DOUBLE or a FLOAT

Spark converts the decimals by itself. Some versions of Sail compare both numbers as decimals with
15 digits after the point, so that 0.1D + 0.2D equals 0.3 and NaN is an error. They also compute a
FLOAT from a FLOAT and a decimal. The steps of `correct_decimals`:

1. `has_fraction` and the types of the columns rule out most plans.
2. `DoubleWriter.write` gets each operation. A `FamilyFinder` tells floating-point numbers and
   decimals apart.
3. If both are among the operands that must have one type, each decimal is written as a DOUBLE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from matchrec.conditions.types import Family
from matchrec.plan import build_expressions
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import (
    COMPARED_CHOICES,
    Aggregate,
    Operation,
    Scalar,
    Term,
    list_inputs,
    render,
    split_branches,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operators import Coercion, find_coercing_operators
from matchrec.plan.resolve import InputColumns
from matchrec.spark.relation import Relation
from matchrec.spark.sail.number_families import (
    BRANCHING_OPERATORS,
    CHOOSING_OPERATORS,
    COMPUTING_OPERATORS,
    FRACTIONS,
    FamilyFinder,
    read_literal_family,
)
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.types import is_nested, iterate_types, to_value_type

# Operators that compare their operands with each other.
COMPARING_OPERATORS = find_coercing_operators(Coercion.COMPARED)

# Operators all of whose operands must have one type.
SAME_TYPE_OPERATORS = COMPARING_OPERATORS | CHOOSING_OPERATORS | COMPUTING_OPERATORS

# Found in every text that has a decimal literal, a cast to a decimal, or NULLIF, and in some
# others.
POSSIBLE_FRACTION = re.compile(r"\d[.bdfe]|\.\d|DEC|NUMERIC|NULLIF", re.ASCII | re.IGNORECASE)

# A literal of a decimal: 0.5, 5BD.
DECIMAL_LITERAL = re.compile(r"([\d.]+)(?:bd)?", re.ASCII | re.IGNORECASE)


def correct_decimals(plan: MatchPlan, relation: Relation, columns: InputColumns) -> MatchPlan:
    """Return the plan with decimals as doubles wherever they are used with floating-point numbers.

    A NULLIF of such numbers is written as IF: on Sail the value of NULLIF has the type in which the
    numbers are compared, and -0.0 is not equal to 0.

    Args:
        plan: the plan.
        relation: the input.
        columns: the columns of the input.
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
    writer = DoubleWriter(FamilyFinder(relation, columns), has_nested_fractions)
    return map_expressions(plan, lambda scalar, _: map_operations(scalar, writer.write))


def has_fraction(scalar: Scalar) -> bool:
    """Return whether an expression can contain a fraction although no column does."""
    for piece in scalar.pieces:
        if isinstance(piece, str) and POSSIBLE_FRACTION.search(piece) is not None:
            return True
        if isinstance(piece, Aggregate) and any(map(has_fraction, list_inputs(piece))):
            return True
    return False


@dataclass(frozen=True)
class DoubleWriter:
    """A writer of decimals as doubles in the expressions over one input."""

    family_finder: FamilyFinder
    # Whether a field or an item of a column can have a fraction.
    has_nested_fractions: bool

    @property
    def is_needed(self) -> bool:
        """Return whether the session compares a double with a decimal as decimals.

        The first call runs a query, so callers test everything else first.
        """
        return compares_as_decimals(self.family_finder.relation.runner.spark)

    def write(self, operation: Operation) -> Operation:
        """Return the operation with decimals as doubles if it also has floating-point operands."""
        match operation:
            case Operation("NULLIF", (first, second)):
                return self.write_nullif(operation, first, second)
            case Operation("NULLIFZERO", (first,)):
                zero = build_expressions.make_number(0, first.span)
                return self.write_nullif(operation, first, zero)
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
        families = [self.family_finder.read_family(operand) for operand in operands]
        if self.has_nested_fractions or FRACTIONS.intersection(families):
            families = [self.family_finder.find_family(operand) for operand in operands]
        if not FRACTIONS.issubset(families):
            return []
        return [
            operand
            for operand, family in zip(operands, families, strict=True)
            if family is Family.DECIMAL
        ]

    def write_nullif(self, operation: Operation, first: Scalar, second: Scalar) -> Operation:
        """Return NULLIF as IF if an operand has a fraction.

            NULLIF(a, b)   →   IF((a) = (b), NULL, a)

        Args:
            operation: NULLIF or NULLIFZERO.
            first: its first operand, a.
            second: its second operand, b; 0 for NULLIFZERO.
        """
        families = [self.family_finder.find_family(operand) for operand in (first, second)]
        if not FRACTIONS.intersection(families) or not self.is_needed:
            return operation
        span = operation.span
        are_equal = Operation("=", ("(", first, ") = (", second, ")"), span)
        null = build_expressions.make_literal("NULL", span)
        parts = ("IF(", self.write(are_equal), ", ", null, ", ", first, ")")
        return Operation("IF", parts, span)


def group_operands(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """Yield the groups of operands that must have one type.

    The operands of a group are compared or computed with each other, or one of them is the value.
    """
    operator = operation.operator
    if operator in SAME_TYPE_OPERATORS:
        yield operation.operands
    if operator == "NVL2":
        yield operation.operands[1:]  # the first operand is only tested for NULL
    if operator in COMPARED_CHOICES:
        yield split_branches(operation).tests
    if operator in BRANCHING_OPERATORS:
        yield split_branches(operation).results


def write_double(decimal: Scalar) -> Scalar:
    """Return a decimal as a DOUBLE: a literal as another literal, anything else as a CAST."""
    if isinstance(decimal, Term) and not decimal.references:
        text = render(decimal, str)
        if read_literal_family(text) is Family.DECIMAL:
            return replace(decimal, pieces=(DECIMAL_LITERAL.sub(r"\1D", text),))
    return Operation("CAST", ("CAST(", decimal, " AS DOUBLE)"), decimal.span, words=("DOUBLE",))
