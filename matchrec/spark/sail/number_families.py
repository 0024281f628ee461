"""Find out whether an expression is a floating-point number, a decimal, or anything else.

`FamilyFinder.read_family` reads the family in the text and in the types of the input's columns:

    expression          family
    price               FLOATING if the column is a DOUBLE or a FLOAT
    price + 1           FLOATING, because an operand is
    99.5                DECIMAL
    n / 2               FLOATING, because Spark divides integers as DOUBLEs
    f(price)            not known

`FamilyFinder.find_family` lets Sail analyse an expression whose family is not known from its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from matchrec.conditions.aggregate_table import STATISTICS
from matchrec.conditions.types import Family, find_type
from matchrec.plan.expression import (
    Aggregate,
    Operation,
    Scalar,
    Term,
    find_column_path,
    render,
    split_branches,
)
from matchrec.plan.operators import (
    Coercion,
    OperatorKind,
    find_coercing_operators,
    find_operator_names,
)
from matchrec.plan.resolve import InputColumns
from matchrec.spark.relation import Relation
from matchrec.spark.runner import SUBQUERY_START
from matchrec.spark.sail.operand_types import find_operand_type
from matchrec.spark.sail.probes import compares_as_decimals
from matchrec.spark.types import to_value_type

# Operators that return the value of one of their branches, see `expression.split_branches`.
BRANCHING_OPERATORS = find_coercing_operators(Coercion.BRANCHES)

# Operators that return the value of one of their operands.
CHOOSING_OPERATORS = find_coercing_operators(Coercion.CHOSEN)

# Operators that compute with their operands.
COMPUTING_OPERATORS = find_coercing_operators(Coercion.COMPUTED)

# Operators whose value has the family that `find_common_family` returns for their operands.
FAMILY_OF_OPERANDS = (COMPUTING_OPERATORS - {"/"}) | CHOOSING_OPERATORS | {"NULLIF", "NULLIFZERO"}

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

# Aggregates whose value is floating, even for whole numbers and for decimals.
FLOATING_AGGREGATES = STATISTICS | {
    "corr",
    "covar_pop",
    "covar_samp",
    "kurtosis",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "skewness",
}

# Aggregates whose value is a decimal for decimals, and floating for all other numbers.
AVERAGES = frozenset({"avg", "mean"})

# Aggregates whose value has the family of the first argument.
FAMILY_OF_ARGUMENT = frozenset(
    {
        "sum",
        "min",
        "max",
        "first",
        "last",
        "any_value",
        "first_value",
        "last_value",
        "min_by",
        "max_by",
        "mode",
    }
)


@dataclass(frozen=True)
class FamilyFinder:
    """Finds the families of expressions over one input.

    The methods return FLOATING or DECIMAL for a number with a fraction. Any other family means a
    value without a fraction, and is not exact: a literal of a string counts as INTEGER, too. None
    means that the family is not known.
    """

    # The input.
    relation: Relation
    columns: InputColumns

    @cached_property
    def column_families(self) -> dict[str, Family]:
        """Return the family of each column of the input, by its name."""
        fields = self.relation.rows.schema.fields
        return {field.name: to_value_type(field.dataType).family for field in fields}

    def find_family(self, scalar: Scalar) -> Family | None:
        """Return the family of an expression by its text, or else by Sail's analysis.

        Sail analyses the expression only if the session compares a double with a decimal as
        decimals. Otherwise nothing depends on the result.
        """
        family = self.read_family(scalar)
        if family is not None or not compares_as_decimals(self.relation.runner.spark):
            return family
        type_ = find_operand_type(scalar, self.relation)
        return None if type_ is None else to_value_type(type_).family

    def read_family(self, scalar: Scalar) -> Family | None:
        """Return the family of an expression by its text and the types of the input's columns.

        The operands of a division and of an aggregate are looked up by `find_family`.
        """
        match scalar:
            case Operation("CAST" | "TRY_CAST", _):
                target = find_type(scalar.words[0]) if scalar.words else None
                return None if target is None else target.family
            case Operation("/", operands):
                families = [self.find_family(operand) for operand in operands]
                has_only_decimals = FRACTIONS.intersection(families) == {Family.DECIMAL}
                return Family.DECIMAL if has_only_decimals else Family.FLOATING
            case Operation(operator, operands) if operator in FAMILY_OF_OPERANDS:
                return find_common_family(map(self.read_family, operands))
            case Operation(operator) if operator in BRANCHING_OPERATORS:
                return find_common_family(map(self.read_family, split_branches(scalar).results))
            case Operation("ROUND", (number, *_)):
                family = self.read_family(number)
                return family if family in FRACTIONS else None  # a text becomes a number
            case Operation(operator):
                return Family.FLOATING if operator in FLOATING_FUNCTIONS else None
            case Term((Aggregate(function=function, arguments=(argument, *_)),)):
                return self.find_aggregate_family(function, argument)
            case Term() if scalar.references:
                column = self.columns.find(find_column_path(scalar))
                return None if column is None else self.column_families.get(column)
        return read_literal_family(render(scalar, str))

    def find_aggregate_family(self, function: str, argument: Scalar) -> Family | None:
        """Return the family of an aggregate with this first argument."""
        if function in FLOATING_AGGREGATES:
            return Family.FLOATING
        if function in FAMILY_OF_ARGUMENT:
            return self.find_family(argument)
        if function in AVERAGES:
            family = self.find_family(argument)
            return family if family in (Family.DECIMAL, None) else Family.FLOATING
        return None


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


def read_literal_family(text: str) -> Family | None:
    """Return the family of a literal; INTEGER for any other text, but None for a subquery.

    >>> [read_literal_family(text) is Family.DECIMAL for text in ("(0.5)", "-.5", "5BD", "5")]
    [True, True, True, False]
    >>> [read_literal_family(text) is Family.FLOATING for text in ("0.5D", "2f", "1e3", "x1d")]
    [True, True, True, False]
    """
    number = text.strip("()+- ")
    if FLOATING_LITERAL.fullmatch(number):
        return Family.FLOATING
    digits = number.lower().removesuffix("bd")
    is_decimal = "." in digits or len(digits) < len(number)
    if is_decimal and digits.replace(".", "", 1).isdecimal():
        return Family.DECIMAL
    return None if SUBQUERY_START.search(text) else Family.INTEGER
